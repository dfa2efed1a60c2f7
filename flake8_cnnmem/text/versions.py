"""The order of versions: https://packaging.python.org/en/latest/specifications/version-specifiers/ (PEP 440)."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

Order: TypeAlias = "tuple[Any, ...]"

WRITTEN = re.compile(
    r"v?(?:(?P<epoch>[0-9]+)!)?(?P<release>[0-9]+(?:\.[0-9]+)*)"
    r"(?:[-_.]?(?P<early>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<early_number>[0-9]*))?"
    r"(?P<late>-(?P<late_alone>[0-9]+)|[-_.]?(?:post|rev|r)[-_.]?(?P<late_number>[0-9]*))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>[0-9]*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?",
    re.ASCII,
)
EARLY = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
LONGEST = 200
"""Characters of a text that is taken for a version."""
BEFORE, AFTER = (-1,), (1,)
"""What sorts below and above each (0, number)."""


def parsed(text: str) -> re.Match[str] | None:
    return WRITTEN.fullmatch(text.strip().lower()) if len(text) <= LONGEST else None


def released(found: re.Match[str]) -> tuple[int, ...]:
    return tuple(map(int, found["release"].split(".")))


def early_of(found: re.Match[str]) -> tuple[str, int] | None:
    """The stage before a release and its number: ("rc", 1) of `2.0rc1`; None for a release."""
    return (EARLY.get(found["early"], found["early"]), int(found["early_number"] or 0)) if found["early"] else None


def late_of(found: re.Match[str]) -> int | None:
    """The number of what came after a release: 1 of `2.0.post1`."""
    return int(found["late_alone"] or found["late_number"] or 0) if found["late"] else None


def dev_of(found: re.Match[str]) -> int | None:
    """The number of a development version: 3 of `2.0.dev3`."""
    return int(found["dev_number"] or 0) if found["dev"] else None


def order_of(text: str) -> Order | None:
    """What versions compare by; None for a text that is none."""
    found = parsed(text)
    if found is None:
        return None
    release = list(released(found))
    while release and release[-1] == 0:
        release.pop()
    stage, after, before = early_of(found), late_of(found), dev_of(found)
    early = AFTER if stage is None else (0, *stage)
    if stage is None and before is not None and after is None:
        early = BEFORE
    late = BEFORE if after is None else (0, after)
    dev = AFTER if before is None else (0, before)
    local = re.split("[-_.]", found["local"]) if found["local"] else None
    parts = ((0, int(part), "") if part.isdigit() else (-1, 0, part) for part in local or ())
    return int(found["epoch"] or 0), tuple(release), early, late, dev, (0, *parts) if local is not None else BEFORE


def loose_order(text: str) -> Order:
    """What `LooseVersion` compares by: its numbers and words."""
    parts = re.findall(r"[0-9]+|[a-z]+|[^0-9a-z.]+", text)
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)


class VersionText(str):
    """A version's text of a library that compares it as a version."""

    __slots__ = ()
