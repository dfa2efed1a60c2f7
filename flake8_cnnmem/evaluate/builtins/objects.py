"""`object`, `type`, and the classes of functions, modules, None: what every value has in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import HOSTED, OBJECT, TYPE, FunctionValue, host_class
from flake8_cnnmem.evaluate.builtins.declare import Names, made, payload
from flake8_cnnmem.evaluate.builtins.formatting import format_value, to_repr
from flake8_cnnmem.evaluate.builtins.keys import key
from flake8_cnnmem.evaluate.native_state import note_set_around
from flake8_cnnmem.runtime import Runtime
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

UNION = Class("UnionType", (OBJECT,), module="types")
"""The class of `int | None` and `typing.Optional[int]`: instances hold the alternatives in `__args__`."""


objects = Names()

PLAIN = (int, float, str, bool, tuple, list, dict, type(None), Instance)
"""What a class holds as the default of its instances' attributes, and no method."""


@objects.function("__init__", propagate_unknown=False)
def object_init(run: Runtime, self: Value, /, *args: Value, **kwargs: Value) -> None:
    """Accepts anything: a class with its own `__new__` gets the arguments here too. Of a class without one a base or
    a decorator that is not followed takes them (settings as pydantic and attrs have them): an attribute of such a name
    need not be the class's own."""
    maker = self.cls.find("__new__") if isinstance(self, Instance) else MISSING
    if not isinstance(self, Instance) or not (args or kwargs) or maker not in (MISSING, objects["__new__"]):
        return
    lost = self.cls.any_unknown_base()
    cause = run.unknown(f"what {self.cls.name} makes of its arguments is not known") if lost is None else lost
    declared = [word for cls in reversed(self.cls.mro) for word in cls.namespace.get("__annotations__", ())]
    for word in (*declared[: len(args)], *kwargs):
        if isinstance(self.cls.find(word), PLAIN):
            self.attributes.setdefault(word, cause)


@objects.function("__new__", propagate_unknown=False)
def object_new(run: Runtime, cls: Class, /, *args: Value, **kwargs: Value) -> Value:
    """A new instance without attributes. Its site is that of the constructing call, which `construct` knows."""
    return cls if isinstance(cls, Unknown) else Instance(cls, site=run.here())


@objects.class_method("__init_subclass__", propagate_unknown=False)
def init_subclass(run: Runtime, cls: Class, /, **kwargs: Value) -> None:
    """Nothing to do; keyword arguments of a class statement end here."""


@objects.function("__getattribute__", propagate_unknown=False)
def get_attribute(run: Runtime, self: Value, name: str) -> Value:
    """Attribute lookup past any `__getattr__` of the class."""
    if not isinstance(self, Instance) or not isinstance(name, str):
        return run.get(self, name)
    found = run.get_plainly(self, name)
    if found is MISSING and self.cls.any_unknown_base() is not None:
        return self.cls.any_unknown_base()
    if found is MISSING:
        raise run.error("AttributeError", f"'{self.cls.name}' object has no attribute '{name}'")
    return found


@objects.function("__setattr__", propagate_unknown=False)
def set_attribute(run: Runtime, self: Value, name: str, value: Value) -> None:
    """Stores in the instance itself, past any `__setattr__` of its class; a property's setter still counts."""
    if not isinstance(self, Instance):
        run.set(self, name, value)
        return
    run.set_plainly(self, name, value)
    note_set_around(self, name)


@objects.function("__delattr__", propagate_unknown=False)
def delete_attribute(run: Runtime, self: Value, name: str) -> None:
    """`object.__delattr__(self, name)`. AttributeError where it has none."""
    if not isinstance(self, Instance):
        run.delete(self, name)
        return
    run.delete_plainly(self, name)


@objects.function("__hash__")
def object_hash(run: Runtime, self: Value) -> Value:
    """`object.__hash__(self)`, which changes from run to run."""
    found = key(run, self)
    return found if isinstance(found, Unknown) else run.unknown("a hash changes from run to run")


OBJECT.namespace.update(objects)
"""`__repr__`, `__str__` and `__format__` are left out: formatting knows the defaults, and asks for users' own."""


types = Names()


@types.function("__new__", propagate_unknown=False)
def type_new(
    run: Runtime, meta: Class, name: Value, bases: Value = None, namespace: Value = None, /, **kwargs: Value
) -> Value:
    """`type(name, bases, namespace)`, and `type(value)` for one argument."""
    if bases is None or namespace is None:
        return run.type_of(name)
    return make_class(run, meta, name, bases, namespace, kwargs)


