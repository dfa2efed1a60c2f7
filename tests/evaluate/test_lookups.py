"""How attributes are looked up: a class's own `__getattribute__`, methods that a decorator may have replaced, names
with underscores that `import *` hands on; and literals that are read from text."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.training import Fact

MAPPED = """
class Config:
    names = {}
    def __getattribute__(self, key):
        if key != "names" and key in super().__getattribute__("names"):
            key = super().__getattribute__("names")[key]
        return super().__getattribute__(key)
class Own(Config):
    names = {"hidden": "width", "depth": "layers"}
    depth = 50
config = Own()
config.width, config.layers = 6, 2
"""
REPLACED = """
import functools
import somewhere
def decorated(method):
    if not somewhere.is_there():
        return method
    @functools.wraps(method)
    def wrapper(self, *args):
        return method(self, *args)
    return wrapper
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(1, 7, 1, bias=False)
    @decorated
    def encode(self, x):
        return self.layer(x)
    def forward(self, x):
        return self.encode(x)
"""
PROGRAMS: dict[str, tuple[str, str, int]] = {
    "a name that stands for another": (MAPPED, "nn.Conv2d(1, config.hidden, 1, bias=False)", 6),
    "also where there is one of that name": (MAPPED, "nn.Conv2d(1, config.depth, 1, bias=False)", 2),
    "a name that is missing": (MAPPED, "nn.Conv2d(1, getattr(config, 'gone', 3), 1, bias=False)", 3),
    "a method that may be a wrapper": (REPLACED, "Net()", 7),
    "a version that is handed on": ("import kept", "nn.Conv2d(1, len(kept.__version__), 1, bias=False)", 5),
    "a literal": ("import ast", "nn.Conv2d(1, ast.literal_eval('[4, {\"a\": 9}]')[1]['a'], 1, bias=False)", 9),
}


@pytest.mark.parametrize("rule", PROGRAMS)
def test_a_lookup(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, expression, expected = PROGRAMS[rule]
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "__init__.py").write_text("from .version import *\n", encoding="utf-8")
    version = "__version__ = '1.2.3'\n__all__ = ['__version__']\n"
    (tmp_path / "kept" / "version.py").write_text(version, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    program = f"from torch import nn\n{before}\nmodel = {expression}\n"
    (report,) = analyse(Source("run.py", program), Settings(input_shape=Fact((1, 8, 8), "option")), "model").reports
    assert report.parameters == expected
    assert not any("raises" in cause.reason for cause in report.causes)


@pytest.mark.parametrize("text", ["'(' * 5000", "'1' * 20000", "'x + 1'", "'['"])
def test_a_text_that_is_no_literal(text: str) -> None:
    program = f"import ast\nfrom torch import nn\nmodel = nn.Conv2d(1, ast.literal_eval({text}), 1)\n"
    (report,) = analyse(Source("run.py", program), Settings(), "model").reports
    assert report.status != "exact"
