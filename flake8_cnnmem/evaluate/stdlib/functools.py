"""`functools`: functions made of functions."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.builtins.keys import key
from flake8_cnnmem.evaluate.native_state import note_set_around
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, ClassMethod, Instance, Native, Property, Value

names = Names()
COPIED = ("__name__", "__qualname__", "__doc__", "__module__")

# partial

partials = Names()


@partials.function("__new__", propagate_unknown=False)
def partial_new(run: Runtime, cls: Class, func: Value, /, *args: Value, **keywords: Value) -> Value:
    """A partial of a partial is one partial, as in Python."""
    if isinstance(func, Unknown):
        return func
    if isinstance(func, Instance) and func.cls is PARTIAL:
        inner = func.attributes
        run.spend(len(inner["args"]) + len(inner["keywords"]))
        func, args, keywords = inner["func"], (*inner["args"], *args), {**inner["keywords"], **keywords}
    return Instance(cls, {"func": func, "args": args, "keywords": keywords}, site=run.here())


@partials.function("__call__", propagate_unknown=False)
def partial_call(run: Runtime, self: Instance, /, *args: Value, **keywords: Value) -> Value:
    """A call of `partial(f, *args, **keywords)`: its own arguments first, names that are given again replaced."""
    own = self.attributes
    run.spend(len(own["args"]))
    return run.call(own["func"], *own["args"], *args, **{**own["keywords"], **keywords})


partials["__class_getitem__"] = ClassMethod(
    Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False)
)
PARTIAL = native_class("partial", dict(partials), module="functools")
names["partial"] = PARTIAL

methods = Names(partials)


@methods.function("__get__", propagate_unknown=False)
def partial_method_get(run: Runtime, self: Instance, instance: Value, owner: Value = None) -> Value:
    """`partialmethod` bound to an instance."""
    own = self.attributes
    if instance is None:
        return self
    bound = Bound(own["func"], instance)
    return Instance(PARTIAL, {"func": bound, "args": own["args"], "keywords": own["keywords"]})


names["partialmethod"] = native_class("partialmethod", dict(methods), module="functools")

# Wrapping


def update_wrapper(run: Runtime, wrapper: Value, wrapped: Value, *args: Value, **kwargs: Value) -> Value:
    """The wrapper itself, with the wrapped function's names and `__wrapped__`."""
    for word in COPIED:
        found = run.find(wrapped, word)
        if found is not MISSING and not isinstance(found, Unknown):
            run.set(wrapper, word, found)
    run.set(wrapper, "__wrapped__", wrapped)
    return wrapper


names["update_wrapper"] = Native("update_wrapper", update_wrapper, propagate_unknown=False)


@names.function("wraps", propagate_unknown=False)
def wraps(run: Runtime, wrapped: Value, *args: Value, **kwargs: Value) -> Native:
    """`@wraps(function)`: the wrapper with the function's name and attributes."""
    return Native("wraps", lambda run, wrapper: update_wrapper(run, wrapper, wrapped))


# Caches

caches = Names()


class Cache(dict[Any, Value]):
    """Results by arguments, the least recently used first. `most` results are kept, any number if it is None."""

    most: int | None = None
    typed: bool = False


def cache_of(self: Instance) -> dict[Any, Value]:
    """What a cached function has given, by its arguments."""
    found: dict[Any, Value] = self.native
    return found


