"""Every native, called with arguments that nobody would give it: it ends, and raises only what a program can catch."""

from __future__ import annotations

import pkgutil
import random
import re
from collections import deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from pathlib import PurePath
from typing import Any

import pytest

from flake8_cnnmem import frameworks, packages
from flake8_cnnmem.dims import Batch, is_size
from flake8_cnnmem.evaluate import builtins, stdlib
from flake8_cnnmem.evaluate.budget import Exhausted
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.frameworks import numpy
from flake8_cnnmem.frameworks.flax import namespaces as flax_namespaces
from flake8_cnnmem.frameworks.flax.jax import members as flax_members
from flake8_cnnmem.frameworks.keras import activations, records, stubs, tensorflow, tensors, utilities
from flake8_cnnmem.frameworks.keras import data as keras_data
from flake8_cnnmem.frameworks.keras import modules as keras_modules
from flake8_cnnmem.frameworks.keras.ops import backend, operations
from flake8_cnnmem.frameworks.torch import distributions, namespaces, registry
from flake8_cnnmem.frameworks.torch.distributed import checkpointing, fsdp, processes
from flake8_cnnmem.frameworks.torch.nn.layer import LAYERS
from flake8_cnnmem.frameworks.torch.utils_data import dataset
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import (
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Instance,
    Missing,
    Namespace,
    Native,
    Property,
    Raised,
    StaticMethod,
)

PROGRAM = """\
class Plain:
    def method(self): return 1
class Dict(dict): pass
class Iterable:
    def __iter__(self): return iter([1])
class Derived(unknown_name_of_a_base): pass
def function(x, *args, **kwargs): return x
plain, mapping, iterable = Plain(), Dict(x=1), Iterable()
"""

CALLS = 4
STEPS = 300_000


def tables() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "builtins", builtins.BUILTINS
    for room in sorted(set(stdlib.ROOMS.values())):
        for name, table in stdlib.tables(room).items():
            yield name, dict(table)
    for name, table in numpy.MODULES.items():
        yield name, table
    yield "numpy.ndarray", numpy.members.MEMBERS
    for name, found in flax_namespaces.MODULES.items():
        yield name, dict(found)
    yield "jax.Array", flax_members.METHODS
    yield "jax.Array.at", {"at": flax_members.AT}
    yield from of_packages()
    yield "torch.utils.data", dataset.DATA
    yield "torch.multiprocessing", processes.MULTIPROCESSING
    yield "torch.distributed", processes.GROUPS
    yield "torch.distributed.fsdp", {**fsdp.FSDP, **fsdp.WRAP, **checkpointing.CONTENTS}
    yield "torch.distributions", distributions.NAMES
    yield "tensorflow.io", records.FILES
    yield "tensorflow_datasets", records.NAMES
    yield from frameworks_own()
    yield "keras.preprocessing", {**keras_data.MEMBERS, "Iterator": keras_data.ITERATOR}


def of_packages() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every file and folder of third-party packages."""
    for each in pkgutil.iter_modules(packages.__path__):
        found = packages.package(each.name)
        for table in ("MODULES", "STAND_INS", "PLACED"):
            for name, names in getattr(found, table, {}).items():
                if not callable(names):
                    yield f"{name} ({table.lower()})", dict(names)


def frameworks_own() -> Iterator[tuple[str, dict[str, Any]]]:
    """Functions, methods, layers and models of PyTorch and Keras."""
    yield "torch", registry.TORCH
    yield "torch.Tensor", registry.METHODS
    yield "torch.nn.functional", registry.FUNCTIONAL
    yield "torch.nn", LAYERS
    for name, contents in namespaces.CONTENTS.items():
        if name.startswith("torch.") and isinstance(contents, Mapping) and contents is not registry.TORCH:
            yield name, dict(contents)
    yield "KerasTensor", dict(tensors.METHODS)
    for name, words in KERAS.items():
        module = frameworks.find_module(name)
        assert module is not None
        yield name, {word: found for word in words if (found := module.lookup(word)) is not MISSING}


KERAS: dict[str, Iterable[str]] = {
    "keras.ops": operations.OPS.entries,
    "keras.backend": [*operations.BACKEND.entries, *backend.MEMBERS],
    "keras.layers": stubs.LAYERS,
    "keras.activations": activations.MEMBERS,
    "keras.utils": utilities.MEMBERS,
    "keras.models": keras_modules.MODELS,
    "tensorflow": [*operations.TF.entries, *tensorflow.MEMBERS],
    **{f"tensorflow.{area}": operations.TENSORFLOW[area].entries for area in operations.AREAS},
}
"""Modules of Keras and TensorFlow, and what is looked up in them."""

TABLES = dict(tables())


Before = Callable[[], list[Any]]


def natives(value: Any, receivers: Before, seen: set[int]) -> Iterator[tuple[Any, Before]]:
    """A native or class, and the natives of the class, each with what may come before the odd arguments."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Native):
        yield value, receivers
    elif isinstance(value, Class):
        yield value, list
        for name, member in list(value.namespace.items()):
            inner = member.fget if isinstance(member, Property) else getattr(member, "function", member)
            if isinstance(member, StaticMethod):
                before: Before = list
            elif isinstance(member, ClassMethod) or name == "__new__":
                before = lambda: [value]  # noqa: E731
            else:
                before = lambda: instances(value)  # noqa: E731
            yield from natives(member if isinstance(member, Native) else inner, before, seen)


def instances(cls: Class) -> list[Any]:
    """A receiver for a class's methods, where one is easily had."""
    if cls.host is not None:
        try:
            return [cls.host()]
        except TypeError:
            return [None]
    return [Instance(cls)]


