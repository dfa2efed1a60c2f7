"""`operator`: the operators as functions."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.evaluate.builtins.declare import OPERATORS, UNARY, Names, payload
from flake8_cnnmem.evaluate.builtins.functions import absolute, length
from flake8_cnnmem.evaluate.builtins.sequences import position
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

names = Names()


def binary(symbol: str) -> Callable[..., Value]:
    """`operator.add` and its like, by the symbol."""
    return lambda run, a, b, /: run.operate(symbol, a, b)


def in_place(symbol: str) -> Callable[..., Value]:
    """`operator.iadd` and its like, which change a list, set or dict, by the symbol."""
    return lambda run, a, b, /: run.operate_in_place(symbol, a, b)


def unary(symbol: str) -> Callable[..., Value]:
    """`operator.neg` and its like, by the symbol."""
    return lambda run, a, /: run.operate_unary(symbol, a)


def enter(word: str, native: Native) -> None:
    """Under the plain name and the dunder one: `operator.add` and `operator.__add__`."""
    names[word] = native
    names[f"__{word.rstrip('_')}__"] = native


for _word, _symbol in OPERATORS.items():
    _plain = _word.strip("_")
    enter(f"{_plain}_" if _plain in ("and", "or") else _plain, Native(_plain, binary(_symbol)))
    if _symbol not in ("<", "<=", ">", ">=", "==", "!="):
        enter(f"i{_plain}", Native(f"i{_plain}", in_place(_symbol)))
for _word, _symbol in UNARY.items():
    enter(_word.strip("_"), Native(_word.strip("_"), unary(_symbol)))
enter("inv", names["invert"])
enter("is_", Native("is_", binary("is")))
enter("is_not", Native("is_not", binary("is not")))
enter("contains", Native("contains", lambda run, a, b, /: run.operate("in", b, a), propagate_unknown=False))
enter("getitem", Native("getitem", lambda run, a, b, /: run.index(a, b)))
enter("concat", names["add"])
enter("abs", Native("abs", absolute))
enter("index", Native("index", lambda run, a, /: payload(a)))
names["truth"] = Native("truth", lambda run, a, /: run.truth(a))
names["length_hint"] = Native("length_hint", lambda run, a, default=0, /: length(run, a))


@names.function("not_")
def negation(run: Runtime, a: Value, /) -> Value:
    """`operator.not_(a)`"""
    answer = run.truth(a)
    return answer if isinstance(answer, Unknown) else not answer


@names.function("setitem", propagate_unknown=False)
def set_item(run: Runtime, a: Value, b: Value, c: Value, /) -> None:
    """`operator.setitem(a, b, c)`"""
    run.call(run.get(a, "__setitem__"), b, c)


@names.function("delitem", propagate_unknown=False)
def delete_item(run: Runtime, a: Value, b: Value, /) -> None:
    """`operator.delitem(a, b)`"""
    run.call(run.get(a, "__delitem__"), b)


@names.function("countOf", propagate_unknown=False)
def count_of(run: Runtime, a: Value, b: Value, /) -> Value:
    """`operator.countOf(a, b)`"""
    items = run.items(a)
    return items if isinstance(items, Unknown) else run.call(run.get(items, "count"), b)


@names.function("indexOf", propagate_unknown=False)
def index_of(run: Runtime, a: Value, b: Value, /) -> Value:
    """`operator.indexOf(a, b)`. ValueError where it is not there."""
    items = run.items(a)
    if isinstance(items, Unknown):
        return items
    at = position(run, items, b)
    if at == -1:
        raise ValueError("sequence.index(x): x not in sequence")
    return at


@names.function("itemgetter", propagate_unknown=False)
def itemgetter(run: Runtime, item: Value, /, *items: Value) -> Native:
    """`itemgetter(item)`: a function of a value; several items give a tuple."""
    if not items:
        return Native("itemgetter", lambda run, value, /: run.index(value, item))
    return Native("itemgetter", lambda run, value, /: tuple(run.index(value, each) for each in (item, *items)))


def dotted(run: Runtime, value: Value, path: str) -> Value:
    """`value.a.b` for the path "a.b"."""
    for word in path.split("."):
        value = run.get(value, word)
    return value


@names.function("attrgetter")
def attrgetter(run: Runtime, attr: Value, /, *attrs: Value) -> Native:
    """`attrgetter("a.b")`: a function of a value; several paths give a tuple."""
    first = payload(attr)
    if not attrs:
        return Native("attrgetter", lambda run, value, /: dotted(run, value, first))
    return Native(
        "attrgetter", lambda run, value, /: tuple(dotted(run, value, payload(each)) for each in (first, *attrs))
    )


@names.function("methodcaller", propagate_unknown=False)
def methodcaller(run: Runtime, name: Value, /, *args: Value, **kwargs: Value) -> Value:
    """`methodcaller(name, ...)`: a function that calls the value's method."""
    if isinstance(name, Unknown):
        return name
    return Native("methodcaller", lambda run, value, /: run.call(run.get(value, payload(name)), *args, **kwargs))


names["call"] = Native(
    "call", lambda run, function, /, *args, **kwargs: run.call(function, *args, **kwargs), propagate_unknown=False
)

MODULES = {"operator": names, "_operator": names}
