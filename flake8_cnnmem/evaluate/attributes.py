"""`value.name`: found as CPython finds it, on instances, classes, modules, tensors and plain values."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem import frameworks, packages
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate import builtins
from flake8_cnnmem.evaluate.annotations import annotations_of_class, annotations_of_function
from flake8_cnnmem.evaluate.functions import Function, Super
from flake8_cnnmem.evaluate.module_dict import contents
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.stdlib import host_members
from flake8_cnnmem.evaluate.stdlib.frame_objects import code_of
from flake8_cnnmem.evaluate.stdlib.versions import with_order
from flake8_cnnmem.evaluate.unknown_members import of_unknown
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.text.versions import VersionText
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
    Raised,
    StaticMethod,
    Value,
)

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

INHERITED_FROM_UNKNOWN = "asked of a base that is not known"
"""The scratch dict of what was last asked of a base class that is not known: the object, by the cause's id."""

INHERITED = ("__getattribute__", "__setattr__", "__delattr__", "__init_subclass__")
"""What `object` does that people call by name on objects of any class."""


def find(run: Interpreter, value: Value, name: str) -> Value:
    """The attribute, MISSING where it is absent for certain, Unknown where nobody can say."""
    kind = type(value)
    if type(value) is Instance:
        return of_instance(run, value, name)
    if type(value) is Unknown:
        return of_unknown(run, value, name)
    if name == "__class__":
        return run.type_of(value)
    if type(value) is Module:
        return value.attribute(run, name)
    if type(value) is Class:
        return of_class(run, value, name)
    if type(value) is Namespace:
        return of_namespace(run, value, name)
    if isinstance(value, Tensor):
        return frameworks.of(value).get(run, value, name)
    if type(value) is Super:
        return of_super(run, value, name)
    if type(value) is Function:
        return of_function(run, value, name)
    if type(value) is Bound:
        if name == "__self__":
            return value.receiver
        return value.function if name == "__func__" else find(run, value.function, name)
    if type(value) is Native:
        return of_native(run, value, name)
    if type(value) is Property:
        return of_property(value, name)
    if kind is Batch:
        found = builtins.method(run, 1, name)
        return run.unknown(f"{name} of the batch size") if found is not MISSING else MISSING
    if kind is OrderedDict and name in vars(value):
        return vars(value)[name]
    return builtins.method(run, value, name)


LOOKED_UP = "looked up by"
"""Among the facts of a class: the `__getattribute__` that it defines, or inherits from one that does."""


SLOTS = "slots"
"""Among the facts of a class whose instances have no `__dict__`: the attributes that they can have."""


def of_instance(run: Interpreter, instance: Instance, name: str) -> Value:
    """An attribute of an instance as Python looks it up: data descriptors, its own, its class's, `__getattr__`; or
    MISSING."""
    cls = instance.cls
    if cls.facts and LOOKED_UP in cls.facts and not name.startswith("__"):
        found = run.quietly("AttributeError", cls.facts[LOOKED_UP], instance, name)
    else:
        found = of_instance_plainly(run, instance, name)
    if found is not MISSING:
        return found
    fallback = cls.find("__getattr__")
    if fallback is not MISSING and name != "__getattribute__":
        if type(fallback) is not Native:
            return run.quietly("AttributeError", fallback, instance, name)
        found = asked(run, fallback, instance, name)
        if found is not MISSING:
            return found
    unknown_base = cls.any_unknown_base()
    if unknown_base is not None:
        run.data(INHERITED_FROM_UNKNOWN)[id(unknown_base)] = instance
        return unknown_base
    if instance.payload is not None:
        return builtins.method(run, instance.payload, name)
    found = bind(run, inherited(run, name), instance, cls)
    return not_described(run, cls, name) if found is MISSING else found


def asked(run: Interpreter, fallback: Native, instance: Instance, name: str) -> Value:
    """What a `__getattr__` of ours gives; MISSING where it raises AttributeError. A module's children come this way."""
    run.spend(1)
    try:
        return fallback.function(run, instance, name)
    except Raised as raised:
        if any(cls.name == "AttributeError" for cls in raised.value.cls.mro):
            return MISSING
        raise


