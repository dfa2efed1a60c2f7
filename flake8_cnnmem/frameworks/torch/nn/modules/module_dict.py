"""torch.nn's containers with keys, and those of parameters: ModuleDict, ParameterDict, ParameterList."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

from flake8_cnnmem.frameworks.torch.nn.modules.container import NOT_FOLLOWED, container, known_index
from flake8_cnnmem.frameworks.torch.nn.modules.module import SOMEWHERE, check_name, is_module, put, stored
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.frameworks.torch.nn.parameter import make_parameter
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value

MODULE_DICT, module_dict = container("ModuleDict")


def entries(run: Runtime, value: Value) -> list[tuple[Value, Value]] | Unknown:
    """The pairs of a mapping or of an iterable of pairs."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, Instance) and isinstance(value.payload, dict):
        return list(value.payload.items())
    if isinstance(value, Instance) and (value.cls.derives_from(MODULE_DICT) or value.cls.derives_from(PARAMETER_DICT)):
        return list(contents(value).items())
    items = run.items(value)
    if isinstance(items, Unknown):
        return items
    pairs: list[tuple[Value, Value]] = []
    for item in items:
        pair = run.items(item)
        if isinstance(pair, Unknown) or len(pair) != 2:
            return run.unknown(NOT_FOLLOWED)
        pairs.append((pair[0], pair[1]))
    return pairs


def store_of(self: Instance) -> str:
    """Where a dict of modules or parameters keeps them."""
    return "_modules" if self.cls.derives_from(MODULE_DICT) else "_parameters"


KEYS = "_keys"
"""The attribute of a container of parameters that has its keys in their order, as torch's own has."""


def contents(self: Instance) -> dict[str, Value]:
    """What a container holds by its keys. A container of parameters holds anything: a module lies among its modules,
    a list or a number is a plain attribute."""
    held = stored(self, store_of(self))
    keys = self.attributes.get(KEYS)
    if not isinstance(keys, dict) or list(keys) == list(held):
        return held
    modules = stored(self, "_modules")
    return {
        key: held[key] if key in held else modules.get(key, self.attributes.get(key))
        for key in [*keys, *(key for key in held if key not in keys)]
    }


def place(run: Runtime, self: Instance, key: str, value: Value) -> None:
    """An item of a container under its key: a tensor becomes a parameter of a container of parameters."""
    store = store_of(self)
    if store == "_modules" or isinstance(value, Tensor):
        check_name(run, "module" if store == "_modules" else "parameter", key)
    if store == "_modules":
        put(run, self, store, key, value)
        return
    keys = stored(self, KEYS)
    run.changed(keys)
    keys[key] = None
    if is_module(value):
        put(run, self, "_modules", key, value)
    elif value is None or isinstance(value, (Tensor, Unknown)):
        plain = isinstance(value, Tensor) and not isinstance(value, Weight)
        put(run, self, store, key, make_parameter(run, value) if plain else value)
    else:
        remove(run, self, key)
        run.set_plainly(self, key, value)


def remove(run: Runtime, self: Instance, key: str) -> None:
    """An item of a container leaves the place that has it."""
    for held in (stored(self, store_of(self)), stored(self, "_modules"), self.attributes):
        if key in held:
            run.changed(self if held is self.attributes else held)
            del held[key]
            return


def dict_init(run: Runtime, self: Instance, modules: Value = None) -> Value:
    """`nn.ModuleDict(modules)`, `nn.ParameterDict(parameters)`: of a mapping or of pairs, in their order."""
    init_module(run, self)
    if modules is not None:
        dict_update(run, self, modules)
    return None


def dict_update(run: Runtime, self: Instance, modules: Value) -> Value:
    """`update(modules)`: from a dict or pairs."""
    pairs = entries(run, modules)
    if isinstance(pairs, Unknown):
        put(run, self, store_of(self), SOMEWHERE, pairs)
        return None
    for key, value in pairs:
        # What is no name is refused where it is put, as torch refuses it.
        dict_set(run, self, cast("str", key), value)
    return None


def dict_get(run: Runtime, self: Instance, key: Value) -> Value:
    """`modules[key]`. KeyError for a key that it does not have."""
    if isinstance(key, Unknown):
        return key
    return find_entry(self, key)


def find_entry(self: Instance, key: Value) -> Value:
    """A module or parameter by its key. KeyError for a key that it does not have."""
    held = contents(self)
    if key in held:
        return held[key]
    raise KeyError(key)


def dict_set(run: Runtime, self: Instance, key: str, value: Value) -> Value:
    """`modules[key] = value`: a tensor becomes a parameter. TypeError for a key that is no text, KeyError for one that
    is no name of a module."""
    if isinstance(key, Unknown):
        return None
    if not isinstance(key.payload if isinstance(key, Instance) else key, str):
        raise run.error("TypeError", f"a name in {self.cls.name} should be a string")
    place(run, self, key, value)
    return None


