"""`dataclasses`: the decorator reads a class's annotations and gives it its methods."""

from __future__ import annotations

import re
from typing import Any

from flake8_cnnmem.evaluate.annotations import told_by
from flake8_cnnmem.evaluate.builtins.classes import TYPE
from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.builtins.formatting import to_repr
from flake8_cnnmem.evaluate.builtins.objects import make_class
from flake8_cnnmem.evaluate.stdlib.copy import Copier
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Property, Raised, Value, is_object

names = Names()

SLOTS = "slots"
"""Among the facts of a class: as in `evaluate/attributes.py`."""

SENTINEL = Instance(native_class("_MISSING_TYPE", {}, module="dataclasses"))
KW_ONLY = native_class("KW_ONLY", {}, module="dataclasses")
INIT_VAR = native_class(
    "InitVar",
    {
        "__class_getitem__": ClassMethod(
            Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False)
        )
    },
    module="dataclasses",
)


def type_of_field(run: Runtime, self: Instance) -> Value:
    """`field.type`: what the annotation stands for, which nobody asks of most fields."""
    if isinstance(self.native, Class):
        self.attributes["type"], self.native = told_by(run, self.native, self.attributes["type"]), None
    return self.attributes["type"]


FIELD = native_class("Field", {"type": Property(Native("type", type_of_field))}, module="dataclasses")
names.update({"MISSING": SENTINEL, "KW_ONLY": KW_ONLY, "InitVar": INIT_VAR, "Field": FIELD})
PARAMETERS = native_class("_DataclassParams", {}, module="dataclasses")
FROZEN = Class("FrozenInstanceError", (EXCEPTIONS["AttributeError"],), module="dataclasses")

OPEN = "a dataclass with more fields"
"""A fact of native classes: dataclasses of which not all fields are written down. `__init__` takes any."""

KIND = re.compile(r"^['\"]?(?:\w+\.)*(ClassVar|InitVar|KW_ONLY)\b")
"""The annotations that change what a field is, by their text, as Python itself reads text annotations."""


@dataclass(frozen=True, slots=True)
class DataclassField:
    """A field of a dataclass. `default` and `factory` are MISSING where there is none."""

    name: str
    default: Value = MISSING
    factory: Value = MISSING
    init: bool = True
    compare: bool = True
    repr: bool = True
    kw_only: bool = False
    init_var: bool = False
    made: Instance | None = None
    """The object that `field()` gave, which `fields()` gives again."""
    annotation: Value = None
    """Its text, as the class keeps it."""
    owner: Class | None = None
    """The class in whose body it is declared."""


@names.function("field", propagate_unknown=False)
def field(
    run: Runtime,
    *,
    default: Value = SENTINEL,
    default_factory: Value = SENTINEL,
    init: Value = True,
    repr: Value = True,
    hash: Value = None,
    compare: Value = True,
    metadata: Value = None,
    kw_only: Value = SENTINEL,
) -> Instance:
    """`dataclasses.field(...)`"""
    return Instance(
        FIELD,
        {
            "name": None, "type": None, "default": default, "default_factory": default_factory, "init": init,
            "repr": repr, "hash": hash, "compare": compare, "metadata": {} if metadata is None else metadata,
            "kw_only": kw_only,
        },
    )  # fmt: skip


def kind_of(annotation: Value) -> str:
    """ "ClassVar", "InitVar", "KW_ONLY" or nothing."""
    if annotation is KW_ONLY or annotation is INIT_VAR:
        return str(annotation.name)
    if isinstance(annotation, Instance):
        form = annotation.attributes.get("_form", annotation)
        return "ClassVar" if isinstance(form, Instance) and form.attributes.get("_name") == "ClassVar" else ""
    found = KIND.match(annotation) if isinstance(annotation, str) else None
    return found[1] if found is not None else ""


