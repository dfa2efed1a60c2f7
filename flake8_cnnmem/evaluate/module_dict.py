"""`module.__dict__` of a module that is read on demand: its names are known, what each holds is worked out when asked.

`models.__dict__[name]()` builds one model out of a package of hundreds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.evaluate.builtins.classes import OBJECT
from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Namespace, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter
    from flake8_cnnmem.evaluate.modules import Module

tables = Names()


def names_of(run: Interpreter, module: Module) -> list[str]:
    """The module's own names and those of its star imports, in their order."""
    found = dict.fromkeys(module.names(run))
    for statement in module.stars:
        dotted = statement.module or ""
        if statement.level:
            dotted = run.importer.resolve_relative(module, statement.level, dotted)
        source: Any = run.importer.find(dotted)
        if source is not None and hasattr(source, "exports") and source is not module:
            found.update(dict.fromkeys(word for word in exported(run, source) if source.exports(run, word)))
        elif isinstance(source, Namespace) and source.names is not None:
            found.update(dict.fromkeys(word for word in source.names() if not word.startswith("_")))
    return list(found)


def exported(run: Interpreter, module: Module) -> Iterator[str]:
    """The names that a module's `__all__` lists, else those without an underscore."""
    listed = module.own(run, "__all__")
    yield from (
        (word for word in listed if isinstance(word, str))
        if isinstance(listed, (list, tuple))
        else names_of(run, module)
    )


def look_up(run: Any, self: Instance, key: Value) -> Value:
    """The value of a module's name, or MISSING."""
    word = payload(key)
    return self.native.attribute(run, word) if isinstance(word, str) and word != "__dict__" else MISSING


@tables.function("__getitem__")
def get_item(run: Runtime, self: Instance, key: Value) -> Value:
    """`vars(module)[key]`. KeyError for a name that it does not have."""
    found = look_up(run, self, key)
    if found is MISSING:
        raise KeyError(payload(key))
    return found


@tables.function("get", propagate_unknown=False)
def get(run: Runtime, self: Instance, key: Value, default: Value = None) -> Value:
    """`vars(module).get(key, default)`."""
    if isinstance(key, Unknown):
        return key
    found = look_up(run, self, key)
    return default if found is MISSING else found


@tables.function("__contains__")
def contains(run: Any, self: Instance, key: Value) -> Value:
    """`key in vars(module)`."""
    return look_up(run, self, key) is not MISSING


@tables.function("__iter__")
def iterate(run: Any, self: Instance) -> Value:
    """An iterator over the names."""
    return iter(names_of(run, self.native))


@tables.function("keys")
def keys(run: Any, self: Instance) -> Value:
    """The names."""
    return names_of(run, self.native)


@tables.function("values")
def values(run: Any, self: Instance) -> Value:
    """The values, one after the other."""
    return (self.native.attribute(run, word) for word in names_of(run, self.native))


@tables.function("items")
def items(run: Any, self: Instance) -> Value:
    """Pairs of name and value."""
    return ((word, self.native.attribute(run, word)) for word in names_of(run, self.native))


@tables.function("__len__")
def length(run: Any, self: Instance) -> Value:
    """How many names the module has."""
    return len(names_of(run, self.native))


@tables.function("__setitem__")
def set_item(run: Any, self: Instance, word: Value, value: Value) -> None:
    """`vars(module)[word] = value`."""
    if isinstance(word, str):
        run.set(self.native, word, value)


@tables.function("setdefault", propagate_unknown=False)
def set_default(run: Any, self: Instance, word: Value, default: Value = None) -> Value:
    """`vars(module).setdefault(word, default)`."""
    found = word if isinstance(word, Unknown) else look_up(run, self, word)
    if found is MISSING:
        set_item(run, self, word, default)
    return default if found is MISSING else found


@tables.function("update", propagate_unknown=False)
def update(run: Any, self: Instance, *given: Value, **values: Value) -> None:
    """`vars(module).update(other, **values)`."""
    made = run.call(run.builtins["dict"], *given, **values)
    for word, value in made.items() if isinstance(made, dict) else ():
        set_item(run, self, word, value)


@tables.function("copy")
def copy(run: Any, self: Instance) -> Value:
    """A dict of all names with what they hold."""
    return {word: self.native.attribute(run, word) for word in names_of(run, self.native)}


CONTENTS = Class("dict", (OBJECT,), dict(tables), module="types")


def contents(module: Module) -> Instance:
    """A module's `__dict__`, which reads and writes the module itself."""
    return Instance(CONTENTS, native=module)
