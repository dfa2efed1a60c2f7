"""What a batch is made of: torch.utils.data.default_collate, by its documentation, for samples that are all alike.

The batch size is a number where the code states it, and else the batch itself (`Batch(1)`).
"""

from __future__ import annotations

from flake8_cnnmem.dims import BATCH, Size
from flake8_cnnmem.graph import Tensor, lies_on_device
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

LARGEST_LIST = 4096
"""Samples of a batch that a collate function of the user's is given one by one."""

DEPTH = 8


def batch_size_of(size: Value) -> Size:
    """A batch size as it stands in a shape: the batch itself where the code's size is not known."""
    return size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else BATCH


def collate(run: Runtime, sample: Value, size: Size, depth: int = DEPTH) -> Value:
    """`default_collate` of `size` samples that are all like this one."""
    if isinstance(sample, Tensor):
        return stacked(sample, size)
    if isinstance(sample, bool):
        return Tensor((size,), "bool")
    if isinstance(sample, int):
        return Tensor((size,), "int64")
    if isinstance(sample, float):
        return Tensor((size,), "float64")
    if isinstance(sample, Unknown) and sample.number:
        return Tensor((size,), "int64" if sample.number == "int" else "float64")
    if isinstance(sample, Unknown) or depth == 0:
        return sample
    if isinstance(sample, (str, bytes)):
        cause = run.unknown("which samples a batch holds is not known")
        return [cause] * size if isinstance(size, int) and size <= LARGEST_LIST else cause
    if isinstance(sample, dict):
        return {key: collate(run, value, size, depth - 1) for key, value in sample.items()}
    if isinstance(sample, (tuple, list)):
        return [collate(run, item, size, depth - 1) for item in sample]
    if isinstance(sample, Instance) and isinstance(sample.payload, (dict, tuple, list)):
        inner = collate(run, sample.payload, size, depth - 1)
        made = tuple(inner) if isinstance(sample.payload, tuple) and isinstance(inner, (list, tuple)) else inner
        return Instance(sample.cls, dict(sample.attributes), payload=made, native=sample.native)
    return run.unknown(f"a {type_name(sample)} is no part of a batch")


def type_name(value: Value) -> str:
    """The name of a value's class."""
    return value.cls.name if isinstance(value, Instance) else type(value).__name__


def stacked(sample: Tensor, size: Size) -> Tensor:
    """Samples along a new first axis. Numbers in a model's own default dtype count as in the dtype it trains in."""
    dtype = "float" if sample.dtype == "float32" else sample.dtype
    if isinstance(sample.shape, Unknown):
        return Tensor(sample.shape, dtype)
    # What lies on the device is stacked there.
    there = lies_on_device(sample)
    made = Tensor((size, *sample.shape), dtype, moved=there, made_there=there)
    made.drawn = whole_of(sample)
    return made


def whole_of(sample: Tensor) -> tuple[int, int]:
    """What the data set that a sample is of has drawn (`Tensor.drawn`): a loader goes through all of it."""
    while not sample.drawn[0] and sample.call is not None and sample.call.inputs and sample.call.op.view:
        sample = sample.call.inputs[0]
    return sample.drawn


def convert(run: Runtime, sample: Value, depth: int = DEPTH) -> Value:
    """`default_convert`: what a loader without batching gives for a sample. Arrays become tensors."""
    if isinstance(sample, Tensor) and sample.framework != "torch":
        dtype = "float" if sample.dtype == "float32" else sample.dtype
        return Tensor(sample.shape, dtype, data=sample.data)
    if depth and isinstance(sample, dict):
        return {key: convert(run, value, depth - 1) for key, value in sample.items()}
    if depth and isinstance(sample, (tuple, list)):
        return type(sample)(convert(run, item, depth - 1) for item in sample)
    return sample


def default_collate(run: Runtime, batch: Value) -> Value:
    """A batch of samples: numbers and tensors stacked along a new first axis, within tuples, lists and dicts."""
    items = run.items(batch)
    if isinstance(items, Unknown):
        return items
    if not items:
        raise IndexError("list index out of range")
    return collate(run, items[0], batch_size_of(len(items)))
