"""What an edit can reach: the top-level statements that it changes, and the models whose code mentions them.

This decides what is shown at once. It goes by names, and who does things behind them (a registry, a monkey patch) is
not seen: what is shown then is looked at again as a whole when there is a pause.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Sequence

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.source import Source

WORD = re.compile(r"[^\W\d]\w*")
REMARKS = re.compile(r".*(?:cnnmem|noqa).*")
"""Lines whose comments may say something to us."""


@dataclass(frozen=True, slots=True)
class Edited:
    """The statements of two sound texts, as far as they differ, and all of the newer one."""

    before: Sequence[str]
    after: Sequence[str]
    statements: Sequence[str]

    def bound(self) -> frozenset[str] | None:
        """The names that the changed statements bind; None where they may do anything else, or only remarks between
        statements differ."""
        if not self.before and not self.after:
            return None
        names: set[str] = set()
        for text in (*self.before, *self.after):
            for node in ast.parse(text).body:
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    names.add(node.name)
                elif isinstance(node, ast.Assign) and all(isinstance(each, ast.Name) for each in node.targets):
                    names.update(each.id for each in node.targets if isinstance(each, ast.Name))
                else:
                    return None
        return frozenset(names)

    def reaches(self, targets: Iterable[str]) -> list[str]:
        """Those of the models, by what `report` takes behind a path, whose code mentions what has changed."""
        bound = self.bound()
        if bound is None:
            return list(targets)
        users = [(names_bound(text), names_in(text)) for text in self.statements]
        return [target for target in targets if bound & mentioned(names_in(target), users)]


def edited(before: Source, after: Source) -> Edited | None:
    """What differs between two texts; None where nothing does but layout and comments that say nothing to us.

    Raises SourceError where one of them is not sound.
    """
    old, new = statements(before), statements(after)
    most = min(len(old), len(new))
    first = next((at for at in range(most) if old[at] != new[at]), most)
    rest = most - first
    last = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    found = Edited(old[first : len(old) - last], new[first : len(new) - last], new)
    same = dumped(found.before) == dumped(found.after) and said(before.text) == said(after.text)
    return None if same else found


def statements(source: Source) -> list[str]:
    """The texts of the top-level statements. Raises SourceError."""
    return [source.python[span.start : span.end] for span in source.spans()]


def dumped(texts: Iterable[str]) -> list[str]:
    """The statements without their places."""
    return [ast.dump(ast.parse(text)) for text in texts]


def said(text: str) -> tuple[list[str], int]:
    """The remarks of a text and, as they are meant for lines, how long the text is."""
    found = REMARKS.findall(text)
    return found, text.count("\n") if found else 0


def names_bound(text: str) -> frozenset[str]:
    """The names that a statement may bind or write into: of a definition its own, of an import all, else those in front
    of its first `=`, `(` or `:`."""
    if text.startswith(("from ", "import ")):
        return names_in(text)
    undecorated = re.sub(r"\A(?:@.*\n)+", "", text)
    return names_in(re.split(r"[=(:]", undecorated, maxsplit=1)[0])


def names_in(text: str) -> frozenset[str]:
    """All words of a text that can be names: those of strings and comments as well."""
    return frozenset(WORD.findall(text)).difference(keyword.kwlist)


def mentioned(names: frozenset[str], users: Iterable[tuple[frozenset[str], frozenset[str]]]) -> frozenset[str]:
    """These names, and all that the statements that bind them mention, and so on."""
    left = list(users)
    while True:
        reached = [words for bound, words in left if bound & names]
        left = [(bound, words) for bound, words in left if not bound & names]
        if not reached:
            return names
        names = names.union(*reached)
