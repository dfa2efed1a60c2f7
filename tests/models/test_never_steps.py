"""Trainings that end before their first step, for what PyTorch refuses (2.12 was asked; each row raises this): the
figures are there, as a bound that says so. And their twins, which run."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PROGRAM = """\
import torch
from torch import nn
from torch.nn import functional as F

net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
{before}
optimizer = {optimizer}
for _ in range(3):
    x, y = torch.randn(16, 8), torch.zeros(16, dtype=torch.long)
    with torch.set_grad_enabled({recorded}):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
"""
PLAIN = "torch.optim.SGD(net.parameters(), 0.1)"
NO_GRAPH = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
ROWS = {
    "a negative rate": (
        "",
        "torch.optim.SGD(net.parameters(), -0.1)",
        "True",
        "ValueError: Invalid learning rate: -0.1",
    ),
    "one beta is an int": (
        "",
        "torch.optim.Adam(net.parameters(), betas=(0, 0.9))",
        "True",
        "ValueError: betas must be either both floats or both Tensors",
    ),
    "a parameter in two groups": (
        "",
        "torch.optim.SGD([{'params': net.parameters()}, {'params': net[2].parameters()}], 0.1)",
        "True",
        "ValueError: some parameters appear in more than one parameter group",
    ),
    "nothing is recorded": ("", PLAIN, "False", NO_GRAPH),
    "all is frozen": ("net.requires_grad_(False)", PLAIN, "True", NO_GRAPH),
    "an assertion fails before": ("assert len(net) == 2, 'short'", PLAIN, "True", "AssertionError: short"),
    "an error under a test": (
        "if len(net) == 3:\n    raise NotImplementedError('later')",
        PLAIN,
        "True",
        "NotImplementedError: later",
    ),
    "a part is frozen": ("net[0].requires_grad_(False)", PLAIN, "True", ""),
    "both betas are floats": ("", "torch.optim.Adam(net.parameters(), betas=(0.0, 0.9))", "True", ""),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_training_that_never_steps_is_not_told_as_exact(row: str) -> None:
    before, optimizer, recorded, raised = ROWS[row]
    text = PROGRAM.format(before=before, optimizer=optimizer, recorded=recorded)
    (report,) = analyse(Source("train.py", text), Settings()).reports
    if raised:
        assert report.status != "exact"
        assert f"the code raises {raised}" in [cause.reason for cause in report.causes]
    else:
        assert (report.status, report.causes) == ("exact", ())


def test_behind_an_error_under_no_test_nothing_trains() -> None:
    text = PROGRAM.format(before="raise NotImplementedError", optimizer=PLAIN, recorded="True")
    assert not any(report.kind == "training" for report in analyse(Source("train.py", text), Settings()).reports)
