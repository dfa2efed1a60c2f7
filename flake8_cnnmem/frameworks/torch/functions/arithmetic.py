"""Operators and their functions: add, mul, matmul, comparisons, logic, with their in-place forms."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.frameworks.distances import note_moved
from flake8_cnnmem.frameworks.torch.applying import apply, common_dtype, refuse_leaf, tensor_of
from flake8_cnnmem.frameworks.torch.autograd.by_hand import written
from flake8_cnnmem.frameworks.torch.dtypes import kind
from flake8_cnnmem.frameworks.torch.functions.constants import (
    CONSTANT_STEPS,
    broadcast_data,
    constant,
    value_as,
    with_true,
)
from flake8_cnnmem.frameworks.torch.functions.elementwise import calculated, unary
from flake8_cnnmem.graph import Mismatch, Tensor, Weight
from flake8_cnnmem.ops import Broadcast, Elementwise, Matmul, ScaledGradient
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import lose, rewrite
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

Numbers = Callable[[Any, Any], Any]


def _floor(left: Any, right: Any) -> Any:
    return left // right


def _toward_zero(left: Any, right: Any) -> Any:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _power(left: Any, right: Any) -> Any:
    if abs(right) > 64 or abs(left) > 1e6:
        raise ValueError("too large a power for a constant")
    result = left**right
    if isinstance(result, complex):
        raise ValueError("a root of a negative number")
    return result


HOST: dict[str, Numbers] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": _floor,
    "%": operator.mod, "**": _power, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": lambda a, b: a << min(b, 64), ">>": operator.rshift, "max": max, "min": min, "atan2": math.atan2,
    "fmod": math.fmod, "and": lambda a, b: bool(a and b), "or": lambda a, b: bool(a or b),
    "xor": lambda a, b: bool(a) != bool(b), "hypot": math.hypot, "trunc": _toward_zero,
}  # fmt: skip
"""What an operator does to the values of constants."""

KINDS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder",
    "**": "power", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "shift_left",
    ">>": "shift_right", "max": "maximum", "min": "minimum", "atan2": "atan2", "fmod": "remainder",
    "and": "logical_and", "or": "logical_or", "xor": "logical_xor", "hypot": "hypot",
    "trunc": "floor_divide",
}  # fmt: skip
COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
LOGICAL = frozenset(("and", "or", "xor"))

FUNCTIONS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide", "%": "remainder", "**": "pow",
    "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "&": "bitwise_and", "|": "bitwise_or",
    "^": "bitwise_xor", "max": "maximum", "min": "minimum", "and": "logical_and", "or": "logical_or",
    "xor": "logical_xor", "<<": "bitwise_left_shift", ">>": "bitwise_right_shift",
    "trunc": "div",
}  # fmt: skip
"""torch's name of the function that an operator is."""


def is_number(value: Value) -> bool:
    """Whether a value is a plain number, or a size that counts with the batch."""
    return isinstance(value, (int, float, Batch))


def number_kind(symbol: str, number_left: bool) -> str:
    """The kind of an operation between a tensor and a number, by what autograd keeps for it."""
    if symbol in COMPARISONS:
        return "compare"
    if symbol in "+-":
        return "shift"
    if symbol == "*" or (symbol == "/" and not number_left):
        return "scale"
    if symbol == "/":
        return "reciprocal"
    if symbol == "**":
        return "exponential" if number_left else "pow"
    if symbol in ("max", "min"):
        return "clamp"
    return KINDS.get(symbol, "shift")


def result_dtype(symbol: str, left: Value, right: Value) -> str:
    """The dtype of an operation's result: bool of comparisons, else torch's type promotion; true division floats."""
    if symbol in COMPARISONS or symbol in LOGICAL:
        return "bool"
    dtype = common_dtype((left, right))
    if symbol == "/" and kind(dtype) < kind("float"):
        return "float"
    if dtype == "bool" and symbol in "+-*//%**":
        return "int64" if is_number(left) or is_number(right) else dtype
    return dtype


