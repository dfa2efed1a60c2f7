"""Python's `random`: what is drawn is not known, that something of a kind is drawn is."""

from __future__ import annotations

import random

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Native, Value

randoms: dict[str, Value] = {word: ignored(word) for word in ("seed", "setstate")}
MODULES: dict[str, dict[str, Value]] = {"random": randoms}
for _name in dir(random):
    if not _name.startswith("_") and _name not in randoms and callable(getattr(random, _name)):
        randoms[_name] = unfollowed(f"random.{_name}")


def number(name: str, kind: str) -> Native:
    """A function that draws a plain number."""

    def draw(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        return run.unknown(f"the result of random.{name} is not known").as_number(kind).by_chance()

    return Native(name, draw, propagate_unknown=False)


for _name in ("random", "uniform", "triangular", "betavariate", "expovariate", "gammavariate", "gauss", "normalvariate",
              "lognormvariate", "vonmisesvariate", "paretovariate", "weibullvariate"):  # fmt: skip
    randoms[_name] = number(_name, "float")
for _name in ("randint", "randrange", "getrandbits"):
    randoms[_name] = number(_name, "int")


def between(name: str, kind: str, least: object, most: object, reached: bool) -> Native:
    """A function that draws a number between two: its own arguments, where it is given two."""

    def draw(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        ends = (*args, *kwargs.values()) if args or kwargs else (least, most)
        unknown = run.unknown(f"the result of random.{name} is not known").as_number(kind).by_chance()
        return unknown.drawn(kind, *ends, reached) if len(ends) == 2 else unknown

    return Native(name, draw, propagate_unknown=False)


randoms["random"] = between("random", "float", 0.0, 1.0, False)
randoms["uniform"] = between("uniform", "float", None, None, True)
randoms["randint"] = between("randint", "int", None, None, True)


def shuffle(run: Runtime, x: Value, *args: Value) -> None:
    """The items stay, only which stands where is no longer known; where all are alike nothing changes."""
    inner = payload(x)
    if isinstance(inner, list) and any(item is not inner[0] and item != inner[0] for item in inner):
        cause = run.unknown("the order after random.shuffle is not known")
        if all(type(item) is int for item in inner):
            cause = cause.as_number("int")
        run.changed(inner)
        inner[:] = [cause] * len(inner)


def sample(run: Runtime, population: Value, k: Value, *, counts: Value = None) -> Value:
    """A list of k items, each with what all of them have in common."""
    if not isinstance(k, int):
        return run.unknown("the size of a random sample is not known")
    run.check_size(k)
    cause = run.unknown("which items random draws is not known")
    if isinstance(population, range) or (
        isinstance(population, (list, tuple)) and all(type(item) is int for item in population)
    ):
        return [cause.as_number("int")] * max(k, 0)
    items = run.items(population)
    if isinstance(items, Unknown):
        alike = run.sample(population)
        return [cause if alike is MISSING else alike] * max(k, 0)
    return [run.one_of(items, cause)] * max(k, 0)


randoms["shuffle"] = Native("shuffle", shuffle)
randoms["sample"] = Native("sample", sample, propagate_unknown=False)


def choice(run: Runtime, seq: Value) -> Value:
    """One of the items: what all have in common; of functions and transforms one that does what one of them does."""
    items = run.items(seq)
    if isinstance(items, Unknown):
        return items.loose()
    return run.one_of(items, run.unknown("the result of random.choice is not known"))


randoms["choice"] = Native("choice", choice)
randoms["choices"] = Native("choices", lambda run, population, *args, k=1, **kwargs: sample(run, population, k), False)

generator: dict[str, Value] = {
    word: Native(
        word,
        lambda run, self, *args, word=word, **kwargs: run.call(randoms[word], *args, **kwargs),
        propagate_unknown=False,
    )
    for word in randoms
    if isinstance(randoms[word], Native)
}
randoms["Random"] = randoms["SystemRandom"] = native_class(
    "Random", {**generator, "__init__": ignored("__init__")}, module="random"
)
