"""A pool or stride drops rows or columns because it does not divide its input.

## What it means

The layer works, but some of its input is never looked at, and a decoder that doubles the size again meets maps of
another size than the encoder's (25 -> 12 -> 24). Off unless selected: `--extend-select CNM203`.

## Example

    from keras import Input, Sequential, layers

    model = Sequential([
        Input((50, 50, 3)),
        layers.Conv2D(32, 3, padding="same"),
        layers.MaxPooling2D(2),
        layers.Conv2D(64, 3, padding="same"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dense(10),
    ])

It says:

    example.py:8:5: CNM203 max_pooling2d_1 drops 1 of 25 rows and columns: its stride does not divide them

## How to mend it

Choose an input whose sides are multiples of all strides multiplied (48 or 52 in the example, whose strides are 2 and
2), pad before the layer, or let the pool pad: `padding="same"` in Keras, `ceil_mode=True` in PyTorch
(`cnnmem fix --select CNM203` does so where all that follows still fits).

## How to silence it

`# noqa: CNM203` on the layer's line; for a whole model `# cnnmem: skip` at its class or call; for everything, leave
it unselected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem.finding import Finding
from flake8_cnnmem.results import called

if TYPE_CHECKING:
    from flake8_cnnmem.results import Drop, ModelReport
    from flake8_cnnmem.settings.options import Settings

CODE = "CNM203"
DEFAULT = False
LEVEL = "warning"


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    layers: dict[tuple[str, str, int, int], list[Drop]] = {}
    for drop in report.drops:
        layers.setdefault((drop.layer, drop.site.path, drop.site.line, drop.site.column), []).append(drop)
    for (layer, path, line, column), drops in layers.items():
        yield Finding(
            path, line, column, CODE, f"{called(layer)} drops {_what(drops)}: its stride does not divide them"
        )


def _what(drops: list[Drop]) -> str:
    """`1 of 25 rows and columns`, `1 of 25 rows and 2 of 32 columns`."""
    axes: dict[str, list[str]] = {}
    for drop in drops:
        names = axes.setdefault(f"{drop.dropped} of {drop.size}", [])
        if drop.axis not in names:
            names.append(drop.axis)
    return " and ".join(f"{count} {' and '.join(names)}" for count, names in axes.items())
