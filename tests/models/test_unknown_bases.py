"""Classes with a base whose source is not found: what the file itself says still counts, as a lower bound."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.training import Fact
from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran

NET = """
import torch
from torch import nn
from nowhere import Base, Mixin

class Net({bases}):
    {new}
    def __init__(self):
        super().__init__({arguments})
        self.conv = nn.Conv2d(3, 8, 3)
        self.fc = nn.Linear(8, 10)
    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))
"""
NEW = "def __new__(cls, *args): return super().__new__(cls)"
PARAMETERS = 8 * 3 * 9 + 8 + 10 * 8 + 10

CASES = {
    "a module alone, with a __new__ of its own": ("nn.Module", NEW, "", "exact"),
    "a mixin behind the module": ("nn.Module, Mixin", "", "", "lower-bound"),
    "a mixin before the module": ("Mixin, nn.Module", "", "", "lower-bound"),
    "a mixin and a __new__": ("nn.Module, Mixin", NEW, "", "lower-bound"),
    "only a base that is not known": ("Base", "", "", "lower-bound"),
    "a base that is not known takes arguments": ("Base", "", "config=3", "lower-bound"),
}


@pytest.mark.parametrize(("bases", "new", "arguments", "status"), CASES.values(), ids=CASES)
def test_what_the_file_says_counts(bases: str, new: str, arguments: str, status: str) -> None:
    text = NET.format(bases=bases, new=new or "pass", arguments=arguments)
    settings = Settings(input_shape=Fact((3, 32, 32), "option"))
    (report,) = analyse(Source("net.py", text), settings).reports
    assert report.parameters == PARAMETERS
    assert report.status == status
    assert [cause.reason for cause in report.causes] == ["the source of 'nowhere' is not found"] * (status != "exact")


def test_a_class_of_another_framework_is_not_taken_for_a_module() -> None:
    text = NET.format(bases="Base", new="pass", arguments="").replace("import torch\nfrom torch import nn", "import nn")
    assert analyse(Source("net.py", text), Settings()).reports == ()


TRACER = """
from nowhere import Tracer

class Own(Tracer):
    def __init__(self):
        super().__init__()
        self.nodes, self.names, self.seen, self.depth = {}, [], set(), 3

    def go(self):
        super().trace()

own = Own()
"""

FILLED = {
    "a method of the base": ("own.trace(4)", ("nodes", "names", "seen")),
    "by way of super()": ("own.go()", ("nodes", "names", "seen")),
    "what is only asked for": ("found = own.graph", ()),
    "another object's method": ("Own().trace(4)", ()),
}


@pytest.mark.parametrize(("code", "lost"), FILLED.values(), ids=FILLED)
def test_a_method_of_a_base_that_is_not_known_may_fill_what_an_object_holds(code: str, lost: tuple[str, ...]) -> None:
    ran = Ran(f"{TRACER}{code}\nlengths = [len(own.nodes), len(own.names), len(own.seen)]\ndepth = own.depth\n")
    lengths = ran["lengths"]
    assert isinstance(lengths, list)
    assert [isinstance(length, Unknown) for length in lengths] == [word in lost for word in ("nodes", "names", "seen")]
    assert ran["depth"] == 3


def test_modules_that_are_not_known_are_no_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")
    text = NET.format(bases="nn.Module", new="", arguments="")
    text += "\nnet = Net()\nnet._modules = Base.modules_of(net)\nnet(torch.zeros(2, 3, 8, 8))\n"
    assert all(report.status != "exact" for report in analyse(Source("net.py", text), Settings()).reports)
