"""Losses whose own tensors decide the peak, against PyTorch's CUDA code: fixtures/truth/cuda_losses.json."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from tests.memory.evaluated import truth

PROGRAM = """\
import torch
from torch import nn
model = nn.Linear(8, 40000).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(512, 8, device="cuda"), torch.ones(512, 40000, device="cuda")
    with torch.autocast("cuda", enabled=AUTOCAST):
        loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TRUTH = truth("cuda_losses")
CLOSE = 0.003


def name_of(case: dict[str, Any]) -> str:
    return str(case["loss"]).removeprefix("nn.functional.") + (" autocast" if "autocast" in case else "")


@pytest.mark.parametrize("case", TRUTH["losses"], ids=name_of)
def test_a_loss_takes_what_pytorch_asks_for(case: dict[str, Any]) -> None:
    text = PROGRAM.replace("LOSS", case["loss"]).replace("AUTOCAST", str("autocast" in case))
    (report,) = analyse(Source("train.py", text), Settings()).reports
    assert report.status == "exact"
    assert report.estimate is not None
    error = report.estimate.total / (case["requested_peak"] - TRUTH["workspaces"]) - 1
    assert abs(error) < CLOSE
