"""Loops whose memory grows with every turn, against what one more turn adds in PyTorch; and the same loops mended.

fixtures/truth/growth.json holds that; tests/oracle/measure_growth.py measures it. In fixtures/growth a comment stands
at the line that is to be found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import LEAST_GROWTH, FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
TRUTH = json.loads((FIXTURES / "truth" / "growth.json").read_text())["programs"]

TOLERANCE = 0.005

each_program = pytest.mark.parametrize("truth", TRUTH, ids=lambda truth: truth["program"].removesuffix(".py"))


def text_of(truth: dict[str, Any]) -> str:
    path: Path = FIXTURES / "growth" / truth["program"]
    return path.read_text(encoding="utf-8")


def report_on(text: str) -> FileReport:
    return analyse(Source("program.py", text), Settings())


def lines(report: FileReport) -> list[int]:
    return [finding.line for finding in checks.run(report, Settings(), {"CNM102"})]


def test_every_program_is_measured() -> None:
    assert sorted(path.name for path in (FIXTURES / "growth").glob("*.py")) == [truth["program"] for truth in TRUTH]


@each_program
def test_what_a_turn_adds_is_what_pytorch_asks_for(truth: dict[str, Any]) -> None:
    text = text_of(truth)
    report = report_on(text)
    assert lines(report) == [at for at, line in enumerate(text.split("\n"), 1) if line.endswith("# CNM102")]
    [growth] = {growth for each in report.reports for growth in each.growths}
    assert growth.bytes == pytest.approx(truth["growth"], rel=TOLERANCE)


@each_program
def test_the_figure_says_what_every_turn_adds(truth: dict[str, Any]) -> None:
    for report in report_on(text_of(truth)).reports:
        if report.evaluation is not None:
            assert report.estimate is not None
            assert report.estimate.growth == pytest.approx(truth["growth"], rel=TOLERANCE)


def test_a_comprehension_gathers_as_a_loop_does() -> None:
    text = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.Sigmoid(), nn.AdaptiveAvgPool2d(1)).cuda()
loader = DataLoader(TensorDataset(torch.randn(96, 3, 32, 32)), batch_size=32)
outputs = [model(x.cuda()) for (x,) in loader]
more = torch.cat([model(x.cuda()) for (x,) in loader])
fine = torch.cat([model(x.cuda()).detach() for (x,) in loader])
with torch.no_grad():
    fine = [model(x.cuda()) for (x,) in loader]
"""
    report = report_on(text)
    assert lines(report) == [7, 8]
    assert [growth.what for each in report.reports for growth in each.growths] == ["outputs", "the list"]


@each_program
def test_a_mended_loop_is_silent(truth: dict[str, Any]) -> None:
    text = text_of(truth)
    for old, new in truth["twin"]:
        assert old in text
        text = text.replace(old, new)
    report = report_on(text)
    assert lines(report) == []
    assert not any(each.growths for each in report.reports)
    [keeping] = lines(report_on(text_of(truth)))
    for each in report.reports:
        # A training that begins behind the loop is no part of it.
        if each.estimate is not None and each.trained_at is not None and each.trained_at.line < keeping:
            assert each.estimate.growth == pytest.approx(truth["twin_growth"], rel=TOLERANCE, abs=LEAST_GROWTH)


LOOP = """\
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.Sigmoid(), nn.Flatten(), nn.Linear(16 * 900, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
kept, total = [], 0.0
for step in range(100):
    x, y = torch.randn(32, 3, 32, 32), torch.zeros(32, dtype=torch.long)
    {before}
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {after}
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("pass", "kept.append(loss)", id="a list of losses after their backward pass"),
        pytest.param("pass", "total += loss", id="a sum of losses after their backward pass"),
        pytest.param("pass", "kept.append(x)", id="the inputs"),
        pytest.param("pass", "last = model(x)", id="a variable that is given another value"),
        pytest.param("said = model(x).detach(); kept.append(said)", "pass", id="a detached output"),
        pytest.param("kept.append(model(x)); kept.clear()", "pass", id="a list that is emptied in the turn"),
        pytest.param("kept = [model(x)]", "pass", id="a list of this turn's own"),
        pytest.param("kept.append(model(x).argmax(1))", "pass", id="labels, through which no gradient goes"),
        pytest.param("total += model(x).sum().item()", "pass", id="a number"),
    ],
)
def test_what_does_not_keep_graphs_is_silent(before: str, after: str) -> None:
    assert lines(report_on(LOOP.format(before=before, after=after))) == []


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        pytest.param("kept.append(model(x))", "pass", 10, id="a list before the backward pass of something else"),
        pytest.param("pass", "kept.append(model(x))", 15, id="a list after the step"),
        pytest.param("kept = kept + [model(x)]", "pass", 10, id="a list that is made anew"),
        pytest.param("kept += [model(x)]", "pass", 10, id="a list that is added to"),
        pytest.param("kept.extend([model(x), y])", "pass", 10, id="a list that is extended"),
        pytest.param("kept.insert(0, (step, model(x)))", "pass", 10, id="tuples in a list"),
        pytest.param("total = total + model(x).sum()", "pass", 10, id="a sum"),
        pytest.param(
            "model.said = [*getattr(model, 'said', []), model(x)]", "pass", 10, id="an attribute of the model"
        ),
    ],
)
def test_what_keeps_graphs_is_found_at_its_line(before: str, after: str, line: int) -> None:
    assert lines(report_on(LOOP.format(before=before, after=after))) == [line]


TURNS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.Sigmoid(), nn.AdaptiveAvgPool2d(1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader({data}, batch_size=32)
{before}
for x in loader:
    loss = model({x}).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    {kept}
"""


