"""PyYAML: settings from files of the project."""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.data import marked_up

MODULES = {"yaml": marked_up}
