"""Loops that update their weights themselves are trainings; what their steps do not tell is a cause."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from tests.conftest import not_followed

HEAD = """\
import copy
import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 48), nn.Tanh(), nn.Linear(48, 10))
velocity = [torch.zeros_like(p) for p in model.parameters()]
{before}
for step in range(100):
    x, y = torch.randn(24, 64), torch.zeros(24, dtype=torch.long)
    loss = F.cross_entropy(model(x), y)
    model.zero_grad()
    loss.backward()
    {update}
"""

UPDATES = {
    "in place": "with torch.no_grad():\n        for p in model.parameters():\n            p -= 0.1 * p.grad",
    "its data": "for p in model.parameters():\n        p.data.add_(p.grad.data, alpha=-0.1)",
    "its data with an operator": "for p in model.parameters():\n        p.data -= 0.1 * p.grad.data",
    "its data anew": "for p in model.parameters():\n        p.data = p.data - 0.1 * p.grad",
    "copied": "with torch.no_grad():\n        for p in model.parameters():\n            p.copy_(p - 0.1 * p.grad)",
    "by name": "with torch.no_grad():\n        for n, p in model.named_parameters():\n            p.sub_(p.grad * 0.1)",
    "with velocities": "with torch.no_grad():\n        for p, v in zip(model.parameters(), velocity):\n"
    "            v.mul_(0.9).add_(p.grad)\n            p.sub_(0.1 * v)",
    "where there is a gradient": "for p in model.parameters():\n        if p.grad is not None:\n"
    "            p.data.sub_(p.grad * 0.1)",
}


def reported(text: str) -> list[ModelReport]:
    return list(analyse(Source("train.py", text), Settings()).reports)


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
def test_weights_that_are_updated_from_their_gradients_are_trained(update: str) -> None:
    (report,) = reported(HEAD.format(before="", update=update))
    assert (report.kind, report.status) == ("training", "exact")
    assert (report.training.batch_size.value, report.training.optimizer.value.name) == (24, "sgd")
    assert report.trainable == report.parameters == 64 * 32 + 32 + 32 * 48 + 48 + 48 * 10 + 10


OTHERS = {
    "an optimizer's weights that are clamped": (
        "optimizer = torch.optim.Adam(model.parameters())",
        (
            "norm = sum(p.grad.norm() for p in model.parameters())\n    optimizer.step()\n"
            "    for p in model.parameters():\n        p.data.clamp_(-1, 1)"
        ),
        [("training", "adam")],
    ),
    "gradients that are only looked at": (
        "",
        "norm = sum(p.grad.norm() for p in model.parameters())",
        [("model", "momentum")],
    ),
    "an average of the weights": (
        "optimizer = torch.optim.Adam(model.parameters())\nmean = copy.deepcopy(model)",
        (
            "optimizer.step()\n    for a, p in zip(mean.parameters(), model.parameters()):\n"
            "        a.data.mul_(0.9).add_(p.data, alpha=0.1)"
        ),
        [("training", "adam")],
    ),
}


@pytest.mark.parametrize(("before", "update", "wanted"), OTHERS.values(), ids=OTHERS)
def test_other_writes_into_weights_are_no_training(before: str, update: str, wanted: list[tuple[str, str]]) -> None:
    reports = reported(HEAD.format(before=before, update=update))
    assert [(each.kind, each.training.optimizer.value.name) for each in reports] == wanted


LOOP = """\
import numpy as np
import torch
from nowhere import Loss, weigh
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = Loss()
for step in range(100):
    x, y = torch.randn(24, 64), torch.zeros(24, dtype=torch.long)
    out = model(x)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("loss", "status"),
    [
        ("loss = criterion(out, y)", "lower-bound"),
        ("share = np.random.beta(1, 1)\n    loss = share * F.cross_entropy(out, y)", "exact"),
        ("loss = F.cross_entropy(out, y) / np.random.uniform(1, 2)", "exact"),
        ("loss = weigh(F.cross_entropy(out, y))", "lower-bound"),
    ],
)
def test_a_loss_that_is_not_known_is_a_cause(loss: str, status: str) -> None:
    (report,) = reported(LOOP.format(loss=loss))
    assert report.status == status
    assert any("loss is not known" in cause.reason for cause in report.causes) == (status != "exact")


SEQUENCES = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(16, 64), nn.Linear(64, 2)

    def forward(self, x):
        return self.out(self.rnn(x)[0][-1])

model = Reader()
optimizer = torch.optim.Adam(model.parameters())
data = TensorDataset(torch.randn(512, 50, 16), torch.zeros(512, dtype=torch.long))
for x, y in DataLoader(data, batch_size=32):
    loss = nn.functional.cross_entropy(model(x.permute(1, 0, 2)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

TEXTS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader

def collate(batch):
    texts = [torch.tensor(text) for _, text in batch]
    starts = torch.tensor([0, *(len(text) for text in texts[:-1])]).cumsum(0)
    return torch.cat(texts), starts, torch.tensor([label for label, _ in batch])

class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.out = nn.EmbeddingBag(500, 16), nn.Linear(16, 4)

    def forward(self, text, starts):
        return self.out(self.embedding(text, starts))

model = Bag()
optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
for text, starts, label in DataLoader([(at % 4, [1, 2, 3]) for at in range(64)], batch_size=8, collate_fn=collate):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(text, starts), label).backward()
    optimizer.step()
"""


BAG = "what embedding_bag keeps for its backward pass is not known"


@pytest.mark.parametrize(
    ("text", "batch", "shape", "causes"),
    [(SEQUENCES, 32, (50, 16), []), (TEXTS, 8, (), [BAG])],
    ids=("time", "bag"),
)
def test_the_batch_is_the_loader_s_where_another_axis_comes_first(
    text: str, batch: int, shape: tuple[int, ...], causes: list[str]
) -> None:
    (report,) = reported(text)
    assert report.training.batch_size.value == batch
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == shape
    assert not_followed(report) == causes


FORWARD = """\
import torch
from torch import nn

class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(20, 30), nn.Linear(30, 4)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.b(self.act(torch.mm(x / x.norm(2, 1, keepdim=True), self.a.weight.T)))

model = Normed()
optimizer = torch.optim.Adam(model.parameters())
for step in range(20):
    loss = {call}(torch.randn(7, 20)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("call", ["model.forward", "model"])
def test_a_forward_that_is_called_itself_is_fed_as_the_model_is(call: str) -> None:
    (report,) = reported(FORWARD.format(call=call))
    assert report.status == "exact"
    assert report.training.batch_size.value == 7
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (20,)
