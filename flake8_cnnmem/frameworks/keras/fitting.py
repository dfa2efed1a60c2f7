"""Compiling and fitting: what the code says of training is kept for later."""

from __future__ import annotations

from flake8_cnnmem.dims import BATCH, Size
from flake8_cnnmem.frameworks.keras.model_state import graph_of, model_state
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.tracking import all_weights, state_of, trainable_ids
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Run, Value

COMPILE = (
    "optimizer", "loss", "metrics", "loss_weights", "weighted_metrics", "run_eagerly", "steps_per_execution",
    "jit_compile", "auto_scale_loss",
)  # fmt: skip
"""Keras 2 had loss_weights after metrics too; by position hardly anyone gives more than three."""


FIT = {
    "fit": ("x", "y", "batch_size", "epochs", "verbose", "callbacks", "validation_split", "validation_data"),
    "fit_generator": ("generator", "steps_per_epoch", "epochs", "verbose", "callbacks", "validation_data"),
    "train_on_batch": ("x", "y", "sample_weight", "class_weight"),
}


MOST_FITS = 16
"""Calls of `fit` that are kept: training loops say the same again and again."""


def compile_model(run: Run, self: Instance, *args: Value, **kwargs: Value) -> None:
    given = dict(zip(COMPILE, args, strict=False)) | kwargs
    given["site"] = run.here()
    if given.get("run_eagerly") is not True:
        session_of(run).graphed = True
    given["trainable"] = trainable_ids(self)
    given["known"] = {id(weight) for weight in all_weights(self)}
    compiled = model_state(run, self).compiled
    run.changed(compiled)
    compiled.append(given)
    for word in ("optimizer", "loss"):
        if word in given:
            run.changed(self)
            self.attributes[word] = given[word]


def fitter(method: str) -> Native:
    names = FIT[method]

    def fit(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
        given = dict(zip(names, args, strict=False)) | kwargs
        given["site"] = run.here()
        given["method"] = method
        fitted = model_state(run, self).fitted
        if len(fitted) < MOST_FITS:
            run.changed(fitted)
            fitted.append(given)
        build_from_data(run, self, given.get("x", given.get("generator")))
        if method != "train_on_batch":
            run_own_step(run, self, given)
        return run.unknown("what training gives is not followed")

    return Native(method, fit, absorb=False)


def run_own_step(run: Run, self: Instance, given: dict[str, Value]) -> None:
    """A model with a `train_step` of its own: `fit` calls it with a batch, once here for all of them."""
    if type(self.cls.find("train_step")).__name__ != "Function":
        return
    data = given.get("x", given.get("generator"))
    batch = data
    if isinstance(data, Instance):
        items = run.iterate(data)
        batch = items if isinstance(items, Unknown) else next(items, None)
    else:
        size = given.get("batch_size")
        size = size if type(size) is int and size > 0 else BATCH
        batch = one_batch(data, size)
        if given.get("y") is not None:
            batch = (batch, one_batch(given["y"], size))
    run.attempt(run.get(self, "train_step"), batch)


def one_batch(data: Value, size: Size) -> Value:
    """So many samples of an array, or of each of several arrays."""
    if isinstance(data, Tensor) and isinstance(data.shape, tuple) and data.shape:
        return Tensor((size, *data.shape[1:]), data.dtype, framework="keras")
    if isinstance(data, dict):
        return {word: one_batch(each, size) for word, each in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)(one_batch(each, size) for each in data)
    return data


def build_from_data(run: Run, self: Instance, data: Value) -> None:
    """A model that was not built yet is built by what it is fitted on."""
    state = state_of(run, self)
    if state.nodes or graph_of(self) is not None:
        return
    shapes = data_shapes(data)
    if shapes is not None:
        state.built = False
        run.call(run.get(self, "build"), shapes)


def data_shapes(data: Value) -> Value:
    """The shapes of a batch of training data, None where they are not known."""
    if isinstance(data, Tensor) and isinstance(data.shape, tuple) and len(data.shape) > 1:
        return (None, *data.shape[1:])
    if isinstance(data, Instance) and isinstance(data.native, dict) and data.native.get("batch_shape") is not None:
        return data.native["batch_shape"]
    if isinstance(data, list) and data and all(isinstance(item, Tensor) for item in data):
        shapes = [data_shapes(item) for item in data]
        return None if any(shape is None for shape in shapes) else shapes
    return None


def not_followed(what: str) -> Native:
    def answer(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
        return run.unknown(f"what {what} gives is not followed")

    return Native(what, answer, absorb=False)
