"""Every `--format json` has the form that is published, and nothing that is not described there."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from flake8_cnnmem.cli import COMMANDS, main, parser
from flake8_cnnmem.reporting.as_json import SCHEMA

ROOT = Path(__file__).resolve().parent.parent.parent
PUBLISHED = json.loads(resources.files("flake8_cnnmem.manual").joinpath(f"json-{SCHEMA}.schema.json").read_text())


def strict(schema: Any) -> Any:
    """The same without room for what is not described: a key that is new has to be described."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: strict(value) for key, value in schema.items()}
    if (
        found.get("type") == "object"
        and "additionalProperties" not in found
        and isinstance(schema.get("required"), list)
    ):
        found["additionalProperties"] = False
    return found


def validator(form: str) -> Draft202012Validator:
    whole = strict(copy.deepcopy(PUBLISHED))
    whole.pop("anyOf")
    return Draft202012Validator({**whole, "$ref": f"#/$defs/{form}"})


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    main([*arguments, "--format", "json"])
    return json.loads(capsys.readouterr().out)


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(PUBLISHED)
    assert PUBLISHED["$defs"]["report"]["properties"]["schema"]["const"] == SCHEMA


@pytest.mark.parametrize(
    "arguments",
    [
        ("fixtures/models/torch/unet.py", "--gpu-limit", "T4", "--batch-size", "64"),
        ("fixtures/models/keras", "--gpu-limit", "1GiB"),
        ("fixtures/scripts/dcgan_faces.py", "--gpu-limit", "256MiB"),
        ("fixtures/programs/three_phases.py",),
        ("fixtures/programs/teacher_student.py",),
        ("fixtures/programs/outputs_in_a_list.py",),
        ("fixtures/programs/not_the_loader.py", "--gpu-limit", "100MiB"),
        ("fixtures/checks/cnm201.py",),
        ("fixtures/checks/cnm301.py",),
        ("fixtures/checks/cnm302.py",),
        ("fixtures/review/net.ipynb", "--gpu-limit", "16MiB"),
        ("fixtures/models/torch/small_cnn.py", "--accounting", "cs231n"),
    ],
    ids=lambda arguments: arguments[0].rpartition("/")[2],
)
def test_a_report(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    document = printed(capsys, "report", *arguments)
    assert document["models"]
    validator("report").validate(document)
    Draft202012Validator(PUBLISHED).validate(document)


def test_a_model_of_an_older_keras_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "import keras\nnet = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])\n"
    (tmp_path / "old.py").write_text(text + "model = keras.Model(net.input, net.output)\n")
    document = printed(capsys, "report", "old.py")
    validator("report").validate(document)
    assert document["models"][0]["version"].startswith("keras 2")


def test_findings(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(ROOT / "fixtures" / "review" / "net.ipynb", tmp_path)
    shutil.copy(ROOT / "fixtures" / "checks" / "cnm201.py", tmp_path)
    monkeypatch.chdir(tmp_path)
    document = printed(capsys, "check", "--gpu-limit", "16MiB", "--no-cache")
    assert {finding["code"] for finding in document["findings"]} == {"CNM101", "CNM201"}
    assert [finding.get("cell") for finding in document["findings"]] == [None, 6]
    validator("findings").validate(document)


def test_a_difference(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "fixtures" / "review" / "main", tmp_path, dirs_exist_ok=True)
    for words in ("init -q -b main", "add --all", "-c user.name=a -c user.email=a@b commit -q -m one"):
        subprocess.run(["git", *words.split()], check=True)
    shutil.copytree(ROOT / "fixtures" / "review" / "wider", tmp_path, dirs_exist_ok=True)
    document = printed(capsys, "diff", "main")
    assert {model["change"] for model in document["models"]} == {"changed", "new"}
    validator("difference").validate(document)


def test_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    validator("gpus").validate(printed(capsys, "gpus", "A100"))


def test_no_command_has_json_that_is_not_looked_at_here() -> None:
    [commands] = [action.choices for action in parser()._actions if isinstance(action.choices, dict)]
    assert sorted(commands) == sorted(COMMANDS)
    forms = {
        name
        for name, command in commands.items()
        for action in command._actions
        if "--format" in action.option_strings and "json" in (action.choices or ())
    }
    assert forms == {"report", "check", "diff", "gpus"}


def test_a_form_that_is_not_published_is_refused() -> None:
    with pytest.raises(ValidationError):
        validator("findings").validate({"cnnmem": "0.1.0", "schema": SCHEMA, "findings": [], "more": 1})
    with pytest.raises(ValidationError):
        Draft202012Validator(PUBLISHED).validate({"cnnmem": "0.1.0", "schema": 1, "findings": []})
