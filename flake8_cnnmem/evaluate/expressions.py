"""Expressions: names, attributes, operators, displays, lambdas."""

from __future__ import annotations

from collections.abc import Iterable

from flake8_cnnmem.evaluate.compiler import Compiler, StatementSite, constant, expression
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code, Function
from flake8_cnnmem.evaluate.own_counts import tested
from flake8_cnnmem.evaluate.parameters import compile_parameters
from flake8_cnnmem.evaluate.private import as_stored, is_private, spelled_out
from flake8_cnnmem.frameworks.framework import GPUS_COUNTED
from flake8_cnnmem.runtime import so_many
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Value

BINARY: dict[type[cst.CSTNode], str] = {
    cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/", cst.FloorDivide: "//", cst.Modulo: "%",
    cst.Power: "**", cst.MatrixMultiply: "@", cst.BitAnd: "&", cst.BitOr: "|", cst.BitXor: "^",
    cst.LeftShift: "<<", cst.RightShift: ">>",
}  # fmt: skip

COMPARISON: dict[type[cst.CSTNode], str] = {
    cst.Equal: "==", cst.NotEqual: "!=", cst.LessThan: "<", cst.LessThanEqual: "<=", cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=", cst.In: "in", cst.NotIn: "not in", cst.Is: "is", cst.IsNot: "is not",
}  # fmt: skip

UNARY: dict[type[cst.CSTNode], str] = {cst.Minus: "neg", cst.Plus: "pos", cst.BitInvert: "~", cst.Not: "not"}


@expression(cst.Name)
def name(compiler: Compiler, node: cst.Name) -> Code:
    """Code that looks a name up: local, enclosing, global, builtin. NameError where nobody has it."""
    word = node.value
    if word in ("None", "True", "False"):
        return constant({"None": None, "True": True, "False": False}[word])
    if is_private(word):
        return private_name(word)
    if word == "__class__":
        return own_class

    def load(frame: Frame) -> Value:
        value = frame.variables.get(word, MISSING)
        if value is MISSING or (frame.declared and word in frame.declared):
            value = frame.look_up(word)
            if value is MISSING:
                raise frame.run.error("NameError", f"name '{word}' is not defined")
        return value

    return load


def own_class(frame: Frame) -> Value:
    """`__class__` in a method: the class in whose body it is written."""
    scope: Frame | None = frame
    while scope is not None:
        cell = scope.function.cell if scope.function is not None else None
        if cell:
            return cell[0]
        scope = scope.caller or scope.parent
    raise frame.run.error("NameError", "name '__class__' is not defined")


def private_name(word: str) -> Code:
    """Code for a name with two underscores in a class body, which Python spells with the class's name."""

    def load(frame: Frame) -> Value:
        value = frame.variables.get(as_stored(frame, word), MISSING)
        value = frame.look_up(word) if value is MISSING else value
        if value is MISSING:
            raise frame.run.error("NameError", f"name '{word}' is not defined")
        return value

    return load


@expression(cst.Attribute)
def attribute(compiler: Compiler, node: cst.Attribute) -> Code:
    """Code for `value.name`."""
    base = compiler.expression(node.value)
    word = node.attr.value
    if is_private(word):
        return lambda frame: frame.run.get(base(frame), spelled_out(frame, word))

    def load(frame: Frame) -> Value:
        return frame.run.get(base(frame), word)

    return load


@expression(cst.Subscript)
def subscript(compiler: Compiler, node: cst.Subscript) -> Code:
    """Code for `value[key]`."""
    base = compiler.expression(node.value)
    key = compile_key(compiler, node.slice)

    def load(frame: Frame) -> Value:
        value = base(frame)
        return frame.run.index(value, key(frame))

    return load


def compile_key(compiler: Compiler, elements: Iterable[cst.SubscriptElement]) -> Code:
    """Code for what stands between the brackets: one key, or a tuple of several."""
    items = list(elements)
    codes = [compile_slice(compiler, item.slice) for item in items]
    if len(codes) == 1 and not isinstance(items[0].comma, cst.Comma):
        return codes[0]
    return lambda frame: tuple(code(frame) for code in codes)


def compile_slice(compiler: Compiler, node: cst.BaseSlice) -> Code:
    """Code for an index or for `lower:upper:step`."""
    if isinstance(node, cst.Index):
        return compiler.expression(node.value)
    assert isinstance(node, cst.Slice)
    lower, upper, step = (
        compiler.expression(part) if part is not None else constant(None)
        for part in (node.lower, node.upper, node.step)
    )
    return lambda frame: slice(lower(frame), upper(frame), step(frame))


@expression(cst.BinaryOperation)
def binary(compiler: Compiler, node: cst.BinaryOperation) -> Code:
    """Code for `left op right`."""
    left = compiler.expression(node.left)
    right = compiler.expression(node.right)
    symbol = BINARY[type(node.operator)]
    if symbol == "/":
        return lambda frame: divide(frame, left(frame), right(frame))

    def code(frame: Frame) -> Value:
        return frame.run.operate(symbol, left(frame), right(frame))

    if symbol in ("+", "*") or (symbol == "-" and isinstance(node.right, cst.Integer)):
        return counting_on(symbol, left, right)

    return code


