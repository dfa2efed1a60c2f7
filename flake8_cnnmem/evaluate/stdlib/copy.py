"""`copy` and `weakref`: copies of containers and of whole models, and references that hold nothing."""

from __future__ import annotations

import dataclasses
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.builtins.declare import Names, special
from flake8_cnnmem.evaluate.builtins.dict_kinds import DefaultDict
from flake8_cnnmem.evaluate.builtins.keys import lost
from flake8_cnnmem.evaluate.builtins.mappings import DICT
from flake8_cnnmem.evaluate.builtins.sets import SET
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.evaluate.training_state import names_in_sight
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.updates import STATES_TOLD
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.parameter_values import owner
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Instance, Native, Value

names = Names()

MUTABLE = (list, dict, set, deque, bytearray)


@names.function("copy")
def copy(run: Runtime, x: Value) -> Value:
    """A shallow copy: of a container, or an instance with the same attributes."""
    if isinstance(x, Instance):
        method = special(x, "__copy__")
        if method is not None:
            return run.call(method)
        rebuilt = by_pickling(run, x, lambda value: value)
        if rebuilt is not MISSING:
            return rebuilt
        inner = shallow(run, x.payload)
        return Instance(x.cls, dict(x.attributes), inner, x.native, x.site)
    if isinstance(x, Tensor):
        made = tensor_copy(x)
        if x.data is not None and not isinstance(x, Weight):
            # Of some frameworks it lies in the same storage.
            shares(made, x, None)
        return made
    return shallow(run, x)


