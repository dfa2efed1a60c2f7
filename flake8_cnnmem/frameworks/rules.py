"""The form in which a framework says what training holds: one `OpRule` for each kind of op, one `Rules` in all.

Rows are data. They name tensors by their place in a call: "x" is the first input, "x1" the second, "inputs" all
of them, "y" the (first) result, "positions" the second one or what would be it, "positions of x1" those that the op has
kept that read this operand. What has no place is a tensor of its own, `New`, measured by the name of a quantity of the
op (`quantity`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from itertools import chain
from types import MappingProxyType

from flake8_cnnmem.frameworks.optimizer_states import OptimizerState
from flake8_cnnmem.graph import Call, Model
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class New:
    """A tensor of its own, as many values as the quantity `of` has, `times` over.

    `bytes` are those of one value; None stands for the dtype that the op computes in. `widens`: they are as many as the
    op's own dtype has where that is wider (statistics of doubles are doubles: at::acc_type).
    """

    of: str
    bytes: int | None = None
    times: int = 1
    widens: bool = False


@dataclass(frozen=True, slots=True)
class Saved:
    """Something that stays for the backward pass.

    `when`: "any" (the result needs a gradient), "weight" (a weight of the call is trained), "others" (an operand
    beside this one needs a gradient), "own" (this one needs a gradient), "half" (the op computes in half precision).
    """

    what: str | New
    when: str = "any"


@dataclass(frozen=True, slots=True)
class OpRule:
    """What one kind of op holds, and for how long.

    `keeps` stays from the op's run to its backward; `in_place` replaces it where the result overwrites the input.
    `forward` and `backward` are temporaries beside the results and beside the gradients; `behind` are groups of such
    that come when the gradients are made, one group after the other.
    `alone`: the `backward` of an op of several results where only that one of them has a gradient, by their places.
    `gradient` says how an operand's gradient comes about: "new" (a tensor of its own), "same" (the result's gradient
    itself), "reuse" (that one written over, if nothing else needs it), "kept" (what the op has kept of its own written
    over), "parts" (views of it), "spread" (a view of it, repeated), "averaged" (made of such a view), "placed" (zeros
    in row-major order, into which it is written), "slices" (a copy of it for the first operand, a copy of a part for
    the second), "signed" (itself for the first operand, new for the second), "overwritten" (zeros for the first
    operand, itself for the second), "rows" (itself, as the rows of the weight that were read), "none".
    `layout` of the result: "like" its operands, "suggested" (channels last if the input is), "maps" (the same, where a
    single side counts as maps of one row), "halves" (its axes in the order of the input's), "first" (the first
    operand's, whatever the others'), "contiguous", "time first" (a sequence whose batch comes first is a view of one
    that has time first), "heads inside" (batch, positions, heads, features, whatever the order of the axes), "agreed"
    (channels last if all operands are), "channels last".
    `reads`: operands are read as a "matrix", "contiguous", or the first one "time first" or as "suggested" ("by
    cuDNN": where its kernel runs); one that does not lie so is copied, and the copy is kept.
    `weights`: the backward pass reads the "first" weight, "all", the first if "needed" for an input's gradient, or
    "each" of those that an input is multiplied with if that has one, and the others (a recurrent layer's step); matters
    where they are made from parameters (casts, normalised weights).
    `autocast`: the dtype under autocast, "half", "float32", "widest" of the inputs, or "" for the inputs' own;
    "within" for float32 inside of the op, between inputs and results in half; "result" for results in float32 of inputs
    that are read as they are; "fused" for the same of float16, and of bfloat16, for which there is no such kernel,
    "float32" (at::softmax).
    `viewed`: the result is a view to autograd, which makes writing into it dear.
    `without`: the operands, by place, that never get a gradient.
    `reuses`: the result is written into the storage of an operand that nothing else needs; `reuses_dead`: where no
    gradient goes through it, which would keep that operand.
    `roomy`: a single value lies in a storage as large as the first operand, of which it is the mean or the sum.
    `resized`: the result is made as large as what is read and then given its size (`empty_like`, `resize_`), and so is
    the gradient: its storage is never smaller than that, and where it has to grow both are there for a moment.
    `partial`: the bytes of a partial result where a reduction over many values is split over the blocks of a GPU; one
    that is no smaller than a value of its input.
    `deviates`: the partial result is of numbers as wide as the op's where that is wider: a mean and a sum of squares.
    `heads_inside`: the backward pass copies a result, and its gradient, whose heads do not lie within their positions.
    `begins`: an op that begins with two matrix products: what `backward` names is there until their results have gone
    back through them, the first of it until the last one has, and what the kernel behind them has kept goes before.
    `turned`: the gradient of a weight is a transposed view, to which no second one is added in place.
    `passing`: the copies of what is read otherwise are there for a moment: in the "forward" pass, or in "both", made
    again on the way back.
    `one_order`: cuDNN reads all operands in one order of axes, channels last where the input or the first weight lies
    so; what lies otherwise is copied, in both passes. `bias_last`: the gradient of a bias is made behind those of the
    others, when what was there for their kernels is gone.
    `batch_statistics`: its kernels work out means and variances of the batch (memory/batch_statistics.py).
    `restrided`: a result of one place is told as channels last, where the input lies so, by as_strided, whose gradient
    is written into zeros.
    `state_first`: of the two products that a step of a recurrent layer begins with the gradient of the state's is made
    first, else the input's.
    `gates_summed`: the kernel of a recurrent layer's step sums so many gradients of its gates over their rows, for the
    biases, before the products are gone back through; 0: each product sums its own.
    `counts`: the backward pass counts the places of a mask: a sum of whole numbers of eight bytes, over the op's axes,
    before it makes the gradient.
    `column_sums`: the backward pass sums a tensor of the result's size over its rows, with the buffer that a GPU's
    kernel takes for it, before it makes the last two of what `backward` has of the second operand's size.
    `channels_summed`: the gradient of a weight is made in full, and summed over all axes but the channels.
    `sorts`: a GPU's kernel sorts, with copies and buffers of its own (memory/sorting.py).
    `as_result`: the kernel of the backward pass reads the gradient in the order in which the result lies: one that lies
    otherwise is copied for it. `dense`: it reads one that is contiguous, or, with a `gradient_layout` of "suggested",
    channels last: any other is copied for it.
    `gradient_layout`: how an operand's gradient lies. "": of arithmetic as the one that arrives, else as the result's
    `layout` says of the operand; "gradient": as the one that arrives; "slope": as what was kept, which the kernel reads
    before that one; "suggested": channels last if the one that arrives is; "contiguous".
    `mask_first`: a GPU's kernel makes what it keeps of its own ahead of the result.
    `kernel_first`: in a graph the weight's gradient is made ahead of the input's, and what it has read goes.
    `crossed`: the gradient of each operand is the one that arrives times the other operand, written over whichever of
    these two nothing else needs.
    `beside_update`: what `backward` names is there while the weight is updated, too.
    `by_name`: autograd's code for it takes its operands in the order of their names, and so the second of two first
    (mat2 before self, other before self): its gradient is made first, and what is kept of it goes first.
    `to_training`: a result that is asked for in the dtype of the training is of that, whatever its operand's.
    `library`: the one that a part of what is kept belongs to, and that alone knows its size: `keeps` has the least that
    a backward pass can do with, and the figure is a lower bound, with a cause.
    `known`: False for a kind of which nobody has said what it holds; what it keeps is left out, with a cause.
    """

    keeps: tuple[Saved, ...] = ()
    in_place: tuple[Saved, ...] | None = None
    forward: tuple[New, ...] = ()
    backward: tuple[New, ...] = ()
    behind: tuple[tuple[New, ...], ...] = ()
    alone: tuple[tuple[New, ...], ...] = ()
    gradient: str = "new"
    layout: str = "like"
    reads: str = ""
    weights: str = ""
    autocast: str = ""
    viewed: bool = False
    without: tuple[int, ...] = ()
    reuses: bool = False
    reuses_dead: bool = False
    roomy: bool = False
    resized: bool = False
    turned: bool = False
    partial: int = 0
    deviates: bool = False
    heads_inside: bool = False
    begins: bool = False
    passing: str = ""
    as_result: bool = False
    dense: bool = False
    one_order: bool = False
    bias_last: bool = False
    batch_statistics: bool = False
    restrided: bool = False
    state_first: bool = False
    gates_summed: int = 0
    counts: bool = False
    column_sums: bool = False
    channels_summed: bool = False
    sorts: bool = False
    mask_first: bool = False
    kernel_first: bool = False
    crossed: bool = False
    beside_update: bool = False
    by_name: bool = False
    gradient_layout: str = ""
    to_training: bool = False
    library: str = ""
    known: bool = True


NOT_KNOWN = OpRule(gradient="same", known=False)
"""Of a kind without a row: its result alone is counted, which makes the estimate a lower bound."""


def one_node(call: Call) -> int:
    """How many nodes of a backward pass's graph an op is: one."""
    return 1


def rows(names: str, row: OpRule) -> Iterable[tuple[str, OpRule]]:
    """One rule for several kinds, written as words."""
    return ((name, row) for name in names.split())


def table(*groups: Iterable[tuple[str, OpRule]]) -> Mapping[str, OpRule]:
    """The rows of several groups in one table. ValueError for a kind that has two: one of them would be lost."""
    found: dict[str, OpRule] = {}
    for kind, row in chain.from_iterable(groups):
        if kind in found:
            raise ValueError(f"two rows say what {kind!r} holds")
        found[kind] = row
    return MappingProxyType(found)


@dataclass(frozen=True, slots=True)
class Lowered:
    """A model as what computes for it runs it, and by whose rules."""

    model: Model
    rules: Rules
    cause: Unknown | None = None
    """Why what is counted by these rules is a lower bound."""


@dataclass(frozen=True, slots=True)
class OtherOrder:
    """What a step is in another order of the ops that do not wait for each other: these `rows`, what its `optimizers`
    make ahead, and updates that are under way for so many `turns`. Where the peak is then higher by more than the
    share `margin`, and by more than `blocks` blocks of the allocator, the step's figure is a lower bound, for this
    cause."""

    rows: Mapping[str, OpRule]
    optimizers: Mapping[str, OptimizerState]
    turns: int
    cause: str
    margin: float
    blocks: int


@dataclass(frozen=True, slots=True)
class Rules:
    """How a framework spends memory over a training step.

    `rows` by kind, or by "kind/variant" where a kind has variants. `step` names the order of things: "phases"
    (forward, backward, update, one after the other) or "graph" (each variable updated once its gradient is there).
    `accumulates_in_place`: a second gradient of the same tensor is added into the first one's storage.
    `sums_at_once`: the gradients of one tensor are all there before they are added.
    `merges_equal`: the same op on the same inputs runs once.
    `eager`: ops run as the code calls them, and what its variables hold stays in memory.
    `trainer`: a trainer runs the step (Keras' on PyTorch), which clears the last step's gradients only when the forward
    pass is over, and holds the result until the step is.
    `by_chip`: it runs on a GPU, whose chip decides how sums are split (memory/reductions.py) and which kernel attention
    takes (memory/attention.py).
    """

    framework: str
    alignment: int
    rows: Mapping[str, OpRule]
    otherwise: OpRule = NOT_KNOWN
    """What is assumed of a kind without a row."""
    step: str = "phases"
    accumulates_in_place: bool = True
    sums_at_once: bool = False
    merges_equal: bool = False
    eager: bool = False
    trainer: bool = False
    by_chip: bool = False
    rewrites: Mapping[str, str] = field(default_factory=dict)
    """Kinds that are another one in disguise."""
    of_complex: frozenset[str] | None = None
    """Kinds of which it is known what they hold of complex numbers; None where that is as of real ones."""
    nodes: Callable[[Call], int] = one_node
    """How many nodes of its graph an op is: the engine runs them by their numbers."""
    optimizers: Mapping[str, OptimizerState] = field(default_factory=dict)
    """What its own optimizers keep, by their names in small letters."""
    other_order: OtherOrder | None = None
    """The same step in another order of ops, where nobody knows which it is."""
    turns: int = 1
    """Turns of the way back for which an update that is a chain of ops is still under way."""

    def row(self, kind: str, *variants: str) -> OpRule:
        """The row of the first variant that has one, else of the kind, else what is assumed of any op."""
        kind = self.rewrites.get(kind, kind)
        for variant in variants:
            found = self.rows.get(f"{kind}/{variant}")
            if found is not None:
                return found
        return self.rows.get(kind, self.otherwise)

    def knows_complex(self, kind: str) -> bool:
        """Whether it is known what a kind of op holds of complex numbers."""
        return self.of_complex is None or kind in self.of_complex

    def knows(self, kind: str) -> bool:
        """Whether there is a rule for a kind of op."""
        return self.rewrites.get(kind, kind) in self.rows
