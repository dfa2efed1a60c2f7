"""oyaml: PyYAML with the order of its keys."""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.data import marked_up

MODULES = {"oyaml": marked_up}
