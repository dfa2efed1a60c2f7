"""Input shapes as the code, a directive or an option states them: where from, and whether they agree with the model."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Site, Tensor
from flake8_cnnmem.models.inputs import Expected
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

InputShape = tuple[int | None, ...]
"""Without the batch; None for a size that is not stated."""


def place(site: Site | None) -> str:
    return "code" if site is None else f"{site.path}:{site.line}"


def place_of_data(data: Value) -> str:
    return place(data.site if isinstance(data, Instance) else None)


def first_shape(values: Sequence[Value]) -> InputShape | None:
    """The first input's shape without the batch."""
    shape = values[0].shape if values and isinstance(values[0], Tensor) else None
    return tuple(dims.drop_batch(shape)) if shape is not None and not isinstance(shape, Unknown) else None


def agrees(shape: InputShape, expected: Expected | None) -> bool:
    """Whether an input shape can be what the first layer takes: its rank, and the sizes that the layer states."""
    if expected is None:
        return True
    if expected.flat:
        return None in shape or dims.same(math.prod(size or 0 for size in shape), expected.shape[-1]) is not False
    if expected.leading and shape:
        return shape[-1] is None or dims.same(shape[-1], expected.shape[-1]) is not False
    if len(shape) != len(expected.shape) - 1:
        return False
    return all(
        dims.same(size, known) is not False
        for size, known in zip(shape, expected.shape[1:], strict=True)
        if size is not None
    )


def filled_in(shapes: Sequence[Shape | Unknown], wanted: InputShape) -> list[Shape | Unknown] | None:
    """A single input's shape with the sizes that it leaves open taken from `wanted`; None where the two contradict."""
    if len(shapes) != 1 or isinstance(shapes[0], Unknown) or len(shapes[0]) != len(wanted) + 1:
        return None
    filled: list[dims.Size] = [shapes[0][0]]
    for size, new in zip(shapes[0][1:], wanted, strict=True):
        if isinstance(size, Unknown):
            filled.append(size if new is None else new)
        elif new is not None and size != new:
            return None
        else:
            filled.append(size)
    return [tuple(filled)]
