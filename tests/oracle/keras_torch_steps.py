"""Measure training steps of Keras 3 on its PyTorch backend: fixtures/truth/keras_torch_steps.json.

    python tests/oracle/keras_torch_steps.py KEY... [--all] [--only WORD]

KEY is one of keras_step_cases.ON_TORCH. Needs keras and torch. Tensors are real ones, on the CPU: Keras looks at values.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["KERAS_BACKEND"] = "torch"
sys.path.insert(0, str(Path(__file__).parent))

import torch
from keras_step_cases import ON_TORCH, TRUTH, build, input_of, name_of, optimizer_of
from torch_measure import LiveStorages, rounded

TARGET = TRUTH / "keras_torch_steps.json"
ABOUT = (
    "One training step of Keras 3 on PyTorch (train_on_batch, CPU). saved_bytes: unique storages that autograd keeps"
    " after the forward pass, variables left out, the input batch included. persistent_bytes: variables and optimizer"
    " state. peak_bytes: the highest sum of live storages over the third step, each rounded up to 512 B."
)


def measure(case: dict[str, Any]) -> dict[str, Any]:
    import keras

    keras.backend.clear_session()
    keras.config.set_dtype_policy(case.get("dtype", "float32"))
    model = build(case["target"])
    given = input_of(model, case["batch_size"])
    targets = torch.zeros((case["batch_size"], *model.output_shape[1:]))
    targets[..., 0] = 1
    model.compile(optimizer_of(case), "categorical_crossentropy")
    own = {variable.value.untyped_storage()._cdata for variable in model.variables}
    saved: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            saved[storage._cdata] = storage.nbytes()
        return tensor

    x = torch.tensor(given)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = model(x, training=True)
    saved[x.untyped_storage()._cdata] = x.untyped_storage().nbytes()
    total = sum(saved.values())
    del result
    with LiveStorages() as live:
        variables = {id(v): v for v in model.variables}
        for variable in variables.values():
            live.watch(variable.value)
        live.watch(x)
        live.watch(targets)
        model.train_on_batch(x, targets)
        variables |= {id(v): v for v in model.optimizer.variables}
        for variable in variables.values():
            live.watch(variable.value)
        for _ in range(2):
            gc.collect()
            live.peak = live.live
            model.train_on_batch(x, targets)
        peak = live.peak
    return {
        **case,
        "input_shape": list(model.inputs[0].shape[1:]),
        "loss": "categorical_crossentropy",
        "persistent_bytes": sum(rounded(v.value.untyped_storage().nbytes()) for v in variables.values()),
        "saved_bytes": total,
        "peak_bytes": peak,
    }


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("keys", nargs="+", choices=sorted(ON_TORCH))
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    content = json.loads(TARGET.read_text()) if TARGET.exists() else {"about": ABOUT}
    for key in given.keys:
        known = {name_of(case): case for case in content.get(key, [])}
        for case in ON_TORCH[key]:
            if given.only not in name_of(case) or (name_of(case) in known and not given.all):
                continue
            try:
                known[name_of(case)] = measure(case)
            except Exception as error:  # what this backend cannot do
                print("not measured:", name_of(case), type(error).__name__, str(error)[:200], file=sys.stderr)
                continue
            content[key] = [known[name] for name in map(name_of, ON_TORCH[key]) if name in known]
            TARGET.write_text(json.dumps(content, indent=1) + "\n")
            print(name_of(case), known[name_of(case)]["saved_bytes"], known[name_of(case)]["peak_bytes"], flush=True)


if __name__ == "__main__":
    main()
