"""`match`: patterns are tested one after the other; an undecided one makes both outcomes possible."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.evaluate.blocks import compile_block, statement
from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.stdlib.abstract import ABSTRACT
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Value

Test = Callable[[Frame, Value], "bool | Unknown"]


@statement(cst.Match)
def match(compiler: Compiler, node: cst.Match, twin: ast.Match) -> Code:
    """Code for a `match`: the first case that fits, or all that may fit where that is not known."""
    subject = compiler.expression(node.subject)
    cases: list[tuple[Test, Code | None, Code]] = []
    for case, case_twin in zip(node.cases, twin.cases, strict=True):
        inner = Compiler(compiler.path, case_twin)
        test = compile_pattern(inner, case.pattern)
        guard = inner.expression(case.guard) if case.guard is not None else None
        cases.append((test, guard, compile_block(compiler.path, case.body, case_twin.body)))

    def from_case(frame: Frame, value: Value, at: int) -> Value:
        while at < len(cases):
            test, guard, body = cases[at]
            fits = test(frame, value)
            if fits is True and guard is not None:
                fits = frame.run.truth(guard(frame))
            if fits is True:
                return body(frame)
            at += 1
            if isinstance(fits, Unknown):
                return frame.run.branch(fits, frame, body, functools.partial(from_case, value=value, at=at))
        return None

    return lambda frame: from_case(frame, subject(frame), 0)


def compile_pattern(compiler: Compiler, node: Any) -> Test:
    """A test whether a value fits a pattern; it binds the pattern's names."""
    if isinstance(node, cst.MatchAs):
        return capture(compiler, node)
    if isinstance(node, cst.MatchOr):
        options = [compile_pattern(compiler, element.pattern) for element in node.patterns]

        def any_of(frame: Frame, value: Value) -> bool | Unknown:
            for option in options:
                fits = option(frame, value)
                if fits is not False:
                    return fits
            return False

        return any_of
    if isinstance(node, cst.MatchValue):
        constant = compiler.expression(node.value)
        return lambda frame, value: frame.run.equal(value, constant(frame))
    if isinstance(node, cst.MatchSingleton):
        single = compiler.expression(node.value)
        return lambda frame, value: frame.run.truth(frame.run.operate("is", value, single(frame)))
    if isinstance(node, (cst.MatchList, cst.MatchTuple)):
        return sequence(compiler, node)
    if isinstance(node, cst.MatchMapping):
        return mapping(compiler, node)
    if isinstance(node, cst.MatchClass):
        return class_pattern(compiler, node)
    return lambda frame, value: frame.run.unknown("a pattern is not followed")


def capture(compiler: Compiler, node: cst.MatchAs) -> Test:
    """A test for `pattern as name`, `name` and `_`."""
    inner = compile_pattern(compiler, node.pattern) if node.pattern is not None else None
    word = node.name.value if node.name is not None else None

    def test(frame: Frame, value: Value) -> bool | Unknown:
        fits = inner(frame, value) if inner is not None else True
        if fits is True and word is not None:
            frame.store(word, value)
        return fits

    return test


def all_of(results: list[bool | Unknown]) -> bool | Unknown:
    """Whether all hold: False as soon as one does not, else the first that is not known."""
    if any(result is False for result in results):
        return False
    return next((result for result in results if isinstance(result, Unknown)), True)


def sequence(compiler: Compiler, node: Any) -> Test:
    """A test for `[a, *rest]`."""
    parts: list[tuple[bool, Test | None, str | None]] = []
    for element in node.patterns:
        if isinstance(element, cst.MatchStar):
            parts.append((True, None, element.name.value if element.name is not None else None))
        else:
            parts.append((False, compile_pattern(compiler, element.value), None))
    star = next((at for at, part in enumerate(parts) if part[0]), None)

    def test(frame: Frame, value: Value) -> bool | Unknown:
        items = run_through(frame, value, "Sequence")
        if not isinstance(items, list):
            return items
        if star is None:
            if len(items) != len(parts):
                return False
            return all_of([part(frame, item) for (_, part, _), item in zip(parts, items, strict=True) if part])
        after = len(parts) - star - 1
        if len(items) < star + after:
            return False
        ends = items[:star] + items[len(items) - after :]
        word = parts[star][2]
        if word is not None:
            frame.store(word, items[star : len(items) - after])
        return all_of([part(frame, item) for part, item in zip([p for _, p, _ in parts if p], ends, strict=True)])

    return test


def run_through(frame: Frame, value: Value, kind: str) -> list[Value] | bool | Unknown:
    """The items of a "Sequence", or the keys of a "Mapping" (`collections.abc`); False where the value is none. A text
    is no sequence to a pattern."""
    if isinstance(value, Unknown):
        return value
    plain = payload(value)
    if isinstance(plain, (str, bytes)):
        return False
    fits = True if type(plain) in (list, tuple) and kind == "Sequence" else frame.run.is_instance(value, ABSTRACT[kind])
    return frame.run.items(value) if fits is True else fits


def mapping(compiler: Compiler, node: cst.MatchMapping) -> Test:
    """A test for `{"key": pattern, **rest}`."""
    parts = [
        (compiler.expression(element.key), compile_pattern(compiler, element.pattern)) for element in node.elements
    ]
    rest = node.rest.value if node.rest is not None else None

    def test(frame: Frame, value: Value) -> bool | Unknown:
        plain = payload(value)
        if not isinstance(plain, dict):
            words = run_through(frame, value, "Mapping")
            if not isinstance(words, list):
                return words
            plain = {word: frame.run.index(value, word) for word in words}
        left = dict(plain)
        results: list[bool | Unknown] = []
        for key_code, part in parts:
            key = key_code(frame)
            if key not in left:
                return False
            results.append(part(frame, left.pop(key)))
        if rest is not None:
            frame.store(rest, left)
        return all_of(results)

    return test


def class_pattern(compiler: Compiler, node: cst.MatchClass) -> Test:
    """A test for `Class(a, name=b)`, with `__match_args__` for those by position."""
    cls_code = compiler.expression(node.cls)
    positional = [compile_pattern(compiler, element.value) for element in node.patterns]
    keywords = [(element.key.value, compile_pattern(compiler, element.pattern)) for element in node.kwds]

    def test(frame: Frame, value: Value) -> bool | Unknown:
        run = frame.run
        cls = cls_code(frame)
        fits = run.is_instance(value, cls)
        if fits is not True:
            return fits
        results: list[bool | Unknown] = []
        if positional and isinstance(cls, Class) and cls.host is not None and not isinstance(value, Instance):
            results.append(positional[0](frame, value))
        elif positional:
            names = cls.find("__match_args__") if isinstance(cls, Class) else MISSING
            if not isinstance(names, (tuple, list)):
                return run.unknown("the class of a pattern does not say what its arguments match")
            keywords_and_positions = list(zip(names, positional, strict=False))
            results.extend(part(frame, run.get(value, word)) for word, part in keywords_and_positions)
        for word, part in keywords:
            found = run.find(value, word)
            if found is MISSING:
                return False
            results.append(part(frame, found))
        return all_of(results)

    return test
