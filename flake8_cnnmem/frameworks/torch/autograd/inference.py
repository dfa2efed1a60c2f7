"""Inference mode: what is made inside records nothing, whatever is said of gradients, and cannot be saved for a
backward pass afterwards (`TORCH_CHECK(!variable.is_inference())` in torch/csrc/autograd/saved_variable.cpp)."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value

INFERENCE = "regions of inference mode"
"""Scratch of the run: "open" are those around what runs, each whether it is on; "numbers" the first and last number
among the ops of those that have ended and were on."""


def enter_inference(run: Runtime, on: bool) -> None:
    """A region begins. Within it no gradients are recorded; they are where it is off, also within no_grad."""
    found = run.data(INFERENCE)
    found["open"] = (*found.get("open", ()), (on, run.next_number()))
    run.grad_enabled = not on


def leave_inference(run: Runtime) -> None:
    """The innermost region ends."""
    found = run.data(INFERENCE)
    if found.get("open"):
        *outer, (on, first) = found["open"]
        found["open"] = tuple(outer)
        if on:
            found.setdefault("numbers", []).append((first, run.next_number()))


def in_inference(run: Runtime) -> bool:
    """Whether the innermost region is on: gradients cannot be switched on."""
    regions = run.data(INFERENCE).get("open")
    return regions is not None and any(on for on, _ in regions[-1:])


def note_kept(run: Runtime, what: str, operands: Sequence[Value], weights: Sequence[Value]) -> None:
    """Note a cause where a product with a weight that trains would keep what was made in inference mode."""
    numbers = run.data(INFERENCE).get("numbers", ())
    trains = any(isinstance(each, Weight) and each.trainable and not each.buffer for each in weights)
    if numbers and trains and operands and isinstance(operands[0], Tensor):
        at = operands[0]
        while at.call is not None and (at.call.op.view or at.call.op.cuts_gradient):
            if any(first <= at.call.number <= last for first, last in numbers):
                break
            at = at.call.inputs[0]
        if at.call is not None and any(first <= at.call.number <= last for first, last in numbers):
            note_cause(run, None, "inference mode", f"{what} of a tensor that inference mode has made is refused")
