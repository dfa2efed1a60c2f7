"""Arguments that an object keeps: dicts whose items are attributes as well."""

from __future__ import annotations

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value


def get_item(run: Runtime, self: Instance, name: Value) -> Value:
    """An entry as an attribute. AttributeError for one that it does not have."""
    found = self.payload.get(name, MISSING) if isinstance(name, str) else MISSING
    if found is MISSING:
        raise run.error("AttributeError", f"Missing attribute {name!r}")
    return found


def set_item(run: Runtime, self: Instance, name: Value, value: Value) -> Value:
    """An attribute as an entry."""
    run.changed(self.payload)
    self.payload[name] = value
    return None


HPARAMS = Class(
    "AttributeDict",
    namespace={
        "__getattr__": Native("__getattr__", get_item, propagate_unknown=False),
        "__setattr__": Native("__setattr__", set_item, propagate_unknown=False),
    },
    module="lightning.fabric.utilities.data",
)


def held_as(cls: Class, items: dict[str, Value]) -> Instance:
    """An instance of a dict's subclass that holds these entries."""
    return Instance(cls, payload=items)


def saved_arguments(run: Runtime) -> dict[str, Value]:
    """The arguments of the constructor that is running, by name; those of `**kwargs` among them."""
    found = run.arguments()
    if isinstance(found, Unknown):
        return {}
    return {word: value for word, value in found.items() if word not in ("self", "__class__")}
