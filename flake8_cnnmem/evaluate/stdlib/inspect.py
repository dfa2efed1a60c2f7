"""`inspect`: signatures of functions, members of objects."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from contextlib import suppress
from typing import Any

from flake8_cnnmem.evaluate.annotations import RETURNS, annotations_of_function
from flake8_cnnmem.evaluate.builtins.concrete import pure
from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.builtins.reflection import directory
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.collections import named_tuple_class
from flake8_cnnmem.evaluate.stdlib.frame_objects import argument_values, running, stack
from flake8_cnnmem.evaluate.stdlib.modules import native_class, unfollowed
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

names = Names()

EMPTY = native_class("_empty", {}, module="inspect")
KINDS = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD")


def annotation_of(run: Runtime, self: Instance) -> Value:
    """`parameter.annotation`, `signature.return_annotation`: worked out for who asks, of a function of the program."""
    word = self.attributes.get("name", RETURNS)
    return annotations_of_function(run, self.native).get(word, EMPTY) if isinstance(self.native, Function) else EMPTY


PARAMETER = native_class(
    "Parameter",
    {
        "empty": EMPTY, "annotation": Property(Native("annotation", annotation_of)),
        **{name: at for at, name in enumerate(KINDS)},
    },
    module="inspect",
)  # fmt: skip

signatures = Names()
signatures["return_annotation"] = Property(Native("return_annotation", annotation_of))
SIGNATURE = native_class("Signature", signatures, module="inspect")
signatures["empty"] = EMPTY

ONLY, EITHER, STAR, KEYWORD, DOUBLE_STAR = range(5)


def parameter(name: str, kind: int, default: Value = EMPTY) -> Instance:
    """An `inspect.Parameter`."""
    return Instance(PARAMETER, {"name": name, "kind": kind, "default": default})


def parameters(run: Runtime, function: Value) -> list[Instance] | Unknown:
    """The parameters of anything that can be called, without those that are bound already."""
    if isinstance(function, Bound):
        found = parameters(run, function.function)
        return found if isinstance(found, Unknown) else found[1:]
    if isinstance(function, (StaticMethod, ClassMethod)):
        return parameters(run, function.function)
    if isinstance(function, (Class, Instance)):
        wrapped = function.attributes.get("__wrapped__") if isinstance(function, Instance) else None
        if wrapped is not None:
            return parameters(run, wrapped)
        cls, word = (function, "__init__") if isinstance(function, Class) else (function.cls, "__call__")
        method = cls.find(word)
        if method is MISSING:
            return run.unknown("the signature of a value is not known")
        owner = next(each for each in cls.mro if word in each.namespace)
        if word == "__init__" and "signature" in owner.facts:
            told = owner.facts["signature"]
            return of_signature(told() if callable(told) else told, 0)
        found = parameters(run, method)
        return found if isinstance(found, Unknown) else found[1:]
    if isinstance(function, Native):
        return of_native(run, function)
    if hasattr(function, "parameters"):
        wrapped = getattr(function, "attributes", {}).get("__wrapped__")
        return of_function(function) if wrapped is None else parameters(run, wrapped)
    return run.unknown("the signature of a value is not known")


def of_native(run: Runtime, function: Native) -> list[Instance] | Unknown:
    """The parameters of a native without `run`; unknown where it takes anything."""
    with suppress(TypeError, ValueError):
        signature = inspect.signature(function.function)
        if not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in signature.parameters.values()):
            return of_signature(signature, 1)
    return run.unknown(f"the signature of {function.name} is not known")


def of_signature(signature: inspect.Signature, skip: int) -> list[Instance]:
    """Of a native; the first `skip` parameters are the interpreter's own."""
    return [
        parameter(each.name, int(each.kind), EMPTY if each.default is inspect.Parameter.empty else each.default)
        for each in list(signature.parameters.values())[skip:]
    ]


def of_function(function: Any) -> list[Instance]:
    """Of the interpreter's own Function."""
    own = function.parameters
    defaults = function.given_defaults
    first_default = len(own.positional) - len(defaults)
    found = [
        parameter(
            name,
            ONLY if at < own.positional_only else EITHER,
            defaults[at - first_default] if at >= first_default else EMPTY,
        )
        for at, name in enumerate(own.positional)
    ]
    if own.star:
        found.append(parameter(own.star, STAR))
    found.extend(parameter(name, KEYWORD, function.keyword_defaults.get(name, EMPTY)) for name in own.keywords)
    if own.double_star:
        found.append(parameter(own.double_star, DOUBLE_STAR))
    for each in found:
        each.native = function
    return found


