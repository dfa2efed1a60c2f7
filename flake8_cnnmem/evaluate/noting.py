"""What expressions of the analysed file have given, for who asks: editors show it where people write `print(x.shape)`.

Noting is asked for before an evaluation, by the path of the file. Only then are its expressions compiled with a note
behind each; for all others nothing is added.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.frame import Frame
    from flake8_cnnmem.evaluate.functions import Code

MOST = 200_000
"""Notes of one analysis. A forward pass of a large network makes some 10,000."""

WANTED = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.IfExp)
"""The kinds of expressions that are noted."""

TOLD = frozenset((Tensor, Weight, Unknown, Instance, Batch, bool, int, float, tuple, list))
"""The types of values that say something."""


@dataclass(slots=True, eq=False)
class Note:
    """One evaluation of an expression: the numbers that the run's ops had reached before and behind it, and its
    value."""

    node: ast.expr
    run: Any
    first: int
    last: int
    value: Value


class Notes:
    """What the expressions of the file at `path` give in one analysis, in the order in which they end."""

    def __init__(self, path: str, most: int = MOST) -> None:
        self.path = path
        self.most = most
        self.found: list[Note] = []
        self.refused: set[tuple[str, int]] = set()
        """The lines, each a path and a number, in which the program itself came to a wrong size."""

    def close(self) -> None:
        """Nobody asks any more: what was noted is let go of, though code that notes may run again."""
        self.most = 0
        self.found.clear()

    def behind(self, code: Code, node: ast.expr) -> Code:
        """The code of an expression, with a note of what it gives."""
        found = self.found

        def noted(frame: Frame) -> Value:
            run = frame.run
            # Once there are as many as are taken, nothing is added to the code any more.
            if len(found) >= self.most or not run.noting:
                return code(frame)
            before = run.numbered
            value = code(frame)
            if type(value) in TOLD and len(found) < self.most:
                found.append(Note(node, run, before, run.numbered, value))
            return value

        return noted


_asked: list[Notes] = []
"""Of the analyses that are under way, the innermost last."""


@contextmanager
def noting(notes: Notes | None) -> Iterator[None]:
    """For one analysis of a `Source` that nothing has been compiled of: what its expressions give is noted."""
    if notes is None:
        yield
        return
    _asked.append(notes)
    try:
        yield
    finally:
        _asked.remove(notes)


class RefusedAgain(BaseException):
    """A size is refused where none may be: who tried whether a text mends them all has seen enough. Nothing that is
    analysed may catch it."""


_refused: list[frozenset[tuple[str, int]]] = []
"""The lines whose wrong sizes count for nothing, of the evaluations that end at any other, the innermost last."""


@contextmanager
def ending_where_refused(tolerated: frozenset[tuple[str, int]]) -> Iterator[None]:
    """Within it an evaluation ends with RefusedAgain where the program itself comes to a wrong size, but for those in
    lines (each a path and a number) that no finding came of before: the program expects them."""
    _refused.append(tolerated)
    try:
        yield
    finally:
        _refused.pop()


def only_sizes_asked() -> bool:
    """Whether an evaluation is there for the sizes alone: what a training needs is not asked."""
    return bool(_refused)


def end_where_refused(path: str, line: int) -> None:
    """A size is refused in a line that the program has come to."""
    if _refused and (path, line) not in _refused[-1]:
        raise RefusedAgain
    for notes in _asked:
        notes.refused.add((path, line))


def notes_for(path: str) -> Notes | None:
    """Where the values of this file's expressions are noted, if somebody asks for them."""
    return _asked[-1] if _asked and _asked[-1].path == path else None


Pair = tuple[cst.CSTNode, ast.AST]


def twins_of(node: Any, twin: ast.stmt) -> dict[int, ast.expr]:
    """The `ast` twins of the expressions of a statement's own line, by the id of libcst's node. What is written in a
    way that the two trees see differently is left out."""
    found: dict[int, ast.expr] = {}
    waiting = list(headers(node, twin))
    while waiting:
        expression, other = waiting.pop()
        if isinstance(other, WANTED):
            found[id(expression)] = other
        rule = PARTS.get(type(expression))
        if rule is not None and isinstance(other, rule[0]):
            waiting.extend(rule[1](expression, other))
    return found


def headers(node: Any, twin: Any) -> Iterator[Pair]:
    """The expressions directly in a statement, bodies left out."""
    for mine, its in (("value", "value"), ("test", "test"), ("iter", "iter"), ("exc", "exc")):
        left, right = getattr(node, mine, None), getattr(twin, its, None)
        if isinstance(left, cst.CSTNode) and isinstance(right, ast.expr):
            yield left, right
    if isinstance(node, cst.With):
        for item, other in zip(node.items, twin.items, strict=True):
            yield item.item, other.context_expr


