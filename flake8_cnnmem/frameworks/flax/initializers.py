"""jax.nn.initializers and flax.linen.initializers: what they give has the shape that they are told."""

from __future__ import annotations

from flake8_cnnmem.frameworks.flax.arrays import dtype_named, made, sizes
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Native, Value


def initialise(run: Runtime, key: Value, shape: Value, dtype: Value = None, *args: Value, **options: Value) -> Value:
    """`initializer(key, shape, dtype)`: an array of the shape."""
    return made(sizes(run, shape), dtype_named(dtype))


INITIALISER = Native("initializer", initialise, propagate_unknown=False)


def factory(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """A function that makes an initializer."""
    return INITIALISER


def of_first(run: Runtime, init: Value, *args: Value, **kwargs: Value) -> Value:
    """`nn.with_partitioning(init, names)`: the same, spread over devices."""
    return init


FACTORIES = (
    "constant", "uniform", "normal", "truncated_normal", "variance_scaling", "xavier_uniform", "glorot_uniform",
    "xavier_normal", "glorot_normal", "lecun_uniform", "lecun_normal", "he_uniform", "kaiming_uniform", "he_normal",
    "kaiming_normal", "orthogonal", "delta_orthogonal", "zeros_init", "ones_init",
)  # fmt: skip

INITIALISERS: dict[str, Value] = {
    **{name: Native(name, factory, propagate_unknown=False) for name in FACTORIES},
    "zeros": INITIALISER,
    "ones": INITIALISER,
}