def dict_delete(run: Runtime, self: Instance, key: str) -> Value:
    """`del modules[key]`. KeyError for a key that it does not have."""
    find_entry(self, key)
    remove(run, self, key)
    forget_keys(run, self, [key])
    return None


def forget_keys(run: Runtime, self: Instance, gone: Iterable[str]) -> None:
    """These are no keys of a container any more."""
    keys = self.attributes.get(KEYS)
    if isinstance(keys, dict):
        run.changed(keys)
        for key in gone:
            keys.pop(key, None)


def dict_pop(run: Runtime, self: Instance, key: str) -> Value:
    """`modules.pop(key)`. KeyError for a key that it does not have."""
    found = find_entry(self, key)
    dict_delete(run, self, key)
    return found


def dict_clear(run: Runtime, self: Instance) -> Value:
    """`modules.clear()`: nothing is held any more."""
    for key in list(contents(self)):
        dict_delete(run, self, key)
    return None


def dict_lookup(run: Runtime, self: Instance, key: str | Unknown, default: Value = None) -> Value:
    """`parameters.get(key, default)`: the default for a key that it does not have."""
    if isinstance(key, Unknown):
        return key
    return contents(self).get(key, default)


PARAMETER_DICT, parameter_dict = container("ParameterDict")
LIKE_DICTS: dict[str, Callable[..., Value]] = {
    "__init__": dict_init, "update": dict_update, "__getitem__": dict_get, "__setitem__": dict_set,
    "__delitem__": dict_delete, "pop": dict_pop, "clear": dict_clear,
    "__len__": lambda run, self: len(contents(self)),
    "__iter__": lambda run, self: list(contents(self)),
    "__contains__": lambda run, self, key: key if isinstance(key, Unknown) else key in contents(self),
    "keys": lambda run, self: list(contents(self)),
    "values": lambda run, self: list(contents(self).values()),
    "items": lambda run, self: list(contents(self).items()),
}  # fmt: skip
for _members in (module_dict, parameter_dict):
    for _name, _function in LIKE_DICTS.items():
        _members[_name] = Native(_name, _function, propagate_unknown=False)
parameter_dict["__ior__"] = Native(
    "__ior__", lambda run, self, other: (dict_update(run, self, other), self)[1], propagate_unknown=False
)
parameter_dict["get"] = Native("get", dict_lookup, propagate_unknown=False)
parameter_dict["setdefault"] = Native(
    "setdefault",
    lambda run, self, key, default=None: (
        None if key in contents(self) else dict_set(run, self, key, default),
        contents(self)[key],
    )[1],
    propagate_unknown=False,
)
parameter_dict["copy"] = Native(
    "copy", lambda run, self: run.construct(self.cls, dict(contents(self))), propagate_unknown=False
)

PARAMETER_LIST, parameter_list = container("ParameterList")


@parameter_list.method("__init__")
def parameters_init(run: Runtime, self: Instance, values: Value = None) -> Value:
    """`nn.ParameterList(values)`: registered as "0", "1", ...; tensors become parameters."""
    init_module(run, self)
    if values is not None:
        parameters_extend(run, self, values)
    return None


@parameter_list.method("append")
def parameters_append(run: Runtime, self: Instance, value: Value) -> Value:
    """`parameters.append(value)`: a tensor becomes a parameter."""
    place(run, self, str(len(contents(self))), value)
    return self


@parameter_list.method("extend", "__iadd__")
def parameters_extend(run: Runtime, self: Instance, values: Value) -> Value:
    """`parameters.extend(values)`, `parameters += values`: appended one by one; the list."""
    items = run.items(values)
    for item in [items] if isinstance(items, Unknown) else items:
        parameters_append(run, self, item)
    return self


@parameter_list.method("__getitem__")
def parameters_item(run: Runtime, self: Instance, idx: Any) -> Value:
    """`parameters[idx]`: a parameter, or for a slice a ParameterList."""
    idx = known_index(run, idx)
    if isinstance(idx, Unknown):
        return idx
    items = list(contents(self).values())
    if isinstance(idx, slice):
        made = run.construct(self.cls)
        return parameters_extend(run, made, items[idx]) if isinstance(made, Instance) else made
    return items[idx]


@parameter_list.method("__setitem__")
def parameters_set(run: Runtime, self: Instance, idx: Value, param: Value) -> Value:
    """`parameters[idx] = param`. IndexError outside; an index that is not known changes nothing."""
    idx = known_index(run, idx)
    if isinstance(idx, int):
        place(run, self, list(contents(self))[idx], param)
    return None


parameter_list["__len__"] = Native("__len__", lambda run, self: len(contents(self)))
parameter_list["__iter__"] = Native("__iter__", lambda run, self: list(contents(self).values()))
