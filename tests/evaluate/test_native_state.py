"""What one file changes about the frameworks, the library or the builtins is not seen by the next one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.reporting import as_json
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

IMPORTS = "import builtins, logging, os, sys, typing, warnings\nimport torch\nimport keras\nfrom torch import nn\n"

NET = """\
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Linear(5, 4 if {probe} else 6))
net(torch.zeros(1, 3, 7, 7))
"""

CHANGES = {
    "a method of a layer is replaced": ("nn.Conv2d.forward = lambda self, x: x", "False"),
    "a layer is replaced": ("torch.nn.Linear = nn.Identity", "nn.Linear is nn.Identity"),
    "every module gets an attribute": ("setattr(nn.Module, 'mine', 1)", "hasattr(nn.Module, 'mine')"),
    "the dict of a class is written to": ("vars(nn.Module)['mine'] = 1", "hasattr(nn.Module, 'mine')"),
    "a method of a layer is deleted": ("del nn.Linear.forward", "not hasattr(nn.Linear, 'forward')"),
    "a dtype gets an attribute": ("torch.float32.mine = 1", "hasattr(torch.float32, 'mine')"),
    "a class of Keras gets an attribute": ("keras.layers.Dense.mine = 1", "hasattr(keras.layers.Dense, 'mine')"),
    "a module of Keras gets an attribute": ("keras.layers.Mine = 1", "hasattr(keras.layers, 'Mine')"),
    "Keras' image format is set": (
        "keras.backend.set_image_data_format('channels_first')",
        "keras.backend.image_data_format() == 'channels_first'",
    ),
    "the default dtype is set": ("torch.set_default_dtype(torch.float64)", "torch.zeros(1).dtype == torch.float64"),
    "a builtin is replaced": ("builtins.len = lambda x: 7", "len([]) == 7"),
    "a builtin class gets an attribute": ("Exception.mine = 1", "hasattr(Exception, 'mine')"),
    "the environment is set": ("os.environ['MINE'] = '1'", "os.environ.get('MINE') == '1'"),
    "the search path is extended": ("sys.path.append('mine')", "'mine' in sys.path"),
    "a stream gets an attribute": ("sys.stdout.mine = 1", "hasattr(sys.stdout, 'mine')"),
    "a switch of the framework is set": (
        "torch.backends.cudnn.mine = True",
        "getattr(torch.backends.cudnn, 'mine', None) is True",
    ),
}


def models(text: str) -> Sequence[ModelReport]:
    return analyse(Source("net.py", IMPORTS + text), Settings()).reports


def report(text: str) -> str:
    """What users see of a file's models."""
    return as_json.render(models(text))


@pytest.mark.parametrize(("change", "probe"), CHANGES.values(), ids=CHANGES)
def test_a_change_ends_with_its_file(change: str, probe: str) -> None:
    # A directory of names that is not known may answer a probe with "unknown": as long as it does so every time.
    before = report(NET.format(probe=probe))
    report(f"{change}\n{NET.format(probe=probe)}")
    report(f"if input():\n    {change}\n{NET.format(probe=probe)}")
    after = report(NET.format(probe=probe))
    assert '"target"' in before
    assert after == before


SEEN = {
    "a layer is replaced": ("torch.nn.Linear = nn.Identity", 112),
    "a builtin is replaced": ("builtins.range = lambda n: [1]", 142),
}


@pytest.mark.parametrize(("change", "parameters"), SEEN.values(), ids=SEEN)
def test_a_change_counts_in_its_own_file(change: str, parameters: int) -> None:
    text = (
        "net = nn.Sequential(nn.Conv2d(3, 4, 3), *[nn.Linear(5, 5) for _ in range(3)])\nnet(torch.zeros(1, 3, 7, 7))\n"
    )
    [model] = models(f"{change}\n{text}")
    assert model.parameters == parameters


def test_a_change_is_undone_where_the_analysis_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    text = NET.format(probe="hasattr(nn.Module, 'mine')")
    before = report(text)

    def fail(*arguments: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("flake8_cnnmem.analysis.report_model", fail)
        with pytest.raises(ZeroDivisionError):
            report(f"nn.Module.mine = 1\n{text}")
    assert report(text) == before
