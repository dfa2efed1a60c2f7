"""yacs: a tree of settings with a file and a command line to change them."""

from __future__ import annotations

from flake8_cnnmem.packages._config_objects import yacs as config
from flake8_cnnmem.values import Value

MODULES: dict[str, dict[str, Value]] = {"yacs": {}, "yacs.config": config}
