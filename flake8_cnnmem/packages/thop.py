"""thop: counts a model's operations."""

from __future__ import annotations

from flake8_cnnmem.packages._summaries import natives, profile

MODULES = {"thop.*": natives(profile=profile)}