def counting_on(symbol: str, left: Code, right: Code) -> Code:
    """Code for `epoch + 1`, `start + epoch` and `epoch * every`: the turn is told what it is of what a loop counts, as
    a test may ask it."""

    def code(frame: Frame) -> Value:
        first, second = left(frame), right(frame)
        result = frame.run.operate(symbol, first, second)
        turn = frame.run.trace.turn
        if turn is not None and type(first) is int and type(second) is int and frame.run.invocation is None:
            turn.counted_on(symbol, first, second, result)
            if symbol != "-":
                turn.counted_on(symbol, second, first, result)
        return result

    return code


def divide(frame: Frame, left: Value, right: Value) -> Value:
    """`a / b`: in Python 2 whole numbers give a whole number."""
    floors = type(left) is int and type(right) is int and frame.module.source.floors
    return frame.run.operate("//" if floors else "/", left, right)


@expression(cst.UnaryOperation)
def unary(compiler: Compiler, node: cst.UnaryOperation) -> Code:
    """Code for `-x`, `+x`, `~x` and `not x`; `not` of an unknown stays unknown."""
    symbol = UNARY[type(node.operator)]
    operand = tested(compiler, node.expression, None) if symbol == "not" else compiler.expression(node.expression)
    if symbol == "not":

        def negate(frame: Frame) -> Value:
            truth = frame.run.truth(operand(frame))
            return truth if isinstance(truth, Unknown) else not truth

        return negate
    return lambda frame: frame.run.operate_unary(symbol, operand(frame))


@expression(cst.BooleanOperation)
def boolean(compiler: Compiler, node: cst.BooleanOperation) -> Code:
    """Code for `and` and `or`, which stop as Python's; from an unknown on, either side may be the value."""
    left = compiler.expression(node.left)
    right = compiler.expression(node.right)
    stop_at = isinstance(node.operator, cst.Or)

    def code(frame: Frame) -> Value:
        run = frame.run
        first = left(frame)
        truth = run.truth(first)
        if isinstance(truth, Unknown):
            return unknown_boolean(frame, stop_at, first, truth, right)
        return first if truth is stop_at else right(frame)

    return code


def unknown_boolean(frame: Frame, stop_at: bool, first: Value, truth: Unknown, right: Code) -> Value:
    """`u or x`, `u and x` with u of unknown truth: known only if x decides alone or equals u."""
    second = frame.run.evaluate_aside(right, frame, truth)
    other = frame.run.truth(second)
    if not isinstance(other, Unknown) and other is stop_at and isinstance(second, bool):
        return second
    return first if first is second else truth


@expression(cst.Comparison)
def comparison(compiler: Compiler, node: cst.Comparison) -> Code:
    """Code for comparisons, chained ones with each operand evaluated once."""
    wanted = node.comparisons[0].comparator if len(node.comparisons) == 1 else None
    left = tested(compiler, node.left, wanted)
    pairs = [(COMPARISON[type(item.operator)], compiler.expression(item.comparator)) for item in node.comparisons]
    if len(pairs) == 1:
        symbol, right = pairs[0]
        if isinstance(node.left, cst.Call):
            return lambda frame: compared(frame, symbol, left, right)
        return lambda frame: frame.run.operate(symbol, left(frame), right(frame))

    def chain(frame: Frame) -> Value:
        run = frame.run
        value = left(frame)
        result: Value = True
        for symbol, code in pairs:
            other = code(frame)
            result = run.operate(symbol, value, other)
            if run.truth(result) is not True:
                return result
            value = other
        return result

    return chain


SEVERAL = (2, 8)
"""As many GPUs as machines have more than one of."""


def compared(frame: Frame, symbol: str, left: Code, right: Code) -> Value:
    """What a call gives against another value. How many GPUs it has counted does not matter where there may be more of
    them with the same outcome (`torch.cuda.device_count() >= i + 1`)."""
    run = frame.run
    counted = run.data(GPUS_COUNTED)
    before = len(counted)
    value, other = left(frame), right(frame)
    result = run.operate(symbol, value, other)
    if len(counted) > before and type(value) is int and type(other) is int:
        if all(run.operate(symbol, number, other) == result for number in SEVERAL):
            counted.popitem()
    return result


@expression(cst.IfExp)
def conditional(compiler: Compiler, node: cst.IfExp) -> Code:
    """Code for `a if test else b`: both, joined, where the test is not known."""
    body = compiler.expression(node.body)
    test = compiler.expression(node.test)
    orelse = compiler.expression(node.orelse)

    def code(frame: Frame) -> Value:
        truth = frame.run.truth(test(frame))
        if truth is True:
            return body(frame)
        if truth is False:
            return orelse(frame)
        return frame.run.either(truth, frame, body, orelse)

    return code