@caches.function("__call__", propagate_unknown=False)
def cached_call(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """A call of a cached function: what it gave for these arguments before, or a new result. TypeError for arguments
    that are no keys."""
    function = self.attributes["__wrapped__"]
    cache: Cache = self.native
    kinds = tuple(type(each) for each in (*args, *kwargs.values())) if cache.typed else ()
    if len(args) == 1 and not kwargs and type(args[0]) in (int, str):
        # CPython takes a single int or str for the key itself, which no other call's key equals: `f(1)` and `f(True)`.
        kinds = (type(args[0]),)
    # As they are written: `f(a=1, b=2)` and `f(b=2, a=1)` are two calls.
    word = key(run, (args, tuple(kwargs.items())))
    if isinstance(word, Unknown):
        return run.call(function, *args, **kwargs)
    word = (word, kinds)
    found = cache.get(word, MISSING)
    if found is MISSING:
        found = run.call(function, *args, **kwargs)
    run.changed(cache)
    cache.pop(word, None)
    cache[word] = found
    while cache.most is not None and len(cache) > max(cache.most, 0):
        del cache[next(iter(cache))]
    return found


@caches.function("__get__", propagate_unknown=False)
def cached_get(run: Runtime, self: Instance, instance: Value, owner: Value = None) -> Value:
    """A cached method bound to an instance."""
    return self if instance is None else Bound(self, instance)


@caches.function("cache_clear")
def cache_clear(run: Runtime, self: Instance) -> None:
    """`function.cache_clear()`"""
    run.changed(cache_of(self))
    cache_of(self).clear()


caches["cache_info"] = Native("cache_info", lambda run, self: run.unknown("the use of a cache is not counted"))
CACHED = native_class("_lru_cache_wrapper", dict(caches), module="functools")


def cached(run: Runtime, function: Value, most: int | None = None, typed: bool = False) -> Value:
    """A function that remembers its results: `most` of them, all for None."""
    cache = Cache()
    cache.most, cache.typed = most, typed
    wrapper = Instance(CACHED, {"__wrapped__": function}, native=cache, site=run.here())
    for word in COPIED:
        found = run.find(function, word)
        if found is not MISSING:
            wrapper.attributes[word] = found
    return wrapper


@names.function("lru_cache", propagate_unknown=False)
def lru_cache(run: Runtime, maxsize: Value = 128, typed: Value = False) -> Value:
    """`@lru_cache`, with or without options."""
    if maxsize is None or isinstance(maxsize, (int, Unknown)):
        most = None if isinstance(maxsize, Unknown) else maxsize
        return Native("lru_cache", lambda run, function: cached(run, function, most, typed is True))
    return cached(run, maxsize, 128)


names["cache"] = Native("cache", lambda run, user_function, /: cached(run, user_function))


@names.function("cached_property")
def cached_property(run: Runtime, func: Value) -> Property:
    """A property that keeps its first value in the instance."""
    found = run.find(func, "__name__")
    word = found if isinstance(found, str) else f"cached property {id(func)}"

    def get(run: Runtime, self: Instance) -> Value:
        if word not in self.attributes:
            value = run.call(func, self)
            run.changed(self)
            self.attributes[word] = value
            note_set_around(self, word)
        return self.attributes[word]

    def set_(run: Runtime, self: Instance, value: Value) -> None:
        run.changed(self)
        self.attributes[word] = value

    def delete(run: Runtime, self: Instance) -> None:
        if word not in self.attributes:
            raise run.error("AttributeError", word)
        run.changed(self)
        del self.attributes[word]

    return Property(Native(word, get), Native(word, set_, propagate_unknown=False), Native(word, delete))


# Folding and ordering


@names.function("reduce", propagate_unknown=False)
def reduce(run: Runtime, function: Value, iterable: Value, initial: Value = MISSING, /) -> Value:
    """`reduce(function, iterable, initial)`. TypeError for no items and no initial value."""
    items = run.items(iterable)
    if isinstance(items, Unknown) or isinstance(function, Unknown):
        return items if isinstance(items, Unknown) else function
    if initial is MISSING:
        if not items:
            raise TypeError("reduce() of empty iterable with no initial value")
        initial, *items = items
    result = initial
    for item in items:
        result = run.call(function, result, item)
    return result


@names.function("cmp_to_key")
def cmp_to_key(run: Runtime, mycmp: Value) -> Native:
    """A class whose instances compare by the function."""

    def less(run: Runtime, self: Instance, other: Instance) -> Value:
        return run.operate("<", run.call(mycmp, self.attributes["obj"], other.attributes["obj"]), 0)

    compared = native_class("K", {"__lt__": Native("__lt__", less)}, module="functools")
    return Native("cmp_to_key", lambda run, obj: Instance(compared, {"obj": obj}))


ORDERINGS = {
    "__lt__": {"__gt__": ("swap", False), "__le__": ("swap", True), "__ge__": ("", True)},
    "__gt__": {"__lt__": ("swap", False), "__ge__": ("swap", True), "__le__": ("", True)},
    "__le__": {"__ge__": ("swap", False), "__lt__": ("swap", True), "__gt__": ("", True)},
    "__ge__": {"__le__": ("swap", False), "__gt__": ("swap", True), "__lt__": ("", True)},
}
"""For the method that a class has: how each other one follows, operands swapped or not, answer negated or not."""


@names.function("total_ordering")
def total_ordering(run: Runtime, cls: Value) -> Value:
    """`@total_ordering`: the comparisons that the class does not have, by the one that it has."""
    if not isinstance(cls, Class) or cls.host is not None:
        return cls
    root = next((word for word in ORDERINGS if word in cls.namespace), None)
    if root is None:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    run.changed(cls.namespace)
    for word, (swap, negated) in ORDERINGS[root].items():
        cls.namespace.setdefault(word, derived(cls.namespace[root], word, bool(swap), negated))
    return cls


def derived(method: Value, word: str, swap: bool, negated: bool) -> Native:
    """A comparison made of another one: operands swapped, the answer negated."""

    def compare(run: Runtime, self: Value, other: Value) -> Value:
        answer = run.truth(run.call(method, *((other, self) if swap else (self, other))))
        return answer if isinstance(answer, Unknown) else answer is not negated

    return Native(word, compare)


# Dispatch on the first argument's class

dispatchers = Names()


@dispatchers.function("__call__", propagate_unknown=False)
def dispatched_call(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """A call of a `singledispatch` function: the implementation for the class of its first argument."""
    at = 1 if self.cls is METHOD_DISPATCHER else 0
    if len(args) <= at:
        raise TypeError("a singledispatch function requires at least 1 positional argument")
    cls = run.type_of(args[at])
    if isinstance(cls, Unknown):
        return cls
    table = cache_of(self)
    if BY_ANNOTATION in table:
        return table[BY_ANNOTATION]
    for base in cls.mro:
        if base in table:
            return run.call(table[base], *args, **kwargs)
    return run.call(self.attributes["__wrapped__"], *args, **kwargs)


BY_ANNOTATION = None
"""Where a dispatcher notes that somebody may be registered for any class."""


@dispatchers.function("register", propagate_unknown=False)
def register(run: Runtime, self: Instance, cls: Value, func: Value = None) -> Value:
    """`@f.register(int)`; the form that reads the annotation of its first parameter is not followed."""
    if func is None:
        if not isinstance(cls, Class):
            run.changed(cache_of(self))
            cache_of(self)[BY_ANNOTATION] = run.unknown("a function is registered for a type by its annotation alone")
            return cls
        return Native("register", lambda run, function: register(run, self, cls, function))
    run.changed(cache_of(self))
    cache_of(self)[cls] = func
    return func


dispatchers["__get__"] = caches["__get__"]
DISPATCHER = native_class("singledispatch", dict(dispatchers), module="functools")


@names.function("singledispatch")
def singledispatch(run: Runtime, func: Value) -> Value:
    """`@singledispatch`"""
    return Instance(DISPATCHER, {"__wrapped__": func}, native={}, site=run.here())


METHOD_DISPATCHER = native_class("singledispatchmethod", dict(dispatchers), module="functools")
"""Decides by the argument after the instance."""


@names.function("singledispatchmethod")
def singledispatchmethod(run: Runtime, func: Value) -> Value:
    """`@singledispatchmethod`"""
    return Instance(METHOD_DISPATCHER, {"__wrapped__": func}, native={}, site=run.here())


names["WRAPPER_ASSIGNMENTS"] = (*COPIED, "__annotations__")
names["WRAPPER_UPDATES"] = ("__dict__",)

MODULES = {"functools": names}
