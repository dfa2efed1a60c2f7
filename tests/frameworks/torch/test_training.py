"""What runs a training loop for the user: Lightning's trainer, accelerate, Fabric, spawned processes.

Seen as the rest of the program sees it: which models are called on what, and what is stepped.
"""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.values import Instance
from tests.frameworks.torch.code import HEAD, Ran, size

DATA = """
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.zeros(64, 3, 8, 8), torch.zeros(64, dtype=torch.long)), batch_size=4)
class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, width, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))
    def forward(self, x):
        return self.layers(x)
"""
LIGHTNING = """
import lightning as L
class Lit(L.LightningModule):
    def __init__(self, width=4, lr=0.1):
        super().__init__()
        self.save_hyperparameters()
        self.net = Net(self.hparams.width)
    def forward(self, x):
        return self.net(x)
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
"""
LOOP = """
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        backward(loss)
        optimizer.step()
"""

PROGRAMS: dict[str, tuple[str, list[Any]]] = {
    "a trainer fits a module on a loader": (
        LIGHTNING + "L.Trainer(max_epochs=3).fit(Lit(), loader)",
        ["Lit [4, 3, 8, 8] None", "backward", "step Adam"],
    ),
    "mixed precision is the trainer's": (
        LIGHTNING + "L.Trainer(precision='bf16-mixed').fit(model=Lit(), train_dataloaders=loader)",
        ["Lit [4, 3, 8, 8] bfloat16", "backward", "step Adam"],
    ),
    "a data module": (
        LIGHTNING
        + """
class Data(L.LightningDataModule):
    def __init__(self, batch_size=6):
        super().__init__()
        self.save_hyperparameters()
    def setup(self, stage):
        self.data = TensorDataset(torch.zeros(64, 3, 8, 8), torch.zeros(64, dtype=torch.long))
    def train_dataloader(self):
        return DataLoader(self.data, batch_size=self.hparams.batch_size)
L.Trainer().fit(Lit(), datamodule=Data(batch_size=5))
""",
        ["Lit [5, 3, 8, 8] None", "backward", "step Adam"],
    ),
    "the module's own loader": (
        LIGHTNING
        + """
class Own(Lit):
    def train_dataloader(self):
        return loader
L.Trainer().fit(Own())
""",
        ["Own [4, 3, 8, 8] None", "backward", "step Adam"],
    ),
    "optimizers with schedulers": (
        LIGHTNING
        + """
class Scheduled(Lit):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.hparams["lr"])
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, self.trainer.max_epochs)
        return {"optimizer": optimizer, "lr_scheduler": scheduler}
L.Trainer(max_epochs=3).fit(Scheduled(), loader)
""",
        ["Scheduled [4, 3, 8, 8] None", "backward", "step SGD"],
    ),
    "optimization by hand": (
        LIGHTNING
        + """
class Manual(Lit):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self(batch[0]).sum())
        optimizer.step()
L.Trainer().fit(Manual(), loader)
""",
        ["Manual [4, 3, 8, 8] None", "backward", "step Adam"],
    ),
    "the older name of the package": (
        LIGHTNING.replace("import lightning as L", "import pytorch_lightning as L")
        + "L.Trainer(gpus=1, precision=16).fit(Lit(), train_dataloader=loader)",
        ["Lit [4, 3, 8, 8] float16", "backward", "step Adam"],
    ),
    "a step for each optimizer, until version 2": (
        LIGHTNING
        + """
class Two(Lit):
    def training_step(self, batch, batch_idx, optimizer_idx):
        return self(batch[0]).sum()
    def configure_optimizers(self):
        return [torch.optim.Adam(self.parameters()), torch.optim.SGD(self.parameters(), lr=0.1)], []
L.Trainer().fit(Two(), loader)
""",
        ["Two [4, 3, 8, 8] None", "backward", "step Adam", "Two [4, 3, 8, 8] None", "backward", "step SGD"],
    ),
    "accelerate gives back what it prepares": (
        """
from accelerate import Accelerator
accelerator = Accelerator(mixed_precision="fp16")
net = Net()
net, optimizer, loader = accelerator.prepare(net, torch.optim.AdamW(net.parameters()), loader)
backward = accelerator.backward
if True:"""
        + LOOP,
        ["Net [4, 3, 8, 8] float16", "backward", "step AdamW"],
    ),
    "Fabric": (
        """
from lightning.fabric import Fabric
fabric = Fabric(precision="bf16-mixed")
fabric.launch()
net = Net()
net, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.1))
loader = fabric.setup_dataloaders(loader)
backward = fabric.backward
if True:"""
        + LOOP,
        ["Net [4, 3, 8, 8] bfloat16", "backward", "step SGD"],
    ),
    "Hugging Face's trainer": (
        """
from transformers import Trainer, TrainingArguments
class Labelled(Net):
    def forward(self, pixel_values, labels):
        logits = super().forward(pixel_values)
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}
samples = [{"pixel_values": torch.zeros(3, 8, 8), "label": 1}] * 40
options = TrainingArguments("out", per_device_train_batch_size=6, bf16=True, optim="sgd")
Trainer(model=Labelled(), args=options, train_dataset=samples).train()
""",
        ["Labelled [6, 3, 8, 8] bfloat16", "backward", "step SGD"],
    ),
    "spawned processes": (
        """
import torch.multiprocessing as mp
def work(rank, loader, scale):
    net = nn.parallel.DistributedDataParallel(Net(4 * scale), device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    backward = lambda loss: loss.backward()"""
        + LOOP
        + "mp.spawn(work, args=(loader, 2), nprocs=torch.cuda.device_count())",
        ["DistributedDataParallel [4, 3, 8, 8] None", "backward", "step SGD"],
    ),
}


@pytest.mark.parametrize(("program", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_one_step_of_training_is_seen(program: str, expected: list[str]) -> None:
    ran = Ran(HEAD + DATA + program)
    assert ran.failures == []
    told = []
    for event in ran.run.trace.events:
        assert isinstance(event.subject, (Instance, Tensor))
        name = event.subject.cls.name if isinstance(event.subject, Instance) else ""
        if event.call is not None:
            first = next(iter((*event.call.args, *event.call.kwargs.values())))
            assert isinstance(first, Tensor)
            assert isinstance(first.shape, tuple)
            sizes = [size(each) for each in first.shape]
            told.append(f"{name} {sizes} {event.call.autocast}")
        elif event.kind in ("backward", "step"):
            told.append(event.kind if event.kind == "backward" else f"step {name}")
    # A loop is followed for two turns, in which the same happens.
    assert told == expected * (len(told) // len(expected))
