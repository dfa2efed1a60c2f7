"""SARIF, held against its published schema."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.reporting import sarif
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from tests.reporting.hostile import NAMES, report_named

Make = Callable[..., ModelReport]

SCHEMA = json.loads((Path(__file__).parent / "schema" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA)


def valid(text: str) -> dict[str, Any]:
    """The one run of a valid log."""
    log = json.loads(text)
    VALIDATOR.validate(log)
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    found: dict[str, Any] = run
    return found


def test_a_model_that_does_not_fit(make_report: Make) -> None:
    run = valid(sarif.render([make_report()], Settings()))
    [result] = run["results"]
    assert result["ruleId"] == "CNM101"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "CNM101"
    assert result["level"] == "error"
    assert result["message"]["text"].startswith("VGG16: training needs 12.04 GiB at batch 64")
    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "vgg.py"}, "region": {"startLine": 12, "startColumn": 9}}}
    ]


def test_every_check_is_a_rule_with_its_page_as_help() -> None:
    run = valid(sarif.render([], Settings()))
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [check.code for check in checks.every()]
    for rule, check in zip(rules, checks.every(), strict=True):
        assert rule["defaultConfiguration"] == {"enabled": check.default, "level": check.level}
        assert "## How to silence it" in rule["help"]["markdown"]
    assert run["results"] == []


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("./models/net.py", "models/net.py"),
        ("models/ä b.py", "models/%C3%A4%20b.py"),
        ("c:net.py", "c%3Anet.py"),
        ("a#b?c%.py", "a%23b%3Fc%25.py"),
        ("-", "-"),
    ],
    ids=["a plain path", "a letter and a space", "a colon", "marks of an address", "standard input"],
)
def test_paths_are_relative_references(path: str, uri: str) -> None:
    assert sarif.uri(path) == uri


def test_a_path_below_this_folder_is_relative_and_one_outside_is_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert sarif.uri(str(tmp_path / "here" / "net.py")) == "net.py"
    assert sarif.uri("../net.py") == (tmp_path / "net.py").as_uri()


def test_braces_and_links_are_plain_text() -> None:
    run = valid(sarif.render_findings([Finding("a.py", 0, 0, "CNM301", "{0} of [a](b)")]))
    [result] = run["results"]
    assert result["message"]["text"] == "{{0}} of [a] (b)"
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 1}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_are_data(name: str, make_report: Make) -> None:
    run = valid(sarif.render([report_named(name, make_report)], Settings()))
    [result] = run["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.isascii()
    assert os.fsdecode(unquote(uri, errors="surrogateescape").encode("utf-8", "surrogateescape")) == os.path.normpath(
        f"models/{name}.py"
    )
