"""A file that is to be changed: its own text, and the module that is analysed. They differ for a notebook, whose module
is made of its code cells: an edit of the module is carried into the cell that it stands in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.source import Source, decode
from flake8_cnnmem.text import notebook
from flake8_cnnmem.text.cell_sources import literals_of, rewritten, substituted
from flake8_cnnmem.text.edits import LINE, Edit, applied
from flake8_cnnmem.text.files import Files
from flake8_cnnmem.text.notebook import Notebook, NotNotebook

Span = tuple[tuple[int, int], tuple[int, int], str]
"""What takes the place of a cell's characters, from one line and column of the cell up to another."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file's text (`raw`), and the cells of a notebook."""

    path: str
    raw: str
    cells: Notebook | None = None

    @property
    def text(self) -> str:
        """The module's text, of which edits give lines and columns."""
        return self.raw if self.cells is None else self.cells.text

    @property
    def source(self) -> Source:
        return Source(self.path, self.text, notebook=self.cells)

    def edited(self, edits: Iterable[Edit]) -> Document | None:
        """The document after the edits, which must not overlap; None where a notebook cannot take one: what is a magic
        in its cell, stands over two cells, or has other line ends than `\n`."""
        edits = sorted(set(edits))
        if self.cells is None:
            return Document(self.path, applied(self.raw, edits))
        spans: dict[int, list[Span]] = defaultdict(list)
        for edit in edits:
            if not edit.end_line <= len(self.cells.lines):
                return None
            first, last = self.cells.lines[edit.line - 1], self.cells.lines[edit.end_line - 1]
            if first.cell != last.cell:
                return None
            spans[first.cell].append(((first.inner, edit.column), (last.inner, edit.end_column), edit.text))
        changes = []
        for cell, literals in literals_of(self.raw, spans).items():
            values = [each.value for each in literals]
            starts = [0, *accumulate(len(line) for line in LINE.findall("".join(values)))]
            if any("\r" in value for value in values):
                return None
            for (line, column), (end_line, end_column), text in reversed(spans[cell]):
                start, end = starts[line - 1] + column - 1, starts[end_line - 1] + end_column - 1
                values = substituted(values, start, end, text)
            changes += [(old, new) for old, new in zip(literals, values, strict=True) if old.value != new]
        made = notebook_document(self.path, rewritten(self.raw, changes))
        return made if made is not None and made.text == applied(self.text, edits) else None


def document_of(source: Source, files: Files) -> Document:
    """The document of a module or a notebook that has been read from these files. Raises OSError."""
    if source.notebook is None:
        return Document(source.path, source.text)
    raw = decode(files.content(source.path, notebook.LARGEST))
    return Document(source.path, raw, source.notebook)


def document_with(path: str, raw: str) -> Document | None:
    """The document of a file's text; None for a notebook's name and a text that is none."""
    return notebook_document(path, raw) if path.endswith(notebook.ENDING) else Document(path, raw)


def notebook_document(path: str, raw: str) -> Document | None:
    try:
        return Document(path, raw, notebook.read(raw.encode("utf-8", "surrogatepass")))
    except NotNotebook:
        return None
