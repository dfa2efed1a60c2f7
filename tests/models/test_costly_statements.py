"""What costs too much to be followed takes nothing from the rest of the program, and is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.checks import cnm301
from flake8_cnnmem.evaluate import interpreter, top_level
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

STATEMENT, IMPORT = 3_000, 9_000

TABLE = """\
from torch import nn

def counted(turns):
    total = 0
    while total < turns:
        total += 1
    return total

NETWORKS = {{"small": nn.Linear(32, counted({turns}))}}
"""

TRAINING = """\
import torch
import table

network = table.NETWORKS["small"].cuda()
optimizer = torch.optim.Adam(network.parameters())
for step in range(100):
    optimizer.zero_grad()
    network(torch.randn(64, 32, device="cuda")).sum().backward()
    optimizer.step()
"""

ALONE = """\
import torch
from torch import nn

def main():
    total = 0
    while total < 50_000:
        total += 1
    network = nn.Sequential(nn.Linear(32, 8), nn.ReLU())

main()
"""


@pytest.fixture(autouse=True)
def small_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "STATEMENT_STEPS", STATEMENT)
    monkeypatch.setattr(top_level, "IMPORT_STEPS", IMPORT)


def report_of(folder: Path, text: str, turns: int = 0) -> FileReport:
    (folder / "table.py").write_text(TABLE.format(turns=turns))
    path = folder / "train.py"
    path.write_text(text)
    return analyse(load(str(path)), Settings())


def test_an_import_may_cost_more_than_the_statement_that_asks_for_it(tmp_path: Path) -> None:
    (training,) = report_of(tmp_path, TRAINING, turns=1_500).reports
    assert training.status == "exact"
    assert training.training.batch_size.value == 64


def test_what_imports_something_too_costly_is_followed_without_it(tmp_path: Path) -> None:
    (training,) = report_of(tmp_path, TRAINING, turns=50_000).reports
    assert training.status == "lower-bound"
    first = training.causes[0]
    assert first.reason == "the code runs for too long to be followed"
    assert Path(first.path).name == "table.py"


def test_a_file_whose_only_models_are_behind_something_too_costly_says_so(tmp_path: Path) -> None:
    report = report_of(tmp_path, ALONE)
    assert not report.reports
    (missing,) = report.missing
    assert (missing.reason, missing.line) == ("the code runs for too long to be followed", 10)
    (finding,) = cnm301.check_file(report, Settings())
    assert finding.line == 10
