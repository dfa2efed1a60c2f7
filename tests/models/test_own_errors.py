"""Programs that end in an error which no `raise` says: a model that is made before it is not told as exact, unless the
error may be a fault of ours. What Python does with each line is seen at once: it was run."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PROGRAM = """\
import math
import sys

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(5, 5)

    def forward(self, x):
        return self.a(x)


SIZES = {{"small": 3}}
model = Net()
{}
y = model(torch.randn(3, 5))
"""

ENDS = [
    "SIZES['large']", "[1, 2][2]", "'a' + 1", "model.zz", "undefined", "int('8x')", "a, b = 1, 2, 3", "max([])",
    "1 / 0", "(lambda v: v)()", "len(3)", "math.sqrt(-1)", "nn.Linear(2, 3, bia=False)", "{}['a']", "assert not SIZES",
    "model.a.weight.fill_(1)", "def nothing():\n    pass\nfound = nothing()\nfound[0]",
]  # fmt: skip
GOES_ON = [
    "SIZES['small']", "[1, 2][1]", "'a' + str(1)", "model.a", "int('8')", "max([], default=0)",
    "nn.Linear(2, 3, bias=False)",
    "try:\n    SIZES['large']\nexcept KeyError:\n    pass", "assert SIZES",
    "with torch.no_grad():\n    model.a.weight.fill_(1)",
    "name = sys.argv[1] if len(sys.argv) > 1 else None",
]  # fmt: skip


def status(line: str) -> str:
    answer = analyse(Source("net.py", PROGRAM.format(line)), Settings())
    return next(report.status for report in answer.reports if report.name == "Net")


@pytest.mark.parametrize("line", ENDS)
def test_the_model_of_a_program_that_raises_is_a_bound(line: str) -> None:
    assert status(line) != "exact"


@pytest.mark.parametrize("line", GOES_ON)
def test_the_model_of_one_that_goes_on_is_exact(line: str) -> None:
    assert status(line) == "exact"


PREDICTED = "from pytorch_lightning import Trainer\nfound = Trainer().predict(model)\nfound[0]"


@pytest.mark.parametrize("line", ["name = sys.argv[1]", "import unheard_of", "torch.unheard_of(3)", PREDICTED])
def test_what_may_be_a_fault_of_ours_is_none_of_the_programs(line: str) -> None:
    """How a program is started, what is installed and which version of a library runs are not known."""
    assert status(line) == "exact"
