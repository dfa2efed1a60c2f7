"""The plugin in real flake8 runs: options from everywhere, bad values, selection, noqa, stdin, jobs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from flake8_cnnmem.plugin import Plugin
from flake8_cnnmem.settings.options import OPTIONS, Settings
from flake8_cnnmem.unknown import STRICT

Run = Callable[..., "CompletedProcess[str]"]

MODEL = """\
import keras
from keras import layers

model = keras.Sequential(
    [
        keras.Input((50, 50, 3)),
        layers.Conv2D(32, 3, padding="same"),
        layers.MaxPooling2D(),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(10),
    ]
)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return path


def codes(done: CompletedProcess[str]) -> list[str]:
    assert done.stderr == ""
    return [line.split(": ")[1].split()[0] for line in done.stdout.splitlines()]


def test_a_model_over_the_limit_is_reported_where_it_is_built(run_flake8: Run, model: Path) -> None:
    done = run_flake8("--cnnmem-gpu-limit=16MiB", "model.py")
    assert done.returncode == 1
    [line] = done.stdout.splitlines()
    assert line.startswith("model.py:4:9: CNM101 ")
    assert "over the 16 MiB limit" in line


def test_a_model_within_the_limit_is_not(run_flake8: Run, model: Path) -> None:
    done = run_flake8("--cnnmem-gpu-limit=T4", "model.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_a_limit_nothing_is_said(run_flake8: Run, model: Path) -> None:
    assert run_flake8("model.py").stdout == ""


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini", ".flake8"])
@pytest.mark.parametrize("key", ["cnnmem-gpu-limit", "cnnmem_gpu_limit"])
def test_options_come_from_configuration_files(
    run_flake8: Run, model: Path, tmp_path: Path, name: str, key: str
) -> None:
    (tmp_path / name).write_text(f"[flake8]\n{key} = 16MiB\n")
    assert codes(run_flake8("model.py")) == ["CNM101"]


@pytest.mark.parametrize("value", ["1GiB", "none"])
def test_the_command_line_comes_before_the_configuration(
    run_flake8: Run, model: Path, tmp_path: Path, value: str
) -> None:
    (tmp_path / "setup.cfg").write_text("[flake8]\ncnnmem-gpu-limit = 16MiB\n")
    assert codes(run_flake8("--cnnmem-gpu-limit", value, "model.py")) == []


def test_a_file_may_have_a_limit_of_its_own(run_flake8: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "edge").mkdir()
    (tmp_path / "edge" / "small.py").write_text(MODEL)
    (tmp_path / "edge" / "told.py").write_text(MODEL.replace("model =", "# cnnmem: gpu-limit=1GiB\nmodel ="))
    (tmp_path / "setup.cfg").write_text(
        "[flake8]\ncnnmem-gpu-limit = T4\ncnnmem-per-file-limits =\n    edge/*.py: 16MiB\n    train/*.py: A100-40GB\n"
    )
    [line] = run_flake8("model.py", "edge").stdout.splitlines()
    assert line.startswith("edge/small.py:4:9: CNM101 ")
    assert "over the 16 MiB limit" in line


BAD = {
    "gpu-limit": ("RTX 9090", "'RTX 9090' is neither a size such as 12GiB nor a known GPU; the nearest known ones are"),
    "per-file-limits": ("edge/*.py", "'edge/*.py' has no limit: write PATTERN: LIMIT, such as edge/*.py: 2GiB"),
    "batch-size": ("many", "'many' is not a batch size: use a whole number from 1"),
    "input-shape": ("big", "'big' is not an input shape: use the sizes without the batch"),
    "optimizer": ("adamm", "'adamm' is not an optimizer: use"),
    "devices": ("none", "'none' is not a number of devices: use a whole number from 1"),
    "dtype": ("float8", "'float8' is not a dtype: use float32"),
    "accounting": ("guess", "'guess' is not an accounting: use framework or cs231n"),
    "overhead": ("some", "'some' is not a size such as 12GiB"),
}


def test_every_option_but_those_of_folders_can_be_wrong() -> None:
    assert set(BAD) | {"search-path", "cache-dir", "stubs"} == {option.name for option in OPTIONS}


@pytest.mark.parametrize("where", ["command line", "configuration"])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_is_a_usage_error(run_flake8: Run, model: Path, tmp_path: Path, where: str, name: str) -> None:
    value, message = BAD[name]
    if where == "configuration":
        (tmp_path / "setup.cfg").write_text(f"[flake8]\ncnnmem-{name} = {value}\n")
        done = run_flake8("model.py")
    else:
        done = run_flake8(f"--cnnmem-{name}", value, "model.py")
    assert done.returncode == 2
    assert f"argument --cnnmem-{name}: {message}" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("code", ["CNM101", "CNM"])
def test_noqa_silences_a_finding(run_flake8: Run, tmp_path: Path, code: str) -> None:
    text = MODEL.replace(
        "keras.Sequential(\n",
        f"keras.Sequential(  # noqa: {code}\n" if code != "CNM" else "keras.Sequential(  # noqa\n",
    )
    (tmp_path / "model.py").write_text(text)
    assert codes(run_flake8("--cnnmem-gpu-limit=16MiB", "model.py")) == []
    assert codes(run_flake8("--cnnmem-gpu-limit=16MiB", "--disable-noqa", "model.py")) == ["CNM101"]


def test_codes_that_are_off_come_when_they_are_selected(run_flake8: Run, model: Path) -> None:
    assert codes(run_flake8("model.py")) == []
    done = run_flake8("--extend-select=CNM203", "model.py")
    assert codes(done) == ["CNM203"]
    assert "drops 1 of 25 rows and columns" in done.stdout


def test_codes_that_are_on_go_when_they_are_ignored(run_flake8: Run, model: Path) -> None:
    assert codes(run_flake8("--cnnmem-gpu-limit=16MiB", "--extend-ignore=E,W,F,C90,CNM101", "model.py")) == []
    assert codes(run_flake8("--cnnmem-gpu-limit=16MiB", "--per-file-ignores=model.py:CNM101", "model.py")) == []


def test_directives_count_and_their_slips_are_told(run_flake8: Run, tmp_path: Path) -> None:
    directive = "# cnnmem: gpu-limit=16MiB epochs=3\nmodel ="
    (tmp_path / "model.py").write_text(MODEL.replace("model =", directive))
    done = run_flake8("model.py")
    assert codes(done) == ["CNM901", "CNM101"]
    assert done.stdout.startswith("model.py:4:1: CNM901 'epochs' is nothing that a directive can set")
    (tmp_path / "model.py").write_text(MODEL.replace("model =", "# cnnmem: skip\nmodel ="))
    assert codes(run_flake8("--cnnmem-gpu-limit=16MiB", "model.py")) == []


@pytest.mark.parametrize("arguments", [["-"], ["--stdin-display-name=lib/net.py", "-"]])
def test_a_file_comes_on_stdin(start_flake8: Run, arguments: list[str]) -> None:
    done = start_flake8("--cnnmem-gpu-limit=16MiB", *arguments, stdin=MODEL)
    assert done.stdout.startswith("stdin:4:9: CNM101" if len(arguments) == 1 else "lib/net.py:4:9: CNM101")


def test_many_workers_say_what_one_says(start_flake8: Run, tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"model{number}.py").write_text(MODEL.replace("32, 3", f"{32 + number}, 3"))
    one, four = (start_flake8("--cnnmem-gpu-limit=16MiB", f"--jobs={jobs}", ".") for jobs in (1, 4))
    assert len(one.stdout.splitlines()) == 6
    assert one.stdout == four.stdout


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(run_flake8: Run, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_bytes(b"\xef\xbb\xbf" + MODEL.replace("\n", "\r\n").encode())
    assert run_flake8("--cnnmem-gpu-limit=16MiB", "model.py").stdout.startswith("model.py:4:9: CNM101")


def test_other_plugins_findings_still_come_beside_a_file_that_does_not_parse(
    run_flake8: Run, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("import torch\ndef f(:\n")
    (tmp_path / "other.py").write_text("import os\n")
    done = run_flake8("--cnnmem-gpu-limit=16MiB", ".", ours_alone=False)
    assert done.stderr == ""
    assert "broken.py:2:8: E999" in done.stdout
    assert "other.py:1:1: F401" in done.stdout
    assert "model.py:4:9: CNM101" in done.stdout


def test_an_error_of_ours_is_a_finding_that_is_off_and_not_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RecursionError("maximum recursion depth exceeded\nin somebody's code")

    monkeypatch.setattr("flake8_cnnmem.analysis.analyse", fail)
    monkeypatch.delenv(STRICT, raising=False)
    monkeypatch.setattr(Plugin, "codes", frozenset({"CNM101", "CNM301"}))
    [(line, column, text, _)] = Plugin(ast.parse(MODEL), "model.py", MODEL.splitlines(True)).run()
    assert (line, column) == (1, 0)
    assert text.startswith("CNM301 models of this file are not looked for: an internal error of flake8-cnnmem")
    assert "\n" not in text
    monkeypatch.setenv(STRICT, "1")
    with pytest.raises(RecursionError):
        list(Plugin(ast.parse(MODEL), "model.py", MODEL.splitlines(True)).run())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import numpy\nx = numpy.zeros(3)\n", id="no framework is mentioned"),
        pytest.param("# like torch\nx = 1\n", id="a framework is mentioned, but not imported"),
    ],
)
def test_a_file_without_a_framework_is_not_evaluated(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise AssertionError("this file was to be left alone")

    monkeypatch.setattr("flake8_cnnmem.analysis.analyse", fail)
    monkeypatch.setenv(STRICT, "1")
    monkeypatch.setattr(Plugin, "settings", Settings())
    assert list(Plugin(ast.parse(text), "a.py", text.splitlines(True)).run()) == []


def test_nothing_is_worked_out_when_nothing_is_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise AssertionError("nobody asked")

    monkeypatch.setattr("flake8_cnnmem.analysis.analyse", fail)
    monkeypatch.setenv(STRICT, "1")
    monkeypatch.setattr(Plugin, "codes", frozenset())
    assert list(Plugin(ast.parse(MODEL), "a.py", MODEL.splitlines(True)).run()) == []
    directive = MODEL.replace("model =", "# cnnmem: epochs=3\nmodel =")
    monkeypatch.setattr(Plugin, "codes", frozenset({"CNM901"}))
    [(line, *_)] = Plugin(ast.parse(directive), "a.py", directive.splitlines(True)).run()
    assert line == 4


def test_folders_of_the_search_path_are_meant_from_where_they_are_written(run_flake8: Run, tmp_path: Path) -> None:
    (tmp_path / "vendor" / "nets").mkdir(parents=True)
    (tmp_path / "vendor" / "nets" / "__init__.py").write_text(MODEL.replace("model =", "def make():\n    return "))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "train.py").write_text("import keras\nfrom nets import make\n\nnet = make()\n")
    (tmp_path / "setup.cfg").write_text("[flake8]\ncnnmem-gpu-limit = 16MiB\ncnnmem-search-path = vendor\n")
    assert codes(run_flake8("work")) == ["CNM101"]
    assert codes(run_flake8("--cnnmem-search-path=elsewhere", "work")) == []
