"""What a model computes by its batch, which is open in its shapes: `squeeze()` of a batch of one, and comparisons."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Limit, Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.training import Fact

TEXT = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x).{call}
"""


def reported(text: str, batch: int, limit: Limit | None = None) -> ModelReport:
    settings = Settings(batch_size=Fact(batch, "option"), input_shape=Fact((4,), "option"), gpu_limit=limit)
    [report] = analyse(Source("net.py", text), settings, "Net()").reports
    return report


@pytest.mark.parametrize(
    ("call", "batch", "status"),
    [
        ("squeeze()", 1, "lower-bound"),
        ("squeeze()", 2, "exact"),
        ("squeeze(-1)", 1, "exact"),
        ("squeeze(1)", 1, "exact"),
    ],
)
def test_only_a_squeeze_of_all_axes_loses_a_batch_of_one(call: str, batch: int, status: str) -> None:
    report = reported(TEXT.format(call=call), batch)
    assert report.status == status
    assert [cause.line for cause in report.causes] == ([10] if status == "lower-bound" else [])


DECIDES = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.narrow = nn.Linear(4, 8)
        self.wide = nn.Linear(4, 1000)

    def forward(self, x):
        return self.wide(x) if {test} else self.narrow(x)
"""


@pytest.mark.parametrize(
    ("test", "batch", "wide"),
    [
        ("x.shape[0] >= 64", 63, False),
        ("x.shape[0] >= 64", 64, True),
        ("64 > x.size(0)", 64, False),
        ("64 > x.size(0)", 63, True),
        ("x.numel() > 256", 64, False),
        ("x.numel() > 256", 65, True),
        ("len(x) == 2", 2, True),
        ("len(x) == 2", 3, False),
        ("x.shape[0] % 2 == 0", 3, None),
        ("x.shape[0] > 0", 1, True),
    ],
)
def test_a_comparison_is_decided_by_the_batch_in_force(test: str, batch: int, wide: bool | None) -> None:
    report = reported(DECIDES.format(test=test), batch)
    if wide is None:
        assert report.status == "lower-bound"
        return
    assert report.status == "exact"
    assert [row.name for row in report.rows if row.parameters] == ["wide" if wide else "narrow"]


@pytest.mark.parametrize(("test", "known"), [("x.shape[0] >= 64", False), ("x.shape[0] > 0", True)])
def test_no_largest_batch_is_told_beyond_what_was_decided(test: str, known: bool) -> None:
    report = reported(DECIDES.format(test=test), 8, Limit(1 << 30))
    assert report.fits is True
    assert (report.largest_batch_size is not None) is known
