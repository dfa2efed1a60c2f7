"""Classes whose annotations are fields, as dataclasses have them: modules of linen, `flax.struct.dataclass`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from flake8_cnnmem.frameworks.flax.trees import NODE
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Value

FIELDS = "fields of a native class"
"""A fact of classes of ours: their fields by name with the defaults, MISSING for none."""

CLASS_VARIABLE = re.compile(r"^(?:\w+\.)*ClassVar\b")


def fields_of(cls: Class) -> dict[str, Value]:
    """All fields in order with their defaults (what `dataclasses.field` gave, where it did), those of bases first."""
    found: dict[str, Value] = {}
    for base in reversed(cls.mro):
        found.update(base.facts.get(FIELDS, {}))
        annotations = base.namespace.get("__annotations__", {})
        for name, annotation in annotations.items() if base.site is not None else ():
            if not (isinstance(annotation, str) and CLASS_VARIABLE.match(annotation)):
                found[name] = base.namespace.get(name, found.get(name, MISSING))
    return found


def default_of(run: Runtime, value: Value) -> Value:
    """A field's default, which `field(default_factory=...)` makes anew."""
    if not (isinstance(value, Instance) and value.cls.name == "Field" and value.cls.module == "dataclasses"):
        return value
    factory, default = value.attributes.get("default_factory"), value.attributes.get("default")
    if not is_missing(factory):
        return run.call(factory)
    return MISSING if is_missing(default) else default


def is_missing(value: Value) -> bool:
    """Whether a value is the mark of a field without a default."""
    return isinstance(value, Instance) and value.cls.name == "_MISSING_TYPE"


def bound_fields(
    run: Runtime, cls: Class, args: tuple[Value, ...], kwargs: Mapping[str, Value], more: tuple[str, ...] = ()
) -> dict[str, Value]:
    """What each field is told at the construction, or its default. `more` are words that every class takes. TypeError
    as Python's for arguments that do not fit."""
    fields = fields_of(cls)
    names = [name for name in fields if name not in more]
    if len(args) > len(names):
        raise TypeError(
            f"{cls.name}.__init__() takes {len(names) + 1} positional arguments but {len(args) + 1} were given"
        )
    bound: dict[str, Value] = dict(zip(names, args, strict=False))
    for word, value in kwargs.items():
        if word in bound:
            raise TypeError(f"{cls.name}.__init__() got multiple values for argument '{word}'")
        if word not in names and word not in more:
            raise TypeError(f"{cls.name}.__init__() got an unexpected keyword argument '{word}'")
        bound[word] = value
    for name in names:
        if name not in bound:
            bound[name] = default_of(run, fields[name])
            if bound[name] is MISSING:
                raise TypeError(f"{cls.name}.__init__() missing 1 required positional argument: '{name}'")
    return bound


def struct_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """The constructor of a `flax.struct` dataclass."""
    bound = bound_fields(run, self.cls, args, kwargs)
    run.changed(self)
    self.attributes.update(bound)
    hook = self.cls.find("__post_init__")
    if hook is not MISSING:
        run.call(Bound(hook, self))


def replaced(run: Runtime, self: Instance, **updates: Value) -> Value:
    """`state.replace(step=0)`: another object with other fields."""
    return Instance(self.cls, {**self.attributes, **updates}, native=self.native, site=self.site)


def struct_dataclass(run: Runtime, cls: Value = None, **options: Value) -> Value:
    """`flax.struct.dataclass`."""
    if cls is None:
        return Native("dataclass", struct_dataclass, propagate_unknown=False)
    if not isinstance(cls, Class):
        return cls
    run.changed(cls.namespace)
    cls.facts[NODE] = True
    cls.namespace.setdefault("__init__", Native("__init__", struct_init, propagate_unknown=False))
    cls.namespace.setdefault("replace", Native("replace", replaced, propagate_unknown=False))
    return cls


def struct_field(run: Runtime, pytree_node: Value = True, *, metadata: Value = None, **options: Value) -> Value:
    """`flax.struct.field`: as `dataclasses.field`, whose class is found by its name."""
    return Instance(FIELD, {"default": options.get("default", ABSENT),
                            "default_factory": options.get("default_factory", ABSENT)})  # fmt: skip


ABSENT = Instance(Class("_MISSING_TYPE", module="dataclasses"))
FIELD = Class("Field", module="dataclasses")


def inherited_node(run: Runtime, cls: Class, **options: Value) -> Value:
    """`PyTreeNode`: a class that derives from it is a dataclass and a tree."""
    cls.facts[NODE] = True
    return None


PYTREE_NODE = Class(
    "PyTreeNode",
    namespace={
        "__init__": Native("__init__", struct_init, propagate_unknown=False),
        "__init_subclass__": Native("__init_subclass__", inherited_node, propagate_unknown=False),
        "replace": Native("replace", replaced, propagate_unknown=False),
    },
    module="flax.struct",
    facts={NODE: True},
)

STRUCT: dict[str, Value] = {
    "dataclass": Native("dataclass", struct_dataclass, propagate_unknown=False),
    "field": Native("field", struct_field, propagate_unknown=False),
    "PyTreeNode": PYTREE_NODE,
}
