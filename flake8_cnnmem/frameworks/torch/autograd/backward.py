"""torch.autograd as code calls it: backward passes, gradients of some tensors alone, and the gradient of a leaf."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.frameworks.torch.autograd import grad as leaf_gradients
from flake8_cnnmem.frameworks.torch.autograd.derivatives import derived, leaves_behind
from flake8_cnnmem.frameworks.torch.autograd.grad import ASKED, OF_LEAVES
from flake8_cnnmem.graph import Tensor, Weight, calls_behind
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def backward(
    run: Runtime, input: Value, gradient: Value = None, retain_graph: Value = None, create_graph: Value = False,
    inputs: Value = None,
) -> Value:  # fmt: skip
    """`loss.backward()`: what asks for a gradient, weights and leaves, has one afterwards."""
    retained = create_graph if retain_graph is None else retain_graph
    if not isinstance(input, Tensor):
        leaf_gradients.backward(run, input, retain_graph=retained)
        return None
    leaves = leaves_behind([input])
    if not leaves and is_followed(input):
        raise run.error("RuntimeError", "element 0 of tensors does not require grad and does not have a grad_fn")
    given: tuple[tuple[Tensor, Tensor], ...] = ()
    retaining: list[Tensor] = []
    if create_graph is True:
        found = derived(run, [(input, seed(input, gradient))], leaves)
        given = tuple((leaf, found[id(leaf)]) for leaf in leaves if id(leaf) in found)
        note_gradients(run, given)
    else:
        retaining = [each for each in retained_behind(run, input) if all(each is not leaf for leaf in leaves)]
        given = tuple(
            (leaf, gradient_of(run, leaf) or Tensor(leaf.shape, leaf.dtype, moved=True))
            for leaf in (*leaves, *retaining) if not isinstance(leaf, Weight)
        )  # fmt: skip
        note_gradients(run, given)
    leaf_gradients.backward(
        run, input, retain_graph=retained, seed=gradient, given=given, graph=create_graph is True,
        results=len(retaining),
    )  # fmt: skip
    return None


RETAINED = "results that retain their gradients"
"""Scratch of the run: those whose next backward pass is to come, by id."""


def retain_grad(run: Runtime, input: Tensor) -> Value:
    """`x.retain_grad()`: the next backward pass leaves a result its gradient, as it does a leaf."""
    if not leaf_gradients.is_leaf(input):
        run.data(RETAINED)[id(input)] = input
    return None


def retained_behind(run: Runtime, loss: Tensor) -> list[Tensor]:
    """The results on the way to a loss that retain their gradients."""
    waiting = run.data(RETAINED)
    results = (tensor for call in calls_behind([loss]) for tensor in call.outputs) if waiting else ()
    found = {id(tensor): tensor for tensor in (loss, *results) if id(tensor) in waiting}
    for key in found:
        del waiting[key]
    return list(found.values())


def is_followed(loss: Tensor) -> bool:
    """Whether all is known that a tensor is computed of, and which of the weights among it are frozen."""
    calls = calls_behind([loss])
    if not calls:
        return False
    weights = [weight for call in calls for weight in (*call.weights, *call.inputs) if isinstance(weight, Weight)]
    tensors = [tensor for call in calls for tensor in (*call.inputs, *call.outputs)]
    doubtful = any(hasattr(call.op, "cause") for call in calls) or any(isinstance(t.shape, Unknown) for t in tensors)
    return bool(weights) and not doubtful and all(weight.unsure is None for weight in weights)


def backward_of(run: Runtime, loss: Value, *args: Value, **options: Value) -> Value:
    """The backward pass that a library makes from a loss, by the loss's own method. Of a loss that is not known it is
    noted that there is one."""
    if isinstance(loss, Unknown):
        run.note("backward", loss)
    return run.call(run.get(loss, "backward"), *args, **options) if isinstance(loss, Tensor) else None


def seed(output: Tensor, gradient: Value) -> Tensor:
    """The gradient that a backward pass begins with."""
    return gradient if isinstance(gradient, Tensor) else Tensor(output.shape, output.dtype, moved=True)


def note_gradients(run: Runtime, given: Sequence[tuple[Tensor, Tensor]]) -> None:
    """Note the gradients of leaves: pairs of leaf and gradient."""
    run.data(OF_LEAVES).update((id(leaf), (leaf, gradient)) for leaf, gradient in given)


def gradient_of(run: Runtime, tensor: Tensor) -> Tensor | None:
    """`x.grad`: None before a backward pass that has reached it."""
    found = run.data(OF_LEAVES).get(id(tensor))
    return leaf_gradients.gradient_of(run, tensor) if found is None else found[1]


def forget_gradient(run: Runtime, tensor: Tensor) -> None:
    """`x.grad = None`: the gradient of a parameter or of another leaf goes."""
    if run.data(OF_LEAVES).pop(id(tensor), None) is not None or isinstance(tensor, Weight):
        run.note("zero_grad", tensor)


def grad(
    run: Runtime, outputs: Value, inputs: Value, grad_outputs: Value = None, retain_graph: Value = None,
    create_graph: Value = False, only_inputs: Value = True, allow_unused: Value = None,
    is_grads_batched: Value = False, materialize_grads: Value = False,
) -> Value:  # fmt: skip
    """The gradients of the inputs, in a tuple; nothing is added to what weights have."""
    ends, wanted = tensors_in(run, outputs), tensors_in(run, inputs)
    if isinstance(ends, Unknown) or isinstance(wanted, Unknown):
        cause = ends if isinstance(ends, Unknown) else wanted
        return tuple(cause for _ in wanted) if not isinstance(wanted, Unknown) else (cause,)
    weights = {id(tensor): tensor for tensor in wanted if isinstance(tensor, Weight)}
    if weights:
        asked = run.data(ASKED)
        asked.update(weights)
        asked["number"] = asked.get("number", 0) + 1
    seeds = [None] * len(ends) if grad_outputs is None else run.items(listed(grad_outputs))
    if isinstance(seeds, Unknown) or len(seeds) != len(ends):
        seeds = [None] * len(ends)
    if create_graph is True and run.grad_enabled:
        run.note("derived", ends[0])
        found = derived(run, [(end, seed(end, given)) for end, given in zip(ends, seeds, strict=True)], wanted)
        return tuple(found.get(id(tensor)) or unused(tensor, allow_unused) for tensor in wanted)
    results = tuple(Tensor(tensor.shape, tensor.dtype, moved=True) for tensor in wanted)
    beside = tuple(zip(ends[1:], seeds[1:], strict=True))
    run.note("gradient", ends[0], retain_graph=retain_graph, seed=seeds[0], beside=beside,
             given=tuple(zip(wanted, results, strict=True)))  # fmt: skip
    return results


def unused(tensor: Tensor, allowed: Value) -> Value:
    """The gradient of what the outputs do not depend on."""
    return None if allowed is True else Tensor(tensor.shape, tensor.dtype, moved=True)


def listed(value: Value) -> Value:
    """One tensor, or None, as a list; a sequence as it is."""
    return [value] if isinstance(value, Tensor) or value is None else value


def tensors_in(run: Runtime, value: Value) -> list[Tensor] | Unknown:
    """One tensor, or all of a sequence."""
    items = run.items(listed(value))
    if isinstance(items, Unknown):
        return items
    tensors: list[Tensor] = []
    for item in items:
        if not isinstance(item, Tensor):
            return item if isinstance(item, Unknown) else run.unknown("of what a gradient is asked for is not known")
        tensors.append(item)
    return tensors
