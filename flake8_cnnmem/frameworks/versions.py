"""Whose rules are used: shapes, parameters, and what a training step keeps are those of these versions.

What they were measured with stands in fixtures/truth; a claim of exactness is about them.
"""

from __future__ import annotations

from collections.abc import Mapping

from flake8_cnnmem import frameworks
from flake8_cnnmem.supported import FRAMEWORKS


def versions_of(framework: str) -> Mapping[str, str]:
    """A framework's own version first, then that of what computes for it; empty where there is no such framework."""
    return frameworks.named(framework).versions if framework in FRAMEWORKS else {}


def named(framework: str) -> str:
    """`torch 2.13`: the framework with the version whose rules are used."""
    return next((f"{name} {version}" for name, version in versions_of(framework).items()), framework)
