"""ptflops: counts a model's operations."""

from __future__ import annotations

from flake8_cnnmem.packages._summaries import complexity, natives

MODULES = {"ptflops.*": natives(get_model_complexity_info=complexity)}
