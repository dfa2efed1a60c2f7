"""Comprehensions and generator expressions: one inner frame, and a round for each item."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate import joins
from flake8_cnnmem.evaluate.alternatives import item_of_one
from flake8_cnnmem.evaluate.assignment import compile_target
from flake8_cnnmem.evaluate.budget import LENGTH, YIELDS, Exhausted
from flake8_cnnmem.evaluate.compiler import Compiler, expression
from flake8_cnnmem.evaluate.comprehension_turns import ComprehensionTurns
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code, Function
from flake8_cnnmem.evaluate.gathering import batches_of, count_turns, fill_up_from, leave_open
from flake8_cnnmem.evaluate.lengths import comprehended
from flake8_cnnmem.evaluate.turns import unsaid_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import so_many
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown, unless_none
from flake8_cnnmem.values import MISSING, Bound, Instance, Native, Raised, Stream, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


@expression(cst.ListComp)
def list_comprehension(compiler: Compiler, node: cst.ListComp) -> Code:
    """Code for a list comprehension; generator expressions are lists as well."""
    element = compiler.expression(node.elt)
    rounds = compile_rounds(compiler, node.for_in)
    plain = isinstance(node.for_in.iter, (cst.Name, cst.Attribute)) and node.for_in.inner_for_in is None
    single = (compile_target(compiler, node.for_in.target), compiler.expression(node.for_in.iter)) if plain else None
    alone = node.for_in.inner_for_in is None
    without_none = single is not None and is_without_none(node.for_in)
    number = number_for_any(compiler, node.elt, element, node.for_in)
    array = array_for_any(compiler, node.elt, element, node.for_in)
    beside = beside_elements([node.elt], [element], rounds)

    def code(frame: Frame) -> Value:
        found: list[Value] = []
        for inner in rounds(frame, gathered=found):
            if isinstance(inner, Unknown):
                item = each_alike(frame, inner)
                item = number(frame, inner) if item is MISSING else item
                item = array(frame, inner) if item is MISSING else item
                if item is MISSING:
                    item = object_in(beside(frame, inner))
                if not alone:
                    return inner if item is MISSING else so_many(frame.run, item, inner)
                given = single[1](frame) if single is not None else inner
                return comprehended(frame.run, given, item, inner, not node.for_in.ifs)
            found.append(element(inner))
        return found

    def each_alike(frame: Frame, cause: Unknown) -> Value:
        """The element for any item of a list of unknown length whose items are all alike; MISSING for another."""
        if single is None:
            return MISSING
        run = frame.run
        given = single[1](frame)
        item = run.sample(given) if run.samples else MISSING
        if item is MISSING and without_none:
            item = any_but_none(run, given, cause)
        if item is MISSING:
            return MISSING
        inner = Frame(run, frame.module, "comprehension", {}, frame.closure(), frame.line)
        inner.caller = frame
        try:
            single[0](inner, item)
            return joins.one_of(run, [element(inner)], cause)
        except Raised:
            # Other items than the one that stands for them may do.
            return MISSING

    return code


def is_without_none(rounds: cst.CompFor) -> bool:
    """Whether a comprehension leaves out None, and nothing else: `for x in items if x is not None`."""
    test = rounds.ifs[0].test if len(rounds.ifs) == 1 else None
    return (
        isinstance(test, cst.Comparison)
        and isinstance(rounds.target, cst.Name)
        and isinstance(test.left, cst.Name)
        and test.left.value == rounds.target.value
        and len(test.comparisons) == 1
        and isinstance(test.comparisons[0].operator, cst.IsNot)
        and isinstance(test.comparisons[0].comparator, cst.Name)
        and test.comparisons[0].comparator.value == "None"
    )


def any_but_none(run: Interpreter, items: Value, cause: Unknown) -> Value:
    """What stands for any item that is not None; MISSING where that is not known."""
    each = run.items(items)
    left = [unless_none(item) for item in each if item is not None] if isinstance(each, list) else []
    common = joins.one_of(run, left, cause) if left else cause
    return MISSING if isinstance(common, Unknown) else common


@expression(cst.SetComp)
def set_comprehension(compiler: Compiler, node: cst.SetComp) -> Code:
    """Code for a set comprehension."""
    items = list_comprehension(compiler, node)
    return lambda frame: frame.run.make_set(cast("list[Value] | Unknown", items(frame)))


@expression(cst.GeneratorExp)
def generator_expression(compiler: Compiler, node: cst.GeneratorExp) -> Code:
    """Run ahead, so that an unknown test makes it unknown as a whole; only what is very long is drawn on demand."""
    element = compiler.expression(node.elt)
    rounds = compile_rounds(compiler, node.for_in)
    beside = beside_elements([node.elt], [element], rounds)
    own = compiler.statement
    # One that is asked where it stands has no time to find its names bound anew.
    named = isinstance(own, ast.Assign) and isinstance(own.value, ast.GeneratorExp)
    words = names_in(node) if named else frozenset()

    def code(frame: Frame) -> Value:
        found: list[Value] = []
        trace = frame.run.trace
        turn = trace.turn
        steps = rounds(frame)
        for inner in steps:
            if isinstance(inner, Unknown):
                beside(frame, inner)
                return inner
            found.append(element(inner))
            if len(found) >= YIELDS:
                trace.leave(turn, frame.run.numbered)
                return itertools.chain(found, (i if isinstance(i, Unknown) else element(i) for i in steps))
        return drawn_later(frame, found, words) if words else iter(found)

    return code


def names_in(node: cst.CSTNode) -> frozenset[str]:
    """The names that a generator expression reads each time that it is asked for an item, and those it binds."""
    if isinstance(node, cst.Name):
        return frozenset({node.value})
    children = node.children
    if isinstance(node, cst.GeneratorExp):
        # Where its items come from is asked where it is made.
        children = [each for each in (node.elt, *node.for_in.ifs, node.for_in.inner_for_in) if each is not None]
    return frozenset().union(*map(names_in, children))


def drawn_later(frame: Frame, found: list[Value], words: frozenset[str]) -> Iterator[Value]:
    """The items of a generator expression that has a name. Its variables are those of the time when an item is asked
    for: where one holds something else by then, so may the item."""
    held = {word: frame.variables[word] for word in words if word in frame.variables}

    def items() -> Iterator[Value]:
        for item in found:
            if any(frame.variables.get(word) is not value for word, value in held.items()):
                item = frame.run.made_of(frame.run.unknown("what a generator expression reads was bound anew"), (item,))
            yield item

    return items()


def one_by_one(compiler: Compiler, node: cst.GeneratorExp) -> Code:
    """A generator of which each item is worked out when it is asked for, for who asks for all of them at once."""
    element = compiler.expression(node.elt)
    rounds = compile_rounds(compiler, node.for_in)

    def code(frame: Frame) -> Value:
        steps = rounds(frame)
        first = next(steps, None)
        if first is None or isinstance(first, Unknown):
            return iter(()) if first is None else first
        return (inner if isinstance(inner, Unknown) else element(inner) for inner in itertools.chain((first,), steps))

    return code


@expression(cst.DictComp)
def dict_comprehension(compiler: Compiler, node: cst.DictComp) -> Code:
    """Code for a dict comprehension."""
    key_code = compiler.expression(node.key)
    value_code = compiler.expression(node.value)
    rounds = compile_rounds(compiler, node.for_in)
    number = number_for_any(compiler, node.value, value_code, node.for_in)
    beside = beside_elements([node.key, node.value], [key_code, value_code], rounds)

    def code(frame: Frame) -> Value:
        result: dict[Value, Value] = {}
        for inner in rounds(frame):
            if isinstance(inner, Unknown):
                item = number(frame, inner)
                if item is MISSING:
                    beside(frame, inner)
                    return inner
                frame.run.havoc(result, inner)
                frame.run.note_sample(result, [item])
                return result
            key = inner.run.key(key_code(inner))
            if isinstance(key, Unknown):
                return key
            result[key] = value_code(inner)
        return result

    return code


def beside_elements(
    nodes: Sequence[cst.BaseExpression], elements: Sequence[Code], rounds: Rounds
) -> Callable[[Frame, Unknown], Sequence[Value]]:
    """Code for what the elements do beside what they give (`setattr(self, name, Linear(8, 8)) for name in names`),
    where it is not known which rounds there are: one stands for all, and may not be. Gives what that one gives."""
    if not any(calls_something(node) for node in nodes):
        return lambda frame, cause: ()

    def code(frame: Frame, cause: Unknown) -> Sequence[Value]:
        found: list[Value] = []

        def each() -> None:
            for inner in rounds(frame, whatever=True):
                if isinstance(inner, Frame):
                    found.extend(element(inner) for element in elements)

        frame.run.perhaps_done(cause, each)
        return found

    return code


def object_in(found: Sequence[Value]) -> Value:
    """The object of the code's own that each of some elements is like (a data set for each file); MISSING of layers,
    which count by their number."""
    value = found[0] if len(found) == 1 else None
    written = isinstance(value, Instance) and value.cls.site is not None
    return value if written and frameworks.of_layer(value) is None else MISSING


def calls_something(node: cst.CSTNode) -> bool:
    """Whether an expression calls what may change something, or binds a name."""
    if isinstance(node, cst.NamedExpr) or (isinstance(node, cst.Call) and not is_plain(node)):
        return True
    return any(map(calls_something, node.children))


NUMBERING = frozenset({"int", "float", "ord", "len", "abs", "round", "min", "max", "bool"})
"""Functions that a part of an element may call: none of them changes anything."""


def number_for_any(
    compiler: Compiler, node: cst.BaseExpression, element: Code, rounds: cst.CompFor
) -> Callable[..., Value]:
    """Code for the number that an element (with its code) is whatever the items are of something that is not known:
    `stoi[c] for c in text`, `i for i, c in enumerate(chars)`. MISSING where it is none, or is no plain expression."""
    if rounds.inner_for_in is not None or not is_plain(node):
        return lambda frame, cause: MISSING
    target = compile_target(compiler, rounds.target)
    called = rounds.iter.func if isinstance(rounds.iter, cst.Call) else None
    counts = isinstance(called, cst.Name) and called.value == "enumerate"

    def code(frame: Frame, cause: Unknown) -> Value:
        inner = Frame(frame.run, frame.module, "comprehension", {}, frame.closure(), frame.line)
        inner.caller = frame
        try:
            target(inner, (cause.as_number("int"), cause.loose()) if counts else cause.loose())
            found = element(inner)
        except Raised:
            return MISSING
        plain = isinstance(found, (int, float)) or (isinstance(found, Unknown) and found.number)
        return joins.one_of(frame.run, [found], cause) if plain else MISSING

    return code


def array_for_any(
    compiler: Compiler, node: cst.BaseExpression, element: Code, rounds: cst.CompFor
) -> Callable[..., Value]:
    """Code for the array that functions make of any item of something that is not known, by the element's own code:
    `resize(imread(f), (64, 64)) / 255 for f in files`. As the body of a loop over it, it runs once. MISSING for what is
    no array, and where an object is called: a model runs as often as there are items."""
    names = called_in(node) if isinstance(node, (cst.Call, cst.BinaryOperation, cst.Tuple)) else []
    if rounds.inner_for_in is not None or rounds.ifs or not names:
        return lambda frame, cause: MISSING
    target = compile_target(compiler, rounds.target)
    functions = [compiler.expression(name) for name in names if is_dotted(name)]

    def code(frame: Frame, cause: Unknown) -> Value:
        inner = Frame(frame.run, frame.module, "comprehension", {}, frame.closure(), frame.line)
        inner.caller = frame
        try:
            target(inner, cause.loose())
            if not all(isinstance(unbound(function(inner)), (Function, Native)) for function in functions):
                return MISSING
            found = element(inner)
        except Raised:
            return MISSING
        return found if is_data(found) else MISSING

    return code


def called_in(node: cst.CSTNode) -> list[cst.BaseExpression]:
    """What is called in an expression."""
    inside = [each for child in node.children for each in called_in(child)]
    return [node.func, *inside] if isinstance(node, cst.Call) else inside


def is_dotted(node: cst.CSTNode) -> bool:
    """Whether an expression is a name, or an attribute of one."""
    return isinstance(node, cst.Name) or (isinstance(node, cst.Attribute) and is_dotted(node.value))


def unbound(value: Value) -> Value:
    """The function of a method."""
    return value.function if isinstance(value, Bound) else value


def is_data(value: Value) -> bool:
    """Whether a value is an array that nothing has computed but its own functions, or several of them: no results of a
    model."""
    if isinstance(value, tuple) and value:
        return all(isinstance(each, Unknown) or is_data(each) for each in value) and any(map(is_data, value))
    return isinstance(value, Tensor) and value.call is None and isinstance(value.shape, tuple)


def is_plain(node: cst.CSTNode) -> bool:
    """Whether an expression changes nothing: names, items, arithmetic, and functions that make a number."""
    if isinstance(node, cst.Call):
        named = node.func.value in NUMBERING if isinstance(node.func, cst.Name) else False
        asks = isinstance(node.func, cst.Attribute) and node.func.attr.value == "get"
        return (named or asks) and all(is_plain(argument.value) for argument in node.args)
    if isinstance(node, cst.Subscript):
        inside = [part.slice.value for part in node.slice if isinstance(part.slice, cst.Index)]
        return is_plain(node.value) and len(inside) == len(node.slice) and all(map(is_plain, inside))
    if isinstance(node, cst.BinaryOperation):
        return is_plain(node.left) and is_plain(node.right)
    if isinstance(node, cst.Attribute):
        return is_plain(node.value)
    return isinstance(node, (cst.Name, cst.Integer, cst.Float, cst.SimpleString))


Rounds = Callable[..., Iterator["Frame | Unknown"]]


def compile_rounds(compiler: Compiler, node: cst.CompFor) -> Rounds:
    """`for ... in ... if ...` of a comprehension: yields the inner frame once for each round.

    Yields an Unknown, and ends, where it cannot be decided which rounds there are; with `whatever` it goes through
    those that there may be.
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

    def rounds(
        frame: Frame, inner: Frame | None = None, gathered: list[Value] | None = None, whatever: bool = False
    ) -> Iterator[Frame | Unknown]:
        run = frame.run
        given = source(frame)
        items = run.iterate(given)
        if isinstance(items, Unknown):
            if not whatever:
                # A number that is not known may decide how many rounds there are: what is gathered in them is none.
                yield items.loose()
                return
            item = run.sample(given)
            if item is MISSING:
                item = item_of_one(run, items) if items.among else items.loose()
            items = iter([item])
        if inner is None:
            inner = Frame(run, frame.module, "comprehension", {}, frame.closure(), frame.line)
            inner.caller = frame
        turns = ComprehensionTurns(frame, compiler.statement, gathered)
        for rounds_done, item in enumerate(with_rest(run, items)):
            run.spend(1)
            if rounds_done >= LENGTH:
                raise Exhausted("a container grows too large to be followed")
            with turns:
                target(inner, item)
                passed = passes(inner)
                if isinstance(passed, Unknown) and not whatever:
                    yield passed.loose()
                    return
                if passed is False:
                    continue
                if inner_rounds is None:
                    yield inner
                    continue
                for each in inner_rounds(inner, inner, whatever=whatever):
                    yield each
                    if isinstance(each, Unknown):
                        return
        if gathered and turns.loop is not None and inner_rounds is None and not tests and isinstance(items, Stream):
            count_turns(turns.loop, batches_of(run, turns.loop), None)
            fill_up_from(run, turns.loop, gathered, gathered[-1:], len(gathered))
        unsaid = unsaid_of(items)
        if unsaid is not None and not whatever:
            if gathered is not None and inner_rounds is None:
                leave_open(run, gathered, unsaid)
            else:
                yield unsaid.loose()

    return rounds


def with_rest(run: Interpreter, items: Iterator[Value]) -> Iterator[Value]:
    """The items that a comprehension goes through: of a data set the sample that stands for all, and those behind it
    as far as they are few, unless a model is called on them."""
    if type(items) is not Stream or items.unsaid is None:
        yield from items
        return
    before, drawn = len(run.trace.events), 0
    for item in items:
        drawn += 1
        yield item
    if all(event.call is None for event in run.trace.events[before:]):
        yield from items.rest(drawn)
