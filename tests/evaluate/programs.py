"""Small programs run by the interpreter and by Python itself, so that natives are held against the real thing."""

from __future__ import annotations

import contextlib
import io
from typing import Any

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


def interpreted(text: str) -> Any:
    """What the interpreter leaves in `result`: plain values as they are, exceptions of the program as their class name."""
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
    variables: dict[str, Any] = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, "program.py", "exec"), variables)
    except Exception as error:
        return f"raises {type(error).__name__}"
    return variables["result"]
