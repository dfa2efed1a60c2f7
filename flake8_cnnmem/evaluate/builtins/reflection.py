"""The builtin functions that ask objects for their attributes, classes and names: getattr, isinstance, dir."""

from __future__ import annotations

from typing import Any, TypeGuard

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.builtins.classes import OBJECT
from flake8_cnnmem.evaluate.builtins.declare import Identity, Names, payload, special, unknown_base
from flake8_cnnmem.evaluate.builtins.keys import key
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import (
    MISSING,
    Bound,
    Class,
    Instance,
    Namespace,
    Native,
    Raised,
    Value,
    is_callable,
)

reflections = Names()


def attribute_name(value: Value) -> str:
    """The text of an attribute's name. TypeError for what is no text."""
    name = payload(value)
    if not isinstance(name, str):
        raise TypeError("attribute name must be string")
    return name


@reflections.function("getattr", propagate_unknown=False)
def get_attribute(run: Runtime, value: Value, name: Value, default: Value = MISSING, /) -> Value:
    """`getattr(value, name, default)`. AttributeError without a default."""
    if isinstance(value, Unknown) and not (value.among and isinstance(name, str)):
        return value
    if isinstance(name, Unknown):
        return one_held_by(run, value, name)
    word = attribute_name(name)
    if default is MISSING:
        return run.get(value, word)
    found = quietly(run, value, word)
    if found is not MISSING and is_older(value, word):
        return run.unknown(f"it depends on the version of {value.name} whether it has {word}")
    return default if found is MISSING else found


def one_held_by(run: Runtime, value: Value, name: Unknown) -> Value:
    """The attribute of a name that is not known: a layer or weight of a layer, an object's own."""
    framework = frameworks.of_layer(value)
    if framework is None or not isinstance(value, Instance):
        return run.one_of(list(value.attributes.values()), name) if isinstance(value, Instance) else name
    inside: list[Value] = [child for _, child in framework.children(value)]
    return run.one_of(inside or list(framework.weights(value)), name)


def is_older(value: Value, name: str) -> TypeGuard[Namespace]:
    """Whether a name of a module is one that only its earlier versions have."""
    return isinstance(value, Namespace) and value.older is not None and value.older(name)


def quietly(run: Runtime, value: Value, name: str) -> Value:
    """The attribute, or MISSING also where a property or `__getattr__` raises AttributeError."""
    try:
        return run.find(value, name)
    except Raised as raised:
        if any(cls.name == "AttributeError" for cls in raised.value.cls.mro):
            return MISSING
        raise


@reflections.function("hasattr")
def has_attribute(run: Runtime, value: Value, name: Value, /) -> Value:
    """`hasattr(value, name)`; unknown where nobody can say whether the attribute is there."""
    found = quietly(run, value, attribute_name(name))
    if is_older(value, attribute_name(name)):
        return run.unknown(f"it depends on the version of {value.name} whether it has {attribute_name(name)}")
    if isinstance(value, Namespace) and value.holds is not None:
        return found is not MISSING
    if isinstance(found, Unknown) and not isinstance(value, (Instance, Class)):
        return found
    if isinstance(found, Unknown) and unknown_attribute(value, attribute_name(name)):
        return found
    return found is not MISSING


def unknown_attribute(value: Value, name: str) -> bool:
    """Whether an Unknown stands for "nobody knows if it is there" rather than for an attribute's unknown value."""
    if isinstance(value, Instance):
        return name not in value.attributes and value.cls.find(name) is MISSING
    return isinstance(value, Class) and value.find(name) is MISSING


@reflections.function("setattr", propagate_unknown=False)
def set_attribute(run: Runtime, value: Value, name: Value, new: Value, /) -> None:
    """`setattr(value, name, new)`; under a name that is not known, any attribute may be the new one."""
    if isinstance(value, Instance) and isinstance(name, Unknown):
        setter = value.cls.find("__setattr__")
        if isinstance(setter, Native) and setter is not OBJECT.find("__setattr__"):
            run.call(Bound(setter, value), name, new)
            return
        run.changed(value)
        for word in value.attributes:
            value.attributes[word] = name
    elif not isinstance(name, Unknown):
        run.set(value, attribute_name(name), new)