def odd(values: dict[str, Any]) -> list[Any]:
    array = Tensor((2,), "int64", data=(1, 2), framework="numpy")
    return [
        1, -1, 0, 2.5, float("nan"), float("inf"), True, None, "ab", "", "a%sb", "{}", b"x", [1, 2], [], (1,), (),
        {"a": 1}, {}, {1}, frozenset([1]), range(3), slice(1), ..., Unknown("odd"), [Unknown("odd")],
        {"a": Unknown("odd")}, Batch(1), Tensor((2, 3)), Tensor((Batch(1), 3, 8, 8)), Tensor(Unknown("odd")), array,
        Weight((3, 3)), Tensor((Batch(1), 8, 8, 3), framework="keras"),
        Tensor((Batch(1), 4, 6), framework="flax"), iter([1]), 10**30, builtins.BUILTINS["len"],
        Bound(values["function"], 1), frameworks.find_module("numpy"), *(values[name] for name in (
            "Plain", "plain", "mapping", "iterable", "function", "Derived")),
    ]  # fmt: skip


VALUES = (
    int, float, complex, bool, str, bytes, bytearray, tuple, list, dict, set, frozenset, range, slice, deque, Iterator,
    type(None), type(...), type(NotImplemented), KeysView, ValuesView, ItemsView, re.Pattern, re.Match, PurePath,
    Tensor, Batch, Unknown, Missing, Native, Bound, Property, StaticMethod, ClassMethod, Class, Instance, Namespace,
    Function, Module,
)  # fmt: skip
"""The kinds of values that there are (`values.Value`)."""


def no_values(result: object, depth: int = 3) -> list[object]:
    """What is no value of the interpreted program, in what a native gives; tensors whose sizes are none."""
    if not isinstance(result, VALUES):
        return [result]
    if isinstance(result, Tensor):
        sizes = result.shape if isinstance(result.shape, tuple) else ()
        return [] if all(map(is_size, sizes)) else [result]
    inner: Iterable[object] = ()
    if depth and isinstance(result, (tuple, list)):
        inner = result
    if depth and isinstance(result, dict):
        inner = result.values()
    return [each for item in inner for each in no_values(item, depth - 1)]


@pytest.mark.parametrize("name", TABLES)
def test_only_exceptions_of_the_program_come_out_of_a_native(name: str) -> None:
    run = Interpreter([], strict=True)
    module = Module("__main__", Source("program.py", PROGRAM), lazy=False)
    run.run_module(module)
    chance = random.Random(name)
    for entry in TABLES[name].values():
        for native, before in natives(entry, list, set()):
            for _ in range(CALLS):
                pool = odd(module.variables)
                args = [*before(), *(chance.choice(pool) for _ in range(chance.choice([0, 1, 1, 2, 3])))]
                run.budget.steps, run.budget.depth = STEPS, 0
                try:
                    result = run.call(native, *args)
                    assert not no_values(result), f"{native} gives {no_values(result)}"
                    if isinstance(result, Iterator):
                        for _, _ in zip(range(20), result, strict=False):
                            pass
                except (Raised, Exhausted):
                    pass


ODD_SIZES = {
    "samples listed by cluster": ("from sklearn.datasets import make_blobs as f\nx = f([100, 50], 2)[0]", (150, 2)),
    "features that are no number": ("from sklearn.datasets import make_blobs as f\nx = f(100, [2])[0]", (100, "?")),
    "a fraction of rows": ("import numpy as np\nx = np.eye(2.5)", ("?", "?")),
    "no number of steps": ("import numpy as np\nx = np.linspace(0, 1, num=None)", ("?",)),
    "a truth value": ("import numpy as np\nx = np.random.randn(True)", (1,)),
    "a width listed": ("from keras.utils import to_categorical\nx = to_categorical([1, 2], [3])", (2, "?")),
    "a fraction of a length": ("from keras.utils import pad_sequences\nx = pad_sequences([[1]], 2.5)", (1, "?")),
    "a permutation of a list": ("import torch\nx = torch.randperm([3])", ("?",)),
    "a border that is none": (
        "import cv2, numpy as np\nx = cv2.copyMakeBorder(np.zeros((3, 4, 3)), 1, 1, None, 1, 0)", (5, "?", 3)),
}  # fmt: skip
"""What is given where a size belongs, and the shape that comes of it."""


@pytest.mark.parametrize(("program", "shape"), ODD_SIZES.values(), ids=ODD_SIZES)
def test_what_is_no_size_is_none_in_a_shape(program: str, shape: tuple[object, ...]) -> None:
    found = variables(program)["x"]
    assert isinstance(found, Tensor)
    assert isinstance(found.shape, tuple)
    assert tuple("?" if isinstance(size, Unknown) else size for size in found.shape) == shape


REFUSED = {
    "a class named by a number": "x = type(5, (), {})",
    "a module named by a number": "import torch\nx = torch.nn.ModuleDict()\nx[3] = torch.nn.Linear(2, 3)",
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
def test_what_is_no_name_is_refused(program: str) -> None:
    run = Interpreter([], strict=True)
    run.run_module(Module("__main__", Source("program.py", f"{program}\n"), lazy=False))
    assert [failure.reason.partition(":")[0] for failure in run.failures] == ["the code raises TypeError"]


def variables(program: str) -> Mapping[str, object]:
    run = Interpreter([], strict=True)
    module = Module("__main__", Source("program.py", f"{program}\n"), lazy=False)
    run.run_module(module)
    assert run.failures == []
    return module.variables
