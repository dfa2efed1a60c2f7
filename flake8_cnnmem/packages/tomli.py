"""tomli: settings from files of the project."""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.data import TOML

MODULES = {"tomli": TOML}
