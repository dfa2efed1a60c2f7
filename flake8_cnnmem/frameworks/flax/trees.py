"""Trees of JAX: nested dicts, lists and tuples, and objects of the program that are dataclasses of Flax."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value, native

NODE = "a node of trees"
"""A fact of classes whose instances are trees: their fields are the branches."""


def leaves(value: Value) -> Iterator[Value]:
    """The leaves of a tree in order; None is a tree without any."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, Instance) and value.cls.facts.get(NODE):
        for item in value.attributes.values():
            yield from leaves(item)
    elif value is not None:
        yield value


def mapped(function: Callable[..., Value], tree: Value, *others: Any) -> Value:
    """The tree with each leaf replaced, `others` alike gone through with it."""
    if isinstance(tree, dict):
        return {key: mapped(function, item, *(other[key] for other in others)) for key, item in tree.items()}
    if isinstance(tree, (list, tuple)) and type(tree) in (list, tuple):
        rows = zip(tree, *others, strict=True)
        return type(tree)(mapped(function, *row) for row in rows)
    if isinstance(tree, Instance) and tree.cls.facts.get(NODE):
        found = {
            key: mapped(function, item, *(other.attributes[key] for other in others))
            for key, item in tree.attributes.items()
        }
        return Instance(tree.cls, found, native=tree.native, site=tree.site)
    return None if tree is None else function(tree, *others)


def tree_map(run: Runtime, f: Value, tree: Value, *rest: Value, is_leaf: Value = None) -> Value:
    """`jax.tree.map`."""
    cause = next((each for each in (tree, *rest) if isinstance(each, Unknown)), None)
    if cause is not None:
        return cause
    try:
        return mapped(lambda *row: run.call(f, *row), tree, *rest)
    except (KeyError, TypeError, AttributeError, ValueError):
        return run.unknown("the trees that are gone through together differ")


def tree_leaves(run: Runtime, tree: Value, is_leaf: Value = None) -> Value:
    """`jax.tree.leaves(tree)`."""
    return tree if isinstance(tree, Unknown) else list(leaves(tree))


def tree_flatten(run: Runtime, tree: Value, is_leaf: Value = None) -> Value:
    """`jax.tree.flatten(tree)`: leaves, and a structure that is not known."""
    return (
        tree if isinstance(tree, Unknown) else (list(leaves(tree)), run.unknown("a tree's structure is not followed"))
    )


def tree_reduce(run: Runtime, function: Value, tree: Value, *initializer: Value) -> Value:
    """`jax.tree.reduce(function, tree, initializer)`."""
    if isinstance(tree, Unknown):
        return tree
    items = [*initializer, *leaves(tree)]
    if not items:
        raise TypeError("reduce() of empty iterable with no initial value")
    result = items[0]
    for item in items[1:]:
        result = run.call(function, result, item)
    return result


def stand_ins(tree: Value) -> Value:
    """Arrays like those of a tree, whose values are not known: gradients, updates, averages."""
    return mapped(
        lambda leaf: Tensor(leaf.shape, leaf.dtype, framework=leaf.framework) if isinstance(leaf, Tensor) else leaf,
        tree,
    )


FUNCTIONS: dict[str, Value] = {
    "map": native("map", tree_map),
    "leaves": native("leaves", tree_leaves),
    "flatten": native("flatten", tree_flatten),
    "reduce": native("reduce", tree_reduce),
}
"""`jax.tree`; in `jax.tree_util` each begins with `tree_`."""
