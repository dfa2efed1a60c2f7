"""Which calls write a volume in the textbook count, and how large it is.

Convolution, pooling (global too), dense, recurrent and attention layers and merges of feature maps write one;
normalisation, activation functions, dropout, reshapes and padding work in place (CS231n, "Case Studies").
What changes a map's size by copying (up-sampling, a lookup in a table) cannot be in place, and writes one too. Which is
which an op says itself (`volume`).
"""

from __future__ import annotations

from collections.abc import Iterable

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Call, Invocation, Model, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Volume:
    """What one layer writes: its last writing call, and the number of values (may contain the batch)."""

    call: Call
    values: Size


def writes_volume(call: Call) -> bool:
    """Whether this run of an op, taken alone, writes a volume of its own."""
    volume = call.op.volume
    return volume == "own" or (volume == "merge" and len(_maps(call)) > 1)


def _maps(call: Call) -> list[object]:
    """The inputs that are feature maps: neither parameters nor constants."""
    return [x for x in call.inputs if not isinstance(x, Weight) and (x.call is not None or x.data is None)]


def volumes(model: Model) -> tuple[Volume, ...]:
    """Every volume that one forward pass writes, in the order of the calls that write it.

    An invocation of one native layer that runs several ops (separable convolution, attention) writes its
    result once.
    """
    last: dict[int, Call] = {}
    framework = frameworks.named(model.framework)
    for call in model.calls:
        if writes_volume(call):
            layer = _layer(call.within, framework)
            # Calls outside of a native layer each stand for themselves; call numbers and ids do not meet in a key.
            last[-1 - call.number if layer is None else id(layer)] = call
    return tuple(Volume(call, values(call)) for call in sorted(last.values(), key=lambda call: call.number))


def values(call: Call) -> Size:
    """The values of a call's first output."""
    shape = call.outputs[0].shape if call.outputs else Unknown("a call without a result")
    return shape if isinstance(shape, Unknown) else dims.product(shape)


def _layer(within: Invocation | None, framework: Framework) -> Invocation | None:
    """The invocation of the one native layer that a call is part of, if it is part of one."""
    if within is None:
        return None
    whole = [at for at in within.ancestry() if _native_class(at) in framework.single_layers]
    if whole:
        return whole[-1]
    own = _native_class(within)
    return within if own and own not in framework.merging_layers else None


def _native_class(invocation: Invocation) -> str:
    """The name of the layer's class, if the framework itself made it (it has no source); else ""."""
    cls = getattr(invocation.layer, "cls", None)
    return "" if cls is None or getattr(cls, "site", None) is not None else cls.name


def activations(model: Model) -> int:
    """Values that one forward pass writes per sample, without the input; what is not known is left out."""
    return sum(size for size in (dims.per_sample(volume.values) for volume in volumes(model)) if isinstance(size, int))


def unknowns(sizes: Iterable[Size]) -> tuple[Unknown, ...]:
    """The causes of the sizes that are not known, each once."""
    return tuple(dict.fromkeys(size for size in sizes if isinstance(size, Unknown)))
