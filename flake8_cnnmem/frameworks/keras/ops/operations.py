"""The functions of keras.ops, keras.random, keras.backend and tensorflow, by the stubs in `signatures/`."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.ops.functions import Functions

OPS = Functions("ops")
RANDOM = Functions("random")
IMAGE = Functions("image")

BACKEND = Functions("backend")
"""keras.backend of Keras 1 and 2, and what Keras 3 keeps of it."""

TF = Functions("tensorflow")

AREAS = ("math", "nn", "image", "random", "linalg", "signal", "dtypes", "bitwise")

TENSORFLOW = {"": TF, **{area: Functions(f"tensorflow_{area}", TF) for area in AREAS}}
"""tensorflow's functions by module: "" is tensorflow itself."""
