"""The one place that reads and parses files: text, syntax tree, libcst module, each when it is first asked for.

Nothing here runs, imports or compiles what it reads. `reading` gives the text, `parsing` the trees, and what a process
has parsed stands on the `shelf`.
"""

from __future__ import annotations

import ast
import itertools
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.settings.directives import Directives
from flake8_cnnmem.source.leading import leads_to_framework
from flake8_cnnmem.source.parsing import (
    LARGEST,
    SourceError,
    check_size,
    pairs,
    parse,
    parse_body,
    parse_cst,
)
from flake8_cnnmem.source.reading import decode, read, read_bytes, text_and_encoding
from flake8_cnnmem.source.shelf import PARSED, SHELF, TREE, Shelf, StatementSpan, Syntax
from flake8_cnnmem.supported import MARKERS
from flake8_cnnmem.text import notebook
from flake8_cnnmem.text.deferred_bodies import LONG, defer_bodies, first_line
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.text.notebook import Notebook

if TYPE_CHECKING:
    import libcst

    from flake8_cnnmem.source.parsing import Part

__all__ = [
    "LARGEST", "SHELF", "Shelf", "Source", "SourceError", "check_size", "decode", "load", "mentions_framework", "parse",
    "parse_body", "read", "read_source", "shared", "text_and_encoding",
]  # fmt: skip

DIRECTIVE = "cnnmem"


class Source:
    """One file: `path` as findings name it, `text`, and what is parsed from it on demand.

    `tree` may be handed in by who has it already (flake8).
    """

    def __init__(self, path: str, text: str, tree: ast.Module | None = None, notebook: Notebook | None = None) -> None:
        self.path = path
        self.text = text
        self.notebook = notebook
        self.compiled: dict[int, Any] = {}
        """By place: what the evaluator makes of a top-level statement. Nothing in it belongs to one evaluation."""
        self.syntax = Syntax(text, tree)
        self.own_tree: ast.Module | None = None
        """The syntax tree of a file that is run from top to bottom: nobody makes it let go of it."""
        self.before: Source | None = None
        """An earlier text of the file, of which most statements may still be the same."""

    def check(self) -> None:
        """Raises SourceError for what is no Python, too large or too deeply nested."""
        if not self.syntax.sound:
            self.tree  # noqa: B018  parsing it is the check

    @property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises SourceError as `check` does."""
        if self.own_tree is not None:
            return self.own_tree
        syntax = self.syntax
        if syntax.tree is None:
            try:
                syntax.tree = self.parse_any()
                if self.notebook is not None:
                    self.notebook.place(syntax.tree)
                syntax.grow(TREE * len(self.text))
            except SourceError as error:
                syntax.tree = error
        if isinstance(syntax.tree, SourceError):
            raise syntax.tree.again(self.path)
        syntax.sound = True
        return syntax.tree

    def parse_any(self) -> ast.Module:
        """The syntax tree of a text of any Python. Raises SourceError as `parse` does for the text as it is."""
        syntax = self.syntax
        try:
            return parse(self.text, self.path)
        except SourceError:
            if len(self.text) > LARGEST or self.notebook is not None:
                raise
            from flake8_cnnmem.text.python2 import modernised

            written = modernised(self.text)
            if written.text == self.text:
                raise
            try:
                tree = parse(written.text, self.path)
            except SourceError:
                tree = None
            if tree is None:
                raise
        syntax.python, syntax.floors = written
        return tree

    @property
    def python(self) -> str:
        """The text as today's Python writes it, once it has been parsed."""
        return self.syntax.python

    @property
    def floors(self) -> bool:
        """Whether dividing whole numbers gives a whole number in it."""
        return self.syntax.floors

    def release(self) -> None:
        """Let go of the syntax tree of an imported module. It takes most of the memory of an evaluation, and few of its
        statements are needed: those are parsed anew, each by itself."""
        syntax = self.syntax
        if isinstance(syntax.tree, ast.Module) and self.notebook is None:
            self.spans()
            syntax.tree = None
            syntax.grow(-TREE * len(self.text))

    def spans(self) -> list[StatementSpan]:
        """Where each top-level statement stands, decorators included. Raises SourceError as `check` does."""
        syntax = self.syntax
        if syntax.spans is None:
            starts = [0, *itertools.accumulate(len(line) + 1 for line in syntax.python.split("\n"))]
            lines = ((first_line(node), node.end_lineno or node.lineno) for node in self.tree.body)
            syntax.spans = [StatementSpan(first, last, starts[first - 1], starts[last] - 1) for first, last in lines]
        return syntax.spans

    @property
    def cst(self) -> libcst.Module:
        """The libcst module. Raises SourceError as `tree` does, and for what libcst cannot take."""
        syntax = self.syntax
        if syntax.whole is None:
            try:
                syntax.whole = parse_cst(syntax.python, self.tree, self.path)
                syntax.grow(PARSED * len(self.text))
            except SourceError as error:
                syntax.whole = error
        if isinstance(syntax.whole, SourceError):
            raise syntax.whole.again(self.path)
        return syntax.whole

    def parse_whole(self) -> None:
        """Parse all statements at once, for a file that is run from top to bottom. Raises SourceError as `cst` does."""
        self.own_tree = self.tree
        parts = self.syntax.parts
        if parts:
            # An import has asked for some of them before: the rest is parsed when its turn comes.
            return
        nodes = self.nodes_beside(self.before) if self.before is not None else None
        parts.update(enumerate(pairs(nodes or self.cst.body, self.own_tree.body)))
        if self.syntax.shelf is not None:
            self.syntax.shelf.parsed_whole(self.syntax)

    def nodes_beside(self, before: Source) -> list[Any] | None:
        """libcst's statements of this text, taken over where an earlier text of the file has them word for word: they
        do not know their lines. None where that is not to be had. Raises SourceError as `tree` does."""
        known = before.syntax.parts
        spans = self.spans()
        alone = all(span.last < after.first for span, after in itertools.pairwise(spans))
        if not alone or self.notebook is not None or len(known) != len(before.spans()):
            return None
        taken = {before.python[span.start : span.end]: known[at][0] for at, span in enumerate(before.spans())}
        nodes: list[Any] = []
        for at, span in enumerate(spans):
            text = self.python[span.start : span.end]
            node = taken.pop(text, None)
            if node is None:
                try:
                    nodes += parse_cst(f"{text}\n", ast.Module(self.tree.body[at : at + 1], []), self.path).body
                except SourceError:
                    # To be told of the whole text.
                    return None
                self.syntax.grow(PARSED * len(text))
            else:
                nodes.append(node)
        return nodes

    def statement(self, at: int) -> Part:
        """A top-level statement, as libcst has it and as `ast` has it.

        Of an imported module only what is needed is parsed: libcst takes ten times as long as `ast`.
        Raises SourceError as `cst` does.
        """
        parts = self.syntax.parts
        if at not in parts:
            # What stands on one line is one statement to libcst.
            spans = self.spans()
            first, last = at, at
            while first > 0 and spans[first - 1].last >= spans[first].first:
                first -= 1
            while last + 1 < len(spans) and spans[last + 1].first <= spans[last].last:
                last += 1
            parts.update(enumerate(self.parse_part(first, last), first))
        return parts[at]

    def parse_part(self, first: int, last: int) -> Iterator[Part]:
        """The top-level statements from one place to another."""
        spans = self.spans()
        text = self.syntax.python[spans[first].start : max(span.end for span in spans[first : last + 1])] + "\n"
        if self.notebook is not None:
            twins = self.tree.body[first : last + 1]
        else:
            # Empty lines before it give the statements the positions that they have in the file.
            twins = parse("\n" * (spans[first].first - 1) + text, self.path).body
            if len(text) > LONG:
                text = defer_bodies(text, spans[first].first, twins)
        nodes = parse_cst(text, ast.Module(body=twins, type_ignores=[]), self.path).body
        self.syntax.grow((PARSED + TREE) * len(text))
        return pairs(nodes, twins)

    @cached_property
    def directives(self) -> Directives:
        """The `# cnnmem:` comments. Raises SourceError as `tree` does, but only if there may be one."""
        if DIRECTIVE not in self.text.lower():
            return Directives()
        found = Directives.read(self.text, self.tree)
        if self.notebook is None:
            return found
        line = self.notebook.line
        return replace(found, problems=tuple(replace(each, line=line(each.line)) for each in found.problems))

    def may_hold_models(self, files: Files = DISK) -> bool:
        """Whether a file is worth evaluating: it imports something of a framework, or carries a directive, or is a
        program that imports modules of its project that lead to a framework.

        False for a file that cannot be parsed: flake8 has said so already.
        """
        try:
            if mentions_framework(self.text) and (imports_framework(self.tree) or self.directives):
                return True
            if "import" not in self.text:
                return False
            return leads_to_framework(self.path, self.text, self.tree, files, mentions_framework, imports_framework)
        except SourceError:
            return False


