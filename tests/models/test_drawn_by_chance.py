"""Layers that a draw at random leaves out, and lengths of sequences that the program gives beside them."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

TRAINING = """\
model = Net()
optimizer = torch.optim.{optimizer}(model.parameters(), lr=1e-4)
{given}
for step in range(3):
    loss = model({names}).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

LAYERS = """\
import random

import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(256, 256), nn.GELU()) for _ in range(6))
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        for layer in self.layers:
{turn}
        return self.head(x)


"""


def reported(text: str) -> ModelReport:
    (report,) = analyse(Source("train.py", text), Settings()).reports
    return report


@pytest.mark.parametrize(
    "turn",
    [
        "            if self.training and random.random() < 0.2:\n                continue\n            x = layer(x)",
        "            if not self.training or np.random.uniform(0, 1) > 0.2:\n                x = layer(x)",
        "            if not (self.training and torch.rand(1).item() <= 0.2):\n                x = layer(x)",
        "            off = torch.rand([]) < 0.2\n            x = x if off and self.training else layer(x)",
    ],
    ids=["random", "numpy", "a number of a tensor", "a tensor"],
)
def test_layers_that_a_draw_leaves_out_are_counted_and_the_figure_is_an_upper_bound(turn: str) -> None:
    """PyTorch's allocator, where the draw leaves none out (`< -1`): 13,196,288 bytes beside cuBLAS's workspaces."""
    report = reported(LAYERS.format(turn=turn) + TRAINING.format(
        optimizer="AdamW", given="x = torch.randn(512, 256)", names="x"
    ))  # fmt: skip
    assert report.status == "upper-bound"
    assert report.estimate is not None
    assert report.estimate.total == 13_196_288


def test_what_a_draw_decides_between_two_computations_is_no_upper_bound() -> None:
    turn = "            x = layer(x) if random.random() < 0.5 else layer(layer(x))"
    assert reported(LAYERS.format(turn=turn) + TRAINING.format(
        optimizer="AdamW", given="x = torch.randn(512, 256)", names="x"
    )).status == "lower-bound"  # fmt: skip


MASKED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(80, 80)

    def forward(self, x, lengths):
        {first}
        most = int(lengths.max())
        mask = torch.arange(most).expand(len(lengths), most) >= lengths.unsqueeze(1)
        return self.a(x[:, :most]).masked_fill(mask.unsqueeze(2), 0.0)


"""


@pytest.mark.parametrize(
    ("first", "values", "status"),
    [
        ("lengths = lengths.long()", "[100, 80]", "exact"),
        ("lengths = torch.div(lengths - 1, 2, rounding_mode='floor') + 1", "[100, 80]", "exact"),
        ("lengths = torch.clamp(lengths - 1, min=0)", "[100, 80]", "exact"),
        ("lengths[0] = 7", "[100, 80]", "lower-bound"),
        ("lengths -= 1", "[100, 80]", "lower-bound"),
        ("lengths = 101 - lengths", "[100, 80]", "lower-bound"),
        ("pass", "[len(line) for line in lines]", "lower-bound"),
    ],
)
def test_the_longest_of_the_lengths_that_the_program_gives_is_known(first: str, values: str, status: str) -> None:
    given = f"lines = input().split()\nx = torch.randn(2, 100, 80)\nlengths = torch.tensor({values})"
    text = MASKED.format(first=first) + TRAINING.format(optimizer="SGD", given=given, names="x, lengths")
    assert reported(text).status == status


MASKS = """\
import torch
from torch import nn
from torch.nn import functional as F


def attend(q, mask):
    return F.scaled_dot_product_attention(q, q, q, attn_mask=mask, dropout_p=0.1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(128, 128)

    def forward(self, x, mask):
        whole = mask[:, None, None, :].expand(-1, 1, mask.shape[1], -1)
        {mask}
        q = self.q(x).view(8, 64, 4, 32).transpose(1, 2)
        return attend(q, whole).transpose(1, 2).reshape(8, 64, 128)


"""

BYTES = 2_442_760, 2_573_832
"""What PyTorch asks for without a mask, and with one, less cuBLAS (tests/oracle/measure_programs.py)."""


@pytest.mark.parametrize(
    ("mask", "status", "figure"),
    [
        ("whole = None", "exact", BYTES[0]),
        ("whole = whole", "exact", BYTES[1]),
        ("whole = None if mask.all() else whole", "upper-bound", BYTES[1]),
    ],
    ids=["without", "with", "as its values are"],
)
def test_a_mask_that_may_not_be_there_is_counted(mask: str, status: str, figure: int) -> None:
    """Attention by a mask that is left out where it masks nothing needs at most what it needs with it."""
    given = "x, mask = torch.randn(8, 64, 128), torch.randint(0, 2, (8, 64)).bool()"
    text = MASKS.format(mask=mask) + TRAINING.format(optimizer="SGD", given=given, names="x, mask")
    report = reported(text)
    assert report.status == status
    assert report.estimate is not None
    assert report.estimate.total == pytest.approx(figure, rel=0.001)
