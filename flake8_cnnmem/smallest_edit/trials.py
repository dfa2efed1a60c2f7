"""The texts that are tried: of each only the statements are parsed and compiled anew that its edit touches, of a class
only the method."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.source import Source, SourceError, parse
from flake8_cnnmem.source.parsing import pairs, parse_cst
from flake8_cnnmem.source.shelf import Syntax
from flake8_cnnmem.text.edits import Edit, applied

if TYPE_CHECKING:
    from flake8_cnnmem.source.parsing import Part


class Trials:
    """The edited texts of one file, whose statements are compiled once for all of them."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.plain = Source(source.path, source.text)
        """The file as it is, compiled without notes."""
        self.known: set[str] = set()

    @contextmanager
    def edited(self, edits: tuple[Edit, ...]) -> Iterator[Source | None]:
        """The file with edits; None for what is no Python, and for a text that has been tried."""
        text = applied(self.source.text, edits)
        if text in self.known:
            yield None
            return
        self.known.add(text)
        lines = {line for edit in edits for line in range(edit.line, edit.end_line + 1)}
        touched = self.statements_touched(lines) if text.count("\n") == self.source.text.count("\n") else None
        try:
            edited = self.whole(text) if touched is None else self.in_part(text, touched, lines)
        except SourceError:
            yield None
            return
        yield edited
        if touched is not None:
            compiled = {at: code for at, code in edited.compiled.items() if at not in touched}
            self.plain.compiled.update(compiled)

    def whole(self, text: str) -> Source:
        edited = Source(self.source.path, text)
        edited.before = self.source
        edited.check()
        return edited

    def statements_touched(self, edited: set[int]) -> set[int] | None:
        """The places of the top-level statements that have edited lines; None where the text has to be parsed whole."""
        source = self.source
        spans = source.spans()
        alone = all(one.last < other.first for one, other in pairwise(spans))
        if source.notebook is not None or source.python != source.text or not alone:
            return None
        if len(source.syntax.parts) != len(spans):
            return None
        return {at for at, span in enumerate(spans) if any(span.first <= line <= span.last for line in edited)}

    def in_part(self, text: str, touched: set[int], edited_lines: set[int]) -> Source:
        """A text of which a few statements differ from the file's. Raises SourceError for what is no Python."""
        source = self.source
        body, parts = list(source.tree.body), dict(source.syntax.parts)
        lines = text.split("\n")
        for at in touched:
            span = source.spans()[at]
            found = in_method(parts[at], lines, {line for line in edited_lines if span.first <= line <= span.last})
            if found is not None:
                parts[at] = found
                body[at] = found[1]
                continue
            own = "\n".join(lines[span.first - 1 : span.last]) + "\n"
            # Empty lines before it give the statement the position that it has in the file.
            twins = parse("\n" * (span.first - 1) + own, source.path).body
            made = list(pairs(parse_cst(own, ast.Module(twins, []), source.path).body, twins))
            if len(made) != 1:
                return self.whole(text)
            [parts[at]], [body[at]] = made, twins
        edited = Source(source.path, text)
        edited.syntax = Syntax(text, ast.Module(body, []))
        edited.syntax.sound, edited.syntax.parts = True, parts
        edited.compiled = {at: code for at, code in self.plain.compiled.items() if at not in touched}
        return edited


def in_method(part: Part, lines: list[str], edited: set[int]) -> Part | None:
    """A class of which one method has edited lines, with that method parsed anew and all else as it is. None where they
    do not lie in one method. Raises SourceError for what is no Python."""
    node, twin = part
    if not isinstance(twin, ast.ClassDef) or not edited:
        return None
    suite: Any = getattr(node, "body", None)
    statements = list(getattr(suite, "body", ()))
    if len(statements) != len(twin.body):
        return None
    for at, method in enumerate(twin.body):
        first = min([method.lineno, *(each.lineno for each in getattr(method, "decorator_list", ()))])
        if isinstance(method, ast.FunctionDef) and first <= min(edited) and max(edited) <= (method.end_lineno or 0):
            own = "\n".join(lines[first - 1 : method.end_lineno]) + "\n"
            # A class of its own gives the method its indentation, empty lines the position that it has in the file.
            text = f"class {twin.name}:\n{own}"
            tree = parse("\n" * (first - 2) + text)
            nodes: list[Any] = list(parse_cst(text, tree).body)
            inner = [each for whole in nodes for each in getattr(whole.body, "body", ())]
            made = [each for whole in tree.body for each in getattr(whole, "body", ())]
            if len(nodes) != 1 or len(inner) != 1 or len(made) != 1:
                return None
            suite = suite.with_changes(body=[*statements[:at], *inner, *statements[at + 1 :]])
            fields = {name: value for name, value in ast.iter_fields(twin) if name != "body"}
            again = ast.ClassDef(**fields, body=[*twin.body[:at], *made, *twin.body[at + 1 :]])
            return node.with_changes(body=suite), ast.copy_location(again, twin)
    return None
