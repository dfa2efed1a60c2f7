"""ml_collections: a dict of settings whose keys are attributes."""

from __future__ import annotations

from flake8_cnnmem.packages._config_objects import collections

MODULES = {"ml_collections": collections, "ml_collections.config_dict": collections}