def make_class(
    run: Runtime, meta: Class, name: Value, bases: Value, namespace: Value, kwargs: dict[str, Value] | None = None
) -> Value:
    """A class made at run time. Its `__init_subclass__` hooks run; `facts["metaclass"]` is set for a metaclass."""
    names = run.items(namespace)
    parents: Any = run.items(bases)
    for part in (name, names, parents):
        if isinstance(part, Unknown):
            return part
    known_bases = tuple(base for base in parents if isinstance(base, Class))
    cause = next((base for base in parents if isinstance(base, Unknown)), None)
    if cause is None and len(known_bases) < len(parents):
        cause = run.unknown(f"a base class of {payload(name)} is not a class")
    entries = payload(namespace)
    run.spend(sum(len(base.mro) for base in known_bases))
    if not isinstance(payload(name), str):
        raise TypeError("type.__new__() argument 1 must be str")
    cls = Class(
        payload(name),
        known_bases or (OBJECT,),
        dict(entries) if isinstance(entries, dict) else {},
        site=run.here(),
        unknown_base=cause,
    )
    if meta is not TYPE:
        cls.facts["metaclass"] = meta
    for base in cls.mro[1:]:
        hook = base.namespace.get("__init_subclass__")
        if hook is not None:
            made = run.call(hook.function if isinstance(hook, ClassMethod) else hook, cls, **(kwargs or {}))
            return made if isinstance(made, Class) else cls
    return cls


@types.function("__init__", propagate_unknown=False)
def type_init(run: Runtime, self: Value, /, *args: Value, **kwargs: Value) -> None:
    """Nothing to do: `__new__` has made the class."""


@types.function("mro")
def type_mro(run: Runtime, self: Class) -> list[Class]:
    """`cls.mro()`"""
    return list(self.mro)


@types.function("__subclasses__")
def type_subclasses(run: Runtime, self: Class) -> Value:
    """The direct subclasses of a class of the code, from the modules that were read; made now where they were not
    needed so far."""
    importer = getattr(run, "importer", None)
    if self.site is None or importer is None:
        return run.unknown("the subclasses of a class are not followed")
    return importer.subclasses(self)


@types.function("__call__", propagate_unknown=False)
def type_call(run: Runtime, self: Class, /, *args: Value, **kwargs: Value) -> Value:
    """What `super().__call__(...)` in a metaclass ends in: the instance is made."""
    return run.construct(self, *args, **kwargs)


def union(*parts: Value) -> Instance:
    """`X | Y`: unions among the parts are flattened."""
    flat: list[Value] = []
    for part in parts:
        inner = part.attributes["__args__"] if isinstance(part, Instance) and part.cls is UNION else (part,)
        flat.extend(item for item in inner if not any(item is other for other in flat))
    return Instance(UNION, {"__args__": tuple(flat)})


TYPE.namespace.update(types)

unions = Names()


@unions.function("__instancecheck__", propagate_unknown=False)
def union_check(run: Runtime, self: Value, value: Value) -> bool | Unknown:
    """Whether a value is an instance of one of the alternatives."""
    if not isinstance(self, Instance):
        return isinstance(value, Instance) and value.cls is UNION
    cause: Unknown | None = None
    for part in self.attributes["__args__"]:
        answer = run.is_instance(value, NONE if part is None else part)
        if answer is True:
            return True
        if isinstance(answer, Unknown):
            cause = answer
    return False if cause is None else cause


unions["__or__"] = Native("__or__", lambda run, self, other: union(self, other), propagate_unknown=False)
unions["__ror__"] = Native("__ror__", lambda run, self, other: union(other, self), propagate_unknown=False)


@unions.function("__eq__", propagate_unknown=False)
def equal_unions(run: Runtime, self: Instance, other: Value) -> bool:
    """Unions of the same alternatives are equal, in any order."""
    if not isinstance(other, Instance) or other.cls is not UNION:
        return False
    mine, theirs = self.attributes["__args__"], other.attributes["__args__"]
    return len(mine) == len(theirs) and all(any(run.equal(one, each) is True for each in theirs) for one in mine)


@unions.function("__getitem__", propagate_unknown=False)
def union_item(run: Runtime, self: Instance, parameters: Value) -> Value:
    """`(X | Y)[parameters]`: the union itself."""
    return self


