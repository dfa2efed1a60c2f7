"""What the code says of how a training is arranged: wrappers, strategies, launchers, precisions, what is compiled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.zeros(40, 16), torch.zeros(40, dtype=torch.int64)), batch_size=8)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(16, 64), nn.Linear(64, 10)
    def forward(self, x):
        return self.last(F.relu(self.first(x)))
def train(net, optimizer, backward=lambda loss: loss.backward()):
    for x, y in loader:
        optimizer.zero_grad()
        backward(F.cross_entropy(net(x), y))
        optimizer.step()
"""

LIT = """
import lightning as L
class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()
    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self.net(x), y)
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
"""

SGD = "train(net, torch.optim.SGD(net.parameters(), lr=0.1))\n"


def reported(program: str, devices: int | None = None, path: str = "train.py") -> ModelReport:
    (report,) = analyse(Source(path, HEAD + program), Settings(devices=devices)).reports
    return report


def arrangement_of(report: ModelReport) -> Arrangement:
    assert report.model is not None
    return report.model.arrangement or Arrangement("none")


def lit(options: str) -> str:
    return f"{LIT}L.Trainer({options}).fit(Lit(), loader)\n"


ARRANGED = {
    "DDP": ("net = nn.parallel.DistributedDataParallel(Net(), device_ids=[0])\n" + SGD, ("copies", 0, 1)),
    "DDP with views": (
        "net = nn.parallel.DistributedDataParallel(Net(), gradient_as_bucket_view=True)\n" + SGD, ("views", 0, 1)),
    "DataParallel on named devices": ("net = nn.DataParallel(Net(), device_ids=[0, 1])\n" + SGD, ("replica", 0, 2)),
    "DataParallel on all there are": ("net = nn.DataParallel(Net())\n" + SGD, ("replica", 0, None)),
    "FSDP in spawned processes": ("""
import torch.multiprocessing as mp
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
def work(rank):
    net = FSDP(Net())
    train(net, torch.optim.SGD(net.parameters(), lr=0.1))
mp.spawn(work, nprocs=4)
""", ("", 3, 4)),
    "fully_shard in a group of a stated size": ("""
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
dist.init_process_group("nccl", world_size=8, rank=0)
net = Net()
fully_shard(net.first)
fully_shard(net)
""" + SGD, ("", 3, 8)),
    "FSDP that keeps parameters whole": ("""
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
net = FSDP(Net(), sharding_strategy=ShardingStrategy.SHARD_GRAD_OP)
""" + SGD, ("", 2, None)),
    "Lightning on several devices": (lit("devices=4"), ("copies", 0, 1)),
    "Lightning on devices in a text": (lit("devices='0,1'"), ("copies", 0, 1)),
    "Lightning on one device": (lit("devices=1"), ("", 0, 1)),
    "Lightning's DDP strategy with views": (
        lit("devices=2, strategy=DDPStrategy(gradient_as_bucket_view=True)").replace(
            "import lightning as L", "import lightning as L\nfrom lightning.pytorch.strategies import DDPStrategy"),
        ("views", 0, 1)),
    "Lightning's FSDP": (lit("devices=4, strategy='fsdp'"), ("", 3, 4)),
    "Lightning's DeepSpeed": (lit("devices=2, num_nodes=2, strategy='deepspeed_stage_2'"), ("", 2, 4)),
    "Lightning's DeepSpeed on as many devices as there are": (lit("strategy='deepspeed_stage_3'"), ("", 3, None)),
    "Fabric": ("""
from lightning.fabric import Fabric
fabric = Fabric(devices=2, strategy="ddp")
net = Net()
net, optimizer = fabric.setup(net, torch.optim.SGD(net.parameters(), lr=0.1))
train(net, optimizer, fabric.backward)
""", ("copies", 0, 1)),
    "accelerate with a plugin of DeepSpeed": ("""
from accelerate import Accelerator, DeepSpeedPlugin
accelerator = Accelerator(deepspeed_plugin=DeepSpeedPlugin(zero_stage=3))
net = Net()
net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
train(net, optimizer, accelerator.backward)
""", ("", 3, None)),
    "apex's wrapper": ("""
from apex.parallel import DistributedDataParallel
net = DistributedDataParallel(Net())
""" + SGD, ("copies", 0, 1)),
}  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), ARRANGED.values(), ids=ARRANGED)
def test_how_a_training_is_arranged(program: str, expected: tuple[str, int, int | None]) -> None:
    found = arrangement_of(reported(program))
    assert (found.buckets, found.divides, found.devices) == expected


