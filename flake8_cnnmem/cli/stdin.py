"""Code on standard input: `-` in the place of a file, with the name under which it is analysed."""

from __future__ import annotations

import argparse
import sys

from flake8_cnnmem.source import LARGEST, Source, SourceError, check_size, decode, shared
from flake8_cnnmem.text import notebook

DASH = "-"
NAME = "stdin"
"""What such code is called where nobody says."""


def add_name(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--stdin-filename",
        default=NAME,
        metavar="FILE",
        help="what '-', the code on standard input, is called: imports are looked up from there",
    )


def source(name: str) -> Source:
    """The code on standard input; a notebook where its name says so. Raises SourceError as `load` does."""
    largest = notebook.LARGEST if name.endswith(notebook.ENDING) else LARGEST
    content = sys.stdin.buffer.read(largest + 1)
    check_size(len(content), name, largest)
    if not name.endswith(notebook.ENDING):
        return shared(name, decode(content))
    try:
        cells = notebook.read(content)
    except notebook.NotNotebook as error:
        raise SourceError(str(error), name) from None
    return Source(name, cells.text, notebook=cells)
