"""A `# cnnmem:` directive is malformed or has a value that makes no sense.

    model.py:12:1: CNM901 batch-size: 'many' is not a batch size: use a whole number from 1

A directive is written

    # cnnmem: batch-size=64 input-shape=1,28,28 optimizer=adam dtype=float16 gpu-limit=8GiB
    # cnnmem: skip

on the line of a class, function or constructing call, or alone on the line above it; alone at the top of a file it
is for the whole file. Values are those of the options of the same names. What is wrong with a directive is not used;
the rest of it is. Directives that stand at nothing they could be meant for are reported, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.answers import FileReport
    from flake8_cnnmem.settings import Settings

CODE = "CNM901"
DEFAULT = True


def check_file(report: FileReport, settings: Settings) -> Iterator[Finding]:
    for problem in report.directives.problems:
        yield Finding(report.path, problem.line, problem.column, CODE, problem.message)
