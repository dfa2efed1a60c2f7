"""What the table of optimizers says, held against what torch's own optimizers hold and make."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.frameworks.keras.optimizer_states import STATES as KERAS
from flake8_cnnmem.frameworks.torch.optim.states import STATES as TORCH
from flake8_cnnmem.frameworks.torch.saved_tensors import RULES
from flake8_cnnmem.graph import Model, Weight
from flake8_cnnmem.memory import optimizers
from flake8_cnnmem.memory.optimizer_step import state, step
from flake8_cnnmem.memory.storages import Memory, Value
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from flake8_cnnmem.training import Optimizer

TRUTH = json.loads((Path(__file__).parents[2] / "fixtures" / "truth" / "optimizers.json").read_text())


def name_of(record: dict[str, Any]) -> str:
    return " ".join([record["optimizer"], *(f"{key}={value}" for key, value in record["options"].items())])


def replay(record: dict[str, Any], **options: Any) -> tuple[int, int]:
    """Bytes of the optimizer's state, and of the step's temporaries."""
    memory = Memory(Timeline(RULES.alignment), 1)
    wanted = [shape for shape in TRUTH["shapes"] if record["optimizer"] != "muon" or len(shape) == 2]
    values: list[Value] = []
    for shape in wanted:
        value = memory.new(tuple(shape), "float32", use="parameters")
        value.weight = Weight(tuple(shape))
        values.append(value)
    chosen = Optimizer(record["optimizer"], tuple({**record["options"], **options}.items()))
    row, known = optimizers.lookup(chosen, TORCH)
    before = sum(value.storage.line.fixed for value in values)
    step(memory, row, known, values)
    peak = memory.timeline.peak(1)
    state(memory, row, known, values)
    lots = [memory.timeline.lots[event] for event in memory.timeline.events if event > 0]
    held = sum(line.fixed for line, use in lots if use == "optimizer")
    temporaries = peak - sum(-(-v.storage.line.fixed // 512) * 512 for v in values)
    assert before
    return held, temporaries


@pytest.mark.parametrize("record", TRUTH["optimizers"], ids=name_of)
def test_state(record: dict[str, Any]) -> None:
    held, _ = replay(record)
    if record["optimizer"] == "lbfgs":
        # What its step holds while a closure runs counts as state: gradient, product, the last step's direction.
        held -= 3 * record["parameters"]
    scalars = 4 * record["scalars"] if record["optimizer"] == "asgd" else 0
    assert held == record["state"] + scalars


@pytest.mark.parametrize("record", [r for r in TRUTH["optimizers"] if r["foreach"] is not None], ids=name_of)
def test_temporaries_of_the_multi_tensor_step(record: dict[str, Any]) -> None:
    _, temporaries = replay(record, foreach=True)
    # Rprop's mask of one parameter at a time is not in the table.
    assert temporaries == pytest.approx(record["foreach"], abs=0.08 * record["parameters"])


@pytest.mark.parametrize(
    "record", [r for r in TRUTH["optimizers"] if r["single"] is not None and r["optimizer"] != "lbfgs"], ids=name_of
)
def test_temporaries_of_the_single_tensor_step(record: dict[str, Any]) -> None:
    if record["options"].get("nesterov"):
        pytest.skip("torch's loop makes a sum for nesterov that its multi-tensor step does not")
    _, temporaries = replay(record, foreach=False)
    assert temporaries == pytest.approx(record["single"], abs=0.5 * record["largest"])


@pytest.mark.parametrize(
    ("name", "options", "scalars"),
    [
        ("adam", {"fused": True}, 1), ("adamw", {"fused": True}, 1), ("adam", {"capturable": True}, 1),
        ("adam", {}, 0), ("sgd", {"momentum": 0.9, "fused": True}, 0),
    ],
)  # fmt: skip
def test_steps_that_are_counted_on_the_device(name: str, options: dict[str, Any], scalars: int) -> None:
    """As PyTorch 2.12 allocates them: a number beside the state of each parameter."""
    slots = 2 if name.startswith("adam") else 1
    sizes = [4 * math.prod(shape) for shape in TRUTH["shapes"]]
    held, _ = replay({"optimizer": name, "options": options})
    assert held == slots * sum(sizes) + 4 * scalars * len(sizes)


def test_a_fused_step_makes_nothing() -> None:
    _, temporaries = replay({"optimizer": "adam", "options": {}}, fused=True)
    assert temporaries == 0


def test_an_unheard_of_optimizer_is_a_cause() -> None:
    row, _ = optimizers.lookup(Optimizer("sophia"), TORCH)
    assert row == optimizers.OptimizerState()
    (cause,) = optimizers.not_known(Optimizer("sophia"), TORCH)
    assert "sophia" in cause.reason
    assert optimizers.not_known(Optimizer("adam"), TORCH) == ()


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "schedule_free_adamw", "Muon", "Lion", "Ftrl"])
def test_names_are_found_however_they_are_written(name: str) -> None:
    row, _ = optimizers.lookup(Optimizer(name), KERAS)
    assert row == KERAS[name.lower().replace("_", "")]


def test_every_keras_option_of_the_base_class_counts() -> None:
    row, options = optimizers.lookup(Optimizer("sgd", (("use_ema", True), ("gradient_accumulation_steps", 4))), KERAS)
    assert optimizers.slots(row, options) == 2


__all__ = ["Model"]


SEARCHED = """\
import torch
from torch import nn
net = nn.Linear(64, 64).cuda()
optimizer = torch.optim.LBFGS(net.parameters(){option})
x = torch.randn(8, 64, device="cuda")
def closure():
    optimizer.zero_grad()
    loss = net(x).sum()
    loss.backward()
    return loss
for step in range(50):
    optimizer.step(closure)
"""


@pytest.mark.parametrize(
    ("option", "status"),
    [("", "exact"), (", line_search_fn='strong_wolfe'", "lower-bound")],
    ids=["plain", "searching"],
)
def test_a_line_search_keeps_more_than_is_known(tmp_path: Path, option: str, status: str) -> None:
    path = tmp_path / "train.py"
    path.write_text(SEARCHED.format(option=option))
    (report,) = analyse(load(str(path)), Settings()).reports
    assert report.status == status
