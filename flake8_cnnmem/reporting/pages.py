"""`cnnmem explain`: a check's manual page. The page is the check's own docstring, in Markdown."""

from __future__ import annotations

import difflib

from flake8_cnnmem import checks
from flake8_cnnmem.checks import Check

PARTS = ("What it means", "Example", "How to mend it", "How to silence it")
"""The headings that every page has, in this order."""


class NoSuchCode(Exception):
    """No check has this code; the message names those that there are."""


def page(code: str) -> str:
    """The page of a code, in whatever case it is written. Raises NoSuchCode."""
    check = named(code)
    state = "on" if check.default else "off unless selected"
    return f"# {check.code}: {title(check)}\n\nDefault: {state}.\n\n{body(check)}"


def named(code: str) -> Check:
    """The check that has this code. Raises NoSuchCode."""
    known = {check.code: check for check in checks.every()}
    word = code.strip().upper()
    if word in known:
        return known[word]
    near = difflib.get_close_matches(word, known, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise NoSuchCode(f"{code.strip()!r} is no code of a check: use {', '.join(known)}{meant}")


def title(check: Check) -> str:
    """What the check says, in one sentence without its full stop."""
    return check.page.partition("\n")[0].strip().removesuffix(".")


def body(check: Check) -> str:
    """Everything below the title, in Markdown."""
    return check.page.partition("\n")[2].strip()


def parts(check: Check) -> dict[str, str]:
    """The text under each heading."""
    found: dict[str, str] = {}
    for block in f"\n{body(check)}".split("\n## ")[1:]:
        heading, _, text = block.partition("\n")
        found[heading.strip()] = text.strip("\n").rstrip()
    return found
