"""The texts that are tried: of each only the statements are parsed and compiled anew that its edit touches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

from flake8_cnnmem.source import Source, SourceError, parse
from flake8_cnnmem.source.parsing import pairs, parse_cst
from flake8_cnnmem.source.shelf import Syntax
from flake8_cnnmem.text.edits import Edit, applied


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
        touched = self.statements_touched(edits) if text.count("\n") == self.source.text.count("\n") else None
        try:
            edited = self.whole(text) if touched is None else self.in_part(text, touched)
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

    def statements_touched(self, edits: tuple[Edit, ...]) -> set[int] | None:
        """The places of the top-level statements that edits stand in; None where the text has to be parsed whole."""
        source = self.source
        spans = source.spans()
        alone = all(one.last < other.first for one, other in pairwise(spans))
        if source.notebook is not None or source.python != source.text or not alone:
            return None
        if len(source.syntax.parts) != len(spans):
            return None
        lines = {line for edit in edits for line in range(edit.line, edit.end_line + 1)}
        return {at for at, span in enumerate(spans) if any(span.first <= line <= span.last for line in lines)}

    def in_part(self, text: str, touched: set[int]) -> Source:
        """A text of which a few statements differ from the file's. Raises SourceError for what is no Python."""
        source = self.source
        body, parts = list(source.tree.body), dict(source.syntax.parts)
        lines = text.split("\n")
        for at in touched:
            span = source.spans()[at]
            own = "\n".join(lines[span.first - 1 : span.last]) + "\n"
            # Empty lines before it give the statement the position that it has in the file.
            twins = parse("\n" * (span.first - 1) + own, source.path).body
            found = list(pairs(parse_cst(own, ast.Module(twins, []), source.path).body, twins))
            if len(found) != 1:
                return self.whole(text)
            [parts[at]], [body[at]] = found, twins
        edited = Source(source.path, text)
        edited.syntax = Syntax(text, ast.Module(body, []))
        edited.syntax.sound, edited.syntax.parts = True, parts
        edited.compiled = {at: code for at, code in self.plain.compiled.items() if at not in touched}
        return edited
