"""Views of tensors whose axes lie in another order, and writes into parts: what PyTorch 2.13 refuses and takes."""

from __future__ import annotations

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

NET = """\
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 1)
        self.ln = nn.LayerNorm(4)
        self.lin = nn.Linear(4, 4)
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.late = nn.LSTM(4, 4)
        self.rows = nn.Parameter(torch.zeros(3, 4))

    def forward(self, x):
        x = self.stem(x)
        {code}
        return y


Net()(torch.rand(2, 3, 6, 6)).sum().backward()
"""

TURNED = "x.permute(0, 2, 3, 1)"
SEQUENCE = "x.flatten(2).transpose(1, 2)"

REFUSED = {
    "a permuted map": f"y = {TURNED}.view(2, -1)",
    "a value-by-value result of one": f"y = (torch.relu({TURNED}) * 2 + torch.zeros(4)).view(2, -1)",
    "a gated one": f"y = ({TURNED} * {TURNED}.mean(-1, keepdim=True)).view(-1)",
    "a turned layer norm": f"y = self.ln({TURNED}).permute(0, 3, 1, 2).view(2, -1)",
    "a turned linear layer": f"y = self.lin({TURNED}).transpose(1, 2).view(-1)",
    "a recurrent layer whose batch is first": f"y = self.lstm({SEQUENCE})[0].view(-1, 4)",
    "a cut map": "y = x[:, :2].view(-1)",
    "an expanded map": "y = x[:1].expand(2, 4, 6, 6).view(-1)",
    "merged heads": "y = F.scaled_dot_product_attention(x, x, x).transpose(1, 2).view(2, 6, 24)",
    "a sum of the last axis, turned": "y = x.permute(0, 3, 2, 1).sum(-1).mT.view(-1)",
    "values of another width than the part": "y = x * 1\n        y[:, 1::2] = x[:, :3]",
    "too many rows for the part": "y = x * 1\n        y[0] = x[:, 0]",
    "a row of a parameter": "y = self.rows\n        y[0] = x.mean((2, 3))[0]",
    "a part of a leaf": "y = torch.zeros(3, requires_grad=True)\n        y[0] = 1.0",
    "indices of one axis for a map": "y = torch.zeros(2, 5).scatter_(1, torch.zeros(2).long(), 1.0) + x.sum()",
}
"""PyTorch raises RuntimeError for each."""

TAKEN = {
    "a permuted map, copied": f"y = {TURNED}.contiguous().view(2, -1)",
    "axes that stay side by side": f"y = {TURNED}.view(2, 36, 4)",
    "a layer norm of a permuted map": f"y = self.ln({TURNED}).view(2, -1)",
    "a linear layer of one": f"y = self.lin({TURNED}).view(2, -1)",
    "softmax of one": f"y = {TURNED}.softmax(-1).view(2, -1)",
    "running sums of one": f"y = {TURNED}.cumsum(-1).view(2, -1)",
    "a masked one": f"y = {TURNED}.masked_fill({TURNED} > 0, 0.0).view(-1)",
    "a triangle of one": f"y = torch.tril({TURNED}).view(-1)",
    "a recurrent layer whose steps are first": f"y = self.late({SEQUENCE})[0].view(-1, 4)",
    "its last state": f"y = self.lstm({SEQUENCE})[1][0].view(-1)",
    "a cut map, doubled": "y = (x[:, :2] * 2).view(-1)",
    "an expanded map, and one": "y = (x[:1].expand(2, 4, 6, 6) + 1).view(-1)",
    "permuted maps behind each other": f"y = torch.cat([{TURNED}, {TURNED}], 1).view(-1)",
    "a row that is repeated": "y = x * 1\n        y[:, 1::2] = x[0, 0]",
    "an axis of one in front": "y = x * 1\n        y[0] = x[:1]",
    "a row of a parameter's copy": "y = self.rows.clone()\n        y[0] = x.mean((2, 3))[0]",
    "a row of a parameter's values": "y = self.rows.detach()\n        y[0] = 1.0\n        y = y + x.sum()",
    "a row of a parameter without gradients": (
        "with torch.no_grad():\n            self.rows[0] = 1.0\n        y = x + self.rows.sum()"
    ),
    "indices of both axes": "y = torch.zeros(2, 5).scatter_(1, torch.zeros(2, 1).long(), 1.0) + x.sum()",
}


def lines_found(code: str) -> set[int]:
    report = analyse(Source("net.py", NET.replace("{code}", code)), Settings())
    assert report.reports
    return {finding.line for finding in checks.run(report, Settings(), ["CNM201", "CNM202"])}


@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses_is_found_in_its_line(name: str) -> None:
    """A write into a parameter where the parameter is taken without a copy, all others in their last line."""
    code = REFUSED[name]
    assert lines_found(code) == {18 if code.startswith("y = self.rows\n") else 18 + code.count("\n")}


@pytest.mark.parametrize("name", TAKEN)
def test_what_pytorch_takes_is_no_finding(name: str) -> None:
    assert lines_found(TAKEN[name]) == set()


COUNTING = """\
import torch
from torch import nn

model = nn.Linear(8, 10)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(10):
    logits, target = model(torch.rand(4, 8)), torch.randint(0, 10, (4,))
    loss = nn.functional.cross_entropy(logits, target)
    correct = logits.topk(5, 1).indices.t().eq(target.view(1, -1).expand(5, 4))
    hits = correct[:3].view(-1).float().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_hits_that_are_counted_are_no_size_of_a_model() -> None:
    """`correct[:k].view(-1)` of the older ImageNet scripts: PyTorch raises RuntimeError for it since 1.7. The program
    ends there; what its step needs is told all the same, and not as exact."""
    (report,) = analyse(Source("train.py", COUNTING), Settings()).reports
    assert (report.problems, report.status, report.training.batch_size.value) == ((), "lower-bound", 4)
    assert any("view size is not compatible" in cause.reason for cause in report.causes), report.causes
