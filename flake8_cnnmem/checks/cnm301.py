"""A model was found but not estimated: the first thing that could not be known, and its line.

    model.py:12:1: CNM301 Net is not estimated: the input size is not known (line 12)

No useful number exists for this model, so none is given. The message names the first thing that was missing. Often
a directive mends it (`# cnnmem: input-shape=3,224,224` at the class or call), or the option `cnnmem-search-path`,
where an import was not found.

Off unless selected: `--extend-select CNM301`. To silence it for one model, `# cnnmem: skip` or `# noqa: CNM301`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.answers import FileReport, ModelReport
    from flake8_cnnmem.settings import Settings

CODE = "CNM301"
DEFAULT = False


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    if report.status != "unresolved":
        return
    why = report.causes[0].at(report.path) if report.causes else "something in it could not be followed"
    yield Finding(report.path, report.line, report.column, CODE, f"{report.name} is not estimated: {why}")


def check_file(report: FileReport, settings: Settings) -> Iterator[Finding]:
    if report.failure is not None:
        line = report.failure.line if report.failure.path in ("", report.path) else 0
        message = f"models of this file are not looked for: {report.failure.at(report.path)}"
        yield Finding(report.path, max(line, 1), 1, CODE, message)
