"""Turns of a training loop that are given more than the first, train other weights or do more: each counts, or is told
as the cause of a bound. What PyTorch's CUDA code asked for has been measured for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

HEAD = """\
import copy, random, torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

def net(width=8):
    return nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 5))

def data(count=60):
    return TensorDataset(torch.randn(count, 20), torch.zeros(count, dtype=torch.long))

model = net().cuda()
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(data(), batch_size=16)

def step(x, y, more=False):
    x, y = x.cuda(), y.cuda()
    loss = F.cross_entropy(model(x), y)
    if more:
        loss = loss + F.cross_entropy(model(x.flip(1)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""

GROWS = "what the model is given grows from turn to turn"
CHANGED = "after this training the model's weights are given another dtype or shape"

BOUNDS = {
    "a count of the program's own comes to its limit": (
        GROWS,
        """
done = 0
for epoch in range(9):
    for x, y in loader:
        done += 1
        step(x, y, True) if done > 20 else step(x, y)
""",
    ),
    "many turns are passed over": (
        "the first 64 turns of a loop over data are passed over",
        """
done = 0
for x, y in DataLoader(data(900), batch_size=4):
    done += 1
    if done < 150:
        continue
    step(x, y)
""",
    ),
    "the weights are halved afterwards": (
        CHANGED,
        """
for x, y in loader:
    step(x, y)
model.half()
""",
    ),
    "the data of weights is halved afterwards": (
        CHANGED,
        """
for x, y in loader:
    step(x, y)
for p in model.parameters():
    p.data = p.data.half()
""",
    ),
    "the best model may be kept": (
        "whether kept is in memory beside the step is not known",
        """
best, kept = 0.0, None
for epoch in range(9):
    for x, y in loader:
        step(x, y)
    if random.random() > best:
        kept = copy.deepcopy(model)
""",
    ),
    "torch.func takes the gradients": (
        "what torch.func.grad computes is not followed",
        """
g = torch.func.grad(lambda p, x: torch.func.functional_call(model, p, (x,)).sum())
g(dict(model.named_parameters()), torch.randn(16, 20).cuda())
""",
    ),
    "a bool stands for a size": (
        "True or False stands where a size is expected",
        """
model = nn.Linear(20, True).cuda()
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    step(x, y)
""",
    ),
}

PLAIN = """
for x, y in loader:
    step(x, y)
"""

PENALTY = """
def penalised(x, wanted):
    x.requires_grad_(wanted)
    out = model(x)
    loss = out.sum()
    if wanted:
        slope, = torch.autograd.grad(out.sum(), x, create_graph=True)
        loss = loss + slope.pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

SAME = {
    "what is set at the end of an epoch that is counted from one": (
        """
more = False
for epoch in range(9):
    for x, y in loader:
        step(x, y, more)
    if epoch + 1 == 3:
        more = True
""",
        """
for epoch in range(9):
    for x, y in loader:
        step(x, y, True)
""",
    ),
    "what the program counts by itself": (
        """
class Schedule:
    turns = 0
    def tick(self):
        self.turns += 1
        return self.turns >= 3
schedule, more = Schedule(), False
for epoch in range(9):
    for x, y in loader:
        step(x, y, more)
    more = schedule.tick()
""",
        """
for epoch in range(9):
    for x, y in loader:
        step(x, y, True)
""",
    ),
    "the batch grows every third epoch": (
        """
for epoch in range(18):
    for x, y in DataLoader(data(), batch_size=4 * 2 ** (epoch // 3)):
        step(x, y)
""",
        """
for epoch in range(9):
    for x, y in DataLoader(data(), batch_size=60):
        step(x, y)
""",
    ),
    "the batch grows from epoch to epoch": (
        """
batch = 8
for epoch in range(9):
    for x, y in DataLoader(data(), batch_size=batch):
        step(x, y)
    batch += 8
""",
        """
for epoch in range(9):
    for x, y in DataLoader(data(), batch_size=60):
        step(x, y)
""",
    ),
    "the batch grows while a test holds": (
        """
batch, epoch = 4, 0
while epoch < 9:
    for x, y in DataLoader(data(), batch_size=batch):
        step(x, y)
    epoch += 1
    batch *= 2
""",
        """
for epoch in range(9):
    for x, y in DataLoader(data(), batch_size=60):
        step(x, y)
""",
    ),
    "a table says when the batch grows": (
        """
sizes, batch = {2: 16, 4: 32}, 8
for epoch in range(9):
    batch = sizes.get(epoch, batch)
    for x, y in DataLoader(data(), batch_size=batch):
        step(x, y)
""",
        """
for x, y in DataLoader(data(), batch_size=32):
    step(x, y)
""",
    ),
    "a long list says how many are drawn": (
        """
for size in [8] * 40 + [400]:
    step(torch.randn(size, 20), torch.zeros(size, dtype=torch.long))
""",
        """
for turn in range(9):
    step(torch.randn(400, 20), torch.zeros(400, dtype=torch.long))
""",
    ),
    "a long list says where windows begin and end": (
        """
whole, targets = torch.randn(999, 20), torch.zeros(999, dtype=torch.long)
for a, b in [(at, at + 8) for at in range(40)] + [(80, 990)]:
    step(whole[a:b], targets[a:b])
""",
        """
for turn in range(9):
    step(torch.randn(910, 20), torch.zeros(910, dtype=torch.long))
""",
    ),
    "an epoch from which on the loss has two parts": (
        """
for epoch in range(9):
    for x, y in loader:
        step(x, y, epoch >= 4)
""",
        """
for epoch in range(9):
    for x, y in loader:
        step(x, y, True)
""",
    ),
    "an epoch from which on a teacher is asked": (
        """
teacher = net(64).cuda()
for epoch in range(9):
    for x, y in loader:
        if epoch >= 4:
            with torch.no_grad():
                teacher(x.cuda())
        step(x, y)
""",
        """
teacher = net(64).cuda()
for epoch in range(9):
    for x, y in loader:
        with torch.no_grad():
            teacher(x.cuda())
        step(x, y)
""",
    ),
    "a list says how many are drawn": (
        """
for size in [8] * 9 + [48]:
    step(torch.randn(size, 20), torch.zeros(size, dtype=torch.long))
""",
        """
for size in range(9):
    step(torch.randn(48, 20), torch.zeros(48, dtype=torch.long))
""",
    ),
    "a list says where windows begin and end": (
        """
whole, targets = torch.randn(99, 20), torch.zeros(99, dtype=torch.long)
for a, b in [(0, 9), (9, 18), (18, 27), (27, 80), (80, 99)]:
    step(whole[a:b], targets[a:b])
""",
        """
for at in range(9):
    step(torch.randn(53, 20), torch.zeros(53, dtype=torch.long))
""",
    ),
    "a tuple says in which epochs the loss has two parts": (
        """
for epoch in range(90):
    for x, y in loader:
        step(x, y, epoch in (30, 60))
""",
        """
for epoch in range(90):
    for x, y in loader:
        step(x, y, True)
""",
    ),
    "a table says in which epochs the loss has two parts": (
        """
parts = {0: 1, 40: 2}
for epoch in range(90):
    number = parts[epoch] if epoch in parts else number
    for x, y in loader:
        step(x, y, number == 2)
""",
        """
for epoch in range(90):
    for x, y in loader:
        step(x, y, True)
""",
    ),
    "a penalty on gradients in every third turn": (
        f"{PENALTY}\nfor at, (x, y) in enumerate(loader):\n    penalised(x.cuda(), at % 3 == 0)\n",
        f"{PENALTY}\nfor at, (x, y) in enumerate(loader):\n    penalised(x.cuda(), True)\n",
    ),
    "the flag of a parameter's data": (
        f"""
for p in model[0].parameters():
    p.data.requires_grad_(False)
{PLAIN}""",
        PLAIN,
    ),
    "the flag of a parameter's data under another name": (
        f"""
for p in model[0].parameters():
    values = p.data
    values.requires_grad = False
{PLAIN}""",
        PLAIN,
    ),
    "the flag of what a state has": (
        f"for values in model.state_dict().values():\n    values.requires_grad = False\n{PLAIN}",
        PLAIN,
    ),
    "the flag of a parameter in the statement that writes its data": (
        f"[(p.data.zero_(), p.requires_grad_(False)) for p in model[0].parameters()]\n{PLAIN}",
        f"for p in model[0].parameters():\n    p.requires_grad = False\n{PLAIN}",
    ),
    "the flag of what is detached": (
        f"""
for p in model[0].parameters():
    p.data.requires_grad = False
    p.detach().requires_grad_(False)
{PLAIN}""",
        PLAIN,
    ),
    "all but the last batch is passed over": (
        """
for x, y in DataLoader(data(52), batch_size=16):
    if len(x) == 16:
        continue
    step(x, y)
""",
        """
for x, y in DataLoader(data(4), batch_size=4):
    step(x, y)
""",
    ),
    "the first batches are passed over": (
        """
for at, (x, y) in enumerate(DataLoader(data(900), batch_size=16)):
    if at < 40:
        continue
    step(x, y)
""",
        PLAIN,
    ),
    "a count that ends the loop": (
        """
done = 0
while done < 99:
    for x, y in loader:
        step(x, y)
        done += 1
        if done >= 99:
            break
""",
        PLAIN,
    ),
}


def trainings(code: str, folder: Path, head: str = HEAD) -> list[ModelReport]:
    path = folder / "script.py"
    path.write_text(head + code)
    reports = analyse(load(str(path)), Settings()).reports
    return [report for report in reports if report.kind == "training"] or list(reports)


@pytest.mark.parametrize(("cause", "code"), BOUNDS.values(), ids=BOUNDS)
def test_what_later_turns_do_is_the_cause_of_a_bound(cause: str, code: str, tmp_path: Path) -> None:
    (report,) = trainings(code, tmp_path)
    assert report.status == "lower-bound"
    assert any(each.reason.startswith(cause) for each in report.causes), report.causes


@pytest.mark.parametrize(("code", "same"), SAME.values(), ids=SAME)
def test_what_later_turns_do_is_counted(code: str, same: str, tmp_path: Path) -> None:
    found, expected = trainings(code, tmp_path), trainings(same, tmp_path)
    assert [each.status for each in found] == ["exact"]
    assert found[0].estimate is not None
    assert expected[0].estimate is not None
    assert found[0].estimate.total == expected[0].estimate.total


def test_models_that_are_called_before_each_is_gone_back_through_are_trained_together(tmp_path: Path) -> None:
    code = """
nets = [net(8).cuda(), net(16).cuda()]
optimizers = [torch.optim.Adam(each.parameters()) for each in nets]
for x, y in loader:
    outputs = [each(x.cuda()) for each in nets]
    for at, optimizer in enumerate(optimizers):
        loss = F.mse_loss(outputs[at], outputs[1 - at].detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
    (report,) = trainings(code, tmp_path)
    assert report.status == "exact"
    assert report.trainable == sum(20 * w + w + w * w + w + 5 * w + 5 for w in (8, 16))


def test_weights_that_are_set_free_one_after_the_other_are_phases_of_their_own(tmp_path: Path) -> None:
    code = """
model.requires_grad_(False)
for epoch in range(9):
    if epoch < 3:
        model[4 - 2 * epoch].requires_grad_(True)
    for x, y in loader:
        step(x, y)
"""
    assert [each.trainable for each in trainings(code, tmp_path)] == [45, 117, 285]


ANOTHER = """
model[0].requires_grad_(False)
optimizer, turns, wait = torch.optim.Adam(model[2:].parameters()), 0, {{"turns": 0}}

def all_of_it():
    model.requires_grad_(True)
    return torch.optim.Adam(model.parameters())

for epoch in range(9):
    {}
    for x, y in loader:
        step(x, y)
    {}
"""

COUNTED = {
    "before an epoch": ("optimizer = all_of_it() if epoch + 1 == 3 else optimizer", ""),
    "after an epoch": ("", "optimizer = all_of_it() if 1 + epoch == 3 else optimizer"),
    "with the number in front": ("optimizer = all_of_it() if 3 == epoch else optimizer", ""),
    "by a name of its own": ("", "turns += 1\n    optimizer = all_of_it() if turns == 3 else optimizer"),
    "in a dict": ("", "wait['turns'] += 1\n    optimizer = all_of_it() if wait['turns'] >= 3 else optimizer"),
    "a group is added": ("", ("if epoch + 1 == 3:\n        model.requires_grad_(True)\n"
                             "        optimizer.add_param_group({'params': model[0].parameters()})")),
}  # fmt: skip


@pytest.mark.parametrize("where", COUNTED)
def test_from_an_epoch_on_that_is_counted_otherwise_more_trains(where: str, tmp_path: Path) -> None:
    before, after = COUNTED[where]
    found = trainings(ANOTHER.format(before, after), tmp_path)
    assert [(each.status, each.trainable) for each in found] == [("exact", 117), ("exact", 285)]


@pytest.mark.parametrize(("options", "raises"), [("", True), ("(eq=False)", False), ("(unsafe_hash=True)", False)])
def test_a_module_without_a_hash_is_refused_as_torch_does(options: str, raises: bool, tmp_path: Path) -> None:
    code = f"""
from dataclasses import dataclass

@dataclass{options}
class Net(nn.Module):
    width: int = 8

    def __post_init__(self):
        super().__init__()
        self.inner = nn.Linear(20, self.width)

    def forward(self, x):
        return self.inner(x)

model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters())
for at in range(3):
    model(torch.randn(16, 20).cuda()).sum().backward()
    optimizer.step()
"""
    found = trainings(code, tmp_path, "import torch\nfrom torch import nn\n")
    causes = [each.reason for report in found for each in report.causes]
    assert any("unhashable type: 'Net'" in each for each in causes) == raises
