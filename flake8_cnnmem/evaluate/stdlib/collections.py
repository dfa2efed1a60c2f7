"""`collections` and `collections.abc`."""

from __future__ import annotations

import keyword
from typing import Any

from flake8_cnnmem.evaluate.builtins.concrete import concrete
from flake8_cnnmem.evaluate.builtins.declare import Names, made, payload
from flake8_cnnmem.evaluate.builtins.dict_kinds import COUNTER, DEFAULT_DICT, ORDERED_DICT
from flake8_cnnmem.evaluate.builtins.formatting import to_repr
from flake8_cnnmem.evaluate.builtins.sequences import DEQUE, TUPLE
from flake8_cnnmem.evaluate.stdlib.abstract import ABSTRACT
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Property, Value

names = Names({
    "OrderedDict": ORDERED_DICT, "defaultdict": DEFAULT_DICT, "Counter": COUNTER, "deque": DEQUE,
})  # fmt: skip


@names.function("namedtuple", propagate_unknown=False)
def namedtuple(
    run: Runtime,
    typename: Value,
    field_names: Value,
    *,
    rename: Value = False,
    defaults: Value = None,
    module: Value = None,
) -> Value:
    """The class, a subclass of tuple with a property for each field."""
    words = concrete(run, payload(field_names) if isinstance(payload(field_names), str) else run.items(field_names))
    values: Any = [] if defaults is None else run.items(defaults)
    for part in (typename, words, values):
        if isinstance(part, Unknown):
            return part
    if isinstance(words, str):
        words = words.replace(",", " ").split()
    fields = [str(word) for word in words]
    if run.truth(rename) is True:
        fields = [
            word if word.isidentifier() and not keyword.iskeyword(word) and word not in fields[:at] else f"_{at}"
            for at, word in enumerate(fields)
        ]
    if len(values) > len(fields):
        raise TypeError("Got more default values than field names")
    for word in fields:
        if not word.isidentifier() or keyword.iskeyword(word):
            raise ValueError(f"Type names and field names must be valid identifiers: {word!r}")
    return named_tuple_class(
        payload(typename), fields, dict(zip(fields[len(fields) - len(values) :], values, strict=True))
    )


def named_tuple_class(name: str, fields: list[str], defaults: dict[str, Value]) -> Class:
    """A class of named tuples with these fields and defaults."""
    cls = Class(name, (TUPLE,))
    add_fields(cls, fields, defaults)
    return cls


def add_fields(cls: Class, fields: list[str], defaults: dict[str, Value]) -> None:
    """Make a class whose mro holds `tuple` a named tuple: `__new__`, a property a field, the helpers."""
    own: dict[str, Value] = {
        "__new__": Native("__new__", binder(cls.name, fields, defaults), propagate_unknown=False),
        "_fields": tuple(fields),
        "_field_defaults": dict(defaults),
        "__match_args__": tuple(fields),
        **helpers,
    }
    for at, word in enumerate(fields):
        own[word] = Property(Native(word, lambda run, self, at=at: payload(self)[at]))
    for word, value in own.items():
        if word not in cls.namespace or word in fields:
            cls.namespace[word] = value
    cls.facts["fields"] = tuple(fields)


def binder(name: str, fields: list[str], defaults: dict[str, Value]) -> Any:
    """The `__new__` of a named tuple. TypeError for arguments that do not fit."""

    def new(run: Runtime, cls: Class, /, *args: Value, **kwargs: Value) -> Value:
        if len(args) > len(fields):
            raise TypeError(f"{name}() takes {len(fields)} positional arguments but {len(args)} were given")
        bound = dict(zip(fields, args, strict=False))
        for word, value in kwargs.items():
            if word not in fields or word in bound:
                raise TypeError(f"{name}() got an unexpected keyword argument '{word}'")
            bound[word] = value
        for word in fields:
            if word not in bound:
                if word not in defaults:
                    raise TypeError(f"{name}() missing required argument: '{word}'")
                bound[word] = defaults[word]
        return made(run, cls, tuple(bound[word] for word in fields))

    return new


helpers = Names()


def fields_of(cls: Class) -> tuple[str, ...]:
    """The fields of a class of named tuples, in order; none of another class."""
    return next((base.facts["fields"] for base in cls.mro if "fields" in base.facts), ())


@helpers.function("_asdict")
def as_dict(run: Runtime, self: Instance) -> dict[str, Value]:
    """`_asdict()`"""
    return dict(zip(fields_of(self.cls), self.payload, strict=False))


@helpers.function("_replace", propagate_unknown=False)
def replace(run: Runtime, self: Instance, /, **kwargs: Value) -> Value:
    """`_replace(**kwargs)`. ValueError for a field that it does not have."""
    own = as_dict(run, self)
    for word in kwargs:
        if word not in own:
            raise ValueError(f"Got unexpected field names: [{word!r}]")
    return made(run, self.cls, tuple({**own, **kwargs}.values()))


@helpers.class_method("_make", propagate_unknown=False)
def make(run: Runtime, cls: Class, iterable: Value) -> Value:
    """`_make(iterable)`"""
    items = run.items(iterable)
    return items if isinstance(items, Unknown) else run.construct(cls, *items)


