"""`typing` and `typing_extensions`: annotations stand for little, but classes are derived from some of them."""

from __future__ import annotations

import typing
from typing import Any

from flake8_cnnmem.evaluate.annotations import annotations_of_class, annotations_of_function
from flake8_cnnmem.evaluate.builtins.classes import TYPE
from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.dict_kinds import COUNTER, DEFAULT_DICT, ORDERED_DICT
from flake8_cnnmem.evaluate.builtins.mappings import DICT
from flake8_cnnmem.evaluate.builtins.objects import NONE, UNION, union
from flake8_cnnmem.evaluate.builtins.sequences import DEQUE, LIST, TUPLE
from flake8_cnnmem.evaluate.builtins.sets import FROZENSET, SET
from flake8_cnnmem.evaluate.builtins.text import BYTES, STR
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.abstract import ABSTRACT
from flake8_cnnmem.evaluate.stdlib.collections import add_fields, named_tuple_class
from flake8_cnnmem.evaluate.stdlib.forms import form, forms
from flake8_cnnmem.evaluate.stdlib.modules import identity, ignored, native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, ClassMethod, Instance, Native, Value

names = Names()

for _name in ("Any", "NoReturn", "Never", "ClassVar", "Final", "Literal", "LiteralString", "Self",
              "Concatenate", "TypeGuard",
              "TypeIs", "Required", "NotRequired", "ReadOnly", "Unpack", "TypeAlias"):  # fmt: skip
    names[_name] = form(_name)
names["Any"] = native_class("Any", {}, module="typing")


@forms.function("_optional", propagate_unknown=False)
def optional(run: Runtime, self: Instance, parameters: Value) -> Value:
    """`Optional[X]`"""
    return of_typing(union(parameters, NONE))


def of_typing(made: Instance) -> Instance:
    """What `typing` makes of alternatives says so: code that writes types out asks for it."""
    parts = made.attributes["__args__"]
    name = "Optional" if len(parts) == 2 and any(part is None or part is NONE for part in parts) else "Union"
    made.attributes.update(__module__="typing", _name=name)
    return made


@forms.function("_union", propagate_unknown=False)
def union_of(run: Runtime, self: Instance, parameters: Value) -> Value:
    """`Union[X, Y]`"""
    return of_typing(union(*(parameters if isinstance(parameters, tuple) else (parameters,))))


@forms.function("_annotated", propagate_unknown=False)
def annotated(run: Runtime, self: Instance, parameters: Value) -> Value:
    """`Annotated[X, ...]`: X."""
    return parameters[0] if isinstance(parameters, tuple) and parameters else parameters


for _name, _method in (("Optional", "_optional"), ("Union", "_union"), ("Annotated", "_annotated")):
    names[_name] = Instance(native_class(f"_{_name}", {"__getitem__": forms.pop(_method)}, module="typing"), {})

# Classes under their names here

names.update({
    "List": LIST, "Dict": DICT, "Tuple": TUPLE, "Set": SET, "FrozenSet": FROZENSET, "Type": TYPE, "Text": STR,
    "Deque": DEQUE, "DefaultDict": DEFAULT_DICT, "OrderedDict": ORDERED_DICT, "Counter": COUNTER, "ByteString": BYTES,
    **ABSTRACT, "AbstractSet": ABSTRACT["Set"],
})  # fmt: skip
names["Set"] = SET
names["ContextManager"] = native_class("AbstractContextManager", {}, module="contextlib")
names["AsyncContextManager"] = native_class("AbstractAsyncContextManager", {}, module="contextlib")
for _name in ("Pattern", "Match", "IO", "TextIO", "BinaryIO", "SupportsAbs", "SupportsBytes", "SupportsComplex",
              "SupportsFloat", "SupportsIndex", "SupportsInt", "SupportsRound", "ForwardRef", "Hashable"):  # fmt: skip
    names.setdefault(_name, native_class(_name, {}, module="typing"))

item: dict[str, Value] = {
    "__class_getitem__": ClassMethod(Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False))
}
GENERIC = native_class("Generic", dict(item), module="typing")
names["Generic"] = GENERIC
names["Protocol"] = native_class("Protocol", dict(item), GENERIC, module="typing")

# Named tuples and typed dicts


def convert(run: Runtime, cls: Class, **kwargs: Value) -> None:
    """A class statement with NamedTuple as its base: its annotations are the fields, its values the defaults."""
    if NAMED_TUPLE not in cls.bases:
        return
    annotations = cls.namespace.get("__annotations__", {})
    fields = [word for word in annotations if isinstance(word, str)]
    add_fields(cls, fields, {word: cls.namespace[word] for word in fields if word in cls.namespace})


