"""`cnnmem fix` as people use it: what is printed, what is written, and what is never touched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flake8_cnnmem.cli import main

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 5)
        self.fc = nn.Linear(WIDTH, 10)

    def forward(self, x):
        return self.fc(nn.functional.max_pool2d(self.conv(x), 2).flatten(1))


"""
RUN = "Net()(torch.zeros(1, 1, 28, 28))\n"
WRONG, RIGHT = NET.replace("WIDTH", "16 * 5 * 5") + RUN, NET.replace("WIDTH", "16 * 12 * 12") + RUN

TRAIN = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(215296, 9))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = TensorDataset(torch.zeros(512, 3, 62, 62), torch.zeros(512, dtype=torch.long))
scaler = torch.amp.GradScaler()
for image, label in DataLoader(data, SIZE):
    optimizer.zero_grad()
    scores = net(image)
    loss = nn.functional.cross_entropy(scores, label)
    LOSS.backward()
    optimizer.step()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CNNMEM_STRICT", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_diff_is_printed_and_nothing_is_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "net.py").write_text(WRONG)
    assert main(["fix"]) == 1
    out, told = capsys.readouterr()
    assert [line for line in out.splitlines() if line[0] in "+-"] == [
        "--- ./net.py",
        "+++ ./net.py",
        "-        self.fc = nn.Linear(16 * 5 * 5, 10)",
        "+        self.fc = nn.Linear(16 * 12 * 12, 10)",
    ]
    assert told == "1 finding can be mended in 1 file, 0 left; --write mends\n"
    assert (folder / "net.py").read_text() == WRONG


def test_write_writes_and_the_second_time_there_is_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "net.py").write_text(WRONG)
    assert main(["fix", "--write", "net.py"]) == 0
    assert capsys.readouterr() == ("", "1 finding mended in 1 file, 0 left\n")
    assert (folder / "net.py").read_text() == RIGHT
    assert main(["fix", "--write", "net.py"]) == 0
    assert capsys.readouterr() == ("", "nothing to mend\n")


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda text: text.replace("\n", "\r\n").encode(), id="the line ends of Windows"),
        pytest.param(lambda text: b"\xef\xbb\xbf" + text.encode(), id="a byte-order mark"),
        pytest.param(lambda text: f"# coding: latin-1\n# größe\n{text}".encode("latin-1"), id="another encoding"),
        pytest.param(lambda text: text.rstrip("\n").encode(), id="no end of the last line"),
        pytest.param(lambda text: text.replace("\n\n\n", "\n\x0c\n\n").encode(), id="form feeds"),
    ],
)
def test_all_other_bytes_stay(folder: Path, form: object) -> None:
    assert callable(form)
    (folder / "net.py").write_bytes(form(WRONG))
    assert main(["fix", "--write"]) == 0
    assert (folder / "net.py").read_bytes() == form(RIGHT)


def test_what_noqa_silences_is_not_mended(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "net.py").write_text(WRONG.replace("5, 10)", "5, 10)  # noqa: CNM201"))
    assert main(["fix", "--write"]) == 0
    assert capsys.readouterr().err == "nothing to mend\n"


def test_what_another_file_would_suffer_from_is_left(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "net.py").write_text(WRONG)
    (folder / "other.py").write_text("import torch\nfrom net import Net\n\nNet()(torch.zeros(1, 1, 14, 14))\n")
    assert main(["fix", "--write", "net.py"]) == 1
    assert capsys.readouterr().err == (
        "cnnmem: left: net.py: what mends it gives other.py a wrong size\nnothing is mended; 1 left\n"
    )
    assert (folder / "net.py").read_text() == WRONG


def test_what_is_left_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bugs = Path(__file__).parent.parent.parent / "fixtures" / "bugs"
    shutil.copy(bugs / "torch_cat_features_batch_wrong.py", "net.py")
    assert main(["fix"]) == 1
    out, told = capsys.readouterr()
    assert out == ""
    first, last = told.splitlines()
    assert first.startswith("cnnmem: left: ./net.py:12:24: CNM201 cat joins (12, 16) and (10, 8)")
    assert last == "nothing is mended; 1 left"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--select", "CNM101"], "CNM101 is nothing that can be mended: use CNM201 or CNM203, or --to-fit for CNM101"),
        (["nowhere.py"], "nowhere.py: no such file or folder"),
        (["--to-fit", "T44"], "argument --to-fit: 'T44' is neither a size such as 12GiB nor a known GPU"),
    ],
)
def test_a_usage_error(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fix", *arguments]) == 2
    assert said in capsys.readouterr().err


def changed(out: str) -> list[str]:
    return [line for line in out.splitlines() if line[0] in "+-" and line[:3] not in ("+++", "---")]


def training(size: str, loss: str = "loss") -> str:
    return TRAIN.replace("SIZE", size).replace("LOSS", loss)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        (training("64"), "DataLoader(data, 64)", "DataLoader(data, 25)"),
        (training("batch_size=64"), "batch_size=64", "batch_size=25"),
        ("BATCH_SIZE = 64\n" + training("BATCH_SIZE"), "BATCH_SIZE = 64", "BATCH_SIZE = 25"),
    ],
)
def test_a_batch_size_is_made_to_fit(
    text: str, before: str, after: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "train.py").write_text(text)
    assert main(["fix", "--to-fit", "100MiB", "--write"]) == 0
    assert (folder / "train.py").read_text() == text.replace(before, after)
    assert main(["check", "--gpu-limit", "100MiB"]) == 0
    assert main(["fix", "--to-fit", "100MiB"]) == 0


