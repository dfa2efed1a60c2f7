"""Arithmetic: plain numbers by Python itself, within the budget, numbers that are not known, the batch size."""

from __future__ import annotations

import operator
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.dims import COMPARED, Batch, BatchTest
from flake8_cnnmem.evaluate.budget import BITS
from flake8_cnnmem.evaluate.numbers import number_kind
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

HOST: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "&": operator.and_, "|": operator.or_,
    "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip

QUOTIENTS = frozenset(("/", "//"))

NUMBERS = frozenset((int, float, bool, complex))

ON_BATCH: dict[str, Callable[[Any, Any], dims.Size]] = {
    "+": dims.add, "-": dims.subtract, "*": dims.multiply, "//": dims.floor_divide, "%": dims.modulo,
}  # fmt: skip


def with_unknown(run: Interpreter, symbol: str, left: Value, right: Value) -> Value:
    """Two numbers give a number, whether it is known or not; a number that is not known leaves a tensor its shape."""
    if type(left) is Unknown and symbol in QUOTIENTS and (type(right) is int or type(right) is float):
        return left.divided(right)
    if symbol in MIRRORED:
        known = decided(symbol, left, right)
        if known is not None:
            return known
        if type(left) is Unknown and left.number == "int" and type(right) is int:
            return replace(left.loose().as_something(), asks=(left, symbol, right))
    kinds = number_kind(left), number_kind(right)
    # One of the two is.
    unknown = left if type(left) is Unknown else cast("Unknown", right)
    if kinds == ("int", "int") and symbol in ("+", "-", "*"):
        # That is what `number_kind` says.
        return moved(symbol, cast("int | Unknown", left), cast("int | Unknown", right))
    if all(kinds):
        return unknown.another("float" if "float" in kinds or symbol in ("/", "**") else "int")
    tensor = left if isinstance(left, Tensor) else right
    if isinstance(tensor, Tensor) and any(kinds) and isinstance(tensor.shape, tuple):
        stand_in = ANY_NUMBER[kinds[0] or kinds[1]]
        plain = without_values(tensor)
        pair = (plain, stand_in) if tensor is left else (stand_in, plain)
        return frameworks.of(tensor).operate(run, symbol, *pair)
    return unknown.loose().as_something()


MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def decided(symbol: str, left: Value, right: Value) -> bool | None:
    """What a comparison with a random number gives whatever is drawn (`random() < 0.0`); None where that decides."""
    if type(left) is not Unknown:
        return decided(MIRRORED[symbol], right, left) if type(right) is Unknown else None
    if left.span is None or isinstance(right, bool) or not isinstance(right, (int, float)):
        return None
    least, most, reached = left.span
    if symbol in ("<", ">="):
        all_less, none_less = most < right or (most == right and not reached), least >= right
    else:
        # Of all that a draw may give between two numbers the least itself has no chance.
        open_below = left.number == "float" and left.chance and least < most
        all_less, none_less = most <= right, least > right or (least == right and open_below)
    if not all_less and not none_less:
        return None
    return all_less if symbol in ("<", "<=") else none_less


def moved(symbol: str, left: int | Unknown, right: int | Unknown) -> Value:
    """The sum, difference or product of two whole numbers of which one, at least, is not known: the ends of a crop are
    as far apart as the crop is long, wherever it lies, and those of a batch as the batch is, whichever it is."""
    if not isinstance(left, Unknown):
        # Then `right` is not known.
        unknown = cast("Unknown", right)
        if symbol == "*":
            return unknown.multiplied(left) if type(left) is int else unknown.another("int")
        return unknown.moved(left) if symbol == "+" else unknown.multiplied(-1).moved(left)
    if symbol == "*":
        return left.multiplied(right) if type(right) is int else left.another("int")
    if not isinstance(right, Unknown):
        return left.moved(right if symbol == "+" else -right)
    if symbol == "+":
        whole = left.together(right)
        return left.another("int") if whole is None else whole
    length = right.distance(left)
    return left.less(right) if length is None else length


ANY_NUMBER = {"int": 3, "float": 0.5}
"""What stands for a number that is not known, in arithmetic of which only shapes are followed."""


