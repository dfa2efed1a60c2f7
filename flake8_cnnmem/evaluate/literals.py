"""Literals: numbers, strings, f-strings, and what is between their braces."""

from __future__ import annotations

import ast
from typing import Any, cast

from flake8_cnnmem.evaluate.compiler import Compiler, constant, expression
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


@expression(cst.Integer, cst.Float, cst.Imaginary)
def number(compiler: Compiler, node: cst.Integer | cst.Float | cst.Imaginary) -> Code:
    """Code for a number."""
    if len(node.value) < 16 and node.value.isdecimal() and node.value[0] != "0":
        return constant(int(node.value))
    try:
        return constant(ast.literal_eval(node.value))
    except (ValueError, SyntaxError):
        reason = "a number has too many digits"
        return lambda frame: frame.run.unknown(reason)


@expression(cst.SimpleString)
def string(compiler: Compiler, node: cst.SimpleString) -> Code:
    """Code for a text or bytes."""
    text = node.value
    if text[0] in "\"'" and "\\" not in text and text[:3] not in ('"""', "'''"):
        return constant(text[1:-1])
    return constant(ast.literal_eval(text))


@expression(cst.ConcatenatedString)
def concatenated(compiler: Compiler, node: cst.ConcatenatedString) -> Code:
    """Code for literals beside each other."""
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
    """Code for an f-string."""
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
            # A field is formatted to a str.
            pieces.append(cast("str", piece))
        frame.run.check_size(sum(map(len, pieces)))
        return "".join(pieces)

    return join


def format_text(text: str, raw: bool) -> str:
    """The plain part of an f-string: doubled braces and escapes resolved, escapes kept where it is raw."""
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
    """Code for `{value!r:spec}`: a text, or unknown where the value is."""
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
        text = run.call(run.builtin("format"), item, "".join([cast("str", piece) for piece in pieces]))
        return equal + text if isinstance(text, str) else text

    return field


@expression(cst.Ellipsis)
def ellipsis(compiler: Compiler, node: cst.Ellipsis) -> Code:
    """Code for `...`."""
    return constant(...)