@pytest.mark.parametrize(
    ("name", "settings", "read"),
    [
        ("c.yaml", "# tuned\ntrain:\n  batch_size: 64  # cards\n", "import yaml\nS = yaml.safe_load(open('c.yaml'))\n"),
        ("c.json", '{"train": {\n  "batch_size": 64\n}}\n', "import json\nS = json.load(open('c.json'))\n"),
    ],
)
def test_a_batch_size_is_changed_in_the_file_that_has_it(name: str, settings: str, read: str, folder: Path) -> None:
    (folder / name).write_text(settings)
    script = read + training("S['train']['batch_size']")
    (folder / "train.py").write_text(script)
    assert main(["fix", "--to-fit", "100MiB", "--write"]) == 0
    assert (folder / name).read_text() == settings.replace("64", "25")
    assert (folder / "train.py").read_text() == script


def test_autocast_comes_where_the_loop_has_its_scaler(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = training("64", "scaler.scale(loss)").replace("optimizer.step()", "scaler.step(optimizer)")
    (folder / "train.py").write_text("# cnnmem: batch-size=64\n" + text)
    assert main(["fix", "--to-fit", "200MiB"]) == 1
    assert changed(capsys.readouterr().out) == [
        "-    scores = net(image)",
        "-    loss = nn.functional.cross_entropy(scores, label)",
        '+    with torch.autocast("cuda"):',
        "+        scores = net(image)",
        "+        loss = nn.functional.cross_entropy(scores, label)",
    ]


def test_without_a_scaler_precision_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "# cnnmem: batch-size=64\n" + training("64").replace("scaler = torch.amp.GradScaler()\n", "")
    (folder / "train.py").write_text(text)
    assert main(["fix", "--to-fit", "200MiB", "--write"]) == 1
    assert (folder / "train.py").read_text() == text
    assert "the loop has no scaler for mixed precision" in capsys.readouterr().err


BLOCKS = """\
# cnnmem: batch-size=64
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, given):
        super().__init__()
        self.a, self.b = nn.Conv2d(given, 32, 3, padding=1), nn.Conv2d(32, 32, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.b(torch.relu(self.a(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.body = Block(3), nn.Sequential(Block(32), Block(32), Block(32))

    def forward(self, x):
        FORWARD
        return x.mean((2, 3))


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = TensorDataset(torch.zeros(512, 3, 64, 64), torch.zeros(512, dtype=torch.long))
for image, label in DataLoader(data, 64):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(image), label).backward()
    optimizer.step()
"""


STEM = "checkpoint(self.stem, x, use_reentrant=False)"


@pytest.mark.parametrize(
    ("forward", "told"),
    [
        (
            "x = self.body(self.stem(x))",
            [
                "+from torch.utils.checkpoint import checkpoint, checkpoint_sequential",
                "-        x = self.body(self.stem(x))",
                f"+        x = checkpoint_sequential(self.body, len(self.body), {STEM}, use_reentrant=False)",
            ],
        ),
        (
            "for block in (self.stem, *self.body): x = block(x)",
            [
                "+from torch.utils.checkpoint import checkpoint",
                "-        for block in (self.stem, *self.body): x = block(x)",
                "+        for block in (self.stem, *self.body): x = checkpoint(block, x, use_reentrant=False)",
            ],
        ),
        ("x = self.stem(x); checkpoint = x; x = self.body(checkpoint)", []),
    ],
)
def test_checkpoints_are_shown_and_never_written(
    forward: str, told: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = BLOCKS.replace("FORWARD", forward)
    (folder / "train.py").write_text(text)
    assert main(["fix", "--to-fit", "260MiB", "--write"]) == 1
    out, err = capsys.readouterr()
    assert changed(out) == told
    assert ("by the patch that is printed" in err) == bool(told)
    assert (folder / "train.py").read_text() == text
