"""Settings in Python that build on one another, and what registers a key: a row for a rule, by what mmengine 0.10
does."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

BASE = "widths = [3, 5]\nmodel = dict(type='Net', width=4, head=dict(classes=2, bias=True))\n"


def report(folder: Path, files: dict[str, str], program: str, monkeypatch: pytest.MonkeyPatch) -> ModelReport:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    (found,) = analyse(Source("run.py", program), Settings(), "model").reports
    return found


READ = """
from torch import nn
from mmengine.config import Config
cfg = Config.fromfile("own.py")
model = nn.Sequential(nn.Conv2d(1, {}, 1, bias=False))
"""

TAKES_IN = "from mmengine.config import read_base\nwith read_base():\n    from .base import model\nmodel.width = 12"

SETTINGS: dict[str, tuple[dict[str, str], str, int]] = {
    "what is not said stays": ({"own.py": "_base_ = './base.py'\nmodel = dict(head=dict(classes=7))"},
                               "cfg.model.head.classes * 10 + cfg.model.width", 74),
    "a dict in the place of another": ({"own.py": "_base_ = ['base.py']\nmodel = dict(_delete_=True, width=9)"},
                                       "len(cfg.model) * 10 + cfg['model']['width']", 19),
    "a list is not merged": ({"own.py": "_base_ = ['base.py']\nwidths = [1]"}, "len(cfg.widths)", 1),
    "a name of the base in code": ({"own.py": "_base_ = ['base.py']\ntwice = _base_.model.width * 2"}, "cfg.twice", 8),
    "a name of the base in braces": ({"own.py": "_base_ = ['base.py']\ntwice = {{_base_.model.width}}"},
                                    "cfg.twice", 4),
    "the file's own name": ({"own.py": "name = '{{ fileBasenameNoExtension }}'"}, "len(cfg.name)", 3),
    "a variable of the environment": ({"own.py": "size = {{$SIZE:6}}"}, "cfg.size", 6),
    "functions and modules are no settings": ({"own.py": "import os\ndef f():\n    return 1\nsize = f()"},
                                              "len(cfg) * 10 + cfg.size", 11),
    "the default of get": ({"own.py": "size = 2"}, "cfg.get('none', 8)", 8),
    "over two files": ({"mid.py": "_base_ = 'base.py'\nmodel = dict(width=6)", "own.py": "_base_ = 'mid.py'"},
                       "cfg.model.width", 6),
    "YAML below Python": ({"base.yaml": "model:\n  width: 11\n", "own.py": "_base_ = 'base.yaml'"},
                          "cfg.model.width", 11),
    "imported names": (
        {"own.py": TAKES_IN}, "cfg.model.width", 12,
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", SETTINGS)
def test_settings_over_settings(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, expression, expected = SETTINGS[rule]
    found = report(tmp_path, {"base.py": BASE, **files}, READ.format(expression), monkeypatch)
    assert (found.parameters, [cause.reason for cause in found.causes if "channels" in cause.reason]) == (expected, [])


FAILING: dict[str, dict[str, str]] = {
    "two bases that say the same": {"own.py": "_base_ = ['base.py', 'more.py']", "more.py": "widths = 1"},
    "a dict over what is none": {"own.py": "_base_ = 'base.py'\nwidths = dict(a=1)"},
    "files that build on each other": {"own.py": "_base_ = 'more.py'", "more.py": "_base_ = 'own.py'"},
    "a file that is not there": {"own.py": "_base_ = 'gone.py'"},
    "a file outside of the project": {"own.py": "_base_ = '/etc/hosts'"},
    "no Python": {"own.py": "model = ("},
}


@pytest.mark.parametrize("fault", FAILING)
def test_settings_that_cannot_be_read_are_not_guessed(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = report(tmp_path, {"base.py": BASE, **FAILING[fault]}, READ.format("cfg.model.width"), monkeypatch)
    assert found.status != "exact"
    assert found.causes


NETS = """
from torch import nn
from mmengine.registry import MODELS

@MODELS.register_module()
class Wide(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Conv2d(1, width, 1))

for each in (nn.GELU, nn.ReLU6):
    MODELS.register_module(module=each)
"""

SCOPED = """
MINE = Registry('model', parent=MODELS, scope='mine')

@MINE.register_module('small')
def small(width):
    return nn.Sequential(nn.Conv2d(1, width, 1))

model = MODELS.build(dict(type='mine.small', width=2))
"""
INHERITS = """
import nets
MINE = Registry('model', parent=MODELS, scope='m')
model = MINE.build(dict(type='Wide', width=6))
"""

BUILT: dict[str, tuple[str, int]] = {
    "a module that is imported for its effect": ("import nets\nmodel = MODELS.build(dict(type='Wide', width=4))", 8),
    "with default arguments": ("import nets\nmodel = MODELS.build(dict(type='Wide'), default_args=dict(width=3))", 6),
    "classes that a loop registers": (
        "import nets\nmodel = MODELS.build([dict(type='Wide', width=5), dict(type='ReLU6')])", 10,
    ),
    "a scope of its own": (SCOPED, 4),
    "a parent's": (INHERITS, 12),
}  # fmt: skip

HEAD = "from torch import nn\nfrom mmengine.registry import MODELS, Registry\n"


@pytest.mark.parametrize("rule", BUILT)
def test_what_a_registry_builds(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, expected = BUILT[rule]
    assert report(tmp_path, {"nets.py": NETS}, HEAD + program, monkeypatch).parameters == expected


def test_what_nothing_registers_is_a_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = report(tmp_path, {}, HEAD + "model = nn.Sequential(MODELS.build(dict(type='Gone')))", monkeypatch)
    assert [cause.reason for cause in found.causes][:1] == ["nothing that is found registers Gone"]
