"""`tf.TensorArray`: a list of tensors that a loop writes and stacks."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.constants import plain
from flake8_cnnmem.frameworks.keras.ops.operands import apply, shape_of
from flake8_cnnmem.frameworks.keras.shapes import plain_size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Concatenate, Index, Stack
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

ITEMS, SIZE, DYNAMIC, ELEMENT = "_items", "_size", "_dynamic_size", "_element_shape"


def initialise(
    run: Runtime, self: Instance, dtype: Value = None, size: Value = 0, dynamic_size: Value = False,
    clear_after_read: Value = None, tensor_array_name: Value = None, handle: Value = None, flow: Value = None,
    infer_shape: Value = True, element_shape: Value = None, colocate_with_first_write_call: Value = True,
    name: Value = None,
) -> None:  # fmt: skip
    """`tf.TensorArray(dtype, size)`: its tensors by their places."""
    self.attributes.update(
        {ITEMS: {}, SIZE: plain(size), DYNAMIC: dynamic_size, ELEMENT: element_shape, "dtype": dtype}
    )


def write(run: Runtime, self: Instance, index: Value, value: Value, name: Value = None) -> Instance:
    """The array itself. An item at a place that is not known stands for all of them."""
    run.changed(self)
    at = plain(index)
    self.attributes[ITEMS] = {**self.attributes[ITEMS], at if isinstance(at, int) else None: value}
    return self


def read(run: Runtime, self: Instance, index: Value, name: Value = None) -> Value:
    """`array.read(index)`: the tensor that was written there, or one that stands for all of them."""
    items, at = self.attributes[ITEMS], plain(index)
    found = items.get(at if isinstance(at, int) else None, items.get(None))
    if found is None and items and not isinstance(at, int):
        found = next(iter(items.values()))
    return run.unknown("what is read of a TensorArray was not seen written") if found is None else found


def stack(run: Runtime, self: Instance, name: Value = None) -> Value:
    """All items, along a new first axis: as many as were written, or one that stands for as many as the size says."""
    items, count = self.attributes[ITEMS], self.attributes[SIZE]
    numbered = [items[at] for at in sorted(at for at in items if at is not None)]
    if None not in items and numbered and (not isinstance(count, int) or len(numbered) >= count):
        return apply(run, Stack(0), *numbered, function="stack")
    if not items:
        return run.unknown("a TensorArray is stacked that was not seen written")
    one = items.get(None, numbered[0] if numbered else None)
    shape = shape_of(one)
    if isinstance(shape, Unknown):
        return shape
    many = run.unknown("how much a TensorArray holds is not known") if self.attributes[DYNAMIC] is True else count
    return apply(run, Given("tensor_array", ((plain_size(many), *shape),)), *items.values(), function="stack")


def concat(run: Runtime, self: Instance, name: Value = None) -> Value:
    """`array.concat()`: the tensors behind each other along the first axis."""
    items = self.attributes[ITEMS]
    if None in items or not items:
        return run.unknown("how much a TensorArray holds is not known")
    return apply(run, Concatenate(0), *(items[at] for at in sorted(items)), function="concat")


def unstack(run: Runtime, self: Instance, value: Value, name: Value = None) -> Instance:
    """One item for each row; where there are too many to be told apart, the first stands for all."""
    shape = shape_of(value)
    count = shape[0] if isinstance(shape, tuple) and shape else None
    run.changed(self)
    if isinstance(value, Tensor) and isinstance(count, int) and count <= MOST_ITEMS:
        rows = {at: apply(run, Index((at,)), value, function="unstack") for at in range(count)}
        self.attributes[ITEMS] = rows
    else:
        self.attributes[ITEMS] = {None: apply(run, Index((0,)), value, function="unstack")}
    return self


MOST_ITEMS = 512
"""Rows that are told apart."""


def size(run: Runtime, self: Instance, name: Value = None) -> Value:
    """`array.size()`: how many tensors it holds."""
    items, count = self.attributes[ITEMS], self.attributes[SIZE]
    return max(len(items), count) if None not in items and isinstance(count, int) else count


def same(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Instance:
    """The array itself."""
    return self


TENSOR_ARRAY = Class(
    "TensorArray",
    namespace={
        name: Native(name, function, propagate_unknown=False)
        for name, function in (
            ("__init__", initialise), ("write", write), ("read", read), ("stack", stack), ("concat", concat),
            ("unstack", unstack), ("size", size), ("mark_used", same), ("identity", same),
        )
    },
    module="tensorflow",
)  # fmt: skip