def test_devices_that_nobody_tells_are_one_and_a_cause() -> None:
    program = "net = nn.DataParallel(Net())\n" + SGD
    alone, four = reported(program), reported(program, devices=4)
    assert alone.training.batch_size.value == 8
    assert [cause.reason for cause in alone.causes] == [
        "how many devices share DataParallel is not said (cnnmem-devices): one was counted"
    ]
    assert four.training.batch_size.value == 2
    assert (four.training.drawn.value, four.training.drawn.source) == (8, "train.py:6")
    assert [cause.reason for cause in four.causes] == ["what the first of 4 devices gathers of the others' outputs"]


def test_a_launcher_that_is_not_seen_may_start_one_process() -> None:
    program = """
from accelerate import Accelerator
accelerator = Accelerator()
net = Net()
net, optimizer = accelerator.prepare(net, torch.optim.SGD(net.parameters(), lr=0.1))
train(net, optimizer, accelerator.backward)
"""
    alone, four = reported(program), reported(program, devices=4)
    assert alone.status == four.status == "exact"
    assert alone.estimate is not None
    assert four.estimate is not None
    assert alone.parameters is not None
    assert four.estimate.total - alone.estimate.total >= 4 * alone.parameters


CONFIG = {
    "train_micro_batch_size_per_gpu": 8,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-3, "weight_decay": 0.01}},
    "fp16": {"enabled": True},
    "zero_optimization": {"stage": 2, "reduce_bucket_size": 1000, "offload_optimizer": {"device": "cpu"}},
}

ENGINE = """
import deepspeed
engine, optimizer, _, _ = deepspeed.initialize(model=Net(), config={config})
for x, y in loader:
    loss = F.cross_entropy(engine(x), y)
    engine.backward(loss)
    engine.step()
"""


