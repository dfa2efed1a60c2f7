"""Which axis of what a model is given is the batch, where it may be a graph: its nodes are not."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PROGRAM = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 7)
    def forward(self, x, other):
        return self.first(x).relu() + other.sum()
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, other = GIVEN
for step in range(10):
    optimizer.zero_grad()
    net(x, other).sum().backward()
    optimizer.step()
"""

BATCHES = {
    "torch.randn(50, 16), torch.randint(0, 50, (2, 90))": (1, (50, 16)),
    "torch.randn(50, 16), torch.randn(50, 50)": (1, (50, 16)),
    # Edges that all samples share, a square of each sample, two inputs of as many features as there are samples, pairs.
    "torch.randn(8, 50, 16), torch.randint(0, 50, (2, 90))": (8, (50, 16)),
    "torch.randn(8, 50, 16), torch.randn(8, 50, 50)": (8, (50, 16)),
    "torch.randn(16, 16), torch.randn(16, 16)": (16, (16,)),
    "torch.randn(2, 16), torch.randint(0, 9, (2, 16))": (2, (16,)),
}


@pytest.mark.parametrize(("given", "told"), BATCHES.items(), ids=BATCHES)
def test_nodes_are_no_batch(given: str, told: tuple[int, tuple[int, ...]]) -> None:
    (report,) = analyse(Source("train.py", PROGRAM.replace("GIVEN", given)), Settings()).reports
    assert report.status == "exact"
    shape = report.training.input_shape
    assert shape is not None
    assert (report.training.batch_size.value, shape.value) == told
