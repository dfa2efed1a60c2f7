"""What the inverse of the short-time Fourier transform gives: sizes are PyTorch's, what it needs is a cause."""

from __future__ import annotations

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask = nn.Conv1d(33, 33, 1)

    def forward(self, x):
        x = self.mask(x)
        return torch.istft(torch.complex(x, x), {arguments})

Net()(torch.randn(3, 33, 40))
"""


# Measured with torch 2.13 on a spectrum of (3, 33, 40).
@pytest.mark.parametrize(("arguments", "samples"), [
    ("64", 624), ("64, 20, 64", 780), ("64, 16, center=False, window=torch.ones(64)", 688),
    ("64, length=600", 600), ("64, length=900", 900),
])  # fmt: skip
def test_a_signal_has_the_length_that_is_asked_for_or_that_its_frames_give(arguments: str, samples: int) -> None:
    report = analyse(Source("net.py", NET.format(arguments=arguments)), Settings())
    (model,) = report.reports
    assert model.model is not None
    (output,) = model.model.outputs
    assert isinstance(output.shape, tuple)
    assert output.shape[1:] == (samples,)
    assert (model.status, checks.run(report, Settings(), {"CNM201", "CNM202"})) == ("lower-bound", [])
