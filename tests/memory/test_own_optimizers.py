"""Optimizers that a program defines itself: what their own code keeps and makes, held against torch on the CPU."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.frameworks.torch.optim.states import STATES as TORCH
from flake8_cnnmem.frameworks.torch.saved_tensors import RULES
from flake8_cnnmem.memory.optimizer_step import Stepping
from flake8_cnnmem.memory.storages import Memory, Value
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from flake8_cnnmem.training import Fact, Optimizer

FIXTURES = Path(__file__).parents[2] / "fixtures"
TRUTH: dict[str, dict[str, int]] = json.loads((FIXTURES / "truth" / "own_optimizers.json").read_text())["optimizers"]


@cache
def report(name: str) -> ModelReport:
    (found,) = analyse(load(str(FIXTURES / "optimizers" / f"{name}.py")), Settings()).reports
    return found


def replayed(name: str) -> tuple[int, int]:
    """Bytes of the state in tensors of more than one value, and of what a step makes for a moment."""
    model = report(name).model
    assert model is not None
    memory = Memory(Timeline(RULES.alignment), 1)
    weights: dict[int, Value] = {}
    for weight in model.weights:
        weights[id(weight)] = memory.new(weight.shape, "float32", use="parameters")
        weights[id(weight)].weight = weight
    gradients = {key: memory.new(value.shape, "float32", use="gradients") for key, value in weights.items()}
    stepping = Stepping(report(name).training.optimizer.value, TORCH)
    before = memory.timeline.peak(1)
    stepping.step(memory, RULES, "float32", weights, gradients)
    peak = memory.timeline.peak(1)
    stepping.state(memory, "float32", weights)
    state = 0
    for event in memory.timeline.events:
        line, use = memory.timeline.lots[abs(event)]
        if use == "optimizer" and line.fixed > 8:
            # What a step puts in the place of its state comes, and what was there goes.
            state += line.fixed if event > 0 else -line.fixed
    return state, peak - before


@pytest.mark.parametrize("name", TRUTH)
def test_state(name: str) -> None:
    found = report(name)
    assert found.status == "exact", found.causes
    assert found.training.optimizer.source != "default"
    assert replayed(name)[0] == TRUTH[name]["state"]


@pytest.mark.parametrize("name", [name for name in TRUTH if name != "sam"])
def test_temporaries(name: str) -> None:
    """SAM's step runs a whole forward and backward pass. On the CPU torch's multi-tensor ops go through the tensors one
    by one, and make a little more."""
    assert replayed(name)[1] == pytest.approx(TRUTH[name]["temporaries"], rel=0.04, abs=2048)


HEAD = """\
import torch
from torch import nn
{imports}
model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
{made}
for images in range(100):
    loss = nn.functional.cross_entropy(model(torch.randn(64, 784)), torch.randint(0, 10, (64,)))
    loss.backward()
    {step}