@helpers.function("__repr__")
def representation(run: Runtime, self: Instance) -> Value:
    """`repr` of a named tuple."""
    parts = []
    for word, item in zip(fields_of(self.cls), self.payload, strict=False):
        text = to_repr(run, item)
        if isinstance(text, Unknown):
            return text
        parts.append(f"{word}={text}")
    return f"{self.cls.name}({', '.join(parts)})"


# Wrappers of a dict and a list in `data`

user_dict = Names()


@user_dict.function("__init__", propagate_unknown=False)
def user_dict_init(run: Runtime, self: Instance, dict: Value = None, /, **kwargs: Value) -> None:
    """`UserDict(items)`: the items are in `data`."""
    self.attributes["data"] = {}
    found = run.call(run.get(self, "update"), *(() if dict is None else (dict,)), **kwargs)
    if isinstance(found, Unknown):
        run.havoc(self.attributes["data"], found)


def through(word: str, field: str) -> Native:
    """A method that does to the wrapped container what it is asked."""
    return Native(
        word, lambda run, self, *args: run.call(run.get(self.attributes[field], word), *args), propagate_unknown=False
    )


for _word in ("__getitem__", "__setitem__", "__delitem__", "__contains__", "__len__", "__iter__", "__repr__", "copy"):
    user_dict[_word] = through(_word, "data")


@user_dict.function("__getitem__", propagate_unknown=False)
def user_item(run: Runtime, self: Instance, key: Value, /) -> Value:
    """`user_dict[key]`, or what `__missing__` of a subclass gives."""
    missing = self.cls.find("__missing__")
    there = True if missing is MISSING else run.truth(run.operate("in", key, self.attributes["data"]))
    if isinstance(there, Unknown):
        return there
    return run.index(self.attributes["data"], key) if there else run.call(run.get(self, "__missing__"), key)


names["UserDict"] = native_class("UserDict", dict(user_dict), ABSTRACT["MutableMapping"], module="collections")

user_list = Names()


@user_list.function("__init__", propagate_unknown=False)
def user_list_init(run: Runtime, self: Instance, initlist: Value = None) -> None:
    """`UserList(items)`: the items are in `data`."""
    found = [] if initlist is None else run.items(initlist)
    self.attributes["data"] = found


for _word in ("__getitem__", "__setitem__", "__delitem__", "__contains__", "__len__", "__iter__", "__repr__", "append",
              "extend", "insert", "pop", "remove", "clear", "index", "count", "reverse", "sort"):  # fmt: skip
    user_list[_word] = through(_word, "data")
names["UserList"] = native_class("UserList", dict(user_list), ABSTRACT["MutableSequence"], module="collections")

chain_maps = Names()


@chain_maps.function("__init__", propagate_unknown=False)
def chain_map_init(run: Runtime, self: Instance, *maps: Value) -> None:
    """`ChainMap(*maps)`"""
    self.attributes["maps"] = list(maps) or [{}]


@chain_maps.function("__getitem__")
def chain_map_item(run: Runtime, self: Instance, word: Value) -> Value:
    """The value of the first mapping that has the key. KeyError where none has."""
    for each in self.attributes["maps"]:
        inside = run.truth(run.operate("in", word, each))
        if isinstance(inside, Unknown):
            return inside
        if inside:
            return run.index(each, word)
    raise KeyError(word)


@chain_maps.function("__iter__")
def chain_map_iter(run: Runtime, self: Instance) -> Value:
    """The keys of all mappings, each once, those of the last mapping first."""
    found: dict[Value, None] = {}
    for each in reversed(self.attributes["maps"]):
        words = run.items(each)
        if isinstance(words, Unknown):
            return words
        found.update(dict.fromkeys(words))
    return iter(list(found))


@chain_maps.function("__len__")
def chain_map_len(run: Runtime, self: Instance) -> Value:
    """How many different keys there are."""
    words = run.items(chain_map_iter(run, self))
    return words if isinstance(words, Unknown) else len(words)


@chain_maps.function("__setitem__", propagate_unknown=False)
def chain_map_set(run: Runtime, self: Instance, word: Value, item: Value) -> None:
    """`chain[key] = value`, in the first mapping."""
    run.call(run.get(self.attributes["maps"][0], "__setitem__"), word, item)


@chain_maps.function("__delitem__")
def chain_map_delete(run: Runtime, self: Instance, word: Value) -> None:
    """`del chain[key]`, from the first mapping. KeyError where that has no such key."""
    run.call(run.get(self.attributes["maps"][0], "__delitem__"), word)


@chain_maps.function("new_child", propagate_unknown=False)
def new_child(run: Runtime, self: Instance, m: Value = None) -> Value:
    """A ChainMap with one mapping more in front."""
    maps = self.attributes["maps"]
    run.spend(len(maps))
    return run.construct(self.cls, {} if m is None else m, *maps)


chain_maps["parents"] = Property(
    Native("parents", lambda run, self: run.construct(self.cls, *self.attributes["maps"][1:]))
)
names["ChainMap"] = native_class("ChainMap", dict(chain_maps), ABSTRACT["MutableMapping"], module="collections")

# Python 3.9 and older offered the abstract classes here too.
for _word, _cls in ABSTRACT.items():
    names.setdefault(_word, _cls)

MODULES: dict[str, dict[str, Value]] = {
    "collections": names,
    "collections.abc": dict(ABSTRACT),
    "_collections_abc": dict(ABSTRACT),
}
