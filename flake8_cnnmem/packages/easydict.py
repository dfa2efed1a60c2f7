"""easydict: a dict whose keys are attributes."""

from __future__ import annotations

from flake8_cnnmem.packages._config_objects import EASY

MODULES = {"easydict": {"EasyDict": EASY}}
