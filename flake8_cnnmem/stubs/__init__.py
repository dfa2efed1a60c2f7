"""Stubs that a project writes: what functions and layers do whose source is not Python (CUDA extensions).

A folder of `.pyi` files, named by the option `cnnmem-stubs`, describes modules in Python's own stub syntax: signatures
as they are, shapes in jaxtyping's notation (`Float[Tensor, "batch channels length"]`), and what a call keeps for the
backward pass with the decorator `saves`. `shapes.py` is the notation, `reading.py` reads a file, and the framework that
a file imports binds what it says to values (`bind_stubs` in its folder). `cnnmem explain stubs` is the page for users.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def saves(*tensors: Any) -> Callable[[F], F]:
    """In a stub, what a call keeps for its backward pass: arguments by name, "result" (of several "result[1]"), and
    tensors of its own by their annotation (`Float32[Tensor, "batch heads length"]`). It changes nothing: it is read."""

    def decorate(function: F) -> F:
        return function

    return decorate
