"""Projects that build their models from a registry or from settings, one for each system, in the layout that it asks
for; counted by the frameworks themselves (tests/oracle/measure_registries.py). None of the systems is installed
here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from flake8_cnnmem.training import Fact

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
TRUTH = json.loads((FIXTURES / "truth" / "registries.json").read_text(encoding="utf-8"))["parameters"]
SHAPES = {"named_parts": (40, 100)}


def test_every_project_is_measured() -> None:
    assert sorted(TRUTH) == sorted(path.name for path in (FIXTURES / "registries").iterdir())


@pytest.mark.parametrize("project", sorted(TRUTH))
def test_a_model_of_a_registry(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FIXTURES / "registries" / project)
    settings = Settings(input_shape=Fact(SHAPES.get(project, (3, 64, 64)), "option"))
    (report,) = analyse(load("build.py"), settings, "model").reports
    assert [cause.reason for cause in report.causes] == []
    assert (report.status, report.parameters) == ("exact", TRUTH[project])