def entry(cls: Class, name: str, annotation: Value, kw_only: bool) -> DataclassField:
    """One field of a dataclass, by its annotation and its default."""
    value = cls.namespace.get(name, MISSING)
    init_var = kind_of(annotation) == "InitVar"
    if not (isinstance(value, Instance) and value.cls is FIELD):
        return DataclassField(name, value, kw_only=kw_only, init_var=init_var, annotation=annotation, owner=cls)
    own = value.attributes
    own["name"], own["type"], value.native = name, annotation, cls
    default, factory = own["default"], own["default_factory"]
    return DataclassField(
        name,
        MISSING if default is SENTINEL else default,
        MISSING if factory is SENTINEL else factory,
        own["init"] is not False,
        own["compare"] is not False,
        own["repr"] is not False,
        kw_only if own["kw_only"] is SENTINEL else own["kw_only"] is True,
        init_var,
        value,
        annotation,
        cls,
    )


def collect(cls: Class, kw_only: bool) -> dict[str, DataclassField]:
    """All fields by name: those of the bases first, then the class's own, in order."""
    found: dict[str, DataclassField] = {}
    for base in reversed(cls.mro[1:]):
        for each in base.facts.get("dataclass fields", ()):
            found[each.name] = each
    annotations = cls.namespace.get("__annotations__", {})
    for name, annotation in annotations.items():
        kind = kind_of(annotation)
        if kind == "KW_ONLY":
            kw_only = True
        elif kind != "ClassVar":
            found[name] = entry(cls, name, annotation, kw_only)
    return found


@names.function("dataclass", propagate_unknown=False)
def dataclass_(
    run: Runtime,
    cls: Value = None,
    /,
    *,
    init: Value = True,
    repr: Value = True,
    eq: Value = True,
    order: Value = False,
    unsafe_hash: Value = False,
    frozen: Value = False,
    match_args: Value = True,
    kw_only: Value = False,
    slots: Value = False,
    weakref_slot: Value = False,
) -> Value:
    """`@dataclass(...)`, with or without options."""

    def decorate(run: Runtime, cls: Value) -> Value:
        if not isinstance(cls, Class) or cls.host is not None:
            return cls
        run.changed(cls.namespace)
        process(run, cls, init is True, repr is True, eq is True, order is True, frozen is True, kw_only is True)
        if slots is True and all(is_object(base) or SLOTS in base.facts for base in cls.bases):
            cls.facts[SLOTS] = frozenset(each.name for each in entries_of(cls) or ())
        if unsafe_hash is True:
            cls.facts["hashable"] = True
        told = {"init": init, "repr": repr, "eq": eq, "order": order, "unsafe_hash": unsafe_hash, "frozen": frozen,
                "match_args": match_args, "kw_only": kw_only, "slots": slots, "weakref_slot": weakref_slot}  # fmt: skip
        cls.namespace["__dataclass_params__"] = Instance(PARAMETERS, told)
        return cls

    return Native("dataclass", decorate) if cls is None else decorate(run, cls)


def process(
    run: Runtime, cls: Class, init: bool, repr: bool, eq: bool, order: bool, frozen: bool, kw_only: bool
) -> Class:
    """The class with `__init__`, `__repr__` and comparisons of its fields."""
    found = collect(cls, kw_only)
    entries = tuple(found.values())
    cls.facts["dataclass fields"] = entries
    own = cls.namespace
    for each in entries:
        if each.made is not None and own.get(each.name) is each.made:
            del own[each.name]
            if each.default is not MISSING:
                own[each.name] = each.default
    if init:
        check_order(entries)
        needed = tuple(each.name for each in entries if each.init and each.default is each.factory is MISSING)
        made = Native("__init__", initialiser(cls, entries), propagate_unknown=False, lacks=lambda cls: needed)
        own["__init__"] = own.get("__init__", made)
    if repr:
        own.setdefault("__repr__", Native("__repr__", representation))
    if eq:
        own.setdefault("__eq__", Native("__eq__", equal))
        cls.facts.setdefault("hashable", frozen)
    if order:
        for word, symbol in (("__lt__", "<"), ("__le__", "<="), ("__gt__", ">"), ("__ge__", ">=")):
            own.setdefault(word, Native(word, comparison(symbol)))
    if frozen:
        own.setdefault("__setattr__", Native("__setattr__", refuse, propagate_unknown=False))
    own["__dataclass_fields__"] = {each.name: field_object(each) for each in entries if not each.init_var}
    own.setdefault("__match_args__", tuple(each.name for each in entries if each.init and not each.kw_only))
    return cls


