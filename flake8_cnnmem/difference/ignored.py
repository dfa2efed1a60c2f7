"""`.gitignore`: which files of a work tree git would not take for new ones (gitignore's manual page).

The patterns are a stranger's: matching them takes time in proportion to pattern times path, at the most.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from flake8_cnnmem.lazy_dataclass import dataclass

LARGEST = 200_000
"""Bytes of a file of patterns that are read."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern: `parts` are those between its slashes, `base` the folder whose file says it."""

    base: str
    parts: tuple[str, ...]
    taken_back: bool
    """Said with `!`: what it matches is not ignored after all."""
    folders_only: bool

    def matches(self, path: str, is_folder: bool) -> bool:
        """Whether a path from the root is meant; slashes divide it."""
        if self.folders_only and not is_folder:
            return False
        inside = path[len(self.base) :]
        return path.startswith(self.base) and alike(tuple(inside.split("/")), self.parts)


def rules_of(text: str, base: str) -> list[Rule]:
    """The patterns of a file that lies in the folder `base`: "" for the root, else with a slash at its end."""
    found = []
    for line in text.splitlines():
        pattern = line if line.endswith("\\ ") else line.rstrip(" ")
        if not pattern or pattern.startswith("#"):
            continue
        taken_back = pattern.startswith("!")
        pattern = pattern.removeprefix("!")
        folders_only = pattern.endswith("/")
        pattern = pattern.rstrip("/")
        # Without a slash but at its end it is meant at any depth.
        anywhere = "/" not in pattern
        parts = tuple(part for part in pattern.split("/") if part)
        if parts:
            found.append(Rule(base, ("**", *parts) if anywhere else parts, taken_back, folders_only))
    return found


def read_rules(path: str, base: str) -> list[Rule]:
    """The patterns of a file; none where there is no file, or a link in its place."""
    try:
        if os.path.islink(path):
            return []
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return rules_of(file.read(LARGEST), base)
    except OSError:
        return []


def is_ignored(rules: Sequence[Rule], path: str, is_folder: bool) -> bool:
    """The last rule that matches decides."""
    return next((not rule.taken_back for rule in reversed(rules) if rule.matches(path, is_folder)), False)


def alike(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path match a pattern's, of which `**` stands for any number of parts: in `a/**` for what
    lies in `a`, not for `a` itself."""
    return used_up(parts, pattern, "**", glob) == len(pattern)


def glob(name: str, pattern: str) -> bool:
    """Whether one part of a path matches one of a pattern: `*`, `?`, `[...]`, a backslash before a sign."""
    if not any(sign in pattern for sign in "*?[\\"):
        return name == pattern
    tokens = tokens_of(pattern)
    used = used_up(name, tokens, "*", fits)
    return used is not None and all(token == "*" for token in tokens[used:])


def used_up(
    items: Sequence[str], pattern: Sequence[str], any_number: str, one: Callable[[str, str], bool]
) -> int | None:
    """How many entries of a pattern it takes to match all items; None where they do not match. `any_number` is the
    entry that stands for any number of items; what is left over after a mismatch is tried again from the last of these
    alone: earlier ones could do no better."""
    at = wanted = 0
    star = again = -1
    while at < len(items):
        if wanted < len(pattern) and pattern[wanted] == any_number:
            star, again = wanted, at
            wanted += 1
        elif wanted < len(pattern) and one(items[at], pattern[wanted]):
            at, wanted = at + 1, wanted + 1
        elif star >= 0:
            again += 1
            at, wanted = again, star + 1
        else:
            return None
    return wanted


def tokens_of(pattern: str) -> list[str]:
    """`*`, `?`, `[...]` and, with a backslash before it, each character that is meant itself."""
    found = []
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at] == "\\" and end < len(pattern):
            found.append(pattern[at : at + 2])
            at += 2
            continue
        if pattern[at] == "[":
            closing = pattern.find("]", at + 3 if pattern[at + 1 : at + 2] in ("!", "^") else at + 2)
            end = closing + 1 if closing > 0 else end
        token = pattern[at:end]
        found.append(token if token in ("*", "?") or len(token) > 1 else f"\\{token}")
        at = end
    return found


def fits(letter: str, token: str) -> bool:
    if token == "?":
        return True
    if token.startswith("\\"):
        return letter == token[1]
    inside = token[1:-1]
    negated = inside[:1] in ("!", "^")
    inside = inside[1:] if negated else inside
    found, at = False, 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            found = found or inside[at] <= letter <= inside[at + 2]
            at += 3
        else:
            found = found or letter == inside[at]
            at += 1
    return found != negated
