"""Values that are numbers, as far as that is known: of Python, or tensors of one value."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def number_kind(value: Value) -> str:
    """ "int" or "float" where a value is such a number, known or not; else ""."""
    if isinstance(value, Unknown):
        return value.number
    return "float" if type(value) is float else "int" if type(value) is int else ""


def one_number(values: Sequence[Value]) -> Tensor | None:
    """What stands for any of these where each is a number, or a tensor of one value that no gradient goes through: the
    first of the tensors, since whatever is computed with either has the same sizes."""
    found: Tensor | None = None
    for value in values:
        if isinstance(value, Tensor) and not isinstance(value, Weight) and value.shape == ():
            if value.call is not None and value.call.grad:
                return None
            found = found or value
        elif type(value) not in (int, float):
            return None
    return found