def binary(run: Runtime, symbol: str, left: Value, right: Value, in_place: bool = False) -> Value:
    """An operator on tensors, numbers and Unknowns, at least one of them a tensor."""
    if in_place and isinstance(left, Weight):
        refuse_leaf(run, left)
        lose(run, left)
        written(run, left)
        return left
    left, right = operand(left), operand(right)
    dtype = result_dtype(symbol, left, right)
    if in_place and isinstance(left, Tensor):
        refuse_cast(run, dtype, left.dtype)
        dtype = left.dtype
    known = known_result(run, symbol, left, right, dtype)
    if known is not None:
        run.spend(CONSTANT_STEPS)
        if in_place and isinstance(left, Tensor) and left.shape == known.shape:
            # Whoever holds it sees it grow.
            rewrite(run, left, known.data)
            return left
        return known
    function = FUNCTIONS.get(symbol, symbol) + ("_" if in_place else "")
    if is_number(left) and isinstance(right, Tensor):
        result = apply(run, Elementwise(number_kind(symbol, True)), right, function=function, dtype=dtype)
        if symbol == "/" and isinstance(result, Tensor):
            # Tensor.__rtruediv__: `self.reciprocal() * other`.
            return apply(run, Elementwise("scale"), result, function="mul", dtype=dtype)
        return result
    if is_number(right) and isinstance(left, Tensor):
        op = Elementwise(number_kind(symbol, False), in_place)
        result = apply(run, op, left, function=function, dtype=dtype)
        if left.shape == () and symbol in "+-" and type(right) is int:
            note_moved(run, result, left, right if symbol == "+" else -right)
        return result
    if isinstance(left, Tensor) and isinstance(right, Tensor) and left.shape != () and is_plain_number(right):
        op = Elementwise(number_kind(symbol, False), in_place)
        return apply(run, op, left, function=function, dtype=dtype)
    op_kind = "compare" if symbol in COMPARISONS else KINDS.get(symbol, symbol)
    return apply(run, Broadcast(op_kind, in_place), left, right, function=function, dtype=dtype)


def refuse_cast(run: Runtime, made: str, kept: str) -> None:
    """RuntimeError for a result that the tensor which it is written into cannot hold: floats in whole numbers, whole
    numbers in truth values (`canCast` in c10/core/ScalarType.h)."""
    if kind(made) > kind(kept):
        raise run.error("RuntimeError", f"result type {made} can't be cast to the desired output type {kept}")


def operand(value: Value) -> Value:
    """A tensor, a number or an Unknown."""
    return value if is_number(value) else tensor_of(value)


def is_plain_number(tensor: Tensor) -> bool:
    """Whether a tensor is one known value that needs no gradient: torch treats it as the number."""
    return tensor.shape == () and tensor.data is not None and tensor.call is None and not isinstance(tensor, Weight)


def known_result(run: Runtime, symbol: str, left: Value, right: Value, dtype: str) -> Any:
    """The result on constants whose values are known, and on buffers while a model is constructed: it looks at what it
    has registered. In a forward pass they may have changed, and what is computed of them is a tensor of the step."""
    for side in (left, right):
        if isinstance(side, Tensor):
            if side.data is None or side.requires_grad:
                return None
            if isinstance(side, Weight) and not (side.buffer and run.invocation is None):
                return None
        elif not isinstance(side, (int, float)):
            return None
    sides = [side.shape for side in (left, right) if isinstance(side, Tensor)]
    shapes = [shape for shape in sides if not isinstance(shape, Unknown)]
    function = HOST.get(symbol)
    if function is None or len(shapes) < len(sides):
        return None
    try:
        (shape,) = Broadcast("add").outputs(*shapes)
    except Mismatch:
        return None
    values = broadcast_data(function, shape, left, right)
    if values is None:
        return None
    if dtype != "bool":
        values = [value_as(value, dtype) for value in values]
    made = constant(shape, values, dtype)
    if any(isinstance(side, Tensor) and side.moved for side in (left, right)):
        made.moved, made.born = True, run.next_number()
    return made


def operate(run: Runtime, symbol: str, left: Value, right: Value = None) -> Value:
    """The operators of Python on tensors, by symbol; unary ones ("neg", "invert", "pos", "not") without a right."""
    if symbol.endswith("=") and symbol[:-1] in HOST and symbol not in COMPARISONS:
        if symbol == "@=":
            return matmul(run, left, right)
        return binary(run, symbol[:-1], left, right, in_place=isinstance(left, Tensor))
    if symbol == "@":
        return matmul(run, left, right)
    if symbol in UNARY:
        name, function = UNARY[symbol]
        known = calculated(left, function, left.dtype) if isinstance(left, Tensor) else None
        made = known if known is not None else unary(run, name, left)
        return with_true(made, left_out(left)) if symbol == "invert" else made
    if symbol in HOST:
        return binary(run, symbol, left, right)
    return run.unknown(f"the operator {symbol} on tensors is not followed")


def left_out(mask: Value) -> int | None:
    """How many values of the opposite of a mask are true, where that is known."""
    if not isinstance(mask, Tensor) or mask.true is None or mask.dtype != "bool" or isinstance(mask.shape, Unknown):
        return None
    return math.prod(size for size in mask.shape if isinstance(size, int)) - mask.true


