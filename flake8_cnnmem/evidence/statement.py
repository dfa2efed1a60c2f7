"""One thing that the code says, and where."""

from __future__ import annotations

from typing import Generic, TypeVar

from flake8_cnnmem.graph import Site
from flake8_cnnmem.lazy_dataclass import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Statement(Generic[T]):
    """A value of a fact, and the place in the code that states it."""

    value: T
    site: Site | None
