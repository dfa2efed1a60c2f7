"""Where tensors and models lie: what the code moves to a device of its own choice, and what stays on the host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flake8_cnnmem.frameworks.changed_weights import CROSSED, PLACED
from flake8_cnnmem.frameworks.torch.noted import note_made
from flake8_cnnmem.graph import Tensor, Weight, calls_behind, lies_on_device
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import same_values, shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def names_device(value: Value) -> bool:
    """Whether an argument of `to` says where to, known or not."""
    return isinstance(value, (str, Unknown)) or (isinstance(value, Instance) and value.cls.name == "device")


def is_host(device: Value) -> bool:
    """Whether a device is the processor for certain."""
    kind = device.attributes.get("type") if isinstance(device, Instance) else device
    return isinstance(kind, str) and kind.startswith("cpu")


def placing(function: Callable[..., Value]) -> Callable[..., Value]:
    """A function that makes a tensor, with note of the device that it is told."""

    def placed(run: Runtime, *args: Value, device: Value = None, **kwargs: Value) -> Value:
        if device is None:
            return function(run, *args, **kwargs)
        made = function(run, *args, device=device, **kwargs)
        if isinstance(made, Tensor) and made.call is None and not is_host(device):
            made.moved = made.made_there = True
            made.born = run.next_number()
            note_made(run, made)
        return made

    return placed


def to_device(run: Runtime, input: Value, *args: Value, **kwargs: Value) -> Value:
    """`x.cuda()`: of what lies on the host a tensor of its own; what is there already is given back."""
    if not isinstance(input, Tensor) or input.moved:
        return input
    if not isinstance(input, Weight) and lies_on_host(input):
        # What it was computed of is still told by its call, whose result it is not.
        return note_made(run, replace(input, held=0, moved=True, born=run.next_number()))
    if not isinstance(input, Weight) and input.call is not None and not any(one.moved for one in operands_of(input)):
        run.data(CROSSED)[id(input)] = input
    input.moved = True
    return input


def is_there(tensor: Tensor) -> bool:
    """Whether a tensor lies on the device for certain: what is made like it, or of its kind, does as well."""
    return tensor.moved or (tensor.call is not None and lies_on_device(tensor))


def operands_of(tensor: Tensor) -> list[Tensor]:
    """All that a tensor was computed of."""
    return [one for call in calls_behind([tensor]) for one in (*call.inputs, *call.weights)]


def lies_on_host(tensor: Tensor) -> bool:
    """Whether a tensor is data, or was computed of nothing that was moved, and no gradient flows through it."""
    if tensor.call is None:
        return True
    operands = operands_of(tensor)
    learned = any(isinstance(one, Weight) and one.trainable and not one.buffer for one in operands)
    return not any(one.moved for one in operands) and not (learned and tensor.call.grad)


def asks_for_gradient(tensor: Tensor) -> bool:
    """Whether a gradient would flow through a result on to a parameter or a leaf that asks for one."""
    seen: set[int] = set()
    waiting = [tensor] if tensor.call is not None else []
    while waiting:
        call = waiting.pop().call
        if call is None or id(call) in seen or not call.grad or call.op.cuts_gradient:
            continue
        seen.add(id(call))
        operands = (*call.weights, *call.inputs)
        if any(one.trainable and not one.buffer if isinstance(one, Weight) else one.requires_grad for one in operands):
            return True
        waiting += operands
    return False


def all_to_device(run: Runtime, value: Value, depth: int = 6) -> Value:
    """A batch with all its tensors, as a trainer or a loader that it has prepared moves it."""
    # The models are moved by who moves the batch.
    run.data(PLACED)["batch"] = True
    if isinstance(value, Tensor):
        return to_device(run, value)
    if depth and type(value) is dict:
        return {key: all_to_device(run, item, depth - 1) for key, item in value.items()}
    if depth and (type(value) is list or type(value) is tuple):
        return type(value)(all_to_device(run, item, depth - 1) for item in value)
    return value


def to_host(run: Runtime, input: Value, *args: Value, **kwargs: Value) -> Value:
    """`x.cpu()`: of what no gradient flows through any more a tensor of its own, for which the card has no room."""
    if not isinstance(input, Tensor) or (isinstance(input, Weight) and not input.moved):
        return input
    if isinstance(input, Weight):
        # What `state_dict` gives are the weights themselves: their copies on the host are none.
        return Tensor(input.shape, input.dtype, site=run.here())
    if run.grad_enabled and asks_for_gradient(input):
        run.data(CROSSED)[id(input)] = input
        return input
    made = replace(input, call=None, index=0, held=0, moved=False)
    if input.data is not None and not input.moved:
        shares(made, input, same_values)
    return made


def sent(run: Runtime, input: Value, args: tuple[Value, ...], result: Value) -> Value:
    """What `x.to(...)` gives, with note of where it lies."""
    for value in args:
        if names_device(value):
            if is_host(value):
                if isinstance(input, Weight) and input.moved and isinstance(result, Tensor):
                    return Tensor(result.shape, result.dtype, site=run.here())
                return to_host(run, result)
            return to_device(run, result)
        if isinstance(value, Tensor) and value.moved:
            return to_device(run, result)
        leaf = isinstance(result, Tensor) and not isinstance(result, Weight) and result.call is None
        if isinstance(value, Tensor) and leaf:
            return note_made(run, result, value)  # type: ignore[arg-type]
    return result
