"""torchsummary: a table of a model, which runs it once."""

from __future__ import annotations

from flake8_cnnmem.packages._summaries import natives, torchsummary

MODULES = {"torchsummary.*": natives(summary=torchsummary, summary_string=torchsummary)}
