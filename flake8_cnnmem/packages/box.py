"""python-box: a dict whose keys are attributes."""

from __future__ import annotations

from flake8_cnnmem.packages._config_objects import BOX

MODULES = {"box": {"Box": BOX}}