@names.function("signature")
def signature(run: Runtime, obj: Value, **kwargs: Value) -> Value:
    """`inspect.signature(obj)`"""
    found = parameters(run, obj)
    if isinstance(found, Unknown):
        return found
    entries = OrderedDict((each.attributes["name"], each) for each in found)
    function = obj.function if isinstance(obj, Bound) else obj
    return Instance(SIGNATURE, {"parameters": entries}, native=function)


@signatures.function("bind", propagate_unknown=False)
def bind(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """`signature.bind(...)`, which is not followed."""
    return run.unknown("Signature.bind is not followed")


signatures["bind_partial"] = signatures["bind"]

SPECIFICATION = named_tuple_class(
    "FullArgSpec", ["args", "varargs", "varkw", "defaults", "kwonlyargs", "kwonlydefaults", "annotations"], {}
)


@names.function("getfullargspec")
def getfullargspec(run: Runtime, func: Value) -> Value:
    """`inspect.getfullargspec(func)`"""
    found = parameters(run, func)
    if isinstance(found, Unknown):
        return found
    if isinstance(func, (Bound, Class)):
        found.insert(0, parameter("self", EITHER))
    function = next((each.native for each in found if isinstance(each.native, Function)), None)
    annotations = {} if function is None else annotations_of_function(run, function)
    own = [(each.attributes["name"], each.attributes["kind"], each.attributes["default"]) for each in found]
    positional = [(name, default) for name, kind, default in own if kind in (ONLY, EITHER)]
    keywords = [(name, default) for name, kind, default in own if kind == KEYWORD]
    return Instance(SPECIFICATION, payload=(
        [name for name, _ in positional],
        next((name for name, kind, _ in own if kind == STAR), None),
        next((name for name, kind, _ in own if kind == DOUBLE_STAR), None),
        tuple(default for _, default in positional if default is not EMPTY) or None,
        [name for name, _ in keywords],
        {name: default for name, default in keywords if default is not EMPTY} or None,
        annotations,
    ))  # fmt: skip


names["getargspec"] = names["getfullargspec"]


def test(word: str, answer: Any) -> None:
    """Enter an `inspect.is...` that a function of the value answers."""
    names[word] = Native(word, lambda run, object: answer(object))


def is_function(value: Value) -> bool:
    """Whether a value is a function of the program."""
    return isinstance(value, Function)


def is_module(value: Value) -> bool:
    """Whether a value is a module, native or of the program."""
    return isinstance(value, Namespace) or type(value).__name__ == "Module"


test("isclass", lambda value: isinstance(value, Class))
test("isfunction", is_function)
test("ismethod", lambda value: isinstance(value, Bound))
test("isbuiltin", lambda value: isinstance(value, Native))
test("isroutine", lambda value: is_function(value) or isinstance(value, (Bound, Native)))
test("ismodule", is_module)
test("isgeneratorfunction", lambda value: is_function(value) and value.generator)
test("iscoroutinefunction", lambda value: is_function(value) and value.coroutine)
test("isabstract", lambda value: False)
test("isgenerator", lambda value: inspect.isgenerator(value))


@names.function("getmembers", propagate_unknown=False)
def getmembers(run: Runtime, object: Value, predicate: Value = None) -> Value:
    """`inspect.getmembers(object, predicate)`: pairs of name and value, by name."""
    words = object if isinstance(object, Unknown) else run.items(directory(run, object))
    if isinstance(words, Unknown):
        return words
    found: list[tuple[str, Value]] = []
    for word in words:
        if not isinstance(word, str):
            continue
        run.spend(1)
        value = run.find(object, word)
        if value is MISSING:
            continue
        kept = True if predicate is None else run.truth(run.call(predicate, value))
        if isinstance(kept, Unknown):
            continue
        if kept:
            found.append((word, value))
    return found


@names.function("getmro")
def getmro(run: Runtime, cls: Value) -> Value:
    """`inspect.getmro(cls)`"""
    return run.get(cls, "__mro__")


names["getdoc"] = Native("getdoc", lambda run, object: run.find(object, "__doc__"))
names["cleandoc"] = pure("cleandoc", inspect.cleandoc)
names["unwrap"] = Native("unwrap", lambda run, func, **kwargs: func)
names["getmodule"] = unfollowed("inspect.getmodule")
for _name in ("getsource", "getsourcelines", "getfile", "getsourcefile", "getcallargs", "getouterframes",
              "getframeinfo", "trace"):  # fmt: skip
    names[_name] = unfollowed(f"inspect.{_name}")
names["currentframe"] = Native("currentframe", running)
names["getargvalues"] = Native("getargvalues", argument_values)
names["stack"] = Native("stack", stack)
names.update({"Parameter": PARAMETER, "Signature": SIGNATURE, "_empty": EMPTY})

MODULES: dict[str, dict[str, Value]] = {"inspect": names}
