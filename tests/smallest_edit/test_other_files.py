"""Bugs of a project of several files: the finding stands in the file that is checked and names the lines of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

BLOCKS = """\
from torch import nn


class Block(nn.Module):
    def __init__(self, before, width):
        super().__init__()
        self.conv = nn.Conv2d(before, width, 3, padding=1)
        self.norm = nn.BatchNorm2d({norm})
        self.pool = nn.MaxPool2d({window})

    def forward(self, x):
        return self.pool(self.norm(self.conv(x)).relu())
"""

TRAIN = """\
import torch
from torch import nn

from blocks import Block

net = nn.Sequential(Block(3, 16), Block(16, 32), nn.Flatten(), nn.Linear(32 * 8 * 8, 10))
net(torch.zeros(2, 3, 32, 32))
"""


@pytest.mark.parametrize(
    ("norm", "window", "line"),
    [
        ("width", "2", ""),
        # torch: running_mean should contain 16 elements not 3
        ("before", "2", "line 8 of blocks.py"),
        # torch: mat1 and mat2 shapes cannot be multiplied (2x288 and 2048x10)
        ("width", "3", "line 9 of blocks.py"),
    ],
)
def test_a_line_of_another_file_is_named(tmp_path: Path, norm: str, window: str, line: str) -> None:
    (tmp_path / "blocks.py").write_text(BLOCKS.format(norm=norm, window=window))
    (tmp_path / "train.py").write_text(TRAIN)
    found = list(checks.run(analyse(load(str(tmp_path / "train.py")), Settings()), Settings(), ["CNM201"]))
    assert bool(found) == bool(line)
    assert all(line in each.message for each in found[:1])
