"""What the steps of a forward pass read: how often, from outside of a stretch, and as it was when they ran."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.memory.storages import Value
from flake8_cnnmem.memory.tape import (
    Keyed,
    Stretch,
    TapeStep,
    calls_in,
    is_made_in,
)
from flake8_cnnmem.unknown import Unknown

ITS_OWN = "is its own, and not known"


def is_reserved(cause: Unknown) -> bool:
    """Whether a cause is that of every recurrent layer: what a library reserves for it."""
    return cause.reason.endswith(ITS_OWN)


def reads_of(steps: Sequence[TapeStep]) -> dict[int, int]:
    """How often each tensor is read by the steps."""
    reads: dict[int, int] = {}
    for step in steps:
        read = outer_of(step) if isinstance(step, Stretch) else (*step.inputs, *step.weights)
        for tensor in read:
            key = id(tensor)
            reads[key] = reads.get(key, 0) + 1
    return reads


def outer_of(stretch: Stretch) -> list[Tensor]:
    """The tensors that a stretch reads or is called on, and does not make."""
    calls = calls_in(stretch.steps)
    made = {id(tensor) for call in calls for tensor in call.outputs}
    read = {id(tensor): tensor for call in calls for tensor in (*call.inputs, *call.weights)}
    given = {id(tensor): tensor for tensor in stretch.invocation.arguments or ()}
    # What is made without an op (`torch.zeros`) is made again with the rest.
    made |= {key for key, tensor in read.items() if key not in given and is_made_in(tensor, stretch.invocation)}
    return [tensor for key, tensor in (read | given).items() if key not in made]


def not_known(call: Call, library: str = "") -> Unknown:
    """The cause that an op leaves of which no rule says what it holds, or not all of it, which is a library's."""
    name = call.function or call.op.kind
    place = (call.site.path, call.site.line) if call.site is not None else ("", 0)
    if library:
        return Unknown(f"what {library} reserves for the backward pass of {name} {ITS_OWN}", *place)
    return Unknown(f"what {name} keeps for its backward pass is not known", *place)


def as_it_was(call: Call, operands: Sequence[Keyed]) -> list[Keyed]:
    """The operands with those of the weights that were frozen when the call ran as such."""
    return [
        (key, Value(value.storage, value.form, False, value.weight, value.viewed) if key in call.frozen else value)
        for key, value in operands
    ]
