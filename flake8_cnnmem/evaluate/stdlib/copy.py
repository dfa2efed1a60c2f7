"""`copy` and `weakref`: copies of containers and of whole models, and references that are as good as strong ones."""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, deque
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import Names, special
from flake8_cnnmem.evaluate.builtins.dict_kinds import DefaultDict
from flake8_cnnmem.evaluate.builtins.mappings import DICT
from flake8_cnnmem.evaluate.builtins.sets import SET
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Bound, Instance, Native, Runtime, Value

names = Names()

MUTABLE = (list, dict, set, deque, bytearray)


@names.function("copy")
def copy(run: Runtime, x: Value) -> Value:
    """A shallow copy: of a container, or an instance with the same attributes."""
    if isinstance(x, Instance):
        method = special(x, "__copy__")
        if method is not None:
            return run.call(method)
        inner = shallow(run, x.payload)
        return Instance(x.cls, dict(x.attributes), inner, x.native, x.site)
    if isinstance(x, Tensor):
        return tensor_copy(x)
    return shallow(run, x)


def shallow(run: Runtime, x: Value) -> Value:
    if not isinstance(x, MUTABLE):
        return x
    run.spend(len(x) // 16)
    return default_dict(x, dict(x)) if isinstance(x, DefaultDict) else x.copy()


def default_dict(source: DefaultDict, entries: dict[Value, Value]) -> DefaultDict:
    result = DefaultDict(entries)
    result.factory = source.factory
    return result


def tensor_copy(x: Tensor) -> Tensor:
    """A tensor of its own: a Weight's copy is a new parameter of the same shape."""
    if isinstance(x, Weight):
        return dataclasses.replace(x, call=None, index=0, held=0)
    return dataclasses.replace(x, held=0)


@names.function("deepcopy")
def deepcopy(run: Runtime, x: Value, memo: Value = None) -> Value:
    """A deep copy: layers get new weights of the same shapes, and what was shared inside stays shared."""
    return Copier(run).copy(x)


class Copier:
    """One deep copy, with what it has already copied, by id. The originals are held so that their ids stay theirs."""

    def __init__(self, run: Runtime) -> None:
        self.run = run
        self.done: dict[int, tuple[Value, Value]] = {}

    def remember(self, original: Value, copied: Value) -> Value:
        self.done[id(original)] = (original, copied)
        return copied

    def copy(self, x: Value) -> Value:
        found = self.done.get(id(x))
        if found is not None:
            return found[1]
        if isinstance(x, Instance):
            return self.instance(x)
        if isinstance(x, Tensor):
            return self.remember(x, tensor_copy(x))
        if isinstance(x, (list, tuple, dict, set, frozenset, deque)):
            self.run.spend(len(x) + 1)
            return self.container(x)
        if isinstance(x, Bound):
            return Bound(x.function, self.copy(x.receiver))
        if isinstance(x, bytearray):
            return bytearray(x)
        return x

    def container(self, x: Any) -> Value:
        if isinstance(x, (list, deque)):
            result: Any = self.remember(x, [] if isinstance(x, list) else deque(maxlen=x.maxlen))
            for item in x:
                result.append(self.copy(item))
            return result
        if isinstance(x, dict):
            return self.mapping(x)
        items = [self.copy(item) for item in x]
        if isinstance(x, tuple) and all(a is b for a, b in zip(items, x, strict=True)):
            return x
        return self.remember(x, type(x)(items) if type(x) in (tuple, set, frozenset) else x)

    def mapping(self, x: dict[Value, Value]) -> Value:
        result: dict[Value, Value] = {}
        if isinstance(x, DefaultDict):
            result = default_dict(x, {})
        elif isinstance(x, Counter):
            result = Counter()
        elif isinstance(x, OrderedDict):
            result = OrderedDict()
        self.remember(x, result)
        for word, item in x.items():
            result[self.copy(word)] = self.copy(item)
        return result

    def instance(self, x: Instance) -> Value:
        run = self.run
        run.spend(2)
        method = special(x, "__deepcopy__")
        if method is not None:
            result = run.call(method, {})
            return self.remember(x, result)
        if any(cls.facts.get("atomic") for cls in x.cls.mro):
            return x
        twin = Instance(x.cls, site=x.site)
        self.remember(x, twin)
        twin.payload = self.copy(x.payload)
        for word, value in x.attributes.items():
            twin.attributes[word] = self.copy(value)
        twin.native = self.native(x.native)
        return twin

    def native(self, x: Any) -> Any:
        """What a native class keeps about an instance: containers and dataclasses of ours are copied likewise."""
        found = self.done.get(id(x))
        if found is not None:
            return found[1]
        if isinstance(x, (list, dict, set, tuple, frozenset, Instance, Tensor)):
            return self.copy(x)
        if dataclasses.is_dataclass(x) and not isinstance(x, (type, Unknown)):
            if x.__dataclass_params__.frozen:  # type: ignore[attr-defined]
                return x
            twin = object.__new__(type(x))
            self.remember(x, twin)
            for field in dataclasses.fields(x):
                setattr(twin, field.name, self.native(getattr(x, field.name)))
            return twin
        return x


names["replace"] = Native("replace", lambda run, x, /, **changes: run.call(run.get(x, "__replace__"), **changes))

ERROR = native_class("Error", {}, module="copy")
names["Error"] = ERROR
names["error"] = ERROR

# Weak references

references = Names()


@references.function("__init__", propagate_unknown=False)
def reference_init(run: Runtime, self: Instance, object: Value, callback: Value = None) -> None:
    self.attributes["target"] = object


@references.function("__call__")
def dereference(run: Runtime, self: Instance) -> Value:
    return self.attributes["target"]


REFERENCE = native_class("ReferenceType", dict(references), module="weakref")


weak: dict[str, Value] = {
    "ref": REFERENCE,
    "ReferenceType": REFERENCE,
    "proxy": Native("proxy", lambda run, object, callback=None: object),
    "finalize": Native("finalize", lambda run, obj, func, *args, **kwargs: None, propagate_unknown=False),
    "WeakKeyDictionary": DICT,
    "WeakValueDictionary": DICT,
    "WeakSet": SET,
}

MODULES: dict[str, dict[str, Value]] = {"copy": names, "weakref": weak}
