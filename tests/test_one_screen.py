"""What stands on one screen: the summary of a folder, the command's ways in and out. Through the real command."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from flake8_cnnmem.memory.gpus import GPUS
from flake8_cnnmem.reporting import progress
from flake8_cnnmem.units import GIB
from tests.conftest import ROOT

Run = Callable[..., "subprocess.CompletedProcess[str]"]

FILES = {
    "pyproject.toml": '[tool.cnnmem]\ngpu-limit = "1GiB"\n',
    "parts/__init__.py": "",
    "parts/net.py": """\
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.conv(x))


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.blocks = nn.Sequential(Block(width), Block(width))
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.blocks(x).mean((2, 3)))
""",
    "train.py": """\
import torch
from parts.net import Net

net = Net(64)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(9):
    loss = net(torch.zeros(512, 64, 64, 64)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "small.py": """\
from torch import nn

# cnnmem: input-shape=3,8,8
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU())
""",
    "open.py": "import keras\nspace = keras.utils.FeatureSpace({})\n"
    "net = keras.Model(space.get_inputs(), keras.layers.Dense(1)(space.get_encoded_features()))\n"
    "net.compile('adam', 'mse')\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def rows_of(printed: str) -> list[str]:
    return printed.split("\n\n")[0].splitlines()[2:]


def test_a_folder_is_summed_up_on_one_screen(project: Path, run_cnnmem: Run) -> None:
    done = run_cnnmem("report", ".")
    assert done.returncode == 1
    over, small, unknown = rows_of(done.stdout)
    assert re.match(r"Net +train\.py:4 +2\.5 GiB +1\.0 GiB +\d+ +over its limit +512 \(train\.py:7\)", over)
    assert re.match(r"net +small\.py:4 +0\.\d+ MiB .* fits +32 \(default\) +3x8x8 \(directive\)", small)
    assert re.match(r"\w+ +open\.py:3 .* not estimated", unknown)
    assert "  Net  parts/net.py:14: part of Net, train.py:4" in done.stdout
    assert "Block" not in done.stdout
    assert "1 training and 2 models in 3 files: 1 over the limit, 1 not estimated" in done.stdout
    assert len(done.stdout.splitlines()) < 20
    assert done.stderr == ""


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_files_come_in_a_stable_order(project: Path, run_cnnmem: Run, jobs: str) -> None:
    whole = run_cnnmem("report", ".").stdout
    assert run_cnnmem("report", ".", "-j", jobs).stdout == whole
    assert run_cnnmem("report", "train.py", "parts", "small.py", "open.py", "-j", jobs).stdout == whole


def test_the_details_are_there_on_request(project: Path, run_cnnmem: Run) -> None:
    summed = run_cnnmem("report", ".").stdout
    done = run_cnnmem("report", ".", "--details")
    assert done.returncode == 1
    assert rows_of(done.stdout) == rows_of(summed)
    assert done.stdout.count("\nlayer ") == 2
    assert "\nNet  parts/net.py" not in done.stdout
    single = run_cnnmem("report", "train.py").stdout
    assert single.startswith("Net  train.py:4  torch ")
    assert single in done.stdout
    assert run_cnnmem("report", "train.py::Net(8)").stdout.startswith("Net  train.py")


def test_modules_are_rows_as_deep_as_one_asks(project: Path, run_cnnmem: Run) -> None:
    def names(*options: str) -> list[list[str]]:
        printed = run_cnnmem("report", "train.py", *options).stdout.split("\n\n")[1]
        return [line.split() for line in printed.splitlines()[2:]]

    leaves = names()
    assert [row[0] for row in leaves[1:-1]] == [
        "blocks.0.conv", "blocks.0.relu", "blocks.1.conv", "blocks.1.relu", "mean", "head"
    ]  # fmt: skip
    assert leaves == names("--depth", "leaves")
    assert [row[:2] for row in names("--depth=1")[1:-1]] == [
        ["blocks", "Sequential"],
        ["mean", "mean"],
        ["head", "Linear"],
    ]
    assert [row[0] for row in names("--depth=2")[1:-1]] == ["blocks.0", "blocks.1", "mean", "head"]
    assert leaves[-1] == names("--depth=1")[-1]
    # A line of another file says which.
    assert leaves[1][2] == "parts/net.py:7"
    # A convolution keeps its input, of which the second has the first ReLU's result, which that keeps for itself.
    kept = {row[0]: row[-1] for row in leaves}
    assert [kept[name] for name in ("blocks.0.conv", "blocks.0.relu", "blocks.1.conv", "sum")] == [
        "512.00", "512.00", "0.00", "1,536.12"
    ]  # fmt: skip
    document = json.loads(run_cnnmem("report", "train.py", "--format=json", "--depth=1").stdout)
    assert [row["depth"] for row in document["models"][0]["layers"]] == [1, 1, 1]
    assert "512.00 (512.00)" in run_cnnmem("report", "train.py", "--outputs").stdout


def test_nested_keras_models_are_taken_apart(tmp_path: Path, run_cnnmem: Run) -> None:
    (tmp_path / "net.py").write_text(
        "import keras\nfrom keras import layers\n"
        "inner = keras.Sequential([keras.Input((8,)), layers.Dense(4, name='first'), layers.Dense(3, name='second')],"
        " name='inner')\n"
        "net = keras.Sequential([keras.Input((8,)), inner, layers.Dense(2, name='last')])\n"
    )

    def names(*options: str) -> list[str]:
        printed = run_cnnmem("report", "net.py", *options).stdout.split("\n\n")[1]
        return [line.split()[0] for line in printed.splitlines()[3:-1]]

    assert names() == ["inner.first", "inner.second", "last"]
    assert names("--depth=1") == ["inner", "last"]
    [model] = json.loads(run_cnnmem("report", "net.py", "--format=json").stdout)["models"]
    assert [row["name"] for row in model["layers"]] == ["inner.first", "inner.second", "last"]
    [model] = json.loads(run_cnnmem("report", "net.py", "--format=json", "--depth=1").stdout)["models"]
    assert [row["name"] for row in model["layers"]] == ["inner", "last"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_rows_appear_as_they_are_known(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flake8_cnnmem import cli

    monkeypatch.chdir(project)
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("LINES", "24")
    terminal, out = Terminal(), io.StringIO()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("sys.stdout", out)
    assert cli.main(["report", ".", "-j1"]) == 1
    screens = re.split(r"(?:\x1b\[\d+A)?\r\x1b\[[JK]", terminal.getvalue())
    at_train = next(screen for screen in screens if screen.endswith("\n3/5 train.py"))
    assert "small.py:4" in at_train
    assert screens[-1] == ""
    assert "\x1b" not in out.getvalue()


def test_a_terminal_gets_colours(project: Path, start_cnnmem: Run) -> None:
    plain = start_cnnmem("report", "small.py", "train.py").stdout
    coloured = start_cnnmem("report", "small.py", "train.py", env={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in plain
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    start_cnnmem("report", "small.py", "train.py", "-o", "out.txt", env={"FORCE_COLOR": "1"})
    assert (project / "out.txt").read_text() == plain


@pytest.mark.parametrize("command", ["check", "report"])
def test_code_on_standard_input(project: Path, run_cnnmem: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    text = FILES["train.py"].replace("512", "1024").encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))
    done = run_cnnmem(command, "-", "--stdin-filename", "train.py")
    assert done.returncode == 1
    assert "batch 1024 (train.py:7)" in done.stdout
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"import torch\ndef (:\n")))
    broken = run_cnnmem(command, "-")
    assert (broken.returncode, broken.stderr[:41]) == (2, "cnnmem: error: stdin:2: not valid Python:")


def test_a_notebook_on_standard_input(project: Path, run_cnnmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [{"cell_type": "code", "source": FILES["train.py"], "metadata": {}, "outputs": []}]
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(book)))
    assert "net.ipynb:cell 1:4:" in run_cnnmem("check", "-", "--stdin-filename=net.ipynb").stdout


