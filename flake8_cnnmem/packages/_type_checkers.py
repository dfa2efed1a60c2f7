"""Packages that check the types of arguments when a function is called: what they decorate stays as it is.

They write a function's checks as source text when it is defined, which tells nothing of the function.
"""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.modules import identity
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Native, Value


def decorator(name: str) -> Native:
    """`@check`, `@check(options)` and `check(function, options)` alike."""

    def decorate(run: Runtime, *args: Value, **options: Value) -> Value:
        return args[0] if args else identity(name)

    return Native(name, decorate, propagate_unknown=False)
