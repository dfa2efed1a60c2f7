"""Measure with the frameworks themselves what programs written to mislead a reader really are. Run by hand:

    python tests/oracle/measure_misleading.py TRUTH CLASS...

writes fixtures/truth/TRUTH.json from fixtures/misleading/CLASS_*.py. Each file says in its first comments which
expressions of it are measured, and on inputs of which shape, without the batch (`;` between several inputs, `int` for
class numbers, `unstated` where the estimate is to be asked without being told):

    # target: Net(10) | 3,32,32
    # target: encoder | int 12; 40 | unstated

The file is run as a module, the expression evaluated in it, and the model called in train mode on a batch of 2. What is
noted: parameters, those that ask for a gradient, the shapes of the outputs without the batch, the bytes of the storages
that autograd has kept (parameters, buffers and inputs left out, also those that no module has), those of the inputs
among them; or what was raised. Keras runs on PyTorch unless KERAS_BACKEND says otherwise; rewired_keras.py, where the
two differ, and details_keras.py, which has variables of TensorFlow, attention_keras.py and containers_keras.py
are measured on TensorFlow.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import multiprocessing
import os
import re
import sys
import types
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

ROOT = Path(__file__).parents[2]
MISLEADING = ROOT / "fixtures" / "misleading"
TRUTH = ROOT / "fixtures" / "truth"
TARGET = re.compile(r"^# target: (.+?) \| (.+?)(?: \| (unstated))?$", re.MULTILINE)
BATCH = 2


def targets(text: str) -> Iterator[tuple[str, list[str], bool]]:
    """Expression, inputs, and whether the estimate is told the input."""
    for expression, inputs, unstated in TARGET.findall(text):
        yield expression, [each.strip() for each in inputs.split(";")], not unstated


def shape_of(text: str) -> tuple[list[int], bool]:
    """`int 3,4` -> [3, 4], and whether it holds class numbers."""
    numbers = text.removeprefix("int").strip()
    return [int(each) for each in numbers.split(",") if each], text.startswith("int")


def run(path: Path) -> dict[str, Any]:
    """The names of a program that is run as a module."""
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    try:
        exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), vars(module))
    finally:
        del sys.modules[path.stem]
    return vars(module)


def measure(path: Path, expression: str, inputs: list[str]) -> dict[str, Any]:
    record: dict[str, Any] = {"input_shapes": [shape_of(each)[0] for each in inputs]}
    if any(shape_of(each)[1] for each in inputs):
        record["dtypes"] = ["int64" if shape_of(each)[1] else "float32" for each in inputs]
    try:
        model = eval(expression, run(path))
    except Exception as error:
        return {**record, "raises": type(error).__name__}
    is_keras = any(cls.__module__.partition(".")[0] == "keras" for cls in type(model).__mro__)
    return {**record, **(measure_keras if is_keras else measure_torch)(model, inputs)}


def measure_torch(model: Any, inputs: list[str]) -> dict[str, Any]:
    import torch
    from torch.utils._pytree import tree_flatten

    made = []
    for each in inputs:
        shape, integers = shape_of(each)
        made.append(torch.zeros((BATCH, *shape), dtype=torch.int64) if integers else torch.randn(BATCH, *shape))
    model.train()
    kept: weakref.WeakSet[Kept] = weakref.WeakSet()

    def pack(tensor: torch.Tensor) -> Kept:
        # With its own history a result would keep itself alive.
        held = Kept(tensor.detach())
        base = tensor if tensor._base is None else tensor._base
        if not isinstance(base, torch.nn.Parameter):
            kept.add(held)
        return held

    try:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda held: held.tensor):
            output = model(*made)
    except Exception as error:
        return {"raises": type(error).__name__}
    gc.collect()
    own = {id_of(tensor) for tensor in (*model.parameters(), *model.buffers())}
    given = {id_of(tensor) for tensor in made}
    storages = [held.tensor.untyped_storage() for held in kept]
    saved = {storage._cdata: storage.nbytes() for storage in storages}
    leaves = [leaf for leaf in tree_flatten(output)[0] if isinstance(leaf, torch.Tensor)]
    nn = torch.nn
    # A GPU computes these in kernels of their own, which keep other things than the CPU does.
    fused = (nn.RNNBase, nn.RNNCellBase, nn.MultiheadAttention)
    record = {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "trainable": sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad),
        "outputs": [list(leaf.shape) for leaf in leaves],
    }
    if any(isinstance(module, fused) for module in model.modules()):
        return record
    return {
        **record,
        "saved_bytes": sum(size for key, size in saved.items() if key not in own and key not in given),
        "saved_inputs": sum(size for key, size in saved.items() if key in given),
    }


class Kept:
    """What autograd holds in place of a tensor, for as long as it does."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


def id_of(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)


def measure_keras(model: Any, inputs: list[str]) -> dict[str, Any]:
    import keras
    import numpy

    made = []
    for each in inputs:
        shape, integers = shape_of(each)
        made.append(numpy.zeros((BATCH, *shape), "int32" if integers else "float32"))
    try:
        output = model(made[0] if len(made) == 1 else made, training=True)
    except Exception as error:
        return {"raises": type(error).__name__}
    return {
        "parameters": model.count_params(),
        "trainable": sum(int(numpy.prod(weight.shape)) for weight in model.trainable_variables),
        "outputs": [list(leaf.shape) for leaf in keras.tree.flatten(output)],
    }


def main(truth: str, classes: list[str]) -> int:
    warnings.simplefilter("ignore")
    for framework in ("torch", "keras"):
        # Each program runs in a process of its own, which has what is imported here.
        with contextlib.suppress(ImportError):
            importlib.import_module(framework)
    lines = []
    # What a program changes of a framework (hooks of all modules, the default dtype) ends with it.
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        for name in classes:
            for path in sorted(MISLEADING.glob(f"{name}_*.py")):
                for expression, inputs, told in targets(path.read_text()):
                    measured = pool.apply(measure, (path, expression, inputs))
                    record = {"target": f"{path.name}::{expression}", "told": told, **measured}
                    print(record, flush=True)
                    lines.append(json.dumps(record, separators=(",", ":")))
    about = "Measured by tests/oracle/measure_misleading.py, which says what each figure is."
    body = ",\n".join(lines)
    (TRUTH / f"{truth}.json").write_text(f'{{"about": {json.dumps(about)},\n"programs": [\n{body}\n]}}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
