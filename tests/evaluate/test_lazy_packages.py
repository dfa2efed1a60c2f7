"""Packages that load their parts when they are asked for, as the large model libraries do."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PACKAGE = """
import importlib, importlib.util, sys
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import TYPE_CHECKING

_structure = {"nets": ["Net"]}

def available(name):
    if importlib.util.find_spec(name) is None:
        return False
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False

class Lazy(ModuleType):
    def __init__(self, name, file, structure, module_spec=None):
        super().__init__(name)
        self._places = {word: place for place, words in structure.items() for word in words}
    def __getattr__(self, name):
        return getattr(importlib.import_module("." + self._places[name], self.__name__), name)

if TYPE_CHECKING:
    try:
        if not available("torch"):
            raise ImportError
    except ImportError:
        from .dummies import *
    else:
        from .nets import Net
else:
    sys.modules[__name__] = Lazy(__name__, globals()["__file__"], _structure, module_spec=__spec__)
"""
NETS = """
from torch import nn
from . import available

def documented(function):
    if function.__qualname__.split(".")[0] != "Net":
        raise ValueError(function.__qualname__)
    return function

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2) if available("torch") and not available("no_such_package") else None
    @documented
    def forward(self, x):
        return self.fc(x.flatten(1))
"""


@pytest.mark.parametrize("how", ["from lazy import Net\nnet = Net()\n", "import lazy\nnet = lazy.Net()\n"])
def test_a_lazy_package_gives_its_parts(how: str, tmp_path: Path) -> None:
    package = tmp_path / "lazy"
    package.mkdir()
    (package / "__init__.py").write_text(PACKAGE)
    (package / "nets.py").write_text(NETS)
    (package / "dummies.py").write_text("class Net:\n    pass\n")
    settings = Settings(search_path=(str(tmp_path),))
    (report,) = analyse(Source(str(tmp_path / "train.py"), "import torch\n" + how), settings).reports
    assert (report.name, report.status, report.parameters) == ("Net", "exact", 18)


ATTACH = """
import importlib

def attach(package_name, submodules=None, submod_attrs=None):
    submodules = set(submodules or ())
    places = {name: place for place, names in (submod_attrs or {}).items() for name in names}
    def __getattr__(name):
        if name in submodules:
            return importlib.import_module(f"{package_name}.{name}")
        if name in places:
            return getattr(importlib.import_module(f"{package_name}.{places[name]}"), name)
        raise AttributeError(name)
    return __getattr__, lambda: [], sorted(submodules | places.keys())

def attach_stub(package_name, filename):
    import ast
    class Visitor(ast.NodeVisitor):
        pass
"""


@pytest.mark.parametrize("asked", ["parts.Net()", "parts.nets.Net()"])
def test_the_stub_beside_a_package_says_where_its_parts_are(asked: str, tmp_path: Path) -> None:
    """lazy_loader's `attach_stub`, which walks the stub with `ast`; `attach` is read from its source."""
    package = tmp_path / "parts"
    package.mkdir()
    (tmp_path / "lazy_loader.py").write_text(ATTACH)
    (package / "__init__.py").write_text(
        "import lazy_loader as lazy\navailable = lambda name: name == 'torch'\n"
        "__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)\n"
    )
    (package / "__init__.pyi").write_text("from . import nets\nfrom .nets import Net as Net\n")
    (package / "nets.py").write_text(NETS)
    settings = Settings(search_path=(str(tmp_path),))
    text = f"import torch\nimport parts\nnet = {asked}\n"
    (report,) = analyse(Source(str(tmp_path / "train.py"), text), settings).reports
    assert (report.name, report.status, report.parameters) == ("Net", "exact", 18), report.causes


STARS = """
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .models import *
else:
    sys.modules[__name__] = read_all_files_of_the_package(__file__)
"""
PARTS = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .large import *
    from .net import *
"""
PART = """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .modeling_net import *
"""


def test_a_package_that_declares_its_parts_by_stars_gives_them(tmp_path: Path) -> None:
    models = tmp_path / "lazy" / "models"
    (models / "net").mkdir(parents=True)
    (models / "large").mkdir()
    (tmp_path / "lazy" / "__init__.py").write_text(STARS)
    (models / "__init__.py").write_text(PARTS)
    (models / "net" / "__init__.py").write_text(PART)
    (models / "large" / "__init__.py").write_text("raise NetError")
    net = NETS.replace("from . import available", "available = lambda name: name == 'torch'")
    (models / "net" / "modeling_net.py").write_text(net + "\n__all__ = ['Net', 'NetError']\n")
    settings = Settings(search_path=(str(tmp_path),))
    text = "import torch\nfrom lazy import Net\nnet = Net()\n"
    (report,) = analyse(Source(str(tmp_path / "train.py"), text), settings).reports
    assert (report.name, report.status, report.parameters) == ("Net", "exact", 18)


@pytest.mark.parametrize(("text", "there"), [("", 0), ("import bitsandbytes\n", 1)], ids=["not named", "named"])
def test_a_package_that_is_known_without_its_source_is_installed_where_it_is_named(
    text: str, there: int, tmp_path: Path
) -> None:
    (tmp_path / "parts.py").write_text(
        "import importlib.util\nwidth = 1 if importlib.util.find_spec('bitsandbytes') is not None else 0\n"
    )
    program = f"{text}from torch import nn\nfrom parts import width\nnet = nn.Sequential(nn.Linear(3, 1 + width))\n"
    (report,) = analyse(Source(str(tmp_path / "train.py"), program), Settings()).reports
    assert report.parameters == 4 * (1 + there)


GLOBALS = """
import types
from torch import nn
from widths import helper, W

copied = types.FunctionType(helper.__code__, helper.__globals__, name="x", argdefs=helper.__defaults__)
names = helper.__globals__
names.update({"V": 2}, U=6)
model = nn.Linear(helper() + names.setdefault("W", 9), names.setdefault("Q", 3) + names.copy()["Q"] + names["U"])
"""


def test_the_globals_of_an_imported_function_are_its_modules_own(tmp_path: Path) -> None:
    """Of PyTorch: `Linear(in_features=12, out_features=12)`."""
    (tmp_path / "widths.py").write_text("W = 5\n\ndef helper():\n    return W + V\n\nprint(needed_by_nobody())\n")
    settings = Settings(search_path=(str(tmp_path),))
    (report,) = analyse(Source(str(tmp_path / "train.py"), GLOBALS), settings, "model").reports
    assert report.parameters == 12 * 12 + 12, report.causes
