"""The gradients of tensors as tensors with a history: what `create_graph=True` gives.

As torch/csrc/autograd/engine.cpp goes: from the outputs back through the calls, the latest first, to what is asked for
and nowhere else; what arrives twice is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flake8_cnnmem.frameworks.torch.autograd.derivatives import measures, pointwise, products, rearranging
from flake8_cnnmem.frameworks.torch.autograd.derivatives.formulas import OF_SEVERAL, RULES, Back, Gradients, deriving
from flake8_cnnmem.frameworks.torch.dtypes import is_floating
from flake8_cnnmem.graph import Call, Tensor, Weight, calls_behind
from flake8_cnnmem.ops import Broadcast
from flake8_cnnmem.ops.derivative import NotDerived
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown

DECLARING = (measures, rearranging, pointwise, products)
"""Modules that fill the table of rules when they are imported."""

__all__ = ["DECLARING", "derived", "leaves_behind"]


def derived(run: Runtime, outputs: Sequence[tuple[Tensor, Tensor]], inputs: Sequence[Tensor]) -> Mapping[int, Tensor]:
    """The gradients of the inputs, by id, each with the calls that it comes from; those that the outputs do not depend
    on are left out. `outputs` are tensors with the gradients that they begin with."""
    calls = [call for call in calls_behind([output for output, _ in outputs]) if call.grad]
    reached = depending(calls, inputs)
    wanted = {id(tensor) for tensor in inputs}
    found: dict[int, Tensor] = {}
    gradients: dict[int, Tensor] = {}
    for output, gradient in outputs:
        arrive(run, gradients, output, gradient)
    autocast, grad = run.autocast, run.grad_enabled
    run.autocast, run.grad_enabled = None, True
    try:
        for call in reversed(calls):
            arrived = [gradients.pop(id(result), None) for result in call.outputs]
            for result, one in zip(call.outputs, arrived, strict=True):
                if one is not None and id(result) in wanted:
                    found[id(result)] = one
            if any(gradient is not None for gradient in arrived):
                through(run, call, arrived, reached, gradients)
    finally:
        run.autocast, run.grad_enabled = autocast, grad
    found.update((key, gradient) for key, gradient in gradients.items() if key in wanted)
    return found


def depending(calls: Iterable[Call], inputs: Sequence[Tensor]) -> set[int]:
    """The tensors, by id, that depend on the inputs, themselves among them."""
    reached = {id(tensor) for tensor in inputs}
    for call in calls:
        if not call.op.cuts_gradient and any(id(tensor) in reached for tensor in (*call.inputs, *call.weights)):
            reached.update(id(result) for result in call.outputs if is_floating(result.dtype))
    return reached


def through(run: Runtime, call: Call, arrived: Gradients, reached: set[int], gradients: dict[int, Tensor]) -> None:
    """Back through one call."""
    among = {id(tensor) for tensor in call.inputs}
    operands = (*call.inputs, *(weight for weight in call.weights if id(weight) not in among))
    wanted = tuple(id(operand) in reached for operand in operands)
    if call.op.cuts_gradient or not any(wanted):
        return
    back = Back(run, call, operands, wanted)
    handed = differentiated(back, arrived)
    # All of it is held until the formula is done.
    run.let_go(*back.made, *(gradient for gradient in arrived if gradient is not None))
    for operand, wants, gradient in zip(operands, wanted, handed, strict=True):
        if wants and gradient is not None:
            arrive(run, gradients, operand, gradient)


def differentiated(back: Back, arrived: Gradients) -> Gradients:
    """The gradients of a call's operands by its rule; by none where it has none, or where it cannot be applied."""
    call = back.call
    names = (f"{call.op.kind}/{type(call.op).__name__}", call.op.kind)
    cause = not_known(back, arrived)
    if cause is None:
        if len(call.outputs) == 1:
            single = next((RULES[name] for name in names if name in RULES), None)
            handed = single(back, arrived[0]) if single is not None and arrived[0] is not None else []
        else:
            several = next((OF_SEVERAL[name] for name in names if name in OF_SEVERAL), None)
            handed = several(back, arrived) if several is not None else []
        if handed:
            return handed
        cause = back.run.unknown(f"what the gradient of the gradient of {call.function or call.op.kind} keeps")
    gradient = next(gradient for gradient in arrived if gradient is not None)
    return [
        back.op(NotDerived(operand.shape, cause), gradient, operand) if wanted else None
        for operand, wanted in zip(back.operands, back.wanted, strict=True)
    ]


def not_known(back: Back, arrived: Gradients) -> Unknown | None:
    """Why a rule cannot be applied."""
    call = back.call
    if any(region.checkpoint or region.own is not None for region in call.ancestry()):
        return back.run.unknown("a gradient with a graph through a function that is run again")
    if call.autocast is not None:
        return back.run.unknown("a gradient with a graph under autocast")
    tensors = (*back.operands, *call.outputs, *(gradient for gradient in arrived if gradient is not None))
    return next((tensor.shape for tensor in tensors if isinstance(tensor.shape, Unknown)), None)


def arrive(run: Runtime, gradients: dict[int, Tensor], tensor: Tensor, gradient: Tensor) -> None:
    """Add to what has arrived at a tensor before: with a graph, in a new tensor."""
    before = gradients.get(id(tensor))
    if before is not None:
        (total,) = deriving(run, Broadcast("add"), before, gradient)
        run.let_go(before, gradient)
        gradient = total
    gradients[id(tensor)] = gradient


def leaves_behind(outputs: Sequence[Tensor]) -> list[Tensor]:
    """The tensors that ask for a gradient and that the outputs depend on: weights that train, and those that the code
    has told to."""
    found: dict[int, Tensor] = {}
    seen: set[int] = set()
    waiting = list(outputs)
    while waiting:
        tensor = waiting.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        if tensor.trainable and not tensor.buffer if isinstance(tensor, Weight) else tensor.requires_grad:
            found[id(tensor)] = tensor
        elif tensor.call is not None and tensor.call.grad and not tensor.call.op.cuts_gradient:
            waiting += [*tensor.call.inputs, *tensor.call.weights]
    return list(found.values())
