"""Sizes of memory as people write them, and as we print them.

1 KiB is 1024 B, and `12GB` means 12 x 1024^3 like `12GiB`: so GPU vendors and the CS231n notes count.
"""

from __future__ import annotations

import re

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
TIB = 1024 * GIB

LARGEST = 1024 * TIB
"""No memory of a GPU, nor of a rack of them, comes near; a larger number is a slip."""

_UNITS = {"": 1, "b": 1, "byte": 1, "bytes": 1}
for _letter, _size in (("k", KIB), ("m", MIB), ("g", GIB), ("t", TIB)):
    _UNITS |= {_letter: _size, f"{_letter}b": _size, f"{_letter}ib": _size}

_SIZE = re.compile(r"(\d{1,20}(?:\.\d{1,20})?|\.\d{1,20})\s*([a-z]*)", re.ASCII)


class BadSize(ValueError):
    """The text is not a size; the message says what is."""


def parse(text: str) -> int:
    """Bytes of a size such as `12GiB`, `8 GB`, `11000MiB`, `1.5g` or `123456` (bytes). Raises BadSize."""
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise BadSize(f"{text.strip()!r} is not a size such as 12GiB, 8 GB or 11000MiB")
    from fractions import Fraction

    size = int(Fraction(match[1]) * _UNITS[match[2]])
    if size > LARGEST:
        raise BadSize(f"{text.strip()!r} is more memory than any machine has")
    return size


def show(size: int, digits: int | None = None) -> str:
    """`13.9 GiB`, `37 MiB`, `4.5 MiB`, `0.02 MiB`: bytes as messages print them.

    `digits` are the decimals; without it one for GiB, and for MiB as many as the size needs to be told from its like.
    More than any machine has is no figure.
    """
    if size > LARGEST:
        return f"over {LARGEST // TIB:,} TiB"
    if round(size / GIB, 1 if digits is None else digits) >= 1:
        return f"{size / GIB:.{1 if digits is None else digits}f} GiB"
    if digits is None:
        digits = 0 if size >= 10 * MIB or size == 0 else 1 if size >= MIB else 2
        if 0 < size < 0.005 * MIB:
            return "<0.01 MiB"
    return f"{size / MIB:.{digits}f} MiB"


def show_apart(left: int, right: int) -> tuple[str, str]:
    """Both sizes, with as many decimals as it takes for different sizes to look different."""
    pair = show(left), show(right)
    for digits in (2, 3):
        if pair[0] != pair[1] or left == right:
            return pair
        pair = show(left, digits), show(right, digits)
    if pair[0] == pair[1] and left != right and max(left, right) <= LARGEST:
        return f"{left:,} B", f"{right:,} B"
    return pair
