"""Which model of one side is which of the other: by file and name, and where that fails by what they are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from flake8_cnnmem.difference.revisions import Compared
from flake8_cnnmem.results import ModelReport

PLAINLY_ALIKE = 0.5
"""The share of layers that stayed from which on it is the same model under another name. Git takes half for files."""

MOST_COMPARED = 2500
"""Pairs of models in one file that are compared layer by layer; where so many have other names, nothing is plain."""

Match = tuple[ModelReport | None, ModelReport | None]


def matched(files: Iterable[Compared]) -> list[Match]:
    """Every model of these files with its counterpart, None where it came or went; in the order of the files."""
    found: list[Match] = []
    gone: list[ModelReport] = []
    come: list[ModelReport] = []
    for file in files:
        by_name, before, after = named_alike(file.before, file.after)
        by_kind, before, after = built_alike(before, after)
        found += [*by_name, *by_kind]
        gone += before
        come += after
    # A class that moved to another file has kept its name; one that is alike by chance has another.
    for report in tuple(gone):
        namesakes = [other for other in come if other.name == report.name and likeness(report, other) >= PLAINLY_ALIKE]
        if len(namesakes) == 1:
            found.append((report, namesakes[0]))
            gone = [other for other in gone if other is not report]
            come = [other for other in come if other is not namesakes[0]]
    found += [(report, None) for report in gone]
    found += [(None, report) for report in come]
    return sorted(found, key=place)


def place(match: Match) -> tuple[str, int, int]:
    report = match[1] or match[0]
    assert report is not None
    return report.path, report.line, report.column


def named_alike(
    before: Sequence[ModelReport], after: Sequence[ModelReport]
) -> tuple[list[Match], list[ModelReport], list[ModelReport]]:
    """The models of one file that kept their names, several of one name in their order; and those left over."""
    found: list[Match] = []
    left = list(after)
    gone = []
    for report in before:
        same = next((other for other in left if other.name == report.name), None)
        if same is None:
            gone.append(report)
        else:
            left = [other for other in left if other is not same]
            found.append((report, same))
    return found, gone, left


def built_alike(
    before: Sequence[ModelReport], after: Sequence[ModelReport]
) -> tuple[list[Match], list[ModelReport], list[ModelReport]]:
    """Pairs of which each is the other's best counterpart, and plainly alike; and those left over."""
    if len(before) * len(after) > MOST_COMPARED:
        return [], list(before), list(after)
    found: list[Match] = []
    gone, come = dict(enumerate(before)), dict(enumerate(after))
    scores = sorted(((likeness(old, new), i, j) for i, old in gone.items() for j, new in come.items()), reverse=True)
    for score, i, j in scores:
        if score >= PLAINLY_ALIKE and i in gone and j in come:
            found.append((gone.pop(i), come.pop(j)))
    return found, list(gone.values()), list(come.values())


def likeness(before: ModelReport, after: ModelReport) -> float:
    """The share of layers that are the same on both sides, by name, type and parameters."""
    old, new = ([(row.name, row.type, row.parameters) for row in report.rows] for report in (before, after))
    return SequenceMatcher(None, old, new, autojunk=False).ratio() if old and new else 0.0
