"""Which names a framework has, whether anybody follows them here or not.

A name that the framework does not have is an AttributeError, as in the framework; one that it has and that is not
followed is a cause of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence


class ExistingNames:
    """Names by namespace, written as words. Split when a namespace is first asked for."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self.words = words
        self.split: dict[str, frozenset[str]] = {}

    def among(self, dotted: str, private: bool = True) -> Callable[[str], bool] | None:
        """Whether a namespace has a name; None for a namespace whose names are not written down.

        Private names are nobody's promise, and may always be there; but for those that are not `private`.
        """
        if dotted not in self.words:
            return None
        return lambda name: (private and name.startswith("_")) or name in self.of(dotted)

    def listed(self, dotted: str) -> Callable[[], Sequence[str]] | None:
        """All names of a namespace in their order; None for one whose names are not written down."""
        return (lambda: self.words[dotted].split()) if dotted in self.words else None

    def of(self, dotted: str) -> frozenset[str]:
        """The names of a namespace that is written down."""
        found = self.split.get(dotted)
        if found is None:
            found = self.split[dotted] = frozenset(self.words[dotted].split())
        return found