def mentions_framework(text: str) -> bool:
    """Whether the text has the name of a supported framework, or of ours, anywhere. Costs next to nothing."""
    return any(marker in text for marker in MARKERS) or DIRECTIVE in text


def imports_framework(tree: ast.Module) -> bool:
    """Whether anything is imported, at any depth, whose name leads to a framework."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(alias.name for alias in node.names)]
        else:
            continue
        if any(marker in name for name in names for marker in MARKERS):
            return True
    return False


def read_source(path: str, files: Files = DISK, searched: bool = False) -> Source:
    """The Source of a module or a notebook, read anew. Raises SourceError as `read` does."""
    if not path.endswith(notebook.ENDING):
        return shared(path, read(path, files), searched=searched)
    try:
        cells = notebook.read(read_bytes(path, notebook.LARGEST, files))
    except notebook.NotNotebook as error:
        raise SourceError(str(error), path) from None
    # Its syntax tree knows the cells: no other file has the same.
    return Source(path, cells.text, notebook=cells)


def load(path: str, files: Files = DISK, searched: bool = False) -> Source:
    """The Source of a file. A module that has not changed is read and parsed once a process. One that is merely
    `searched` takes no other's place on the shelf: a package has thousands of files, of which few are parsed."""
    if path.endswith(notebook.ENDING):
        return read_source(path, files)
    try:
        version = files.version(path)
    except (OSError, ValueError):
        return read_source(path, files)
    place = path if os.path.isabs(path) else f"{os.getcwd()}//{path}"
    key = (place, version)
    source = SHELF.loaded.get(key)
    in_use = SHELF.in_use
    if source is None and in_use is not None:
        source = in_use.get(key)
    if source is None:
        source = SHELF.loaded[key] = read_source(path, files, searched)
        source.syntax.keys.append(key)
        if source.syntax.shelf is None:
            # There was no place for it.
            del SHELF.loaded[key]
    elif not searched:
        SHELF.use(source.syntax)
    if in_use is not None and not searched:
        in_use[key] = source
    return source


def shared(path: str, text: str, tree: ast.Module | None = None, searched: bool = False) -> Source:
    """A Source that knows what has been parsed of the same text before, and lets others know what it parses."""
    source = Source(path, text, tree)
    source.syntax = SHELF.keep(source.syntax, searched)
    return source
