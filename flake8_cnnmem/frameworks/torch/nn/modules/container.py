"""torch.nn's containers by position: Sequential, ModuleList; and what all containers share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.layer import LAYERS
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE, check_name, put, stored
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

NOT_FOLLOWED = "the contents of a container could not be worked out"


def container(name: str) -> tuple[Class, Members]:
    """A class of containers, and the members that it gets."""
    members = Members()
    cls = Class(name, (MODULE,), members, module="torch.nn.modules.container")
    LAYERS[name] = cls
    return cls, members


def replace(run: Runtime, self: Instance, store: str, items: Mapping[str, Value]) -> None:
    """New contents in a new order, in the same dict."""
    held = stored(self, store)
    run.changed(held)
    held.clear()
    held.update(items)


def known_index(run: Runtime, at: Value) -> Value:
    """An index of the program; Unknown where only a run knows its value: a tensor's, a batch size."""
    if isinstance(at, (Tensor, Batch)):
        return run.unknown("an index into a container is not known")
    if isinstance(at, slice):
        return next((each for each in (at.start, at.stop, at.step) if isinstance(each, Unknown)), at)
    return at


def widen(run: Runtime, self: Instance, cause: Unknown, count: int) -> None:
    """So many modules are held, but no longer is it known which one stands where."""
    replace(run, self, "_modules", {str(at): cause for at in range(count)})


def position(run: Runtime, self: Instance, at: Value, extra: int = 0) -> int:
    """An index as a position from the start. IndexError where there is none."""
    count = len(stored(self, "_modules")) + extra
    if not isinstance(at, int):
        raise run.error("TypeError", "an index into a container is no integer")
    if not -count <= at < count:
        raise IndexError(f"index {at} is out of range")
    return at % count if count else 0


def same_kind(run: Runtime, self: Instance, items: list[tuple[str, Value]], renumber: bool) -> Value:
    """A container of the same class with some of the modules: what slicing gives."""
    made = Instance(self.cls, site=run.here())
    init_module(run, made)
    entries = enumerate(item for _, item in items) if renumber else items
    stored(made, "_modules").update({str(name): item for name, item in entries})
    return made


SEQUENTIAL, sequential = container("Sequential")
MODULE_LIST, module_list = container("ModuleList")


@sequential.method("__init__")
def sequential_init(run: Runtime, self: Instance, *args: Value) -> Value:
    """`nn.Sequential(*modules)`, or an OrderedDict of modules."""
    init_module(run, self)
    if len(args) == 1 and isinstance(args[0], dict):
        for name, module in args[0].items():
            check_name(run, "module", name)
            put(run, self, "_modules", name, module)
        return None
    if len(args) == 1 and isinstance(args[0], Instance) and isinstance(args[0].payload, dict):
        for name, module in args[0].payload.items():
            check_name(run, "module", name)
            put(run, self, "_modules", name, module)
        return None
    for at, module in enumerate(args):
        add(run, self, str(at), module)
    return None


def add(run: Runtime, self: Instance, name: str, module: Value) -> None:
    """Register a module; what is no module raises TypeError, as torch does."""
    if module is not None and not isinstance(module, (Instance, Unknown)):
        kind = module.name if isinstance(module, Class) else type(module).__name__
        raise run.error("TypeError", f"{kind} is not a Module subclass")
    check_name(run, "module", name)
    put(run, self, "_modules", name, module)


@sequential.method("forward")
def sequential_forward(run: Runtime, self: Instance, input: Value) -> Value:
    """The input through all modules, one after the other: those that a subclass's own `__iter__` gives."""
    plain = self.cls.find("__iter__") is sequential["__iter__"]
    inside = list(stored(self, "_modules").values()) if plain else run.items(self)
    if isinstance(inside, Unknown):
        return inside
    for module in inside:
        input = run.call(module, input)
    return input


@sequential.method("__getitem__")
def sequential_item(run: Runtime, self: Instance, idx: Value) -> Value:
    """`sequential[idx]`: a module, or for a slice a Sequential. IndexError beyond its end."""
    idx = known_index(run, idx)
    if isinstance(idx, Unknown):
        return idx
    items = list(stored(self, "_modules").items())
    if isinstance(idx, slice):
        return same_kind(run, self, items[idx], renumber=False)
    return items[position(run, self, idx)][1]


@module_list.method("__getitem__")
def list_item(run: Runtime, self: Instance, idx: Value) -> Value:
    """`modules[idx]`: a module, or for a slice a ModuleList. IndexError beyond its end."""
    idx = known_index(run, idx)
    if isinstance(idx, Unknown):
        return idx
    items = list(stored(self, "_modules").items())
    if isinstance(idx, slice):
        return same_kind(run, self, items[idx], renumber=True)
    return items[position(run, self, idx)][1]


