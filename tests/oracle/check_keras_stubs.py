"""Write down the signatures of Keras' layers and optimizers, keras.ops and the TensorFlow functions that we know.

Run by hand with Keras, TensorFlow and tf-keras (for keras.backend of Keras 2) installed:

    python tests/oracle/check_keras_stubs.py

writes fixtures/truth/keras_signatures.json, against which tests/frameworks/keras/test_signatures.py holds
our stubs.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "fixtures" / "truth" / "keras_signatures.json"

NOT_OURS = ("FlaxLayer", "JaxLayer", "TFSMLayer", "TorchModuleWrapper")
"""Layers around another framework's model or a saved file."""


def parameters(function: Any) -> list[list[str]]:
    """[name] or [name, default as text] for each parameter, `self` and catch-alls left out."""
    found = []
    for word, parameter in inspect.signature(function).parameters.items():
        if word == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default = [] if parameter.default is parameter.empty else [repr(parameter.default)]
        found.append([word, *default])
    return found


def measure() -> dict[str, Any]:
    sys.path.insert(0, str(ROOT))
    import keras
    import tensorflow as tf
    import tf_keras

    from flake8_cnnmem.frameworks.keras import config_objects
    from flake8_cnnmem.frameworks.keras.ops import operations

    signatures: dict[str, list[list[str]]] = {}
    for word in sorted(dir(keras.layers)):
        member = getattr(keras.layers, word)
        if inspect.isclass(member) and issubclass(member, keras.layers.Layer) and word not in NOT_OURS:
            if member is not keras.layers.Layer:
                signatures[f"keras.layers.{word}"] = parameters(member.__init__)
    for word in config_objects.OPTIMIZERS:
        member = getattr(keras.optimizers, word, None) if word != "Optimizer" else None
        if member is not None:
            signatures[f"keras.optimizers.{word}"] = parameters(member.__init__)
    for table, module, name in (
        (operations.OPS, keras.ops, "keras.ops"),
        (operations.RANDOM, keras.random, "keras.random"),
        (operations.BACKEND, tf_keras.backend, "keras.backend"),
        *(
            (functions, getattr(tf, area) if area else tf, f"tf.{area}" if area else "tf")
            for area, functions in operations.TENSORFLOW.items()
        ),
    ):
        for word in table.entries:
            function = getattr(module, word, None)
            if function is not None and callable(function):
                try:
                    signatures[f"{name}.{word}"] = parameters(function)
                except ValueError:
                    continue
    return {
        "about": "Parameters in order, each with its default as text where it has one. "
        "Measured by tests/oracle/check_keras_stubs.py.",
        "keras": keras.__version__,
        "tensorflow": tf.__version__,
        "signatures": signatures,
    }


def main() -> int:
    found = measure()
    TRUTH.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(f'    "{name}": {json.dumps(value)}' for name, value in sorted(found["signatures"].items()))
    head = json.dumps({key: found[key] for key in ("about", "keras", "tensorflow")}, indent=2)[:-2]
    TRUTH.write_text(f'{head},\n  "signatures": {{\n{lines}\n  }}\n}}\n')
    print(f"{len(found['signatures'])} signatures of Keras {found['keras']} and TensorFlow {found['tensorflow']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
