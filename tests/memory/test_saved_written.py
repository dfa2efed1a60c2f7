"""What is written into after an op has saved it: torch refuses the backward pass. Each row was run with PyTorch 2.12 on
the CPU, with a backward pass of the sum; whether that raises is said beside it."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PROGRAM = """\
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        y = self.a(x)
        {}


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    loss = net(torch.randn(4, 8)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

BODIES = [
    ("y = torch.sigmoid(y); y += 1; return self.b(y)", True),
    ("y = torch.sigmoid(y); y = y + 1; return self.b(y)", False),
    ("y = torch.tanh(y); y[:, 0] = 0; return self.b(y)", True),
    ("y[:, 0] = 0; return self.b(y)", False),
    ("z = self.b(y); y.add_(1); return z", True),
    ("y = torch.tanh(y); y.data.mul_(2); return self.b(y)", False),
    ("y = F.relu(y); y += x; return self.b(y)", True),
    ("y += x; return self.b(F.relu_(y))", False),
    ("z = y * 2; y += 1; return z + y", False),
    ("z = y * self.b(x); y += 1; return z + y", True),
    ("z = torch.tanh(y).clone(); z.add_(1); return self.b(z)", False),
]


@pytest.mark.parametrize(("body", "refused"), BODIES, ids=[body for body, _ in BODIES])
def test_a_step_that_torch_refuses_is_not_told_as_exact(body: str, refused: bool) -> None:
    answer = analyse(Source("net.py", PROGRAM.format(body.replace("; ", "\n        "))), Settings())
    [report] = answer.reports
    assert (report.status != "exact") is refused
    assert all("has saved" in cause.reason for cause in report.causes)
