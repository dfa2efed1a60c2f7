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


def named(framework: str, version: str = "") -> str:
    """`torch 2.13`: the framework with the version whose rules are used. With a `version` that a project asks for, that
    and the one whose steps were measured."""
    own = next((f"{name} {number}" for name, number in versions_of(framework).items()), framework)
    return f"{version}, memory as in {own}" if version else own
