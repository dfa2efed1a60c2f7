"""Whole programs that are right, and the lines whose change makes them wrong: fixtures/bugs/programs.

`NAME.py` is the program. `NAME.bugs` has for each bug its name, the line and what is written there instead, and the
finding: at that line, or elsewhere, where it is found and the line that is told is another one.

    == no_factor
    line 65
    -         self.down4 = Down(128, 256 // factor)
    +         self.down4 = Down(128, 256)
    found CNM201 elsewhere
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BUG = re.compile(r"== (\w+)\nline (\d+)\n- (.*)\n\+ (.*)\n((?:found .*\n)+)")

FOUND = re.compile(r"found (CNM\d+)( elsewhere)?\n")


@dataclass(frozen=True)
class Bug:
    """One changed line of a program."""

    name: str
    """Of the program and the bug: "unet_segmentation:no_factor"."""
    text: str
    """The program with the changed line."""
    line: int
    codes: frozenset[str]
    """Of the findings."""
    placed: bool
    """Whether all of them stand at the changed line."""


def bugs_of(path: Path) -> Iterator[Bug]:
    """The bugs of the program at `path`."""
    lines = path.read_text().split("\n")
    text = path.with_suffix(".bugs").read_text()
    blocks = list(BUG.finditer(text))
    assert "".join(block[0] for block in blocks) == text
    for block in blocks:
        name, number, right, wrong, found = block.groups()
        assert lines[int(number) - 1] == right
        changed = "\n".join([*lines[: int(number) - 1], wrong, *lines[int(number) :]])
        said = FOUND.findall(found)
        codes, placed = frozenset(code for code, _ in said), not any(elsewhere for _, elsewhere in said)
        yield Bug(f"{path.stem}:{name}", changed, int(number), codes, placed)