def check_order(entries: tuple[DataclassField, ...]) -> None:
    """TypeError for a field without a default behind one that has one."""
    seen = ""
    for each in entries:
        if not each.init or each.kw_only:
            continue
        if each.default is MISSING and each.factory is MISSING:
            if seen:
                raise TypeError(f"non-default argument '{each.name}' follows default argument")
        else:
            seen = each.name


def initialiser(cls: Class, entries: tuple[DataclassField, ...]) -> Any:
    """The `__init__` of a dataclass: binds its fields, makes defaults, calls `__post_init__`."""
    positional = [each.name for each in entries if each.init and not each.kw_only]
    accepted = {each.name for each in entries if each.init}
    outer = next((base for base in cls.mro[1:] if OPEN in base.facts), None)

    def init(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> None:
        if len(args) > len(positional):
            raise TypeError(
                f"{cls.name}() takes {len(positional) + 1} positional arguments but {len(args) + 1} were given"
            )
        bound = dict(zip(positional, args, strict=False))
        for word, value in kwargs.items():
            if (word not in accepted and outer is None) or word in bound:
                raise TypeError(f"{cls.name}() got an unexpected keyword argument '{word}'")
            bound[word] = value
        run.changed(self)
        extra: list[Value] = []
        if outer is not None:
            said = {each.name: each.default for each in entries if each.default is not MISSING}
            run.call(outer.find("__init__"), self, **{**said, **bound})
        for each in entries:
            value = bound.get(each.name, MISSING)
            if value is MISSING:
                value = run.call(each.factory) if each.factory is not MISSING else each.default
            if value is MISSING:
                if not each.init:
                    continue
                raise TypeError(f"{cls.name}() missing required argument: '{each.name}'")
            if each.init_var:
                extra.append(value)
            elif isinstance(self.cls.find(each.name), Property):
                run.set(self, each.name, value)
            else:
                self.attributes[each.name] = value
        hook = self.cls.find("__post_init__")
        if hook is not MISSING:
            run.call(hook, self, *extra)

    return init


def refuse(run: Runtime, self: Instance, name: str, value: Value) -> None:
    """FrozenInstanceError for an assignment."""
    raise Raised(Instance(FROZEN, {"args": (f"cannot assign to field '{name}'",)}, site=run.here()))


def entries_of(value: Value) -> tuple[DataclassField, ...] | None:
    """The fields of a dataclass or of an instance of one; None of anything else."""
    cls = value if isinstance(value, Class) else value.cls if isinstance(value, Instance) else None
    if cls is None:
        return None
    return next((base.facts["dataclass fields"] for base in cls.mro if "dataclass fields" in base.facts), None)


def values_of(self: Instance, wanted: str) -> tuple[Value, ...]:
    """The values of the fields that take part in a comparison, or in `repr`."""
    entries = entries_of(self) or ()
    return tuple(self.attributes.get(each.name) for each in entries if getattr(each, wanted) and not each.init_var)


def representation(run: Runtime, self: Instance) -> Value:
    """`repr` of a dataclass's instance."""
    parts = []
    for each in entries_of(self) or ():
        if not each.repr or each.init_var:
            continue
        text = to_repr(run, run.get(self, each.name))
        if isinstance(text, Unknown):
            return text
        parts.append(f"{each.name}={text}")
    return f"{self.cls.name}({', '.join(parts)})"


def equal(run: Runtime, self: Instance, other: Value) -> Value:
    """`==` of two instances of one dataclass: all fields that are compared."""
    if not isinstance(other, Instance) or other.cls is not self.cls:
        return NotImplemented
    return run.equal(values_of(self, "compare"), values_of(other, "compare"))


def comparison(symbol: str) -> Any:
    """`<` and its like of two instances of one dataclass, by the tuples of their fields."""

    def compare(run: Runtime, self: Instance, other: Value) -> Value:
        if not isinstance(other, Instance) or other.cls is not self.cls:
            return NotImplemented
        return run.operate(symbol, values_of(self, "compare"), values_of(other, "compare"))

    return compare


def field_object(each: DataclassField) -> Instance:
    """What `fields()` gives for a field."""
    if each.made is not None:
        return each.made
    default = SENTINEL if each.default is MISSING else each.default
    return Instance(FIELD, {
        "name": each.name, "type": each.annotation, "default": default, "default_factory": SENTINEL, "init": each.init,
        "repr": each.repr, "hash": None, "compare": each.compare, "metadata": {}, "kw_only": each.kw_only,
    }, native=each.owner)  # fmt: skip


@names.function("fields")
def fields(run: Runtime, class_or_instance: Value) -> Value:
    """`dataclasses.fields(value)`. TypeError for what is no dataclass."""
    entries = entries_of(class_or_instance)
    if entries is None:
        raise TypeError("must be called with a dataclass type or instance")
    own = run.get(class_or_instance, "__dataclass_fields__")
    if not isinstance(own, dict):
        return own if isinstance(own, Unknown) else run.unknown("the fields of a dataclass are not known")
    return tuple(own[each.name] for each in entries if each.name in own)


@names.function("is_dataclass")
def is_dataclass(run: Runtime, obj: Value) -> bool:
    """`dataclasses.is_dataclass(obj)`"""
    return entries_of(obj) is not None


@names.function("replace", propagate_unknown=False)
def replace(run: Runtime, obj: Value, /, **changes: Value) -> Value:
    """`dataclasses.replace(obj, **changes)`: a new instance."""
    entries = entries_of(obj) if not isinstance(obj, Unknown) else None
    if not isinstance(obj, Instance) or entries is None:
        return obj if isinstance(obj, Unknown) else run.unknown("replace() of something that is no dataclass")
    bound = {
        each.name: changes.get(each.name, obj.attributes.get(each.name))
        for each in entries
        if each.init and (not each.init_var or each.name in changes)
    }
    return run.construct(obj.cls, **{**bound, **changes})


def plain(run: Runtime, value: Value, factory: Value, as_tuple: bool) -> Value:
    """Dataclasses inside containers become dicts or tuples as well; everything else is copied deeply."""
    run.spend(1)
    entries = entries_of(value) if isinstance(value, Instance) else None
    if entries is not None:
        pairs = [
            (each.name, plain(run, run.get(value, each.name), factory, as_tuple))
            for each in entries
            if not each.init_var
        ]
        if as_tuple:
            return tuple(item for _, item in pairs)
        return dict(pairs) if factory is None else run.call(factory, pairs)
    if type(value) is list or type(value) is tuple:
        return type(value)(plain(run, item, factory, as_tuple) for item in value)
    if isinstance(value, dict):
        return {word: plain(run, item, factory, as_tuple) for word, item in value.items()}
    return Copier(run, {}).copy(value)


@names.function("asdict")
def asdict(run: Runtime, obj: Value, *, dict_factory: Value = None) -> Value:
    """`dataclasses.asdict(obj)`, dataclasses within as well."""
    return plain(run, obj, dict_factory, False)


@names.function("astuple")
def astuple(run: Runtime, obj: Value, *, tuple_factory: Value = None) -> Value:
    """`dataclasses.astuple(obj)`, dataclasses within as well."""
    return plain(run, obj, None, True)


@names.function("make_dataclass", propagate_unknown=False)
def make_dataclass(
    run: Runtime, cls_name: Value, fields: Value, *, bases: Value = (), namespace: Any = None, **options: Value
) -> Value:
    """`dataclasses.make_dataclass(name, fields)`"""
    found: Any = run.items(fields)
    for part in (cls_name, found):
        if isinstance(part, Unknown):
            return part
    own = dict(namespace or {})
    annotations: dict[str, Value] = {}
    for each in found:
        parts: Any = (each,) if isinstance(each, str) else each
        annotations[parts[0]] = parts[1] if len(parts) > 1 else "object"
        if len(parts) > 2:
            own[parts[0]] = parts[2]
    own["__annotations__"] = annotations
    made = make_class(run, TYPE, cls_name, bases, own)
    return dataclass_(run, made, **options)


names["FrozenInstanceError"] = FROZEN
MODULES: dict[str, dict[str, Value]] = {"dataclasses": names}
