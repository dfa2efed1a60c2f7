"""Hints of a text that was sound, for the half-typed one that an editor has now: where the text is the same."""

from __future__ import annotations

from dataclasses import replace

from flake8_cnnmem.finding import Finding
from flake8_cnnmem.hints.model import FileHints, Span


class Carrying:
    """From the lines of one text to those of another, which was edited in one stretch. Lines inside of it are none of
    the other's."""

    def __init__(self, before: str, after: str) -> None:
        old, new = before.split("\n"), after.split("\n")
        most = min(len(old), len(new))
        self.first = next((at for at in range(most) if old[at] != new[at]), most)
        """Lines at the beginning that are the same."""
        most -= self.first
        same = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
        self.last = len(old) - same
        """The last line of the stretch, counted from 1."""
        self.by = len(new) - len(old)

    def line(self, line: int) -> int | None:
        """Where a line stands now; None where it was edited."""
        if line <= self.first:
            return line
        return line + self.by if line > self.last else None

    @property
    def edited(self) -> int:
        """The line of the first text at which the two part."""
        return self.first + 1

    def span(self, span: Span) -> Span | None:
        first, last = self.line(span.line), self.line(span.end_line)
        if first is None or last is None or last - first != span.end_line - span.line:
            return None
        return Span(first, span.column, last, span.end_column)

    def hints(self, hints: FileHints) -> FileHints:
        return FileHints(
            hints.path,
            tuple(replace(each, span=to) for each in hints.hints if (to := self.span(each.span)) is not None),
            tuple(replace(each, span=to) for each in hints.told if (to := self.span(each.span)) is not None),
            tuple(replace(each, line=at) for each in hints.lenses if (at := self.line(each.line)) is not None),
        )

    def findings(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        return tuple(replace(each, line=to) for each in findings if (to := self.line(each.line)) is not None)
