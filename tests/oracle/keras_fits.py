"""Run the programs of fixtures/fits with Keras on TensorFlow: what each call of `fit` and `train_on_batch` trains.

    python tests/oracle/keras_fits.py

Written to fixtures/truth/keras_fits.json. A fit runs for one step, eagerly: what its optimizers update, and the shape of
what the step is given, are read off that step. Data sets that would be downloaded are zeros of their shapes.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras
import numpy as np

FIXTURES = Path(__file__).parents[2] / "fixtures"
TARGET = FIXTURES / "truth" / "keras_fits.json"
ABOUT = (
    "What each call of fit or train_on_batch in fixtures/fits does, as Keras does it: line; values of the model, and of"
    " the variables that the optimizers of its step update; the optimizers' names; the shapes of a step's inputs. Calls"
    " that repeat the one of the same line are told once. (tests/oracle/keras_fits.py)"
)


class Seen:
    """What is noted of the fit that is running."""

    updated: dict[int, Any]
    optimizers: list[str]
    shapes: Any


class Enough(Exception):
    """One step has been taken."""


class One(keras.callbacks.Callback):  # type: ignore[misc]
    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        raise Enough


def noting(seen: Seen) -> None:
    """Every optimizer tells what it updates."""
    original = keras.optimizers.Optimizer.apply

    def apply(self: Any, grads: Any, trainable_variables: Any = None) -> Any:
        variables = list(trainable_variables if trainable_variables is not None else self._trainable_variables)
        seen.updated.update({id(variable): variable for variable in variables})
        name = type(self).__name__.lower()
        seen.optimizers += [] if name in seen.optimizers else [name]
        return original(self, grads, trainable_variables)

    keras.optimizers.Optimizer.apply = apply


def wrapped(seen: Seen, original: Callable[..., Any], found: list[dict[str, Any]], script: str) -> Callable[..., Any]:
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != script:
            frame = frame.f_back
        seen.updated, seen.optimizers, seen.shapes = {}, [], None
        self.run_eagerly = True
        step = self.train_step

        def noted(data: Any) -> Any:
            inputs = data[0] if isinstance(data, tuple) else data
            seen.shapes = keras.tree.map_structure(lambda each: list(each.shape), inputs)
            return step(data)

        self.train_step = noted
        if original.__name__ == "fit":
            kwargs.update(epochs=1, verbose=0, callbacks=[*kwargs.get("callbacks", ()), One()])
        result = None
        with contextlib.suppress(Enough):
            result = original(self, *args, **kwargs)
        self.train_step = step
        self.train_function = None
        record = {
            "line": frame.f_lineno,
            "parameters": sum(int(np.prod(each.shape)) for each in self.weights if "seed" not in each.path),
            "trained": sum(int(np.prod(variable.shape)) for variable in seen.updated.values()),
            "optimizers": seen.optimizers,
            "inputs": seen.shapes,
        }
        found.extend([] if record in found else [record])
        return result

    return fit


def zeros(shape: tuple[int, ...], labels: tuple[int, ...]) -> Callable[[], Any]:
    part = (np.zeros(shape, "uint8"), np.zeros(labels, "uint8"))
    return lambda: (part, part)


def main() -> None:
    os.chdir(tempfile.mkdtemp())
    seen = Seen()
    noting(seen)
    for name in ("mnist", "fashion_mnist"):
        getattr(keras.datasets, name).load_data = zeros((600, 28, 28), (600,))
    fit, on_batch = keras.Model.fit, keras.Model.train_on_batch
    scripts = {}
    for path in sorted((FIXTURES / "fits").glob("*.py")):
        found: list[dict[str, Any]] = []
        keras.Model.fit = wrapped(seen, fit, found, str(path))
        keras.Model.train_on_batch = wrapped(seen, on_batch, found, str(path))
        keras.backend.clear_session()
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
        scripts[path.name] = found
        print(path.name, *found, sep="\n    ", flush=True)
    TARGET.write_text(json.dumps({"about": ABOUT, "scripts": scripts}, indent=1) + "\n")


if __name__ == "__main__":
    main()
