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
