"""A model was found but not estimated: the first thing that could not be known, and its line.

## What it means

No useful number exists for this model, so none is given. The message names the first thing that was missing.
Where a package on top of a framework (torchvision, timm) is not found, the finding stands at its import: a model that
comes from it cannot be told from anything else.
Off unless selected: `--extend-select CNM301`.

## Example

    from keras import Sequential, layers

    from settings_of_the_project import widths

    model = Sequential([layers.Dense(width) for width in widths])

It says, where that module is nowhere to be found:

    example.py:5:9: CNM301 model is not estimated: the source of 'settings_of_the_project' is not found (line 3)

## How to mend it

Where an import was not found, name its folder with the option `cnnmem-search-path`. Where the input size is missing,
a directive says it: `# cnnmem: input-shape=3,224,224` at the class or call. Where a constructor's argument is
missing, report the model with one: `cnnmem report "example.py::Net(num_classes=10)"`.

## How to silence it

For one model, `# cnnmem: skip` at its class or call, or `# noqa: CNM301` on the line of the finding; for everything,
leave it unselected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.results import FileReport, ModelReport
    from flake8_cnnmem.settings.options import Settings

CODE = "CNM301"
DEFAULT = False
LEVEL = "note"


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    if (report.status != "unresolved" and report.parameters is not None) or report.problems:
        # What is wrong has a finding of its own.
        return
    why = report.causes[0].at(report.path) if report.causes else "something in it could not be followed"
    yield Finding(report.path, report.line, report.column, CODE, f"{report.name} is not estimated: {why}")


def check_file(report: FileReport, settings: Settings) -> Iterator[Finding]:
    if report.failure is not None:
        line = report.failure.line if report.failure.path in ("", report.path) else 0
        message = f"models of this file are not looked for: {report.failure.at(report.path)}"
        yield Finding(report.path, max(line, 1), 1, CODE, message)
    for each in report.missing:
        if each.path in ("", report.path):
            message = f"models that come from there are not looked at: {each.reason}"
            yield Finding(report.path, max(each.line, 1), 1, CODE, message)
