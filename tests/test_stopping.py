"""An analysis that is given up leaves nothing behind."""

from __future__ import annotations

import itertools

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.running.stopping import Stopped, go_on, stopped_by
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import shared

TEXT = """\
import torch
from torch import nn

nn.Linear.mark = 3
try:
    net = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 2))
    net(torch.zeros(7, 8))
except Exception:
    net = None
"""


def told(text: str) -> list[int | None]:
    report = analyse(shared("net.py", text), Settings())
    return [each.estimate.total if each.estimate else None for each in report.reports]


@pytest.mark.parametrize("steps", range(8))
def test_wherever_it_is_stopped_the_next_one_answers_the_same(steps: int) -> None:
    before = told(TEXT)
    asked = itertools.count()
    with pytest.raises(Stopped), stopped_by(lambda: next(asked) >= steps):
        analyse(shared("net.py", TEXT), Settings())
    assert told(TEXT) == before
    assert before != []


def test_nobody_is_stopped_who_is_not_asked_to() -> None:
    go_on()
    with stopped_by(lambda: False):
        go_on()
    with pytest.raises(Stopped), stopped_by(lambda: True):
        go_on()
    go_on()