def shallow(run: Runtime, x: Value) -> Value:
    """`copy.copy(x)`: by `__copy__`, or a container or instance with the same items."""
    if not isinstance(x, MUTABLE):
        return x
    run.spend(len(x) // 16)
    made = default_dict(x, dict(x)) if isinstance(x, DefaultDict) else x.copy()
    return as_uncertain(run, x, made)


def as_uncertain(run: Runtime, x: Value, copied: Value) -> Value:
    """The copy of a container, whose contents are as little known as those of the container."""
    cause = lost(run, x)
    if cause is not None:
        run.havoc(copied, cause)
    return copied


def default_dict(source: DefaultDict, entries: dict[Value, Value]) -> DefaultDict:
    """A defaultdict with the source's factory."""
    result = DefaultDict(entries)
    result.factory = source.factory
    return result


def tensor_copy(x: Tensor) -> Tensor:
    """A tensor of its own: a Weight's copy is a new parameter of the same shape, that of its values asks for no
    gradient."""
    whole: Tensor = owner(x)
    if isinstance(whole, Weight):
        trainable = whole.trainable and (whole is x or (isinstance(x, Weight) and x.trainable))
        return dataclasses.replace(whole, call=None, index=0, held=0, trainable=trainable)
    return dataclasses.replace(whole, held=0)


@names.function("deepcopy")
def deepcopy(run: Runtime, x: Value, memo: Value = None) -> Value:
    """A deep copy: layers get new weights of the same shapes, and what was shared inside stays shared. What `memo` has
    by an object's id stands for its copy."""
    if memo is not None and not isinstance(memo, dict):
        return run.unknown("what copies are known already is not followed")
    return Copier(run, {} if memo is None else memo).copy(x)


def own(x: Instance, word: str) -> Value:
    """A method that the program's own classes define; None where none does."""
    found = x.cls.find(word)
    return Bound(found, x) if isinstance(found, Function) else None


def by_pickling(run: Runtime, x: Instance, copied: Callable[[Value], Value]) -> Value:
    """A copy through what a class says of its pickling, as `copy._reconstruct` makes it; MISSING where it says nothing.
    `copied` is what becomes of the parts."""
    reduce = own(x, "__reduce_ex__") or own(x, "__reduce__")
    getting, setting = own(x, "__getstate__"), own(x, "__setstate__")
    if reduce is None and getting is None and setting is None:
        return MISSING
    if x.native is not None or x.payload is not None:
        return run.unknown(f"how a {x.cls.name} is copied is not followed") if reduce is not None else MISSING
    state: Value = None
    if reduce is not None:
        answer = run.call(reduce, 4) if own(x, "__reduce_ex__") is not None else run.call(reduce)
        if not isinstance(answer, tuple) or not 2 <= len(answer) <= 3 or not isinstance(answer[1], tuple):
            return x if isinstance(answer, str) else run.unknown(f"how a {x.cls.name} is copied is not followed")
        twin = run.call(answer[0], *(copied(each) for each in answer[1]))
        state = answer[2] if len(answer) == 3 else None
    else:
        twin = Instance(x.cls, site=x.site)
        state = run.call(getting) if getting is not None else dict(x.attributes)
    if state is None or not isinstance(twin, Instance):
        return twin
    state, method = copied(state), own(twin, "__setstate__")
    if method is not None:
        run.call(method, state)
    elif isinstance(state, dict):
        twin.attributes.update(state)
    else:
        return run.unknown(f"how a {x.cls.name} is copied is not followed")
    return twin


class Copier:
    """One deep copy, with what it has already copied, by id, as the program's `__deepcopy__` reads and fills it. The
    originals are held under the id of all that, as Python does it, so that their ids stay theirs."""

    def __init__(self, run: Runtime, memo: dict[Value, Value]) -> None:
        self.run = run
        self.done = memo

    def remember(self, original: Value, copied: Value) -> Value:
        """Note the copy of a value, so that it is copied once."""
        self.done[id(original)] = copied
        held = self.done.setdefault(id(self.done), [])
        if isinstance(held, list):
            held.append(original)
        return copied

    def copy(self, x: Value) -> Value:
        """`copy.deepcopy(x)`"""
        found = self.done.get(id(x))
        if found is not None:
            return found
        if isinstance(x, Instance):
            return self.instance(x)
        if isinstance(x, Tensor):
            frameworks.of(x).refuse_copy(self.run, x)
            return self.remember(x, tensor_copy(x))
        if isinstance(x, (list, tuple, dict, set, frozenset, deque)):
            self.run.spend(len(x) + 1)
            if id(x) in self.run.data(STATES_TOLD):
                note_cause(self.run, None, "copied states", "what a copy of an optimizer's state takes")
            return self.container(x)
        if isinstance(x, Bound):
            return Bound(x.function, self.copy(x.receiver))
        if isinstance(x, bytearray):
            return bytearray(x)
        return x

    def container(self, x: Any) -> Value:
        """A deep copy of a list, tuple, set, deque or dict."""
        if isinstance(x, (list, deque)):
            result: Any = self.remember(x, [] if isinstance(x, list) else deque(maxlen=x.maxlen))
            for item in x:
                result.append(self.copy(item))
            return as_uncertain(self.run, x, result)
        if isinstance(x, dict):
            return self.mapping(x)
        items = [self.copy(item) for item in x]
        if isinstance(x, tuple) and all(a is b for a, b in zip(items, x, strict=True)):
            return x
        return self.remember(x, type(x)(items) if type(x) in (tuple, set, frozenset) else x)

    def mapping(self, x: dict[Value, Value]) -> Value:
        """A deep copy of a dict, of its kind."""
        result: dict[Value, Any] = {}
        if isinstance(x, DefaultDict):
            result = default_dict(x, {})
        elif isinstance(x, Counter):
            result = Counter()
        elif isinstance(x, OrderedDict):
            result = OrderedDict()
        self.remember(x, result)
        for word, item in x.items():
            result[self.copy(word)] = self.copy(item)
        return as_uncertain(self.run, x, result)

    def instance(self, x: Instance) -> Value:
        """A deep copy of an instance: by `__deepcopy__`, by what it pickles as, or of its payload and attributes; what
        never changes is itself."""
        run = self.run
        run.spend(2)
        method = special(x, "__deepcopy__")
        if method is not None:
            result = run.call(method, self.done)
            return self.remember(x, result)
        rebuilt = by_pickling(run, x, self.copy)
        if rebuilt is not MISSING:
            return self.remember(x, rebuilt)
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
            return found
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


class Weakly:
    """What is referred to, and not held."""

    __slots__ = ("target",)

    def __init__(self, target: Value) -> None:
        self.target = target


@references.function("__init__", propagate_unknown=False)
def reference_init(run: Runtime, self: Instance, object: Value, callback: Value = None) -> None:
    """`weakref.ref(object)`"""
    self.native = Weakly(object)


@references.function("__call__")
def dereference(run: Runtime, self: Instance) -> Value:
    """`reference()`: the object; whether a result that is no parameter is still there is not known."""
    found: Weakly = self.native
    if isinstance(found.target, Tensor) and not isinstance(found.target, Weight):
        return run.unknown("whether a result is still there that is referred to weakly")
    if isinstance(found.target, Instance) and not in_reach(run, found.target):
        return run.unknown("whether an object is still there that is referred to weakly")
    return found.target


MOST_VALUES = 10_000
"""So many are looked at in the search for one that is referred to."""


def in_reach(run: Runtime, target: Instance) -> bool:
    """Whether the variables of the frames that run, and of their modules, lead to an object by strong references."""
    seen: set[int] = set()
    waiting = [value for _, value in names_in_sight(getattr(run, "frame", None))]
    while waiting and len(seen) < MOST_VALUES:
        value = waiting.pop()
        if value is target:
            return True
        if not isinstance(value, (Instance, Bound, list, tuple, dict, set, deque)) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Instance):
            waiting += [value.attributes, value.payload]
        elif isinstance(value, Bound):
            waiting.append(value.receiver)
        else:
            waiting += value.values() if isinstance(value, dict) else value
    run.spend(len(seen) // 16)
    return False


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
