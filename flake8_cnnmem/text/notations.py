"""Readers of YAML and TOML that take time and memory in proportion to the text, whatever stands in it."""

from __future__ import annotations

import sys
from typing import Any

DEEPEST = 100
"""Levels of lists and mappings inside one another. PyYAML's composer recurses in C without looking."""

MOST_MERGED = 50_000
"""Pairs that merge keys (`<<: *base`) copy in one file."""

LONGEST_NUMBER = 400
"""Letters of an unquoted word that may be a number: some are read in a time that is the square of their length."""

MOST_DOTS = 100
"""Dots on one line of TOML: `a.b.c = 1` costs the square of them."""


class TooMuch(Exception):
    """A text that is not read, as it would take too long or too much memory; the message is one plain sentence."""


def parse_yaml(text: str) -> Any:
    """What a YAML text holds. Raises ValueError for no YAML, TooMuch for what grows beyond its text."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        check_events(yaml.parse(text, Loader=loader))
        return yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        raise ValueError(str(error).partition("\n")[0]) from None


class Level:
    """A list or mapping that is being read. `pairs` are those that it has, merged ones included."""

    __slots__ = ("anchor", "is_mapping", "key_next", "merges", "pairs")

    def __init__(self, anchor: str | None, is_mapping: bool, merges: bool) -> None:
        self.anchor = anchor
        self.is_mapping = is_mapping
        self.merges = merges
        """Whether the next value in it is merged: behind the key `<<`, or in a list behind one."""
        self.key_next = is_mapping
        self.pairs = 0


def check_events(events: Any) -> None:
    """Raises TooMuch where what is read grows beyond its text: by depth, by merge keys, by long numbers. The reader
    gives events one by one, and does not recurse."""
    import yaml

    anchors: dict[str, int] = {}
    levels: list[Level] = []
    merged = 0
    for event in events:
        outer = levels[-1] if levels else None
        weight = 0
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            merges = outer is not None and outer.merges
            levels.append(Level(event.anchor, is_mapping, merges and not is_mapping))
            if len(levels) > DEEPEST:
                raise TooMuch("a YAML text is nested too deeply")
            continue
        if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            done = levels.pop()
            outer = levels[-1] if levels else None
            weight = done.pairs
            if done.anchor:
                anchors[done.anchor] = weight
        elif isinstance(event, yaml.AliasEvent):
            weight = anchors.get(event.anchor or "", 0)
        elif isinstance(event, yaml.ScalarEvent):
            check_number(event.value if event.implicit[0] else "")
        else:
            continue
        if outer is None:
            continue
        if outer.merges:
            outer.pairs += weight
            merged += weight
            if merged > MOST_MERGED:
                raise TooMuch("a YAML text merges mappings without end")
        if outer.is_mapping:
            is_key = outer.key_next
            outer.pairs += is_key
            outer.merges = is_key and isinstance(event, yaml.ScalarEvent) and event.value == "<<"
            outer.key_next = not is_key


def check_number(word: str) -> None:
    if len(word) > LONGEST_NUMBER and word[0] in "+-.0123456789" and not any(map(str.isspace, word)):
        raise TooMuch("a number of a YAML text is too long")


def parse_toml(text: str) -> dict[str, Any]:
    """What a TOML text holds. Raises ValueError for no TOML, TooMuch for what takes more than in proportion."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    # A dot in a quoted word parts nothing: every second piece between quotes is none of one.
    for line in text.split("\n"):
        if line.count(".") > MOST_DOTS and sum(piece.count(".") for piece in pieces(line)) > MOST_DOTS:
            raise TooMuch("a TOML text has too many dots on one line")
    try:
        found: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise TooMuch("a TOML text is nested too deeply") from None
    return found


def pieces(line: str) -> list[str]:
    """What of a line stands outside of quotes."""
    return line.replace("'", '"').split('"')[::2]