def of_instance_plainly(run: Interpreter, instance: Instance, name: str) -> Value:
    """What `object.__getattribute__` finds: `__getattr__` is not asked."""
    cls = instance.cls
    found = cls.find(name)
    if type(found) is Property:
        if cls.find("__getattr__") is not MISSING and type(found.fget) is Function:
            # An AttributeError out of a property's own code sends Python to `__getattr__` as well.
            return run.quietly("AttributeError", found.fget, instance)
        return run.invoke(found.fget, (instance,), {})
    if type(found) is Instance and all(found.cls.find(word) is not MISSING for word in ("__get__", "__set__")):
        return bind(run, found, instance, cls)
    own = instance.attributes.get(name, MISSING)
    if own is not MISSING:
        return own
    if found is not MISSING:
        # `__new__` is a static method without saying so.
        return found if name == "__new__" else bind(run, found, instance, cls)
    if name == "__class__":
        return cls
    if name == "__module__":
        return cls.module
    if name == "__new__":
        return run.builtin("object").namespace[name]
    return instance.attributes if name == "__dict__" and SLOTS not in cls.facts else MISSING


def not_described(run: Interpreter, cls: Class, name: str) -> Value:
    """What a name is that a class does not have for us: unknown where it is a framework's class that has the name, or
    one of Python's library, or a package's, of which its room in `packages` describes what models and trainings use;
    MISSING in all other cases."""
    if name.startswith("__"):
        return MISSING
    for base in cls.mro:
        if base.site is None and (frameworks.has_member(base, name) or host_members.has_member(base, name)):
            return run.unknown(f"{base.module}.{base.name}.{name} is not followed")
    if cls.site is None and packages.package(cls.module.partition(".")[0]) is not None:
        return run.unknown(f"{cls.module}.{cls.name}.{name} is not followed")
    return MISSING


def inherited(run: Interpreter, name: str) -> Value:
    """What every object has, those of native classes too, whose own base is not written down."""
    return run.builtin("object").namespace.get(name, MISSING) if name in INHERITED else MISSING


def bind(run: Interpreter, found: Value, receiver: Value, cls: Class) -> Value:
    """What an attribute found on a class gives when it is read through an instance."""
    kind = type(found)
    if kind is Function or kind is Native:
        return Bound(found, receiver)
    if type(found) is StaticMethod:
        return found.function
    if type(found) is ClassMethod:
        return Bound(found.function, cls)
    if type(found) is Property:
        return run.invoke(found.fget, (receiver,), {})
    if type(found) is Instance and found.cls.find("__get__") is not MISSING:
        return run.invoke(Bound(found.cls.find("__get__"), found), (receiver, cls), {})
    return found


COOPERATIVE = frozenset({"__new__", "__init__", "__init_subclass__"})
"""What a base class that is not known is taken to hand on to the next one in the order, as mixins do."""


def of_super(run: Interpreter, value: Super, name: str) -> Value:
    """An attribute of the classes behind one in the order of its instance's class, bound to the instance; or
    MISSING."""
    receiver = value.receiver
    cls: Class = receiver if isinstance(receiver, Class) else receiver.cls
    if isinstance(receiver, Class) and value.cls not in cls.mro and name == "__call__":
        # In a metaclass's `__call__`: what makes the instance.
        return Native(
            "__call__", lambda run, *args, **kwargs: run.construct(receiver, *args, **kwargs), propagate_unknown=False
        )
    mro = cls.mro
    start = mro.index(value.cls) + 1 if value.cls in mro else 0
    lost: Unknown | None = None
    for base in mro[start:]:
        if base.unknown_base is not None and base is not value.cls:
            if name not in COOPERATIVE:
                run.data(INHERITED_FROM_UNKNOWN)[id(base.unknown_base)] = receiver
                return base.unknown_base
            lost = base.unknown_base if lost is None else lost
        if name in base.namespace:
            found = base.namespace[name]
            if isinstance(receiver, Class) and isinstance(found, (Function, Native)) and name != "__new__":
                # `__init_subclass__` is a class method without saying so.
                return Bound(found, receiver) if name == "__init_subclass__" else found
            return found if name == "__new__" else bind(run, found, receiver, cls)
    lost = lost or value.cls.unknown_base
    if name in COOPERATIVE:
        # Native classes do not write down that they derive from `object`.
        found = run.builtin("object").namespace[name]
        return found if name == "__new__" else bind(run, found, receiver, cls)
    if lost is not None:
        run.data(INHERITED_FROM_UNKNOWN)[id(lost)] = receiver
        return lost
    if isinstance(receiver, Instance) and name not in INHERITED:
        fallback = next(
            (base.namespace["__getattr__"] for base in mro[start:] if "__getattr__" in base.namespace), None
        )
        if fallback is not None:
            return run.quietly("AttributeError", fallback, receiver, name)
    return bind(run, inherited(run, name), receiver, cls)


