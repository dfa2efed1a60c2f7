"""In which order a node of autograd makes the gradients of its operands: what the caching allocator cuts depends on it.

As the events of PyTorch 2.12's own CUDA code have it for ConvNeXt's scaled branches (tests/oracle/cuda_zoo.py): a
product makes the gradient of its second factor first, and what is summed for the first one behind it.
"""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.memory.replay_result import Replayed
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PROGRAM = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 16, 3, padding=1)
        self.scale = nn.Parameter(torch.ones(16, 1, 1))

    def forward(self, x):
        return torch.tanh({})

net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(8, 3, 32, 32, device="cuda")).sum().backward()
    optimizer.step()
"""
BYTES = 8 * 16 * 32 * 32 * 4


@pytest.mark.parametrize(
    ("product", "first_to_go"), [("self.scale * self.first(x)", 1), ("self.first(x) * self.scale", 0)]
)
def test_what_is_summed_is_made_in_the_order_of_the_factors(product: str, first_to_go: int) -> None:
    (report,) = analyse(Source("net.py", PROGRAM.format(product)), Settings()).reports
    assert report.estimate is not None
    assert isinstance(report.estimate.peaks, Replayed)
    timeline = report.estimate.peaks.timeline
    marks = [(at + timeline.ahead, phase, op) for at, phase, op in timeline.marks]
    (number,) = [
        n for n, (_, phase, op) in enumerate(marks) if phase == "backward" and getattr(op, "function", "") == "mul"
    ]
    events = range(marks[number][0], marks[number + 1][0])
    made = [
        timeline.blocks[at]
        for at in events
        if timeline.events[at] > 0 and timeline.lots[timeline.events[at]][0].at(8) == BYTES
    ]
    gone = [timeline.blocks[at] for at in events if timeline.events[at] < 0]
    assert len(made) == 2
    assert [block for block in gone if block in made] == [made[first_to_go]]
