"""The loss that `compile` was told, as a step of the code's own asks for it."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.model_state import Compilation, compilation_of
from flake8_cnnmem.frameworks.keras.ops.elementwise import binary
from flake8_cnnmem.frameworks.keras.ops.reductions import reduce
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
    return total


def compiled_loss(
    run: Runtime, self: Instance, y_true: Value = None, y_pred: Value = None, *args: Value, **options: Value
) -> Value:
    """Keras 2's `model.compiled_loss(y, y_pred, regularization_losses=...)`."""
    return compute_loss(run, self, None, y_true, y_pred)


LOSS_METHODS: dict[str, Value] = {
    function.__name__: Native(function.__name__, function, propagate_unknown=False)
    for function in (compute_loss, compiled_loss)
}
