"""What runs a model without training it: `evaluate`, `predict` and their like, what a fit validates with, and how many
samples each takes at once."""

from __future__ import annotations

from flake8_cnnmem.frameworks.framework import Look
from flake8_cnnmem.frameworks.keras.batches import is_source, samples_in
from flake8_cnnmem.frameworks.keras.model_state import model_state
from flake8_cnnmem.frameworks.keras.session import tensors_in
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value

USUAL_BATCH = 32
"""What all of them take of arrays where they are told no batch size (keras/src/backend/tensorflow/trainer.py)."""


def note_look(
    run: Runtime, model: Instance, data: Value, batch_size: Value = None, *, whole: bool = False, loss: bool = False
) -> None:
    """Note a call on these data: arrays, of which it takes so many samples at once, or the `whole` of them, a batch.
    What is not known of it is not noted, nor what comes before anything is trained, what takes samples of other sizes
    than that, or what the code writes a step of its own for."""
    fitted, count = model_state(run, model).fitted, samples_in(data)
    own = model.cls.find("test_step" if loss else "predict_step")
    if is_source(data) or count is None or not fitted or type(own).__name__ == "Function":
        return
    if sizes(data) != sizes(fitted[-1].batch):
        return
    size = count if whole else USUAL_BATCH if batch_size is None else batch_size
    if isinstance(size, int):
        model_state(run, model).looks.append(Look(min(size, count), run.here(), loss))


def sizes(data: Value) -> list[Value]:
    """The shapes of samples: of the inputs, where a batch has targets behind them."""
    inputs = data[0] if isinstance(data, tuple) and data else data
    return [each.shape[1:] for each in tensors_in(inputs) if isinstance(each.shape, tuple)]


def note_validation(run: Runtime, model: Instance, given: dict[str, Value], batch_size: Value) -> None:
    """Note what a fit validates with, batch by batch: by default as many samples at once as it trains on."""
    data, size = given.get("validation_data"), given.get("validation_batch_size")
    if isinstance(data, (list, tuple)) and data:
        note_look(run, model, data[0], batch_size if size is None else size, loss=True)
