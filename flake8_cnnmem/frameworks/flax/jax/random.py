"""jax.random: keys say nothing of sizes, and what is drawn with them has a shape and no known values."""

from __future__ import annotations

from flake8_cnnmem.frameworks.flax.arrays import as_array, dtype_named, made, plain, shape_of, sizes
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import WITHOUT_SIZES, Class, Instance, Native, Value

KEYS = 4096
"""Keys that are told apart in what `split` gives."""


def itself(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A method of a key that gives the key."""
    return self


KEY = Class(
    "Array",
    namespace={word: Native(word, itself, propagate_unknown=False) for word in ("__getitem__", "astype", "reshape")},
    module="jax",
    facts={WITHOUT_SIZES: True},
)
"""A key, or an array of keys of which nobody asks how many."""

FUNCTIONS: dict[str, Value] = {}


def key(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`jax.random.key(seed)`."""
    return Instance(KEY)


def split(run: Runtime, key: Value, num: Value = 2) -> Value:
    """So many keys; one for all where their number is not known."""
    count = plain(num)
    if isinstance(count, int) and 0 < count <= KEYS:
        return tuple(Instance(KEY) for _ in range(count))
    return Instance(KEY)


def drawn(name: str, dtype: str, before: int) -> None:
    """A function of a key, so many parameters of the distribution, a shape and a dtype."""

    def draw(run: Runtime, key: Value, *args: Value, **kwargs: Value) -> Value:
        parameters = [*args[:before]]
        shape = kwargs.get("shape", args[before] if len(args) > before else None)
        wanted = kwargs.get("dtype", args[before + 1] if len(args) > before + 1 else None)
        if shape is None:
            # Without one it is that of the parameters together.
            given = [*parameters, *(value for word, value in kwargs.items() if word not in ("dtype", "axis"))]
            found = [shape_of(run, each) for each in given if isinstance(each, Tensor)]
            shape = max((each for each in found if isinstance(each, tuple)), key=len, default=())
        return made(sizes(run, shape), dtype_named(wanted, dtype))

    FUNCTIONS[name] = Native(name, draw, propagate_unknown=False)


for _name, _before in (
    ("normal", 0), ("uniform", 0), ("truncated_normal", 2), ("gumbel", 0), ("laplace", 0), ("exponential", 0),
    ("cauchy", 0), ("logistic", 0), ("rademacher", 0), ("orthogonal", 99), ("gamma", 1), ("beta", 2), ("dirichlet", 1),
    ("poisson", 1), ("multivariate_normal", 2),
):  # fmt: skip
    drawn(_name, "float", _before)
drawn("bernoulli", "bool", 1)
drawn("randint", "int32", 0)
drawn("bits", "uint32", 0)


def permutation(run: Runtime, key: Value, x: Value, *args: Value, **options: Value) -> Value:
    """The numbers below a number, or the rows of an array, in another order."""
    count = plain(x)
    if isinstance(count, int):
        return made((count,), "int32")
    array = as_array(run, x)
    if isinstance(array, Tensor) and array.call is None:
        return Tensor(array.shape, array.dtype, framework="flax")
    return run.apply(Elementwise("copy"), array, function="permutation", framework="flax")


def choice(run: Runtime, key: Value, a: Value, shape: Value = (), *args: Value, **options: Value) -> Value:
    """`jax.random.choice(key, a, shape)`."""
    return made(sizes(run, shape), a.dtype if isinstance(a, Tensor) else "int32")


def categorical(
    run: Runtime, key: Value, logits: Value, axis: Value = -1, shape: Value = None, **options: Value
) -> Value:
    """One class number for each row of logits."""
    if shape is not None:
        return made(sizes(run, shape), "int32")
    found, at = shape_of(run, logits), plain(axis)
    if isinstance(found, Unknown) or not isinstance(at, int) or not -len(found) <= at < len(found):
        return run.unknown("the shape of what is drawn is not known")
    at %= len(found)
    return made((*found[:at], *found[at + 1 :]), "int32")


FUNCTIONS.update(
    {
        **{word: Native(word, key, propagate_unknown=False)
           for word in ("PRNGKey", "key", "fold_in", "wrap_key_data", "key_data", "clone")},
        "split": Native("split", split, propagate_unknown=False),
        **{word: Native(word, permutation, propagate_unknown=False) for word in ("permutation", "shuffle")},
        "choice": Native("choice", choice, propagate_unknown=False),
        "categorical": Native("categorical", categorical, propagate_unknown=False),
    }
)  # fmt: skip