def test_codes_are_counted(project: Path, run_cnnmem: Run) -> None:
    lines = run_cnnmem("check", "--statistics", "--gpu-limit=64KiB", "--extend-select=CNM3").stdout.splitlines()
    assert lines[-3] == "2  CNM101  The estimated training memory exceeds the configured GPU limit"
    assert [line[:9] for line in lines[-2:]] == ["1  CNM301", "1  CNM302"]
    assert run_cnnmem("check", "--statistics", "--gpu-limit=none").stdout == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [("other.toml", '[tool.cnnmem]\ngpu-limit = "9GiB"\n'), ("other.cfg", "[flake8]\ncnnmem-gpu-limit = 9GiB\n")],
)
def test_the_configuration_may_be_named(project: Path, run_cnnmem: Run, name: str, text: str) -> None:
    (project / name).write_text(text)
    assert run_cnnmem("check").returncode == 1
    assert run_cnnmem("check", "--config", name).returncode == 0
    assert run_cnnmem("report", "train.py", "--config", name).returncode == 0
    (project / "empty.toml").write_text("")
    assert run_cnnmem("check", "--config=empty.toml").stderr == "cnnmem: error: empty.toml has no [tool.cnnmem]\n"


def test_gpus_are_found_by_a_part_of_their_name(run_cnnmem: Run) -> None:
    assert [line.split()[0] for line in run_cnnmem("gpus", "a100").stdout.splitlines()] == ["A100-80GB", "A100-40GB"]
    assert run_cnnmem("gpus", "2x A100 80GB").stdout.split() == [
        "2xA100-80GB",
        "2",
        "x",
        "81920",
        "MiB",
        "160.0",
        "GiB",
    ]
    found = json.loads(run_cnnmem("gpus", "--format=json").stdout)["gpus"]
    assert [gpu["name"] for gpu in found] == [gpu.name for gpu in GPUS]
    [card] = json.loads(run_cnnmem("gpus", "2xT4", "--format=json").stdout)["gpus"]
    assert (card["name"], card["mib"], card["count"]) == ("T4", 15360, 2)


