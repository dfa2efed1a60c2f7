"""What `.grad` is: after a backward pass a tensor like its parameter, until somebody clears it.

No gradient is computed. Which parameters a loss reaches is left to the replay of the step; to the code that is
evaluated, every parameter that trains has a gradient once a backward pass was run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flake8_cnnmem.frameworks.framework import BACKWARD_PASSES
from flake8_cnnmem.frameworks.torch.dtypes import COMPLEX, is_floating
from flake8_cnnmem.graph import Tensor, Weight, calls_behind
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value

GRADIENTS = "gradients"
"""Scratch of the run: by a tensor's id the tensor, its gradient, and the number of the pass that it came from."""

OF_LEAVES = "gradients of leaves"
"""Scratch of the run: what `.grad` of a tensor is that is no parameter, by the tensor's id, with the tensor."""

PASSES = BACKWARD_PASSES
"""Scratch of the run: how many backward passes there were ("number"), and by id when a tensor's was cleared."""

ASKED = "gradients that were asked for"
"""Scratch of the run: the parameters, by id, whose gradients `autograd.grad` has given, and how often it has
("number")."""

GIVEN = -1
"""In the place of that number: the program has set the gradient itself since."""

STEPPING = "optimizer step"
"""Scratch of the run: what is noted of the optimizer's step that is being followed ("now")."""


def backward(run: Runtime, loss: Value, **options: Value) -> None:
    """A backward pass begins."""
    passes = run.data(PASSES)
    passes["number"] = passes.get("number", 0) + 1
    run.note("backward", loss, **options)
    if run.data(HOOKS) and isinstance(loss, Tensor):
        run_hooks(run, loss)


HOOKS = "hooks on complete gradients"
"""Scratch of the run: parameters with the functions that are called when their gradient is complete, by id."""


def run_hooks(run: Runtime, loss: Tensor) -> None:
    """What happens within a backward pass: each parameter's hooks as soon as its gradient is there, those that are read
    last first."""
    first: dict[int, int] = {}
    for call in calls_behind([loss]):
        for weight in (*call.weights, *call.inputs):
            first[id(weight)] = min(call.number, first.get(id(weight), call.number))
    reached = [each for key, each in run.data(HOOKS).items() if key in first and each[0].trainable]
    for weight, hooks in sorted(reached, key=lambda each: -first[id(each[0])]):
        run.note("hook", weight)
        for hook in hooks:
            run.call(hook, weight)
    run.note("hooked", loss)


def is_leaf(tensor: Tensor) -> bool:
    """Whether no graph leads to a tensor: nothing computed it, or without a gradient."""
    return tensor.call is None or not tensor.call.grad or tensor.call.op.cuts_gradient


def gradient_of(run: Runtime, tensor: Tensor) -> Tensor | None:
    """`tensor.grad`. In an optimizer's step that is followed, every parameter that trains has one."""
    passes, known = run.data(PASSES), run.data(GRADIENTS)
    found: tuple[Tensor, Tensor] | None = known.get(id(tensor))
    if found is not None and passes.get(id(tensor)) == GIVEN:
        return found[1]
    asks = tensor.trainable and not tensor.buffer if isinstance(tensor, Weight) else tensor.requires_grad
    computed = tensor.call is not None and tensor.call.grad
    if not asks or computed or not (is_floating(tensor.dtype) or tensor.dtype in COMPLEX):
        return None
    number = passes.get("number", 0)
    if number <= passes.get(id(tensor), 0) and not run.data(STEPPING):
        return None
    if found is None or found[1].shape != tensor.shape:
        weight = tensor if isinstance(tensor, Weight) else None
        found = known[id(tensor)] = (tensor, Tensor(tensor.shape, tensor.dtype, moved=True, gradient_of=weight))
    return found[1]


def set_gradient(run: Runtime, tensor: Tensor, value: Value) -> None:
    """`tensor.grad = value`: a gradient is forgotten for None, and replaced by a tensor."""
    if value is None:
        cleared(run, (tensor,))
    elif isinstance(value, Tensor):
        run.data(GRADIENTS)[id(tensor)] = (tensor, value)
        run.data(PASSES)[id(tensor)] = GIVEN


def cleared(run: Runtime, tensors: Iterable[Any]) -> None:
    """These have no gradient until the next backward pass, which gives one like the last."""
    passes = run.data(PASSES)
    number = passes.get("number", 0)
    for tensor in tensors:
        if isinstance(tensor, Tensor):
            passes[id(tensor)] = number
