"""The estimate is a lower bound: what was left out.

## What it means

Something in the model could not be known (a constructor's argument that nobody gives, a layer of a package whose
source is not found), so only what is known was counted. The message lists the first causes with their lines.
Off unless selected: `--extend-select CNM302`.

## Example

    from torch import nn


    class Net(nn.Module):
        def __init__(self, num_classes):
            super().__init__()
            self.conv = nn.Conv2d(3, 64, 3)
            self.head = nn.Linear(64, num_classes)

        def forward(self, x):
            return self.head(self.conv(x).mean((2, 3)))

It says, in one line:

    example.py:4:1: CNM302 Net: 0.03 MiB at batch 32 is a lower bound, left out: nobody gives __init__ its argument
    num_classes (line 5); the size of the input is not stated

## How to mend it

Say what is missing: a directive for the input (`# cnnmem: input-shape=3,224,224` at the class or call), a default
value or a call for an argument (`cnnmem report "example.py::Net(num_classes=10)"`), the option `cnnmem-search-path`
for a package whose source is not found.

## How to silence it

For one model, `# cnnmem: skip` at its class or call, or `# noqa: CNM302` on the line of the finding; for everything,
leave it unselected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem import units
from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.results import ModelReport
    from flake8_cnnmem.settings.options import Settings

CODE = "CNM302"
DEFAULT = False
LEVEL = "note"

SHOWN = 3


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    if report.status != "lower-bound" or report.parameters is None:
        # CNM301 speaks of a training of which no model is known.
        return
    figure = "the estimate"
    if report.estimate is not None:
        figure = f"{units.show(report.estimate.total)} at batch {report.estimate.batch_size}"
    causes = [cause.at(report.path) for cause in report.causes[:SHOWN]]
    more = len(report.causes) - len(causes)
    left_out = f", left out: {'; '.join(causes)}" if causes else ""
    others = f"; and {more} more" if more else ""
    yield Finding(
        report.path, report.line, report.column, CODE, f"{report.name}: {figure} is a lower bound{left_out}{others}"
    )
