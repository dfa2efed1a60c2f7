"""Lists that loops over many numbers fill: only the first turns are followed, and all of them count. What PyTorch
2.12's allocator counted for the programs on a CUDA device, less cuBLAS' workspaces, has been measured for each."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

ROLLOUT = """\
import torch
from torch import nn
policy = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 4)).cuda()
opt = torch.optim.Adam(policy.parameters())
for it in range(3):
    states, logps = [], []
    s = torch.zeros(8, 24).cuda()
    for t in range(256):
        with torch.no_grad():
            logits = policy(s)
            a = logits.argmax(-1)
        states.append(s)
        logps.append(logits.log_softmax(-1).gather(1, a[:, None]))
        s = torch.zeros(8, 24).cuda()
    obs = torch.cat(states)
    old = torch.cat(logps)
    for epoch in range(4):
        for i in range(0, len(obs), 512):
            out = policy(obs[i:i+512])
            loss = (out.log_softmax(-1).mean() * old[i:i+512]).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
"""

DEEP = """\
import torch
from torch import nn
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(16, 16) for _ in range(150)])
    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(layer(x) * 0.5)
        return x
model = Deep().cuda()
opt = torch.optim.Adam(model.parameters())
for epoch in range(3):
    losses = []
    for micro in range(40):
        out = model(torch.zeros(8, 16).cuda())
        loss = out.mean() / 40
        loss.backward()
        losses.append(loss.item())
    opt.step()
    opt.zero_grad()
"""

IN_STEPS = """\
import torch
from torch import nn
model = nn.Linear(64, 64).cuda()
opt = torch.optim.Adam(model.parameters())
outs = []
for micro in range(40):
    out = model(torch.zeros(512, 64).cuda())
    loss = out.mean() / 40
    opt.zero_grad()
    loss.backward()
    opt.step()
    outs.append(out.detach())
"""

WITHIN_A_STEP = """\
import torch
from torch import nn
model = nn.Linear(64, 64).cuda()
opt = torch.optim.Adam(model.parameters())
for e in range(3):
    outs = []
    for micro in range(40):
        out = model(torch.zeros(512, 64).cuda())
        loss = out.mean() / 40
        loss.backward()
        outs.append(out.detach())
    opt.step()
    opt.zero_grad()
"""

NOW_AND_THEN = """\
import torch
from torch import nn
import torch.nn.functional as F
model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 3, 3, padding=1)).cuda()
opt = torch.optim.Adam(model.parameters())
for step in range(200):
    x, y = torch.randn(16, 3, 32, 32).cuda(), torch.randn(16, 3, 32, 32).cuda()
    opt.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    if step % 50 == 49:
        with torch.no_grad():
            xv, yv = torch.randn(32, 3, 32, 32).cuda(), torch.randn(32, 3, 32, 32).cuda()
            pv = model(xv)
            print(F.mse_loss(pv, yv).item())
"""

BY_NAME = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
teacher = nn.Linear(512, 256).cuda()
student = nn.Linear(512, 256).cuda()
opt = torch.optim.SGD(student.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.rand(6400, 512)), batch_size=640)
for epoch in range(2):
    for x, in loader:
        x = x.cuda()
        targets = {}
        with torch.no_grad():
            for at, name in enumerate(["weak", "strong"]):
                targets[name, "t"] = teacher(x)
                targets[name, "u"] = teacher(x * 2)
        out = student(x)
        loss = ((out - targets["weak", "t"]) ** 2).mean() + ((out - targets["strong", "u"]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""

EXACT = {
    "the states of a rollout": (ROLLOUT, 1_028_608),
    "numbers of the turns of a large model that gathers gradients": (DEEP, 1_153_024),
    "results of steps": (IN_STEPS, 5_573_632),
    "what an evaluation now and then leaves by names": (NOW_AND_THEN, 10_190_848),
    "targets that two turns put into a dict by name": (BY_NAME, 9_570_312),
}


def reported(text: str) -> ModelReport:
    (report,) = analyse(Source("train.py", text), Settings()).reports
    return report


@pytest.mark.parametrize(("text", "measured"), EXACT.values(), ids=EXACT)
def test_all_turns_count(text: str, measured: int) -> None:
    report = reported(text)
    assert report.estimate is not None
    assert (report.kind, report.status) == ("training", "exact")
    assert report.estimate.total == pytest.approx(measured, rel=1e-3)


def test_results_that_are_kept_within_a_step_are_a_bound() -> None:
    report = reported(WITHIN_A_STEP)
    assert report.estimate is not None
    assert report.status == "lower-bound"
    assert report.estimate.total <= 5_590_528
    assert any("grows from turn to turn" in cause.reason for cause in report.causes)


LEFT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
net = nn.Linear(512, 256).cuda()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.rand({samples}, 512)), batch_size=640)
for epoch in range(2):
    for (x,) in loader:
        loss = net(x.cuda()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    kept, named = [], {{}}
    with torch.no_grad():
        for i, (x,) in enumerate(loader):
            {statement}
"""


@pytest.mark.parametrize(
    ("samples", "statement", "reason", "measured"),
    [
        (6400, 'named[f"batch {i}"] = net(x.cuda())', "put into a dict is not known", 9_570_396),
        (6400, "kept.extend([net(x.cuda())] if i % 2 == 0 else [])", "put into a list is not counted", 6_293_596),
        (6400, "kept.extend([net(x.cuda())] if i % 2 == 1 else [])", "put into a list is not counted", 6_293_596),
        (1280, 'named[f"batch {i}"] = net(x.cuda())', "", 4_327_516),
        (6400, "kept.extend([net(x.cuda()).cpu()] if i % 2 == 0 else [])", "", 3_016_796),
    ],
    ids=["by name", "by some turns", "by others", "by name, in all of its turns", "by some turns, on the host"],
)
def test_results_that_turns_leave_which_were_not_followed_are_a_bound(
    samples: int, statement: str, reason: str, measured: int
) -> None:
    report = reported(LEFT.format(samples=samples, statement=statement))
    assert report.estimate is not None
    assert [cause.reason for cause in report.causes if reason not in cause.reason or not reason] == []
    assert report.status == ("lower-bound" if reason else "exact")
    assert report.estimate.total <= measured * 1.001
