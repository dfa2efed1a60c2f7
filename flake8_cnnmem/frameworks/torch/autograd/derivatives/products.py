"""Derivatives of layers with weights and of products of matrices."""

from __future__ import annotations

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.torch.autograd.derivatives.formulas import Back, Gradients, rule, sizes
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Matmul, Transpose
from flake8_cnnmem.ops.base import bounded
from flake8_cnnmem.ops.derivative import ConvolutionBackward


def turned(back: Back, x: Tensor) -> Tensor:
    """The last two axes swapped."""
    return back.op(Transpose(-2, -1), x, function="t")


def product(back: Back, a: Tensor, b: Tensor) -> Tensor:
    """A matrix product."""
    return back.op(Matmul(), a, b, function="mm")


@rule("linear")
def of_linear(back: Back, gradient: Tensor) -> Gradients:
    """addmm's and mm's, over the input as a matrix."""
    if len(back.operands) < 2 or len(sizes(back.operands[1])) != 2:
        return []
    x, weight = back.operands[:2]
    shape, features = sizes(x), sizes(weight)[0]
    rows = bounded(dims.product(shape[:-1]))
    flat = back.reshape(gradient, (rows, features))
    found: list[Tensor | None] = [None] * len(back.operands)
    if back.wanted[0]:
        made = product(back, flat, weight)
        if made.call is not None:
            # Both read the weight by the transposed view that the layer has made.
            made.call.rereads = back.call.number
        found[0] = back.reshape(made, shape)
    if back.wanted[1]:
        found[1] = product(back, turned(back, flat), back.reshape(x, (rows, shape[-1])))
    if len(back.operands) > 2 and back.wanted[2]:
        found[2] = back.sum_to(flat, back.operands[2].shape)
    return found


@rule("matmul/Matmul")
def of_matmul(back: Back, gradient: Tensor) -> Gradients:
    """A vector is a matrix of one row, or of one column where it stands on the right."""
    (a, b), (first, second) = back.operands, back.wanted
    left, right = sizes(a), sizes(b)
    shape = sizes(gradient)
    if len(right) == 1:
        shape = (*shape, 1)
    if len(left) == 1:
        shape = (*shape[:-1], 1, *shape[-1:])
    full = back.reshape(gradient, shape)
    x = back.reshape(a, (1, *left) if len(left) == 1 else left)
    y = back.reshape(b, (*right, 1) if len(right) == 1 else right)
    found: list[Tensor | None] = [None, None]
    if first:
        found[0] = back.reshape(back.sum_to(product(back, full, turned(back, y)), sizes(x)), left)
    if second:
        found[1] = back.reshape(back.sum_to(product(back, turned(back, x), full), sizes(y)), right)
    return found


@rule("convolution")
def of_convolution(back: Back, gradient: Tensor) -> Gradients:
    """One node, which gives what is asked for at once."""
    if len(back.operands) < 2:
        return []
    names = [name for name, wanted in zip(("input", "weight", "bias"), back.wanted, strict=False) if wanted]
    groups = getattr(back.call.op, "groups", 1)
    if not isinstance(groups, int):
        return []
    results = back.several(ConvolutionBackward(tuple(names), groups), gradient, *back.operands[:2])
    by_name = dict(zip(names, results, strict=True))
    return [by_name.get(name) for name in ("input", "weight", "bias")[: len(back.operands)]]


@rule("embedding")
def of_embedding(back: Back, gradient: Tensor) -> Gradients:
    """No gradient for the indices; for the weight one of its shape."""
    weight = back.operands[1]
    return [None, back.restored("embedding", gradient, weight.shape)]
