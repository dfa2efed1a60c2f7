"""`math` and `cmath`: Python's own functions on plain numbers, with the size of results asked for beforehand."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.builtins.concrete import concrete, pure
from flake8_cnnmem.evaluate.builtins.declare import Names, payload, special
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

LARGEST = 4096
"""Bits of a result: sizes and seeds are far below."""

LARGE = ("factorial", "comb", "perm", "pow", "ldexp", "prod", "lcm", "floor", "ceil", "trunc")


def bits_of_factorial(n: Any, *rest: Any) -> int:
    """How many bits `factorial(n)` may have."""
    return int(n) * max(int(n).bit_length(), 1) if n > 0 else 0


def bits_of_choice(n: Any, k: Any = None) -> int:
    """Of `comb(n, k)` and `perm(n, k)`: k factors that are at most n."""
    k = n if k is None else k
    return min(int(k), int(n)) * max(int(n).bit_length(), 1) if n > 0 and k > 0 else 0


def bits_of_integers(*numbers: Any) -> int:
    """How many bits a product of these numbers may have."""
    return sum(abs(number).bit_length() for number in numbers if isinstance(number, int))


def table(module: Any, left_out: tuple[str, ...]) -> Names:
    """A host module's functions of numbers, each refusing what would be too large."""
    names = Names()
    for word in dir(module):
        value = getattr(module, word)
        if word.startswith("_") or word in left_out:
            continue
        names[word] = pure(word, value) if callable(value) else value
    return names


def bounded(word: str, function: Any, bits: Callable[..., int]) -> Native:
    """A function of whole numbers whose result may be enormous: not followed then."""
    host = pure(word, function)

    def native(run: Runtime, /, *args: Value) -> Value:
        plain = [concrete(run, arg) for arg in args]
        if all(isinstance(arg, int) for arg in plain) and bits(*plain) > LARGEST:
            return run.unknown("a number grows too large to be followed")
        return host.function(run, *plain)

    return Native(word, native)


maths = table(math, LARGE)
maths["factorial"] = bounded("factorial", math.factorial, bits_of_factorial)
maths["comb"] = bounded("comb", math.comb, bits_of_choice)
maths["perm"] = bounded("perm", math.perm, bits_of_choice)
maths["lcm"] = bounded("lcm", math.lcm, bits_of_integers)
maths["pow"] = pure("pow", math.pow)
maths["ldexp"] = pure("ldexp", math.ldexp)


def rounding(word: str, host: Any) -> None:
    """`floor`, `ceil`, `trunc`: a multiple of the batch is whole already; classes may have their own."""

    @maths.function(word)
    def function(run: Runtime, x: Value, /) -> Value:
        if isinstance(x, Batch):
            return x
        method = special(x, f"__{word}__") or special(x, "__float__")
        if method is not None and not isinstance(payload(x), (int, float)):
            x = run.call(method)
        return pure(word, host).function(run, x)


for _word, _host in (("floor", math.floor), ("ceil", math.ceil), ("trunc", math.trunc)):
    rounding(_word, _host)


@maths.function("prod")
def prod(run: Runtime, iterable: Value, /, *, start: Value = 1) -> Value:
    """`math.prod(iterable, start)`"""
    items = run.items(iterable)
    if isinstance(items, Unknown):
        return items
    if any(isinstance(item, Batch) for item in items) and dims.is_size(start):
        if all(dims.is_size(item) for item in items):
            return dims.product([size for size in (start, *items) if dims.is_size(size)])
    result = start
    for item in items:
        result = run.operate("*", result, item)
    return result


complexes = table(cmath, ())

MODULES = {"math": maths, "cmath": complexes}