def of_call(node: cst.Call, twin: ast.Call) -> Iterator[Pair]:
    """Pairs of nodes of a call in both trees: function and arguments, in order."""
    yield node.func, twin.func
    arguments: list[ast.expr | ast.keyword] = sorted(
        [*twin.args, *twin.keywords], key=lambda each: (each.lineno, each.col_offset)
    )
    if len(arguments) == len(node.args):
        for argument, other in zip(node.args, arguments, strict=True):
            inner = other.value if isinstance(other, (ast.keyword, ast.Starred)) else other
            yield argument.value, inner


def of_subscript(node: cst.Subscript, twin: ast.Subscript) -> Iterator[Pair]:
    """Pairs of nodes of a subscript in both trees."""
    yield node.value, twin.value
    several = len(node.slice) > 1 or isinstance(node.slice[0].comma, cst.Comma)
    keys: Sequence[ast.expr] = [twin.slice]
    if several:
        keys = twin.slice.elts if isinstance(twin.slice, ast.Tuple) else ()
    for element, other in zip(node.slice, keys, strict=False):
        part = element.slice
        if isinstance(part, cst.Index):
            yield part.value, other
        elif isinstance(part, cst.Slice) and isinstance(other, ast.Slice):
            yield from both((part.lower, part.upper, part.step), (other.lower, other.upper, other.step))


def of_boolean(node: cst.BooleanOperation, twin: ast.BoolOp) -> Iterator[Pair]:
    """`a and b and c` is flat to `ast`, and nested to the left to libcst."""
    operands: list[cst.CSTNode] = [node.right]
    left: cst.BaseExpression = node.left
    while isinstance(left, cst.BooleanOperation) and not left.lpar and type(left.operator) is type(node.operator):
        operands.append(left.right)
        left = left.left
    operands.append(left)
    if len(operands) == len(twin.values):
        yield from zip(reversed(operands), twin.values, strict=True)


def of_comprehension(node: Any, twin: Any) -> Iterator[Pair]:
    """Pairs of nodes of a comprehension in both trees: element, sources, tests."""
    if isinstance(node, cst.DictComp):
        yield from both((node.key, node.value), (twin.key, twin.value))
    else:
        yield node.elt, twin.elt
    inner: cst.CompFor | None = node.for_in
    for other in twin.generators:
        if inner is None:
            return
        yield inner.iter, other.iter
        yield from both([each.test for each in inner.ifs], other.ifs)
        inner = inner.inner_for_in


def of_elements(node: Any, twin: Any) -> Iterator[Pair]:
    """Pairs of nodes of a tuple's, list's or set's elements in both trees."""
    for element, other in zip(node.elements, twin.elts, strict=True):
        yield element.value, other.value if isinstance(other, ast.Starred) else other


def of_dict(node: cst.Dict, twin: ast.Dict) -> Iterator[Pair]:
    """Pairs of nodes of a dict's keys and values in both trees."""
    for element, key, value in zip(node.elements, twin.keys, twin.values, strict=True):
        if isinstance(element, cst.DictElement):
            yield from both((element.key,), (key,))
        yield element.value, value


def both(left: Iterable[cst.CSTNode | None], right: Iterable[ast.AST | None]) -> Iterator[Pair]:
    """Those that are there on both sides."""
    for mine, its in zip(left, right, strict=False):
        if mine is not None and its is not None:
            yield mine, its


PARTS: dict[type[cst.CSTNode], tuple[Any, Any]] = {
    cst.Call: (ast.Call, of_call),
    cst.Attribute: (ast.Attribute, lambda node, twin: [(node.value, twin.value)]),
    cst.Subscript: (ast.Subscript, of_subscript),
    cst.BinaryOperation: (ast.BinOp, lambda node, twin: [(node.left, twin.left), (node.right, twin.right)]),
    cst.UnaryOperation: (ast.UnaryOp, lambda node, twin: [(node.expression, twin.operand)]),
    cst.BooleanOperation: (ast.BoolOp, of_boolean),
    cst.Comparison: (
        ast.Compare,
        lambda node, twin: [
            (node.left, twin.left),
            *both([each.comparator for each in node.comparisons], twin.comparators),
        ],
    ),
    cst.IfExp: (
        ast.IfExp,
        lambda node, twin: [(node.body, twin.body), (node.test, twin.test), (node.orelse, twin.orelse)],
    ),
    cst.Tuple: (ast.Tuple, of_elements),
    cst.List: (ast.List, of_elements),
    cst.Set: (ast.Set, of_elements),
    cst.Dict: (ast.Dict, of_dict),
    cst.NamedExpr: (ast.NamedExpr, lambda node, twin: [(node.value, twin.value)]),
    cst.Await: (ast.Await, lambda node, twin: [(node.expression, twin.value)]),
    cst.Lambda: (ast.Lambda, lambda node, twin: [(node.body, twin.body)]),
    cst.ListComp: (ast.ListComp, of_comprehension),
    cst.SetComp: (ast.SetComp, of_comprehension),
    cst.GeneratorExp: (ast.GeneratorExp, of_comprehension),
    cst.DictComp: (ast.DictComp, of_comprehension),
}
"""How the parts of an expression are paired with those of its twin, by libcst's type: the twin's type, and the rule."""