def up_to_object(run: Interpreter, classes: tuple[Class, ...]) -> tuple[Class, ...]:
    """Classes with `object` as the last one, from which all are made."""
    last: Class = run.builtin("object")
    return classes if last in classes else (*classes, last)


def of_class(run: Interpreter, cls: Class, name: str) -> Value:
    """An attribute of a class or of its metaclass, bound as Python binds it; or MISSING."""
    if name == "__annotations__":
        return annotations_of_class(run, cls)
    # `type` has a `__dict__` of its own, which comes before that of the class's instances.
    found = MISSING if name == "__dict__" else cls.find(name)
    if type(found) is StaticMethod:
        return found.function
    if type(found) is ClassMethod:
        return Bound(found.function, cls)
    if found is not MISSING:
        if type(found) is Instance and found.cls.find("__get__") is not MISSING:
            return run.invoke(Bound(found.cls.find("__get__"), found), (None, cls), {})
        return found
    known = {
        "__name__": cls.name, "__qualname__": cls.name, "__mro__": up_to_object(run, cls.mro),
        "__bases__": cls.bases if cls.name == "object" else up_to_object(run, cls.bases)[: max(len(cls.bases), 1)],
        "__dict__": cls.namespace if cls.site is not None else dict(cls.namespace), "__module__": cls.module,
        "__doc__": None,
    }.get(name, MISSING)  # fmt: skip
    if known is not MISSING:
        return known
    metaclass = cls.facts.get("metaclass")
    # What every class has of `object` comes before what its metaclass has for itself.
    if isinstance(metaclass, Class) and name != "__new__" and name not in OF_OBJECT:
        found = metaclass.find(name)
        if found is not MISSING:
            return bind(run, found, cls, metaclass)
        fallback = metaclass.find("__getattr__") if not name.startswith("__") else MISSING
        if type(fallback) is Function and not cls.any_unknown_base():
            return run.quietly("AttributeError", fallback, cls, name)
    unknown_base = cls.any_unknown_base()
    if unknown_base is not None:
        return unknown_base
    if name == "mro":
        return Native("mro", lambda run: list(up_to_object(run, cls.mro)))
    if name == "__subclasses__":
        return Bound(run.builtin("type").namespace[name], cls)
    if name == "__new__":
        return run.builtin("object").namespace[name]
    if name in OF_OBJECT:
        return of_object(run, cls, name)
    return not_described(run, cls, name)


OF_OBJECT = {
    name: Native(name, lambda run, *args: run.unknown("what object's own method gives is not followed"))
    for name in ("__eq__", "__ne__", "__repr__", "__str__", "__format__", "__reduce__", "__reduce_ex__", "__sizeof__")
}
"""What classes have from `object` without a word of their own, for those who ask whether a class has its own."""


def of_object(run: Interpreter, cls: Class, name: str) -> Value:
    """`cls.__eq__`, where no class of the code in its order has one: `object`'s, unless a native class may have its
    own."""
    if all(base.site is not None or base is run.builtin("object") for base in cls.mro):
        return OF_OBJECT[name]
    return run.unknown(f"{name} of {cls.name} is not followed")


def of_namespace(run: Interpreter, namespace: Namespace, name: str) -> Value:
    """A name of a native module: what the program put there, or what the module has; or MISSING."""
    found = namespace.attributes.get(name, MISSING)
    if found is not MISSING and not is_put_later(run, found):
        return found
    if namespace.noted is not None and not run.import_guards:
        namespace.noted(run, name)
    found = namespace.lookup(name)
    if type(found) is VersionText:
        return with_order(found)
    run.importer.note_missing(namespace, found)
    if found is not MISSING:
        return found
    if name == "__name__":
        return namespace.name
    if name == "__dict__":
        return Instance(NAMES, native=namespace)
    if name in ("__version__", "__file__", "__path__"):
        return run.unknown(f"{namespace.name}.{name} is not known")
    submodule = run.importer.submodule(f"{namespace.name}.{name}")
    if isinstance(submodule, Module):
        # `from .rendezvous import rendezvous`: the package's name is that of the function, where the file has one.
        own = submodule.own(run, name)
        return submodule if own is MISSING else own
    if submodule is not None:
        return submodule
    if namespace.stands_in:
        return run.not_found(f"{namespace.name}.{name}")
    if namespace.holds is None:
        return run.unknown(f"{namespace.name}.{name} is not known")
    return run.unknown(f"{namespace.name}.{name} is not followed") if namespace.holds(name) else MISSING


