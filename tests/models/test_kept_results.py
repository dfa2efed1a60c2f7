"""What is looked through for results of forward that the program keeps."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.evaluate import holders
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PROGRAM = """
import torch
from torch import nn
ROWS = [(i, [i]) for i in range(300)]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
    def forward(self, x):
        return self.first(x)
Net()(torch.zeros(8, 6))
"""


@pytest.mark.parametrize(("most", "status"), [(holders.MOST, "exact"), (200, "lower-bound")])
def test_what_is_not_looked_through_to_its_end_is_not_exact(
    monkeypatch: pytest.MonkeyPatch, most: int, status: str
) -> None:
    monkeypatch.setattr(holders, "MOST", most)
    (report,) = analyse(Source("net.py", PROGRAM), Settings()).reports
    assert report.status == status


BUFFER = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.register_buffer("last", None)
    def forward(self, x):
        h = self.first(x)
        self.last = {what}
        return h.relu()
Net()(torch.zeros(8, 6))
"""


@pytest.mark.parametrize(("what", "status"), [("h.exp().detach()", "lower-bound"), ("h.detach().mean(0)", "exact")])
def test_a_result_that_is_kept_as_a_buffer_is_kept(what: str, status: str) -> None:
    """On the card a training step of 16 images of 64x64 asks for a quarter more where 32 maps of them are kept so."""
    (report,) = analyse(Source("net.py", BUFFER.replace("{what}", what)), Settings()).reports
    assert report.status == status
