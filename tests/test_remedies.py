"""What would make a model fit: each change with the figure that the same model has when it is made in the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem import remedies
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.checks import cnm101
from flake8_cnnmem.memory.allocator import card
from flake8_cnnmem.memory.allocator.program import Program
from flake8_cnnmem.memory.allocator.whole_program import run_whole
from flake8_cnnmem.memory.gpus import find
from flake8_cnnmem.results import FileReport, ModelReport, Remedy
from flake8_cnnmem.settings.options import Limit, Settings
from flake8_cnnmem.source import load

TEXT = """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.conv = nn.Conv2d(size, size, 3, padding=1)
        self.norm = nn.BatchNorm2d(size)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x))) + x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, padding=1)
        self.blocks = nn.Sequential(Block(32), Block(32), Block(32), Block(32))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = CALL
        return self.head(x.mean((2, 3)))

net = Net()DTYPE
optimizer = torch.optim.OPTIMIZER
for _ in range(10):
    optimizer.zero_grad()
    net(torch.randn(4, 3, SIDE, SIDE)).sum().backward()
    optimizer.step()
"""

PLAIN = {"CALL": "block(x)", "DTYPE": "", "OPTIMIZER": "Adam(net.parameters())", "SIDE": "128"}
MIB = 2**20


def report_of(folder: Path, limit: int | None, batch: int = 64, gpu: str = "", **changed: str) -> ModelReport:
    text = TEXT
    for word, code in {**PLAIN, **changed}.items():
        text = text.replace(word, code)
    path = folder / "train.py"
    path.write_text(f"# cnnmem: batch-size={batch}\n\n{text}")
    settings = Settings(gpu_limit=Limit(limit, gpu) if limit is not None else None)
    (report,) = analyse(load(str(path)), settings).reports
    return report


def total(report: ModelReport) -> int:
    assert report.estimate is not None
    return report.estimate.total


CHANGES = {
    "mixed_float16": {"DTYPE": "  # cnnmem: dtype=mixed_float16"},
    "optimizer momentum": {"OPTIMIZER": "SGD(net.parameters(), 0.1, momentum=0.9)"},
    "checkpointing each Block": {"CALL": "checkpoint(block, x)"},
    "input 3x96x96": {"SIDE": "96"},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_alone_has_the_figure_of_the_code_that_makes_it(change: str, tmp_path: Path) -> None:
    made = total(report_of(tmp_path, None, 64, **CHANGES[change]))
    # Only this change is known to fit: the limit is what it takes.
    offered = {remedy.change: remedy for remedy in report_of(tmp_path, made).remedies}
    assert (offered[change].total, offered[change].fits) == (made, True)


def test_the_cheapest_change_comes_first_and_what_is_not_enough_comes_with_its_batch(tmp_path: Path) -> None:
    report = report_of(tmp_path, 600 * MIB)
    assert [remedy.change.partition(" and ")[0] for remedy in report.remedies] == [
        f"batch size {report.largest_batch_size}",
        "mixed_float16",
        "optimizer momentum",
        "checkpointing each Block",
        "input 3x64x64",
    ]
    assert [remedy.fits for remedy in report.remedies] == [remedy.total <= 600 * MIB for remedy in report.remedies]
    partitioned = [(remedy, *remedy.change.partition(" and batch size ")) for remedy in report.remedies]
    together = [(remedy, change, int(batch)) for remedy, change, _, batch in partitioned if batch]
    assert together
    for remedy, change, batch in together:
        made, larger = (report_of(tmp_path, None, size, **CHANGES[change]) for size in (batch, batch + 1))
        assert total(made) == remedy.total <= 600 * MIB < total(larger)


def test_who_asks_for_the_first_that_fits_waits_for_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report_of(tmp_path, 600 * MIB)
    expected = next(remedy for remedy in whole.remedies if remedy.fits)
    tried = []
    work = remedies.tried

    def noted(case: remedies.StepOverLimit, change: str, *rest: Any) -> Remedy:
        tried.append(change)
        return work(case, change, *rest)

    monkeypatch.setattr(remedies, "tried", noted)
    report = report_of(tmp_path, 600 * MIB)
    assert report.first_fit == expected
    assert "checkpointing each Block" not in tried
    assert report.remedies == whole.remedies
    assert len(tried) == len(set(tried))


def test_on_a_card_the_first_that_fits_is_that_of_all_and_takes_fewer_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replays = []
    work = run_whole

    def counted(program: Program, batch: int, room: int | None) -> tuple[int, int] | None:
        replays.append(batch)
        return work(program, batch, room)

    monkeypatch.setattr(card, "run_whole", counted)
    asked, told = (report_of(tmp_path, find("T4").mib * MIB, 1, "T4", SIDE="5120") for _ in range(2))
    assert asked.largest_batch_size == told.largest_batch_size == 0
    replays.clear()
    first, few = asked.first_fit, len(replays)
    replays.clear()
    assert [remedy.fits for remedy in told.remedies] == [False, False, True]
    assert first == told.remedies[-1]
    assert few < len(replays) / 2


def test_a_model_that_fits_needs_no_remedy(tmp_path: Path) -> None:
    assert report_of(tmp_path, 64 * 1024 * MIB).remedies == ()


def test_where_not_even_one_sample_fits_the_finding_names_another_way(tmp_path: Path) -> None:
    one = report_of(tmp_path, None, 1)
    report = report_of(tmp_path, total(one) - MIB, 1)
    file = FileReport(report.path, (report,))
    (finding,) = cnm101.check_file(file, Settings(gpu_limit=Limit(total(one) - MIB)))
    assert report.largest_batch_size == 0
    assert "; not even batch 1 fits: " in finding.message
    assert finding.message.endswith(" MiB")
    assert "; mixed_float16 takes " in finding.message
