"""torchviz: draws a graph, which is looked on at."""

from __future__ import annotations

from flake8_cnnmem.packages._summaries import natives

MODULES = {"torchviz.*": natives()}
