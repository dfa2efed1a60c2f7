"""Losses."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, Size, add, multiply, product, same, show
from flake8_cnnmem.graph import Mismatch, Operand, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.unknown import Unknown

CLASSES = frozenset({"cross_entropy", "nll", "multi_margin"})
"""Kinds whose class axis (1, or 0 unbatched) goes away."""

ROWS = frozenset(
    {
        "cosine_embedding",
        "triplet_margin",
        "multilabel_margin",
        "multilabel_soft_margin",
        "categorical_crossentropy",
        "sparse_categorical_crossentropy",
    }
)
"""Kinds that give one value for each sample, or for each place that has a class on its last axis."""


LIKE_INPUT = frozenset({"bce", "bce_with_logits"})
"""Kinds whose target has the input's own shape (torch.nn.functional)."""

BROADCASTING = frozenset({"mse", "l1", "smooth_l1", "huber", "kl_div", "poisson_nll"})
"""Kinds whose target is broadcast against the input."""


VALUE_BY_VALUE = BROADCASTING | {"bce_with_logits"}
"""Kinds that make one value for each of the input's, and reduce these."""


def target_problem(kind: str, shape: Shape, target: Shape, numbered: bool = False) -> Problem | None:
    """A target whose shape the loss surely does not take; None where it may. One of whole numbers (`numbered`) is no
    row of probabilities for PyTorch's cross entropy."""
    if kind in BROADCASTING:
        try:
            broadcast((shape, target), "compares")
        except Mismatch as mismatch:
            return mismatch.problem
        return None
    wanted: list[Shape] = [shape] if kind in (*LIKE_INPUT, "cross_entropy", "categorical_crossentropy") else []
    if numbered is True and kind == "cross_entropy":
        wanted = []
    if kind == "sparse_categorical_crossentropy":
        # Class numbers may stand in an axis of their own (keras/src/backend/tensorflow/nn.py).
        wanted = [(*shape[:-1], 1), shape[:-1]]
    if kind in ("cross_entropy", "nll"):
        # Class numbers: the class axis goes away. Without a batch they are one number, or a row of one.
        wanted += [shape[:1] + shape[2:]] if len(shape) > 1 else [(), (1,)]
    if kind == "categorical_crossentropy" and shape and shape[-1] == 1:
        # Targets without the last axis are given one (`squeeze_or_expand_to_same_rank` in keras/src/losses/loss.py).
        wanted.append(shape[:-1])
    if not wanted or not shape or any(may_be(target, each) for each in wanted):
        return None
    # Class numbers are what people have; probabilities, for those whose target has as many axes.
    meant = next((each for each in wanted[::-1] if len(each) == len(target)), wanted[-1])
    whole = " of whole numbers" if numbered is True and may_be(target, shape) else ""
    return Problem("CNM201", f"takes a target of {show(meant)} for {show(shape)}, but is given {show(target)}{whole}")


def lengths_problem(inputs: Sequence[Shape]) -> Problem | None:
    """CTC's lengths, of which each sample of a batch has one: `log_probs` is (steps, batch, classes). Targets in two
    axes have a row for each sample. The checks of ATen (`ctc_loss_allocate_outputs` in LossCTC.cpp)."""
    shape = inputs[0]
    if len(shape) != BATCHED_STEPS or len(inputs) != CTC_INPUTS:
        return None
    _, targets, *lengths = inputs
    for what, given in zip(("input lengths", "target lengths"), lengths, strict=True):
        if len(given) == 1 and same(given[0], shape[1]) is False:
            return Problem("CNM201", f"takes {show(shape[1:2])} {what} for {show(shape)}, but is given {show(given)}")
    if len(targets) > 1 and same(targets[0], shape[1]) is False:
        return Problem(
            "CNM201", f"takes targets of {show(shape[1:2])} rows for {show(shape)}, but is given {show(targets)}"
        )
    return None


BATCHED_STEPS = 3
"""Axes of the probabilities of a batch of sequences."""

CTC_INPUTS = 4


def may_be(shape: Shape, other: Shape) -> bool:
    """Whether two shapes are the same as far as their sizes are known."""
    return len(shape) == len(other) and all(same(a, b) is not False for a, b in zip(shape, other, strict=True))


LARGE = 450
"""Steps, samples and classes of CTC, each with its weight, up to which its kernels add up value by value."""


