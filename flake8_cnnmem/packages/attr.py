"""attrs: classes with fields, as dataclasses have them. What a validator refuses, and a converter makes, is not
looked at."""

from __future__ import annotations

from functools import partial

from flake8_cnnmem.evaluate.stdlib.dataclasses import FIELD, SENTINEL, asdict, astuple, dataclass_, replace
from flake8_cnnmem.evaluate.stdlib.dataclasses import field as field_of
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Value, native


def keep_factory(run: Runtime, self: Instance, factory: Value, takes_self: Value = False) -> None:
    self.attributes["factory"] = factory


FACTORY = native_class("Factory", {"__init__": native("__init__", keep_factory)}, module="attr")


def attribute(run: Runtime, default: Value = SENTINEL, *args: Value, **kwargs: Value) -> Value:
    """`attr.ib(default=...)`, `attrs.field(factory=list)`."""
    factory = kwargs.get("factory", SENTINEL)
    if isinstance(default, Instance) and default.cls is FACTORY:
        default, factory = SENTINEL, default.attributes["factory"]
    init, kw_only = kwargs.get("init", True), kwargs.get("kw_only", False)
    return field_of(run, default=default, default_factory=factory, init=init, kw_only=kw_only)


HOOK = "__attrs_post_init__"

ANNOTATIONS = "__annotations__"


def define(run: Runtime, maybe_cls: Value = None, *, by_annotation: bool | None = None, **options: Value) -> Value:
    """`@attr.s`, `@attrs.define`, with options or without. Its fields are those that are made as such, and with
    `auto_attribs` all that have an annotation; where that is not said, all of them unless one was made without."""

    def decorate(run: Runtime, cls: Value) -> Value:
        if not isinstance(cls, Class):
            return cls
        run.changed(cls.namespace)
        declared = cls.namespace.setdefault(ANNOTATIONS, {})
        made = [word for word, value in cls.namespace.items() if isinstance(value, Instance) and value.cls is FIELD]
        auto = options.get("auto_attribs", by_annotation)
        fields = declared if auto is True or (auto is None and set(made) <= set(declared)) else made
        named = {word: declared.get(word, "object") for word in (*declared, *made)}
        cls.namespace[ANNOTATIONS] = {word: kind for word, kind in named.items() if word in fields}
        if HOOK in cls.namespace:
            cls.namespace["__post_init__"] = cls.namespace[HOOK]
        equal = options.get("eq", options.get("cmp"))
        hashed = options.get("unsafe_hash", options.get("hash"))
        done = dataclass_(
            run, cls, kw_only=options.get("kw_only", False), eq=equal is not False, unsafe_hash=hashed is True
        )
        cls.namespace[ANNOTATIONS] = {**cls.namespace[ANNOTATIONS], **declared}
        return done

    return decorate(run, maybe_cls) if maybe_cls is not None else native("decorator", decorate)


NAMES: dict[str, Value] = {
    **{word: native(word, partial(define, by_annotation=False)) for word in ("s", "attrs", "attributes")},
    **{word: native(word, define) for word in ("define", "mutable", "frozen")},
    "dataclass": native("dataclass", partial(define, by_annotation=True)),
    **{word: native(word, attribute) for word in ("ib", "attrib", "field")},
    "Factory": FACTORY, "asdict": native("asdict", asdict), "astuple": native("astuple", astuple),
    "evolve": native("evolve", replace),
}  # fmt: skip

MODULES = {"attr": NAMES}
