"""Models of transformers from a name: their configuration is read where it is, and told where it is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from tests.conftest import by_hand

CONFIG = {
    "architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 48, "num_hidden_layers": 1,
    "num_attention_heads": 3, "intermediate_size": 96, "image_size": 32, "patch_size": 16, "num_channels": 3,
    "id2label": {"0": "a"}, "label2id": {"a": 0},
}  # fmt: skip

LAYER = 2 * (2 * 48) + 4 * (48 * 48 + 48) + (48 * 96 + 96) + (96 * 48 + 48)
PARAMETERS = (3 * 16 * 16 * 48 + 48) + 48 + 5 * 48 + LAYER + 2 * 48 + (48 * 7 + 7)
"""Patches, the class token, positions, a layer, the last norm, the head."""

NAMED = """\
from transformers import ViTForImageClassification
model = ViTForImageClassification.from_pretrained({name!r}, num_labels=7)
"""
AUTO = """\
from transformers import AutoModelForImageClassification
model = AutoModelForImageClassification.from_pretrained({name!r}, num_labels=7)
"""


@pytest.fixture
def analysed(
    zoo: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], FileReport]:
    """Gives what is said of a program in a folder of its own, with an empty home."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    folders = tuple(str(zoo(package)) for package in ("transformers", "huggingface_hub"))

    def report(text: str) -> FileReport:
        return analyse(Source("train.py", f"import torch\n{text}"), Settings(search_path=folders))

    return report


@by_hand
def test_a_configuration_in_the_project_is_read(analysed: Callable[[str], FileReport]) -> None:
    Path("mine").mkdir()
    Path("mine", "config.json").write_text(json.dumps(CONFIG))
    (report,) = analysed(AUTO.format(name="mine")).reports
    assert (report.name, report.parameters) == ("ViTForImageClassification", PARAMETERS)


@by_hand
def test_a_configuration_that_the_library_has_downloaded_is_read(
    analysed: Callable[[str], FileReport], tmp_path: Path
) -> None:
    folder = tmp_path / "home" / "hub" / "models--someone--vit"
    snapshot = folder / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("0123abcd")
    (snapshot / "config.json").write_text(json.dumps(CONFIG))
    (report,) = analysed(NAMED.format(name="someone/vit")).reports
    assert report.parameters == PARAMETERS


def test_a_configuration_that_is_nowhere_is_told_with_what_to_write(analysed: Callable[[str], FileReport]) -> None:
    (finding,) = checks.run(analysed(NAMED.format(name="someone/vit")), Settings(), {"CNM301"})
    assert (finding.code, finding.line) == ("CNM301", 3)
    assert finding.message == (
        "ViTForImageClassification is not estimated: ViTForImageClassification.from_pretrained('someone/vit') needs "
        "config.json of that model, which is not in the project: put its folder there, or make the model from "
        "ViTForImageClassification(ViTConfig(...)) (line 3)"
    )
