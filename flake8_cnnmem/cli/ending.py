"""How a command ends: its exit statuses, the error that ends it, and what is told on the way."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from flake8_cnnmem.finding import one_line
from flake8_cnnmem.reporting.progress import clear
from flake8_cnnmem.unknown import Unknown

if TYPE_CHECKING:
    from flake8_cnnmem.cli.usage import Parser

    Commands = argparse._SubParsersAction[Parser]

FITS, EXCEEDS, UNUSABLE = 0, 1, 2

INTERRUPTED = 130
"""As a shell gives it for what Ctrl-C has ended: 128 and the number of the signal."""


class Unusable(Exception):
    """A target or a value that cannot be used; the message is one plain sentence."""


def warn(message: str) -> None:
    """One line on standard error, in the place of a line of progress."""
    clear()
    print(f"cnnmem: {one_line(message)}", file=sys.stderr)


def place(path: str, line: int, message: str) -> str:
    """`PATH:LINE: message`, without the line where it is not known."""
    return f"{path}:{line}: {message}" if line else f"{path}: {message}"


def failure_of(path: str, failure: Unknown) -> str:
    """Why a file's models were not looked for, at the place where that was seen."""
    return place(failure.path or path, failure.line, failure.reason)
