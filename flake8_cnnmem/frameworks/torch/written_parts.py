"""Tensors of which the code writes a view in place: `y[:, :4].add_(x)`, `x.transpose(1, 2).mul_(2)`.

Autograd then puts the op that wrote behind the tensor that all its views are of, and gives the views anew from that
(`rebase_history` and `grad_fn` of torch/csrc/autograd/variable.cpp). Their names stand for what they were before; what
is computed from them later is computed from what they are now.
"""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.frameworks.torch.dtypes import is_floating
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops.written_views import Rebased, ViewAgain
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

WRITTEN = "tensors written through views"
"""Scratch of the run: by the id of a tensor, itself and what it is since one of its views was written in place."""

AGAIN = "views of written tensors"
"""Scratch of the run: by the id of a view, itself, what it is a view of now, and the view of that."""


def needs_gradient(tensor: Tensor) -> bool:
    """`tensor.requires_grad`: a weight's own flag; of another tensor what it was asked for, or whether an op with a
    gradient made it."""
    if isinstance(tensor, Weight):
        return tensor.trainable
    floating = is_floating(tensor.dtype)
    return tensor.requires_grad or (tensor.call is not None and tensor.call.grad and floating)


def views_behind(run: Runtime, tensor: Tensor) -> list[Tensor]:
    """The tensor, and what it is a view of, up to the one that all are views of. What was written in place is still the
    view that it was."""
    found = [tensor]
    last = 1
    while True:
        at = found[-1]
        call = at.call
        if call is None:
            if at.view_of is None:
                break
            found.append(at.view_of)
            last = len(found)
        elif call.op.view and call.op.kind == "view" and call.grad and len(call.outputs) == 1:
            found.append(call.inputs[0])
            last = len(found)
        elif call.op.in_place and not call.op.rebases and call.inputs:
            # Of a tensor that is no view it is the tensor from then on.
            found.append(call.inputs[0])
        else:
            break
    run.spend(len(found))
    return found[:last]


def note_written(run: Runtime, tensors: Sequence[Tensor | Unknown], made: Value) -> None:
    """An op has written into the first of its tensors and given `made`. Where that is a view of another tensor, which
    or what was written has a gradient, that one is another one from here on."""
    first = tensors[0]
    if not isinstance(first, Tensor) or not isinstance(made, Tensor) or made.call is None:
        return
    whole = views_behind(run, first)[-1] if is_floating(first.dtype) else first
    if whole is first:
        return
    given = any(isinstance(tensor, Tensor) and needs_gradient(tensor) for tensor in tensors[1:])
    if not given and not needs_gradient(whole):
        return
    now = run.apply(Rebased(), whole, made, function=made.call.function, dtypes=(whole.dtype,))
    if isinstance(now, Tensor):
        run.data(WRITTEN)[id(whole)] = (whole, now)


def as_written(run: Runtime, tensor: Tensor) -> Tensor:
    """A tensor with what was written through views meanwhile."""
    scratch = run.data(WRITTEN)
    behind = views_behind(run, tensor)
    now = behind[-1]
    while id(now) in scratch:
        now = scratch[id(now)][1]
    if now is behind[-1]:
        return tensor
    if len(behind) == 1:
        return now
    known = run.data(AGAIN).get(id(tensor))
    if known is not None and known[1] is now:
        again: Value = known[2]
    else:
        steps = [each.call.op for each in reversed(behind[:-1]) if each.call is not None and each.call.op.view]
        again = run.apply(ViewAgain(tuple(steps)), now, tensor, function="view", dtypes=(tensor.dtype,))
        run.data(AGAIN)[id(tensor)] = (tensor, now, again)
    return again if isinstance(again, Tensor) else tensor


def results_as_written(run: Runtime, result: Value) -> Value:
    """What a model returns, with what was written into parts of its results meanwhile."""
    if isinstance(result, Tensor):
        return as_written(run, result)
    if type(result) is list or type(result) is tuple:
        return type(result)(results_as_written(run, each) for each in result)
    if type(result) is dict:
        return {word: results_as_written(run, each) for word, each in result.items()}
    return result
