"""What is trained, and what it is put into afterwards: each training is of what there was then.

Parameters are PyTorch's: 64 x 128 + 128 + 128 x 32 + 32 = 12,448 of the encoder, 32 x 10 + 10 = 330 of the head.
"""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PARTS = """
import torch
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 128), nn.Linear(128, 32)
    def forward(self, x):
        return self.b(self.a(x).relu())

class Classifier(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(32, 10)
    def forward(self, x):
        return self.head(self.encoder(x))

def train(model, parameters, batch):
    optimizer = torch.optim.Adam(parameters)
    for _ in range(100):
        loss = model(torch.rand(batch, 64).cuda()).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

encoder = Encoder().cuda()
train(encoder, encoder.parameters(), 256)
"""

LATER = {
    "a head that trains alone": (
        "model = Classifier(encoder.requires_grad_(False)).cuda()\ntrain(model, model.head.parameters(), 96)",
        [("Encoder", 12448, 12448, 256), ("Classifier", 12778, 330, 96)],
    ),
    "a whole that trains, and calls its part": (
        """model = Classifier(encoder).cuda()
train(lambda x: model(x) + model.encoder(x).mean(), model.parameters(), 96)""",
        [("Encoder", 12448, 12448, 256), ("Classifier", 12778, 12778, 96)],
    ),
    "a whole that is only looked at": (
        """model = nn.Sequential(encoder, nn.Softmax(-1)).eval()
with torch.no_grad():
    model(torch.rand(8, 64).cuda())""",
        [("Encoder", 12448, 12448, 256)],
    ),
}


def told(report: ModelReport) -> tuple[str, int | None, int | None, int]:
    return report.name, report.parameters, report.trainable, report.training.batch_size.value


@pytest.mark.parametrize("name", LATER)
def test_a_model_that_learned_before_it_was_put_into_another_is_told_alone(name: str) -> None:
    later, wanted = LATER[name]
    reports = analyse(Source("program.py", PARTS + later), Settings()).reports
    assert [told(report) for report in reports if report.kind == "training"] == wanted


POINTS = """
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 1)).cuda()
optimizer = torch.optim.Adam(net.parameters())
inside = (torch.rand(5000, 2).cuda() * 2 - 1).requires_grad_()
border = torch.rand(200, 2).cuda()
for _ in range(100):
    value = net(inside)
    (slope,) = torch.autograd.grad(value.sum(), inside, create_graph=True)
    loss = slope.pow(2).mean() + net(border).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_points_that_are_put_to_scale_are_the_batch_where_they_are_the_most() -> None:
    (report,) = analyse(Source("program.py", POINTS), Settings()).reports
    assert report.training.batch_size.value == 5000


FACTORY = """
import torch
from torch import nn

def build(classes=1000, width=32):
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, classes))

model = build(10, width=16).cuda()
"""

LOOP = """
optimizer = torch.optim.Adam(model.parameters())
for _ in range(100):
    loss = model(torch.rand(32, 64).cuda()).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_a_factory_that_the_program_calls_is_shown_by_what_it_trains() -> None:
    (report,) = analyse(Source("program.py", FACTORY + LOOP), Settings()).reports
    assert (report.kind, report.parameters) == ("training", 64 * 16 + 16 + 16 * 10 + 10)


REPLACED = """
import torch
from torch import nn

class Head(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.hidden, self.out = nn.Linear(32, 16), nn.Linear(16, classes)
    def forward(self, x):
        return self.out(self.hidden(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(64, 32), Head(10)
    def forward(self, x):
        return self.head(self.body(x))
    def reset(self, classes):
        self.head = Head(classes)

def create(classes):
    net = Net()
    net.reset(classes)
    return net

"""

NEW_PARTS = {
    # 64 x 32 + 32 of the body, 32 x 16 + 16 of the head's first layer, 16 x 5 + 5 of its last.
    "in a factory": ("model = create(5)", [("Net", 2080 + 528 + 85)]),
    "by the file itself": ("model = Net()\nmodel.head = Head(5)", [("Net", 2080 + 528 + 85)]),
    "deeper inside": (
        "model = nn.Sequential(Net(), nn.ReLU())\nmodel[0].head = nn.Sequential(Head(7))",
        [("model", 2080 + 528 + 119)],
    ),
    "with the old one in use elsewhere": (
        "net = Net()\nmodel = nn.Sequential(nn.Linear(10, 32), net.head)",
        [("model", 352 + 528 + 170)],
    ),
}


@pytest.mark.parametrize("name", NEW_PARTS)
def test_a_model_whose_part_is_made_anew_is_told(name: str) -> None:
    program, wanted = NEW_PARTS[name]
    reports = analyse(Source("program.py", REPLACED + program), Settings()).reports
    assert [(report.name, report.parameters) for report in reports] == wanted
