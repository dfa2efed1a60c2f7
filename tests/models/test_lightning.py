"""A Lightning module whose step calls its layers is what that step runs, whether or not it has a forward method."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

SCRIPT = """
import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 5))
        self.loss = nn.CrossEntropyLoss()
{forward}
    def training_step(self, batch, index):
        x, y = batch
        return self.loss({call}(x), y)
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

data = TensorDataset(torch.zeros(100, 3, 16, 16), torch.zeros(100, dtype=torch.long))
pl.Trainer(max_epochs=2).fit(Lit(), DataLoader(data, batch_size=20, shuffle=True))
"""
FORWARD = "    def forward(self, x):\n        return self.net(x)\n"


def report_of(forward: str, call: str) -> ModelReport:
    (report,) = analyse(Source("train.py", SCRIPT.format(forward=forward, call=call)), Settings()).reports
    return report


@pytest.mark.parametrize("forward", ["", FORWARD], ids=["without forward", "with forward"])
def test_the_step_is_the_model(forward: str) -> None:
    plain, stepped = report_of(FORWARD, "self"), report_of(forward, "self.net")
    assert (plain.status, stepped.status) == ("exact", "exact")
    assert stepped.parameters == plain.parameters == 8 * 27 + 8 + 5 * 8 * 14 * 14 + 5
    assert [row.name for row in stepped.rows if row.name != "loss"] == [row.name for row in plain.rows]
    assert plain.estimate is not None
    assert stepped.estimate is not None
    assert stepped.estimate.total == plain.estimate.total
    assert stepped.training.batch_size.value == 20


PROBED = """
import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 5))
    def forward(self, x):
        return self.net(x)

class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(768, 4000)
    def forward(self, x):
        return self.layer(x.flatten(1))

class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()
    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())

class Probing(pl.Callback):
    def on_fit_start(self, trainer, module):
        self.probe = Probe().to(module.device)
        self.optimizer = torch.optim.Adam(self.probe.parameters())
    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        x, _ = batch
        self.probe(x).mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

loader = DataLoader(TensorDataset(torch.zeros(100, 3, 16, 16), torch.zeros(100, dtype=torch.long)), batch_size=20)
"""
BY_TRAINER = "pl.Trainer(max_epochs=2, callbacks=[Probing()]).fit(Lit(), loader)"
BY_HAND = """
net, probe = Net().cuda(), Probe().cuda()
first, second = torch.optim.Adam(net.parameters()), torch.optim.Adam(probe.parameters())
for epoch in range(2):
    for x, y in loader:
        x, y = x.cuda(), y.cuda()
        loss = nn.functional.cross_entropy(net(x), y)
        first.zero_grad()
        loss.backward()
        first.step()
        loss = loss.detach()
        probe(x).mean().backward()
        second.step()
        second.zero_grad()
"""


def test_what_a_callback_trains_after_each_batch_is_a_part_of_the_step() -> None:
    found = [analyse(Source("train.py", PROBED + code), Settings()).reports for code in (BY_TRAINER, BY_HAND)]
    totals = []
    for reports in found:
        (report,) = (each for each in reports if each.kind == "training")
        assert (report.status, report.parameters) == ("exact", 8 * 27 + 8 + 5 * 8 * 14 * 14 + 5 + 769 * 4000)
        assert report.estimate is not None
        totals.append(report.estimate.total)
    assert totals[0] == totals[1]


AVERAGED = """
import copy
class Averaging(pl.Callback):
    def on_fit_start(self, trainer, module):
        self.average = copy.deepcopy(module)
pl.Trainer(max_epochs=2, callbacks=[Averaging()]).fit(Lit(), loader)
"""


def test_what_a_callback_holds_lies_beside_the_step_of_a_trainer_without_a_name() -> None:
    codes = ("pl.Trainer(max_epochs=2).fit(Lit(), loader)", AVERAGED)
    totals = []
    for code in codes:
        (report,) = (each for each in analyse(Source("train.py", PROBED + code), Settings()).reports
                     if each.kind == "training")  # fmt: skip
        assert report.status == "exact"
        assert report.estimate is not None
        totals.append(report.estimate.total)
    weights = (8 * 27, 8, 5 * 8 * 14 * 14, 5)
    assert totals[1] - totals[0] == sum(-(-4 * count // 512) * 512 for count in weights)


LOADED = """
import pytorch_lightning as pl
import torch
from torch import nn
class Lit(pl.LightningModule):
    def __init__(self, width, depth, rate=0.1):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, width, 3), nn.Flatten(), nn.Linear(width * 36, depth))
    def forward(self, x):
        return self.net(x)
model = Lit.load_from_checkpoint("last.ckpt", {given})
model(torch.zeros(2, 3, 8, 8))
"""


def test_what_a_checkpoint_holds_is_no_missing_argument() -> None:
    (given,) = analyse(Source("train.py", LOADED.format(given="width=4, depth=5")), Settings()).reports
    assert (given.status, given.parameters) == ("exact", 4 * 27 + 4 + 5 * 145)
    (saved,) = analyse(Source("train.py", LOADED.format(given="width=4")), Settings()).reports
    assert saved.status != "exact"
    assert "depth is in the checkpoint" in [cause.reason for cause in saved.causes]


MIXED_IN = """
import torch
from torch import nn
from lightning.pytorch.core.mixins import HyperparametersMixin

class Net(nn.Module, HyperparametersMixin):
    def __init__(self, width=12, depth=2):
        super().__init__()
        self.save_hyperparameters()
        self.layers = nn.Sequential(*[nn.Linear(self.hparams.width, 12) for _ in range(self.hparams["depth"])])
    def forward(self, x):
        return self.layers(x)

net = Net(depth=3)
net(torch.randn(6, 12))
"""


def test_a_plain_module_keeps_its_arguments_by_the_mixin() -> None:
    (report,) = analyse(Source("net.py", MIXED_IN), Settings()).reports
    assert (report.status, report.parameters) == ("exact", 3 * (12 * 12 + 12))
