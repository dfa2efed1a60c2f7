"""Equal computations made one: TensorFlow's graph optimizer runs the same op on the same inputs only once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flake8_cnnmem.graph import Call, Tensor


def merged(calls: Sequence[Call], outputs: Sequence[Tensor]) -> tuple[list[Call], tuple[Tensor, ...]]:
    """The calls without those that repeat an earlier one, reading its results instead, and the outputs likewise."""
    first: dict[object, Call] = {}
    instead: dict[int, Tensor] = {}
    kept: list[Call] = []
    for call in calls:
        inputs = tuple(instead.get(id(tensor), tensor) for tensor in call.inputs)
        known = None
        key = _key(call, inputs)
        if key is not None:
            known = first.get(key)
        if known is not None:
            for tensor, other in zip(call.outputs, known.outputs, strict=False):
                instead[id(tensor)] = other
            continue
        if any(new is not old for new, old in zip(inputs, call.inputs, strict=True)):
            call = replace(call, inputs=inputs)
        if key is not None:
            first[key] = call
        kept.append(call)
    return kept, tuple(instead.get(id(tensor), tensor) for tensor in outputs)


def _key(call: Call, inputs: tuple[Tensor, ...]) -> object:
    """What makes two calls equal; None for those that draw random numbers or have weights."""
    op = call.op
    if call.weights or op.random or not inputs:
        return None
    try:
        hash(op)
    except TypeError:
        return None
    return (type(op), op, call.grad, tuple(id(tensor) for tensor in inputs))
