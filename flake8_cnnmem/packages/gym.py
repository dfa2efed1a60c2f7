"""gym: what gymnasium was before."""

from __future__ import annotations

from flake8_cnnmem.packages.gymnasium import modules

MODULES = modules("gym")
