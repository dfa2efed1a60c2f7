"""Functions that call functions: conditions, checkpoints, maps over nested structures."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.session import flatten as flatten_leaves
from flake8_cnnmem.values import Native, Run, Value


def conditional(run: Run, pred: Value, true_fn: Value = None, false_fn: Value = None) -> Value:
    """Both branches of a condition on tensors have outputs of one shape: the first stands for both."""
    truth = run.truth(pred) if isinstance(pred, (bool, int)) else True
    return run.call(false_fn if truth is False else true_fn)


def checkpointed(run: Run, function: Value) -> Value:
    """`tf.recompute_grad(f)`, `keras.remat(f)`: f keeps only its inputs and is run again in the backward pass."""

    def call(run: Run, *args: Value, **kwargs: Value) -> Value:
        with run.enter(None, checkpoint=True):
            return run.call(function, *args, **kwargs)

    return Native("recompute_grad", call, absorb=False)


def map_structure(run: Run, function: Value, *structures: Value) -> Value:
    """`tf.nest.map_structure`, `keras.tree.map_structure`."""
    first = structures[0] if structures else None
    if isinstance(first, dict):
        return {key: map_structure(run, function, *(each[key] for each in structures)) for key in first}
    if isinstance(first, (list, tuple)):
        items = [map_structure(run, function, *parts) for parts in zip(*structures, strict=False)]
        return items if isinstance(first, list) else tuple(items)
    return run.call(function, *structures)


def flatten_structure(run: Run, structure: Value) -> Value:
    return list(flatten_leaves(structure))
