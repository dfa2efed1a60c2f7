"""Arrays from nothing, from values, and along a line."""

from __future__ import annotations

from flake8_cnnmem.dims import is_size
from flake8_cnnmem.frameworks.flax.arrays import (
    apply,
    as_array,
    dtype_named,
    holds_batch,
    is_symbolic,
    made,
    on_host,
    plain,
    sizes,
)
from flake8_cnnmem.frameworks.flax.jax.elementwise import NUMPY, cast, define
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def declare_filled(name: str, value: Value) -> None:
    """Enter `zeros`, `ones` or `empty` and its `_like`."""

    @define(NUMPY, name)
    def filled(run: Runtime, shape: Value, dtype: Value = None, **options: Value) -> Value:
        return made(sizes(run, shape), dtype_named(dtype), value)

    @define(NUMPY, f"{name}_like")
    def filled_like(run: Runtime, a: Value, dtype: Value = None, shape: Value = None, **options: Value) -> Value:
        array = as_array(run, a)
        if isinstance(array, Unknown):
            return array
        return made(array.shape if shape is None else sizes(run, shape), dtype_named(dtype, array.dtype), value)


for _name, _value in (("zeros", 0.0), ("ones", 1.0), ("empty", 0.0)):
    declare_filled(_name, _value)


@define(NUMPY, "full")
def full(run: Runtime, shape: Value, fill_value: Value, dtype: Value = None, **options: Value) -> Value:
    """`jnp.full(shape, fill_value, dtype)`."""
    value = plain(fill_value)
    return made(sizes(run, shape), dtype_named(dtype), value if isinstance(value, (int, float)) else None)


@define(NUMPY, "full_like")
def full_like(run: Runtime, a: Value, fill_value: Value, dtype: Value = None, **options: Value) -> Value:
    """`jnp.full_like(a, fill_value, dtype)`."""
    array = as_array(run, a)
    return array if isinstance(array, Unknown) else made(array.shape, dtype_named(dtype, array.dtype))


@define(NUMPY, "array", "asarray")
def array(run: Runtime, object: Value, dtype: Value = None, **options: Value) -> Value:
    """`jnp.array(object, dtype)`."""
    found = as_array(run, object)
    if isinstance(found, Tensor) and found.framework != "flax" and found.call is None:
        found = Tensor(found.shape, dtype_named(found.dtype, found.dtype), data=found.data, framework="flax")
    return found if dtype is None or isinstance(found, Unknown) else cast(run, found, dtype)


@define(NUMPY, "arange")
def arange(
    run: Runtime, start: Value, stop: Value = None, step: Value = None, dtype: Value = None, **options: Value
) -> Value:
    """`jnp.arange(start, stop, step)`: one axis, with its values where they are few."""
    first, last, by = (0, start, 1) if stop is None else (start, stop, step if step is not None else 1)
    first, last, by = plain(first), plain(last), plain(by)
    cause = next((each for each in (first, last, by) if isinstance(each, Unknown)), None)
    if cause is not None:
        return made((cause,), dtype_named(dtype, "int32"))
    if holds_batch((first, last, by)):
        length = run.operate("-", last, first) if by == 1 else run.unknown("a length")
        return made((length if is_size(length) else run.unknown("a length"),), dtype_named(dtype, "int32"))
    found = on_host(run, "arange", (first, last, by), {})
    return found if dtype is None or isinstance(found, Unknown) else cast(run, found, dtype)


@define(NUMPY, "eye", "identity")
def eye(run: Runtime, N: Value, M: Value = None, **options: Value) -> Value:
    """`jnp.eye(N, M)`: (N, M)."""
    return made(sizes(run, (N, N if M is None else M)), "float")


@define(NUMPY, "tri")
def tri(run: Runtime, N: Value, M: Value = None, k: Value = 0, dtype: Value = None) -> Value:
    """`jnp.tri(N, M, k)`: (N, M)."""
    return made(sizes(run, (N, N if M is None else M)), dtype_named(dtype))


@define(NUMPY, "tril", "triu")
def tril(run: Runtime, m: Value, k: Value = 0) -> Value:
    """`jnp.tril(m, k)`: the input's shape."""
    found = as_array(run, m)
    if isinstance(found, Tensor) and found.call is None:
        return Tensor(found.shape, found.dtype, framework="flax")
    return apply(run, Elementwise("copy"), found, function="tril")


def linspace(
    run: Runtime, start: Value, stop: Value, num: Value = 50, endpoint: Value = True, *args: Value, **options: Value
) -> Value:
    """`jnp.linspace(start, stop, num)`: (num,)."""
    if is_symbolic((start, stop, num)) or holds_batch((start, stop, num)):
        return made(sizes(run, num), "float")
    return on_host(run, "linspace", (plain(start), plain(stop), plain(num)), {})
