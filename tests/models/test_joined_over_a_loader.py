"""What a loop over a loader joins or puts into containers is all there when it has ended."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PROGRAM = """\
import torch
from collections import deque
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Flatten()).cuda()
loader = DataLoader(TensorDataset(torch.randn({samples}, 3, 16, 16)), batch_size=32)
{before}
with torch.no_grad():
    for i, (x,) in enumerate(loader):
        {gathered}
features = {features}
classifier = nn.Linear(512, 10).cuda()
optimizer = torch.optim.SGD(classifier.parameters(), lr=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    classifier(features).pow(2).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("samples", [96, 80])
@pytest.mark.parametrize(
    ("before", "gathered", "features"),
    [
        ("all = torch.tensor([]).cuda()", "all = torch.cat([all, backbone(x.cuda())])", "all"),
        ("", "all = backbone(x.cuda()) if i == 0 else torch.cat((all, backbone(x.cuda())), dim=0)", "all"),
        ("all = {}", "all[i] = backbone(x.cuda())", "torch.cat(list(all.values()))"),
        ("all = {'x': []}", "all['x'].append(backbone(x.cuda()))", "torch.cat(all['x'])"),
        ("all = deque()", "all.append(backbone(x.cuda()))", "torch.cat(list(all))"),
    ],
)
def test_all_batches_are_there_when_the_loop_has_ended(samples: int, before: str, gathered: str, features: str) -> None:
    text = PROGRAM.format(samples=samples, before=before, gathered=gathered, features=features)
    reports = analyse(Source("program.py", text), Settings()).reports
    [trained] = [report for report in reports if report.name == "classifier"]
    assert trained.training is not None
    assert trained.training.batch_size.value == samples
