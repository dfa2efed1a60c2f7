"""The estimate is a lower bound: what was left out.

    model.py:12:1: CNM302 Net: 2.1 GiB at batch 32 is a lower bound, left out: num_classes is not known (line 14)

Something in the model could not be known (a constructor's argument that nobody gives, a layer of a package whose
source is not found), so only what is known was counted. The message lists the first causes with their lines.

Off unless selected: `--extend-select CNM302`. To silence it for one model, `# cnnmem: skip` or `# noqa: CNM302`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem import units
from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.answers import ModelReport
    from flake8_cnnmem.settings import Settings

CODE = "CNM302"
DEFAULT = False

SHOWN = 3


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    if report.status != "lower-bound":
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
