"""Samples of several sizes, of which a collate function of the program makes batches: the largest stands for all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.torch.utils_data.collate import LARGEST_LIST
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

MOST_SAMPLES = 64
"""Samples that a data set of the program's own is asked for."""

AT = Native("sample", lambda run, dataset, at: run.index(dataset, at), propagate_unknown=False)


def samples_of(run: Runtime, dataset: Value, count: Value) -> list[Value]:
    """The samples of a data set, as far as they are soon made; empty where they are all as large, or where nobody knows
    how large each is."""
    if isinstance(dataset, (list, tuple)):
        found = list(dataset[:LARGEST_LIST])
    elif isinstance(count, int):
        found = [run.make_data(AT, dataset, at) for at in range(min(count, MOST_SAMPLES))]
    else:
        return []
    shapes = [tuple(each.shape for each in tensors_of(sample)) for sample in found]
    known = all(isinstance(shape, tuple) and all(type(n) is int for n in shape) for each in shapes for shape in each)
    return found if known and len(set(shapes)) > 1 else []


def collated(run: Runtime, function: Value, samples: Sequence[Value], size: int, in_order: bool) -> Value:
    """What a collate function makes of the largest batch of these samples: of those that come together where they are
    drawn in order; else of the largest one with others, as far as it is the same whichever these are."""
    if in_order:
        parts = [samples[at : at + size] for at in range(0, len(samples), size)]
        widest = max(parts, key=lambda part: max(map(values_of, part)))
        fullest = max(parts, key=lambda part: sum(map(values_of, part)))
        made = [run.make_data(function, list(part)) for part in (widest, fullest)]
        return max(made, key=values_of)
    largest, smallest = max(samples, key=values_of), min(samples, key=values_of)
    alike = run.make_data(function, [largest] * size)
    mixed = run.make_data(function, [largest, *[smallest] * (size - 1)])
    return agreed(alike, mixed, run.unknown("which samples a batch holds is not known"))


def agreed(one: Value, other: Value, cause: Unknown) -> Value:
    """A value with those sizes of its tensors that another one like it has as well."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if not isinstance(one.shape, tuple) or not isinstance(other.shape, tuple) or len(one.shape) != len(other.shape):
            return one if one.shape == other.shape else Tensor(cause, one.dtype)
        if one.shape == other.shape:
            return one
        sizes = (a if a == b else cause for a, b in zip(one.shape, other.shape, strict=True))
        return Tensor(tuple(sizes), one.dtype, framework=one.framework)
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: agreed(value, other.get(key), cause) for key, value in one.items()}
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)) and len(one) == len(other):
        return type(one)(agreed(a, b, cause) for a, b in zip(one, other, strict=True))
    return one


def values_of(sample: Value) -> float:
    """How many values the tensors of a sample, or of a batch, have; infinity where that is not known."""
    sizes = (dims.product(each.shape) if isinstance(each.shape, tuple) else None for each in tensors_of(sample))
    return sum(size if isinstance(size, int) else math.inf for size in sizes)


def tensors_of(sample: Value) -> Iterator[Tensor]:
    """The tensors of a sample, in order."""
    if isinstance(sample, Tensor):
        yield sample
    elif isinstance(sample, (tuple, list, dict)):
        for part in sample.values() if isinstance(sample, dict) else sample:
            yield from tensors_of(part)
