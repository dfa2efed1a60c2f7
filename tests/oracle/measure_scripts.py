"""Confirms with the frameworks what fixtures/scripts say: fixtures/truth/scripts.json.

Run by hand: `python tests/oracle/measure_scripts.py ZOO [TEXT]`, where ZOO is the folder into which the wheels of
torchvision and timm are unpacked. The scripts are not run: of each, the imports, definitions and plain constants are
executed (packages that are not there are stood in for), then its model is made as script_recipes.py says.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import sys
import types
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

sys.path.insert(0, str(Path(__file__).parent))
import torchvision_ops  # noqa: F401  (declares the operators, before torchvision is imported)
from script_recipes import SCRIPTS
from torch_measure import cross_entropy, steps

FIXTURES = Path(__file__).parents[2] / "fixtures"
HARMLESS = {"dict", "list", "tuple", "int", "float", "range", "get"}
ABOUT = (
    "Facts of fixtures/scripts as a reader finds them; parameters and trainable are the framework's own count. "
    "input_shape: without the batch. dtype: float32, bfloat16, or mixed_* for autocast and mixed precision policies. "
    "sources: file and line of what states each fact. models: each with the line at which it is built; several are "
    "trained in one step. needs: packages whose source must be found. saved_bytes and peak_bytes: as in "
    "torchvision.json, with the script's own optimizer and batch, where they can be measured."
)
LOSSES: dict[str, Any] = {
    "nll_loss": nn.functional.nll_loss,
    "cross_entropy": cross_entropy,
    "audio": lambda output, target: nn.functional.nll_loss(output.squeeze(), target[:, 0, 0].long()),
}


class Lightning(nn.Module):
    """As much of a LightningModule as building a model takes."""

    def save_hyperparameters(self) -> None:
        pass


class StandIn(types.ModuleType):
    """A package that is not there."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "LightningModule":
            return Lightning
        return type(name, (), {}) if name[0].isupper() else MagicMock(name=name)


class StandsIn:
    """Finds any package that nothing else finds."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        known = ("pytorch_lightning", "lightning", "albumentations", "torchaudio", "torchsummary", "tqdm", "PIL", "click",
                 "matplotlib", "torchvision.datasets")  # fmt: skip
        return ModuleSpec(name, self, is_package=True) if name.startswith(known) else None

    def create_module(self, spec: ModuleSpec) -> StandIn:
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def plain(node: ast.expr) -> bool:
    """Whether a value is a constant of the script, safe to evaluate."""
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    return all(getattr(call.func, "id", getattr(call.func, "attr", "")) in HARMLESS for call in calls)


def line_of(path: Path, text: str) -> int:
    lines = path.read_text().splitlines()
    found = [number for number, line in enumerate(lines, 1) if text in line]
    if not found:
        raise SystemExit(f"{path}: no line has {text!r}")
    return found[0]


def namespace(path: Path, model: dict[str, Any]) -> dict[str, Any]:
    """The script's names, as far as its model needs them."""
    text = path.read_text().replace("'imagenet'", "None").replace('"imagenet"', "None")
    lines = text.splitlines()
    first, last = model.get("run", ("", ""))
    begin, end = (line_of(path, first), line_of(path, last)) if first else (1, 0)
    names: dict[str, Any] = {"__name__": "script", "__file__": str(path), **EXTRA}
    for statement in ast.parse(text).body:
        definition = isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))
        constant = isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value and plain(statement.value)
        asked = begin <= statement.lineno <= end and not any(
            lines[statement.lineno - 1].startswith(skipped) for skipped in model.get("skip", ())
        )
        if not (definition or constant or asked):
            continue
        try:
            exec(compile(ast.Module([statement], []), str(path), "exec", dont_inherit=True), names)
        except ImportError:
            for alias in statement.names:  # type: ignore[attr-defined]
                names[alias.asname or alias.name.partition(".")[0]] = MagicMock(name=alias.name)
        except NameError:
            if not constant:
                raise
    return names


def frozen_teacher(model: nn.Module, package: Any) -> nn.Module:
    model.fc = package.Linear(model.fc.in_features, 10)
    return model.requires_grad_(False)


def called(model: Any, shape: tuple[int, ...]) -> Any:
    import numpy

    model(numpy.zeros((1, *shape), "float32"))
    return model


def shape_only(*shape: int) -> Any:
    return types.SimpleNamespace(img_shape=shape)


EXTRA = {"frozen_teacher": frozen_teacher, "called": called, "shape_only": shape_only}


@contextlib.contextmanager
def surroundings(path: Path, zoo: str) -> Iterator[None]:
    """The search path and the stand-ins under which a script's definitions run."""
    before = set(sys.modules)
    sys.path[:0] = [str(path.parent), zoo]
    sys.meta_path.append(StandsIn())  # type: ignore[arg-type]
    try:
        yield
    finally:
        sys.meta_path.pop()
        del sys.path[:2]
        for name in set(sys.modules) - before:
            if getattr(sys.modules[name], "__file__", None) and str(FIXTURES) in str(sys.modules[name].__file__):
                del sys.modules[name]


