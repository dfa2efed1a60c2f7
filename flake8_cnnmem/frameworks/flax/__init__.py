"""Flax (linen and nnx), JAX as far as Flax models use it, and optax."""

from __future__ import annotations

from flake8_cnnmem.frameworks.flax.framework import FRAMEWORK
from flake8_cnnmem.frameworks.flax.namespaces import find_module

__all__ = ["FRAMEWORK", "find_module"]
