"""A `# cnnmem:` directive is malformed or has a value that makes no sense.

## What it means

A directive is written

    # cnnmem: batch-size=64 input-shape=1,28,28 optimizer=adam dtype=float16 gpu-limit=8GiB
    # cnnmem: skip

on the line of a class, function or constructing call, or alone on the line above it; alone at the top of a file it
is for the whole file. Values are those of the options of the same names. What is wrong with a directive is not used;
the rest of it is. Directives that stand at nothing they could be meant for are reported, too.

## Example

    from torch import nn


    # cnnmem: batch-size=many
    class Net(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Linear(10, 10))

It says:

    example.py:4:1: CNM901 batch-size: 'many' is not a batch size: use a whole number from 1

## How to mend it

Write the value in the form that the message names, or take the directive away.

## How to silence it

`# noqa: CNM901` on the directive's line; for everything, `extend-ignore = CNM901`. The directive stays unused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.results import FileReport
    from flake8_cnnmem.settings.options import Settings

CODE = "CNM901"
DEFAULT = True
LEVEL = "warning"


def check_file(report: FileReport, settings: Settings) -> Iterator[Finding]:
    for problem in report.directives.problems:
        yield Finding(report.path, problem.line, problem.column, CODE, problem.message)
