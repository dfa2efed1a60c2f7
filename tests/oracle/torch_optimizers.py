"""Measures what torch's optimizers hold and what their step makes, on fake tensors: fixtures/truth/optimizers.json.

For each optimizer and each set of options: the bytes of state tensors with the parameter's own shape or a part of
it, the number of one-value state tensors, and the highest sum of temporaries over the third step, with the
multi-tensor (foreach) and the single-tensor implementation. Run by hand: `python tests/oracle/torch_optimizers.py`.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

sys.path.insert(0, str(Path(__file__).parent))
from torch_measure import LiveStorages

SHAPES = [(64, 3, 7, 7), (64,), (128, 64, 3, 3), (128,), (1000, 512), (1000,)]
TARGET = Path(__file__).parents[2] / "fixtures" / "truth" / "optimizers.json"

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("sgd", "SGD", {}),
    ("sgd", "SGD", {"momentum": 0.9}),
    ("sgd", "SGD", {"momentum": 0.9, "nesterov": True}),
    ("sgd", "SGD", {"weight_decay": 0.01}),
    ("sgd", "SGD", {"momentum": 0.9, "weight_decay": 0.01}),
    ("adam", "Adam", {}),
    ("adam", "Adam", {"amsgrad": True}),
    ("adam", "Adam", {"weight_decay": 0.01}),
    ("adamw", "AdamW", {"weight_decay": 0.01}),
    ("adamw", "AdamW", {"amsgrad": True}),
    ("nadam", "NAdam", {}),
    ("nadam", "NAdam", {"weight_decay": 0.01}),
    ("radam", "RAdam", {}),
    ("radam", "RAdam", {"weight_decay": 0.01}),
    ("adamax", "Adamax", {}),
    ("adamax", "Adamax", {"weight_decay": 0.01}),
    ("adagrad", "Adagrad", {}),
    ("adagrad", "Adagrad", {"weight_decay": 0.01}),
    ("adadelta", "Adadelta", {}),
    ("adadelta", "Adadelta", {"weight_decay": 0.01}),
    ("rmsprop", "RMSprop", {}),
    ("rmsprop", "RMSprop", {"momentum": 0.9}),
    ("rmsprop", "RMSprop", {"centered": True}),
    ("rmsprop", "RMSprop", {"centered": True, "momentum": 0.9}),
    ("rmsprop", "RMSprop", {"weight_decay": 0.01}),
    ("asgd", "ASGD", {}),
    ("asgd", "ASGD", {"weight_decay": 0.01}),
    ("rprop", "Rprop", {}),
    ("adafactor", "Adafactor", {}),
    ("muon", "Muon", {}),
    ("lbfgs", "LBFGS", {"history_size": 5}),
]


def flat(state: dict[str, Any]) -> list[Any]:
    values: list[Any] = []
    for value in state.values():
        values += value if isinstance(value, list) else [value]
    return values


def closure_of(parameters: list[nn.Parameter]) -> Callable[[], torch.Tensor]:
    def closure() -> torch.Tensor:
        for parameter in parameters:
            parameter.grad = None
        loss = sum((parameter**4).sum() for parameter in parameters)
        assert isinstance(loss, torch.Tensor)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    return closure


def run(name: str, options: dict[str, Any], foreach: bool | None) -> dict[str, int] | None:
    """State and temporaries of one optimizer; None where it has no such implementation."""
    if foreach is not None:
        options = {**options, "foreach": foreach}
    shapes = [shape for shape in SHAPES if len(shape) == 2] if name == "Muon" else SHAPES
    # These look at values, which fake tensors do not have.
    real = name in ("ASGD", "Adafactor", "LBFGS")
    with contextlib.nullcontext() if real else FakeTensorMode(allow_non_fake_inputs=True), LiveStorages() as live:
        parameters = [nn.Parameter(torch.randn(*shape)) for shape in shapes]
        try:
            optimizer = getattr(torch.optim, name)(parameters, **options)
        except TypeError:
            return None
        peak = 0
        for _ in range(10 if name == "LBFGS" else 3):
            for parameter in parameters:
                parameter.grad = torch.randn_like(parameter)
            before = live.peak = live.live
            try:
                optimizer.step(closure_of(parameters)) if name == "LBFGS" else optimizer.step()
            except (TypeError, RuntimeError, NotImplementedError):
                return None
            peak = live.peak - before
        large = small = 0
        for parameter in parameters:
            for value in flat(optimizer.state[parameter]):
                if isinstance(value, torch.Tensor):
                    if value.numel() > 1:
                        large += value.numel() * value.element_size()
                    else:
                        small += 1
    return {
        "parameters": sum(p.numel() for p in parameters) * 4,
        "largest": max(p.numel() for p in parameters) * 4,
        "state": large,
        "scalars": small,
        "temporaries": peak,
    }


def main() -> None:
    records = []
    for name, cls, options in CASES:
        record: dict[str, Any] = {"optimizer": name, "options": options}
        several, single = run(cls, options, True), run(cls, options, False)
        plain = several or single or run(cls, options, None)
        if plain is None:
            print("not measured:", name, options, file=sys.stderr)
            continue
        record.update({key: plain[key] for key in ("parameters", "largest", "state", "scalars")})
        record["foreach"] = several["temporaries"] if several else None
        one = single or run(cls, options, None)
        record["single"] = one["temporaries"] if one else None
        records.append(record)
    about = (
        "Measured from torch's own optimizers on fake tensors (sizes rounded to 512 B where they are peaks): state of"
        " more than one value, one-value state tensors, and the temporaries of the third step, by implementation."
    )
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    content = {"about": about, "torch": torch.__version__, "shapes": SHAPES, "optimizers": records}
    TARGET.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
