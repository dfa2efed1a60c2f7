"""The expressions that a call's tensors, layers and keyword arguments are written as, and edits of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.graph import Call, Site
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.results import LayerProblem, ModelReport
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.edits import Edit, instead_of, with_keyword
from flake8_cnnmem.values import Instance

SYMBOLS: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "subtract": ast.Sub,
    "multiply": ast.Mult,
    "divide": ast.Div,
    "matmul": ast.MatMult,
}
"""The operator that is written for an op of this kind."""

ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
"""Expressions behind which a method or an index can be written as they are."""


@dataclass(frozen=True, slots=True)
class Place:
    """A wrong size in the file at hand: the problem, the call that has it, and the text around it."""

    source: Source
    lines: list[str]
    model: ModelReport
    problem: LayerProblem
    call: Call

    def node(self, site: Site | None) -> ast.Call | None:
        """The call at a site, if that is one in this file."""
        node = site.node if isinstance(site, StatementSite) and site.path == self.source.path else None
        return node if isinstance(node, ast.Call) else None

    def layer(self, call: Call) -> ast.Call | None:
        """The construction of the framework's own layer that a call runs in."""
        layer = call.within.layer if call.within is not None else None
        return self.node(layer.site) if isinstance(layer, Instance) and layer.cls.site is None else None

    def operands(self) -> list[ast.expr]:
        """The expressions of the call's tensors in order; empty where they are not written one by one."""
        site, wanted = self.call.site, len(self.call.inputs)
        if not isinstance(site, StatementSite) or site.path != self.source.path:
            return []
        node = site.node
        if isinstance(node, ast.Call):
            given = [each for each in arguments_in(node) if not isinstance(each, ast.Constant)]
            if any(isinstance(each, ast.Starred) for each in given):
                return []
            if len(given) < wanted and isinstance(node.func, ast.Attribute):
                given = [node.func.value, *given]
            return given[:wanted] if len(given) >= wanted else []
        symbol = SYMBOLS.get(self.call.op.kind)
        found = [
            each for each in ast.walk(node) if symbol and isinstance(each, ast.BinOp) and isinstance(each.op, symbol)
        ]
        return [found[0].left, found[0].right] if len(found) == 1 and wanted == 2 else []

    def text(self, node: ast.expr) -> str:
        """An expression as it is written; empty where it takes several lines."""
        if node.lineno != node.end_lineno:
            return ""
        whole = instead_of(node, self.lines, "")
        return self.lines[whole.line - 1][whole.column - 1 : whole.end_column - 1]

    def instead(self, node: ast.expr, text: str) -> Edit:
        return instead_of(node, self.lines, text)

    def behind(self, node: ast.expr, more: str) -> Edit | None:
        """`x.transpose(1, 2)` for `x`; None where the expression takes several lines."""
        text = self.text(node)
        if not text:
            return None
        return self.instead(node, f"{text}{more}" if isinstance(node, ATOMS) else f"({text}){more}")

    def with_keyword(self, call: ast.Call, name: str, value: str) -> Edit:
        return with_keyword(call, self.lines, name, value)


def arguments_in(call: ast.Call) -> Iterator[ast.expr]:
    """The positional arguments of a call in order, what stands in a tuple or list each by itself."""
    for each in call.args:
        if isinstance(each, (ast.Tuple, ast.List)):
            yield from each.elts
        else:
            yield each


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The value of the first of these keyword arguments that a call has."""
    return next((word.value for word in call.keywords if word.arg in names), None)


def sizes_of(shape: object) -> Sequence[object]:
    """A shape's sizes; empty where its rank is not known."""
    return shape if isinstance(shape, tuple) else ()