def is_put_later(run: Interpreter, value: Value) -> bool:
    """Whether what a program has put into a library (`torch.load = load`) is not there yet when the running statement
    runs: a statement at the top of the module that defines it, in front of its definition (`original = torch.load`).
    Modules are read only as far as a name is needed, so it may be asked for when the change has been made."""
    frame = run.frame
    if not isinstance(value, Function) or frame is None or frame.kind != "module" or not frame.module.lazy:
        return False
    return value.module is frame.module and frame.line < value.site.line


def named(run: Interpreter, self: Instance, name: Value, default: Value = MISSING) -> Value:
    """`module.__dict__[name]`: as the attribute."""
    if isinstance(name, Unknown):
        return name
    found = find(run, self.native, name) if isinstance(name, str) else MISSING
    if found is MISSING and default is MISSING:
        raise KeyError(name)
    return default if found is MISSING else found


def all_names(run: Interpreter, self: Instance) -> dict[str, Value] | Unknown:
    """The names of a module of ours, where they are written down, with what they stand for."""
    if self.native.names is None:
        return run.unknown(f"which names {self.native.name} has is not known")
    return {name: find(run, self.native, name) for name in self.native.names()}


def of_all_names(word: str) -> Native:
    """A method of `module.__dict__` that goes through all its names: what the method of a dict gives."""

    def through(run: Interpreter, self: Instance) -> Value:
        found = all_names(run, self)
        return found if isinstance(found, Unknown) else run.call(run.find(found, word))

    return Native(word, through, propagate_unknown=False)


NAMES = Class(
    "dict",
    namespace={
        "__getitem__": Native("__getitem__", named, propagate_unknown=False),
        "get": Native(
            "get", lambda run, self, name, default=None: named(run, self, name, default), propagate_unknown=False
        ),
        **{word: of_all_names(word) for word in ("__iter__", "__len__", "keys", "values", "items", "copy")},
        "__contains__": Native(
            "__contains__",
            lambda run, self, name: name if isinstance(name, Unknown) else named(run, self, name, None) is not None,
            propagate_unknown=False,
        ),
    },
)
"""What a module of ours has for `__dict__`: its names are worked out when they are asked for."""


def of_function(run: Interpreter, function: Function, name: str) -> Value:
    """An attribute of a function of the program: its own, or `__name__`, `__code__` and their like."""
    if name in function.attributes:
        return function.attributes[name]
    if name in ("__name__", "__qualname__"):
        return function.name if name == "__name__" else function.qualified_name
    if name == "__module__":
        return function.module.name
    if name in ("__doc__", "__dict__"):
        return function.doc if name == "__doc__" else function.attributes
    if name == "__globals__":
        # Few names of it are asked for: functions are copied with it (`FunctionType(f.__code__, f.__globals__)`).
        return contents(function.module) if function.module.lazy else function.module.variables
    if name == "__defaults__":
        return function.given_defaults or None
    if name == "__kwdefaults__":
        return function.keyword_defaults
    if name == "__call__":
        return function
    if name == "__code__":
        return code_of(function.name, function.module.path, function.parameters, function.site.line)
    if name == "__annotations__":
        return annotations_of_function(run, function)
    if name == "__closure__":
        return run.unknown(f"{name} of a function is not followed")
    if name == "__get__":
        return Native("__get__", lambda run, instance, owner=None: Bound(function, instance))
    return MISSING


def of_native(run: Interpreter, native: Native, name: str) -> Value:
    """An attribute of a native function: its name, its docstring (None)."""
    if name in ("__name__", "__qualname__"):
        return native.name
    if name == "__doc__":
        return None
    if name == "__module__":
        return ""
    if name == "__call__":
        return native
    return run.unknown(f"{name} of {native.name} is not known")


def of_property(value: Property, name: str) -> Value:
    """`getter`, `setter` and `deleter` of a property: functions that give a changed one; or MISSING."""
    if name in CHANGED_BY:

        def change(run: object, function: Value) -> Property:
            return replace(value, **{CHANGED_BY[name]: function})

        return Native(name, change)
    return {"fget": value.fget, "fset": value.fset, "fdel": value.fdel}.get(name, MISSING)


CHANGED_BY = {"setter": "fset", "getter": "fget", "deleter": "fdel"}
"""The function of a property that a decorator of it gives."""