def set_item(run: Runtime, self: Instance, idx: Value, module: Value) -> Value:
    """`modules[idx] = module`: IndexError outside; at an unknown place any of them may be the new one."""
    idx = known_index(run, idx)
    if isinstance(idx, Unknown):
        widen(run, self, idx, len(stored(self, "_modules")))
        return None
    names = list(stored(self, "_modules"))
    run.set(self, names[position(run, self, idx)], module)
    return None


def delete_item(run: Runtime, self: Instance, idx: Value) -> Value:
    """`del modules[idx]`: those behind it are counted anew."""
    idx = known_index(run, idx)
    if isinstance(idx, Unknown):
        widen(run, self, idx, len(stored(self, "_modules")) - 1)
        return None
    items = list(stored(self, "_modules").items())
    if isinstance(idx, slice):
        del items[idx]
    else:
        del items[position(run, self, idx)]
    # torch renumbers Sequential and ModuleList alike, names given by an OrderedDict included.
    replace(run, self, "_modules", {str(at): module for at, (_, module) in enumerate(items)})
    return None


def length(run: Runtime, self: Instance) -> Value:
    """How many modules there are."""
    return len(stored(self, "_modules"))


def iterate(run: Runtime, self: Instance) -> Value:
    """The modules in order."""
    return list(stored(self, "_modules").values())


def append(run: Runtime, self: Instance, module: Value) -> Value:
    """`modules.append(module)`: the container."""
    add(run, self, str(len(stored(self, "_modules"))), module)
    return self


def insert(run: Runtime, self: Instance, index: Any, module: Value) -> Value:
    """`modules.insert(index, module)`: those behind it move by one; the container."""
    index = known_index(run, index)
    if isinstance(index, Unknown):
        widen(run, self, index, len(stored(self, "_modules")) + 1)
        return self
    items = list(stored(self, "_modules").values())
    is_list = self.cls.derives_from(MODULE_LIST)
    if is_list and index < 0:
        # It moves the modules behind the place, which it counts from the front.
        raise KeyError("-1")
    if not is_list and not -len(items) <= index <= len(items):
        raise IndexError(f"Index out of range: {index}")
    items.insert(index, module)
    replace(run, self, "_modules", {str(at): item for at, item in enumerate(items)})
    return None if is_list else self


def extend(run: Runtime, self: Instance, modules: Value) -> Value:
    """`modules.extend(modules)`: the container."""
    items = run.items(modules)
    if isinstance(items, Unknown):
        add(run, self, str(len(stored(self, "_modules"))), items)
        return self
    if modules is self and items:
        raise run.error("RuntimeError", "dictionary changed size during iteration")
    for item in items:
        append(run, self, item)
    return self


def pop(run: Runtime, self: Instance, key: Value) -> Value:
    """`modules.pop(key)`: the module that is taken out."""
    key = known_index(run, key)
    if isinstance(key, Unknown):
        delete_item(run, self, key)
        return key
    found = list(stored(self, "_modules").values())[position(run, self, key)]
    delete_item(run, self, key)
    return found


def plus(run: Runtime, self: Instance, other: Value) -> Value:
    """A container of the modules of both."""
    if not isinstance(other, Instance) and not isinstance(other, (list, tuple)):
        return other if isinstance(other, Unknown) else run.unknown(NOT_FOLLOWED)
    items = run.items(other)
    made = same_kind(run, self, list(stored(self, "_modules").items()), renumber=True)
    if isinstance(made, Instance):
        extend(run, made, items)
    return made


def plus_in_place(run: Runtime, self: Instance, other: Value) -> Value:
    """`modules += other`: as `extend`; the container."""
    return extend(run, self, other)


def times(run: Runtime, self: Instance, other: Value) -> Value:
    """A Sequential with the same modules so many times over."""
    if not isinstance(other, int):
        return other if isinstance(other, Unknown) else run.unknown(NOT_FOLLOWED)
    items = list(stored(self, "_modules").items())
    run.check_size(len(items) * max(other, 0))
    return same_kind(run, self, items * other, renumber=True)


def contains(run: Runtime, self: Instance, item: Value) -> Value:
    """Whether a module is one of the container's."""
    return any(item is module for module in stored(self, "_modules").values())


LIKE_LISTS: dict[str, Callable[..., Value]] = {
    "__setitem__": set_item, "__delitem__": delete_item, "__len__": length, "__iter__": iterate,
    "append": append, "insert": insert, "extend": extend, "pop": pop, "__add__": plus,
    "__iadd__": plus_in_place, "__contains__": contains,
}  # fmt: skip
for _members in (sequential, module_list):
    for _name, _function in LIKE_LISTS.items():
        _members[_name] = Native(_name, _function, propagate_unknown=False)
sequential["__mul__"] = sequential["__rmul__"] = Native("__mul__", times, propagate_unknown=False)


@module_list.method("__init__")
def list_init(run: Runtime, self: Instance, modules: Value = None) -> Value:
    """`nn.ModuleList(modules)`: registered as "0", "1", ..."""
    init_module(run, self)
    if modules is not None:
        extend(run, self, modules)
    return None
