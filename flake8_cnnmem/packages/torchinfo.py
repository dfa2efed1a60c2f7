"""torchinfo: a table of a model, which runs it once."""

from __future__ import annotations

from flake8_cnnmem.packages._summaries import natives, torchinfo

MODULES = {"torchinfo.*": natives(summary=torchinfo)}
