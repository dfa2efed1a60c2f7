"""Registries are filled by modules that nobody imports, and dicts that nobody fills are not taken for them."""

from __future__ import annotations

import ast
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.evaluate import registries
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.registries import imported_packages, may_fill, may_register, mentioned, places
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, load
from flake8_cnnmem.text.files import DISK
from flake8_cnnmem.values import Class, Instance, Value

NET = """
import torch
from torch import nn
from zoo.registry import make

net = make("wide")
net(torch.zeros(1, 1))
"""

MAKE = """
def make(name):
    return TABLE[name]() if name in TABLE else None
"""

BLOCK = "from torch import nn\n\ndef wide():\n    return nn.Sequential(nn.Linear(1, 3))\n\n"

OBJECT = """
class Registry:
    def __init__(self):
        self.made = {}

    def register(self, function):
        self.made[function.__name__] = function
        return function

MODELS = Registry()

def make(name):
    return MODELS.made[name]()
"""

IN_A_BRANCH = """
from torch import nn
from zoo.registry import MODELS

class Blocks:
    @staticmethod
    def wide():
        return nn.Sequential(nn.Linear(1, 3))

if not hasattr(nn, "Wide"):
    MODELS.register(Blocks.wide)
"""

COMPUTED = """
TABLE = {}

def put(function):
    TABLE[function.__name__.lower().replace("_", "")] = function

def decorating(fill):
    def decorate(function):
        fill(function)
        return function
    return decorate

register = decorating(put)

def make(name):
    if name in TABLE:
        return TABLE[name]()
    raise ValueError(name)
"""

FILLED = {
    "by a decorator that its module defines": (
        "TABLE = {}\n\ndef register(function):\n    TABLE[function.__name__] = function\n    return function\n" + MAKE,
        "from zoo.registry import register\n" + BLOCK.replace("def wide", "@register\ndef wide"),
    ),
    "by an item that another module sets": (
        "TABLE = {}\n" + MAKE,
        BLOCK + "from zoo.registry import TABLE\nTABLE['wide'] = wide\n",
    ),
    "by an update from another module": (
        "TABLE = {}\n" + MAKE,
        BLOCK + "from zoo import registry\nregistry.TABLE.update({'wide': wide})\n",
    ),
    "by a function that hands it on": (
        "TABLE = {}\n\ndef put(table, name, made):\n    table[name] = made\n\n"
        "def register(name, made):\n    put(TABLE, name, made)\n" + MAKE,
        BLOCK + "from zoo.registry import register\nregister('wide', wide)\n",
    ),
    "by a method of the object that holds it": (
        OBJECT,
        "from zoo.registry import MODELS\n" + BLOCK.replace("def wide", "@MODELS.register\ndef wide"),
    ),
    "in a branch, by an attribute": (
        OBJECT,
        IN_A_BRANCH,
    ),
    "by a call, under a key that is computed": (
        COMPUTED,
        BLOCK.replace("wide", "Wi_De") + "from zoo.registry import put\nput(Wi_De)\n",
    ),
    "by a decorator that is made of what fills it, under a key that is computed": (
        COMPUTED,
        "from zoo.registry import register\n" + BLOCK.replace("def wide", "@register\ndef Wi_De"),
    ),
}


@pytest.mark.parametrize(("registry", "blocks"), FILLED.values(), ids=FILLED)
def test_a_registry_is_filled(registry: str, blocks: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"zoo/__init__.py": "", "zoo/registry.py": registry, "zoo/blocks.py": blocks, "net.py": NET}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [model] = analyse(load("net.py"), Settings()).reports
    assert (model.status, model.parameters) == ("exact", 6), model.causes