@pytest.mark.parametrize(
    ("samples", "before", "kept", "status"),
    [
        pytest.param(32 * 9, "kept = []", "kept.append(loss)", "exact", id="a list, of as many turns as there are"),
        pytest.param(32 * 9, "total = 0", "total += loss", "exact", id="a sum, of as many turns as there are"),
        pytest.param(32 * 9 + 1, "kept = []", "kept.append(loss)", "lower-bound", id="the last batch is a smaller one"),
        pytest.param(
            32 * 9, "kept = []", "kept.append(loss)\n    if len(kept) > 4: kept.pop(0)", "lower-bound",
            id="a window that is cut off",
        ),
        pytest.param(
            32 * 9, "kept = []", "kept.append(loss)\n    if x[0].sum() > 2: break", "lower-bound",
            id="the loop may be left before",
        ),
        pytest.param(
            32 * 9, "kept, step = [], 0", "kept.append(loss)\n    step += 1\n    if step > 5: break",
            "lower-bound", id="the loop is left in a later turn",
        ),
        pytest.param(
            32 * 9, "kept, step = [], 0", "step += 1\n    if step < 4: kept.append(loss)", "lower-bound",
            id="the first few alone",
        ),
        pytest.param(
            32 * 9, "kept, step = [], 0", "step += 1\n    if step > 5: continue\n    kept.append(loss)", "lower-bound",
            id="turns that are passed over later",
        ),
        pytest.param(32 * 9, "kept = []", "kept.append(loss.item())", "exact", id="numbers"),
        pytest.param(32 * 9, "kept = {}", "kept['last'] = loss", "exact", id="the last one alone"),
    ],
)  # fmt: skip
def test_the_last_turn_counts_where_it_is_known_how_many_there_are(
    samples: int, before: str, kept: str, status: str
) -> None:
    data, x = f"TensorDataset(torch.randn({samples}, 3, 32, 32))", "x[0].cuda()"
    text = TURNS.format(data=data, x=x, before=before, kept=kept)
    [report] = report_on(text).reports
    assert report.status == status
    single = TURNS.format(data=data, x=x, before=before, kept="pass")
    [alone] = report_on(single).reports
    assert report.estimate is not None
    assert alone.estimate is not None
    growth = report.estimate.growth
    more = report.estimate.total - alone.estimate.total
    # The first two turns are followed; each of the seven behind them finds one more, before a smaller last one as well.
    known = status == "exact" or samples % 32 > 0
    assert (more >= 7 * growth > LEAST_GROWTH) == (known and ("append(loss)" in kept or "+=" in kept))


def test_a_loop_whose_end_is_not_known_gives_a_lower_bound() -> None:
    folder = """\
import os


class Folder(torch.utils.data.Dataset):
    paths = sorted(os.listdir("images"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, at):
        return torch.zeros(3, 32, 32)


model ="""
    text = TURNS.format(data="Folder()", x="x.cuda()", before="kept = []", kept="kept.append(loss)")
    [report] = report_on(text.replace("model =", folder, 1)).reports
    assert report.status == "lower-bound"
    assert [cause.reason for cause in report.causes] == [
        "memory grows with every turn of the loop, and how many turns it makes is not known"
    ]


ENDLESS = """\
import torch
from torch import nn

model = nn.Linear({width}, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []
while True:
    x = torch.randn(8, {width}, device="cuda")
    loss = model(x).square().mean()
    kept.append(loss.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("width", "status"), [(4, "lower-bound"), (40_000, "exact")])
def test_small_results_matter_to_a_small_step_alone(width: int, status: str) -> None:
    """A thousand losses take 4 kB: as much as a step on 8 x 4 numbers, next to nothing of one on 8 x 40,000."""
    [report] = report_on(ENDLESS.format(width=width)).reports
    assert report.status == status


PARTS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(512, 512).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    for (x,) in DataLoader(TensorDataset(torch.rand(6400, 512)), batch_size=640):
        outputs = []
        for part in [x, x * 2, x * 3]:
            outputs.append(model(part.cuda()))
        loss = torch.stack(outputs).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

CUT_OFF = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

encoder = nn.Linear(512, 512).cuda()
heads = nn.ModuleList([nn.Linear(512, 512) for _ in range(2)]).cuda()
optimizer = torch.optim.Adam([*encoder.parameters(), *heads.parameters()])
loader = DataLoader(TensorDataset(torch.rand(6400, 512)), batch_size=640)


def primes(count):
    found, number = [], 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found


for epoch in range(10):
    for x, in loader:
        outputs = {"features": encoder(x.cuda())}
        for at in [0, 1]:
            outputs["head", at] = heads[at](outputs["features"])
        if epoch == 1:
            primes(100_000)
        loss = outputs["head", 0].mean() + outputs["head", 1].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(PARTS, id="the parts of a batch, with which a step begins"),
        pytest.param(CUT_OFF, id="a step of which the end is not evaluated any more"),
    ],
)
def test_a_loop_within_a_step_is_none_over_a_loader_and_no_evaluation(text: str) -> None:
    assert lines(report_on(text)) == []
