"""Expressions: literals, names, operators, displays, comprehensions, lambdas."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst

from flake8_cnnmem.evaluate.assignment import compile_target
from flake8_cnnmem.evaluate.budget import LENGTH, YIELDS, Exhausted
from flake8_cnnmem.evaluate.compiler import Compiler, StatementSite, constant, expression
from flake8_cnnmem.evaluate.definitions import compile_parameters
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code, Function
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
    word = node.value
    if word in ("None", "True", "False"):
        return constant({"None": None, "True": True, "False": False}[word])

    def load(frame: Frame) -> Value:
        value = frame.variables.get(word, MISSING)
        if value is MISSING or (frame.declared and word in frame.declared):
            value = frame.look_up(word)
            if value is MISSING:
                raise frame.run.error("NameError", f"name '{word}' is not defined")
        return value

    return load


@expression(cst.Integer, cst.Float, cst.Imaginary)
def number(compiler: Compiler, node: cst.Integer | cst.Float | cst.Imaginary) -> Code:
    if len(node.value) < 16 and node.value.isdecimal() and node.value[0] != "0":
        return constant(int(node.value))
    try:
        return constant(ast.literal_eval(node.value))
    except (ValueError, SyntaxError):
        reason = "a number has too many digits"
        return lambda frame: frame.run.unknown(reason)


@expression(cst.SimpleString)
def string(compiler: Compiler, node: cst.SimpleString) -> Code:
    text = node.value
    if text[0] in "\"'" and "\\" not in text and text[:3] not in ('"""', "'''"):
        return constant(text[1:-1])
    return constant(ast.literal_eval(text))


@expression(cst.ConcatenatedString)
def concatenated(compiler: Compiler, node: cst.ConcatenatedString) -> Code:
    parts: list[Code] = []
    at: cst.CSTNode = node
    while isinstance(at, cst.ConcatenatedString):
        parts.append(compiler.expression(at.left))
        at = at.right
    parts.append(compiler.expression(at))

    def join(frame: Frame) -> Value:
        total = parts[0](frame)
        for part in parts[1:]:
            total = frame.run.operate("+", total, part(frame))
        return total

    return join


@expression(cst.FormattedString)
def formatted(compiler: Compiler, node: cst.FormattedString) -> Code:
    parts: list[Code] = []
    raw = "r" in node.prefix.lower()
    compiler.in_format += 1
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            parts.append(constant(format_text(part.value, raw)))
        else:
            parts.append(format_field(compiler, part))
    compiler.in_format -= 1

    def join(frame: Frame) -> Value:
        pieces: list[str] = []
        for part in parts:
            piece = part(frame)
            if isinstance(piece, Unknown):
                return piece
            pieces.append(piece)
        frame.run.check_size(sum(map(len, pieces)))
        return "".join(pieces)

    return join


def format_text(text: str, raw: bool) -> str:
    text = text.replace("{{", "{").replace("}}", "}")
    if raw or "\\" not in text:
        return text
    quoted = text.replace("\n", "\\n").replace("'", "\\'") if "\\'" not in text else text.replace("\n", "\\n")
    try:
        value = ast.literal_eval(f"'{quoted}'")
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, str) else text


def format_field(compiler: Compiler, node: Any) -> Code:
    value = compiler.expression(node.expression)
    conversion = node.conversion
    spec = [
        constant(part.value) if isinstance(part, cst.FormattedStringText) else format_field(compiler, part)
        for part in node.format_spec or ()
    ]
    equal = ""
    if node.equal is not None:
        equal = cst.Module(body=[]).code_for_node(node.expression) + "="
        conversion = conversion or (None if spec else "r")

    def field(frame: Frame) -> Value:
        run = frame.run
        item = value(frame)
        if conversion in ("r", "a"):
            item = run.call(run.builtin("repr"), item)
        elif conversion == "s":
            item = run.call(run.builtin("str"), item)
        pieces = [part(frame) for part in spec]
        unknown = next((piece for piece in pieces if isinstance(piece, Unknown)), None)
        if unknown is not None:
            return unknown
        text = run.call(run.builtin("format"), item, "".join(pieces))
        return equal + text if isinstance(text, str) else text

    return field


