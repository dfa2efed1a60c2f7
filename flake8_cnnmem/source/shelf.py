"""The shelf of parsed texts: what this process has read and parsed, for whoever asks for it again."""

from __future__ import annotations

import ast
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from flake8_cnnmem.source.parsing import SourceError

if TYPE_CHECKING:
    import libcst

    from flake8_cnnmem.source import Source
    from flake8_cnnmem.source.parsing import Part

HELD = 24 * 2**20
"""Bytes of memory for what has been parsed and may be asked for again, by the next file or the next import. With a
third more, nine files of timm's parse as much, and torchvision's models 4 % less; with a third less, torchvision's
parse 7 % more."""

HELD_WHOLE = 5 * 2**20
"""The part of it for files that were parsed whole, to be analysed themselves: hardly one is asked for again, and then a
few of its statements by an import."""

ENTRY, TREE, PARSED = 2000, 30, 80
"""Bytes of memory for a file, for each character of it in a syntax tree, and for each that libcst has parsed, with what
is compiled from it. Measured over torchvision's models."""

T = TypeVar("T")

Key = tuple[str, Hashable]
"""A file: its path as it was asked for (with the folder it starts from), and its version."""


class StatementSpan(NamedTuple):
    """A top-level statement: its first and last line, and where the text of these lines begins and ends."""

    first: int
    last: int
    start: int
    end: int


class Syntax:
    """What one text is parsed to, on demand. Shared by all files with that text, and by all evaluations."""

    __slots__ = (
        "floors", "keys", "mentioned", "noted", "outline", "parts", "python", "shelf", "sound", "spans", "text", "tree",
        "weight", "whole",
    )  # fmt: skip

    def __init__(self, text: str, tree: ast.Module | None) -> None:
        self.text = text
        self.python = text
        """The text as today's Python writes it."""
        self.floors = False
        """Whether dividing whole numbers gives a whole number, as in Python 2."""
        self.tree: ast.Module | SourceError | None = tree
        self.whole: libcst.Module | SourceError | None = None
        self.sound = False
        """Whether the text has been parsed and is Python."""
        self.spans: list[StatementSpan] | None = None
        self.parts: dict[int, Part] = {}
        """libcst's form of each top-level statement and its twin, by its place: those that have been parsed."""
        self.outline: Any = None
        """What the evaluator has noted of the statements: which names each concerns."""
        self.mentioned: dict[object, list[int]] | None = None
        """By a name or a string: the statements that mention it, once a registry was looked through for it."""
        self.noted: dict[Hashable, Any] = {}
        """What else was worked out of the text alone, by who did."""
        self.keys: list[tuple[str, Hashable]] = []
        """The files on the shelf that have this text."""
        self.shelf: Shelf | None = None
        """Where it stands, to be found again."""
        self.weight = ENTRY + sys.getsizeof(text) + (0 if tree is None else TREE * len(text))
        """Bytes of memory that it takes, by and large."""

    def grow(self, size: int) -> None:
        self.weight += size
        if self.shelf is not None:
            self.shelf.weight += size


class Shelf:
    """What has been read and parsed in this process, for the next file or import that asks for it: the least used
    goes first when it takes more memory than HELD. An evaluation that is running keeps what it needs itself."""

    def __init__(self) -> None:
        self.loaded: dict[Key, Source] = {}
        self.syntaxes: OrderedDict[str, Syntax] = OrderedDict()
        """By text."""
        self.whole: OrderedDict[str, Syntax] = OrderedDict()
        """Those of them that were parsed whole and that nobody has asked for since, the oldest first."""
        self.weight = 0
        self.in_use: dict[Key, Source] | None = None
        """What the analysis that is under way has loaded."""

    @contextmanager
    def kept_in_use(self) -> Iterator[None]:
        """For one analysis: what it loads is found again by its further evaluations, which go through the same modules,
        also where it takes more memory than HELD. The first evaluation holds it anyway."""
        before, self.in_use = self.in_use, {}
        try:
            yield
        finally:
            self.in_use = before

    def keep(self, syntax: Syntax, searched: bool = False) -> Syntax:
        """What is known of a text from now on. One that is merely searched goes first."""
        known = self.syntaxes.get(syntax.text)
        if known is None:
            self.syntaxes[syntax.text] = known = syntax
            syntax.shelf = self
            self.weight += syntax.weight
        elif known.tree is None and syntax.tree is not None:
            known.tree = syntax.tree
            known.grow(TREE * len(known.text))
        self.use(known, last=not searched or known is not syntax)
        return known

    def use(self, syntax: Syntax, last: bool = True) -> None:
        self.whole.pop(syntax.text, None)
        if syntax.shelf is not None:
            self.syntaxes.move_to_end(syntax.text, last)
        while self.weight > HELD and len(self.syntaxes) > 1:
            self.remove(next(iter(self.syntaxes.values())))

    def parsed_whole(self, syntax: Syntax) -> None:
        """A file was parsed from top to bottom, and its evaluation keeps what it needs: the files before it go where
        such ones take more memory than HELD_WHOLE."""
        if syntax.shelf is self:
            self.whole[syntax.text] = syntax
        while len(self.whole) > 1 and sum(each.weight for each in self.whole.values()) > HELD_WHOLE:
            self.remove(next(iter(self.whole.values())))

    def noted_of(self, text: str, what: Hashable, work: Callable[[], T]) -> T:
        """What is worked out of a text alone, once for as long as the text stands here: a module is imported by one
        file after the other."""
        syntax = self.syntaxes.get(text)
        if syntax is None:
            return work()
        if what not in syntax.noted:
            syntax.noted[what] = work()
        found: T = syntax.noted[what]
        return found

    def remove(self, syntax: Syntax) -> None:
        """Take a text from the shelf."""
        del self.syntaxes[syntax.text]
        self.whole.pop(syntax.text, None)
        self.weight -= syntax.weight
        syntax.shelf = None
        for key in syntax.keys:
            self.loaded.pop(key, None)


SHELF = Shelf()
