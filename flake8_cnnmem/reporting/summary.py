"""The summary of many models: one row each, the one over its limit first, then by size.

What is known of a model is put into a `SummaryRow`, which can be handed from process to process; the table is made of
those.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from typing import Any

from flake8_cnnmem import units
from flake8_cnnmem.finding import in_short, one_line
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.reporting.columns import in_columns
from flake8_cnnmem.reporting.ink import PLAIN, Ink
from flake8_cnnmem.reporting.phrases import ENDLESS, NOT_STATED, facts, placed, status
from flake8_cnnmem.results import ModelReport

HEADERS = ("name", "where", "needs", "limit", "largest batch", "state", "batch", "input")

NARROWER: Sequence[tuple[bool, int, tuple[str, ...]]] = (
    (True, 60, ()),
    (False, 60, ()),
    (False, 40, ()),
    (False, 28, ()),
    (False, 28, ("input",)),
    (False, 28, ("input", "batch")),
    (False, 16, ("input", "batch", "limit")),
    (False, 16, ("input", "batch", "limit", "largest batch")),
)
"""What is left out where a terminal has no room: whether sources are told, the letters of a name, columns."""

CAUSES_SHOWN = 5
CAUSE_LENGTH = 160


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One model or training. Sizes are bytes; None for what is not known, or not set."""

    name: str
    path: str
    line: int
    training: bool
    """Whether the program trains it."""
    which: str
    """Of several trainings in a file which it is: "2 of 3"; else empty."""
    needs: int | None
    limit: int | None
    fits: bool | None
    largest: int | None
    bound: str
    """ "at least ", "at most ": what stands before its figure where that is no exact one."""
    bound_of_batch: str
    state: str
    batch: tuple[str, str]
    """The batch size, and where that is known from."""
    input: tuple[str, str]
    wrong: bool
    """Whether it cannot run with its sizes."""
    cause: str
    """The first thing that is not known of it, with its line; empty for an exact one."""
    defined_at: tuple[str, int, int]
    made_of: frozenset[tuple[str, int]]
    part_of: str = ""
    """What it is a part of: "ResNet, train.py:46"."""

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"

    def as_plain(self) -> list[Any]:
        """The row as JSON can hold it."""
        *others, made_of, part_of = astuple(self)
        return [*others, sorted(made_of), part_of]

    @classmethod
    def of_plain(cls, values: Sequence[Any]) -> SummaryRow:
        others: list[Any] = [tuple(each) if isinstance(each, list) else each for each in values[:-2]]
        made_of, part_of = values[-2:]
        others += [frozenset(map(tuple, made_of)), part_of]
        return cls(*others)

    @property
    def over(self) -> bool:
        return self.fits is False or self.wrong


def line_of(report: ModelReport) -> SummaryRow:
    """A model's row."""
    estimate = report.estimate
    said = {fact.name: (fact.value, fact.source) for fact in facts(report)}
    index, count = report.place or (1, 1)
    found, largest = report.evaluation, report.largest_batch_size
    if found is not None:
        # What needs most is told, with the batch of that.
        largest = found.largest_batch_size
        said["batch"] = f"{found.batch_size} to evaluate", placed(report, found.path, found.line)
    return SummaryRow(
        report.name,
        report.path,
        report.line,
        report.kind == "training",
        f"{index} of {count}" if count > 1 else "",
        None if estimate is None else estimate.total,
        report.limit,
        report.fits,
        largest if largest is not None and largest < ENDLESS else None,
        report.bound,
        report.bound_of_batch,
        status(report),
        said["batch"],
        said.get("input", (NOT_STATED, "")),
        bool(report.problems),
        report.causes[0].at(report.path) if report.causes else "",
        report.defined_at,
        report.made_of,
    )


def with_parts(lines: Sequence[SummaryRow]) -> list[SummaryRow]:
    """The rows, in the order in which they are shown. A model that a training uses is a part of that; one of which too
    little is known by itself, a part of whatever uses it."""
    return [line for _, line in with_places(lines)]


def with_places(lines: Sequence[SummaryRow]) -> list[tuple[int, SummaryRow]]:
    """The same, with the place that each had."""
    ordered = sorted(enumerate(lines), key=lambda each: rank(each[1]))
    made_at: dict[tuple[str, int], list[SummaryRow]] = {}
    for _, line in ordered:
        for place in line.made_of:
            made_at.setdefault(place, []).append(line)
    found = [(number, replace(line, part_of=user_of(line, made_at))) for number, line in ordered]
    return sorted(found, key=lambda each: bool(each[1].part_of))


def user_of(line: SummaryRow, made_at: dict[tuple[str, int], list[SummaryRow]]) -> str:
    """What uses a model: a training before anything else, then what needs most."""
    path, first, last = line.defined_at
    if line.training or not path:
        return ""
    own = (os.path.abspath(line.path), int(line.line))
    users = [
        user
        for at in range(first, last + 1)
        for user in made_at.get((path, at), ())
        if (os.path.abspath(user.path), int(user.line)) != own
        and (user.training or (line.state != "exact" and first == last))
    ]
    if not users:
        return ""
    user = min(users, key=lambda each: (not each.training, rank(each)))
    return f"{user.name}, {user.where}"


def rank(line: SummaryRow) -> tuple[bool, bool, int, str, int, str]:
    """What needs attention first: over the limit, then by size, then what is not estimated."""
    return not line.over, line.needs is None, -(line.needs or 0), line.path, int(line.line), line.which