UNARY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "neg": ("neg", operator.neg),
    "pos": ("identity", operator.pos),
    "invert": ("bitwise_not", lambda x: not x if isinstance(x, bool) else ~x),
    "abs": ("abs", abs),
}


def matmul(run: Runtime, input: Value, other: Value) -> Value:
    """(..., n, k) by (..., k, m) to (..., n, m); vectors as torch takes them."""
    return matrix_product(run, Matmul(), input, other, "matmul")


def matrix_product(run: Runtime, op: Matmul, input: Value, other: Value, function: str) -> Value:
    """A product of matrices, batched or not as the op says."""
    return apply(run, op, input, other, function=function, dtype=common_dtype((input, other)))


def operation(run: Runtime, symbol: str, input: Value, other: Value, inplace: bool = False) -> Value:
    """An operator (a key of HOST) as a function; two plain numbers are taken as tensors without axes."""
    if not inplace and is_number(input) and is_number(other):
        input = tensor_of(input)
    return binary(run, symbol, input, other, inplace)


def float_power(run: Runtime, input: Value, exponent: Value) -> Value:
    """`input ** exponent` in double precision, whatever both are in."""
    base, power = (
        apply(run, Elementwise("cast"), each, function="to", dtype="float64") if isinstance(each, Tensor) else each
        for each in (input, exponent)
    )
    return operation(run, "**", base, power)


def with_alpha(run: Runtime, symbol: str, input: Value, other: Value, alpha: Value, inplace: bool = False) -> Value:
    """`input + alpha * other`: one kernel, whose backward pass scales the gradient."""
    learns = run.grad_enabled and not (inplace and isinstance(input, Weight))
    if not (isinstance(alpha, (int, float)) and alpha == 1) and not is_number(other) and learns:
        other = apply(run, ScaledGradient("alias"), other, function="mul")
    if is_number(input) and is_number(other):
        input = tensor_of(input)
    return binary(run, symbol, input, other, inplace)


def divide(run: Runtime, input: Value, other: Value, rounding_mode: Value, inplace: bool = False) -> Value:
    """`torch.div`: true division, or whole numbers with a rounding mode. A number is divided in one kernel, not as by
    the operator, which takes the reciprocal first."""
    symbol = {"floor": "//", "trunc": "trunc"}.get(str(rounding_mode), "/")
    if is_number(input) and (symbol == "/" or is_number(other)):
        input = tensor_of(input)
    return binary(run, symbol, input, other, inplace)


def weighted(
    run: Runtime, symbol: str, input: Value, tensor1: Value, tensor2: Value, value: Value, inplace: bool = False
) -> Value:
    """`input + value * tensor1 (symbol) tensor2`: one kernel."""
    if inplace and isinstance(input, Weight):
        refuse_leaf(run, input)
        lose(run, input)
        written(run, input)
        return input
    operands = [operand(each) for each in (input, tensor1, tensor2)]
    name = "addcmul" if symbol == "*" else "addcdiv"
    dtype = input.dtype if inplace and isinstance(input, Tensor) else common_dtype(operands)
    op = Broadcast(name if run.grad_enabled else "lerp", inplace)
    return apply(run, op, *operands, function=name + ("_" if inplace else ""), dtype=dtype)


def lerp(run: Runtime, input: Value, end: Value, weight: Value) -> Value:
    """`input + weight * (end - input)`, all of one broadcast shape; the weight may be a number."""
    operands = [input, end] if is_number(weight) else [input, end, weight]
    return apply(run, Broadcast("lerp"), *operands, function="lerp", dtype=common_dtype(operands))


def where(run: Runtime, condition: Value, input: Value = None, other: Value = None) -> Value:
    """The values of `input` where the condition holds, else of `other`, in their broadcast shape."""
    if input is None and other is None:
        return run.unknown("how many values a condition selects is not known")
    dtype = common_dtype((input, other))
    return apply(run, Broadcast("where"), condition, input, other, function="where", dtype=dtype)


def masked(run: Runtime, input: Value, mask: Value, inplace: bool = False) -> Value:
    """`masked_fill`: a tensor with one value where the mask, of a shape that broadcasts to it, holds."""
    if inplace and isinstance(input, Weight):
        refuse_leaf(run, input)
        return input
    tensor = tensor_of(input)
    dtype = tensor.dtype if isinstance(tensor, Tensor) else "float"
    function = "masked_fill_" if inplace else "masked_fill"
    return apply(run, Broadcast("masked_fill", inplace), input, mask, function=function, dtype=dtype)


def uncompared(run: Runtime) -> Value:
    """`torch.equal`, `torch.allclose`: unknown, since values are not followed."""
    return run.unknown("the values of tensors are not compared")
