"""What objects of torch's classes have is followed, or known to exist and not followed; nothing else is there.

As it was measured with PyTorch (fixtures/truth/members.json, tests/oracle/measure_members.py).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.frameworks import torch
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance
from tests.frameworks.torch.code import Ran

TRUTH = json.loads((Path(__file__).parents[2] / "fixtures" / "truth" / "members.json").read_text())["members"]


def class_of(dotted: str) -> Class:
    """The class that a program finds under this name."""
    module, _, name = dotted.rpartition(".")
    found = frameworks.find_module(module)
    assert found is not None
    value = Interpreter([], strict=True).find(found, name)
    assert isinstance(value, Class), dotted
    return value


@pytest.mark.parametrize("dotted", TRUTH)
def test_every_member_is_followed_or_a_cause_of_its_own(dotted: str) -> None:
    cls = class_of(dotted)
    for name in TRUTH[dotted]:
        run = Interpreter([], strict=True)
        found = run.find(Instance(cls), name) if cls.find(name) is MISSING else cls.find(name)
        assert found is not MISSING, name
        if isinstance(found, Unknown) and found.reason.endswith(" is not followed"):
            assert name in found.reason


@pytest.mark.parametrize("dotted", TRUTH)
def test_no_object_has_anything_else(dotted: str) -> None:
    assert Interpreter([], strict=True).find(Instance(class_of(dotted)), "wavelet") is MISSING


def test_the_package_has_what_was_measured() -> None:
    for dotted, names in TRUTH.items():
        cls = Class(dotted.rpartition(".")[2], module=dotted.rpartition(".")[0])
        assert all(torch.has_member(cls, name) for name in names)


CODE = """\
import torch
from torch import nn, optim

net = nn.Linear(3, 2)
optimizer = optim.SGD(net.parameters(), lr=0.1)
plateau = optim.lr_scheduler.ReduceLROnPlateau(optimizer)
best = plateau.best
both = torch.utils.data.ConcatDataset([[1], [2]])
ends = both.cumsum
there = hasattr(plateau, "last_epoch"), hasattr(both, "cumulative_sizes")
absent = hasattr(plateau, "warmup"), hasattr(optimizer, "is_second_order"), hasattr(both, "classes")


class Data(torch.utils.data.Subset):
    pass


absent += (hasattr(Data([1], [0]), "transform"),)
"""


def test_code_that_asks_gets_the_frameworks_answer() -> None:
    ran = Ran(CODE)
    assert ran["best"].reason == "torch.optim.lr_scheduler.ReduceLROnPlateau.best is not followed"
    assert ran["ends"].reason == "torch.utils.data.ConcatDataset.cumsum is not followed"
    assert False not in ran["there"]
    assert ran["absent"] == (False, False, False, False)
