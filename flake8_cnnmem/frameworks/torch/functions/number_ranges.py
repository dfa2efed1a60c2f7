"""Whole numbers that name rows of a table or classes, of which one is too large for it: known, or drawn at random."""

from __future__ import annotations

from math import log, prod

from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.functions.constants import flat
from flake8_cnnmem.graph import Problem, Tensor
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.ops.merge import Concatenate, Stack
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value

SURE = 25
"""Numbers that are drawn stay all of them below a bound with a chance of e to the power of minus this, or more seldom:
they do not."""

LONGEST_WAY = 50
"""Ops that are followed back from an index."""


def drawn_by(tensor: Tensor) -> tuple[int, int]:
    """Of whole numbers that `torch.randint` has drawn: the first number above all, and how many there are. (0, 0) of
    others."""
    at = tensor
    for _ in range(LONGEST_WAY):
        call = at.call
        if at.drawn[0] or call is None or not call.inputs:
            break
        moved = call.op.view or call.op.casts or isinstance(call.op, (Stack, Concatenate))
        if not moved or "int" not in at.dtype:
            break
        at = call.inputs[0]
    bound, count = at.drawn
    shape = tensor.shape if isinstance(tensor.shape, tuple) else ()
    own = prod(each for each in shape if type(each) is int)
    return bound, min(count, own) if at is not tensor else count


def needed(tensor: Tensor, count: int) -> int | None:
    """How many rows or classes a tensor of their numbers asks for, where that is more than there are."""
    values = flat(tensor)
    if values is not None:
        most = max((each for each in values if type(each) is int), default=-1) + 1
        return most if most > count else None
    bound, drawn = drawn_by(tensor)
    return bound if bound > count > 0 and drawn * log(bound / count) > SURE else None


def refuse_numbers(run: Runtime, numbers: Value, count: Value, said: str, function: str, *beside: Tensor) -> Value:
    """The numbers, of which a call is refused (IndexError) where one is too large. `said`: what they are; `beside`:
    what they are held against."""
    if not isinstance(numbers, Tensor) or type(count) is not int or count < 1 or "int" not in numbers.dtype:
        return numbers
    asked = needed(numbers, count)
    if asked is None:
        return numbers
    what = f"takes {said} below {count}, but is given {said} up to {asked - 1}"
    problem = Problem("CNM201", what, error="IndexError", declared=count, given=asked)
    return apply(run, Refused(problem), numbers, *beside, function=function)
