"""What flake8 and the `cnnmem` command print."""

from __future__ import annotations

from flake8_cnnmem.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """`line` is 1-based, `column` 1-based as users see it (flake8 wants it 0-based: the adapter subtracts)."""

    path: str
    line: int
    column: int
    code: str
    message: str


def in_short(text: str, most: int) -> str:
    """The first line of a text that came from somebody's code, or from a file that the code reads, and of it so many
    letters at the most: enough to know it by."""
    first, _, rest = text.strip().partition("\n")
    return f"{first[: most - 1]}…" if rest or len(first) > most else first


def one_line(text: str) -> str:
    """Text that came from somebody's code, fit for a line of output: what does not print is escaped."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in text
    )