@expression(cst.Ellipsis)
def ellipsis(compiler: Compiler, node: cst.Ellipsis) -> Code:
    return constant(...)


@expression(cst.Attribute)
def attribute(compiler: Compiler, node: cst.Attribute) -> Code:
    base = compiler.expression(node.value)
    word = node.attr.value

    def load(frame: Frame) -> Value:
        return frame.run.get(base(frame), word)

    return load


@expression(cst.Subscript)
def subscript(compiler: Compiler, node: cst.Subscript) -> Code:
    base = compiler.expression(node.value)
    key = compile_key(compiler, node.slice)

    def load(frame: Frame) -> Value:
        value = base(frame)
        return frame.run.index(value, key(frame))

    return load


def compile_key(compiler: Compiler, elements: Iterable[cst.SubscriptElement]) -> Code:
    items = list(elements)
    codes = [compile_slice(compiler, item.slice) for item in items]
    if len(codes) == 1 and not isinstance(items[0].comma, cst.Comma):
        return codes[0]
    return lambda frame: tuple(code(frame) for code in codes)


def compile_slice(compiler: Compiler, node: cst.BaseSlice) -> Code:
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
    left = compiler.expression(node.left)
    right = compiler.expression(node.right)
    symbol = BINARY[type(node.operator)]

    def code(frame: Frame) -> Value:
        return frame.run.operate(symbol, left(frame), right(frame))

    return code


@expression(cst.UnaryOperation)
def unary(compiler: Compiler, node: cst.UnaryOperation) -> Code:
    operand = compiler.expression(node.expression)
    symbol = UNARY[type(node.operator)]
    if symbol == "not":

        def negate(frame: Frame) -> Value:
            truth = frame.run.truth(operand(frame))
            return truth if isinstance(truth, Unknown) else not truth

        return negate
    return lambda frame: frame.run.operate_unary(symbol, operand(frame))


@expression(cst.BooleanOperation)
def boolean(compiler: Compiler, node: cst.BooleanOperation) -> Code:
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
    second = frame.run.evaluate_aside(right, frame)
    other = frame.run.truth(second)
    if not isinstance(other, Unknown) and other is stop_at and isinstance(second, bool):
        return second
    return first if first is second else truth


@expression(cst.Comparison)
def comparison(compiler: Compiler, node: cst.Comparison) -> Code:
    left = compiler.expression(node.left)
    pairs = [(COMPARISON[type(item.operator)], compiler.expression(item.comparator)) for item in node.comparisons]
    if len(pairs) == 1:
        symbol, right = pairs[0]
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


@expression(cst.IfExp)
def conditional(compiler: Compiler, node: cst.IfExp) -> Code:
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
    parts = compile_elements(compiler, node.elements)

    def code(frame: Frame) -> Value:
        items = collect(frame, parts)
        return tuple(items) if isinstance(items, list) else items

    return code


@expression(cst.List)
def list_(compiler: Compiler, node: cst.List) -> Code:
    parts = compile_elements(compiler, node.elements)
    return lambda frame: collect(frame, parts)


@expression(cst.Set)
def set_(compiler: Compiler, node: cst.Set) -> Code:
    parts = compile_elements(compiler, node.elements)

    def code(frame: Frame) -> Value:
        return frame.run.make_set(collect(frame, parts))

    return code


def compile_elements(compiler: Compiler, elements: Iterable[cst.BaseElement]) -> list[tuple[bool, Code]]:
    return [(isinstance(item, cst.StarredElement), compiler.expression(item.value)) for item in elements]


def collect(frame: Frame, parts: list[tuple[bool, Code]]) -> list[Value] | Unknown:
    """The items of a display; Unknown when a starred part cannot be iterated."""
    items: list[Value] = []
    for starred, code in parts:
        value = code(frame)
        if not starred:
            items.append(value)
            continue
        spread = frame.run.items(value)
        if isinstance(spread, Unknown):
            return spread
        items.extend(spread)
    frame.run.spend(len(items))
    return items


