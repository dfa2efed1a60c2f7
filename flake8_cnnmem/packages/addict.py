"""addict: a dict whose keys are attributes, and which makes those that are missing."""

from __future__ import annotations

from flake8_cnnmem.packages._config_objects import ADDICT

MODULES = {"addict": {"Dict": ADDICT}}
