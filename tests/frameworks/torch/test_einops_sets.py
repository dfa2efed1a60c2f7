"""einops on several tensors: the shapes that einops 0.8.2 gives on torch tensors (batch 2 in place of N)."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.training import Fact

NET = """
import torch
from torch import nn
from einops import einsum, pack, unpack

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 1)
        self.token = nn.Parameter(torch.zeros(8))
        self.weight = nn.Parameter(torch.zeros(8, 5))
    def forward(self, x):
        x = self.conv(x)
        return {result}
"""

CASES = {
    "einsum with names": ('einsum(x, self.weight, "b c h w, c out -> b out h w")', [5, 6, 4]),
    "einsum that sums an axis": ('einsum(x, x, "b c h w, b d h w -> b c d")', [8, 8]),
    "einsum with an ellipsis": ('einsum(x, self.weight, "b c ..., c out -> b ... out")', [6, 4, 5]),
    "pack flattens the middle": ('pack([x], "b c *")[0]', [8, 24]),
    "pack joins a map and a token": (
        'pack([x, self.token.expand(x.shape[0], 8)], "b c *")[0]', [8, 25],
    ),
    "the shapes that pack gives": ('x.flatten(2).repeat(1, 1, len(pack([x, x], "b c *")[1]))', [8, 48]),
    "unpack gives back what was packed": ('unpack(pack([x, x], "b c *")[0], [(6, 4), (6, 4)], "b c *")[1]', [8, 6, 4]),
    "unpack works an open length out": ('unpack(x.flatten(2), [(4,), (-1,)], "b c *")[1]', [8, 20]),
}  # fmt: skip


@pytest.mark.parametrize(("result", "shape"), CASES.values(), ids=CASES)
def test_shape(result: str, shape: list[int]) -> None:
    settings = Settings(input_shape=Fact((3, 6, 4), "option"))
    (report,) = analyse(Source("net.py", NET.format(result=result)), settings).reports
    assert report.status == "exact", report.causes
    assert report.model is not None
    (output,) = report.model.outputs
    assert isinstance(output.shape, tuple)
    assert list(output.shape[1:]) == shape
