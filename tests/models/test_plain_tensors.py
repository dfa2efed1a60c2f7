"""Tensors that belong to no model are trained as well: a program that descends by hand is told, with its cause."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """
import torch
w = torch.zeros(64, 10, requires_grad=True)
x, y = torch.zeros(8, 64), torch.zeros(8, 10)
"""
LOSS = "    loss = (x @ w - y).pow(2).mean()\n"

DESCENTS = {
    "in place": LOSS
    + "    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n        w.grad = None\n",
    "its data": LOSS + "    loss.backward()\n    w.data.sub_(0.1 * w.grad)\n    w.grad.zero_()\n",
    "by gradients that are asked for": LOSS + "    g, = torch.autograd.grad(loss, [w])\n    w.data -= 0.1 * g\n",
}


@pytest.mark.parametrize("turn", DESCENTS.values(), ids=DESCENTS)
def test_a_descent_on_tensors_is_a_training_that_is_not_estimated(turn: str) -> None:
    (report,) = analyse(Source("train.py", HEAD + "for step in range(100):\n" + turn), Settings()).reports
    assert report.status == "unresolved"
    assert [(each.reason, each.line) for each in report.causes] == [
        ("what is trained are tensors that belong to no model", 5)
    ]


NONE = {
    "no loop": "loss = (x @ w - y).pow(2).mean()\nloss.backward()\nprint(w.grad)\n",
    "no gradient": "for step in range(100):\n    y = torch.tanh(x @ w)\n",
}


@pytest.mark.parametrize("code", NONE.values(), ids=NONE)
def test_what_is_not_repeated_trains_nothing(code: str) -> None:
    assert not analyse(Source("train.py", HEAD + code), Settings()).reports
