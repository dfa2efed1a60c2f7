"""Which calls write a volume in the textbook count, and how large it is.

Convolution, pooling (global too), dense, recurrent and attention layers and merges of feature maps write one;
normalisation, activation functions, dropout, reshapes and padding work in place (CS231n, "Case Studies").
What changes a map's size by copying (up-sampling, a lookup in a table) cannot be in place, and writes one too. Which is
which an op says itself (`volume`).
"""

from __future__ import annotations

from collections.abc import Iterable

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Size
from flake8_cnnmem.graph import Call, Invocation, Model, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Unknown

SINGLE = frozenset({"MultiheadAttention", "MultiHeadAttention", "GroupQueryAttention", "Bidirectional"})
"""Layers that are built of other layers, and are one layer all the same: their result is their volume."""


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
    for call in model.calls:
        if writes_volume(call):
            layer = _layer(call.within)
            # Calls outside of a native layer each stand for themselves; call numbers and ids do not meet in a key.
            last[-1 - call.number if layer is None else id(layer)] = call
    return tuple(Volume(call, values(call)) for call in sorted(last.values(), key=lambda call: call.number))


def values(call: Call) -> Size:
    """The values of a call's first output."""
    shape = call.outputs[0].shape if call.outputs else Unknown("a call without a result")
    return shape if isinstance(shape, Unknown) else dims.product(shape)


def _layer(within: Invocation | None) -> Invocation | None:
    """The invocation of the one native layer that a call is part of, if it is part of one."""
    if within is None:
        return None
    whole = [at for at in within.ancestry() if _is_native(at) and at.layer.cls.name in SINGLE]
    if whole:
        return whole[-1]
    return within if _is_native(within) and within.layer.cls.name not in COMPOSITES else None


COMPOSITES = frozenset({"TransformerEncoderLayer", "TransformerDecoderLayer"})
"""Native layers whose own forward pass merges maps between their sublayers: each merge is one more volume."""


def _is_native(invocation: Invocation) -> bool:
    """Whether the framework itself made the layer: its class has no source."""
    cls = getattr(invocation.layer, "cls", None)
    return cls is not None and getattr(cls, "site", None) is None


def activations(model: Model) -> int:
    """Values that one forward pass writes per sample, without the input; what is not known is left out."""
    return sum(size for size in (dims.per_sample(volume.values) for volume in volumes(model)) if isinstance(size, int))


def unknowns(sizes: Iterable[Size]) -> tuple[Unknown, ...]:
    """The causes of the sizes that are not known, each once."""
    return tuple(dict.fromkeys(size for size in sizes if isinstance(size, Unknown)))
