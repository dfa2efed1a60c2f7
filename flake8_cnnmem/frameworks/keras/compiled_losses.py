"""The loss that `compile` was told, as a step of the code's own asks for it."""

from __future__ import annotations

from flake8_cnnmem.frameworks.framework import BY_NAME
from flake8_cnnmem.frameworks.keras.config_objects import stepping
from flake8_cnnmem.frameworks.keras.model_state import Compilation, compilation_of
from flake8_cnnmem.frameworks.keras.ops.elementwise import binary
from flake8_cnnmem.frameworks.keras.ops.reductions import reduce
from flake8_cnnmem.frameworks.keras.parameters import parameter_names
from flake8_cnnmem.frameworks.keras.session import tensors_in
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value


def compute_loss(
    run: Runtime,
    self: Instance,
    x: Value = None,
    y: Value = None,
    y_pred: Value = None,
    sample_weight: Value = None,
    training: Value = True,
) -> Value:
    """`model.compute_loss(x, y, y_pred)`: one number, which the gradient of the model's outputs goes back from. What
    the loss itself keeps is told by its name, as of a `fit` without a step of the code's own."""
    compilation = compilation_of(self)
    loss = compilation.given.get("loss") if isinstance(compilation, Compilation) else compilation
    if isinstance(loss, Unknown):
        return loss
    outputs = list(tensors_in(y_pred))
    if loss is None or not outputs:
        return run.unknown("what compute_loss gives is not followed")
    total = reduce(run, outputs[0], None, kind="mean")
    for output in outputs[1:]:
        total = binary(run, total, reduce(run, output, None, kind="mean"), kind="add")
    run.data(BY_NAME)[id(total)] = total
    return total


def usual_step(run: Runtime, self: Instance, data: Value) -> Value:
    """The step of keras/src/backend/tensorflow/trainer.py, around a `compute_loss` that the code writes."""
    parts = [*data] if isinstance(data, (tuple, list)) else [data]
    x, y, sample_weight = (*parts, None, None, None)[:3]
    optimizer, weights = self.attributes.get("optimizer"), run.get(self, "trainable_variables")
    given: dict[str, Value] = {
        "x": x,
        "y": y,
        "y_pred": run.call(self, x, training=True),
        "sample_weight": sample_weight,
    }
    function = self.cls.find("compute_loss")
    if "training" in (parameter_names(function) or ()):
        given["training"] = True
    run.note("backward", run.call(run.get(self, "compute_loss"), **given))
    if isinstance(optimizer, Instance):
        stepping(run, optimizer, weights)
    return None


USUAL_STEP = Native("train_step", usual_step, propagate_unknown=False)


def compiled_loss(
    run: Runtime, self: Instance, y_true: Value = None, y_pred: Value = None, *args: Value, **options: Value
) -> Value:
    """Keras 2's `model.compiled_loss(y, y_pred, regularization_losses=...)`."""
    return compute_loss(run, self, None, y_true, y_pred)


LOSS_METHODS: dict[str, Value] = {
    function.__name__: Native(function.__name__, function, propagate_unknown=False)
    for function in (compute_loss, compiled_loss)
}
