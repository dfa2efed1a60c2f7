"""What objects of Python's library and of `object` have beyond what is modelled; imports that a program insists on; and
what torch's containers of parameters hold. None of it is an error of the program. Measured with CPython 3.11 and torch
2.13."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.training import Fact

PARSER = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--width', type=int, default=6)\n"
NAMED_TUPLE_META = """
import typing
from typing import NamedTupleMeta
class Meta(NamedTupleMeta):
    def __new__(mcls, name, bases, namespace):
        made = super().__new__(mcls, name + "_base", (typing._NamedTuple,), namespace)
        return type(name, bases + (made,), {})
class Moved:
    def cuda(self):
        return self
class State(Moved, metaclass=Meta):
    width: int = 8
    depth: int = 3
"""
LOADER = """
import torch
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.zeros(70, 3)), batch_size=16)
"""
REPEATING = f"""{LOADER}
class Repeat:
    def __init__(self, sampler):
        self.sampler = sampler
class Endless(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "batch_sampler", Repeat(self.batch_sampler))
    def __len__(self):
        return len(self.batch_sampler.sampler)
"""
INSISTED_ON = (
    "try:\n    from not_there import width\nexcept ImportError:\n    raise ImportError('pip install not_there')"
)
LEAF = """
import torch
left = torch.zeros(2, 3)
for turn in range(2):
    left.requires_grad_(True)
    (left * 2).sum().backward()
    with torch.no_grad():
        left = left - 0.1 * left.grad
"""
CONV = "nn.Conv2d(1, {}, 1, bias=False)"
PROGRAMS: dict[str, tuple[str, str, int]] = {
    "a parser's actions": (
        f"{PARSER}for action in parser._actions:\n    print(action)\nparser._optionals.title = 'x'",
        CONV.format("parser.parse_args().width"),
        6,
    ),
    "what a parser does not have": (PARSER, CONV.format("5 if hasattr(parser, 'no_such_thing') else 2"), 2),
    "an enumeration's own table": (
        "from enum import Enum\nclass Mode(Enum):\n    A = 4\nnames = {k: v for k, v in Mode.A._member_map_.items()}",
        CONV.format("Mode.A.value"),
        4,
    ),
    "a class without an equality of its own": (
        "class Plain:\n    pass",
        CONV.format("3 if Plain.__eq__ is object.__eq__ else 5"),
        3,
    ),
    "a class with one": (
        "class Own:\n    def __eq__(self, other):\n        return True",
        CONV.format("3 if Own.__eq__ is object.__eq__ else 5"),
        5,
    ),
    "a path from one path to another": (
        "import os\nfrom pathlib import Path",
        CONV.format("len(os.path.relpath(Path('/a/bcd'), Path('/a')))"),
        3,
    ),
    "a named tuple by its metaclass": (NAMED_TUPLE_META, CONV.format("State(depth=5).depth + State().width"), 13),
    "a module that the program insists on": (INSISTED_ON, CONV.format("7"), 7),
    "how many batches a loader's sampler gives": (LOADER, CONV.format("len(loader.batch_sampler)"), 5),
    "a sampler that is put in its place": (REPEATING, CONV.format("len(Endless(loader.dataset, batch_size=8))"), 9),
    "parameters beside other things in a dict": (
        "import torch",
        "nn.ParameterDict({'a': [torch.zeros(3)], 'b': nn.ParameterList([torch.zeros(7)]), 'c': torch.zeros(5)})",
        12,
    ),
    "parameters beside other things in a list": (
        "import torch",
        "nn.ParameterList([torch.zeros(4), 3.0, nn.ParameterList([torch.zeros(9)])])",
        13,
    ),
    "what a container of parameters holds": (
        "import torch\nheld = nn.ParameterList([3, torch.zeros(2), nn.Linear(1, 1)])\nheld.append(torch.zeros(4))",
        CONV.format("held[0] + len(held) + held[-1].numel() + held[2].in_features"),
        12,
    ),
    "tensors of one value in nested lists": (
        "import torch\nturn = torch.ones(1)",
        CONV.format("torch.tensor([[turn.cos(), turn.sin(), 0], [turn, turn, 0]]).numel()"),
        6,
    ),
    "what torch's classes keep for themselves": (
        "import torch\nfrom torch.utils.tensorboard import SummaryWriter\nmake = torch.Tensor._make_subclass",
        CONV.format("8 if callable(SummaryWriter.close) else 3"),
        8,
    ),
    "a leaf that is computed without a gradient": (
        LEAF,
        CONV.format("left.numel() + left.is_leaf"),
        7,
    ),
}


@pytest.mark.parametrize("rule", PROGRAMS)
def test_what_is_there_is_no_error(rule: str) -> None:
    before, expression, expected = PROGRAMS[rule]
    program = (
        f"from torch import nn\n{before}\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    )
    program += f"        self.inner = {expression}\n        self.last = nn.Conv2d(1, 1, 1, bias=False)\n"
    program += "    def forward(self, x):\n        return self.last(x)\nmodel = Net()\n"
    settings = Settings(input_shape=Fact((1, 8, 8), "option"))
    reports = analyse(Source("run.py", program), settings, "model").reports
    (report,) = (each for each in reports if each.name == "Net")
    assert report.parameters == expected + 1
    assert not any("raises" in cause.reason for cause in report.causes)
