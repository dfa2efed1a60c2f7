"""Small programs run by the interpreter and by Python itself, so that natives are held against the real thing."""

from __future__ import annotations

import contextlib
import io
import sys
import types
import warnings
from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Raised

UNKNOWN = "unknown_value = input()\n"
"""Put before a program that needs a value which nobody knows."""


def evaluate(text: str) -> tuple[dict[str, Any], Interpreter]:
    """The module's names after the interpreter has run a program, strictly: our own mistakes come through."""
    run = Interpreter([], strict=True)
    module = Module("__main__", Source("program.py", text), lazy=False)
    run.run_module(module)
    return module.variables, run


def with_batch(text: str) -> Any:
    """The program's `result` where the name `n` stands for the batch size."""
    run = Interpreter([], strict=True)
    run.builtins = {**run.builtins, "n": Batch(1)}
    module = Module("__main__", Source("program.py", text), lazy=False)
    run.run_module(module)
    return module.variables["result"]


def interpreted(text: str) -> Any:
    """What the interpreter leaves in `result`; for an exception of the program "raises" and its class."""
    variables, run = evaluate(text)
    if "result" not in variables:
        raise AssertionError(f"no result: {[failure.reason for failure in run.failures]}")
    found = variables["result"]
    if isinstance(found, Unknown) and found.reason.startswith("the code raises "):
        return "raises " + found.reason.removeprefix("the code raises ").partition(":")[0]
    return plain(run, found)


def plain(run: Interpreter, value: Any) -> Any:
    """A value as Python would have it: payloads for instances of builtin types' subclasses, text for other ones."""
    if isinstance(value, Instance):
        if value.payload is not None:
            return plain(run, value.payload)
        with contextlib.suppress(Raised):
            return run.call(run.builtin("repr"), value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(plain(run, item) for item in value)
    if isinstance(value, dict):
        return {plain(run, key): plain(run, item) for key, item in value.items()}
    return value


def real(text: str) -> Any:
    """What Python leaves in `result`."""
    module = types.ModuleType("program")
    sys.modules["program"] = module
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(text, "program.py", "exec", dont_inherit=True), module.__dict__)
        return as_plain(module.__dict__["result"])
    except Exception as error:
        return f"raises {type(error).__name__}"
    finally:
        del sys.modules["program"]


def as_plain(value: Any) -> Any:
    """A value as `plain` gives it: subclasses of builtin types as what they hold, other objects as text."""
    if isinstance(value, (bool, bytes, bytearray)):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float, complex)):
        own: Any = next(kind for kind in (int, float, complex) if isinstance(value, kind))
        return own.__new__(own, value)
    if isinstance(value, (list, tuple, set, frozenset)):
        kind: Any = next(kind for kind in (list, tuple, set, frozenset) if isinstance(value, kind))
        return kind(map(as_plain, value))
    if isinstance(value, dict):
        return {as_plain(key): as_plain(item) for key, item in value.items()}
    if value is None or isinstance(value, (range, slice, type(...))):
        return value
    return repr(value)