@expression(cst.Dict)
def dict_(compiler: Compiler, node: cst.Dict) -> Code:
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
    target = node.target
    assert isinstance(target, cst.Name)
    word = target.value
    value = compiler.expression(node.value)

    def code(frame: Frame) -> Value:
        result = value(frame)
        frame.outside_comprehension().store(word, result)
        return result

    return code


@expression(cst.ListComp)
def list_comprehension(compiler: Compiler, node: cst.ListComp) -> Code:
    element = compiler.expression(node.elt)
    rounds = compile_rounds(compiler, node.for_in)

    def code(frame: Frame) -> Value:
        found: list[Value] = []
        for inner in rounds(frame):
            if isinstance(inner, Unknown):
                return inner
            found.append(element(inner))
        return found

    return code


@expression(cst.SetComp)
def set_comprehension(compiler: Compiler, node: cst.SetComp) -> Code:
    items = list_comprehension(compiler, node)
    return lambda frame: frame.run.make_set(items(frame))


@expression(cst.GeneratorExp)
def generator_expression(compiler: Compiler, node: cst.GeneratorExp) -> Code:
    """Run ahead, so that an unknown test makes it unknown as a whole; only what is very long is drawn on demand."""
    element = compiler.expression(node.elt)
    rounds = compile_rounds(compiler, node.for_in)

    def code(frame: Frame) -> Value:
        found: list[Value] = []
        steps = rounds(frame)
        for inner in steps:
            if isinstance(inner, Unknown):
                return inner
            found.append(element(inner))
            if len(found) >= YIELDS:
                return itertools.chain(found, (i if isinstance(i, Unknown) else element(i) for i in steps))
        return iter(found)

    return code


@expression(cst.DictComp)
def dict_comprehension(compiler: Compiler, node: cst.DictComp) -> Code:
    key_code = compiler.expression(node.key)
    value_code = compiler.expression(node.value)
    rounds = compile_rounds(compiler, node.for_in)

    def code(frame: Frame) -> Value:
        result: dict[Value, Value] = {}
        for inner in rounds(frame):
            if isinstance(inner, Unknown):
                return inner
            key = inner.run.key(key_code(inner))
            if isinstance(key, Unknown):
                return key
            result[key] = value_code(inner)
        return result

    return code


Rounds = Callable[..., Iterator["Frame | Unknown"]]


def compile_rounds(compiler: Compiler, node: cst.CompFor) -> Rounds:
    """`for ... in ... if ...` of a comprehension: yields the inner frame once for each round.

    Yields an Unknown, and ends, where it cannot be decided which rounds there are.
    """
    target = compile_target(compiler, node.target)
    source = compiler.expression(node.iter)
    tests = [compiler.expression(item.test) for item in node.ifs]
    inner_rounds = compile_rounds(compiler, node.inner_for_in) if node.inner_for_in is not None else None

    def passes(inner: Frame) -> bool | Unknown:
        for test in tests:
            truth = inner.run.truth(test(inner))
            if truth is not True:
                return truth
        return True

    def rounds(frame: Frame, inner: Frame | None = None) -> Iterator[Frame | Unknown]:
        run = frame.run
        items = run.iterate(source(frame))
        if isinstance(items, Unknown):
            yield items
            return
        if inner is None:
            inner = Frame(run, frame.module, "comprehension", {}, frame.closure(), frame.line)
            inner.caller = frame
        for rounds_done, item in enumerate(items):
            run.spend(1)
            if rounds_done >= LENGTH:
                raise Exhausted("a container grows too large to be followed")
            target(inner, item)
            passed = passes(inner)
            if isinstance(passed, Unknown):
                yield passed
                return
            if not passed:
                continue
            if inner_rounds is None:
                yield inner
                continue
            for each in inner_rounds(inner, inner):
                yield each
                if isinstance(each, Unknown):
                    return

    return rounds


@expression(cst.Yield)
def yield_(compiler: Compiler, node: cst.Yield) -> Code:
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
    inner = compiler.expression(node.expression)

    def code(frame: Frame) -> Value:
        inner(frame)
        return frame.run.unknown("the result of an await is not followed")

    return code
