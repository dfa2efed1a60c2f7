"""The command `cnnmem`: targets, options, formats, exit statuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from flake8_cnnmem.memory.gpus import GPUS

Run = Callable[..., "CompletedProcess[str]"]

MODEL = """\
import keras
from keras import layers


def net(classes=10, side=50):
    return keras.Sequential(
        [
            keras.Input((side, side, 3)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(500, activation="relu"),
            layers.Dense(classes, activation="softmax"),
        ]
    )
"""


@pytest.fixture(autouse=True)
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    return path


def models(done: CompletedProcess[str]) -> list[dict[str, object]]:
    assert "Traceback" not in done.stderr
    answer: list[dict[str, object]] = json.loads(done.stdout)["models"]
    return answer


# The CS231n notes' count of this net: 4,632,902 parameters with biases (memory.md, "small CNN").
def test_a_table_is_printed(run_cnnmem: Run) -> None:
    done = run_cnnmem("report", "net.py", "--batch-size", "64", "--accounting", "cs231n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "net.py:" in done.stdout
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["input", "50x50x3", "7,500", "0", "1.83"] in lines
    [total] = [line for line in lines if line[:1] == ["sum"]]
    assert total[1:3] == ["157,226", "4,632,902"]
    assert ["total", "128", "MiB"] in lines
    assert done.stdout.endswith("\n\nno limit is set\n")


def test_json_is_printed(run_cnnmem: Run) -> None:
    done = run_cnnmem("report", "net.py", "--format=json", "--batch-size=64", "--accounting=cs231n")
    [model] = models(done)
    assert model["status"] == "exact"
    assert model["parameters"] == {"total": 4632902, "trainable": 4632902}
    assert model["activations"] == 157_226 - 7_500
    assert model["memory"]["total"] == 134_174_536  # type: ignore[index]


@pytest.mark.parametrize(("limit", "status", "fits"), [("1GiB", 0, True), ("64MiB", 1, False), ("none", 0, None)])
def test_the_exit_status_says_whether_all_fit(run_cnnmem: Run, limit: str, status: int, fits: bool | None) -> None:
    done = run_cnnmem("report", "net.py", "--batch-size=64", "--format=json", f"--gpu-limit={limit}")
    assert done.returncode == status
    assert models(done)[0]["fits"] is fits


def test_defaults_come_from_flake8s_section_and_the_command_line_wins(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[flake8]\ncnnmem-gpu-limit = 256MiB\ncnnmem-batch-size = 512\n")
    assert run_cnnmem("report", "net.py").returncode == 1
    assert run_cnnmem("report", "net.py", "--batch-size=1").returncode == 0
    assert run_cnnmem("report", "net.py", "--gpu-limit=none").returncode == 0


@pytest.mark.parametrize(
    ("target", "classes"),
    [("net.py::net", 10), ("net.py::net()", 10), ("net.py::net(classes=3)", 3), ("net.py::net(2 * 3, side=16)", 6)],
)
def test_a_target_may_be_a_name_or_any_expression(run_cnnmem: Run, target: str, classes: int) -> None:
    [model] = models(run_cnnmem("report", target, "--format=json"))
    assert model["layers"][-1]["output_shape"] == [classes]  # type: ignore[index]


def test_a_folder_is_searched_for_models(run_cnnmem: Run, tmp_path: Path) -> None:
    for name in ("lib/a.py", "lib/inner/b.py", "lib/.hidden/c.py", "lib/__pycache__/d.py", "lib/venv/e.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(MODEL)
    (tmp_path / "lib" / "venv" / "pyvenv.cfg").write_text("")
    (tmp_path / "lib" / "broken.py").write_text("import keras\ndef f(:\n")
    (tmp_path / "lib" / "plain.py").write_text("x = 1\n")
    done = run_cnnmem("report", "lib", "--format=json")
    assert done.returncode == 0
    assert [model["path"] for model in models(done)] == ["lib/a.py", "lib/inner/b.py"]
    assert done.stderr.startswith("cnnmem: lib/broken.py:2: not valid Python")


def test_several_targets_make_one_report(run_cnnmem: Run) -> None:
    assert len(models(run_cnnmem("report", "net.py::net(3)", "net.py::net(4)", "--format=json"))) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["report", "nothing.py"], "cnnmem: error: nothing.py: no such file", id="no such file"),
        pytest.param(
            ["report", "./nett.py"],
            "cnnmem: error: nett.py: no such file; did you mean net.py?",
            id="nearly a file",
        ),
        pytest.param(["report", "broken.py"], "cnnmem: error: broken.py:1: not valid Python", id="no Python"),
        pytest.param(["report", "net.py::Nothing"], "cnnmem: error: net.py::Nothing: ", id="no such name"),
        pytest.param(
            ["report", "net.py::ent"],
            "cnnmem: error: net.py::ent: there is no 'ent' in net.py; did you mean net?",
            id="nearly a name",
        ),
        pytest.param(["report", "net.py::net("], "cnnmem: error: net.py::net(: ", id="no expression"),
        pytest.param(
            ["report", "::Net"], "cnnmem: error: ::Net: nothing stands before '::'", id="a name without a file"
        ),
        pytest.param(["report", "net.py::"], "cnnmem: error: net.py::: nothing stands after '::'", id="an empty name"),
        pytest.param(["report", ".::net"], "is a folder; a name is looked up in a file", id="a name in a folder"),
        pytest.param(
            ["report", "net.py", "--gpu-limit=RTX 9090"],
            "argument --gpu-limit: 'RTX 9090' is neither a size",
            id="a GPU",
        ),
        pytest.param(
            ["report", "net.py", "--batch-size=0"], "argument --batch-size: '0' is not a batch size", id="a batch"
        ),
        pytest.param(["report", "net.py", "--format=xml"], "argument --format: invalid choice", id="a format"),
        pytest.param(["report"], "the following arguments are required: TARGET", id="no target"),
        pytest.param([], "the following arguments are required: COMMAND", id="no command"),
        pytest.param(["explode"], "invalid choice: 'explode'", id="no such command"),
        pytest.param(["reprot", "net.py"], "; did you mean report?", id="a slip in a command"),
        pytest.param(["report", "net.py", "--format=jsn"], "; did you mean json?", id="a slip in a choice"),
        pytest.param(
            ["report", "net.py", "--gpu-limt=1GiB"],
            "cnnmem report: error: unrecognized arguments: --gpu-limt=1GiB; did you mean --gpu-limit?",
            id="a slip in an option",
        ),
        pytest.param(["report", "net.py", "--depth=0"], "'0' is neither leaves nor a number of levels", id="a depth"),
        pytest.param(["report", "net.py", "--gpu-limit=0xT4"], "'0xT4' is no number of GPUs: say 2xT4", id="no GPUs"),
        pytest.param(["report", "net.py", "--optimizer=adan"], "; did you mean adam?", id="a slip in an optimizer"),
        pytest.param(["report", "net.py", "--dtype=flaot32"], "; did you mean float32?", id="a slip in a dtype"),
        pytest.param(["report", "net.py", "--accounting=cs213n"], "; did you mean cs231n?", id="a slip in a count"),
        pytest.param(["gpus", "Foo"], "no known GPU is called 'Foo'; `cnnmem gpus` lists them", id="no GPU"),
        pytest.param(["gpus", "RTX 9090"], "no known GPU is called 'RTX 9090': did you mean RTX 5090?", id="GPUs"),
        pytest.param(
            ["report", "-", "net.py"], "- is code on standard input, and stands alone", id="stdin and a model"
        ),
        pytest.param(["check", "-", "net.py"], "- is code on standard input, and stands alone", id="stdin and a file"),
        pytest.param(["check", "--statistics", "--format=json"], "--statistics counts in text", id="statistics"),
        pytest.param(["check", "--config=no.cfg"], "no.cfg is no file that a configuration", id="a configuration"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    run_cnnmem: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "broken.py").write_text("def f(:\n")
    done = run_cnnmem(*arguments)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 or done.stderr.splitlines()[1].startswith("usage: ")


def test_a_bad_value_in_the_configuration_is_told(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "tox.ini").write_text("[flake8]\ncnnmem-dtype = float8\n")
    done = run_cnnmem("report", "net.py")
    assert done.returncode == 2
    assert done.stderr.startswith("cnnmem: error: cnnmem-dtype in the configuration: 'float8' is not a dtype")


def test_a_file_without_models_is_told(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n")
    done = run_cnnmem("report", "plain.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "cnnmem: plain.py: no model found\n")


def test_a_file_of_which_nothing_leads_to_a_framework_is_told_so(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "series.py").write_text("from nowhere.all import *\nlearner = Learner(Model())\nlearner.fit(3)\n")
    done = run_cnnmem("report", "series.py")
    told = "no model found, and nothing that it imports leads to a framework of neural networks"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"cnnmem: series.py: {told}\n")


def test_files_without_models_among_others_are_passed_over_in_silence(
    run_cnnmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain.py").write_text("x = 1\n")
    done = run_cnnmem("report", "plain.py", "net.py", "--format=json")
    assert len(models(done)) == 1
    assert done.stderr == ""
    monkeypatch.setattr("flake8_cnnmem.cli.targets.analyse", None)
    assert run_cnnmem("report", "plain.py", "plain.py").stderr == "cnnmem: plain.py plain.py: no model found\n"


def test_the_slips_of_directives_are_told(run_cnnmem: Run, model: Path) -> None:
    model.write_text("# cnnmem: epochs=3\n\n" + MODEL)
    assert run_cnnmem("report", "net.py").stderr.startswith("cnnmem: net.py:1: 'epochs' is nothing that a directive")


def test_an_error_of_ours_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    from flake8_cnnmem import cli
    from flake8_cnnmem.unknown import STRICT

    def fail(*arguments: object) -> None:
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr("flake8_cnnmem.cli.targets.analyse", fail)
    monkeypatch.delenv(STRICT, raising=False)
    assert cli.main(["report", str(model)]) == 2
    captured = capsys.readouterr()
    assert "an internal error of flake8-cnnmem, please report it: RecursionError" in captured.err
    assert captured.err.count("\n") == 1


def test_the_known_gpus_are_listed(run_cnnmem: Run) -> None:
    done = run_cnnmem("gpus")
    lines = done.stdout.splitlines()
    assert (done.returncode, len(lines)) == (0, len(GPUS))
    assert [line.split() for line in lines if line.startswith("T4 ")] == [["T4", "15360", "MiB", "15.0", "GiB"]]


@pytest.mark.parametrize("arguments", [["gpus"], ["--print-completion", "bash"]], ids=" ".join)
def test_a_reader_that_leaves_early_is_no_error(arguments: list[str]) -> None:
    import subprocess
    import sys

    code = "import sys; from flake8_cnnmem.cli import main; sys.exit(main(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_a_name_that_the_terminal_cannot_print_is_escaped(start_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODEL.replace("def net", "def netz_é"), encoding="utf-8")
    done = start_cnnmem("report", "net.py", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0
    assert "netz_\\xe9" in done.stdout


def test_nothing_of_flake8_is_imported_without_need_and_libcst_never_for_the_list_of_gpus() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from flake8_cnnmem.cli import main; main(['gpus']);"
        "sys.exit(any(name in sys.modules for name in ('flake8', 'libcst', 'flake8_cnnmem.evaluate')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, stdout=subprocess.DEVNULL)
