"""Lists of which nobody knows how many numbers, parameters or modules they hold: what takes one is not exact, and no
size is refused for it. The same code on lists that are known is exact."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

TORCH = """\
import os
import torch
import torch.nn.functional as F
from torch import nn

names = {names}
sizes = []
for name in names:
    sizes.append(len(name))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        {made}
    def forward(self, x):
        x = self.fc(x)
        return {given}

net = Net()
net(torch.zeros(4, 8))
"""

KERAS = """\
import os
import keras
from keras import layers, ops

names = {names}
sizes = []
for name in names:
    sizes.append(len(name))

class Scaled(layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=sizes)
    def call(self, x):
        return 2 * x

inputs = keras.Input({made})
net = keras.Model(inputs, {given})
"""

UNKNOWN = 'os.listdir("data")'

# What is made, what is given, names for which the code runs, and the parameters that it has then (by PyTorch).
IN_TORCH = {
    "split into parts": ("pass", "torch.cat(x.split(sizes, 0))", ["ab", "cd"], 72),
    "a view": ("pass", "x.view(sizes)", ["abcd", "abcdefgh"], 72),
    "axes of a sum": ("pass", "x.sum(sizes)", ["a"], 72),
    "a pad": ("pass", "F.pad(x, sizes)", ["ab", "abc"], 72),
    "an order of axes": ("pass", "x.transpose(0, 1).unsqueeze(0).permute(sizes)", ["a", "ab", ""], 72),
    "repeated": ("pass", "x.repeat(sizes)", ["a", "ab"], 72),
    "sizes of a norm": ("self.norm = nn.LayerNorm(sizes)", "self.norm(x)", ["abcdefgh"], 88),
    "sizes of a parameter": ("self.scale = nn.Parameter(torch.zeros(sizes))", "x * self.scale", ["abcdefgh"], 80),
    "an axis taken apart": ("self.apart = nn.Unflatten(1, sizes)", "self.apart(x)", ["ab", "abcd"], 72),
    "a kernel": ("self.conv = nn.Conv2d(1, 1, sizes)", "self.conv(x[:, None, None])", ["a", "abc"], 76),
    "parameters in a list": (
        "self.all = nn.ParameterList([nn.Parameter(torch.zeros(3)) for _ in names])", "x", ["a"], 75
    ),
    "parameters in a dict": (
        "self.all = nn.ParameterDict({name: nn.Parameter(torch.zeros(3)) for name in names})", "x", ["a"], 75
    ),
    "parameters that are registered": (
        "for name in names: self.register_parameter(name, nn.Parameter(torch.zeros(3)))", "x", ["a"], 75
    ),
    "modules under names": ("for name in names: setattr(self, name, nn.Linear(3, 3))", "x", ["a"], 84),
}  # fmt: skip

# By Keras.
IN_KERAS = {
    "an input": ("sizes", "layers.Dense(3)(inputs)", ["abcdefgh"], 27),
    "an order of axes": ("(8, 4)", "layers.Dense(3)(layers.Permute(sizes)(inputs))", ["ab", "a"], 27),
    "sizes of a weight": ("(8,)", "Scaled()(inputs)", ["abc"], 3),
    "axes of a sum": ("(8, 4)", "layers.Dense(3)(ops.sum(inputs, sizes))", ["a"], 15),
}


def told(text: str, made: str, given: str, names: str) -> tuple[str, int | None, int]:
    """The state and the parameters of the net, and how many sizes in it are refused."""
    report = analyse(Source("net.py", text.format(made=made, given=given, names=names)), Settings()).reports[0]
    return report.status, report.parameters, len(report.problems)


@pytest.mark.parametrize(
    ("text", "case"),
    [(text, case) for text, cases in ((TORCH, IN_TORCH), (KERAS, IN_KERAS)) for case in cases.values()],
    ids=[f"{which}: {name}" for which, cases in (("torch", IN_TORCH), ("keras", IN_KERAS)) for name in cases],
)
def test_a_list_of_unknown_length(text: str, case: tuple[str, str, list[str], int]) -> None:
    made, given, names, parameters = case
    assert told(text, made, given, repr(names)) == ("exact", parameters, 0)
    status, _, refused = told(text, made, given, UNKNOWN)
    assert status in ("lower-bound", "unresolved")
    assert refused == 0
