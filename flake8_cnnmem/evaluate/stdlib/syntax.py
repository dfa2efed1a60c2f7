"""`ast`: the one function of it that settings are read with."""

from __future__ import annotations

import ast

from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.stdlib.data import as_value
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

names = Names()

LONGEST = 10_000
"""Letters of a literal that is read: Python's own reader takes more than time in proportion for some texts."""


@names.function("literal_eval", propagate_unknown=False)
def literal_eval(run: Runtime, node_or_string: Value) -> Value:
    """ValueError and SyntaxError as Python raises them for what is no literal."""
    text = payload(node_or_string)
    if not isinstance(text, str):
        return text if isinstance(text, Unknown) else run.unknown("ast.literal_eval of a syntax tree is not followed")
    if len(text) > LONGEST:
        return run.unknown("a literal is too long to be read")
    run.spend(1 + len(text))
    try:
        return as_value(run, ast.literal_eval(text))
    except (ValueError, SyntaxError) as error:
        raise run.error(type(error).__name__, str(error)) from None
    except (MemoryError, RecursionError):
        return run.unknown("a literal is nested too deeply")


MODULES: dict[str, dict[str, Value]] = {"ast": dict(names)}
