"""Quantities of an op that rules name: how many statistics, masks or probabilities it has, by the shapes it is given.

Here are those that a shape alone tells; what takes an op's own fields is beside that op (`quantity`).
"""

from __future__ import annotations

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.unknown import Unknown

NOT_KNOWN = Unknown("a shape is not known")


def by_shape(name: str, inputs: tuple[Shape, ...], axis: object = 1) -> Size:
    """A quantity that needs nothing but the shapes, and the axis of the channels."""
    shape = inputs[0]
    if name == "channels":
        # The values of a batch norm's statistics.
        return shape[axis] if isinstance(axis, int) and -len(shape) <= axis < len(shape) else NOT_KNOWN
    if name == "instances":
        return instances(shape, axis)
    if name == "mask":
        return dims.product(shape)
    if name == "rows":
        return rows(shape, axis)
    if name == "sample":
        return dims.product(shape[1:])
    if name == "queries":
        return dims.product(shape[:-1])
    if name == "pivots" and len(inputs) > 1:
        # One for each row of the matrices that a system of equations is given second.
        return dims.product(inputs[1][:-1])
    if name == "probabilities" and len(inputs) > 1 and len(inputs[1]) > 1:
        # One for each pair of query and key.
        return dims.multiply(dims.product(shape[:-1]), inputs[1][-2])
    return Unknown(f"how many {name} an op has is not known")


def instances(shape: Shape, axis: object) -> Size:
    """One for each channel of each sample."""
    if not isinstance(axis, int) or not -len(shape) <= axis < len(shape) or len(shape) < 2:
        return dims.product(shape[:2])
    return dims.multiply(shape[0], shape[axis])


def rows(shape: Shape, axes: object) -> Size:
    """The values of statistics over some axes: one for each row that is left."""
    rank = len(shape)
    gone = axes if isinstance(axes, tuple) else (axes,)
    if not all(isinstance(axis, int) and -rank <= axis < rank for axis in gone):
        return next((axis for axis in gone if isinstance(axis, Unknown)), NOT_KNOWN)
    taken = {axis % rank for axis in gone if isinstance(axis, int)}
    return dims.product(size for at, size in enumerate(shape) if at not in taken)
