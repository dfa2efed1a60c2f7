"""safetensors: weights in files, which nobody reads here."""

from __future__ import annotations

from flake8_cnnmem.values import Value

MODULES: dict[str, dict[str, Value]] = {"safetensors": {}, "safetensors.torch": {}}