@pytest.mark.parametrize("config", [repr(CONFIG), "'ds_config.json'"], ids=["a dict", "a file of the project"])
def test_deepspeed_is_read_from_its_json(config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ds_config.json").write_text(json.dumps(CONFIG))
    report = reported(ENGINE.format(config=config), devices=4)
    found = arrangement_of(report)
    assert (found.name, found.divides, found.devices, found.master) == ("ZeRO stage 2", 2, 4, True)
    assert found.elsewhere == {"optimizer"}
    assert found.bucket == 2000
    assert (report.training.dtype.value, report.training.optimizer.value.name) == ("float16", "adamw")
    assert report.estimate is not None
    assert report.estimate.optimizer == 0


def test_deepspeed_without_zero_is_a_lower_bound_without_temporaries_of_its_update() -> None:
    """Of deepspeed/ops/adam/fused_adam.py: one kernel for all parameters, in place."""
    plain = {"optimizer": CONFIG["optimizer"]}
    report = reported(ENGINE.format(config=repr(plain)))
    assert report.status == "lower-bound"
    assert dict(report.training.optimizer.value.options)["fused"] is True
    in_torch = {"optimizer": {"type": "AdamW", "params": {"torch_adam": True}}}
    assert "fused" not in dict(reported(ENGINE.format(config=repr(in_torch))).training.optimizer.value.options)


def test_gradients_that_deepspeed_does_not_copy_have_no_buffer() -> None:
    zero = {"stage": 2, "reduce_bucket_size": 1000, "contiguous_gradients": False}
    config = {"optimizer": CONFIG["optimizer"], "zero_optimization": zero}
    assert arrangement_of(reported(ENGINE.format(config=repr(config)), devices=4)).bucket == 0


def test_a_config_that_is_not_there_is_a_cause() -> None:
    report = reported(ENGINE.format(config="'elsewhere.json'"))
    assert "the DeepSpeed config elsewhere.json is no file of the project" in [c.reason for c in report.causes]


PRECISIONS = {
    "16": "mixed_float16", "'16'": "mixed_float16", "'16-mixed'": "mixed_float16", "'bf16'": "mixed_bfloat16",
    "'bf16-mixed'": "mixed_bfloat16", "'16-true'": "float16", "'bf16-true'": "bfloat16", "64": "float64",
    "'64-true'": "float64", "32": "float32", "'32-true'": "float32",
}  # fmt: skip


@pytest.mark.parametrize(("spelling", "dtype"), PRECISIONS.items())
def test_every_spelling_of_lightnings_precision(spelling: str, dtype: str) -> None:
    report = reported(lit(f"precision={spelling}"))
    assert (report.training.dtype.value, report.status) == (dtype, "exact")


def test_a_precision_that_is_not_known_is_a_cause() -> None:
    report = reported(lit("precision='transformer-engine'"))
    assert [cause.reason for cause in report.causes] == ["the memory of precision 'transformer-engine' is not known"]


FORMS = {
    "alone": "return torch.optim.Adam(self.parameters())",
    "in lists": "o = torch.optim.Adam(self.parameters()); return [o], [torch.optim.lr_scheduler.StepLR(o, 1)]",
    "in a dict": "return {'optimizer': torch.optim.Adam(self.parameters()), 'monitor': 'loss'}",
    "in a list of dicts": "return [{'optimizer': torch.optim.Adam(self.parameters()), 'frequency': 1}]",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_in_which_optimizers_are_given(form: str) -> None:
    report = reported(lit("max_epochs=1").replace("return torch.optim.Adam(self.parameters())", form))
    assert (report.training.optimizer.value.name, report.kind, report.status) == ("adam", "training", "exact")


CLI = """
from lightning.pytorch.cli import LightningCLI
class Wide(Lit):
    def __init__(self, width: int = 64, path: str = "x"):
        super().__init__()
        self.more = nn.Linear(width, 3)
class Data(L.LightningDataModule):
    def __init__(self, size: int = 8):
        super().__init__()
        self.size = size
    def train_dataloader(self):
        return DataLoader(loader.dataset, batch_size=self.size)
class Commands(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.set_defaults({"trainer.precision": "bf16-mixed", "model.width": 5})
        parser.link_arguments("data.size", "model.path")
"""


@pytest.mark.parametrize(
    "call", ["Commands(Wide, Data)", "c = Commands(Wide, Data, run=False)\nc.trainer.fit(c.model, c.datamodule)"]
)
def test_a_command_line_of_lightning_trains_by_its_defaults(call: str) -> None:
    report = reported(f"{LIT}{CLI}{call}\n")
    assert (report.training.batch_size.value, report.training.dtype.value) == (8, "mixed_bfloat16")
    assert report.parameters == (16 * 64 + 64) + (64 * 10 + 10) + (5 * 3 + 3)


COMPILED = {
    "a model": "net = torch.compile(Net())\n" + SGD,
    "a model in place": "net = Net()\nnet.compile()\n" + SGD,
    "a method": "net = Net()\nnet.forward = torch.compile(net.forward)\n" + SGD,
    "a step": "net = Net()\ntrain = torch.compile(train)\n" + SGD,
    "a decorated step": """
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
@torch.compile(mode="reduce-overhead")
def step(x, y):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
for x, y in loader:
    step(x, y)
""",
    "a trainer's": LIT + "L.Trainer(max_epochs=1).fit(torch.compile(Lit()), loader)\n",
}  # fmt: skip


@pytest.mark.parametrize("program", COMPILED.values(), ids=COMPILED)
def test_what_is_compiled_is_at_most_what_it_is_step_by_step(program: str) -> None:
    report = reported(program)
    assert report.status == "upper-bound"
    assert [cause.reason for cause in report.causes] == [
        "torch.compile fuses operations: eager figures are an upper estimate"
    ]
    assert (report.bound, report.bound_of_batch) == ("at most ", "at least ")


def test_compiling_that_is_switched_off_is_none() -> None:
    assert reported("net = torch.compile(Net(), disable=True)\n" + SGD).status == "exact"


APEX = {"O0": "float32", "O1": "mixed_float16", "O2": "float16", "O3": "float16"}


@pytest.mark.parametrize(("level", "dtype"), APEX.items())
def test_the_levels_of_apex(level: str, dtype: str) -> None:
    report = reported(f"""
from apex import amp
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net, optimizer = amp.initialize(net, optimizer, opt_level="{level}")
for x, y in loader:
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
""")
    assert report.training.dtype.value == dtype
    assert arrangement_of(report).master is (level == "O2")
    assert report.status == ("lower-bound" if level == "O2" else "exact")


def test_fastai_without_its_source_trains_a_learner() -> None:
    report = reported("""
from fastai.vision.all import *
learn = Learner(DataLoaders(loader, loader), Net(), loss_func=F.cross_entropy).to_fp16()
learn.fit_one_cycle(1)
""")
    assert (report.training.optimizer.value.name, report.training.dtype.value) == ("adam", "mixed_float16")
    assert report.training.batch_size.value == 8
    assert report.status == "lower-bound"


def test_a_tuned_batch_size_is_not_known() -> None:
    report = reported(
        LIT
        + """
from lightning.pytorch.tuner import Tuner
class Data(L.LightningDataModule):
    def __init__(self):
        super().__init__()
        self.batch_size = 4
    def train_dataloader(self):
        return DataLoader(loader.dataset, batch_size=self.batch_size)
model, data, trainer = Lit(), Data(), L.Trainer()
Tuner(trainer).scale_batch_size(model, datamodule=data)
trainer.fit(model, data)
"""
    )
    assert (report.training.batch_size.value, report.training.batch_size.source) == (32, "default")


ASKED = {
    "if torch.cuda.device_count() > 1:\n    net = nn.DataParallel(net)\n": True,
    "n = torch.cuda.device_count()\n": True,
    "net = nn.DataParallel(net, device_ids=list(range(torch.cuda.device_count())))\n": True,
    "print(torch.cuda.device_count(), f'{torch.cuda.device_count()} GPUs')\n": False,
    "assert torch.cuda.device_count() >= 1\n": False,
    "assert not torch.cuda.device_count() == 0\n": False,
    "torch.cuda.set_device(3 % torch.cuda.device_count())\n": False,
    "device = 'cuda' if torch.cuda.device_count() else 'cpu'\n": False,
}


@pytest.mark.parametrize(("line", "matters"), ASKED.items(), ids=ASKED)
def test_one_gpu_is_counted_with_a_cause_where_the_program_does_else_for_several(line: str, matters: bool) -> None:
    program = "net = Net()\n" + line + SGD
    causes = [cause.reason for cause in reported(program).causes]
    assert ("how many GPUs there are is not said (cnnmem-devices): one was counted" in causes) is matters
    assert reported(program, devices=1).status == "exact"


def test_a_program_that_asks_how_many_gpus_there_are_is_told_the_option() -> None:
    program = "net = Net()\nif torch.cuda.device_count() > 1:\n    net = nn.DataParallel(net)\n" + SGD
    four = reported(program, devices=4)
    assert (four.training.drawn.value, four.training.batch_size.value) == (8, 2)


def test_a_collective_that_runs_on_gives_what_waits_for_it() -> None:
    told = "import torch.distributed as dist\ndef main():\n    net = Net()\n"
    told += "    works = [dist.broadcast(each.data, 0, async_op=True) for each in net.parameters()]\n"
    told += "    works.append(dist.all_reduce(net.last.bias.data, dist.ReduceOp.SUM, None, True))\n"
    told += "    if all(work.wait() for work in works):\n    "
    assert reported(told + SGD.replace("train", "    train") + "main()\n").status == "exact"
