"""`squeeze()` on a batch of one takes the batch away as well, which is followed as a size that is open."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
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
    settings = Settings(batch_size=Fact(batch, "option"), input_shape=Fact((4,), "option"))
    [report] = analyse(Source("net.py", TEXT.format(call=call)), settings, "Net()").reports
    assert report.status == status
    assert [cause.line for cause in report.causes] == ([10] if status == "lower-bound" else [])
