"""The quantities that rows of rules name: how many values each is, for one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.storages import Value
from flake8_cnnmem.ops import Convolution, GroupNorm, LayerNorm, Recurrent, RecurrentCell, RMSNorm
from flake8_cnnmem.ops.base import LIMIT, first_not_known
from flake8_cnnmem.unknown import Unknown

NOT_KNOWN = Unknown("a shape is not known")


def quantity(name: str, call: Call, inputs: Sequence[Value], output: Size) -> Size:
    """How many values `name` stands for in this call: a tensor by its place, or one of `QUANTITIES`."""
    if name == "y":
        return output
    if name[0] == "x" and (name[1:] or "0").isdigit():
        at = int(name[1:] or 0)
        return inputs[at].values if at < len(inputs) else 0
    shape = inputs[0].shape if inputs else NOT_KNOWN
    if isinstance(shape, Unknown):
        return shape
    return QUANTITIES[name](call, shape, inputs)


def _channels(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values of a batch norm's statistics."""
    axis = getattr(call.op, "axis", 1)
    return shape[axis] if isinstance(axis, int) and -len(shape) <= axis < len(shape) else NOT_KNOWN


def _instances(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """One for each channel of each sample."""
    axis = getattr(call.op, "axis", 1)
    if not isinstance(axis, int) or not -len(shape) <= axis < len(shape) or len(shape) < 2:
        return dims.product(shape[:2])
    return dims.multiply(shape[0], shape[axis])


def _mask(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values that a dropout draws."""
    noise = getattr(call.op, "noise", None)
    if not isinstance(noise, tuple) or len(noise) != len(shape):
        return dims.product(shape)
    return dims.product(size if drawn is None else _whole(drawn) for drawn, size in zip(noise, shape, strict=True))


def _padded(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """The input with the channels that a response across `size` of them needs beyond the ends."""
    size = _whole(getattr(call.op, "size", 1))
    if len(shape) < 2:
        return dims.product(shape)
    return dims.product((shape[0], dims.add(shape[1], dims.subtract(size, 1)), *shape[2:]))


def _rows(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values of a layer norm's statistics: one for each normalised row."""
    op = call.op
    rank = len(shape)
    axes: object = getattr(op, "axis", 1)
    if isinstance(op, (LayerNorm, RMSNorm)):
        axes = op.axes if op.axes is not None else -1
        if op.shape is not None:
            axes = tuple(range(-len(op.shape), 0))
    gone = axes if isinstance(axes, tuple) else (axes,)
    if not all(isinstance(axis, int) and -rank <= axis < rank for axis in gone):
        return first_not_known(gone, NOT_KNOWN)
    taken = {axis % rank for axis in gone if isinstance(axis, int)}
    return dims.product(size for at, size in enumerate(shape) if at not in taken)


def _sample(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values of one sample."""
    return dims.product(shape[1:])


def _groups(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    op = call.op
    if not isinstance(op, GroupNorm) or not shape:
        return 0
    if op.groups == -1:
        return _instances(call, shape, inputs)
    return dims.multiply(shape[0], _whole(op.groups))


def _queries(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    return dims.product(shape[:-1])


def _probabilities(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """One for each pair of query and key."""
    keys = inputs[1].shape if len(inputs) > 1 else NOT_KNOWN
    if isinstance(keys, Unknown) or len(keys) < 2:
        return NOT_KNOWN
    return dims.multiply(dims.product(shape[:-1]), keys[-2])


def _dense(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """The values of a grouped convolution's kernel, if it had no groups."""
    op = call.op
    if not isinstance(op, Convolution) or op.channels_last not in (True, False):
        return 0
    channels = shape[-1 if op.channels_last else 1] if len(shape) > 1 else NOT_KNOWN
    return dims.multiply(dims.product(op.kernel), dims.multiply(_whole(op.filters), channels))


def _steps(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """The hidden values of every layer and direction at every step of a recurrent layer."""
    op = call.op
    steps = dims.product(shape[:-1])
    if not isinstance(op, Recurrent):
        hidden = getattr(op, "hidden", getattr(op, "filters", NOT_KNOWN))
        return dims.multiply(steps if len(shape) < 4 else dims.product(shape[:-1]), _whole(hidden))
    each = dims.multiply(_whole(op.hidden), _whole(op.layers))
    return dims.multiply(steps, dims.multiply(each, 2 if op.bidirectional is True else 1))


def _inner(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """What a recurrent layer's inner layers hand on, both directions together."""
    op = call.op
    if not isinstance(op, Recurrent):
        return 0
    directions = 2 if op.bidirectional is True else 1
    each = dims.multiply(_whole(op.hidden), dims.multiply(dims.subtract(_whole(op.layers), 1), directions))
    return dims.multiply(dims.product(shape[:-1]), each)


def _joined(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """What inner layers hand on, where two directions are joined for it."""
    return _inner(call, shape, inputs) if getattr(call.op, "bidirectional", False) is True else 0


def _direction(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """What one direction of one inner layer hands on."""
    op = call.op
    if not isinstance(op, Recurrent) or op.bidirectional is not True or op.layers == 1:
        return 0
    return dims.multiply(dims.product(shape[:-1]), _whole(op.hidden))


def _states(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """One hidden state of every layer and direction."""
    op = call.op
    if isinstance(op, RecurrentCell):
        return dims.multiply(dims.product(shape[:-1]), _whole(op.hidden))
    if not isinstance(op, Recurrent) or len(shape) < 3:
        return 0
    samples = shape[0] if op.batch_first is True else shape[1]
    each = dims.multiply(_whole(op.hidden), _whole(op.layers))
    return dims.multiply(samples, dims.multiply(each, 2 if op.bidirectional is True else 1))


def _zeros(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """The initial states that a recurrent layer makes where it is given none."""
    return 0 if len(inputs) > 1 else _states(call, shape, inputs)


def _handed(call: Call, shape: Shape, inputs: Sequence[Value]) -> Size:
    """The hidden states that are handed from one step to the next."""
    return dims.subtract(_steps(call, shape, inputs), _states(call, shape, inputs))


def _whole(size: object) -> Size:
    if isinstance(size, Unknown):
        return size
    return size if isinstance(size, int) and 0 <= size <= LIMIT else NOT_KNOWN


QUANTITIES: dict[str, Callable[[Call, Shape, Sequence[Value]], Size]] = {
    "channels": _channels,
    "mask": _mask,
    "padded": _padded,
    "instances": _instances,
    "rows": _rows,
    "sample": _sample,
    "groups": _groups,
    "queries": _queries,
    "probabilities": _probabilities,
    "dense": _dense,
    "steps": _steps,
    "inner": _inner,
    "joined": _joined,
    "direction": _direction,
    "states": _states,
    "zeros": _zeros,
    "handed": _handed,
}
