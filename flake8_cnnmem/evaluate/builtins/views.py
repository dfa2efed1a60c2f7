"""The views of a dict: `keys()`, `values()`, `items()`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import host_class
from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.builtins.sets import hashed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Property, Value


class Keys(KeysView[Any]):
    """The views are looked at as they are at the start of a loop: a dict may change while it is looped over."""

    _mapping: dict[Any, Any]

    def __iter__(self) -> Iterator[Any]:
        return iter([*self._mapping])

    def __reversed__(self) -> Iterator[Any]:
        return iter([*self._mapping][::-1])


class Values(ValuesView[Any]):
    _mapping: dict[Any, Any]

    def __iter__(self) -> Iterator[Any]:
        return iter([*self._mapping.values()])

    def __reversed__(self) -> Iterator[Any]:
        return iter([*self._mapping.values()][::-1])


class Items(ItemsView[Any, Any]):
    _mapping: dict[Any, Any]

    def __iter__(self) -> Iterator[Any]:
        return iter([*self._mapping.items()])

    def __reversed__(self) -> Iterator[Any]:
        return iter([*self._mapping.items()][::-1])


def view(kind: Any) -> dict[str, Value]:
    """The class members of a dict's views (`keys`, `values`, `items`)."""
    names = Names()
    names["__len__"] = Native("__len__", lambda run, self: len(self))
    names["__iter__"] = Native("__iter__", lambda run, self: iter(self))
    names["__reversed__"] = Native("__reversed__", lambda run, self: reversed(self))
    names["mapping"] = Property(Native("mapping", lambda run, self: self._mapping))
    if kind is not Values:
        names.operators(("__and__", "__or__", "__sub__", "__xor__", "__eq__", "__ne__"))
        for word in ("isdisjoint",):
            names[word] = Native(word, lambda run, self, other: view_test(run, self, other))
    return dict(names)


def view_test(run: Runtime, self: Any, other: Value) -> Value:
    """`view.isdisjoint(other)`"""
    items = hashed(run, other)
    return items if isinstance(items, Unknown) else set(self).isdisjoint(items)


KEYS = host_class("dict_keys", Keys, view(Keys), also=(type({}.keys()), type(OrderedDict().keys())))
VALUES = host_class("dict_values", Values, view(Values), also=(type({}.values()), type(OrderedDict().values())))
ITEMS = host_class("dict_items", Items, view(Items), also=(type({}.items()), type(OrderedDict().items())))
