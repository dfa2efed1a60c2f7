"""How a program sets PyTorch's caching allocator: by a variable of its environment."""

from __future__ import annotations

from flake8_cnnmem.runtime import Runtime

VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
"""The first one that is set counts (c10/core/AllocatorConfig.cpp)."""


def allocator_settings(run: Runtime) -> str:
    """The value that the code sets itself; empty where it sets none, or none that is known."""
    environment = run.data("environment")
    found = next((environment[name] for name in VARIABLES if name in environment), "")
    return found if isinstance(found, str) else ""
