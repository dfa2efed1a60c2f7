"""keras.ops.*, keras.random.* and keras.ops.image.*: the functions of Keras 3, by the stubs in `signatures/`."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.ops.tables import Functions

OPS = Functions("ops")
RANDOM = Functions("random")
IMAGE = Functions("image")
