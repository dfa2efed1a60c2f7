"""libcst, imported in 40% of the time: its node classes are made as those of this package are.

libcst has over two hundred dataclasses, and most of its import is Python's decorator writing eight methods for each.
While it is imported the decorator is the one of `lazy_dataclass`, for classes of libcst alone; what comes out is the
same to whoever uses them, another plugin too. Where libcst is there already it stays as it is.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flake8_cnnmem import lazy_dataclass

__all__ = ["cst"]

OPTIONS = {"repr", "eq", "order", "frozen", "slots"}
"""Of the decorator's options those that `lazy_dataclass` has."""

python_own: Any = dataclasses.dataclass


def decorator(cls: type | None = None, /, **options: Any) -> Any:
    """In the place of `dataclasses.dataclass`."""
    if not options.get("unsafe_hash"):
        options.pop("unsafe_hash", None)

    def make(cls: type) -> Any:
        ours = cls.__module__.startswith("libcst.") and options.keys() <= OPTIONS
        maker: Callable[..., Any] = lazy_dataclass.made if ours else python_own
        return maker(cls, **options)

    return make if cls is None else make(cls)


@contextmanager
def quick_classes() -> Iterator[None]:
    """Python 3.14 asks for annotations otherwise."""
    if "libcst" in sys.modules or sys.version_info >= (3, 14):
        yield
        return
    stand_in: Any = decorator
    dataclasses.dataclass = stand_in
    try:
        yield
    finally:
        dataclasses.dataclass = python_own


with quick_classes():
    import libcst as cst
