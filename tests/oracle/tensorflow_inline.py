"""Measure Keras' steps on TensorFlow with every kernel run by the thread that finds it ready, as a GPU's are:
fixtures/truth/keras_inline.json.

    python tests/oracle/tensorflow_inline.py [--only WORD]

On several threads of a CPU kernels run beside each other. A session that is given no threads of its own
(`inter_op_parallelism_threads=-1`) runs them in the order in which they become ready (run_all_kernels_inline of
tensorflow/core/common_runtime/executor.cc), as the executor does on a GPU: the step's graph is taken from Keras and run
so, and its allocations are traced (tensorflow_trace.py). Every run has the same peak. TensorFlow's optimizer orders the
constants of a session's graph in its own way, so that of two gradients of a convolution another one may come first.
"""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import tensorflow_trace as traces
from keras_step_cases import SMALL, TRUTH, WHOLE, build, name_of, optimizer_of
from tensorflow_executor import CASES

TARGET = TRUTH / "keras_inline.json"


def measure(case: dict[str, Any]) -> dict[str, Any]:
    import keras
    import numpy as np
    import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]

    keras.backend.clear_session()
    model = build(case["target"])
    shapes = [(case["batch_size"], *one.shape[1:]) for one in model.inputs]
    given = [np.ones(shape, str(one.dtype)) for shape, one in zip(shapes, model.inputs, strict=True)]
    targets = np.zeros((case["batch_size"], *model.output_shape[1:]), "float32")
    targets[..., 0] = 1
    model.compile(optimizer_of(case), "categorical_crossentropy", jit_compile=False)
    x = given[0] if len(given) == 1 else given
    model.train_on_batch(x, targets)
    variables = {id(each): each for each in (*model.variables, *model.optimizer.variables)}
    outside = [each.numpy().nbytes for each in variables.values()] + [each.nbytes for each in (*given, targets)]
    specs = [tf.TensorSpec(each.shape, each.dtype) for each in (*given, targets)]
    step = tf.function(lambda *batch: model.train_step((batch[0] if len(given) == 1 else list(batch[:-1]), batch[-1])))
    concrete = step.get_concrete_function(*specs)
    own = len(concrete.inputs) - len(concrete.captured_inputs)
    known = {id(each.handle): each for each in (*concrete.graph.variables, *(v.value for v in variables.values()))}
    values = [
        known[id(each)].numpy() if each.dtype == tf.resource else each.numpy() for each in concrete.captured_inputs
    ]
    peak = highest(tf, concrete, own, [*given, targets], values)
    return {
        **case,
        "input_shape": list(model.inputs[0].shape[1:]),
        "loss": "categorical_crossentropy",
        "peak_bytes": sum(map(traces.rounded, outside)) + peak,
    }


def highest(tf: Any, concrete: Any, own: int, batch: list[Any], values: list[Any]) -> int:
    """The peak of a step's graph beyond its variables and its batch; `own` of its inputs are the batch."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        inputs, feeds, made = {}, {}, []
        for tensor, array in zip(concrete.inputs[:own], batch, strict=True):
            inputs[tensor.name] = placeholder = v1.placeholder(tensor.dtype, array.shape)
            feeds[placeholder] = array
        for at, (tensor, value) in enumerate(zip(concrete.inputs[own:], values, strict=True)):
            if tensor.dtype != tf.resource:
                inputs[tensor.name] = tf.constant(value)
                continue
            handle = tf.raw_ops.VarHandleOp(dtype=value.dtype, shape=value.shape, shared_name=f"variable_{at}")
            placeholder = v1.placeholder(value.dtype, value.shape)
            made.append((tf.raw_ops.AssignVariableOp(resource=handle, value=placeholder), placeholder, value))
            inputs[tensor.name] = handle
        wanted = [each.name for each in (*concrete.outputs, *concrete.graph.control_outputs)]
        found = tf.import_graph_def(concrete.graph.as_graph_def(), inputs, wanted, name="")
        fetched = [each if isinstance(each, tf.Operation) else each.op for each in found]
        with v1.Session(config=v1.ConfigProto(inter_op_parallelism_threads=-1)) as session:
            for assign, placeholder, value in made:
                session.run(assign, {placeholder: value})
            for _ in range(2):
                session.run(fetched, feeds)
            return traces.replay(traces.trace(lambda: session.run(fetched, feeds)), lambda event: False).peak


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", default="")
    only = arguments.parse_args().only
    content = json.loads(TARGET.read_text()) if TARGET.exists() else {"about": (__doc__ or "").partition("\n\n")[0]}
    cases = [*SMALL, *WHOLE, *CASES]
    known = {name_of(case): case for case in content.get("steps", [])}
    for case in cases:
        if only in name_of(case):
            known[name_of(case)] = measure(case)
            print(case["target"], case["optimizer"], known[name_of(case)]["peak_bytes"], flush=True)
            content["steps"] = [known[name] for name in map(name_of, cases) if name in known]
            TARGET.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
