"""The builtin functions."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import cast

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.budget import LENGTH, Exhausted
from flake8_cnnmem.evaluate.builtins.concrete import concrete, pure, type_name
from flake8_cnnmem.evaluate.builtins.declare import Names, payload, special, unknown_base
from flake8_cnnmem.evaluate.builtins.files import OPEN
from flake8_cnnmem.evaluate.builtins.formatting import format_value, to_repr
from flake8_cnnmem.evaluate.builtins.iterators import advance
from flake8_cnnmem.evaluate.builtins.keys import lost
from flake8_cnnmem.evaluate.builtins.ordering import extreme, in_order
from flake8_cnnmem.evaluate.unordered import members
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value

functions = Names()

NEVER_RUN = {
    "eval": "eval() is never run", "exec": "exec() is never run", "compile": "compile() is never run",
    "input": "input() is not asked for", "breakpoint": "breakpoint() is not run",
}  # fmt: skip


def never(name: str, reason: str) -> Native:
    """A builtin that is not followed: a call gives an unknown with this reason."""
    return Native(name, lambda run, *args, **kwargs: run.unknown(reason), propagate_unknown=False)


for _name, _reason in NEVER_RUN.items():
    functions[_name] = never(_name, _reason)

functions["open"] = OPEN


@functions.function("__import__")
def import_by_name(
    run: Runtime, name: Value, globals: Value = None, locals: Value = None, fromlist: Value = (), level: Value = 0
) -> Value:
    """`__import__(name, fromlist=..., level=0)`: the module where names of it are asked for, else its outermost
    package. Names relative to a package are not followed."""
    importer = getattr(run, "importer", None)
    if not isinstance(name, str) or level != 0 or importer is None:
        return run.unknown("a module that __import__() gives is not followed")
    found = importer.find(name)
    if found is not None and not fromlist:
        found = importer.find(name.partition(".")[0])
    return run.unknown(f"the source of '{name}' is not found") if found is None else found


for _name, _function in (("bin", bin), ("oct", oct), ("hex", hex), ("chr", chr), ("ord", ord)):
    functions[_name] = pure(_name, _function)


@functions.function("len", propagate_unknown=False)
def length(run: Runtime, value: Value, /) -> Value:
    """`len(value)`. TypeError for what has none."""
    if isinstance(value, Unknown):
        if value.items is not None:
            return value.items
        return value.as_number("int") if value.length is None else value.length
    if type(value) is Instance:
        method = special(value, "__len__")
        if method is not None:
            given = run.call(method)
            return given.as_number("int") if isinstance(given, Unknown) else given
        cause = unknown_base(value)
        if cause is not None:
            return cause
        if value.payload is None:
            raise TypeError(f"object of type '{type_name(value)}' has no len()")
        value = value.payload
    if isinstance(value, Tensor):
        size = frameworks.of(value).length(run, value)
        return size.as_number("int") if isinstance(size, Unknown) else size
    if isinstance(value, Class):
        metaclass = value.facts.get("metaclass")
        method = metaclass.find("__len__") if isinstance(metaclass, Class) else MISSING
        if method is not MISSING:
            return run.call(method, value)
    run.read_whole(value)
    cause = lost(run, value)
    if cause is not None:
        return run.length_of(value) if isinstance(value, list) else cause.as_number("int")
    try:
        return len(cast("Sized", value))
    except TypeError:
        raise TypeError(f"object of type '{type_name(value)}' has no len()") from None


@functions.function("abs")
def absolute(run: Runtime, value: Value, /) -> Value:
    """`abs(value)`"""
    if isinstance(value, Tensor):
        return run.operate_unary("abs", value)
    method = special(value, "__abs__")
    if method is not None:
        return run.call(method)
    if isinstance(value, Batch):
        return Batch(abs(value.multiple))
    return abs(payload(value))


@functions.function("round")
def rounded(run: Runtime, number: Value, ndigits: Value = None) -> Value:
    """`round(number, ndigits)`: a whole number without digits."""
    if isinstance(number, Batch):
        return number
    if isinstance(number, Tensor) and number.data is None:
        return run.call(run.get(number, "round"))
    method = special(number, "__round__")
    if method is not None:
        return run.call(method) if ndigits is None else run.call(method, ndigits)
    plain, digits = concrete(run, number), concrete(run, ndigits)
    for part in (plain, digits):
        if isinstance(part, Unknown):
            return part
    if isinstance(digits, int) and abs(digits) > 400:
        return plain if digits > 0 else run.unknown("a number is rounded to an enormous power of ten")
    return round(plain, digits)


@functions.function("pow")
def power(run: Runtime, base: Value, exp: Value, mod: Value = None) -> Value:
    """`pow(base, exp, mod)`"""
    if mod is None:
        return run.operate("**", base, exp)
    plain = concrete(run, (base, exp, mod))
    if isinstance(plain, Unknown):
        return plain
    run.spend(1 + bits_of(plain[1]) * bits_of(plain[2]) // 16)
    return pow(*plain)


def bits_of(value: object) -> int:
    """How many bits a whole number has; 0 for anything else."""
    return value.bit_length() if isinstance(value, int) else 0


@functions.function("divmod")
def division(run: Runtime, left: Value, right: Value, /) -> Value:
    """`divmod(left, right)`: a method that the program has for it, else both operators."""
    for one, other, word in ((left, right, "__divmod__"), (right, left, "__rdivmod__")):
        method = special(one, word)
        if method is not None:
            return run.call(method, other)
    return run.operate("//", left, right), run.operate("%", left, right)


@functions.function("sum")
def total(run: Runtime, iterable: Value, /, start: Value = 0) -> Value:
    """`sum(iterable, start)`, each item added before the next is asked for."""
    result: Value = start
    if not isinstance(iterable, (list, tuple, set, frozenset, dict, range)):
        # What a generator gives is added before the next is asked for: a loss is gone by then.
        drawn = run.iterate(iterable)
        if isinstance(drawn, Unknown):
            return drawn
        for at, item in enumerate(drawn):
            run.spend(1)
            if at >= LENGTH:
                raise Exhausted("a container grows too large to be followed")
            result = run.operate("+", result, item)
        return result
    items = run.items(iterable)
    if isinstance(items, Unknown):
        return items
    numbers = [item for item in items if type(item) is int]
    if len(numbers) == len(items) and type(start) is int:
        result = sum(numbers, start)
        run.check_size(result.bit_length())
        return result
    for item in items:
        result = run.operate("+", result, item)
    return result


def choose(run: Runtime, name: str, args: tuple[Value, ...], key: Value, default: Value, largest: bool) -> Value:
    """`max` or `min`, of arguments or of one iterable, by a key. Unknown where an order is."""
    if not args:
        raise TypeError(f"{name} expected at least 1 argument, got 0")
    if len(args) == 1 and isinstance(args[0], Tensor):
        method = run.find(args[0], name)
        missing = run.unknown(f"the {name} of a tensor's values is not known")
        return missing if method is MISSING else run.call(method)
    items = run.items(args[0]) if len(args) == 1 else list(args)
    if isinstance(items, Unknown):
        return items
    if not items:
        if default is MISSING:
            raise ValueError(f"{name}() iterable argument is empty")
        return default
    if isinstance(key, Unknown):
        return key
    return extreme(run, items, key, largest)


@functions.function("max", propagate_unknown=False)
def largest(run: Runtime, *args: Value, key: Value = None, default: Value = MISSING) -> Value:
    """`max(...)`"""
    return choose(run, "max", args, key, default, True)


@functions.function("min", propagate_unknown=False)
def smallest(run: Runtime, *args: Value, key: Value = None, default: Value = MISSING) -> Value:
    """`min(...)`"""
    return choose(run, "min", args, key, default, False)


@functions.function("sorted", propagate_unknown=False)
def sort(run: Runtime, iterable: Value, /, *, key: Value = None, reverse: Value = False) -> Value:
    """`sorted(iterable, key, reverse)`: a list; unknown where an order is."""
    # What is sorted by itself has one order, whichever it is given in.
    if key is None and isinstance(iterable, (set, frozenset)) and id(iterable) not in run.havocked:
        items: list[Value] | Unknown = members(run, iterable, read=False)
    else:
        items = run.items(iterable)
    if isinstance(items, Unknown):
        return items
    found = in_order(run, items, key, reverse)
    return run.made_of(found, items) if isinstance(found, Unknown) else found


def decided(run: Runtime, iterable: Value, deciding: bool) -> bool | Unknown:
    """`any` (the first true item decides) and `all` (the first false one)."""
    items = run.iterate(iterable)
    if isinstance(items, Unknown):
        return items
    cause: Unknown | None = None
    for item in items:
        run.spend(1)
        answer = run.truth(item)
        if answer is deciding:
            return deciding
        if isinstance(answer, Unknown) and cause is None:
            cause = answer
    return (not deciding) if cause is None else cause


functions["any"] = Native("any", lambda run, iterable, /: decided(run, iterable, True), propagate_unknown=False)
functions["all"] = Native("all", lambda run, iterable, /: decided(run, iterable, False), propagate_unknown=False)


@functions.function("iter")
def iterator(run: Runtime, value: Value, sentinel: Value = MISSING, /) -> Value:
    """`iter(value)`, or calls of a function until it gives the sentinel."""
    if sentinel is MISSING:
        return value if isinstance(value, Iterator) else run.iterate(value)

    def values() -> Iterator[Value]:
        while True:
            run.spend(1)
            item = run.call(value)
            ended = run.equal(item, sentinel)
            if ended is True:
                return
            yield item
            if isinstance(ended, Unknown):
                return

    return values()


functions["next"] = Native("next", advance, propagate_unknown=False)


@functions.function("repr")
def representation(run: Runtime, value: Value, /) -> Value:
    """`repr(value)`"""
    return to_repr(run, value)


@functions.function("ascii")
def ascii_(run: Runtime, value: Value, /) -> Value:
    """`ascii(value)`"""
    text = to_repr(run, value)
    return text if isinstance(text, Unknown) else ascii(text)[1:-1]


@functions.function("format")
def format_(run: Runtime, value: Value, spec: Value = "", /) -> Value:
    """`format(value, spec)`"""
    return format_value(run, value, payload(spec))


@functions.function("print", propagate_unknown=False)
def print_(run: Runtime, *args: Value, **kwargs: Value) -> None:
    """Nothing is printed, nor made into text."""


@functions.function("exit", propagate_unknown=False)
def exit_(run: Runtime, code: Value = None) -> None:
    """`exit(code)`: SystemExit."""
    raise run.error("SystemExit", code)


functions["quit"] = Native("quit", exit_, propagate_unknown=False)


@functions.function("aiter")
def aiter_(run: Runtime, value: Value) -> Value:
    """`aiter(value)`, which is not followed."""
    return run.unknown("async code is not followed")


functions["anext"] = Native("anext", aiter_)
