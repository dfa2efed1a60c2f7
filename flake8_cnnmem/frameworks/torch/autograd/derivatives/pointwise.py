"""Derivatives of what works on each value: activations, mathematics, dropout, and operations on two tensors."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.autograd.derivatives.formulas import Back, Gradients, rule
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Broadcast, Dropout, Elementwise


@rule("identity", "alias", "shift", "add_number", "contiguous", "channels_last", "copy/Elementwise", "real")
def passed_on(back: Back, gradient: Tensor) -> Gradients:
    """The gradient as it is."""
    return [gradient]


@rule("cast")
def of_cast(back: Back, gradient: Tensor) -> Gradients:
    """The gradient in the input's dtype."""
    return [back.cast_to(gradient, back.x.dtype)]


@rule("neg")
def of_neg(back: Back, gradient: Tensor) -> Gradients:
    """-g."""
    return [back.neg(gradient)]


@rule("scale", "div", "rdiv")
def of_scale(back: Back, gradient: Tensor) -> Gradients:
    """g times the number."""
    return [back.scale(gradient)]


@rule("sign", "floor", "ceil", "round", "trunc")
def nothing(back: Back, gradient: Tensor) -> Gradients:
    """No gradient: the slope is zero wherever there is one."""
    return [None]


# Activations that one kernel goes back through.


@rule("relu")
def by_result(back: Back, gradient: Tensor) -> Gradients:
    """One kernel of the gradient and the result."""
    return [back.derivative(back.call.op.kind, gradient, back.y)]


@rule("sigmoid", "tanh")
def squashed(back: Back, gradient: Tensor) -> Gradients:
    """One kernel of the gradient and the result (sigmoid, tanh)."""
    return [back.derivative(back.call.op.kind, gradient, back.y)]


@rule("leaky_relu", "relu6", "hardtanh", "hardswish", "hardshrink", "softshrink", "threshold", "elu",
      "selu", "celu", "gelu", "softplus", "logsigmoid")  # fmt: skip
def by_input(back: Back, gradient: Tensor) -> Gradients:
    """One kernel of the gradient and the input."""
    return [back.derivative(back.call.op.kind, gradient, back.x)]


@rule("silu")
def of_silu(back: Back, gradient: Tensor) -> Gradients:
    """`infinitely_differentiable_silu_backward` of torch/csrc/autograd/FunctionsManual.cpp."""
    x = back.x
    sigmoid = back.unary("sigmoid", x)
    rest = back.shift(back.multiply(x, back.neg(sigmoid)))
    return [back.multiply(back.multiply(gradient, sigmoid), rest)]


@rule("softmax", "log_softmax")
def of_softmax(back: Back, gradient: Tensor) -> Gradients:
    """One kernel of the gradient and the result."""
    return [back.derivative(back.call.op.kind, gradient, back.y)]


@rule("tanh_backward")
def of_tanh_backward(back: Back, gradient: Tensor) -> Gradients:
    """tanh_backward(grad, output), and grad * (-2 * output * grad_output)."""
    (passed, y), (first, second) = back.operands, back.wanted
    one = back.derivative("tanh", gradient, y) if first else None
    other = back.multiply(gradient, back.multiply(back.scale(y), passed)) if second else None
    return [one, other]


@rule("sigmoid_backward")
def of_sigmoid_backward(back: Back, gradient: Tensor) -> Gradients:
    """sigmoid_backward(grad, output), and grad * grad_output * (-2 * output + 1)."""
    (passed, y), (first, second) = back.operands, back.wanted
    one = back.derivative("sigmoid", gradient, y) if first else None
    other = back.multiply(back.multiply(gradient, passed), back.shift(back.scale(y))) if second else None
    return [one, other]


# Mathematics.


@rule("exp")
def of_exp(back: Back, gradient: Tensor) -> Gradients:
    """g y."""
    return [back.multiply(gradient, back.y)]


@rule("exponential", "exp2")
def of_exponential(back: Back, gradient: Tensor) -> Gradients:
    """A number to the power of a tensor."""
    return [back.multiply(gradient, back.scale(back.y))]


@rule("sqrt")
def of_sqrt(back: Back, gradient: Tensor) -> Gradients:
    """g / (2 y)."""
    return [back.divide(gradient, back.scale(back.y))]


@rule("rsqrt")
def of_rsqrt(back: Back, gradient: Tensor) -> Gradients:
    """-g / 2 times y ** 3."""
    cube = back.unary("pow", back.y)
    return [back.multiply(back.scale(gradient), cube)]


@rule("reciprocal")
def of_reciprocal(back: Back, gradient: Tensor) -> Gradients:
    """-g y y."""
    square = back.multiply(back.y, back.y)
    return [back.multiply(back.neg(gradient), square)]


@rule("log")
def of_log(back: Back, gradient: Tensor) -> Gradients:
    """g / x."""
    return [back.divide(gradient, back.x)]


@rule("log1p", "log2", "log10")
def of_other_log(back: Back, gradient: Tensor) -> Gradients:
    """g / (x + 1) of log1p, g / (x log b) of the others."""
    moved = back.shift(back.x) if back.call.op.kind == "log1p" else back.scale(back.x)
    return [back.divide(gradient, moved)]


