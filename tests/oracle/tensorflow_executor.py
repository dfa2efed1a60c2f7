"""Work out TensorFlow's steps as its executor runs them on a GPU: fixtures/truth/keras_executor.json.

    python tests/oracle/tensorflow_executor.py [--only WORD]

On a CPU kernels that take long are handed to other threads, and what they read waits with them: peaks are higher there
by what waits. On a GPU every kernel is run by the thread that finds it ready (OpKernel::IsExpensive is false), in the
order in which ops become ready (ExecutorState::ScheduleReady of tensorflow/core/common_runtime/executor.cc). Here the
step's own graph, as TensorFlow's optimizer has left it, is gone through in that order, with the sizes of its tensors
from the allocator's trace of the same step (tensorflow_trace.py). A kernel that works value by value writes into an
operand of the same size that nobody else needs (forward_input_or_allocate_output).
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import tensorflow_trace as traces
from keras_step_cases import TRUTH, build, name_of, optimizer_of

TARGET = TRUTH / "keras_executor.json"
OWN = "fixtures/memory/keras/branches.py"
NAMES = (
    "two_towers", "siamese", "residual", "dense_blocks", "squeezed", "windows", "added", "joined", "inceptions", "unet",
    "denoising", "swished", "softened", "curved",
)  # fmt: skip
CASES: list[dict[str, Any]] = [
    *({"target": f"{OWN}::{name}()", "batch_size": 32, "optimizer": "adam"} for name in NAMES),
    {"target": "fixtures/memory/keras/whole.py::inception()", "batch_size": 32, "optimizer": "adam"},
]
SAME = frozenset(
    ("Identity", "IdentityN", "Reshape", "Squeeze", "ExpandDims", "StopGradient", "PreventGradient", "Snapshot",
     "ReadVariableOp", "_Arg", "_Retval")
)  # fmt: skip
"""Ops whose result is their first operand's storage."""
BY_VALUE = frozenset(
    ("Relu", "ReluGrad", "BiasAdd", "Add", "AddV2", "AddN", "Sub", "Mul", "Div", "RealDiv", "Neg", "Square", "Sqrt",
     "Rsqrt", "Exp", "Log", "Softmax", "Sigmoid", "SigmoidGrad", "Tanh", "TanhGrad", "Maximum", "Minimum", "Cast",
     "Select", "SelectV2", "Softplus", "Xdivy")
)  # fmt: skip
"""Ops whose kernels take an operand's storage over."""
LOSS_AND_GRADIENT = frozenset(("SoftmaxCrossEntropyWithLogits",))
"""Ops whose second result, the gradient, is written into the logits where nobody else needs them (xent_op.cc)."""


@dataclass(eq=False)
class Storage:
    size: int
    readers: int = 0


def highest(graph: Any, events: list[traces.Event]) -> int:
    """The most bytes that the ops of a graph hold at one time."""
    sizes: dict[str, list[int]] = defaultdict(list)
    for event in events:
        if event.size > 0 and not event.temporary:
            sizes[event.op].append(event.size)
    nodes = {node.name: node for node in graph.node}
    reads: dict[str, list[tuple[str, int]]] = {}
    readers: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    waits: dict[str, int] = {}
    for node in graph.node:
        split = [(*text.partition(":")[::2],) for text in node.input if not text.startswith("^")]
        reads[node.name] = [(name, int(port or 0)) for name, port in split]
        waits[node.name] = len(node.input)
        for slot, (name, port) in enumerate(reads[node.name]):
            readers[name].append((node.name, port, slot))
        for text in node.input:
            if text.startswith("^"):
                readers[text[1:]].append((node.name, -1, -1))
    given: dict[tuple[str, int], Storage] = {}
    alive: set[Storage] = set()
    now = most = 0
    ready = deque(name for name, count in waits.items() if not count)
    while ready:
        name = ready.popleft()
        operands = [given.pop((name, slot), None) for slot in range(len(reads[name]))]
        results = made(nodes[name].op, operands, sizes.get(name, []), 1 + max((r[1] for r in readers[name]), default=0))
        for storage in results:
            if storage is not None and storage not in alive and not storage.readers:
                alive.add(storage)
                now += storage.size
        most = max(most, now)
        for reader, port, slot in readers[name]:
            storage = results[port] if 0 <= port < len(results) else None
            if storage is not None:
                given[reader, slot] = storage
                storage.readers += 1
        for storage in operands:
            if storage is not None:
                storage.readers -= 1
        for storage in {each for each in (*operands, *results) if each is not None}:
            if not storage.readers and storage in alive:
                alive.remove(storage)
                now -= storage.size
        for reader, _, _ in readers[name]:
            waits[reader] -= 1
            if not waits[reader]:
                ready.append(reader)
    return most


def made(op: str, operands: list[Storage | None], sizes: list[int], count: int) -> list[Storage | None]:
    """What an op gives by its ports; None for what is no tensor of the step's."""
    if op in SAME:
        return [operands[0] if operands else None]
    logits = operands[0] if op in LOSS_AND_GRADIENT else None
    if logits is not None and logits.size not in sizes:
        return [*map(Storage, sizes[:1]), logits]
    if op not in BY_VALUE:
        return [Storage(size) for size in sizes[:count]]
    there = [storage for storage in operands if storage is not None]
    size = max(sizes) if sizes else max((storage.size for storage in there), default=0)
    times = Counter(there)
    last = next((each for each in there if each.size == size and each.readers == times[each]), None)
    return [last or (Storage(size) if size else None)]


def measure(case: dict[str, Any]) -> dict[str, Any]:
    import keras
    import numpy as np
    from tensorflow.python.eager import context  # type: ignore[import-not-found,import-untyped,unused-ignore]

    keras.backend.clear_session()
    model = build(case["target"])
    shapes = [(case["batch_size"], *one.shape[1:]) for one in model.inputs]
    given = [np.ones(shape, str(one.dtype)) for shape, one in zip(shapes, model.inputs, strict=True)]
    targets = np.zeros((case["batch_size"], *model.output_shape[1:]), "float32")
    targets[..., 0] = 1
    model.compile(optimizer_of(case), "categorical_crossentropy", jit_compile=False)
    x = given[0] if len(given) == 1 else given
    context.enable_run_metadata()
    model.train_on_batch(x, targets)
    graphs = [graph for each in context.export_run_metadata().function_graphs for graph in each.partition_graphs]
    context.disable_run_metadata()
    model.train_on_batch(x, targets)
    events = traces.trace(lambda: model.train_on_batch(x, targets))
    variables = {id(v): v for v in (*model.variables, *model.optimizer.variables)}
    outside = [v.numpy().nbytes for v in variables.values()] + [each.nbytes for each in (*given, targets)]
    return {
        **case,
        "input_shape": list(model.inputs[0].shape[1:]),
        "loss": "categorical_crossentropy",
        "peak_bytes": sum(map(traces.rounded, outside)) + highest(max(graphs, key=lambda each: len(each.node)), events),
    }


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", default="")
    only = arguments.parse_args().only
    content = json.loads(TARGET.read_text()) if TARGET.exists() else {"about": (__doc__ or "").partition("\n")[0]}
    known = {name_of(case): case for case in content.get("branches", [])}
    for case in CASES:
        if only in case["target"]:
            known[name_of(case)] = measure(case)
            print(case["target"], known[name_of(case)]["peak_bytes"], flush=True)
    content["branches"] = [known[name_of(case)] for case in CASES if name_of(case) in known]
    TARGET.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
