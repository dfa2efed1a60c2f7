"""tyro: command lines from dataclasses and functions."""

from __future__ import annotations

from flake8_cnnmem.packages._settings_classes import TYRO

MODULES = {"tyro": TYRO}
