"""hydra: a program that is given its configuration."""

from __future__ import annotations

from flake8_cnnmem.packages._config_objects import HYDRA

MODULES = HYDRA
