"""`value.name = new` and `del value.name`, as CPython does it: on instances, classes, modules and plain values."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.alternatives import assign_to_one
from flake8_cnnmem.evaluate.attributes import SLOTS
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.native_state import about_to_change
from flake8_cnnmem.evaluate.signals import Returned
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import (
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Instance,
    Namespace,
    Native,
    Property,
    StaticMethod,
    Value,
)

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


def run_other_code(run: Interpreter, function: Function) -> None:
    """A function whose `__code__` is another one from now on: what it gives is not followed."""
    cause = run.unknown(f"the code of {function.name}() was replaced")
    function.body = lambda: lambda frame: Returned(cause)


def assign(run: Interpreter, value: Value, name: str, new: Value) -> None:
    """`value.name = new`. An Unknown swallows it."""
    if isinstance(value, Instance):
        setter = value.cls.find("__setattr__")
        if setter is not MISSING:
            run.invoke(Bound(setter, value), (name, new), {})
        else:
            assign_plainly(run, value, name, new)
    elif isinstance(value, Class):
        changed_class(run, value)
        value.namespace[name] = new
    elif isinstance(value, Tensor):
        frameworks.of(value).set(run, value, name, new)
    elif isinstance(value, Module):
        run.changed(value.variables)
        value.assign(name, new)
    elif isinstance(value, (Function, Namespace)):
        if isinstance(value, Namespace):
            about_to_change(value.attributes)
        run.changed(value.attributes)
        value.attributes[name] = new
        if isinstance(value, Function) and name == "__code__":
            run_other_code(run, value)
    elif isinstance(value, Bound):
        assign(run, value.function, name, new)
    elif type(value) is OrderedDict:
        # Of the built-in containers the one that has attributes of its own.
        run.changed(vars(value))
        vars(value)[name] = new
    elif isinstance(value, (StaticMethod, ClassMethod)):
        assign(run, value.function, name, new)
    elif isinstance(value, Unknown):
        run.trace.put_away[id(new)] = new
        assign_to_one(run, value, name, new)
    elif not isinstance(value, Native) and not (isinstance(value, Property) and name == "__doc__"):
        raise run.error("AttributeError", f"'{type(value).__name__}' object has no attribute '{name}'")


def changed_class(run: Interpreter, cls: Class) -> None:
    """The namespace of a class is about to change."""
    if cls.site is None:
        about_to_change(cls.namespace)
    run.changed(cls.namespace)


def assign_plainly(run: Interpreter, instance: Instance, name: str, new: Value) -> None:
    """object.__setattr__: a property's setter, else the instance's own attributes."""
    found = instance.cls.find(name)
    if isinstance(found, Property):
        if found.fset is None:
            raise run.error("AttributeError", f"property '{name}' of '{instance.cls.name}' object has no setter")
        run.invoke(found.fset, (instance, new), {})
        return
    if isinstance(found, Instance) and found.cls.find("__set__") is not MISSING:
        run.invoke(Bound(found.cls.find("__set__"), found), (instance, new), {})
        return
    if name == "__class__":
        run.changed(instance)
        instance.cls = new if isinstance(new, Class) else class_of_unknown(run, new)
        return
    if instance.cls.facts and SLOTS in instance.cls.facts and name not in instance.cls.facts[SLOTS]:
        raise run.error("AttributeError", f"'{instance.cls.name}' object has no attribute '{name}'")
    run.changed(instance)
    run.fills((id(instance), name))
    if name == "__dict__":
        # `self.__dict__ = self` of a dict whose keys are attributes as well, and `self.__dict__ = other.__dict__`
        items = new.payload if isinstance(new, Instance) else new
        if type(items) is dict:
            instance.attributes = items
            return
    if run.invocation is None or run.trace.turn is not None or not frameworks.is_layer(instance):
        before = instance.attributes.get(name)
        run.left_behind(before)
        if isinstance(before, (list, tuple, dict)) and before is not new:
            kept = set(map(id, items_of(new)))
            if kept.isdisjoint(map(id, items_of(before))):
                run.let_go(before)
    instance.attributes[name] = new


def items_of(value: Value) -> Iterable[Value]:
    """What a container holds; anything else alone."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else (value,)


def class_of_unknown(run: Interpreter, given: Value) -> Class:
    """What an object is whose `__class__` was set to something that is not known."""
    if not isinstance(given, Unknown):
        raise run.error("TypeError", "__class__ must be set to a class")
    return Class("object", unknown_base=given)


def remove(run: Interpreter, value: Value, name: str) -> None:
    """`del value.name`."""
    if isinstance(value, Instance):
        deleter = value.cls.find("__delattr__")
        if deleter is not MISSING:
            run.invoke(Bound(deleter, value), (name,), {})
        else:
            remove_plainly(run, value, name)
        return
    if isinstance(value, Class):
        changed_class(run, value)
        gone = value.namespace.pop(name, MISSING)
    elif isinstance(value, (Function, Namespace)):
        if isinstance(value, Namespace):
            about_to_change(value.attributes)
        run.changed(value.attributes)
        gone = value.attributes.pop(name, MISSING)
    elif isinstance(value, Module):
        run.changed(value.variables)
        gone = value.variables.pop(name, MISSING)
    else:
        return
    if gone is MISSING:
        raise run.error("AttributeError", name)


def remove_plainly(run: Interpreter, instance: Instance, name: str) -> None:
    """object.__delattr__: a property's deleter, else the instance's own attribute."""
    held = instance.cls.find(name)
    if isinstance(held, Property):
        if held.fdel is None:
            raise run.error("AttributeError", f"property '{name}' of '{instance.cls.name}' object has no deleter")
        run.invoke(held.fdel, (instance,), {})
        return
    if isinstance(held, Instance) and held.cls.find("__delete__") is not MISSING:
        run.invoke(Bound(held.cls.find("__delete__"), held), (instance,), {})
        return
    run.changed(instance)
    if instance.attributes.pop(name, MISSING) is MISSING and instance.cls.any_unknown_base() is None:
        # A base that is not known may have set it.
        raise run.error("AttributeError", name)
