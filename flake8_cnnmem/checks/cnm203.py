"""A pool or stride drops rows or columns because it does not divide its input.

    model.py:14:9: CNM203 pool2 drops 1 of 25 rows: its stride does not divide them

The layer works, but some of its input is never looked at, and a decoder that doubles the size again meets maps of
another size than the encoder's (25 -> 12 -> 24). Sides that are multiples of all strides multiplied are safe.

Off unless selected: `--extend-select CNM203`. To silence it, `# noqa: CNM203` on the layer's line.
"""

from __future__ import annotations

from collections.abc import Iterator

from flake8_cnnmem.answers import ModelReport
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.settings import Settings

CODE = "CNM203"
DEFAULT = False


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    for drop in report.drops:
        message = f"{drop.layer} drops {drop.dropped} of {drop.size} {drop.axis}: its stride does not divide them"
        yield Finding(drop.site.path, drop.site.line, drop.site.column, CODE, message)
