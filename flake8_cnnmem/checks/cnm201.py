"""A layer is given another size than it is declared for.

## What it means

Channels or features that do not chain, a merge of unequal shapes, a reshape to another number of values, a size that is
not a whole number: the framework would stop with an error at this layer. The message names the layer, the size it is
given, the size it is declared for, and what would work. So are targets that a loss does not take, data that `fit` or
`predict` is given for an input of other sizes, arrays of other numbers of samples, a `view` of a tensor whose axes lie
in another order in memory, and values that are written into a part of another shape, or into a part of a leaf that asks
for a gradient.

It is reported only where it is certain: whatever the input size, or for the size that the code itself or a
directive states (an `Input`, a call on a tensor made in the file), never for one that only an option or a default
gives.

The finding stands at the line that has to change as far as the code shows it. Of the edits that people's mistakes call
for, a few are tried, each by an evaluation of the changed text: another axis, a switch that was forgotten, a name in
the place of another one, a number that is unlike those beside it. Where one of them makes all sizes fit, its line is
told. Else it stands at the layer that declares the size, at the call where only the order of the axes is wrong, at the
reshape that mixes the samples of a batch up; where a state, a target or a parameter is made that does not fit; at the
one of two branches on which what follows does not count; where a block or model is built with a number that it hands
on. The message then names the line of the layer or call as well, and what made the size that is given. Where a line
cannot be told from another one, the finding stays at the call. Of two sizes that do not go together either may be the
wrong one: the message names the lines that decide each, up to three that it does not name already.

## Example

    import torch
    from torch import nn


    class Digits(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 16, 5)
            self.fc = nn.Linear(16 * 13 * 13, 10)

        def forward(self, x):
            x = torch.relu(self.conv(x))
            return self.fc(torch.flatten(nn.functional.max_pool2d(x, 2), 1))


    logits = Digits()(torch.zeros(1, 1, 28, 28))

It says, in one line:

    example.py:9:19: CNM201 fc takes 2704 features, but is given 2304 by flatten (line 13) for the 28x28 input of line
    16, 12 comes from line 12, 16 from line 8; 2304 features would fit

## How to mend it

Declare the size that the message names, or change what comes before: the padding, the stride, the number of pools.
If the stated input size is not the one that the model is used with, state the right one:
`# cnnmem: input-shape=3,32,32` at the class or call. `cnnmem fix` writes the size where it is certain.

## How to silence it

`# noqa: CNM201` on the layer's line; for a whole model `# cnnmem: skip` at its class or call; for everything,
`extend-ignore = CNM201`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.results import ModelReport
    from flake8_cnnmem.settings.options import Settings

CODE = "CNM201"
DEFAULT = True
LEVEL = "error"


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    return problems(report, CODE)


def problems(report: ModelReport, code: str) -> Iterator[Finding]:
    """The findings for the report's layer problems of this code."""
    for problem in report.problems:
        if problem.problem.code == code:
            site = problem.place
            yield Finding(site.path, site.line, site.column, code, problem.message)
