"""The version of Keras that a program is counted for: the one that its project asks for, else the newest that takes it.

Shapes and parameters follow it where versions differ. What a step keeps is that of the version whose steps were
measured, whatever is asked for: reports say so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from flake8_cnnmem.frameworks.keras.legacy import OLD_WORDS
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.settings.pins import Pin
from flake8_cnnmem.values import Value

ASKED_BY_3 = dict.fromkeys(("AveragePooling1D", "AveragePooling2D", "AveragePooling3D"), "pool_size")
"""Arguments that Keras 3 asks for and earlier versions did not (keras/src/layers/pooling/average_pooling*.py)."""

TENSORFLOW = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")


def pin_of_tensorflow(run: Runtime) -> Pin | None:
    """What the project asks of TensorFlow, by any of its packages."""
    found = (run.pinned(name) for name in TENSORFLOW)
    return next((pin for pin in found if pin is not None and pin.specifier), None)


def numbers(text: str) -> tuple[int, ...]:
    """`2.2.4` as (2, 2, 4)."""
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def is_before(pin: Pin | None, *version: int) -> bool:
    """Whether a project asks for a version before this one, and allows none from it on (PEP 440)."""
    if pin is None:
        return False
    for sign, text in re.findall(r"(===?|~=|<=?)\s*([\w.*]+)", pin.specifier):
        said = numbers(text)
        if sign == "~=":
            above: tuple[int, ...] = (*said[:-2], said[-2] + 1) if len(said) > 1 else ()
        elif text.endswith(".*"):
            above = (*said[:-1], said[-1] + 1) if said else ()
        else:
            # The version itself is allowed: another one lies between it and the next.
            above = said if sign == "<" else (*said, 0)
        if above and above <= version:
            return True
    return False


def asks_for_2(run: Runtime) -> bool:
    """Whether the project asks for Keras 2: by its version, by one of TensorFlow before 2.16, whose Keras that was, or
    by the environment that the code sets."""
    own, environment = run.pinned("keras"), run.data("environment")
    if own is not None and own.specifier:
        return is_before(own, 3)
    return is_before(pin_of_tensorflow(run), 2, 16) or environment.get("TF_USE_LEGACY_KERAS") in ("1", "True", "true")


def defaults(run: Runtime, layer: str) -> Mapping[str, Value]:
    """Defaults of a layer in the version that the project asks for, where they are others than today's.

    GRU has had `reset_after`, and a second vector of biases with it, by default since TensorFlow 2.0 and Keras 2.4,
    which is TensorFlow's (keras 2.3.1, layers/recurrent.py; tensorflow 1.15, keras/layers/recurrent.py). Beside a
    TensorFlow 2 a Keras before 2.4 has its own, and `tf.compat.v1.keras` that of TensorFlow 1.
    """
    if layer not in RECURRENT:
        return {}
    tensorflow, roots = pin_of_tensorflow(run), run.data(ROOTS).get(layer, ())
    first = bool(roots) and all(root == "tensorflow.compat.v1.keras" for root in roots)
    own = tensorflow is None or (bool(roots) and all(root == "keras" for root in roots))
    if first or is_before(tensorflow, 2) or (own and is_before(run.pinned("keras"), 2, 4)):
        return {"reset_after": False}
    return {}


RECURRENT = ("GRU", "GRUCell")
ROOTS = "roots of recurrent layers"
"""Scratch of the run: below which packages each of these layers was looked up."""


def is_of_2(run: Runtime) -> bool:
    """Whether the code is counted for Keras 2, as far as is known by now."""
    return asks_for_2(run) or session_of(run).older


def note_older(run: Runtime, layer: str, names: Sequence[str], args: Sequence[Value], given: Sequence[str]) -> None:
    """Tell whether a layer is made in a way that Keras 3 refuses: in words of before, or without what it asks for."""
    wanted = ASKED_BY_3.get(layer)
    lacks = wanted is not None and not args and wanted not in given
    if lacks or any(word in OLD_WORDS and word not in names for word in given):
        session_of(run).older = True


def version(run: Runtime) -> str:
    """How a report names the version: with the file that asks for it, or with what kept a newer one from it; empty for
    the newest that there is."""
    own = run.pinned("keras")
    pin = own if own is not None and own.version is not None else pin_of_tensorflow(run)
    if pin is not None and pin.version is not None:
        line = f":{pin.line}" if pin.line is not None else ""
        return f"{pin.name} {pin.version} ({os.path.basename(pin.path)}{line})"
    return "keras 2 (Keras 3 does not take the code)" if session_of(run).older else ""
