"""Trainings of models that nobody can follow: the batch that they are given is known, and is in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.checks import cnm301, cnm302
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Limit, Settings
from flake8_cnnmem.source import load

TORCH = """\
import argparse
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--net", required=True)
args = parser.parse_args()

def network(name):
    if name == "small":
        return nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.LazyLinear(5))
    if name == "large":
        return nn.Sequential(nn.Conv2d(3, 64, 3), nn.Flatten(), nn.LazyLinear(5))
    raise ValueError(name)

net = network(args.net)
data = TensorDataset(torch.randn(512, 3, 40, 48), torch.zeros(512, dtype=torch.long))
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(data, batch_size=16, shuffle=True):
    optimizer.zero_grad()
    {step}
    loss.backward()
    optimizer.step()
"""

MADE_OF = """\
import torch
import {package}
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

{given}

model = {made}
data = TensorDataset(torch.randn(512, 3, 40, 48))
optimizer = torch.optim.Adam(model.parameters())
for x, in DataLoader(data, batch_size=16):
    optimizer.zero_grad()
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
"""

NET = "net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Conv2d(4, 8, 3))"

CUTTER = f"""{NET}

class Cut(cutting.Module):
    def __init__(self, whole):
        super().__init__()
        self.kept = {{}}
        self.take(whole)"""

KERAS = """\
import keras
from keras.preprocessing.image import ImageDataGenerator
from models_of_the_project import build

model = build()
model.compile(optimizer="adam", loss="categorical_crossentropy")
{data}
model.fit({given})
"""

GENERATOR = 'train = ImageDataGenerator().flow_from_directory("data", target_size=(96, 64), batch_size=20)'
ARRAYS = "import numpy as np\nx, y = np.zeros((500, 28, 28, 1)), np.zeros((500, 10))"

PLAIN = "loss = F.cross_entropy(net(x), y)"

KNOWN = {
    "a model that a required argument names": (TORCH.format(step=PLAIN), 16, (3, 40, 48)),
    "the same, on a part of the batch": (
        TORCH.format(step="loss = F.cross_entropy(net(x[:, :1]), y)"),
        16,
        (1, 40, 48),
    ),
    "the same, given by its name": (TORCH.format(step="loss = F.cross_entropy(net(input=x), y)"), 16, (3, 40, 48)),
    "made of a model that is known": (
        MADE_OF.format(package="cutting", given=NET, made="cutting.cut(net, 1)"),
        16,
        (3, 40, 48),
    ),
    "made of one by a trace": (
        MADE_OF.format(package="torch.fx", given=NET, made="torch.fx.symbolic_trace(net)"),
        16,
        (3, 40, 48),
    ),
    "made of one by a class with a base that is not known": (
        MADE_OF.format(package="cutting", given=CUTTER, made="Cut(net)"),
        16,
        (3, 40, 48),
    ),
    "a model of a file that is not there": (KERAS.format(data=GENERATOR, given="train, epochs=3"), 20, (96, 64, 3)),
    "the same, fitted on arrays": (KERAS.format(data=ARRAYS, given="x, y, batch_size=50"), 50, (28, 28, 1)),
    "the same, which takes what it takes by itself": (KERAS.format(data=ARRAYS, given="x, y"), 32, (28, 28, 1)),
}

NOT_KNOWN = {
    "something that is not known either changes the batch before": TORCH.format(
        step="loss = F.cross_entropy(net(__import__('nowhere').augment(x)), y)"
    ),
    "something of the same cause is called on the way": TORCH.format(
        step="z = network(args.net)(x)\n    loss = F.cross_entropy(net(z), y)"
    ),
}


def report_of(folder: Path, text: str, limit: int | None = None) -> ModelReport:
    path = folder / "train.py"
    path.write_text(text)
    settings = Settings(gpu_limit=Limit(limit)) if limit is not None else Settings()
    (report,) = analyse(load(str(path)), settings).reports
    return report


@pytest.mark.parametrize("case", KNOWN.values(), ids=list(KNOWN))
def test_its_batch_is_told_and_counted(case: tuple[str, int, tuple[int, ...]], tmp_path: Path) -> None:
    text, batch, shape = case
    report = report_of(tmp_path, text)
    assert (report.status, report.kind, report.parameters) == ("lower-bound", "training", None)
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == shape
    assert (report.training.batch_size.value, report.training.optimizer.value.name) == (batch, "adam")
    assert report.estimate is not None
    values = batch * shape[0] * shape[1] * shape[2]
    block = 512 if report.framework == "torch" else 256
    assert report.estimate.input == -(-4 * values // block) * block
    assert [finding.code for finding in cnm301.check(report, Settings())] == ["CNM301"]
    assert not list(cnm302.check(report, Settings()))


@pytest.mark.parametrize("text", NOT_KNOWN.values(), ids=list(NOT_KNOWN))
def test_its_input_is_not_told_where_something_else_may_change_it(text: str, tmp_path: Path) -> None:
    report = report_of(tmp_path, text)
    assert (report.status, report.training.input_shape, report.estimate) == ("unresolved", None, None)
    assert report.training.batch_size.value == 16


@pytest.mark.parametrize(("limit", "fits"), [(1000, False), (2**34, None)])
def test_what_its_batch_alone_exceeds_does_not_fit(limit: int, fits: bool | None, tmp_path: Path) -> None:
    assert report_of(tmp_path, TORCH.format(step=PLAIN), limit).fits is fits


NOTHING_KNOWN = """\
import torch
from our_parts import build, samples

net = build(3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in {source}:
    loss = net(x){call}
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("call", [".sum()", "['loss']", ""])
@pytest.mark.parametrize("source", ["samples()", "torch.utils.data.DataLoader(samples(), batch_size=16)"])
def test_a_training_of_which_neither_model_nor_data_nor_loss_is_known_is_told(
    source: str, call: str, tmp_path: Path
) -> None:
    report = report_of(tmp_path, NOTHING_KNOWN.format(source=source, call=call))
    assert (report.status, report.kind, report.line) == ("unresolved", "training", 6)
    assert "our_parts" in report.causes[0].reason
    assert report.training.optimizer.value.name == "sgd"
    assert report.training.batch_size.value == (16 if "16" in source else 32)


CALLED_ON = """\
import torch
{given}

model = torch.nn.Conv2d(3, 8, 3)
optimizer = torch.optim.Adam(model.parameters())
for x in {data}:
    optimizer.zero_grad()
    model({input}).mean().backward()
    optimizer.step()
"""

WHY = {
    "a package that is not there gives the batches": (
        CALLED_ON.format(given="from somewhere import batches", data="batches(64)", input="x"),
        ("the source of 'somewhere' is not found", 2),
    ),
    "a part of what it gives is called": (
        CALLED_ON.format(given="from somewhere import batches", data="batches(64)", input="x['image'].cuda()"),
        ("the source of 'somewhere' is not found", 2),
    ),
    "pictures of a file": (
        CALLED_ON.format(given="names = torch.load('names')", data="names", input="x"),
        ("what a file holds is not known", 2),
    ),
}


@pytest.mark.parametrize("case", WHY.values(), ids=list(WHY))
def test_why_an_input_is_not_known_is_what_was_in_the_way(case: tuple[str, tuple[str, int]], tmp_path: Path) -> None:
    text, (reason, line) = case
    causes = report_of(tmp_path, text).causes
    assert causes[0].reason.startswith(f"the input is not known: {reason}")
    assert causes[0].line == line
    assert not any("not stated" in cause.reason for cause in causes)
