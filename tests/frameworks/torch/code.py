"""Running lines of PyTorch code in the interpreter, for tests."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import Call, Tensor, Weight
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


class Ran:
    """What some code left behind."""

    def __init__(self, code: str) -> None:
        self.run = Interpreter([], strict=True)
        self.log: list[Call] = []
        self.run.log = self.log
        self.module = Module("__main__", Source("code.py", code), lazy=False)
        self.run.run_module(self.module)

    def __getitem__(self, name: str) -> Any:
        return self.module.variables[name]

    @property
    def problems(self) -> list[str]:
        return [call.problem.what for call in self.log if call.problem is not None]

    @property
    def failures(self) -> list[str]:
        return [cause.reason for cause in self.run.failures]

    @property
    def kinds(self) -> list[str]:
        return [call.op.kind for call in self.log]


def size(value: Any) -> Any:
    return "?" if isinstance(value, Unknown) else value if isinstance(value, int) else repr(value)


def shapes(value: Any) -> Any:
    """Nested tensors as a flat list of [dtype, *shape], sizes that are not known as "?"; anything else as it is."""
    if isinstance(value, Tensor):
        dtype = "float32" if value.dtype == "float" else value.dtype
        return [[dtype, *("?" if isinstance(value.shape, Unknown) else [size(each) for each in value.shape])]]
    if isinstance(value, (list, tuple)) and any(isinstance(item, (Tensor, list, tuple)) for item in value):
        return [shape for item in value for shape in listed(shapes(item))]
    if isinstance(value, Unknown):
        return f"unknown: {value.reason}"
    return list(value) if isinstance(value, tuple) else value


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def declared(weights: list[tuple[str, Weight]]) -> list[list[Any]]:
    return [[name, list(weight.shape) if isinstance(weight.shape, tuple) else "?"] for name, weight in weights]
