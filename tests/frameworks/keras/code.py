"""Running lines of Keras code in the interpreter, for tests."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown


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


def shapes(value: Any) -> Any:
    """Nested tensors as a flat list of shapes with None for the batch and "?" for what is not known."""
    if isinstance(value, (list, tuple)):
        return [shape for item in value for shape in shapes(item)]
    if isinstance(value, dict):
        return [shape for key in sorted(value) for shape in shapes(value[key])]
    if isinstance(value, Tensor) and isinstance(value.shape, tuple):
        return [
            [None if isinstance(size, Batch) else "?" if isinstance(size, Unknown) else size for size in value.shape]
        ]
    return [repr(value)]
