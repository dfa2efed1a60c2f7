"""What a regular expression may cost, told from what Python's own parser makes of it: comments, flags and the verbose
form are gone there, and nothing can hide.

`re` tries every way in which the parts of a pattern can share a text. That number is bounded here from above: a
repetition of a part that fits in one way only can end at every letter, one of a part that fits in several multiplies
these by themselves.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as codes
    from re import _parser as parser
else:
    import sre_constants as codes
    import sre_parse as parser

WAYS = 10**7
"""Places that backtracking may try at the most: a fraction of a second."""

WIDEST = 200_000
"""Letters that the sets of a pattern that ignores case may span: each is looked at when it is compiled."""

ALONE = frozenset((codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.AT, codes.CATEGORY, codes.FAILURE))
ASSERTIONS = frozenset((codes.ASSERT, codes.ASSERT_NOT))
REPEATS = frozenset(
    getattr(codes, name) for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") if hasattr(codes, name)
)
ATOMIC = getattr(codes, "ATOMIC_GROUP", None)


@lru_cache(maxsize=256)
def parsed(source: Any, flags: int) -> Any:
    """What Python's parser makes of a pattern, for all to read. Raises re.error, and RecursionError for one nested too
    deeply."""
    return parser.parse(source, flags)


def spans(items: Iterable[Any]) -> int:
    """How many letters the sets of a pattern span, all in all."""
    total = 0
    for code, argument in items:
        if code is codes.IN:
            total += sum(to - first + 1 for kind, (first, to) in ((k, a) for k, a in argument if k is codes.RANGE))
        for inner in inside(code, argument):
            total += spans(inner)
    return total


def inside(code: Any, argument: Any) -> list[Any]:
    """The patterns that a part of a pattern is made of."""
    if code is codes.BRANCH:
        return list(argument[1])
    if code in REPEATS:
        return [argument[2]]
    if code is codes.SUBPATTERN:
        return [argument[-1]]
    if code in ASSERTIONS:
        return [argument[1]]
    if code is ATOMIC:
        return [argument]
    if code is codes.GROUPREF_EXISTS:
        return [each for each in argument[1:] if each is not None]
    return []


def effort(items: Iterable[Any], length: int) -> tuple[int, int]:
    """In how many ways the parts of a pattern can share a text of so many letters, and the steps of one of them: both
    right up to `WAYS`, and no less beyond."""
    ways, steps = 1, 1
    for code, argument in items:
        inner = [effort(each, length) for each in inside(code, argument)]
        if code is codes.BRANCH or code is codes.GROUPREF_EXISTS:
            own = sum(each for each, _ in inner) + 1, sum(each for _, each in inner)
        elif code in REPEATS:
            own = repeated(*inner[0], argument[0], argument[1], length)
        elif inner:
            own = inner[0]
        else:
            own = 1, 1 if code in ALONE or code is codes.IN else length + 1
        ways, steps = min(ways * own[0], WAYS * 10), min(steps + own[1], WAYS * 10)
    return ways, steps


def repeated(ways: int, steps: int, least: int, most: int, length: int) -> tuple[int, int]:
    """The cost of a part of a pattern that is repeated: (ways to match, steps), for a text of this length."""
    times = min(int(most), max(int(least), length))
    if ways == 1:
        return times - int(least) + 1, min(steps * (times + 1), WAYS * 10)
    # Each turn has all its ways again: 1 + ways + ways ** 2 ...
    total = WAYS * 10 if times > 64 else min(sum(ways**turn for turn in range(int(least), times + 1)), WAYS * 10)
    return total, min(steps * (times + 1), WAYS * 10)


@lru_cache(maxsize=1024)
def places(pattern: re.Pattern[Any], length: int) -> int | None:
    """Places that a search of a text of so many letters may try; None where that is beyond all patience."""
    ways, steps = effort(parsed(pattern.pattern, pattern.flags & ~re.DEBUG), length)
    found = ways * (length + 1)
    return None if found > WAYS or found * min(steps, length + 1) > 10 * WAYS or steps > WAYS else found + steps