UNION.namespace.update(unions)

NONE = host_class("NoneType", type(None), {})
ELLIPSIS = host_class("ellipsis", type(...), {})
NOT_IMPLEMENTED = host_class("NotImplementedType", type(NotImplemented), {})

functions = Names()


@functions.function("__get__", propagate_unknown=False)
def bind_function(run: Runtime, self: Value, instance: Value, owner: Value = None) -> Value:
    """`function.__get__(instance)`: a bound method."""
    return self if instance is None else Bound(self, instance)


@functions.function("__call__", propagate_unknown=False)
def call_function(run: Runtime, self: Value, /, *args: Value, **kwargs: Value) -> Value:
    """`function.__call__(...)`"""
    return run.call(self, *args, **kwargs)


functions["__self__"] = Property(
    Native("__self__", lambda run, self: self.receiver if isinstance(self, Bound) else run.unknown("no __self__"))
)
functions["__func__"] = Property(
    Native("__func__", lambda run, self: self.function if isinstance(self, Bound) else run.unknown("no __func__"))
)

FUNCTION = host_class("function", FunctionValue, dict(functions))
"""The class of the interpreted program's own functions."""
HOSTED[Class] = TYPE
BUILTIN_FUNCTION = host_class("builtin_function_or_method", Native, dict(functions))
METHOD = host_class("method", Bound, dict(functions))
MODULE = host_class("module", Namespace, {}, module="types")

descriptors = Names()


@descriptors.function("setter", propagate_unknown=False)
def setter(run: Runtime, self: Property, function: Value) -> Property:
    """`@property.setter`: the property with another setter."""
    return replace(self, fset=function)


@descriptors.function("getter", propagate_unknown=False)
def getter(run: Runtime, self: Property, function: Value) -> Property:
    """`@property.getter`: the property with another getter."""
    return replace(self, fget=function)


@descriptors.function("deleter", propagate_unknown=False)
def deleter(run: Runtime, self: Property, function: Value) -> Property:
    """`@property.deleter`: the property with another deleter."""
    return replace(self, fdel=function)


@descriptors.function("__new__", propagate_unknown=False)
def property_new(
    run: Runtime, cls: Class, fget: Value = None, fset: Value = None, fdel: Value = None, doc: Value = None
) -> Value:
    """`property(fget, fset, fdel)`; of a subclass with a `__get__` of its own an instance."""
    found = Property(fget, fset, fdel)
    # A subclass that reads in its own way (`classproperty`) is an object with a `__get__` as any other.
    return found if cls.find("__get__") is descriptors["__get__"] else made(run, cls, found)


@descriptors.function("__get__", propagate_unknown=False)
def property_get(run: Runtime, self: Property, instance: Value, owner: Value = None) -> Value:
    """`property.__get__(instance)`: the value; of a class the property itself."""
    return self if instance is None else run.call(self.fget, instance)


descriptors["fget"] = Property(Native("fget", lambda run, self: payload(self).fget))
descriptors["fset"] = Property(Native("fset", lambda run, self: payload(self).fset))
descriptors["fdel"] = Property(Native("fdel", lambda run, self: payload(self).fdel))
PROPERTY = host_class("property", Property, dict(descriptors))


def wrapper(kind: Any) -> dict[str, Value]:
    """The class members of `staticmethod` and `classmethod`."""
    names = Names()

    @names.function("__new__", propagate_unknown=False)
    def new(run: Runtime, cls: Class, function: Value) -> Value:
        return kind(function)

    names["__func__"] = Property(Native("__func__", lambda run, self: self.function))
    names["__wrapped__"] = names["__func__"]
    names["__get__"] = Native(
        "__get__",
        lambda run, self, instance, owner=None: (
            self.function if kind is StaticMethod else Bound(self.function, owner or run.type_of(instance))
        ),
        propagate_unknown=False,
    )
    return dict(names)


STATIC_METHOD = host_class("staticmethod", StaticMethod, wrapper(StaticMethod))
CLASS_METHOD = host_class("classmethod", ClassMethod, wrapper(ClassMethod))

host_format = Native("__format__", lambda run, self, spec: format_value(run, payload(self), spec))
host_repr = Native("__repr__", lambda run, self: to_repr(run, payload(self)))
"""For the namespaces of host types, which also users' subclasses call through `super()`."""
