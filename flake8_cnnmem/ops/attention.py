"""Scaled dot product attention."""

from __future__ import annotations

from dataclasses import dataclass

from flake8_cnnmem.dims import Shape, Size, same, show
from flake8_cnnmem.graph import Mismatch, Problem
from flake8_cnnmem.ops.base import Flag, Weightless, quotient, rank_problem
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class ScaledDotProduct(Weightless):
    """q (..., L, E), k (..., S, E), v (..., S, Ev) -> (..., L, Ev); a mask may follow.

    `fused` kernels keep no probabilities. `grouped`: the heads (third axis from the end) of k and v are
    shared by several of q's (`enable_gqa`).
    """

    dropout: float | Unknown = 0.0
    causal: Flag = False
    fused: Flag = True
    grouped: Flag = False

    kind = "attention"

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
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

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        width, heads = self.width, self.heads
        if not isinstance(width, int) or not isinstance(heads, int) or heads < 1 or width % heads == 0:
            return (inputs[0],)
        what = f"has {width} features, which its {heads} heads do not divide"
        below = width - width % heads
        advice = f"{below or heads} or {below + heads} features would fit"
        raise Mismatch(Problem("CNM201", what, advice), (inputs[0],))
