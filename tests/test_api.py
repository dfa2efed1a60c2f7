"""The Python interface: what a project's own tests ask."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import flake8_cnnmem
from flake8_cnnmem import GiB, MiB, NotAnalysed, NotKnown, Report, analyse, report
from flake8_cnnmem.cli import main

ROOT = Path(__file__).resolve().parent.parent
CNN = "fixtures/models/torch/small_cnn.py"
PAGE = ROOT / "flake8_cnnmem" / "manual" / "api.md"


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")
    monkeypatch.chdir(ROOT)


def test_a_figure_is_held_against_a_limit() -> None:
    found = report(CNN, batch_size=64, input_shape="3,48,48")
    assert MiB(100) < found.needs <= GiB(11)
    assert (found.name, found.status, found.batch_size, found.causes) == ("SmallCNN", "exact", 64, ())


def test_it_says_what_the_command_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", CNN, "--batch-size", "64", "--gpu-limit", "100MiB", "--format", "json"]) == 1
    [model] = json.loads(capsys.readouterr().out)["models"]
    [found] = analyse(CNN, batch_size=64, gpu_limit="100MiB")
    assert found.memory is not None
    assert {name: model["memory"][name] for name in dataclasses.asdict(found.memory)} == dataclasses.asdict(
        found.memory
    )
    assert dict(found.sources) == model["training"]["sources"]
    assert (found.limit, found.fits, found.largest_batch_size) == (100 * 2**20, False, model["largest_batch_size"])
    assert [(each.name, each.line, list(each.output_shape)) for each in found.layers] == [
        (each["name"], each["line"], each["output_shape"]) for each in model["layers"]
    ]


def test_a_lower_bound_is_no_figure_to_rely_on(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "from torch import nn\nfrom nowhere import Block\nnet = nn.Sequential(nn.Conv2d(3, 8, 3), Block(8))\n"
    )
    found = report(file, input_shape=(3, 32, 32))
    assert found.status == "lower-bound"
    with pytest.raises(NotKnown, match="at least"):
        assert found.needs <= GiB(11)
    assert found.at_least > 0
    assert found.causes[0].path == str(file)


def test_the_one_that_is_known_least_decides(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "from torch import nn\n\n\nclass Lost(nn.Module):\n    def __init__(self, make):\n        super().__init__()\n"
        "        self.layer = make()\n\n    def forward(self, x):\n        return self.layer(x)\n\n\n"
        "import torch\nnet = nn.Sequential(nn.Linear(1000, 1000))\nnet(torch.zeros(8, 1000))\n"
    )
    assert [each.status for each in analyse(file)] == ["unresolved", "exact"]
    with pytest.raises(NotKnown, match=r"Lost is not estimated\n.*net\.py:"):
        assert report(file).needs
    assert report(f"{file}::net").needs > 0


def test_of_several_trainings_the_largest() -> None:
    found = analyse("fixtures/programs/two_trainings.py")
    assert report("fixtures/programs/two_trainings.py") == max(found, key=lambda each: each.needs)
    assert {each.kind for each in found} == {"training"}


@pytest.mark.parametrize(
    ("target", "options", "said"),
    [
        ("nowhere.py", {}, "nowhere.py: no such file"),
        (f"{CNN}::Other", {}, "Other"),
        (CNN, {"gpu_limit": "T44"}, "'T44' is neither a size"),
        ("tests/pace.py", {}, "no model found"),
    ],
)
def test_what_cannot_be_analysed(target: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(NotAnalysed, match=said):
        report(target, **options)


def test_an_unknown_option_is_an_error_of_the_caller() -> None:
    with pytest.raises(TypeError, match="'batchsize' is no option"):
        report(CNN, batchsize=3)


def test_the_configuration_counts_unless_it_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.cnnmem]\nbatch-size = 7\ngpu-limit = "T4"\n')
    monkeypatch.chdir(tmp_path)
    assert report(ROOT / CNN).batch_size == 7
    assert report(ROOT / CNN, batch_size=8).batch_size == 8
    assert report(ROOT / CNN, configured=False).batch_size == 32
    assert report(ROOT / CNN, gpu_limit=None).limit is None


def test_a_notebook_has_cells() -> None:
    [found] = analyse("fixtures/review/net.ipynb")
    assert (found.cell, found.line) == (6, 2)
    assert {layer.cell for layer in found.layers} <= {2, 3, 4, 5, 6}
    assert found.layers


def test_what_it_gives_cannot_be_changed() -> None:
    found = report(CNN)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.name = "other"  # type: ignore[misc]
    assert isinstance(found, Report)
    assert hash(found) == hash(report(CNN))


def test_flake8_does_not_import_it() -> None:
    code = (
        "import sys, flake8_cnnmem.plugin as plugin; import flake8_cnnmem; "
        "print([m for m in ('flake8_cnnmem.api', 'flake8_cnnmem.analysis', 'libcst') if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_the_name_stays_the_function_when_the_room_is_imported() -> None:
    from flake8_cnnmem.reporting import table

    assert callable(flake8_cnnmem.report)
    assert table.__name__ == "flake8_cnnmem.reporting.table"
    assert sorted(flake8_cnnmem.__all__) == sorted(sys.modules["flake8_cnnmem.api"].__all__)
    with pytest.raises(AttributeError, match="has no attribute 'reports'"):
        _ = flake8_cnnmem.reports


def test_it_is_typed() -> None:
    assert (ROOT / "flake8_cnnmem" / "py.typed").exists()
