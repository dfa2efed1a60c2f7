"""kerastuner: what keras_tuner was called first."""

from __future__ import annotations

from flake8_cnnmem.packages.keras_tuner import find

STAND_INS = {"kerastuner": find, "kerastuner.*": find}