def make_optimizer(facts: dict[str, Any]) -> Any:
    kinds = {kind.__name__.lower(): kind for kind in vars(torch.optim).values() if isinstance(kind, type)}
    options = {**({"lr": 0.1} if facts["name"] == "sgd" else {}), **facts.get("options", {})}
    return lambda parameters: kinds[facts["name"]](parameters, foreach=True, **options)


def torch_model(names: dict[str, Any], model: dict[str, Any], recipe: dict[str, Any], record: dict[str, Any]) -> None:
    shape = model.get("input_shape", recipe["input_shape"])
    if recipe.get("dtype") == "bfloat16":
        # A conversion in place is not possible on fake tensors.
        torch.set_default_dtype(torch.bfloat16)
    nn.Module.load_state_dict = lambda *args, **kwargs: None  # type: ignore[assignment, method-assign]
    nn.init._no_grad_trunc_normal_ = lambda tensor, *args, **kwargs: tensor  # type: ignore[assignment]
    with FakeTensorMode(allow_non_fake_inputs=True):
        module = eval(model["make"], names)
        record["parameters"] = sum(p.numel() for p in module.parameters())
        record["trainable"] = sum(p.numel() for p in module.parameters() if p.requires_grad)
        module(torch.randn(2, *shape))
        if "loss" in recipe:
            loss, optimizer = LOSSES[recipe["loss"]], make_optimizer(recipe["optimizer"])
            saved, record["peak_bytes"] = steps(module, [shape], recipe["batch_size"], None, loss, optimizer)
            if recipe.get("saved", True):
                record["saved_bytes"] = saved
    torch.set_default_dtype(torch.float32)


def keras_model(names: dict[str, Any], model: dict[str, Any], recipe: dict[str, Any], record: dict[str, Any]) -> None:
    import keras

    keras.mixed_precision.set_global_policy(recipe.get("dtype", "float32"))
    module = eval(model["make"], names)
    keras.mixed_precision.set_global_policy("float32")
    shape = model.get("input_shape", recipe["input_shape"])
    given = module.input_shape[1:] if getattr(module, "inputs", None) else shape
    assert list(given) == list(shape), (given, shape)
    record["parameters"] = module.count_params()
    record["trainable"] = sum(int(w.shape.num_elements()) if hasattr(w.shape, "num_elements") else
                              int(torch.Size(w.shape).numel()) for w in module.trainable_weights)  # fmt: skip


def prepare(zoo: str) -> None:
    """Nothing is downloaded: weights are left out, data sets are a few zeros."""
    sys.path.insert(0, zoo)
    import torchvision.models._api as api

    api.WeightsEnum.get_state_dict = lambda self, *args, **kwargs: {}
    torch.load = lambda *args, **kwargs: {}
    sys.path.remove(zoo)
    try:
        import keras
        import numpy
    except ImportError:
        return
    for name, shape in (("mnist", (8, 28, 28)), ("fashion_mnist", (8, 28, 28)), ("cifar10", (8, 32, 32, 3))):
        images = numpy.zeros(shape, "uint8")
        pair = (images, numpy.zeros((8,) if name != "cifar10" else (8, 1), "uint8"))
        getattr(keras.datasets, name).load_data = lambda pair=pair: (pair, pair)


def main(zoo: str, only: str = "") -> None:
    prepare(zoo)
    records = []
    for script, recipe in SCRIPTS.items():
        if only not in script:
            continue
        path = FIXTURES / "scripts" / script
        framework = recipe.get("framework", "torch")
        record: dict[str, Any] = {"script": script, "framework": framework, "models": []}
        for model in recipe["models"]:
            made: dict[str, Any] = {"name": model["name"], "line": line_of(path, model["built"])}
            if "input_shape" in model:
                made["input_shape"] = model["input_shape"]
            with surroundings(path, zoo):
                names = namespace(path, model)
                (torch_model if framework == "torch" else keras_model)(names, model, recipe, made)
            record["models"].append(made)
        for key in ("input_shape", "batch_size", "optimizer"):
            record[key] = recipe[key]
        record["dtype"] = recipe.get("dtype", "float32")
        record["sources"] = {}
        for fact, text in recipe["at"].items():
            file, _, text = text.rpartition("|")
            file = file or script
            record["sources"][fact] = f"{file}:{line_of(FIXTURES / 'scripts' / file, text)}"
        if "needs" in recipe:
            record["needs"] = recipe["needs"]
        records.append(record)
        print(script, record["models"], flush=True)
    if only:
        return
    target = FIXTURES / "truth" / "scripts.json"
    lines = ",\n".join(json.dumps(record) for record in records)
    target.write_text(f'{{"about": {json.dumps(ABOUT)},\n"scripts": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
