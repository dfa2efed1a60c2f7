"""ruamel.yaml: settings from files of the project."""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.data import RUAMEL, marked_up
from flake8_cnnmem.values import Value

MODULES: dict[str, dict[str, Value]] = {"ruamel": {}, "ruamel.yaml": {**marked_up, "YAML": RUAMEL}}
