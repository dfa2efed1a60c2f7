"""The input of a model as the training's step states it, where the model that was built is called on something else."""

from __future__ import annotations

from dataclasses import replace

from flake8_cnnmem.evaluate.trace import RootCall
from flake8_cnnmem.evidence import seen_through
from flake8_cnnmem.evidence.batches import given_one_by_one, is_time_first, tensors_of
from flake8_cnnmem.graph import Model
from flake8_cnnmem.models.build import Built
from flake8_cnnmem.models.stated import place
from flake8_cnnmem.ops.expected import UNSTATED
from flake8_cnnmem.unknown import Unknown


def stated_by_step(built: Built, call: RootCall, batch: int | None) -> Built:
    """The input as the training's step states it, where its parts are called instead of the model: a module that holds
    a generator and a discriminator makes images from noise when it is called itself, and is given images to train. Of
    sequences with time first the `batch` is the second axis."""
    if built.input_source != "directive" and is_time_first(call, batch):
        given = next(tensors_of(call)).shape
        assert isinstance(given, tuple)
        others = tuple(size for size in (given[0], *given[2:]) if isinstance(size, int))
        return replace(built, input_shape=others, input_source=place(call.site))
    if given_one_by_one(call) is not None and seen_through(call.instance) is built.model.root:
        return built
    shape = next((value.shape for value in tensors_of(call)), None)
    if built.input_source != "directive" and given_one_by_one(call) is not None and isinstance(shape, tuple):
        each = tuple(size if isinstance(size, int) else None for size in shape)
        return replace(built, model=without_batch(built.model, call), input_shape=each, input_source=place(call.site))
    known = built.input_shape is not None and None not in built.input_shape
    if built.input_source == "directive" or (known and seen_through(call.instance) is built.model.root):
        return built
    sizes = [size for size in shape[1:] if isinstance(size, int)] if isinstance(shape, tuple) else []
    if not isinstance(shape, tuple) or len(shape) < 2 or len(sizes) < len(shape) - 1:
        return built
    return replace(built, input_shape=tuple(sizes), input_source=place(call.site))


def without_batch(model: Model, call: RootCall) -> Model:
    """The model of a call that gives it images one by one, with that as the cause where its input is not stated."""
    where = (call.site.path, call.site.line) if call.site is not None else ("", 0)
    cause = Unknown(f"what {model.name} makes of images that it is given one by one", *where)
    return replace(model, causes=tuple(cause if each == UNSTATED else each for each in model.causes))