def test_nobody_else_registers_by_the_programs_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that note themselves by their `__name__` are not run for "__main__", which is none of theirs: in Python
    the list has one item here."""
    registry = "NOTED = {}\nORDER = []\n\ndef note(name):\n    if name not in NOTED:\n        NOTED[name] = 1\n"
    registry += "        ORDER.append(name)\n"
    net = "from torch import nn\nfrom zoo.registry import ORDER, note\n\nnote(__name__)\n"
    net += "net = nn.Sequential(nn.Linear(1, len(ORDER)), nn.ReLU())\n"
    blocks = "from zoo.registry import note\nnote(__name__)\n"
    files = {"zoo/__init__.py": "", "zoo/registry.py": registry, "zoo/blocks.py": blocks, "net.py": net}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [model] = analyse(load("net.py"), Settings()).reports
    assert model.parameters == 2, model.causes


@pytest.mark.parametrize(("key", "calls"), [("NARROW", 0), ("WIDE", 1)])
def test_a_filler_that_asks_for_its_own_key_runs_no_other_module(
    key: str, calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`register` asks whether the key is there that it is about to put there: who reads another one, which the text of
    no module shows, has all that register run. Python gives 6 parameters for either."""
    registry = "TABLE = {}\n\ndef register(function):\n    word = function.__name__.upper()\n    if word in TABLE:\n"
    registry += "        raise ValueError(word)\n    TABLE[word] = function\n    return function\n\n"
    registry += "def make(name):\n    return TABLE[name]()\n"
    wide = f"from zoo.registry import register\n{BLOCK}register(wide)\n"
    own = f"from zoo.registry import register\n{BLOCK.replace('wide', 'narrow')}register(narrow)\n"
    net = own + NET.replace('net = make("wide")', f'net = make("{key}")')
    files = {"zoo/__init__.py": "from zoo import wide\n", "zoo/registry.py": registry, "zoo/wide.py": wide}
    (tmp_path / "lib" / "zoo").mkdir(parents=True)
    (tmp_path / "own").mkdir()
    for name, text in files.items():
        (tmp_path / "lib" / name).write_text(text, encoding="utf-8")
    (tmp_path / "own" / "net.py").write_text(net, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "own")
    asked: list[Any] = []
    run = registries.register_by_calls

    def noted(*given: Any) -> None:
        asked.append(given)
        run(*given)

    monkeypatch.setattr(registries, "register_by_calls", noted)
    [model] = analyse(load("net.py"), Settings(search_path=(str(tmp_path / "lib"),))).reports
    assert (model.status, model.parameters) == ("exact", 6), model.causes
    assert len(asked) == calls


def test_a_package_that_only_other_modules_import_registers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = "from mmengine.registry import MODELS\nfrom extra import unused\n\ndef make(name):\n"
    registry += "    return MODELS.build({'type': name})\n"
    blocks = "from torch import nn\nfrom mmengine.registry import MODELS\n\n@MODELS.register_module()\n"
    blocks += "class wide(nn.Linear):\n    def __init__(self):\n        super().__init__(1, 3)\n"
    net = NET.replace('net = make("wide")', 'net = nn.Sequential(make("wide"), nn.ReLU())')
    files = {"zoo/__init__.py": "", "zoo/registry.py": registry, "extra/__init__.py": "unused = 1\n",
             "extra/blocks.py": blocks, "net.py": net}  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [model] = analyse(load("net.py"), Settings()).reports
    assert (model.status, model.parameters) == ("exact", 6), model.causes


USES = {
    "an item is set in a function": ("def f(k):\n    T[k] = 1", True),
    "it is updated": ("def f(k):\n    T.update(k)", True),
    "it is handed to a class": ("r = Registry(T)", True),
    "it has another name": ("U = T", True),
    "it is returned": ("def f():\n    return T", True),
    "it is bound anew in a function": ("def f():\n    global T\n    T = {}", True),
    "an item is removed": ("def f(k):\n    del T[k]", True),
    "nothing is done with it": ("", False),
    "it is asked for a key": ("def f(k):\n    return k in T", False),
    "an item is read": ("def f(k):\n    return T[k]", False),
    "its items are gone through": ("def f():\n    for k, v in T.items():\n        print(k, T.get(k))", False),
    "its keys are gone through": ("K = [k for k in T if k]\nN = len(T)\nS = sorted(T)", False),
}


@pytest.mark.parametrize(("use", "may"), USES.values(), ids=USES)
def test_a_dict_may_be_filled_by_its_own_module_where(use: str, may: bool) -> None:
    table: dict[Value, Value] = {"a": 1}
    module = Module("m", Source("m.py", f"T = {{'a': 1}}\n{use}\n"))
    module.variables["T"] = table
    assert may_fill(module, table, "T") is may


OBJECT_USES = {
    "it is given an item in a function": ("def f(k):\n    T[k] = 1", True),
    "a method of it is called": ("def f(k):\n    return T.get(k)", True),
    "what it holds is changed": ("def f(k):\n    T.made.update(k)", True),
    "it is handed on": ("def f():\n    return g(T)", True),
    "it is asked for an item": ("def f(k):\n    return T[k]", False),
    "what it holds is asked for a key": ("def f(k):\n    return k in T.made and T.made[k]", False),
}


@pytest.mark.parametrize(("use", "may"), OBJECT_USES.values(), ids=OBJECT_USES)
def test_an_object_that_holds_a_dict_may_be_filled_by_its_own_module_where(use: str, may: bool) -> None:
    table: dict[Value, Value] = {}
    module = Module("m", Source("m.py", f"T = Registry()\n{use}\n"))
    module.variables["T"] = Instance(Class("Registry", ()), {"made": table})
    assert may_fill(module, table, "T") is may