def test_several_gpus_share_a_training(project: Path, run_cnnmem: Run) -> None:
    """Data parallel, as the code says it; how many devices there are only the limit does."""
    path = project / "train.py"
    path.write_text(path.read_text().replace("net = Net(64)\n", "net = torch.nn.DataParallel(Net(64)).cuda()\n"))
    [one] = json.loads(run_cnnmem("report", "train.py", "--format=json", "--gpu-limit=8GiB").stdout)["models"]
    [two] = json.loads(run_cnnmem("report", "train.py", "--format=json", "--gpu-limit=2x8GiB").stdout)["models"]
    assert (one["training"]["batch_size_per_device"], two["training"]["batch_size_per_device"]) == (512, 256)
    assert (one["limit"], two["limit"]) == (8 * GIB, 8 * GIB)


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize(("jobs", "times"), [("1", 1), ("2", 1), ("2", 2)])
def test_ctrl_c_ends_quietly_and_at_once(project: Path, jobs: str, times: int) -> None:
    slow = "import torch\n" + "".join(f"x{number} = torch.zeros(8, 8) + 1\n" for number in range(8_000))
    for number in range(60):
        (project / f"slow{number}.py").write_text(slow + FILES["small.py"])
    code = (
        "import sys; from flake8_cnnmem.cli import main; import flake8_cnnmem.analysis; print(flush=True);"
        " sys.exit(main())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, "report", ".", "-j", jobs],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # Where the tests run in the background, the signal is ignored, and so it would be in the command.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()  # All is imported: how long that takes is the machine's affair.
        time.sleep(1)
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.05)
        begun = time.monotonic()
        out, told = process.communicate(timeout=60)
        assert (out, told, process.returncode) == (b"", b"", 130)
        assert time.monotonic() - begun < 20


def test_shells_get_their_script(run_cnnmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run_cnnmem("--print-completion", "bash")
    assert done.returncode == 0
    assert "--gpu-limit" in done.stdout
    assert "complete -" in done.stdout
    monkeypatch.setitem(sys.modules, "shtab", None)
    missing = run_cnnmem("--print-completion", "bash")
    assert missing.returncode == 2
    assert "pip install 'flake8-cnnmem[completion]'" in missing.stderr.splitlines()[0]
