"""Lightning under another name."""

from __future__ import annotations

from flake8_cnnmem.packages.lightning import MODULES, STAND_INS

__all__ = ["MODULES", "STAND_INS"]
