"""An optimizer's step that was followed through its own code, replayed: what it makes and lets go of, in its order.

The state is there when the step begins. A result lives until the last op has read it, or until the function returns
whose variable holds it. Ops that write into a parameter are no calls of the graph (they take no memory); what such an
op alone reads is let go of a moment early, when it is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flake8_cnnmem.frameworks.rules import Rules
from flake8_cnnmem.frameworks.updates import Update
from flake8_cnnmem.graph import Call, Tensor, Weight
from flake8_cnnmem.memory.autocast import Autocast
from flake8_cnnmem.memory.dtypes import resolve, size_of
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.forward import Forward
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.unknown import Unknown

GATHERING = 8
"""Inputs from which on an op is one over all parameters (the norm of all gradients): it runs without those that have
none."""


def line_of(memory: Memory, tensor: Tensor, dtype: str) -> Line:
    """What a tensor of an optimizer's takes; `dtype` is that of the training."""
    form = memory.form(tensor.shape, resolve(tensor.dtype, dtype))
    return memory.line(form.values, size_of(form.dtype))


def state_lines(memory: Memory, update: Update, weights: Sequence[int], dtype: str) -> list[Line]:
    """What is kept for these weights (ids), and for none in particular."""
    held = [tensor for key in weights for tensor in update.state.get(key, ())]
    return [line_of(memory, tensor, dtype) for tensor in (*held, *update.shared)]


def run_step(
    memory: Memory, rules: Rules, dtype: str, weights: dict[int, Value], update: Update, gradients: Mapping[int, Value]
) -> None:
    """The step on the weights, by id, that have gradients."""
    forward = Forward(memory, rules, dtype, weights, Autocast(memory, rules), records=False)
    given = set()
    for key, tensor in update.gradients.items():
        if key in gradients:
            forward.values[id(tensor)] = gradients[key]
            given.add(id(tensor))
    missing = {id(tensor) for key, tensor in update.gradients.items() if key not in gradients}
    for key, tensors in update.state.items():
        there = key in gradients
        for tensor in tensors:
            if there:
                forward.values[id(tensor)] = in_state(memory, tensor, dtype)
                given.add(id(tensor))
            else:
                missing.add(id(tensor))
    for tensor in update.shared:
        forward.values[id(tensor)] = in_state(memory, tensor, dtype)
        given.add(id(tensor))
    for tensor, root in other_names(update.calls, given | missing):
        if id(root) in given:
            forward.values[id(tensor)] = memory.alias(forward.values[id(root)], tensor.shape, None)
            given.add(id(tensor))
        else:
            missing.add(id(tensor))
    calls = [call for call in update.calls if takes_part(call, missing, weights)]
    timeline = memory.timeline
    first, marks = len(timeline.events), len(timeline.marks)
    stays = (given - update.replaced) | update.kept
    run_calls(forward, calls, stays, replacements(update, calls))
    del timeline.marks[marks:]
    # What the step leaves in the place of its state is state from then on.
    state = {forward.values[key].storage.block for key in update.kept & forward.values.keys()}
    for at in range(first, len(timeline.events)):
        event = timeline.events[at]
        line, use = timeline.lots[abs(event)]
        if use == "temporaries":
            lot = timeline.lot(line, "optimizer" if timeline.blocks[at] in state else "stepping")
            timeline.events[at] = lot if event > 0 else -lot


def other_names(calls: Sequence[Call], there: set[int]) -> list[tuple[Tensor, Tensor]]:
    """Tensors that the calls read, none of them made, and that lie in one of those that are there (ids), each with that
    one: a state that is kept as a view, or as what an op gave that wrote it in place."""
    found = []
    made = {id(tensor) for call in calls for tensor in call.outputs}
    for tensor in {id(tensor): tensor for call in calls for tensor in call.inputs}.values():
        if id(tensor) in made:
            continue
        root = tensor
        while id(root) not in there and root.call is not None and root.call.inputs:
            op = root.call.op
            if not op.view and not op.in_place:
                break
            root = root.call.inputs[0]
        if root is not tensor and id(root) in there:
            found.append((tensor, root))
    return found


def in_state(memory: Memory, tensor: Tensor, dtype: str) -> Value:
    """A tensor that is there already: it is counted with the state."""
    form = memory.form(tensor.shape, resolve(tensor.dtype, dtype))
    line = line_of(memory, tensor, dtype)
    return Value(Storage(line, "optimizer", memory.timeline.lot(line, "optimizer")), form)


def takes_part(call: Call, missing: set[int], weights: Mapping[int, Value]) -> bool:
    """Whether an op is run where some parameters have no gradient, or belong to another model. What it makes is
    missing, too, if not."""
    read = (*call.inputs, *call.weights)
    absent = [
        tensor for tensor in read
        if id(tensor) in missing or (isinstance(tensor, Weight) and id(tensor) not in weights)
    ]  # fmt: skip
    if not absent or (len(read) >= GATHERING and len(absent) < len(read)):
        return not any(isinstance(tensor.shape, Unknown) for tensor in call.inputs)
    missing.update(id(tensor) for tensor in call.outputs)
    return False


def replacements(update: Update, calls: Sequence[Call]) -> dict[int, int]:
    """When each tensor of the state that a step lets go of has got another in its place: by its id the number of the
    call that makes one like it, each for one of them."""
    made = [(tensor, call.number) for call in calls for tensor in call.outputs if id(tensor) in update.kept]
    found: dict[int, int] = {}
    for tensor in (*(each for tensors in update.state.values() for each in tensors), *update.shared):
        if id(tensor) in update.replaced:
            alike = (at for at, (new, _) in enumerate(made) if (new.shape, new.dtype) == (tensor.shape, tensor.dtype))
            at = next(alike, None)
            if at is not None:
                found[id(tensor)] = made.pop(at)[1]
    return found


def run_calls(
    forward: Forward, calls: Sequence[Call], stays: frozenset[int] | set[int], until: Mapping[int, int]
) -> None:
    """Run the calls; each tensor that does not stay goes when nothing reads or holds it any more, and not before the
    call `until` which (by the tensor's id) something holds it."""
    ends = dict(until)
    for call in calls:
        for tensor in (*call.inputs, *call.weights, *call.outputs):
            ends[id(tensor)] = max(call.number, tensor.held, until.get(id(tensor), 0))
    forward.wanted = ends.keys()
    going = [(number, key) for key, number in ends.items() if key not in stays and key not in forward.weights]
    waiting = sorted(going, key=lambda each: each[0])
    at = 0
    for call in calls:
        while at < len(waiting) and waiting[at][0] < call.number:
            forward.drop(waiting[at][1])
            at += 1
        forward.call(call)
    for _, key in waiting[at:]:
        forward.drop(key)
