"""Functions that call functions: conditions, checkpoints, maps over nested structures."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.frameworks.keras.session import flatten as flatten_leaves
from flake8_cnnmem.frameworks.keras.session import map_structure as nested_map
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Index
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value


def conditional(run: Runtime, pred: Value, true_fn: Value = None, false_fn: Value = None) -> Value:
    """Both branches of a condition on tensors have outputs of one shape: the first stands for both. Both are traced, so
    that the layers of both have their weights."""
    if isinstance(pred, (bool, int)):
        return run.call(false_fn if run.truth(pred) is False else true_fn)
    result = run.call(true_fn)
    run.call(false_fn)
    return result


def mapped(run: Runtime, fn: Value, elems: Value, **options: Value) -> Value:
    """`tf.map_fn`: the function once, on one item, whose result stands for all of them. What all of them keep for the
    backward pass is not counted."""
    items = [item for item in flatten_leaves(elems) if isinstance(item, Tensor)]
    lengths = [item.shape[0] for item in items if isinstance(item.shape, tuple) and item.shape]
    if not items or len(lengths) < len(items):
        return run.unknown("a function mapped over a tensor's items is not followed")
    one = run.call(fn, nested_map(lambda item: first_item(run, item), elems))

    def all_of_them(result: Value) -> Value:
        if not isinstance(result, Tensor) or not isinstance(result.shape, tuple):
            return result if isinstance(result, Unknown) else run.unknown("what a mapped function gives is not known")
        # What it is made of, and what it is mapped over: nothing of either is lost on the way.
        op = Given("map_fn", ((lengths[0], *result.shape),))
        return run.apply(op, result, *items, function="map_fn", dtypes=[result.dtype], framework="keras")

    return nested_map(all_of_them, one)


def first_item(run: Runtime, value: Value) -> Value:
    """The first part of a tensor along its first axis; anything else as it is."""
    if not isinstance(value, Tensor):
        return value
    return run.apply(Index((0,)), value, function="map_fn", framework="keras")


def scanned(run: Runtime, fn: Value, elems: Value, initializer: Value = None, **options: Value) -> Value:
    """`tf.scan`: what the function has made of the items so far, for each of them."""
    first = next((item for item in flatten_leaves(elems) if isinstance(item, Tensor)), None)
    if first is None or not isinstance(first.shape, tuple) or not first.shape:
        return run.unknown("a function over a tensor's items is not followed")
    item = nested_map(lambda each: first_item(run, each), elems)
    length = first.shape[0]

    def of(start: Value) -> Value:
        if not isinstance(start, Tensor) or not isinstance(start.shape, tuple):
            return start if isinstance(start, Unknown) else run.unknown("what a scan begins with is not known")
        op = Given("scan", ((length, *start.shape),))
        return run.apply(op, start, first, function="scan", dtypes=[start.dtype], framework="keras")

    return nested_map(of, run.call(fn, item if initializer is None else initializer, item))


def folded(run: Runtime, fn: Value, elems: Value, initializer: Value = None, **options: Value) -> Value:
    """`tf.foldl`: what the function has made of all items."""
    item = nested_map(lambda each: first_item(run, each), elems)
    result = run.call(fn, item if initializer is None else initializer, item)
    if not isinstance(result, Tensor) or not isinstance(result.shape, tuple):
        return result if isinstance(result, Unknown) else run.unknown("what a fold gives is not known")
    return run.apply(Given("fold_items", (result.shape,)), result, function="foldl", framework="keras")


def checkpointed(run: Runtime, function: Value) -> Value:
    """`tf.recompute_grad(f)`, `keras.remat(f)`: f keeps only its inputs and is run again in the backward pass."""

    def call(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        with run.enter(None, checkpoint=True):
            return run.call(function, *args, **kwargs)

    return Native("recompute_grad", call, propagate_unknown=False)


def map_structure(run: Runtime, function: Value, *structures: Any) -> Value:
    """`tf.nest.map_structure`, `keras.tree.map_structure`: the function called on each leaf of nested dicts, lists and
    tuples, in a structure of the same form."""
    first = structures[0] if structures else None
    if isinstance(first, dict):
        return {key: map_structure(run, function, *(each[key] for each in structures)) for key in first}
    if isinstance(first, (list, tuple)):
        items = [map_structure(run, function, *parts) for parts in zip(*structures, strict=False)]
        return items if isinstance(first, list) else tuple(items)
    return run.call(function, *structures)


def flatten_structure(run: Runtime, structure: Value) -> Value:
    """`tf.nest.flatten(structure)`: the leaves as a list."""
    return list(flatten_leaves(structure))
