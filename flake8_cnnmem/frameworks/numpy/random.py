"""`numpy.random`: shapes, and values that nobody knows."""

from __future__ import annotations

from flake8_cnnmem.frameworks.numpy.arrays import as_array, make, sizes
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import lose
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value

DRAWN_BY_SIZE = {
    "uniform": 2, "normal": 2, "standard_normal": 0, "beta": 2, "gamma": 2, "exponential": 1, "laplace": 2,
    "poisson": 1,
    "binomial": 2, "random": 0, "random_sample": 0, "ranf": 0, "sample": 0, "lognormal": 2, "gumbel": 2, "logistic": 2,
    "rayleigh": 1, "geometric": 1, "triangular": 3, "standard_gamma": 1, "standard_exponential": 0, "chisquare": 1,
    "multinomial": 2,
}  # fmt: skip
"""Distributions and how many parameters come before `size`."""

WHOLE = ("poisson", "binomial", "geometric", "multinomial")


UNIT = ("random", "random_sample", "ranf", "sample", "rand")
"""What draws numbers of at least 0 and less than 1."""


def drawn(run: Runtime, size: Value, dtype: str, unit: bool = False) -> Value:
    """An array of this shape; a number nobody knows for no size, `unit` if it is at least 0 and less than 1."""
    if size is None:
        number = (
            run.unknown("a random number is not known").as_number("int" if dtype == "int64" else "float").by_chance()
        )
        return number.drawn("float", 0.0, 1.0, False) if unit else number
    shape = size if isinstance(size, Unknown) else sizes(run, size)
    return make(shape, None, dtype)


def distribution(name: str, parameters: int) -> Native:
    """A function of `numpy.random` with so many parameters before `size`; numbers are not known."""
    dtype = "int64" if name in WHOLE else "float64"

    def draw(run: Runtime, *args: Value, size: Value = MISSING, **kwargs: Value) -> Value:
        if size is MISSING:
            size = args[parameters] if len(args) > parameters else None
        return drawn(run, size, dtype, name in UNIT or (name == "uniform" and not args and not kwargs))

    return Native(name, draw, propagate_unknown=False)


def rand(run: Runtime, *shape: Value) -> Value:
    """`rand(2, 3)`."""
    return drawn(run, shape or None, "float64", True)


def randn(run: Runtime, *shape: Value) -> Value:
    """`numpy.random.randn(*shape)`"""
    return drawn(run, shape or None, "float64")


def integers(
    run: Runtime, low: Value, high: Value = None, size: Value = None, dtype: Value = None, **kwargs: Value
) -> Value:
    """`numpy.random.randint(low, high, size)`: int64."""
    return drawn(run, size, "int64")


def choice(run: Runtime, a: Value, size: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`numpy.random.choice(a, size)`"""
    cause = run.unknown("what is drawn at random is not known")
    if size is None:
        if isinstance(a, int) or (isinstance(a, Unknown) and a.number == "int"):
            return cause.as_number("int")
        if isinstance(a, Tensor) and a.dtype.startswith("int"):
            return cause.as_number("int")
        if isinstance(a, range):
            return cause.as_number("int")
        return run.one_of(a, cause) if isinstance(a, (list, tuple)) else cause
    if isinstance(a, (list, tuple)) and not all(isinstance(item, int) for item in a):
        return cause
    dtype = a.dtype if isinstance(a, Tensor) else "int64"
    return drawn(run, size, dtype)


def permutation(run: Runtime, x: Value, *args: Value, **kwargs: Value) -> Value:
    """`numpy.random.permutation(x)`: the shape of x, or (x,) of a number."""
    if isinstance(x, int) or (isinstance(x, Unknown) and x.number == "int"):
        return make((int(x) if isinstance(x, int) else x,), None, "int64")
    own = as_array(run, x)
    return own if isinstance(own, Unknown) else make(own.shape, None, own.dtype)


def shuffle(run: Runtime, x: Value, *args: Value, **kwargs: Value) -> None:
    """A list's items change places, nobody knows how; an array's values are not known afterwards."""
    if isinstance(x, list) and any(item is not x[0] for item in x):
        cause = run.unknown("the order after a shuffle is not known")
        run.changed(x)
        x[:] = [cause] * len(x)
    elif isinstance(x, Tensor):
        lose(run, x)


FUNCTIONS: dict[str, Value] = {
    **{name: distribution(name, parameters) for name, parameters in DRAWN_BY_SIZE.items()},
    "rand": Native("rand", rand, propagate_unknown=False),
    "randn": Native("randn", randn, propagate_unknown=False),
    "randint": Native("randint", integers, propagate_unknown=False),
    "random_integers": Native("random_integers", integers, propagate_unknown=False),
    "integers": Native("integers", integers, propagate_unknown=False),
    "choice": Native("choice", choice, propagate_unknown=False),
    "permutation": Native("permutation", permutation, propagate_unknown=False),
    "shuffle": Native("shuffle", shuffle),
    "seed": Native("seed", lambda run, *args: None, propagate_unknown=False),
    "get_state": Native("get_state", lambda run: run.unknown("the state of chance is not known")),
    "set_state": Native("set_state", lambda run, state: None, propagate_unknown=False),
}


def method(native: Native) -> Native:
    """A function of `numpy.random` as a method of a generator."""
    return Native(
        native.name, lambda run, self, *args, **kwargs: native.function(run, *args, **kwargs), native.propagate_unknown
    )


GENERATOR = Class("Generator", namespace={
    **{name: method(native) for name, native in FUNCTIONS.items() if isinstance(native, Native)},
    "__init__": Native("__init__", lambda run, self, *args: None, propagate_unknown=False),
}, module="numpy.random")  # fmt: skip

FUNCTIONS.update({
    "RandomState": GENERATOR,
    "Generator": GENERATOR,
    "default_rng": Native("default_rng", lambda run, *args: Instance(GENERATOR), propagate_unknown=False),
})  # fmt: skip