@expression(cst.Lambda)
def lambda_(compiler: Compiler, node: cst.Lambda) -> Code:
    """Code for a lambda: a function with one expression as its body."""
    parameters, defaults = compile_parameters(compiler, node.params)
    body = compiler.expression(node.body)
    site = StatementSite(compiler.path, compiler.statement)

    def code(frame: Frame) -> Value:
        values, keyword_values = defaults(frame)
        closure = frame.closure()
        return Function("<lambda>", parameters, values, keyword_values, lambda: body, closure, frame.module, site)

    return code


@expression(cst.Tuple)
def tuple_(compiler: Compiler, node: cst.Tuple) -> Code:
    """Code for a tuple, stars unpacked."""
    parts = compile_elements(compiler, node.elements)

    def code(frame: Frame) -> Value:
        items = collect(frame, parts)
        return tuple(items) if isinstance(items, list) else items

    return code


@expression(cst.List)
def list_(compiler: Compiler, node: cst.List) -> Code:
    """Code for a list, stars unpacked."""
    parts = compile_elements(compiler, node.elements)

    def code(frame: Frame) -> Value:
        items = collect(frame, parts, lists=True)
        if isinstance(items, list) and not items:
            frame.run.note_registry(items)
        births = frame.run.births
        if births is not None and not isinstance(items, Unknown):
            # What is made on one side of a branch is whole there.
            births[id(items)] = items
        return items

    return code


@expression(cst.Set)
def set_(compiler: Compiler, node: cst.Set) -> Code:
    """Code for a set, stars unpacked."""
    parts = compile_elements(compiler, node.elements)

    def code(frame: Frame) -> Value:
        return frame.run.make_set(collect(frame, parts))

    return code


def compile_elements(compiler: Compiler, elements: Iterable[cst.BaseElement]) -> list[tuple[bool, Code]]:
    """For each element whether it is starred, and its code."""
    return [(isinstance(item, cst.StarredElement), compiler.expression(item.value)) for item in elements]


def collect(frame: Frame, parts: list[tuple[bool, Code]], lists: bool = False) -> list[Value] | Unknown:
    """The items of a display; Unknown when a starred part cannot be iterated, or is of unknown length: of what `lists`
    its items alone, a list of unknown length."""
    items: list[Value] = []
    for starred, code in parts:
        value = code(frame)
        if not starred:
            items.append(value)
            continue
        spread = frame.run.items(value)
        if isinstance(spread, Unknown):
            return spread.loose()
        if frame.run.havocked and id(spread) in frame.run.havocked:
            cause = frame.run.havocked[id(spread)][1]
            return so_many(frame.run, spread[-1], cause) if len(parts) == 1 and spread and lists else cause
        items.extend(spread)
    frame.run.spend(len(items))
    return items


@expression(cst.Dict)
def dict_(compiler: Compiler, node: cst.Dict) -> Code:
    """Code for a dict, double stars merged in order."""
    parts: list[tuple[Code | None, Code]] = []
    for element in node.elements:
        if isinstance(element, cst.StarredDictElement):
            parts.append((None, compiler.expression(element.value)))
        else:
            assert isinstance(element, cst.DictElement)
            parts.append((compiler.expression(element.key), compiler.expression(element.value)))

    def code(frame: Frame) -> Value:
        run = frame.run
        result: dict[Value, Value] = {}
        for key_code, value_code in parts:
            if key_code is None:
                spread = run.mapping(value_code(frame))
                if isinstance(spread, Unknown):
                    return spread
                result.update(spread)
            else:
                key = run.key(key_code(frame))
                value = value_code(frame)
                if isinstance(key, Unknown):
                    return key
                result[key] = value
        run.spend(len(result))
        run.note_registry(result)
        return result

    return code


@expression(cst.NamedExpr)
def walrus(compiler: Compiler, node: cst.NamedExpr) -> Code:
    """Code for `name := value`, stored outside of a comprehension."""
    target = node.target
    assert isinstance(target, cst.Name)
    word = target.value
    value = compiler.expression(node.value)

    def code(frame: Frame) -> Value:
        result = value(frame)
        frame.outside_comprehension().store(word, result)
        return result

    return code


@expression(cst.Yield)
def yield_(compiler: Compiler, node: cst.Yield) -> Code:
    """Code for `yield` and `yield from`: values go to the generator that is being made."""
    value = node.value
    if isinstance(value, cst.From):
        source = compiler.expression(value.item)

        def yield_from(frame: Frame) -> Value:
            items = frame.run.items(source(frame))
            for item in items if isinstance(items, list) else [items]:
                frame.run.yield_value(frame, item)
            return None

        return yield_from
    item_code = compiler.expression(value) if value is not None else constant(None)

    def code(frame: Frame) -> Value:
        frame.run.yield_value(frame, item_code(frame))
        return None

    return code


@expression(cst.Await)
def await_(compiler: Compiler, node: cst.Await) -> Code:
    """Code for `await`: the value that is waited for."""
    inner = compiler.expression(node.expression)

    def code(frame: Frame) -> Value:
        inner(frame)
        return frame.run.unknown("the result of an await is not followed")

    return code