"""

DEFAULTS = Settings()

WEIGHTS = [(512, 784), (512,), (10, 512), (10,)]


def program(
    tmp_path: Path, made: str, imports: str = "", step: str = "optimizer.step()", settings: Settings = DEFAULTS
) -> ModelReport:
    path = tmp_path / "train.py"
    path.write_text(HEAD.format(imports=imports, made=made, step=step))
    (found,) = analyse(load(str(path)), settings).reports
    return found


KERNEL = """
class Opaque(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                kernels.update(p, p.grad)
"""

RAISING = """
class Raising(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["average"].mul_(0.9)
"""

NOT_KNOWN = {
    "of a package that is not there": ("from missing_package import Lion", "optimizer = Lion(model.parameters())"),
    "made by a function that is not known": (
        "from missing_package import create_optimizer",
        "optimizer = create_optimizer(model)",
    ),
    "of parameter groups": (
        "import missing_package",
        "optimizer = missing_package.Lion([{'params': model[0].parameters()}, {'params': model[2].parameters()}])",
    ),
    "whose kernel is not known": ("import kernels\n" + KERNEL, "optimizer = Opaque(model.parameters())"),
    "whose step raises": (RAISING, "optimizer = Raising(model.parameters())"),
}


@pytest.mark.parametrize("case", NOT_KNOWN.values(), ids=NOT_KNOWN)
def test_an_optimizer_that_is_not_known_is_a_lower_bound(tmp_path: Path, case: tuple[str, str]) -> None:
    imports, made = case
    found = program(tmp_path, made, imports)
    assert found.status == "lower-bound"
    assert found.training.optimizer.source != "default"
    assert any("optimizer is not known" in cause.reason or "not f" in cause.reason for cause in found.causes)
    assert found.estimate is not None
    assert found.estimate.optimizer == 0


def test_an_option_says_what_code_does_not(tmp_path: Path) -> None:
    option = Settings(optimizer=Fact(Optimizer("adam"), "option"))
    imports, made = NOT_KNOWN["of a package that is not there"]
    found = program(tmp_path, made, imports, settings=option)
    assert (found.status, found.training.optimizer.value.name) == ("exact", "adam")


def test_no_optimizer_at_all_keeps_the_default(tmp_path: Path) -> None:
    found = program(tmp_path, "", step="")
    assert (found.status, found.training.optimizer.source) == ("exact", "default")


def blocks(sizes: list[int]) -> int:
    return sum(-(-size // 512) * 512 for size in sizes)


def eight_bit(states: int) -> list[int]:
    """bitsandbytes 0.50.2, Optimizer2State.init_state and Optimizer1State.init_state."""
    sizes = [256 * 4] * states
    for shape in WEIGHTS:
        values = shape[0] * (shape[1] if len(shape) > 1 else 1)
        each = [values, -(-values // 256) * 4] if values >= 4096 else [values * 4]
        sizes += each * states
    return sizes


def plain(each: int) -> list[int]:
    return [4 * shape[0] * (shape[1] if len(shape) > 1 else 1) for shape in WEIGHTS for _ in range(each)]


STATED = {
    "bitsandbytes' Adam in 8 bits": ("import bitsandbytes as bnb", "bnb.optim.AdamW8bit", eight_bit(2)),
    "by a keyword": ("import bitsandbytes as bnb", "bnb.optim.Adam:optim_bits=8", eight_bit(2)),
    "bitsandbytes' Lion in 8 bits": ("from bitsandbytes.optim import Lion8bit", "Lion8bit", eight_bit(1)),
    "bitsandbytes' Adam in 32 bits": ("import bitsandbytes as bnb", "bnb.optim.AdamW", plain(2)),
    # What is paged is in unified memory: of the large matrix only the blocks' largest values are PyTorch's.
    "a paged Adam": (
        "import bitsandbytes as bnb",
        "bnb.optim.PagedAdamW8bit",
        [size for size in eight_bit(2) if size != 512 * 784],
    ),
    "apex' FusedAdam": ("from apex.optimizers import FusedAdam", "FusedAdam", [*plain(2), 4]),
    "apex' FusedSGD, whose momentum is there without one": (
        "from apex.optimizers import FusedSGD",
        "FusedSGD:lr=0.1",
        [*plain(1), 4],
    ),
    "DeepSpeed's FusedAdam": ("from deepspeed.ops.adam import FusedAdam", "FusedAdam", [*plain(2), 4]),
}


@pytest.mark.parametrize("case", STATED.values(), ids=STATED)
def test_optimizers_of_kernels_keep_what_their_source_says(tmp_path: Path, case: tuple[str, str, list[int]]) -> None:
    imports, made, sizes = case
    name, _, options = made.partition(":")
    found = program(tmp_path, f"optimizer = {name}(model.parameters(), {options})", imports)
    assert found.status == "exact", found.causes
    assert found.estimate is not None
    assert found.estimate.optimizer == blocks(sizes)


def test_a_wrapper_and_what_it_wraps_step_once() -> None:
    """One step, of the one that is called; what it wraps is a part of it."""
    for name in ("lookahead", "sam", "averaged"):
        fact = report(name).training.optimizer
        assert fact.value.name == name
        assert fact.passed_over == ()


TRAINER = """\
import torch
from torch import nn
from transformers import Trainer, TrainingArguments

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 64)
        self.head = nn.Linear(64, 100)

    def forward(self, input_ids, labels):
        logits = self.head(self.words(input_ids).mean(1))
        return {{"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}}

class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, at):
        return {{"input_ids": torch.zeros(16, dtype=torch.long), "labels": torch.tensor(1)}}

arguments = TrainingArguments("out", per_device_train_batch_size=8, optim="{optim}")
Trainer(model=Net(), args=arguments, train_dataset=Texts()).train()
"""


def trained_with(tmp_path: Path, optim: str) -> ModelReport:
    path = tmp_path / "train.py"
    path.write_text(TRAINER.format(optim=optim))
    (found,) = analyse(load(str(path)), DEFAULTS).reports
    return found


def test_a_trainer_names_8_bits(tmp_path: Path) -> None:
    """The embeddings stay in 32 bits."""
    found = trained_with(tmp_path, "adamw_bnb_8bit")
    assert found.status == "exact", found.causes
    assert found.estimate is not None
    table, head, bias = 1000 * 64 * 4, 64 * 100, 100 * 4
    assert found.estimate.optimizer == blocks([1024, table, head, head // 256 * 4, bias] * 2)


def test_a_trainers_optimizer_that_is_not_known_is_a_lower_bound(tmp_path: Path) -> None:
    found = trained_with(tmp_path, "galore_adamw")
    assert found.status == "lower-bound"
    assert any("optimizer" in cause.reason for cause in found.causes)