@rule("expm1")
def of_expm1(back: Back, gradient: Tensor) -> Gradients:
    """g (y + 1)."""
    return [back.multiply(gradient, back.shift(back.y))]


@rule("sin", "sinh")
def of_sin(back: Back, gradient: Tensor) -> Gradients:
    """g cos(x), of sinh g cosh(x)."""
    other = back.unary("cos" if back.call.op.kind == "sin" else "cosh", back.x)
    return [back.multiply(gradient, other)]


@rule("cos")
def of_cos(back: Back, gradient: Tensor) -> Gradients:
    """-g sin(x)."""
    return [back.multiply(gradient, back.neg(back.unary("sin", back.x)))]


@rule("cosh")
def of_cosh(back: Back, gradient: Tensor) -> Gradients:
    """g sinh(x)."""
    return [back.multiply(gradient, back.unary("sinh", back.x))]


@rule("abs")
def of_abs(back: Back, gradient: Tensor) -> Gradients:
    """g sign(x)."""
    return [back.multiply(gradient, back.unary("sign", back.x))]


@rule("pow")
def of_pow(back: Back, gradient: Tensor) -> Gradients:
    """grad * (exponent * self.pow(exponent - 1))."""
    power = back.unary("pow", back.x)
    return [back.multiply(gradient, back.scale(power))]


@rule("erf", "erfc")
def of_erf(back: Back, gradient: Tensor) -> Gradients:
    """2 / sqrt(pi) * exp(-(self.pow(2))) * grad."""
    bell = back.unary("exp", back.neg(back.unary("pow", back.x)))
    return [back.multiply(back.scale(bell), gradient)]


@rule("clamp", "clamp_one", "nan_to_num")
def of_clamp(back: Back, gradient: Tensor) -> Gradients:
    """g where x lies between the bounds."""
    return [back.derivative("chosen", gradient, back.x)]


@rule("dropout")
def of_dropout(back: Back, gradient: Tensor) -> Gradients:
    """infinitely_differentiable_native_dropout_backward: grad * (mask.type_as(grad) * scale)."""
    op = back.call.op
    if isinstance(op, Dropout) and (op.training is False or op.p == 0):
        return [gradient]
    return [back.multiply(gradient, back.unary("dropout_scale", gradient))]


# Two tensors.


def brought_back(back: Back, gradients: Gradients) -> Gradients:
    """Each in the shape and dtype of its operand."""
    found: list[Tensor | None] = []
    for operand, gradient in zip(back.operands, gradients, strict=True):
        if gradient is not None:
            gradient = back.cast_to(back.sum_to(gradient, operand.shape), operand.dtype)
        found.append(gradient)
    return found


@rule("add")
def of_add(back: Back, gradient: Tensor) -> Gradients:
    """g for each operand, summed to its shape."""
    return brought_back(back, [gradient if wanted else None for wanted in back.wanted])


@rule("subtract")
def of_subtract(back: Back, gradient: Tensor) -> Gradients:
    """g and -g, summed to the operands' shapes."""
    first, second = back.wanted
    return brought_back(back, [gradient if first else None, back.neg(gradient) if second else None])


@rule("multiply")
def of_multiply(back: Back, gradient: Tensor) -> Gradients:
    """g times the other operand, summed to the operands' shapes."""
    (a, b), (first, second) = back.operands, back.wanted
    return brought_back(back, [back.multiply(gradient, b) if first else None,
                               back.multiply(gradient, a) if second else None])  # fmt: skip


@rule("divide")
def of_divide(back: Back, gradient: Tensor) -> Gradients:
    """grad / other, and -grad * ((self / other) / other)."""
    (a, b), (first, second) = back.operands, back.wanted
    one = back.divide(gradient, b) if first else None
    other = None
    if second:
        quotient = back.divide(back.divide(a, b), b)
        other = back.multiply(back.neg(gradient), quotient)
    return brought_back(back, [one, other])


@rule("maximum", "minimum")
def of_larger(back: Back, gradient: Tensor) -> Gradients:
    """g where the operand was chosen, summed to its shape."""
    return brought_back(back, [
        back.derivative("larger", gradient, *back.operands, like=0) if wanted else None for wanted in back.wanted
    ])  # fmt: skip


@rule("where")
def of_where(back: Back, gradient: Tensor) -> Gradients:
    """where(condition, grad, 0)."""
    zero = Tensor((), gradient.dtype)
    return brought_back(back, [
        back.op(Broadcast("where"), back.operands[0], gradient, zero, dtype=gradient.dtype) if wanted else None
        for wanted in back.wanted
    ])  # fmt: skip


@rule("masked_fill")
def of_masked_fill(back: Back, gradient: Tensor) -> Gradients:
    """g with zeros where the mask holds."""
    filled = back.op(Broadcast("masked_fill"), gradient, back.operands[1], dtype=gradient.dtype)
    return brought_back(back, [filled, *[None] * (len(back.operands) - 1)])


@rule("lerp")
def of_lerp(back: Back, gradient: Tensor) -> Gradients:
    """g scaled for both ends; a weight that needs a gradient is not followed."""
    if len(back.operands) > 2 and back.wanted[2]:
        return []
    scaled = [back.op(Elementwise("scale"), gradient) if wanted else None for wanted in back.wanted[:2]]
    return brought_back(back, [*scaled, *[None] * (len(back.operands) - 2)])
