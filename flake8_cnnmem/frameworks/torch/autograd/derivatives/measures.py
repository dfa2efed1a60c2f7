"""Derivatives of norms and other reductions, of normalising layers, and of losses."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.autograd.derivatives.formulas import Back, Gradients, rule, rule_of_several, sizes
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Broadcast, Loss, Reduce
from flake8_cnnmem.ops.base import axis_of


def beside(back: Back, tensor: Tensor) -> Tensor:
    """A reduction's result, or its gradient, with the reduced axes of 1 that it has lost."""
    op, shape = back.call.op, sizes(back.x)
    assert isinstance(op, Reduce)
    if op.keepdims is True or op.axes in (None, ()):
        return tensor
    axes = op.axes if isinstance(op.axes, tuple) else (op.axes,)
    gone = {axis_of(axis, len(shape)) for axis in axes}
    return back.reshape(tensor, tuple(1 if at in gone else size for at, size in enumerate(shape)))


@rule("norm")
def of_norm(back: Back, gradient: Tensor) -> Gradients:
    """Of the Euclidean norm: grad * (self / norm).masked_fill_(norm == 0, 0)."""
    gradient, norm = beside(back, gradient), beside(back, back.y)
    scaled = back.divide(back.x, norm)
    zero = back.op(Broadcast("compare"), norm, Tensor((), norm.dtype, data=0), function="eq", dtype="bool")
    scaled = back.op(Broadcast("masked_fill", True), scaled, zero, function="masked_fill_")
    return [back.multiply(gradient, scaled)]


@rule("var")
def of_var(back: Back, gradient: Tensor) -> Gradients:
    """(2 / (N - correction)) * grad * (self - self.mean(dim, true))."""
    op = back.call.op
    assert isinstance(op, Reduce)
    gradient = back.scale(beside(back, gradient))
    mean = back.op(Reduce("mean", op.axes, True), back.x)
    return [back.multiply(gradient, back.subtract(back.x, mean))]


@rule("std")
def of_std(back: Back, gradient: Tensor) -> Gradients:
    """var_backward of grad / (result * 2)."""
    return of_var(back, back.divide(gradient, back.scale(back.y)))


@rule("logsumexp")
def of_logsumexp(back: Back, gradient: Tensor) -> Gradients:
    """grad * (self - result).exp()."""
    gradient, result = beside(back, gradient), beside(back, back.y)
    return [back.multiply(gradient, back.unary("exp", back.subtract(back.x, result)))]


@rule_of_several("max", "min", "median", "mode", "kthvalue", "topk", "sort")
def of_selection(back: Back, gradients: Gradients) -> Gradients:
    """Zeros with the values at their positions."""
    first = gradients[0]
    return [] if first is None else [back.restored("index", first, back.x.shape)]


@rule("max", "min")
def of_extreme(back: Back, gradient: Tensor) -> Gradients:
    """amax and amin along axes: (grad / mask.sum(dim, true)) * mask."""
    op = back.call.op
    if not isinstance(op, Reduce) or op.axes in (None, ()):
        return []
    gradient, result = beside(back, gradient), beside(back, back.y)
    mask = back.op(Broadcast("compare"), result, back.x, function="eq", dtype="bool")
    count = back.op(Reduce("sum", op.axes, True), mask, dtype="int64")
    return [back.op(Broadcast("multiply"), back.divide(gradient, count), mask, dtype=gradient.dtype)]


# Losses.


@rule("mse")
def of_mse(back: Back, gradient: Tensor) -> Gradients:
    """Of a mean squared error: gradients of input and target, of their shapes."""
    x, target = back.operands[:2]
    found: list[Tensor | None] = [None] * len(back.operands)
    if back.wanted[0]:
        found[0] = back.derivative("mse", gradient, x, target)
    if back.wanted[1]:
        found[1] = back.derivative("mse", gradient, target, x)
    return found


@rule("bce_with_logits")
def of_bce_with_logits(back: Back, gradient: Tensor) -> Gradients:
    """(sigmoid(input) - target) * grad, divided by the number of values for a mean."""
    if back.wanted[1]:
        return []
    difference = back.subtract(back.unary("sigmoid", back.x), back.operands[1])
    product = back.multiply(difference, gradient)
    op = back.call.op
    if isinstance(op, Loss) and op.reduction == "mean":
        product = back.scale(product)
    return [product, *[None] * (len(back.operands) - 1)]


@rule("cross_entropy")
def of_cross_entropy(back: Back, gradient: Tensor) -> Gradients:
    """nll_loss_backward, then _log_softmax_backward_data."""
    if back.wanted[1]:
        return []
    likelihood = back.restored("nll", gradient, back.x.shape)
    return [back.derivative("log_softmax", likelihood, back.x), *[None] * (len(back.operands) - 1)]


# Layers that normalise.


@rule("batch_norm", "instance_norm", "layer_norm")
def of_normalisation(back: Back, gradient: Tensor) -> Gradients:
    """With statistics of its own, or of the past (its training flag decides which rule is read)."""
    op = back.call.op
    if op.kind != "batch_norm" and any(back.wanted[1:]):
        return []
    found: list[Tensor | None] = [None] * len(back.operands)
    kind = {"batch_norm": "batch_norm", "instance_norm": "batch_norm", "layer_norm": "layer_norm"}[op.kind]
    if not getattr(op, "training", True):
        kind = "fixed_norm"
    weight = back.operands[1:2] if getattr(op, "scale", True) else ()
    if weight and kind != "fixed_norm" and not any(back.wanted[1:]):
        kind = f"scaled_{kind}"
    if back.wanted[0]:
        found[0] = back.derivative(kind, gradient, back.x, *weight)
    for at in range(1, len(back.operands)):
        if back.wanted[at]:
            found[at] = back.derivative("norm_weight", gradient, back.x, back.operands[at], like=2)
    return found
