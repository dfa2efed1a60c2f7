"""pyrallis: command lines and files of settings from dataclasses."""

from __future__ import annotations

from flake8_cnnmem.packages._settings_classes import FILES

MODULES = {"pyrallis": FILES}
