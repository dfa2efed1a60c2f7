"""Keras 1 to 3, tf.keras, and the TensorFlow functions that Keras code uses."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.framework import FRAMEWORK
from flake8_cnnmem.frameworks.keras.modules import find_module, source_name

__all__ = ["FRAMEWORK", "find_module", "source_name"]
