"""Graphs of models that are written out as source, for tests that hold the replay against measured truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flake8_cnnmem import dims, models
from flake8_cnnmem.graph import Model
from flake8_cnnmem.memory.dtypes import resolve, size_of
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.source import Source, load
from flake8_cnnmem.training import Fact, Optimizer, Training
from tests.conftest import unpacked

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "fixtures" / "memory" / "torch"


def truth(name: str) -> dict[str, Any]:
    """A file of fixtures/truth."""
    content = json.loads((ROOT / "fixtures" / "truth" / f"{name}.json").read_text())
    assert isinstance(content, dict)
    return content


def graph(source: Source, target: str, input_shape: tuple[int, ...], each: bool = False) -> Model:
    """The model that an expression in a file builds, fed with an input of this shape (without the batch), or, with
    `each`, with as many inputs of it as the code calls it on."""
    (root,) = models.evaluate_target(source, target, [], True)
    built = models.build_model(root, models.Wanted(None, input_shape) if each else models.Wanted(input_shape))
    assert built is not None
    assert not built.model.causes
    return built.model


def fixture(target: str, input_shape: tuple[int, ...]) -> Model:
    """A model of fixtures/memory/torch."""
    name, _, expression = target.partition("::")
    return graph(load(str(MODELS / name)), expression, input_shape)


def named(target: str, input_shape: tuple[int, ...], **options: bool) -> Model:
    """The model of `path::expression`, a path of this repository or of a package of the zoo."""
    path, _, expression = target.partition("::")
    package = path.partition("/")[0]
    where = ROOT / path if (ROOT / path).exists() else unpacked(package) / path
    return graph(load(str(where)), expression, input_shape, **options)


def saved_and_inputs(estimate: Estimate, model: Model) -> int:
    """What is kept for the backward pass and the inputs, whether an op keeps them or not: what was measured."""
    batch = estimate.batch_size
    sizes = (
        dims.at_batch(dims.product(tensor.shape), batch) * size_of(resolve(tensor.dtype, "float32"))  # type: ignore[arg-type,operator]
        for tensor in model.inputs
    )
    return sum(size for _, size in estimate.kept_by) + sum(sizes)


def training_of(case: dict[str, Any]) -> Training:
    optimizer = Optimizer(case.get("optimizer", "adam"), tuple(case.get("options", {}).items()))
    return Training(
        Fact(case["batch_size"], "test"),
        Fact(case.get("dtype", "float32"), "test"),
        Fact(optimizer, "test"),
        loss=Fact(case.get("loss", "cross_entropy"), "test"),
    )
