"""OmegaConf: configurations that code builds, merges and reads."""

from __future__ import annotations

from flake8_cnnmem.packages._config_objects import OMEGACONF

MODULES = {"omegaconf": OMEGACONF}