TEXTS = {
    "a function of that name": ("def net():\n    pass\n", True),
    "a class of that name": ("x = 1\nclass net(Base): pass\n", True),
    "the key as a string": ("MODELS['net'] = 1\n", True),
    "the key in other quotes": ('register("net")\n', True),
    "a loop over attributes": ("for each in (nn.other, nn.net):\n    register(each)\n", True),
    "a loop over attributes on several lines": ("for each in (\n    nn.net,\n):\n    register(each)\n", True),
    "an attribute elsewhere": ("x = nn.net\n", False),
    "an attribute in a loop's body": ("for each in those:\n    nn.net(each)\n", False),
    "a method of that name": ("class A:\n    def net(self): pass\n", False),
    "a longer name": ("def network(): pass\n", False),
    "a part of a string": ("x = 'a net of'\n", False),
    "a call": ("net()\n", False),
    "an attribute that a call registers": ("register(module=nn.net)\n", True),
    "an attribute that another call is given": ("make(nn.net)\n", False),
    "nothing of it": ("def other(): pass\n", False),
}


@pytest.mark.parametrize(("text", "may"), TEXTS.values(), ids=TEXTS)
def test_a_text_may_register_a_key_where(text: str, may: bool) -> None:
    assert may_register(text, "net") is may


def test_statements_are_known_by_what_they_mention() -> None:
    text = "@register\ndef a(): pass\ndef b(): pass\nM['c'] = a\ndef fill():\n    M['d'] = 1\nfill()\nx: int = 'e'\n"
    found = mentioned(ast.parse(text).body)
    assert {word: found.get(word) for word in ("a", "b", "c", "d", "e")} == {
        "a": [0, 2], "b": None, "c": [2], "d": [4], "e": None,
    }  # fmt: skip


def test_the_places_of_a_file_are_known_without_loading_it_as_a_module(tmp_path: Path) -> None:
    texts = {
        "uses.py": "def f():\n    return T['wide']\n",
        "fills.py": "import a\nT['wide'] = a\n",
        "broken.py": "'wide' =",
    }
    importer: Any = SimpleNamespace(mentioned={}, files=DISK)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = {name: list(places(importer, str(tmp_path / name), text, "wide")) for name, text in texts.items()}
    assert found == {"uses.py": [], "fills.py": [1], "broken.py": []}
    assert not places(importer, str(tmp_path / "gone.py"), "", "")


def test_packages_that_modules_load_are_known_by_their_outlines() -> None:
    text = "from b.c import d\nimport x.y, b\nfrom . import e\nfrom .f import g\nimport x.z\n"
    module = Module("m", Source("m.py", text))
    module.index()
    assert imported_packages([module]) == ["x", "b"]
    assert module.source.syntax.tree is None


INSTALLED = {
    "factors/__init__.py": "from factors.core import Factor\nfrom factors.kinds import WideFactor\n",
    "factors/core.py": """
from torch import nn

class Factor(nn.Module):
    kinds = {}

    def __init_subclass__(cls, kind="", **options):
        super().__init_subclass__(**options)
        Factor.kinds[kind.lower()] = cls

    @staticmethod
    def make(kind, width):
        try:
            cls = Factor.kinds[kind.lower()]
        except KeyError:
            raise ValueError(f"no kind {kind}")
        return cls(width)
""",
    "factors/kinds.py": """
from torch import nn
from factors.core import Factor

class WideFactor(Factor, kind="Wide"):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Linear(width, 3), nn.Linear(3, 2)
    def forward(self, x):
        return self.b(self.a(x))
""",
}


@pytest.mark.parametrize(("kind", "wanted"), [("wide", 5 * 3 + 3 + 3 * 2 + 2), ("narrow", None)])
def test_an_installed_package_completes_its_registry_before_a_key_is_missing(
    kind: str, wanted: int | None, tmp_path: Path
) -> None:
    """The keys are computed, and no text shows them; 26 parameters by PyTorch's own layers, 5 x 3 + 3 and 3 x 2 + 2."""
    site = tmp_path / "environment" / "site-packages"
    for name, text in INSTALLED.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    program = tmp_path / "project" / "train.py"
    program.parent.mkdir()
    program.write_text(f"import torch\nfrom factors import Factor\n\nnet = Factor.make({kind!r}, 5)\n")
    found = analyse(load(str(program)), Settings(search_path=(str(site),)))
    assert [report.parameters for report in found.reports] == ([wanted] if wanted else [])