def functional(run: Runtime, cls: Class, typename: Value, fields: Value = (), /, **kwargs: Value) -> Value:
    """`NamedTuple("Point", [("x", int), ("y", int)])`."""
    pairs: Any = run.items(fields)
    for part in (typename, pairs):
        if isinstance(part, Unknown):
            return part
    words = [payload(pair[0]) for pair in pairs] + list(kwargs)
    return named_tuple_class(payload(typename), words, {})


NAMED_TUPLE = native_class(
    "NamedTuple",
    {
        "__init_subclass__": ClassMethod(Native("__init_subclass__", convert, propagate_unknown=False)),
        "__new__": Native("__new__", functional, propagate_unknown=False),
    },
    TUPLE,
    module="typing",
)
names["NamedTuple"] = names["_NamedTuple"] = NAMED_TUPLE
names["NamedTupleMeta"] = native_class("NamedTupleMeta", {}, TYPE, module="typing")


def typed_dict(run: Runtime, cls: Class, *args: Value, **kwargs: Value) -> Value:
    """A TypedDict class makes plain dicts; called by its own name it makes such a class."""
    if cls is TYPED_DICT:
        return Class(payload(args[0]), (TYPED_DICT,)) if args and not isinstance(args[0], Unknown) else args[0]
    return run.construct(DICT, *args, **kwargs)


TYPED_DICT = native_class(
    "TypedDict", {"__new__": Native("__new__", typed_dict, propagate_unknown=False)}, DICT, module="typing"
)
names["TypedDict"] = TYPED_DICT

# Type variables

variables = Names()


@variables.function("__init__", propagate_unknown=False)
def variable_init(run: Runtime, self: Instance, name: Value, *constraints: Value, **kwargs: Value) -> None:
    """`TypeVar(name, ...)`, `ParamSpec(name)`"""
    self.attributes.update({"__name__": name, "args": self, "kwargs": self})


variables["__or__"] = forms["__or__"]
variables["__ror__"] = forms["__ror__"]
variables["__getitem__"] = Native("__getitem__", lambda run, self, parameters: self, propagate_unknown=False)
for _name in ("TypeVar", "ParamSpec", "TypeVarTuple", "TypeAliasType"):
    names[_name] = native_class(_name, dict(variables), module="typing")
names["AnyStr"] = Instance(names["TypeVar"], {"__name__": "AnyStr"})

# Functions

for _name in (
    "final",
    "overload",
    "no_type_check",
    "runtime_checkable",
    "runtime",
    "override",
    "assert_type",
    "reveal_type",
):
    names[_name] = identity(_name)
names["cast"] = Native("cast", lambda run, typ, val: val, propagate_unknown=False)
names["NewType"] = Native("NewType", lambda run, name, tp: identity("NewType"), propagate_unknown=False)
names["TYPE_CHECKING"] = False
names["dataclass_transform"] = Native(
    "dataclass_transform", lambda run, **kwargs: identity("decorator"), propagate_unknown=False
)
names["deprecated"] = Native("deprecated", lambda run, *args, **kwargs: identity("decorator"), propagate_unknown=False)
names["get_overloads"] = ignored("get_overloads", ())


@names.function("get_type_hints")
def get_type_hints(run: Runtime, obj: Value, *args: Value, **kwargs: Value) -> Value:
    """`typing.get_type_hints(obj)`: what the annotations of a class and of its bases, or of a function, stand for."""
    if isinstance(obj, Bound):
        obj = obj.function
    if isinstance(obj, Class):
        return {
            word: value
            for each in reversed(obj.mro)
            for word, value in annotations_of_class(run, each, as_hints=True).items()
        }
    if isinstance(obj, Function):
        return annotations_of_function(run, obj, as_hints=True)
    return run.unknown("the annotations of a value are not known")


@names.function("get_origin")
def get_origin(run: Runtime, tp: Value) -> Value:
    """`typing.get_origin(tp)`: `list` for `List[int]`; None for what has no parameters."""
    if isinstance(tp, Instance):
        return names["Union"] if tp.cls is UNION else tp.attributes.get("__origin__")
    return run.unknown("generic classes are not kept") if is_generic(tp) else None


def is_generic(tp: Value) -> bool:
    """Whether a class may have been subscripted before: outside of annotations it is itself then."""
    return isinstance(tp, Class) and tp.find("__class_getitem__") is not MISSING


@names.function("get_args")
def get_args(run: Runtime, tp: Value) -> Value:
    """`typing.get_args(tp)`: the parameters."""
    if isinstance(tp, Instance):
        return tp.attributes.get("__args__", ())
    return run.unknown("generic classes are not kept") if is_generic(tp) else ()


names["is_typeddict"] = Native("is_typeddict", lambda run, tp: isinstance(tp, Class) and TYPED_DICT in tp.mro)

for _name in typing.__all__:
    names.setdefault(_name, form(_name))

MODULES: dict[str, dict[str, Value]] = {"typing": names, "typing_extensions": names}
