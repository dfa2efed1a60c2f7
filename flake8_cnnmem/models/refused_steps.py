"""Steps that a framework refuses while they run: backward passes that cannot be made, operands on two devices.

A step is looked at as it was followed, and only what happens for certain counts: what stands behind a test that is not
known may be the other way of a program to do the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.trace import Event
from flake8_cnnmem.evidence import Pass, Phase
from flake8_cnnmem.frameworks.changed_weights import BESIDE, PLACED, WRITTEN_LEAVES
from flake8_cnnmem.graph import Call, Site, Tensor, Weight, calls_behind
from flake8_cnnmem.models.steps import on_the_device
from flake8_cnnmem.ops import Loss
from flake8_cnnmem.unknown import Unknown

WHOLE = ("int", "uint", "bool")
"""What the names of dtypes begin with through which no gradient goes."""


KEEPING = frozenset(("multiply", "divide", "sigmoid", "tanh", "relu", "exponential", "softmax", "log_softmax", "gelu"))
"""Kinds of ops beside products that surely keep something for their backward pass."""


def refused_steps(run: Interpreter, phase: Phase) -> Iterator[Unknown]:
    """Why the step of a phase ends with an error, or does less than its ops say; the first cause alone. Where a tape
    gives gradients none of it is refused: it sums losses of several values."""
    if not all(frameworks.named(loss.framework).declares_inputs for loss in phase.losses):
        return
    written = run.data(WRITTEN_LEAVES)
    freed: set[int] = set()
    for each in phase.passes:
        for event in each.events:
            if event.kind in ("backward", "gradient") and event.doubt is None and isinstance(event.subject, Tensor):
                cause = refused(event, event.subject, freed)
                if cause is None:
                    cause = written_between(event, each.events, written)
                if cause is not None:
                    yield cause
                    return
    last = phase.passes[-1]
    if not run.data(PLACED) and "models" not in run.data(BESIDE):
        yield from on_two_devices(run, last)


def refused(event: Event, loss: Tensor, freed: set[int]) -> Unknown | None:
    """Why a backward pass is refused for where it begins, or for what the ones before it have `freed`: numbers of
    calls, to which its own are added."""
    options = event.options
    shape = loss.shape
    if options.get("seed") is None and not isinstance(shape, Unknown) and all(type(size) is int for size in shape):
        values = math.prod(size for size in shape if isinstance(size, int))
        if values != 1:
            return told(f"a backward pass from {values} values without a gradient of theirs is refused", event.site)
    recorded = recorded_behind([loss], event.trainable)
    if loss.call is None and loss.requires_grad and not isinstance(loss, Weight):
        return told("the loss is a tensor of its own: its backward pass reaches no parameter", event.site, upper=True)
    if not recorded and ends_for_certain(loss, event.trainable):
        return told("a backward pass from what no gradient leads to is refused", event.site)
    kept = {call.number for call in recorded if keeps_operands(call) or call.op.kind in KEEPING}
    if kept & freed:
        return told("a second backward pass through what the first one has let go is refused", event.site)
    retained = options.get("retain_graph")
    if (event.kind == "gradient" and retained is None) or retained is False:
        freed |= kept
    return None


def keeps_operands(call: Call) -> bool:
    """Whether an op surely keeps something for its backward pass, and lets it go after that."""
    inside = any(each.checkpoint or each.own is not None for each in call.ancestry())
    return (call.op.product or call.op.convolves) and not inside


def is_asking(tensor: Tensor, call: Call, recorded: set[int], asked: frozenset[int]) -> bool:
    """Whether a gradient flows into an operand of a call, if the calls of these numbers are recorded and these weights
    (ids) ask for one."""
    if tensor.dtype.startswith(WHOLE):
        return False
    if tensor.requires_grad:
        return True
    if tensor.call is not None:
        return tensor.call.number in recorded
    return id(tensor) in asked and id(tensor) not in call.frozen


def recorded_behind(ends: Sequence[Tensor], asked: frozenset[int]) -> list[Call]:
    """The calls that a backward pass from some tensors goes through, in the order in which they ran; `asked` are the
    weights (ids) that asked for a gradient."""
    calls = calls_behind(ends)
    recorded: set[int] = set()
    for call in calls:
        if call.grad and not call.op.cuts_gradient and not all(o.dtype.startswith(WHOLE) for o in call.outputs):
            if any(is_asking(tensor, call, recorded, asked) for tensor in (*call.inputs, *call.weights)):
                recorded.add(call.number)
    reached: set[int] = set()
    by_number = {call.number: call for call in calls}
    waiting = [end.call.number for end in ends if end.call is not None and end.call.number in recorded]
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            call = by_number[number]
            operands = (*call.inputs, *call.weights)
            waiting += [each.call.number for each in operands if each.call is not None and each.call.number in recorded]
    return [call for call in calls if call.number in reached]


def ends_for_certain(loss: Tensor, asked: frozenset[int]) -> bool:
    """Whether all is known that a loss is computed of, and parameters that train are among it: no gradient leads to
    them for certain."""
    calls = calls_behind([loss])
    operands = [tensor for call in calls for tensor in (*call.inputs, *call.weights)]
    if any(hasattr(call.op, "cause") or (call.within is not None and call.within.own is not None) for call in calls):
        return False
    if any(isinstance(tensor.shape, Unknown) for tensor in operands):
        return False
    weights = [tensor for tensor in operands if isinstance(tensor, Weight)]
    return any(id(each) in asked for each in weights) and all(each.unsure is None for each in weights)


def written_between(event: Event, events: Sequence[Event], written: dict[int, list[int]]) -> Unknown | None:
    """Why a backward pass is refused that reads weights which the program has changed since the forward pass: an
    optimizer's step came between, or they were written in place (`SavedVariable::unpack` in
    torch/csrc/autograd/saved_variable.cpp)."""
    assert isinstance(event.subject, Tensor)
    steps = [each for each in events if each.kind == "step" and each.doubt is None and each.number < event.number]
    if not steps and not written:
        return None
    calls = recorded_behind([event.subject], event.trainable)
    recorded = {call.number for call in calls}
    for call in calls:
        if not keeps_operands(call) or call.autocast is not None:
            continue
        for tensor in operands_kept(call, recorded, event.trainable):
            stepped = any(id(tensor) in each.trainable and each.number > call.number for each in steps)
            if stepped or any(call.number < number <= event.number for number in written.get(id(tensor), ())):
                what = call.function or call.op.kind
                kept = "a weight" if isinstance(tensor, Weight) else "an input"
                return told(
                    f"{what} has kept {kept} that is changed before its backward pass: it is refused", event.site
                )
    return None


def operands_kept(call: Call, recorded: set[int], asked: frozenset[int]) -> Iterator[Tensor]:
    """The weights and leaves that a product or convolution has kept for its backward pass: each for the gradient of the
    other one, a convolution both."""
    matrices = [each for each in call.weights if not isinstance(each.shape, Unknown) and len(each.shape) > 1]
    if call.op.convolves or any(is_asking(tensor, call, recorded, asked) for tensor in call.inputs):
        yield from (each for each in matrices if isinstance(each, Weight))
    if call.op.convolves or any(is_asking(tensor, call, recorded, asked) for tensor in matrices):
        yield from (each for each in call.inputs if each.call is None and not isinstance(each, Weight))


def on_two_devices(run: Interpreter, turn: Pass) -> Iterator[Unknown]:
    """Why an op of a step is refused: one operand was moved to the device, another one surely lies on the host."""
    # Gradients count as moved, wherever their parameters lie.
    backward = (event.number for event in turn.events if event.kind in ("backward", "gradient", "derived", "unclear"))
    end = min(backward, default=turn.last)
    forward = [(call, doubt) for call, doubt in turn.calls if call.number <= end]
    beside = run.data(BESIDE)
    there = on_the_device([call for call, _ in forward], beside)
    for call, doubt in forward:
        if doubt is None and not call.doubtful and call.number in there and is_strict(call):
            operands = (*call.inputs, *call.weights)
            left = next((each for each in operands if is_left(each, call.number)), None)
            if left is not None and any(
                id(each) not in beside and is_moved(each, call.number, there) for each in operands
            ):
                what = call.function or call.op.kind
                yield told(f"{what} on the device and on the host at once is refused", call.site or left.site)
                return


def is_strict(call: Call) -> bool:
    """Whether an op takes operands of one device alone."""
    op = call.op
    if op.kind == "ctc":
        # It moves targets to its device by itself (LossCTC.cpp).
        return False
    return bool(op.product or op.convolves) or isinstance(op, Loss) or op.kind in ELEMENTWISE


ELEMENTWISE = frozenset(("add", "subtract", "multiply", "divide", "cat", "stack"))


def is_left(tensor: Tensor, number: int) -> bool:
    """Whether an operand lies on the host for certain: a parameter that nobody has moved, or a tensor that the code
    makes there. A single number may lie anywhere."""
    if tensor.call is not None or tensor.site is None or isinstance(tensor.shape, Unknown) or not tensor.shape:
        return False
    if isinstance(tensor, Weight):
        # A buffer may have been made of what lies on the device.
        return not (tensor.buffer or tensor.moved_at(number) or tensor.made_there) and tensor.stands_for is None
    return not tensor.moved and tensor.gradient_of is None and tensor.as_wide_as is None and tensor.view_of is None


def is_moved(tensor: Tensor, number: int, there: set[int]) -> bool:
    """Whether an input was moved to the device, or computed there."""
    if tensor.call is not None:
        return tensor.call.number in there
    return tensor.moved_at(number) if isinstance(tensor, Weight) else tensor.moved and tensor.gradient_of is None


def told(reason: str, site: Site | None, upper: bool = False) -> Unknown:
    """The cause at its place."""
    return Unknown(reason, *((site.path, site.line) if site is not None else ("", 0)), upper=upper)
