"""attrs, by its newer name."""

from __future__ import annotations

from flake8_cnnmem.packages.attr import NAMES

MODULES = {"attrs": NAMES}
