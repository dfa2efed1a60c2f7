"""The data that hints are, for who shows them."""

from __future__ import annotations

from typing import NamedTuple

from flake8_cnnmem.lazy_dataclass import dataclass


class Span(NamedTuple):
    """A stretch of a file. Lines are counted from 1, columns in letters from 0; the end is behind its last letter."""

    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, other: Span) -> bool:
        """Whether the other one lies within this one, or is the same."""
        begins = (self.line, self.column) <= (other.line, other.column)
        return begins and (other.end_line, other.end_column) <= (self.end_line, self.end_column)

    def has(self, line: int, column: int) -> bool:
        """Whether a place lies within it, or at its end."""
        return (self.line, self.column) <= (line, column) <= (self.end_line, self.end_column)


@dataclass(frozen=True, slots=True)
class Hint:
    """What stands behind an expression: `(N, 64, 112, 112)  keeps 98 MiB`, `9,408 parameters`."""

    span: Span
    shape: str
    """Empty for what gives no tensor."""
    parameters: str
    kept: int | None
    """Bytes for the backward pass of what is shown here and at none of the hints inside of it; None where they are not
    known."""
    text: str
    detail: str
    """The same in whole sentences."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is to be said of an expression to who asks for it."""

    span: Span
    value: str
    """ "(N, 400) float32", "16", "not known: ..."; empty for a layer."""
    lines: tuple[str, ...]
    """Sentences: the layer's row, what is kept, its share of the peak, where it is called."""
    target: str = ""
    """The model that says so, as `report` takes it behind the path."""


@dataclass(frozen=True, slots=True)
class Lens:
    """What stands above a line: a model's or training's figures."""

    line: int
    text: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class FileHints:
    """All that stands beside the text of the file at `path`."""

    path: str
    hints: tuple[Hint, ...] = ()
    """In the order of their ends; of two with one end the inner one first."""
    told: tuple[Told, ...] = ()
    lenses: tuple[Lens, ...] = ()

    def over(self, older: FileHints) -> FileHints:
        """These hints, and those of the same text where these say nothing: they are of one of its models alone."""
        spans = {each.span for each in self.told}
        models = {each.model for each in self.lenses}
        hints = [*self.hints, *(each for each in older.hints if each.span not in spans)]
        return FileHints(
            self.path,
            tuple(sorted(hints, key=lambda each: (*each.span[2:], -each.span.line, -each.span.column))),
            (*self.told, *(each for each in older.told if each.span not in spans)),
            (*self.lenses, *(each for each in older.lenses if each.model not in models)),
        )

    def at(self, line: int, column: int) -> Told | None:
        """What is said of the innermost expression at a place; None where there is nothing to say."""
        found = [each for each in self.told if each.span.has(line, column)]
        return min(found, key=lambda each: length(each.span), default=None)


def length(span: Span) -> tuple[int, int]:
    """By which of two spans that hold a place the inner one is known."""
    lines = span.end_line - span.line
    return lines, span.end_column - span.column if lines == 0 else 0
