"""Measure training steps of Keras on TensorFlow (graph mode, no XLA): fixtures/truth/keras_steps.json.

    python tests/oracle/keras_steps.py KEY... [--all] [--only WORD]

KEY is one of keras_step_cases.CASES. What is in the file already is measured again only with --all. Needs keras and
tensorflow; targets that start with keras/ are taken from the installed package.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
sys.path.insert(0, str(Path(__file__).parent))

import tensorflow_trace as traces
from keras_step_cases import CASES, TRUTH, build, name_of, optimizer_of

TARGET = TRUTH / "keras_steps.json"
RUNS = 4
ABOUT = (
    "One training step of Keras on TensorFlow (graph mode, no XLA), from the allocator's own trace on the CPU"
    " (tests/oracle/tensorflow_trace.py; sizes rounded to 256 B, CPU scratch left out). persistent_bytes: variables and"
    " optimizer state. saved_bytes: tensors alive when the backward pass of the last layers begins, and the input batch. peak_bytes:"
    " of several runs, variables, optimizer state, input, targets and the highest sum of live tensors."
)


def measure(case: dict[str, Any]) -> dict[str, Any]:
    import keras
    import numpy as np

    keras.backend.clear_session()
    keras.config.set_dtype_policy(case.get("dtype", "float32"))
    model = build(case["target"])
    batch = case["batch_size"]
    shapes = [(batch, *one.shape[1:]) for one in model.inputs]
    given = [np.ones(shape, str(one.dtype)) for shape, one in zip(shapes, model.inputs, strict=True)]
    classes = model.output_shape[-1]
    loss = "categorical_crossentropy"
    targets = np.zeros((batch, *model.output_shape[1:-1], classes), "float32")
    targets[..., 0] = 1
    model.compile(optimizer_of(case), loss, jit_compile=False)
    x = given[0] if len(given) == 1 else given
    for _ in range(2):
        model.train_on_batch(x, targets)
    variables = {id(v): v for v in (*model.variables, *model.optimizer.variables)}
    persistent = sum(traces.rounded(v.numpy().nbytes) for v in variables.values())
    fed = sum(traces.rounded(one.nbytes) for one in given)
    begins = begins_backward(model)
    steps = [traces.replay(traces.trace(lambda: model.train_on_batch(x, targets)), begins) for _ in range(RUNS)]
    saved = sorted(step.kept for step in steps)
    return {
        **case,
        "input_shape": list(model.inputs[0].shape[1:]),
        "loss": loss,
        "parameters": model.count_params(),
        "persistent_bytes": persistent,
        "saved_bytes": saved[len(saved) // 2] + fed,
        "saved_spread": saved[-1] - saved[0],
        "peak_bytes": sorted(persistent + fed + traces.rounded(targets.nbytes) + step.peak for step in steps),
    }


def begins_backward(model: Any) -> Callable[[traces.Event], bool]:
    """The first gradient in the last layers; what needs no gradient of theirs may be computed ahead of its turn.

    A name with a number at its end may be another layer's scope.
    """
    last = [f"/{layer.name}" for layer in model.layers[-3:] if not layer.name[-1].isdigit()]
    least = 2 * traces.BLOCK

    def begins(event: traces.Event) -> bool:
        return event.op.startswith("gradient_tape/") and event.size >= least and any(name in event.op for name in last)

    return begins


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("keys", nargs="+", choices=sorted(CASES))
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    content = json.loads(TARGET.read_text()) if TARGET.exists() else {"about": ABOUT}
    for key in given.keys:
        known = {name_of(case): case for case in content.get(key, [])}
        for case in CASES[key]:
            if given.only not in name_of(case) or (name_of(case) in known and not given.all):
                continue
            try:
                known[name_of(case)] = measure(case)
            except Exception as error:  # what this Keras cannot build
                print("not measured:", name_of(case), type(error).__name__, str(error)[:200], file=sys.stderr)
                continue
            content[key] = [known[name] for name in map(name_of, CASES[key]) if name in known]
            TARGET.write_text(json.dumps(content, indent=1) + "\n")
            print(name_of(case), known[name_of(case)]["saved_bytes"], known[name_of(case)]["peak_bytes"], flush=True)


if __name__ == "__main__":
    main()
