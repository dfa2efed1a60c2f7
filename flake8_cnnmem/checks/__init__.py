"""The checks: one file a code, found by looking into this folder.

A check's module has `CODE`, `DEFAULT` (whether it is on unless the user says otherwise), `LEVEL` (how grave it is, for
tools that tell "error", "warning" and "note" apart), a docstring that is the user's manual page, and one or both of

    check(report: ModelReport, settings: Settings) -> Iterator[Finding]
    check_file(report: FileReport, settings: Settings) -> Iterator[Finding]
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from flake8_cnnmem.finding import Finding, one_line
from flake8_cnnmem.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from flake8_cnnmem.results import FileReport, ModelReport
    from flake8_cnnmem.settings.options import Settings


@dataclass(frozen=True, slots=True)
class Check:
    """One code. `level` is "error", "warning" or "note"; `page` is its manual page."""

    code: str
    default: bool
    level: str
    page: str
    for_model: Callable[[ModelReport, Settings], Iterator[Finding]] | None
    for_file: Callable[[FileReport, Settings], Iterator[Finding]] | None


@cache
def every() -> tuple[Check, ...]:
    """All checks by code."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    found = [
        Check(
            module.CODE,
            module.DEFAULT,
            module.LEVEL,
            module.__doc__ or "",
            getattr(module, "check", None),
            getattr(module, "check_file", None),
        )
        for module in modules
    ]
    return tuple(sorted(found, key=lambda check: check.code))


def run(report: FileReport, settings: Settings, codes: Collection[str] | None = None) -> list[Finding]:
    """The findings of a file, sorted by place, each once. `codes` are those to look for; None for all."""
    found: set[Finding] = set()
    for check in every():
        if codes is not None and check.code not in codes:
            continue
        if check.for_file is not None:
            found.update(check.for_file(report, settings))
        if check.for_model is not None:
            for model in report.reports:
                found.update(check.for_model(model, settings))
    return sorted(replace(finding, message=one_line(finding.message)) for finding in found)


MANY_ALIKE = 4
"""So many findings of one code at one place are told as one: a block's layer is wrong wherever the block is used."""


def grouped(found: Sequence[Finding]) -> list[Finding]:
    """The findings for people: of many at one place the first, with how many more there are."""
    places: dict[tuple[object, ...], list[Finding]] = {}
    for finding in found:
        places.setdefault((finding.path, finding.line, finding.column, finding.code), []).append(finding)
    told: list[Finding] = []
    for first, *others in places.values():
        if len(others) + 1 < MANY_ALIKE:
            told += [first, *others]
        else:
            told.append(replace(first, message=f"{first.message}; {len(others)} more like it at this place"))
    return told