@dataclass(frozen=True, slots=True)
class Loss(Weightless):
    """One number, or with `reduction` "none" one for each value (or sample) of the input."""

    kind: str
    reduction: str = "mean"
    options: tuple[str, ...] = ()
    """What its options change about what is kept: "smoothed" labels, "weighted" classes, "positive" weights."""
    classes: Size | None = None
    """How many classes there are weights for; None without weights."""
    compared: int = 0
    """So many of the inputs are broadcast against each other, where that is not said of the kind."""
    numbered: bool = False
    """Whether its targets are whole numbers."""

    longest: Size = 0
    """Of CTC how many places the longest target has."""

    def quantity(self, name: str, *inputs: Shape) -> Size:
        """`alphas`: of CTC one for each step and sample, and each place of a target with the blanks around it;
        `blanks`: one for each of those, and `steps`: for each step and sample, where they are added up at once."""
        steps = product(inputs[0][:-1])
        if name == "alphas":
            return multiply(steps, add(multiply(self.longest, 2), 1))
        if name not in ("blanks", "steps"):
            return Weightless.quantity(self, name, *inputs)
        # By `is_large` of ctc_loss_backward_gpu_template (LossCTC.cu); a batch that stays open counts as none.
        length, samples, labels = (size if isinstance(size, int) else 0 for size in (1, 1, *inputs[0])[-3:])
        if 2 * length + 24 * samples // 10 + 2 * labels // 10 <= LARGE:
            return 0
        return multiply(steps, add(self.longest, 1)) if name == "blanks" else steps

    @property
    def unreduced(self) -> bool:
        """Whether the result is what others make first and then reduce."""
        known = not isinstance(self.reduction, Unknown)
        return known and self.reduction in ("none", None) and self.kind in VALUE_BY_VALUE

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """Its options, and whether it is "unreduced"; of cross entropy also whether targets are "soft": probabilities
        of the classes; of logits whether the target is "trained" as well; of likelihoods whether they are reduced;
        of a distance whether one is "repeated" to the shape of the other."""
        words = tuple(word for word in self.options if isinstance(word, str)) if isinstance(self.options, tuple) else ()
        if self.kind == "cross_entropy" and len(operands) > 1:
            shape, target = operands[0].shape, operands[1]
            floating = "float" in target.dtype
            if floating and not isinstance(shape, Unknown) and not isinstance(target.shape, Unknown):
                words = ("soft", *(word for word in words if word == "smoothed")) if len(target.shape) > 1 else words
        if self.kind == "bce_with_logits" and not words and len(operands) > 1 and operands[1].grad:
            words = ("trained",)
        if self.kind == "dist" and any(one.shape != operands[0].shape for one in operands):
            words = ("repeated",)
        if self.kind == "nll" and self.reduction in ("none", None):
            words = ("unreduced",)
        found = (", ".join(words),) if words else ()
        return (", ".join((*words, "unreduced")), *found) if self.unreduced else found

    def outputs(self, *inputs: Shape) -> tuple[Shape | Unknown]:
        """(): one value, or with reduction "none" one for each sample. Mismatch for a target of a wrong shape."""
        shape = inputs[0]
        problem = target_problem(self.kind, shape, inputs[1], self.numbered) if len(inputs) > 1 else None
        if self.kind == "ctc":
            problem = lengths_problem(inputs)
        given = shape[1] if len(shape) > 1 else shape[0] if shape else None
        if problem is None and isinstance(self.classes, int) and isinstance(given, int) and self.classes != given:
            what = f"has weights for {self.classes} classes, but is given {given} in {show(shape)}"
            problem = Problem("CNM201", what)
        if problem is not None:
            raise Mismatch(problem, (shape if self.reduction in ("none", None) else (),))
        if isinstance(self.compared, int) and 1 < self.compared <= len(inputs):
            broadcast(inputs[: self.compared], "compares")
        if isinstance(self.reduction, Unknown):
            return (self.reduction,)
        if self.reduction not in ("none", None):
            return ((),)
        if self.kind in CLASSES:
            return (shape[:1] + shape[2:] if len(shape) > 1 else (),)
        if self.kind in ROWS:
            return (shape[:-1],)
        if self.kind == "ctc":
            return (shape[1:2] if len(shape) > 2 else (),)
        return (broadcast(inputs[:2], "compares") if len(inputs) > 1 else shape,)
