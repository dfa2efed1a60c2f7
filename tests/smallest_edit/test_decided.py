"""Of two sizes that do not go together a message names the lines that decide either: the truth is the line that differs
from a program which runs."""

from __future__ import annotations

import re

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"

BLOCKS = """
class Conv(nn.Module):
    def __init__(self, inputs, outputs, **window):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, **window)
    def forward(self, x):
        return F.relu(self.conv(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Conv(3, 8, kernel_size=1)
        self.three = Conv(3, 8, kernel_size=3, {padding})
    def forward(self, x):
        return torch.cat([self.one(x), self.three(x)], 1)

Net()(torch.zeros(2, 3, 16, 16))
"""

HANDED = """
class Layer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inputs, outputs))
    def forward(self, x):
        return x @ self.weight

class Net(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.first = Layer(features, {first})
        self.second = Layer(hidden, classes)
    def forward(self, x):
        return self.second(self.first(x).relu())

Net(30, 16, 7)(torch.zeros(2, 30))
"""

JOINED = """
nz, nc = 8, {nc}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(nc, nz, 3)
    def forward(self, x):
        return self.first(x)

pictures = torch.rand(4, 3, 32, 32)
Net()(pictures)
"""

FLAT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.last = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(8, 5)
    def forward(self, x):
        x = self.pool(self.conv(x))
        x = self.{pooled}(x)
        return self.fc(x.flatten(1))

loss = F.cross_entropy(Net()(torch.rand(4, 3, 16, 16)), torch.zeros(4).long())
"""

TARGET = """
class Net(nn.Module):
    def __init__(self, anchors):
        super().__init__()
        self.head = nn.Linear(12, {outputs})
    def forward(self, x):
        return self.head(x).view(x.shape[0], -1, 4)

ANCHORS = 3
boxes = torch.rand(5, ANCHORS, 4)
loss = F.l1_loss(Net(ANCHORS)(torch.rand(5, 12)), boxes)
"""

PROGRAMS = [
    ("a window in a block's options", BLOCKS, {"padding": "padding=1"}, {"padding": "padding=0"}),
    ("another name handed to a block", HANDED, {"first": "hidden"}, {"first": "classes"}),
    ("a number among others of one line", JOINED, {"nc": "3"}, {"nc": "1"}),
    ("another layer called before the flattening", FLAT, {"pooled": "last"}, {"pooled": "pool"}),
    ("a number of outputs before a reshape", TARGET, {"outputs": "anchors * 4"}, {"outputs": "8"}),
]


def findings(text: str) -> list[tuple[int, str]]:
    report = analyse(Source("net.py", text), Settings())
    return [(each.place.line, each.message) for model in report.reports for each in model.problems]


@pytest.mark.parametrize(("form", "right", "wrong"), [row[1:] for row in PROGRAMS], ids=[row[0] for row in PROGRAMS])
def test_the_changed_line_is_told_or_named(form: str, right: dict[str, str], wrong: dict[str, str]) -> None:
    one, other = HEAD + form.format(**right), HEAD + form.format(**wrong)
    assert findings(one) == []
    [changed] = [
        at for at, pair in enumerate(zip(one.split("\n"), other.split("\n"), strict=True), 1) if pair[0] != pair[1]
    ]
    told = findings(other)
    assert told
    for line, message in told:
        named = {int(number) for number in re.findall(r"\bline (\d+)", message)}
        assert changed in named | {line}
        assert len(named) <= 9
