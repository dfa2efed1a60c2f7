"""What code computes from small constants, from sizes and from buffers is known where it decides on shapes."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

NET = """
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.register_buffer("levels", torch.tensor([2, 3, 4]), persistent=False)
        self.head = nn.Linear(8, self.levels.prod().item())

    def forward(self, x):
        y = self.conv(x)
        {cut}
        return self.head(y.mean((2, 3)))

Net()(torch.randn(2, 3, 34, 34))
"""

CUTS = {
    "a difference of sizes beside the batch": """
        short = torch.tensor(x.shape)[2:] - torch.tensor(y.shape)[2:]
        half = (short / 2).int()
        y = F.pad(x, (-torch.stack((half, half)).t().flatten()).tolist())[:, :1] + y""",
    "the batch itself": "y = y.reshape(torch.tensor(x.shape).tolist()[0], 8, 32, 32)",
    "as many numbers as there are, whatever they are": (
        "y = y[:, :len(torch.randint(0, 9, (5, 2)).tolist())].repeat(1, 2, 1, 1)[:, :8]"
    ),
    "one number of a buffer": "y = y[:, :, :int(self.levels.sum())]",
    "how many different values a table of offsets has": """
        rows, columns = torch.arange(3).repeat_interleave(3), torch.arange(3).repeat(3)
        keys = (rows[:, None] - rows).abs() * 3 + (columns[:, None] - columns).abs()
        different, places = torch.unique(keys, return_inverse=True)
        y = y[:, :different.numel() - 1][:, places.view(9, 9).max() - 8:]""",
    "the type of two types": """
        kind = torch.promote_types(torch.float16, torch.int64)
        y = y[:, :8 if kind == torch.float16 else 4]""",
    "other accelerators": """
        others = [torch.xpu.device_count(), torch.xpu.is_available(), torch.mps.is_available()]
        y = y[:, sum(others):]""",
    "sizes as arguments": "y = y + torch.zeros(1, 8, 1, 1).broadcast_to(y.shape[0], 8, 32, 32)",
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_exact(cut: str) -> None:
    (report,) = analyse(Source("net.py", NET.replace("{cut}", cut.strip())), Settings()).reports
    assert (report.status, report.problems) == ("exact", ())
    assert report.parameters == 3 * 8 * 9 + 8 + 8 * 24 + 24


TEXT = """
import numpy as np
import torch
from torch import nn

data = {data}

def batch():
    places = torch.randint(len(data) - 64, (16,))
    return torch.stack([{piece} for i in places])

net = nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 50))
net(batch())
"""

PIECES = {
    "a piece of a long tensor": ("torch.zeros(9000, dtype=torch.long)", "data[i:i + 64]"),
    "the next piece": ("torch.arange(9000) % 50", "data[i + 1:i + 1 + 64]"),
    "a piece of a file": ("np.memmap('t', dtype=np.uint16)", "torch.from_numpy(data[i:i + 64].astype(np.int64))"),
    "a piece that ends at a place": ("torch.arange(9000) % 50", "data[i - 64:i]"),
}


@pytest.mark.parametrize(("data", "piece"), PIECES.values(), ids=PIECES)
def test_a_piece_at_a_place_that_is_not_known(data: str, piece: str) -> None:
    (report,) = analyse(Source("net.py", TEXT.format(data=data, piece=piece)), Settings()).reports
    assert (report.status, report.problems) == ("exact", ())
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (64,)


CONSTRUCTED = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("way", torch.tensor(0))
        {change}
        self.fc = nn.Linear(10, 20 if self.way == 0 else 30)

    def forward(self, x):
        return self.fc(x)

Net()(torch.randn(2, 10))
"""


@pytest.mark.parametrize(("change", "features"), [
    ("pass", 20), ("self.way = torch.as_tensor(1)", 30), ("self.way += 1", None), ("self.way.fill_(1)", None),
    ("torch.add(self.way, 1, out=self.way)", None),
])  # fmt: skip
def test_a_constructor_asks_a_buffer_that_it_has_registered(change: str, features: int | None) -> None:
    (report,) = analyse(Source("net.py", CONSTRUCTED.replace("{change}", change)), Settings()).reports
    if features is None:
        assert report.status != "exact"
    else:
        assert (report.status, report.parameters) == ("exact", 11 * features)


RELATIVE = """\
import torch
from torch import nn


def positions(side):
    axes = torch.arange(side)
    grid = torch.stack(torch.meshgrid(axes, axes, indexing="ij")).flatten(1)
    between = (grid[:, :, None] - grid[:, None, :]).permute(1, 2, 0).contiguous()
    between[:, :, 0] += side - 1
    between[:, :, 1] += side - 1
    between[:, :, 0] *= 2 * side - 1
    table = torch.zeros((side * side + 1,) * 2, dtype=between.dtype)
    table[1:, 1:] = between.sum(-1)
    table[0, 0:] = (2 * side - 1) ** 2
    return table


class Block(nn.Module):
    def __init__(self, side, heads):
        super().__init__()
        self.register_buffer("index", positions(side), persistent=False)
        self.table = nn.Parameter(torch.zeros((2 * side - 1) ** 2 + 1, heads))

    def forward(self, scores):
        count = scores.shape[-1]
        return scores + self.table[self.index.view(-1)].view(count, count, -1).permute(2, 0, 1)


net = nn.Sequential(*[Block(14, 3) for _ in range(24)])
loss = net(torch.rand(8, 3, 197, 197)).sum()
"""


def test_tables_of_relative_positions_are_written_in_one_statement() -> None:
    """24 blocks with tables of 197 x 197 positions, whose values are too many to be known, and cost nothing."""
    (report,) = analyse(Source("net.py", RELATIVE), Settings()).reports
    assert (report.status, report.parameters) == ("exact", 24 * 730 * 3)
