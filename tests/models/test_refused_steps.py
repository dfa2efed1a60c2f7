"""Steps that torch refuses while they run, and beside each what is like it and runs: the first are told as exact by
nobody. Each was run with PyTorch 2.12's CUDA code on a card that only counts; whether that raises is said beside it."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

PROGRAM = """\
import torch
import torch.nn.functional as F
from torch import nn

device = torch.device("cuda")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(64, 64), nn.Linear(64, 10)
        self.places = torch.zeros(64)

    def forward(self, x):
        return self.b(torch.sigmoid(self.a(x)))


class Placed(Net):
    def forward(self, x):
        return super().forward(x + self.places)


class PlacedThere(Net):
    def forward(self, x):
        return super().forward(x + torch.zeros(64, device=x.device) + self.places.to(x))


net = Net().to(device)
{before}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
buffer = torch.zeros(32, 64, device=device)
for _ in range(3):
    x, y = torch.randn(32, 64, device=device), torch.randint(0, 10, (32,), device=device)
    optimizer.zero_grad()
    {step}
    optimizer.step()
"""

PLAIN = "F.cross_entropy(net(x), y).backward()"

STEPS = [
    ("", PLAIN, False),
    ("net = Net()", PLAIN, True),
    ("net.b = nn.Linear(64, 10)", PLAIN, True),
    ("net.b = nn.Linear(64, 10, device=device)", PLAIN, False),
    ("net = Placed().to(device)", PLAIN, True),
    ("net = PlacedThere().to(device)", PLAIN, False),
    ("", "F.cross_entropy(net(x), y.cpu()).backward()", True),
    ("", "x = x.cpu(); x.to(device); F.cross_entropy(net(x), y).backward()", True),
    ("teacher = Net().requires_grad_(False)", "F.mse_loss(net(x), teacher(x)).backward()", True),
    ("net.half()", PLAIN, True),
    ("net.half()", "F.cross_entropy(net(x.half()), y).backward()", False),
    ("", "F.cross_entropy(net(x), y.float()).backward()", True),
    ("", "F.cross_entropy(net(x), F.one_hot(y, 10).float()).backward()", False),
    ("", "F.cross_entropy(net(x), y, reduction='none').backward()", True),
    ("", "net(x).backward(torch.ones(32, 10, device=device))", False),
    ("", "F.mse_loss(net(x).argmax(1).float(), y.float()).backward()", True),
    ("", "loss = F.cross_entropy(net(x), y); loss.backward(); loss.backward()", True),
    ("", "loss = F.cross_entropy(net(x), y); loss.backward(retain_graph=True); loss.backward()", False),
    ("", "out = net(x); out.mean().backward(); F.cross_entropy(out, y).backward()", True),
    ("", "out = net(x); out.mean().backward(); F.cross_entropy(out.detach().requires_grad_(), y).backward()", False),
    ("", "out = net(x); out.mean().backward(retain_graph=True); optimizer.step(); out.sum().backward()", True),
    ("", "net(x).mean().backward(); optimizer.step(); net(x).sum().backward()", False),
    ("", "loss = net(x).mean(); torch._foreach_mul_([net.b.weight.data], 0.9); loss.backward()", False),
    ("", "loss = net(x).mean(); net.b.weight.data.mul_(0.9); loss.backward()", False),
    ("", "loss = net(x).mean(); torch.no_grad()(lambda: net.b.weight.mul_(0.9))(); loss.backward()", True),
    ("", "loss = net(x).mean(); torch.no_grad()(lambda: net.b.bias.mul_(0.9))(); loss.backward()", False),
    ("", "buffer.copy_(x); loss = net(buffer).mean(); buffer.zero_(); loss.backward()", True),
    ("", "buffer.copy_(x); loss = net(buffer).mean(); loss.backward(); buffer.zero_()", False),
    ("", "loss = torch.tensor(F.cross_entropy(net(x), y).item(), requires_grad=True); loss.backward()", None),
]
"""None for a step that runs, and does less than it seems to: its backward pass reaches no parameter."""


@pytest.mark.parametrize(("before", "step", "refused"), STEPS, ids=[before + step for before, step, _ in STEPS])
def test_a_step_that_torch_refuses_is_not_told_as_exact(before: str, step: str, refused: bool | None) -> None:
    text = PROGRAM.format(before=before, step=step.replace("; ", "\n    "))
    report = next(each for each in analyse(Source("net.py", text), Settings()).reports if each.kind == "training")
    told = {True: "lower-bound", False: "exact", None: "upper-bound"}
    assert report.status == told[refused], report.causes
