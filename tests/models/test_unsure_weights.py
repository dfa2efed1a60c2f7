"""Weights of which only a run can tell whether they are trained, or whether they are there: no figure is exact then."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """\
import os
import torch
from torch import nn

maybe = os.getpid() % 2 == 0

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
"""
TAIL = """
    def forward(self, x):
        return self.b(self.a(x).tanh())

model = Net()
model(torch.zeros(2, 8))
"""
MAY_BE_LESS = {
    "each flag is what is not known": "for p in self.parameters():\n    p.requires_grad = maybe",
    "frozen on a branch": "if maybe:\n    for p in self.a.parameters():\n        p.requires_grad = False",
    "frozen on one branch, trained on the other": "for p in self.parameters():\n    if maybe:\n"
    "        p.requires_grad = False\n    else:\n        p.requires_grad = True",
    "a flag for a whole layer": "self.a.requires_grad_(maybe)",
    "a parameter of its own": "self.scale = nn.Parameter(torch.zeros(3), requires_grad=maybe)",
}
MAY_BE_MORE = {
    "a layer on one side, None on the other": "self.c = nn.Linear(8, 8) if maybe else None",
}
KNOWN = {
    "frozen behind a branch": "if maybe:\n    self.a.requires_grad_(True)\nself.a.requires_grad_(False)",
    "said again afterwards": "self.a.requires_grad_(maybe)\nself.a.requires_grad_(False)",
    "the same on both sides": "if maybe:\n    self.a.requires_grad_(False)\nelse:\n    self.a.requires_grad_(False)",
}


def status(code: str) -> str:
    body = "".join(f"        {line}\n" for line in code.splitlines())
    (report,) = analyse(Source("net.py", HEAD + body + TAIL), Settings()).reports
    return report.status


@pytest.mark.parametrize("code", MAY_BE_LESS.values(), ids=MAY_BE_LESS)
def test_what_may_be_frozen_is_counted_at_most(code: str) -> None:
    assert status(code) == "upper-bound"


@pytest.mark.parametrize("code", MAY_BE_MORE.values(), ids=MAY_BE_MORE)
def test_what_may_be_there_is_counted_at_least(code: str) -> None:
    assert status(code) == "lower-bound"


@pytest.mark.parametrize("code", KNOWN.values(), ids=KNOWN)
def test_what_is_the_same_either_way_is_exact(code: str) -> None:
    assert status(code) == "exact"
