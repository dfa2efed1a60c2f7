"""`types` and `abc`."""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.classes import OBJECT, TYPE
from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.formatting import to_repr
from flake8_cnnmem.evaluate.builtins.iterators import GENERATOR
from flake8_cnnmem.evaluate.builtins.mappings import entries
from flake8_cnnmem.evaluate.builtins.objects import (
    BUILTIN_FUNCTION,
    CLASS_METHOD,
    ELLIPSIS,
    FUNCTION,
    METHOD,
    MODULE,
    NONE,
    PROPERTY,
    STATIC_METHOD,
    UNION,
    make_class,
)
from flake8_cnnmem.evaluate.functions import IS_ABSTRACT, Function
from flake8_cnnmem.evaluate.stdlib.modules import identity, native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Bound, Class, ClassMethod, Instance, Namespace, Native, Value, native

names = Names({
    "FunctionType": FUNCTION, "LambdaType": FUNCTION, "MethodType": METHOD, "BuiltinFunctionType": BUILTIN_FUNCTION,
    "BuiltinMethodType": BUILTIN_FUNCTION, "ModuleType": MODULE, "GeneratorType": GENERATOR, "NoneType": NONE,
    "EllipsisType": ELLIPSIS, "UnionType": UNION,
})  # fmt: skip

METHOD.namespace["__new__"] = Native("__new__", lambda run, cls, func, obj: Bound(func, obj), propagate_unknown=False)


def new_module(run: Runtime, cls: Class, name: str = "", *args: Value, **kwargs: Value) -> Value:
    """A module made at run time; of a class of the user's own, that loads its parts lazily, an instance."""
    if cls is not MODULE:
        return Instance(cls)
    return Namespace(name, lambda word: Unknown(f"{word} of a module made at run time is not known"))


MODULE.namespace["__new__"] = Native("__new__", new_module)

simple = Names()


@simple.function("__init__", propagate_unknown=False)
def simple_init(run: Runtime, self: Instance, mapping: Value = (), /, **kwargs: Value) -> None:
    """`SimpleNamespace(**kwargs)`"""
    found = entries(run, mapping)
    run.changed(self)
    if isinstance(found, list):
        self.attributes.update({payload(word): value for word, value in found})
    self.attributes.update(kwargs)


@simple.function("__repr__")
def simple_repr(run: Runtime, self: Instance) -> Value:
    """`repr` of a SimpleNamespace."""
    parts = []
    for word, value in self.attributes.items():
        text = to_repr(run, value)
        if isinstance(text, Unknown):
            return text
        parts.append(f"{word}={text}")
    return f"namespace({', '.join(parts)})"


@simple.function("__eq__")
def simple_equal(run: Runtime, self: Instance, other: Value) -> Value:
    """`==` of two SimpleNamespaces: all attributes."""
    if not isinstance(other, Instance) or other.cls is not self.cls:
        return NotImplemented
    return run.equal(self.attributes, other.attributes)


names["SimpleNamespace"] = native_class("SimpleNamespace", dict(simple), module="types")


def proxy_init(run: Runtime, self: Instance, mapping: Value) -> None:
    """`MappingProxyType(mapping)`: what the mapping has at any time; nothing can be put in."""
    self.attributes["mapping"] = mapping


def through(word: str) -> Native:
    """A method that asks the mapping."""
    return Native(
        word, lambda run, self, *args: run.call(run.get(self.attributes["mapping"], word), *args),
        propagate_unknown=False,
    )  # fmt: skip


READING = ("__getitem__", "__contains__", "__len__", "__iter__", "__repr__", "__or__", "get", "keys", "values", "items",
           "copy")  # fmt: skip
names["MappingProxyType"] = native_class(
    "mappingproxy", {"__init__": native("__init__", proxy_init), **{word: through(word) for word in READING}},
    module="types",
)  # fmt: skip
names["DynamicClassAttribute"] = names["coroutine"] = identity("decorator")
for _name in ("TracebackType", "FrameType", "CodeType", "CoroutineType", "AsyncGeneratorType", "MappingProxy",
              "GetSetDescriptorType", "MemberDescriptorType", "WrapperDescriptorType", "CellType",
              "GenericAlias"):  # fmt: skip
    names.setdefault(_name, native_class(_name, {}, module="types"))


@names.function("new_class", propagate_unknown=False)
def new_class(run: Runtime, name: Value, bases: Value = (), kwds: Value = None, exec_body: Value = None) -> Value:
    """`types.new_class(name, bases)`"""
    namespace: dict[str, Value] = {}
    if exec_body is not None:
        run.call(exec_body, namespace)
    return make_class(run, TYPE, name, bases, namespace)


# abc


def register(run: Runtime, cls: Class, subclass: Value) -> Value:
    """`cls.register(subclass)`: counts as a subclass from now on."""
    if isinstance(subclass, Class):
        cls.facts.setdefault("registered", []).append(subclass)
    return subclass


def abstract_method(run: Runtime, funcobj: Value) -> Value:
    """`abc.abstractmethod(function)`: the function, of which a class has to have another one."""
    if isinstance(funcobj, Function):
        funcobj.attributes[IS_ABSTRACT] = True
    return funcobj


META = Class("ABCMeta", (TYPE,), {"register": Native("register", register)}, module="abc")
ABC = Class("ABC", (OBJECT,), {"register": ClassMethod(Native("register", register))}, module="abc")


abstract_classes: dict[str, Value] = {
    "ABC": ABC,
    "ABCMeta": META,
    "abstractmethod": Native("abstractmethod", abstract_method),
    "abstractproperty": PROPERTY,
    "abstractclassmethod": CLASS_METHOD,
    "abstractstaticmethod": STATIC_METHOD,
    "get_cache_token": Native("get_cache_token", lambda run: 0),
    "update_abstractmethods": identity("update_abstractmethods"),
}

MODULES: dict[str, dict[str, Value]] = {"types": names, "abc": abstract_classes}