@reflections.function("delattr")
def delete_attribute(run: Runtime, value: Value, name: Value, /) -> None:
    """`delattr(value, name)`"""
    run.delete(value, attribute_name(name))


@reflections.function("isinstance", propagate_unknown=False)
def is_instance(run: Runtime, value: Value, cls: Value, /) -> Value:
    """`isinstance(value, cls)`"""
    return run.is_instance(value, cls)


@reflections.function("issubclass")
def is_subclass(run: Runtime, cls: Value, parent: Value, /) -> Value:
    """`issubclass(cls, parent)`, also for a tuple of parents."""
    if isinstance(parent, tuple):
        answers = [is_subclass(run, cls, each) if not isinstance(each, Unknown) else each for each in parent]
        if any(answer is True for answer in answers):
            return True
        return next((answer for answer in answers if isinstance(answer, Unknown)), False)
    if not isinstance(cls, Class):
        raise TypeError("issubclass() arg 1 must be a class")
    if not isinstance(parent, Class):
        return run.unknown("issubclass() of something that is not a class")
    if cls.derives_from(parent):
        return True
    hook = parent.namespace.get("__subclasscheck__")
    if hook is not None:
        return run.call(hook, parent, cls)
    cause = cls.any_unknown_base()
    return False if cause is None else cause


@reflections.function("callable")
def is_callable_(run: Runtime, value: Value, /) -> Value:
    """`callable(value)`"""
    if is_callable(value):
        return True
    if isinstance(value, Instance):
        cause = unknown_base(value)
        return value.cls.find("__call__") is not MISSING or (False if cause is None else cause)
    return False


@reflections.function("id", propagate_unknown=False)
def identity(run: Runtime, value: Value, /) -> int:
    """The host's own identity: the same for the same object, which is all that code may rely on."""
    return Identity(id(value))


@reflections.function("hash")
def hash_(run: Runtime, value: Value, /) -> Value:
    """`hash(value)`: of texts unknown, since it changes from run to run."""
    method = special(value, "__hash__")
    if method is not None:
        return run.call(method)
    if isinstance(payload(value), (int, float)):
        return hash(payload(value))
    found = key(run, value)
    return found if isinstance(found, Unknown) else run.unknown("a hash changes from run to run")


@reflections.function("vars")
def variables(run: Runtime, value: Value, /) -> Value:
    """`vars(value)`"""
    return run.get(value, "__dict__")


@reflections.function("dir")
def directory(run: Runtime, value: Value = MISSING, /) -> Value:
    """`dir(value)`: the names in order, as far as they are known."""
    if value is MISSING:
        return run.unknown("dir() without an argument is not followed")
    names: set[Any] = set()
    if isinstance(value, Namespace):
        return Directory(value)
    if isinstance(value, (Instance, Class)):
        classes = value.cls.mro if isinstance(value, Instance) else value.mro
        cause = next((cls.unknown_base for cls in classes if cls.unknown_base is not None), None)
        if cause is not None:
            return cause
        for cls in classes:
            names.update(cls.namespace)
        own: Any = value.attributes if isinstance(value, Instance) else {}
    else:
        own = run.find(value, "__dict__")
        if isinstance(own, Instance) and own.cls.find("keys") is not MISSING:
            # A module that is read on demand.
            words = run.items(run.call(run.get(own, "keys")))
            own = words if isinstance(words, Unknown) else dict.fromkeys(words)
    if not isinstance(own, dict):
        return run.unknown("the names in an object are not followed")
    return sorted(name for name in (*names, *own) if isinstance(name, str))


class Directory:
    """`dir(module)` of a native module: it can be asked for a name, and is listed where all names are written down."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace

    def listed(self) -> list[str] | Unknown:
        """The names in order, or why they are not known."""
        names = self.namespace.names
        return Unknown(f"which names {self.namespace.name} has is not known") if names is None else sorted(names())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.namespace.lookup(name) is not MISSING
