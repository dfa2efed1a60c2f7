"""A size is called wrong only where nothing can put it right before the model is called."""

from __future__ import annotations

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PCA = """\
import torch
from torch import nn
{before}
class PCA(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("vectors", {buffer})
    def fit(self, data):
        self.vectors = torch.linalg.svd(data)[2]
    def forward(self, x):
        return torch.matmul(x, self.vectors.transpose(-2, -1))
{after}
"""


@pytest.mark.parametrize(
    ("buffer", "after", "found"),
    [
        ("torch.empty(0)", "", []),
        ("torch.empty(4)", "", ["CNM201"]),
        ("torch.empty(0)", "PCA()(torch.zeros(2, 3))", ["CNM201"]),
        ("torch.empty(4, 3)", "PCA()(torch.zeros(2, 3))", []),
    ],
)
def test_a_buffer_that_waits_to_be_filled_is_no_mismatch(buffer: str, after: str, found: list[str]) -> None:
    source = Source("pca.py", PCA.format(before="", buffer=buffer, after=after))
    report = analyse(source, Settings())
    assert [each.code for each in checks.run(report, Settings(), {"CNM201", "CNM202"})] == found


def test_two_bases_that_are_not_found_are_no_error_of_ours() -> None:
    code = PCA.format(before="from nowhere import A, B\n", buffer="torch.empty(4, 3)", after="").replace(
        "class PCA(nn.Module)",
        "class First(A, nn.Module): pass\nclass Second(B, nn.Module): pass\nclass PCA(First, Second)",
    )
    assert analyse(Source("pca.py", code), Settings()).failure is None
