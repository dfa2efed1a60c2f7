"""fvcore: counts a model's operations."""

from __future__ import annotations

from flake8_cnnmem.packages._summaries import analysis, natives

MODULES = {"fvcore.nn": natives(FlopCountAnalysis=analysis, flop_count=analysis)}
