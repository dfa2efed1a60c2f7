"""GPU memory of one training step, read from the source code of a neural network.

    from flake8_cnnmem import GiB, report

    assert report("train.py").needs <= GiB(11)

What is documented here is in `flake8_cnnmem.api`; nothing of it is imported before somebody asks for it: flake8 imports
this package at each start.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
"""As `typing` has it, which would be half of what the import of this package costs."""

if TYPE_CHECKING:
    from flake8_cnnmem.api import (
        Cause,
        GiB,
        Layer,
        Memory,
        MiB,
        NotAnalysed,
        NotKnown,
        Report,
        analyse,
        report,
    )

__version__ = "0.1.0"

__all__ = [
    "Cause",
    "GiB",
    "Layer",
    "Memory",
    "MiB",
    "NotAnalysed",
    "NotKnown",
    "Report",
    "analyse",
    "report",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(f"{__name__}.api"), name)
    globals()[name] = found
    return found