def without_values(tensor: Tensor) -> Tensor:
    """A tensor as it is, but for the values of a constant: with a number that is not known they give others."""
    if tensor.framework == "numpy":
        return Tensor(tensor.shape, tensor.dtype, framework="numpy")
    if tensor.data is None:
        return tensor
    plain = copy(tensor)
    plain.data = None
    return plain


def numeric(run: Interpreter, symbol: str, left: Any, right: Any) -> Value:
    """An operation on two numbers; unknown where the result would be too large to hold."""
    if symbol == "**" and isinstance(left, int) and isinstance(right, int):
        if right > 0 and left.bit_length() * right > BITS:
            return run.unknown("a number grows too large to be followed")
    elif symbol == "<<" and isinstance(right, int) and right > BITS:
        return run.unknown("a number grows too large to be followed")
    result = HOST[symbol](left, right)
    if type(result) is int and result.bit_length() > BITS:
        return run.unknown("a number grows too large to be followed")
    return result


def on_batch(run: Interpreter, symbol: str, left: Value, right: Value) -> Value:
    """An operation on sizes of which one holds the batch."""
    for side in (left, right):
        if type(side) not in NUMBERS and type(side) is not Batch:
            return run.unknown("the batch size among other values is not followed")
    if symbol == "/":
        return batch_quotient(run, left, right)
    if symbol in ("<", "<=", ">", ">="):
        return batch_order(run, symbol, left, right)
    rule = ON_BATCH.get(symbol)
    left, right = (int(side) if isinstance(side, (bool, float)) else side for side in (left, right))
    if rule is None:
        return run.unknown(f"{symbol} on the batch size is not followed")
    result = rule(left, right)
    return run.unknown(result.reason) if isinstance(result, Unknown) and not result.path else result


def batch_quotient(run: Interpreter, left: Value, right: Value) -> Value:
    """A batch divided by a number that divides it stays a batch, as `int(B / windows)` expects; any other quotient is
    that of the batch size in force, which is noted (`ceil(B / 128)` parts of a batch)."""
    if isinstance(right, float) and right.is_integer():
        right = int(right)
    if isinstance(left, Batch) and isinstance(right, (int, Batch)):
        quotient = dims.floor_divide(left, right)
        if not isinstance(quotient, Unknown):
            return float(quotient) if isinstance(quotient, int) else quotient
    if run.batch is None or not right:
        return run.unknown("a fraction of the batch size is not followed")
    return at_batch_in_force(run, left, run.batch) / at_batch_in_force(run, right, run.batch)


def at_batch_in_force(run: Interpreter, value: Any, batch: int) -> Any:
    """A number, with the batch size in force for the batch: what is computed from it holds for that size alone."""
    if not isinstance(value, Batch):
        return value
    number = value.multiple * batch
    run.batch_tests.append(BatchTest("==", value.multiple, number, True))
    return number


def batch_order(run: Interpreter, symbol: str, left: Any, right: Any) -> Value:
    """The batch is at least 1; what that leaves open is decided by the batch size in force."""
    if isinstance(left, Batch) and isinstance(right, Batch):
        return HOST[symbol](left.multiple, right.multiple)
    if isinstance(left, Batch) and (right < left.multiple or (right == left.multiple and symbol in ("<", ">="))):
        return symbol in (">", ">=")
    if isinstance(right, Batch) and (left < right.multiple or (left == right.multiple and symbol in ("<=", ">"))):
        return symbol in ("<", "<=")
    if isinstance(left, Batch):
        return by_batch(run, symbol, left.multiple, right)
    return by_batch(run, TURNED[symbol], right.multiple, left)


TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def by_batch(run: Interpreter, symbol: str, multiple: int, other: float) -> bool | Unknown:
    """A comparison of so many times the batch with a number: at the batch size in force, which is noted; unknown where
    none is."""
    if run.batch is None:
        return run.unknown("it depends on the batch size")
    answer = COMPARED[symbol](multiple * run.batch, other)
    run.batch_tests.append(BatchTest(symbol, multiple, other, answer))
    return answer
