"""Scaled dot product attention."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape, Size, same, show
from flake8_cnnmem.graph import Mismatch, Operand, Problem
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Flag, Weightless, quotient, rank_problem
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class ScaledDotProduct(Weightless):
    """q (..., L, E), k (..., S, E), v (..., S, Ev) -> (..., L, Ev); a mask may follow.

    `fused` kernels keep no probabilities. `grouped`: the heads (third axis from the end) of k and v are
    shared by several of q's (`enable_gqa`). `kernels` are those that the code allows, the preferred one first.
    """

    dropout: float | Unknown = 0.0
    causal: Flag = False
    fused: Flag = True
    grouped: Flag = False
    kernels: tuple[str, ...] | Unknown | None = None

    kind = "attention"
    volume = "own"
    multiplies = True
    product = "steps"

    @property
    def drops(self) -> bool:
        """Whether attention weights are dropped: a dropout that is not known is one."""
        return not (isinstance(self.dropout, (int, float)) and self.dropout == 0)

    def variants(self, operands: Sequence[Operand]) -> tuple[str, ...]:
        """Which kernel runs (aten/src/ATen/native/transformers/sdp_utils_cpp.h): fused ones want four axes and as many
        heads everywhere."""
        shapes = [operand.shape for operand in operands[:3] if not isinstance(operand.shape, Unknown)]
        odd = any(len(shape) != 4 for shape in shapes) or len({shape[:2] for shape in shapes}) > 1
        if self.fused is False or self.kernels == ("math",) or (odd and self.grouped is not True):
            return ("math, dropped", "math") if self.drops else ("math",)
        if self.drops:
            return ("dropout",)
        if len(operands) > 3 and operands[3].grad:
            return ("masked",)
        return ("unequal",) if len({shape[-1:] for shape in shapes}) > 1 else ()

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """q (..., L, E), k (..., S, E), v (..., S, Ev) to (..., L, Ev). Mismatch where E, S, heads or mask disagree."""
        q, k, v = inputs[0], inputs[1], inputs[2]
        for shape in (q, k, v):
            if len(shape) < 2:
                raise Mismatch(rank_problem(shape, "at least 2 axes"), None)
        problem: Problem | None = None
        for name, left, right in (("q and k", q[-1], k[-1]), ("k and v", k[-2], v[-2])):
            if same(left, right) is False:
                shapes = f"{show(q)}, {show(k)} and {show(v)}"
                problem = problem or Problem("CNM201", f"attends over {shapes}: {name} have {left!r} and {right!r}")
        batch = q[:-2]
        if self.grouped is False:
            try:
                batch = broadcast((q[:-2], k[:-2], v[:-2]), "attends over")
            except Mismatch as mismatch:
                problem = problem or mismatch.problem
        elif len(q) > 2 and len(k) > 2:
            heads, shared = q[-3], k[-3]
            if isinstance(heads, int) and isinstance(shared, int) and quotient(heads, shared or 1) * shared != heads:  # type: ignore[operator]
                problem = problem or Problem("CNM201", f"shares {shared} heads of k among {heads} of q")
        if len(inputs) > 3 and problem is None:
            scores = (*(batch if self.grouped is False else ()), q[-2], k[-2])
            mask = inputs[3] if self.grouped is False else inputs[3][-2:]
            try:
                broadcast((scores, mask), "masks")
            except Mismatch as mismatch:
                problem = mismatch.problem
        result = (*batch, q[-2], v[-1])
        if problem:
            raise Mismatch(problem, (result,))
        return (result,)


@dataclass(frozen=True, slots=True)
class Heads(Weightless):
    """`width` features dealt out to `heads` that do not divide them: no framework takes that."""

    width: Size
    heads: Size

    kind = "view"
    keeps_dtype = True
    declares = False

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape, unchanged. Mismatch where the heads do not divide the width."""
        width, heads = self.width, self.heads
        if not isinstance(width, int) or not isinstance(heads, int) or heads < 1 or width % heads == 0:
            return (inputs[0],)
        what = f"has {width} features, which its {heads} heads do not divide"
        below = width - width % heads
        advice = f"{below or heads} or {below + heads} features would fit"
        raise Mismatch(Problem("CNM201", what, advice), (inputs[0],))


@dataclass(frozen=True, slots=True)
class PaddingMask(Weightless):
    """The mask of the keys that are padding: (N, S), whatever the order of the axes of the keys."""

    batch: Size
    source: Size

    kind = "identity"
    hands_on = True
    declares = False

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The mask's shape. Mismatch where it has other sizes (`multi_head_attention_forward` asserts them)."""
        wanted = (self.batch, self.source)
        if len(inputs[0]) == 2 and any(same(own, size) is False for own, size in zip(inputs[0], wanted, strict=True)):
            what = f"takes a mask of padding of {show(wanted)}, but is given {show(inputs[0])}"
            raise Mismatch(Problem("CNM201", what, error="AssertionError"), (wanted,))
        return (inputs[0],)


@dataclass(frozen=True, slots=True)
class AttentionInputs(Weightless):
    """What torch.nn.MultiheadAttention asks of its query, key and value: the query as it is, if they are right."""

    width: Size
    keys: Size
    values: Size
    batch_first: Flag = False

    kind = "identity"
    hands_on = True

    @property
    def batch_axis(self) -> int:
        """0 with `batch_first`, else 1."""
        return 1 if self.batch_first is False else 0

    def problem(self, *inputs: Shape) -> Problem | None:
        """What is wrong with query, key and value of (L, N, features) or (L, features); None where they fit."""
        query, key, value = inputs
        for shape in inputs:
            if len(shape) not in (2, 3):
                return rank_problem(shape, "2 or 3 axes (L, N, features)")
        for name, shape, size in (("query", query, self.width), ("key", key, self.keys), ("value", value, self.values)):
            if same(shape[-1], size) is False:
                given = shape[-1]
                numbers = (given, size) if isinstance(given, int) and isinstance(size, int) else (None, None)
                fitting = numbers[0] if name == "query" else None
                where = "" if name == "query" else f" in its {name}"
                what = f"takes {size!r} features, but is given {given!r}{where}"
                advice = f"{given!r} features would fit"
                return Problem("CNM201", what, advice, numbers[0], numbers[1], fitting=fitting)
        shown = f"{show(key)} and {show(value)}"
        if len(query) != len(key) or len(key) != len(value):
            return Problem("CNM201", f"attends with {show(query)} over {shown}, which differ in their number of axes")
        length = 1 if self.batch_first is True and len(query) == 3 else 0
        if same(key[length], value[length]) is False:
            return Problem("CNM201", f"attends over {shown}: {key[length]!r} keys and {value[length]!r} values")
        if len(query) == 3:
            own = query[1 - length]
            for size in (key[1 - length], value[1 - length]):
                if same(own, size) is False:
                    axis = f"axis {1 - length}, the batch,"
                    what = f"attends with {show(query)} over {shown}: {axis} is {own!r} and {size!r}"
                    advice = "with batch_first=True axis 0 would be the batch" if length == 0 else ""
                    return Problem("CNM201", what, advice)
        return None

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The query's shape, unchanged. Mismatch with what is wrong."""
        problem = self.problem(*inputs)
        if problem is not None:
            # What is added to the result, or normalised after it, is not to be blamed as well.
            raise Mismatch(problem, None)
        return (inputs[0],)
