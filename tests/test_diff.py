"""`cnnmem diff` in scratch repositories: both sides against separate reports, what came and went, what is refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from flake8_cnnmem import units

Run = Callable[..., "CompletedProcess[str]"]
Git = Callable[..., str]

BLOCKS = """\
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.short = nn.Identity() if stride == 1 else nn.Conv2d(inputs, outputs, 1, stride=stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.short(x))
"""

RESNET = """\
import torch
from torch import nn

from blocks import Block


class ResNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.layer1 = nn.Sequential(Block(width, width), Block(width, width))
        self.layer2 = nn.Sequential(Block(width, 2 * width, stride=2), Block(2 * width, 2 * width))
        self.fc = nn.Linear(2 * width, 10)

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        return self.fc(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


# cnnmem: batch-size=64 optimizer=adam
model = ResNet()
model(torch.zeros(2, 3, 32, 32))
"""

SECOND = """\
from keras import layers, models

lenet = models.Sequential(
    [layers.Input((28, 28, 1)), layers.Conv2D(6, 5), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(10)]
)
"""


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Runs git in a new repository in `tmp_path`, with nobody's configuration."""
    for name, value in {
        "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60)
        return done.stdout

    run("init", "-q", "-b", "main")
    return run


@pytest.fixture
def commit(git: Git, tmp_path: Path) -> Callable[..., None]:
    """Writes files, None for one that goes, and commits all there is under a tag."""

    def make(tag: str, **files: str | None) -> None:
        for name, text in files.items():
            path = tmp_path / f"{name}.py"
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        git("add", "--all")
        git("commit", "-q", "--allow-empty", "-m", tag)
        git("tag", tag)

    return make


@pytest.fixture
def history(commit: Callable[..., None], tmp_path: Path) -> None:
    """A ResNet; its width doubled; its batch size halved and a second model added."""
    (tmp_path / "setup.cfg").write_text("[flake8]\ncnnmem-gpu-limit = 64MiB\n")
    commit("one", blocks=BLOCKS, resnet=RESNET)
    wide = RESNET.replace("width=16", "width=32")
    commit("two", resnet=wide)
    commit("three", resnet=wide.replace("batch-size=64", "batch-size=32"), second=SECOND)


def difference(done: CompletedProcess[str]) -> dict[str, Any]:
    assert "Traceback" not in done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(("base", "head"), list(combinations(["one", "two", "three"], 2)))
def test_the_figures_are_those_of_two_separate_reports(
    run_cnnmem: Run, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, head: str
) -> None:
    # Each side as a report on a checkout of its own says it.
    sides: dict[str, dict[str, Any]] = {}
    for tag in (base, head):
        folder = tmp_path.parent / f"{tmp_path.name}-{tag}"
        git("worktree", "add", "-q", "--detach", str(folder), tag)
        monkeypatch.chdir(folder)
        done = run_cnnmem(
            "report", "blocks.py", "resnet.py", *(["second.py"] if tag == "three" else []), "--format=json"
        )
        sides[tag] = {model["target"]: model for model in json.loads(done.stdout)["models"]}
    monkeypatch.chdir(tmp_path)

    document = difference(run_cnnmem("diff", base, head, "--format=json"))
    changed = {entry["name"]: entry for entry in document["models"]}
    assert {name: entry["change"] for name, entry in changed.items()} == (
        {"ResNet": "changed", "lenet": "new"} if head == "three" else {"ResNet": "changed"}
    )
    for entry in changed.values():
        for side, tag in (("before", base), ("after", head)):
            if entry[side] is not None:
                assert entry[side] == sides[tag][entry[side]["target"]]
    resnet = changed["ResNet"]
    totals = [resnet[side]["memory"]["total"] for side in ("before", "after")]
    assert resnet["bytes"] == totals[1] - totals[0] == sum(change["bytes"] for change in resnet["changes"])
    what = {("one", "two"): ["layers"], ("two", "three"): ["batch size"], ("one", "three"): ["batch size", "layers"]}
    assert [change["what"] for change in resnet["changes"]] == what[base, head]

    limit = resnet["after"]["limit"]
    over = resnet["after"]["fits"] is False
    memory = " → ".join(map(units.show, totals))
    batches = " → ".join(str(resnet[side]["largest_batch_size"]) for side in ("before", "after"))
    table = run_cnnmem("diff", base, head)
    [row] = [line for line in table.stdout.splitlines() if line.startswith("ResNet ")]
    assert (table.returncode, "over the" in row) == ((1, True) if over else (0, False))
    assert re.split(r"  +", row)[2] == memory
    assert batches in row or batches.split(" → ")[0] == batches.split(" → ")[1]
    assert units.show(limit) in row
    assert "blocks.py:8" in table.stdout or base == "two"

    markdown = run_cnnmem("diff", base, head, "--format=markdown").stdout.splitlines()
    [row] = [line for line in markdown if line.startswith("| `ResNet`")]
    assert [cell.strip() for cell in row.strip("|").split("|")][:3] == ["`ResNet`", "`resnet.py:21`", memory]


@pytest.mark.usefixtures("history")
def test_the_work_tree_is_the_second_side_and_stays_as_it_is(run_cnnmem: Run, git: Git, tmp_path: Path) -> None:
    assert run_cnnmem("diff", "three").stdout == "no model changed between three and the work tree\n"
    blocks = tmp_path / "blocks.py"
    blocks.write_text(BLOCKS.replace("outputs, 3, padding=1", "outputs, 5, padding=2"))
    (tmp_path / "new.py").write_text(SECOND)
    before = git("status", "--porcelain=v2"), git("count-objects"), sorted(path.name for path in tmp_path.iterdir())
    [resnet, new] = difference(run_cnnmem("diff", "three", "--format=json"))["models"][-2:][::-1]
    assert (new["name"], new["path"], new["change"]) == ("lenet", "new.py", "new")
    # The file that was edited is imported by the one that holds the model.
    assert {layer["place"] for layer in resnet["changes"][0]["layers"]} == {"blocks.py:10"}
    assert before == (git("status", "--porcelain=v2"), git("count-objects"), sorted(p.name for p in tmp_path.iterdir()))


@pytest.mark.usefixtures("history")
def test_a_revision_is_evaluated_with_its_own_imports_whatever_the_work_tree_has(
    run_cnnmem: Run, tmp_path: Path
) -> None:
    before = run_cnnmem("diff", "one", "two", "--format=json").stdout
    (tmp_path / "blocks.py").write_text("raise SystemExit\n")
    (tmp_path / "resnet.py").unlink()
    (tmp_path / "torch.py").write_text("nn = None\n")
    assert run_cnnmem("diff", "one", "two", "--format=json").stdout == before


def test_what_goes_is_told(run_cnnmem: Run, commit: Callable[..., None]) -> None:
    commit("one", second=SECOND)
    commit("two", second=None)
    [entry] = difference(run_cnnmem("diff", "one", "two", "--format=json"))["models"]
    assert (entry["change"], entry["name"], entry["after"]) == ("gone", "lenet", None)
    assert "1 model gone, between one and two" in run_cnnmem("diff", "one", "two").stdout


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        pytest.param({"second": None, "renamed": SECOND}, [], id="a file with another name has the same model"),
        pytest.param(
            {"second": None, "renamed": SECOND.replace("Dense(10)", "Dense(20)")}, [("lenet", "lenet")],
            id="a renamed file, its model changed",
        ),
        pytest.param({"second": SECOND.replace("lenet", "classic")}, [], id="a model with another name"),
        pytest.param(
            {"second": SECOND.replace("lenet", "classic").replace("Dense(10)", "Dense(20)")}, [("lenet", "classic")],
            id="a model with another name and another layer",
        ),
        pytest.param(
            {"second": "import keras\n", "moved": "import torch\n" * 9 + SECOND.replace("Dense(10)", "Dense(20)")},
            [("lenet", "lenet")], id="a model that moved to another file",
        ),
        pytest.param(
            {"second": SECOND.replace("lenet", "other").replace("layers.Conv2D(6, 5), layers.MaxPooling2D(), ", "")},
            [("lenet", None), (None, "other")], id="another model in its place",
        ),
    ],
)  # fmt: skip
def test_renamed_files_and_models_are_followed_where_it_is_plain(
    run_cnnmem: Run, commit: Callable[..., None], changes: dict[str, str | None], names: list[tuple[str, str]]
) -> None:
    commit("one", second=SECOND)
    commit("two", **changes)
    entries = difference(run_cnnmem("diff", "one", "two", "--format=json"))["models"]
    found = [tuple(entry[side] and entry[side]["name"] for side in ("before", "after")) for entry in entries]
    assert sorted(found, key=str) == sorted(names, key=str)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ([], 0),
        (["--fail-on=over-limit"], 0),
        (["--gpu-limit=1MiB"], 1),
        (["--gpu-limit=1MiB", "--fail-on=increase=1000%"], 0),
        (["--fail-on=increase=10%"], 1),
        (["--fail-on=increase=1000%"], 0),
        (["--fail-on=increase=1000%", "--fail-on=increase=0.5%"], 1),
    ],
)
def test_the_exit_status_says_what_was_asked(
    run_cnnmem: Run, commit: Callable[..., None], given: list[str], status: int
) -> None:
    commit("one", second=SECOND)
    commit("two", second=SECOND.replace("Conv2D(6,", "Conv2D(24,"))
    assert run_cnnmem("diff", "one", "two", *given).returncode == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "cnnmem: error: 'nothing' is no revision of this repository"),
        (["one", "--fail-on=more"], "argument --fail-on: 'more' is neither over-limit nor increase=10%"),
        (["one", "HEAD~99"], "cnnmem: error: 'HEAD~99' is no revision of this repository"),
        (["one", "--gpu-limit=RTX 9090"], "argument --gpu-limit: 'RTX 9090' is neither a size"),
        ([], "the following arguments are required: BASE"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(
    run_cnnmem: Run, commit: Callable[..., None], arguments: list[str], message: str
) -> None:
    commit("one", second=SECOND)
    done = run_cnnmem("diff", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[0]


def test_outside_a_repository_there_is_nothing_to_compare(
    run_cnnmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    done = run_cnnmem("diff", "main")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"cnnmem: error: {tmp_path} is not in a git repository")
    assert done.stderr.count("\n") == 1


def test_a_model_that_is_not_resolved_is_one_line(run_cnnmem: Run, commit: Callable[..., None]) -> None:
    commit("one", second=SECOND)
    unknown = "from widths import widths\nfrom keras import layers, models\n\n"
    commit("two", second=unknown + "lenet = models.Sequential([layers.Dense(width) for width in widths])\n")
    done = run_cnnmem("diff", "one", "two")
    message = "cnnmem: second.py:4: lenet is not estimated: the source of 'widths' is not found (line 1)\n"
    assert done.stderr == message
    [row] = [line for line in done.stdout.splitlines() if line.startswith("lenet ")]
    assert "not estimated" in row
    assert done.returncode == 0


def test_a_file_that_does_not_parse_is_told_and_its_models_have_not_gone(
    run_cnnmem: Run, commit: Callable[..., None]
) -> None:
    commit("one", second=SECOND)
    commit("two", second=SECOND + "def f(:\n")
    done = run_cnnmem("diff", "one", "two")
    assert done.stdout == "no model changed between one and two\n"
    assert done.stderr.startswith("cnnmem: second.py:6: not compared: not valid Python")


def test_names_from_the_code_are_data_in_a_comment(
    run_cnnmem: Run, commit: Callable[..., None], tmp_path: Path
) -> None:
    commit("one")
    folder = tmp_path / "a`b|c<script>"
    folder.mkdir()
    (folder / "[x](y).py").write_text(SECOND)
    text = run_cnnmem("diff", "one", "--format=markdown").stdout
    assert "<script>" not in text
    assert "[x](y)" not in text
    [row] = [line for line in text.splitlines() if line.startswith("| `lenet`")]
    assert row.count("|") == 8


def test_links_and_packages_of_a_revision_are_followed(
    run_cnnmem: Run, commit: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "nets" / "parts").mkdir(parents=True)
    (tmp_path / "nets" / "__init__.py").write_text("")
    (tmp_path / "nets" / "parts" / "__init__.py").write_text("from .blocks import Block\n")
    (tmp_path / "nets" / "parts" / "blocks.py").write_text(BLOCKS)
    (tmp_path / "linked").symlink_to("nets", target_is_directory=True)
    commit("one", resnet=RESNET.replace("from blocks", "from linked.parts"))
    (tmp_path / "nets" / "parts" / "blocks.py").write_text(BLOCKS.replace("padding=1, bias=False", "padding=1"))
    [entry] = [
        entry for entry in difference(run_cnnmem("diff", "one", "--format=json"))["models"] if entry["name"] == "ResNet"
    ]
    assert (entry["before"]["status"], entry["after"]["status"]) == ("exact", "exact")
    assert entry["after"]["parameters"]["total"] > entry["before"]["parameters"]["total"]


def test_data_that_code_reads_is_that_of_the_revision(
    run_cnnmem: Run, commit: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "net.yaml").write_text("filters: 6\n")
    given = "import yaml\n\nwith open('net.yaml') as file:\n    given = yaml.safe_load(file)\n"
    commit("one", second=given + SECOND.replace("Conv2D(6,", "Conv2D(given['filters'],"))
    (tmp_path / "net.yaml").write_text("filters: 12\n")
    [entry] = difference(run_cnnmem("diff", "one", "--format=json"))["models"]
    shapes = [[layer[side]["output_shape"] for side in ("before", "after")] for layer in entry["changes"][0]["layers"]]
    assert [[24, 24, 6], [24, 24, 12]] in shapes


def test_a_comment_is_read_as_it_is_meant(run_cnnmem: Run, commit: Callable[..., None], tmp_path: Path) -> None:
    from markdown_it import MarkdownIt

    folder = tmp_path / "_a_ *b* ~c~"
    folder.mkdir()
    (folder / "<img src=x>|`.py").write_text(SECOND)
    commit("one")
    (folder / "<img src=x>|`.py").write_text(SECOND.replace("Dense(10)", "Dense(20)"))
    html = MarkdownIt("gfm-like", {"linkify": False}).render(run_cnnmem("diff", "one", "--format=markdown").stdout)
    [row] = re.findall(r"<tr>(.*?)</tr>", html.partition("<tbody>")[2], re.DOTALL)
    cells = [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<td.*?>(.*?)</td>", row, re.DOTALL)]
    assert cells[1] == "_a_ *b* ~c~/&lt;img src=x&gt;|`.py:3"
    assert len(cells) == 7
    assert "<img" not in html
    assert html.count("<summary>") == 1


def test_what_is_edited_in_a_settings_file_is_named_there(
    run_cnnmem: Run, git: Git, commit: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "train.yaml").write_text("steps: 9\nbatch: 64\n")
    (tmp_path / "train.py").write_text(
        "import torch, yaml\nfrom torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset\n"
        "settings = yaml.safe_load(open('train.yaml'))\nnet = nn.Linear(4096, 8)\n"
        "data = TensorDataset(torch.zeros(640, 4096))\nloader = DataLoader(data, batch_size=settings['batch'])\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for [x] in loader:\n    optimizer.zero_grad()\n    net(x).sum().backward()\n    optimizer.step()\n"
    )
    commit("one")
    (tmp_path / "train.yaml").write_text("# more\nsteps: 9\nbatch: 128\n")
    done = run_cnnmem("diff", "one")
    assert "batch size 64 (train.yaml:2) → 128 (train.yaml:3)" in done.stdout
