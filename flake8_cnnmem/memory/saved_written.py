"""What an op has saved for its backward pass and the code writes into afterwards: that pass is refused.

Autograd notes the version of a tensor that it saves, and compares it when the backward pass reads it
(`SavedVariable::unpack` in torch/csrc/autograd/saved_variable.cpp). Views of one tensor share their version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_cnnmem.memory.tape import TapeNode
from flake8_cnnmem.unknown import Unknown

if TYPE_CHECKING:
    from flake8_cnnmem.graph import Call, Tensor
    from flake8_cnnmem.memory.forward import Forward
    from flake8_cnnmem.memory.storages import Storage


def note_if_saved(forward: Forward, call: Call, written: Storage) -> None:
    """A cause for the step, where the storage that a call writes into was saved by an op before it."""
    if not written.kept or not forward.rules.eager or is_apart(call.inputs[0]):
        return
    for entry in reversed(forward.tape):
        if isinstance(entry, TapeNode) and any(saved is written for saved in entry.saved):
            saver = entry.label.function or entry.label.op.kind
            writer = call.function or call.op.kind
            place = (call.site.path, call.site.line) if call.site is not None else ("", 0)
            reason = f"{writer} writes into what {saver} has saved: its backward pass is refused"
            forward.memory.left_out.setdefault(Unknown(reason, *place))
            return


def is_apart(tensor: Tensor) -> bool:
    """Whether a tensor was taken out of its history: what is read off as mere values has a version of its own."""
    while tensor.call is not None and (tensor.call.op.view or tensor.call.op.cuts_gradient):
        if tensor.call.op.cuts_gradient:
            return True
        tensor = tensor.call.inputs[0]
    return False
