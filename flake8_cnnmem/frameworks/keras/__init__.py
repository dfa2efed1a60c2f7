"""Keras 1 to 3, tf.keras, and the TensorFlow functions that Keras code uses."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras import as_module, modules, records, unfollowed_attributes
from flake8_cnnmem.frameworks.keras.framework import FRAMEWORK
from flake8_cnnmem.frameworks.keras.modules import source_name
from flake8_cnnmem.values import Namespace

__all__ = ["FRAMEWORK", "READ", "as_module", "find_module", "source_name", "unfollowed_attributes"]

READ = ("keras", "keras_applications")
"""Packages whose own source is read for what is not known natively: applications, for one."""


def find_module(dotted: str) -> Namespace | None:
    """A module of Keras, of TensorFlow, or of TensorFlow's data sets."""
    found = records.find_module(dotted)
    return modules.find_module(dotted) if found is None else found
