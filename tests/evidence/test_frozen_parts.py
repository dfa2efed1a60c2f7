"""What a training is given whose model has a frozen part below the head that learns."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PROGRAM = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(8, 5)


net = Net().cuda()
optimizer = torch.optim.SGD(net.head.parameters(), lr=0.1)
data = TensorDataset(torch.randn(320, 3, 40, 40), torch.zeros(320, dtype=torch.long))
for x, y in DataLoader(data, batch_size=16):
    x, y = x.cuda(), y.cuda()
    {features}
    loss = nn.functional.cross_entropy(net.head({given}), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("features", "given", "shape"),
    [
        ("with torch.no_grad(): f = net.body(x)", "f * 1", (3, 40, 40)),
        ("with torch.no_grad(): f = net.body(x).view(16, -1)", "f", (3, 40, 40)),
        # The part that learns is called on data: what else is looked at says nothing of it.
        ("with torch.no_grad(): f = net.body(x)", "torch.randn(16, 8).cuda()", (8,)),
    ],
)
def test_the_input_is_what_the_whole_model_is_given(features: str, given: str, shape: tuple[int, ...]) -> None:
    [report] = analyse(Source("train.py", PROGRAM.format(features=features, given=given)), Settings()).reports
    assert report.training.batch_size.value == 16
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == shape
