"""Measure steps of eager GradientTape loops on TensorFlow, into fixtures/truth/keras_steps.json under "eager".

    python tests/oracle/keras_eager_steps.py

As tests/oracle/keras_steps.py, but the step is written out and is no tf.function.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
sys.path.insert(0, str(Path(__file__).parent))

import tensorflow_trace as traces
from keras_step_cases import EAGER, TRUTH, build, input_of, name_of, optimizer_of

TARGET = TRUTH / "keras_steps.json"


def measure(case: dict[str, Any]) -> dict[str, Any]:
    import keras
    import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]

    keras.backend.clear_session()
    model, optimizer = build(case["target"]), optimizer_of(case)
    x = tf.constant(input_of(model, case["batch_size"]))
    targets = tf.one_hot(tf.zeros((case["batch_size"], *model.output_shape[1:-1]), "int32"), model.output_shape[-1])
    loss = keras.losses.CategoricalCrossentropy()

    def step() -> None:
        with tf.GradientTape() as tape:
            value = loss(targets, model(x, training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    for _ in range(2):
        step()
    variables = {id(v): v for v in (*model.variables, *optimizer.variables)}
    persistent = sum(traces.rounded(v.numpy().nbytes) for v in variables.values())
    given = traces.rounded(x.numpy().nbytes) + traces.rounded(targets.numpy().nbytes)
    runs = [traces.replay(traces.trace(step), lambda event: False) for _ in range(2)]
    return {
        **case,
        "input_shape": list(model.inputs[0].shape[1:]),
        "loss": "categorical_crossentropy",
        "persistent_bytes": persistent,
        "peak_bytes": sorted(persistent + given + run.peak for run in runs),
    }


def main() -> None:
    found = [measure(case) for case in EAGER]
    for case in found:
        print(name_of(case), case["peak_bytes"], flush=True)
    content = json.loads(TARGET.read_text())
    TARGET.write_text(json.dumps({**content, "eager": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