def render(lines: Sequence[SummaryRow], ink: Ink = PLAIN, ask: str = "") -> str:
    """The table, why some are not estimated or not exact, and what is only a part. `ask` is how to see the rest."""
    shown = with_parts(lines)
    whole = [line for line in shown if not line.part_of]
    blocks = [table(whole, ink)]
    caused = [line for line in whole if line.cause]
    blocks += because("not estimated, because", [line for line in caused if line.needs is None], ink)
    blocks += because("not exact, because", [line for line in caused if line.needs is not None and line.bound], ink)
    parts = [line for line in shown if line.part_of]
    if parts:
        told = [f"  {line.name}  {line.where}: part of {line.part_of}" for line in parts]
        blocks.append("\n".join([ink("no models of their own", "bold"), *map(one_line, told)]))
    blocks.append("\n".join(filter(None, [one_line(counted(whole)), ask])))
    return "\n\n".join(blocks)


def because(title: str, lines: Sequence[SummaryRow], ink: Ink) -> list[str]:
    """The first cause of each of the first rows, below a title; nothing of no rows."""
    if not lines:
        return []
    told = [f"  {line.name}  {line.where}: {in_short(line.cause, CAUSE_LENGTH)}" for line in lines[:CAUSES_SHOWN]]
    if len(lines) > CAUSES_SHOWN:
        told.append(f"  and {len(lines) - CAUSES_SHOWN} more")
    return ["\n".join([ink(title, "bold"), *map(one_line, told)])]


def table(shown: Sequence[SummaryRow], ink: Ink = PLAIN) -> str:
    """The rows, without what a terminal has no room for."""
    limited = any(line.limit is not None for line in shown)
    for sourced, most, dropped in NARROWER:
        left_out = dropped if limited else (*dropped, "limit", "largest batch")
        columns = [number for number, head in enumerate(HEADERS) if head not in left_out]
        rows = [cells(line, sourced, most) for line in shown]
        plain = tabulated([[row[number] for number in columns] for row in rows], columns)
        if ink.columns is None or max(map(len, plain.splitlines())) <= ink.columns:
            break
    if not ink.colours:
        return plain
    return "\n".join(
        [
            ink(text, "bold") if number == 0 else ink(text, "soft") if number == 1 else ink(text, style)
            for number, (text, style) in enumerate(
                zip(plain.splitlines(), ("", "", *map(style_of, shown)), strict=True)
            )
        ]
    )


def style_of(line: SummaryRow) -> str:
    if line.over:
        return "over"
    if line.needs is None:
        return "soft"
    return "bound" if line.state != "exact" else "fits" if line.fits else "plain"


def cells(line: SummaryRow, sourced: bool, most: int) -> list[str]:
    """A row's texts, with or without where batch and input are known from."""
    name = f"{line.name} ({line.which})" if line.which else line.name
    return [
        clipped(one_line(name), most),
        clipped(one_line(line.where), most),
        needs(line),
        "" if line.limit is None else units.show(line.limit),
        largest(line),
        state(line),
        fact(line.batch, sourced),
        fact(line.input, sourced),
    ]


def needs(line: SummaryRow) -> str:
    if line.needs is None:
        return ""
    size = units.show(line.needs) if line.limit is None else units.show_apart(line.needs, line.limit)[0]
    return f"{line.bound}{size}"


def largest(line: SummaryRow) -> str:
    """The largest batch that fits; of a lower bound within its limit that is anybody's guess."""
    if line.largest is None or (line.fits is None and line.bound):
        return ""
    return f"{line.bound_of_batch}{line.largest}" if line.largest > 0 else "none"


def state(line: SummaryRow) -> str:
    """`over its limit`, `fits`, `exact`, `a lower bound`, `not estimated`: how it stands, in a word or three."""
    if line.wrong or line.needs is None:
        return line.state
    if line.fits is False:
        return "over its limit"
    word = line.state if line.fits is None else "fits"
    return word if line.fits is None or line.state == "exact" else f"{word}, {line.state}"


def fact(said: tuple[str, str], sourced: bool) -> str:
    value, source = said
    return one_line(f"{value} ({source})" if sourced and source else value)


def clipped(text: str, most: int) -> str:
    """The end of a place or name that is too long: it is what tells it from others."""
    return text if len(text) <= most else f"…{text[-(most - 1) :]}"


def tabulated(rows: Iterable[Sequence[str]], columns: Sequence[int]) -> str:
    right = {"needs", "limit", "largest batch"}
    heads = [HEADERS[number] for number in columns]
    align = "".join("r" if head in right else "l" for head in heads)
    text = in_columns(list(rows), align, heads)
    return "\n".join(line.rstrip() for line in text.splitlines())


def counted(whole: Sequence[SummaryRow]) -> str:
    """`3 trainings and 12 models in 5 files: 1 over its limit, 2 not estimated`."""
    trained = sum(line.training for line in whole)
    kinds = [
        f"{number:,} {word}{'' if number == 1 else 's'}"
        for number, word in ((trained, "training"), (len(whole) - trained, "model"))
        if number
    ]
    files = len({line.path for line in whole})
    groups = (
        (sum(line.fits is False for line in whole), "over the limit"),
        (sum(line.wrong for line in whole), "with sizes that do not fit together"),
        (sum(line.needs is not None and not line.over and line.state != "exact" for line in whole), "not exact"),
        (sum(line.needs is None and not line.wrong for line in whole), "not estimated"),
    )
    told = ", ".join(f"{number:,} {word}" for number, word in groups if number)
    return f"{' and '.join(kinds)} in {files:,} file{'' if files == 1 else 's'}{': ' if told else ''}{told}"
