"""Losses that PyTorch writes in other ops, in these: what is kept of them is what is kept of each
(torch/nn/functional.py, aten/src/ATen/native/Loss.cpp and Distance.cpp)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary, where
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.reductions import norm_kind, reduce
from flake8_cnnmem.frameworks.torch.functions.shapes import unsqueeze
from flake8_cnnmem.graph import Mismatch, Tensor
from flake8_cnnmem.ops import Common
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value

Options: TypeAlias = Mapping[str, Value]
Composed: TypeAlias = Callable[[Runtime, Sequence[Value], Options], Value]


def in_full(run: Runtime, function: str, *inputs: Value) -> tuple[Value, ...]:
    """The inputs in one shape, and in float32 under autocast, which holds them until the function returns; as they are
    where their shapes are not known, or do not fit."""
    shapes = [each.shape for each in inputs if isinstance(each, Tensor) and isinstance(each.shape, tuple)]
    try:
        shape = broadcast(tuple(shapes), "combines") if len(shapes) == len(inputs) else None
    except Mismatch:
        shape = None
    if shape is None:
        return inputs
    return tuple(apply(run, Common(shape), each, function=function) for each in inputs)


def distance(run: Runtime, x1: Value, x2: Value, p: Value, eps: Value, keepdim: Value = False) -> Value:
    """(..., features) of both to (...), with `keepdim` (..., 1): the norm of their difference and a small number."""
    difference = binary(run, "-", x1, x2)
    moved = binary(run, "+", difference, eps)
    kind = norm_kind(p)
    result = reduce(run, "distance" if kind == "norm" else kind, moved, -1, keepdim, function="norm")
    # One expression holds both until it is worked out.
    run.let_go(difference, moved)
    return result


def triplet_margin(run: Runtime, inputs: Sequence[Value], options: Options) -> Value:
    """max(0, margin + |anchor - positive| - |anchor - negative|)"""
    anchor, positive, negative = in_full(run, "triplet_margin_loss", *inputs)
    p, eps = options.get("p", 2), options.get("eps", 1e-6)

    def apart(one: Value, other: Value) -> Value:
        return distance(run, one, other, p, eps)

    result = margin_between(run, anchor, positive, negative, apart, options)
    run.let_go(anchor, positive, negative)
    return result


def triplet_margin_of_distances(run: Runtime, inputs: Sequence[Value], options: Options) -> Value:
    """The same by a distance function of the code's own; each in the dtype that it lies in."""
    given = options.get("distance_function")

    def apart(one: Value, other: Value) -> Value:
        return distance(run, one, other, 2, 1e-6) if given is None else run.call(given, one, other)

    anchor, positive, negative = inputs
    return margin_between(run, anchor, positive, negative, apart, options)


def margin_between(
    run: Runtime,
    anchor: Value,
    positive: Value,
    negative: Value,
    apart: Callable[[Value, Value], Value],
    options: Options,
) -> Value:
    """How much nearer than the margin the negative is, in comparison; never less than 0."""
    near, far = apart(anchor, positive), apart(anchor, negative)
    if options.get("swap") is True:
        far = binary(run, "min", far, apart(positive, negative))
    less = binary(run, "-", binary(run, "+", near, options.get("margin", 1.0)), far)
    return unary(run, "clamp_one", less, "clamp")


def cosine_embedding(run: Runtime, inputs: Sequence[Value], options: Options) -> Value:
    """1 - cos of pairs that are alike, max(0, cos - margin) of others."""
    x1, x2 = in_full(run, "cosine_embedding_loss", *inputs[:2])
    product, first, second = (
        reduce(run, "sum", binary(run, "*", one, other), -1) for one, other in ((x1, x2), (x1, x1), (x2, x2))
    )
    squares = binary(run, "*", binary(run, "+", first, 1e-12), binary(run, "+", second, 1e-12))
    cosine = binary(run, "/", product, unary(run, "sqrt", squares))
    zeros = unary(run, "detach", cosine)
    alike = where(run, binary(run, "==", inputs[2], 1), binary(run, "-", 1, cosine), zeros)
    apart = unary(run, "clamp_one", binary(run, "-", cosine, options.get("margin", 0.0)), "clamp")
    run.let_go(x1, x2)
    return binary(run, "+", alike, where(run, binary(run, "==", inputs[2], -1), apart, zeros))


def gaussian_nll(run: Runtime, inputs: Sequence[Value], options: Options) -> Value:
    """0.5 * (log(var) + (input - target)^2 / var)"""
    input, target, var = inputs
    if isinstance(input, Tensor) and isinstance(input.shape, tuple) and isinstance(var, Tensor) and var.shape != ():
        # One for all of the last axis.
        var = unsqueeze(run, var, -1) if var.shape == input.shape[:-1] != input.shape else var
    var = unary(run, "copy", var, "clone")
    squares = unary(run, "pow", binary(run, "-", input, target))
    result = unary(run, "scale", binary(run, "+", unary(run, "log", var), binary(run, "/", squares, var)), "mul")
    run.let_go(var)
    return result


def multilabel_soft_margin(run: Runtime, inputs: Sequence[Value], options: Options) -> Value:
    """-(target * logsigmoid(input) + (1 - target) * logsigmoid(-input)), the mean over classes."""
    input, target = inputs
    yes = binary(run, "*", target, unary(run, "logsigmoid", input))
    no = binary(run, "*", binary(run, "-", 1, target), unary(run, "logsigmoid", unary(run, "neg", input)))
    losses = unary(run, "neg", binary(run, "+", yes, no))
    if options.get("weight") is not None:
        losses = binary(run, "*", losses, options["weight"])
    result = unary(run, "div", reduce(run, "sum", losses, -1))
    run.let_go(losses)
    return result


def kl_div_of_logarithms(run: Runtime, inputs: Sequence[Value], options: Options) -> Value:
    """exp(target) * (target - input)"""
    input, target = in_full(run, "kl_div", *inputs)
    # The compiler takes the second operand first.
    difference = binary(run, "-", target, input)
    result = binary(run, "*", unary(run, "exp", target), difference)
    run.let_go(difference)
    run.let_go(input, target)
    return result


def composed(kind: str, options: Options) -> Composed | None:
    """How a loss of this kind is put together; None where a kernel computes it, or a rule of its own says what it
    holds."""
    if kind == "kl_div":
        return kl_div_of_logarithms if options.get("log_target") is True else None
    if "distance_function" in options:
        return triplet_margin_of_distances
    return COMPOSED.get(kind)


COMPOSED: Mapping[str, Composed] = {
    "triplet_margin": triplet_margin,
    "cosine_embedding": cosine_embedding,
    "gaussian_nll": gaussian_nll,
    "multilabel_soft_margin": multilabel_soft_margin,
}
