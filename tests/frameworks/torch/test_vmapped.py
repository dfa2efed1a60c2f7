"""torch.vmap, a row for a rule: shapes and parameters are PyTorch 2.12's own. What it keeps is a cause, where a
gradient goes through it."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from tests.frameworks.torch.code import HEAD, Ran, shapes

MAPPED = {
    "over rows": ("torch.vmap(torch.dot)(torch.ones(5, 3), torch.ones(5, 3))", [["float32", 5]]),
    "over another axis": ("torch.vmap(lambda x: x.sum(), in_dims=1)(torch.ones(5, 3))", [["float32", 3]]),
    "with one that is not mapped": ("torch.vmap(lambda x, w: x @ w, (0, None))(torch.ones(5, 3), torch.ones(3, 2))",
                                    [["float32", 5, 2]]),
    "to another axis": ("torch.func.vmap(lambda x: x * 2, out_dims=1)(torch.ones(5, 3))", [["float32", 3, 5]]),
    "several results": ("torch.vmap(lambda x: (x.mean(), x[None]))(torch.ones(5, 3))",
                        [["float32", 5], ["float32", 5, 1, 3]]),
    "in each other": ("torch.vmap(torch.vmap(torch.dot))(torch.ones(2, 5, 3), torch.ones(2, 5, 3))",
                      [["float32", 2, 5]]),
    "a dict": ("torch.vmap(lambda d: d['a'] + d['b'])({'a': torch.ones(5, 3), 'b': torch.ones(5)})",
               [["float32", 5, 3]]),
    "a number for each row is none": ("torch.vmap(lambda x: 1)(torch.ones(5, 3))",
                                      "unknown: what a mapped function gives is not known"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "wanted"), MAPPED.values(), ids=MAPPED)
def test_mapped(code: str, wanted: object) -> None:
    assert shapes(Ran(f"{HEAD}x = {code}\n")["x"]) == wanted


NET = (
    HEAD
    + """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
    def forward(self, x):
        return torch.vmap({mapped})(x)

net = Net()
net(torch.randn(5, 2, 3, 8, 8))
"""
)


@pytest.mark.parametrize(("mapped", "status"), [("self.conv", "lower-bound"), ("torch.tanh", "exact")])
def test_a_gradient_through_it_is_a_cause(mapped: str, status: str) -> None:
    (report,) = analyse(Source("net.py", NET.replace("{mapped}", mapped)), Settings()).reports
    assert (report.status, report.parameters) == (status, 112)
