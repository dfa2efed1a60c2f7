"""torch.utils._pytree: nested lists, tuples and dicts taken apart into their leaves, and put together again.

Unlike JAX's trees, None is a leaf. https://github.com/pytorch/pytorch/blob/main/torch/utils/_pytree.py
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

SPEC = Class("TreeSpec", module="torch.utils._pytree")
LEAF = object()
"""Stands for a leaf in the shape of a tree."""

DICTS: tuple[type, ...] = (dict, OrderedDict)
ROWS: tuple[type, ...] = (list, tuple)


class NotFollowed(Exception):
    """A node that may be one of torch's (named tuples, dicts of the program) or not."""


def opened(tree: Any, leaves: list[Value]) -> Any:
    """The shape of a tree, whose leaves are added to a list in order."""
    if type(tree) in DICTS:
        return type(tree)((key, opened(item, leaves)) for key, item in tree.items())
    if type(tree) in ROWS:
        return type(tree)([opened(item, leaves) for item in tree])
    if isinstance(tree, (dict, list, tuple)) or (isinstance(tree, Instance) and tree.payload is not None):
        raise NotFollowed
    leaves.append(tree)
    return LEAF


def closed(shape: Any, leaves: Iterator[Value]) -> Value:
    """The tree of a shape with these leaves in order."""
    if shape is LEAF:
        return next(leaves)
    if type(shape) in DICTS:
        return type(shape)((key, closed(item, leaves)) for key, item in shape.items())
    return type(shape)([closed(item, leaves) for item in shape])


def follows(function: Callable[..., Value]) -> Native:
    """A function of trees: what is not followed in them is a cause."""

    def tried(run: Runtime, *args: Value, is_leaf: Value = None, **options: Value) -> Value:
        if is_leaf is not None:
            return run.unknown("what a program takes as leaves of a tree is not followed")
        try:
            return function(run, *args, **options)
        except NotFollowed:
            return run.unknown("a node of a tree is not followed")

    return Native(function.__name__, tried)


def tree_flatten(run: Runtime, tree: Value) -> Value:
    """`tree_flatten(tree)`: its leaves, and its shape."""
    leaves: list[Value] = []
    shape = opened(tree, leaves)
    run.spend(len(leaves))
    return leaves, Instance(SPEC, {"num_leaves": len(leaves)}, native=shape, site=run.here())


def tree_leaves(run: Runtime, tree: Value) -> Value:
    """`tree_leaves(tree)`: its leaves."""
    leaves: list[Value] = []
    opened(tree, leaves)
    run.spend(len(leaves))
    return leaves


def tree_unflatten(run: Runtime, leaves: Value, treespec: Value) -> Value:
    """`tree_unflatten(leaves, spec)`: a tree of that shape. ValueError for another number of leaves."""
    if not isinstance(treespec, Instance) or treespec.cls is not SPEC:
        raise run.error("TypeError", "tree_unflatten(leaves, treespec): expected `treespec` to be a TreeSpec")
    given = run.items(leaves)
    if isinstance(given, Unknown):
        return given
    wanted = treespec.attributes["num_leaves"]
    if len(given) != wanted:
        raise run.error("ValueError", f"tree_unflatten: {len(given)} leaves where the spec has {wanted}")
    return closed(treespec.native, iter(given))


def tree_map(run: Runtime, func: Value, tree: Value, *rests: Value) -> Value:
    """`tree_map(func, tree, *rests)`: the tree with what a function gives for each leaf."""
    leaves: list[Value] = []
    shape = opened(tree, leaves)
    rows = [leaves]
    for rest in rests:
        beside: list[Value] = []
        if shape_of_leaves(opened(rest, beside)) != shape_of_leaves(shape):
            return run.unknown("the trees that are gone through together differ")
        rows.append(beside)
    return closed(shape, iter([run.call(func, *row) for row in zip(*rows, strict=True)]))


def shape_of_leaves(shape: Any) -> Any:
    """A tree's shape as it is compared: by kinds of nodes and keys."""
    if shape is LEAF:
        return None
    items = shape.items() if type(shape) in DICTS else enumerate(shape)
    return type(shape), [(key, shape_of_leaves(item)) for key, item in items]


TREES: dict[str, Value] = {
    function.__name__: follows(function) for function in (tree_flatten, tree_leaves, tree_unflatten, tree_map)
}
"""The names of torch.utils._pytree."""
