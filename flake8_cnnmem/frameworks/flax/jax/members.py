"""Attributes and methods of an array, and what is written to it."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.flax.arrays import apply, is_constant, promoted, shown_dtype, thawed
from flake8_cnnmem.frameworks.flax.jax import products, reductions, shaping  # noqa: F401 (they fill the tables)
from flake8_cnnmem.frameworks.flax.jax.elementwise import NUMPY, cast
from flake8_cnnmem.frameworks.flax.names import NAMES
from flake8_cnnmem.frameworks.numpy.dtypes import BYTES
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Elementwise, Transpose
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Value

ARRAY = Class("Array", module="jax")
"""`jax.Array`, `jnp.ndarray`."""


def method(name: str, function: Callable[..., Value]) -> Native:
    """A method of arrays that sees unknowns among its arguments."""
    return Native(name, function, propagate_unknown=False)


def reshape(run: Runtime, self: Value, *shape: Value, order: Value = "C") -> Value:
    """`x.reshape(*shape)`."""
    return run.call(NUMPY["reshape"], self, shape[0] if len(shape) == 1 else shape)


def transpose(run: Runtime, self: Value, *axes: Value) -> Value:
    """`x.transpose(*axes)`."""
    return run.call(
        NUMPY["transpose"], self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    )


def item(run: Runtime, self: Value, *args: Value) -> Value:
    """`x.item()`: the value of a constant."""
    if is_constant(self) and not isinstance(self.data, tuple):
        return self.data
    return run.unknown("a number is computed from an array's values").as_something()


def tolist(run: Runtime, self: Value) -> Value:
    """`x.tolist()`: nested lists of a constant."""
    return thawed(self.data) if is_constant(self) else run.unknown("a list is made from an array's values")


def itself(run: Runtime, self: Value, *args: Value, **kwargs: Value) -> Value:
    """A method that gives its array."""
    return self


METHODS: dict[str, Value] = {
    **{
        name: NUMPY[name]
        for name in (
            "sum", "mean", "max", "min", "prod", "var", "std", "any", "all", "argmax", "argmin", "cumsum", "cumprod",
            "argsort", "sort", "squeeze", "swapaxes", "repeat", "ravel", "clip", "round", "dot", "take", "ptp", "conj",
        )
    },
    "flatten": NUMPY["ravel"],
    "reshape": method("reshape", reshape),
    "transpose": method("transpose", transpose),
    "astype": method("astype", lambda run, self, dtype, *args, **kwargs: cast(run, self, dtype)),
    "item": method("item", item),
    "tolist": method("tolist", tolist),
    "view": method("view", itself),
    "get_value": method("get_value", itself),
    **{name: method(name, itself) for name in ("block_until_ready", "copy", "copy_to_host_async", "to_device")},
}  # fmt: skip


class IndexedUpdate:
    """`x.at[key]`."""

    def __init__(self, array: Tensor, key: Value = None) -> None:
        self.array = array
        self.key = key


def at_key(run: Runtime, self: Instance, key: Value) -> Value:
    """`x.at[key]`: the place that `set`, `add` and their like write to."""
    return Instance(AT, native=IndexedUpdate(self.native.array, key))


def written(run: Runtime, self: Instance, *values: Value, **options: Value) -> Value:
    """`x.at[key].set(y)`: another array of the same shape."""
    array = self.native.array
    if is_constant(array):
        return Tensor(array.shape, array.dtype, framework="flax")
    given = [value for value in values if isinstance(value, Tensor) and value.call is not None]
    if array.call is None and given:
        # An empty array that is filled from computed ones.
        array = run.apply(Elementwise("copy"), array, function="at", framework="flax")
    return apply(run, Elementwise("copy"), array, function="at", dtypes=[promoted(array)])


AT = Class(
    "_IndexUpdateHelper",
    namespace={
        "__getitem__": method("__getitem__", at_key),
        **{
            name: method(name, written)
            for name in ("set", "add", "subtract", "multiply", "mul", "divide", "div", "power", "min", "max", "apply")
        },
        "get": method("get", lambda run, self, **options: shaping.index(run, self.native.array, self.native.key)),
    },
    module="jax",
)


def rank_of(run: Runtime, self: Tensor) -> Value:
    """`x.ndim`."""
    return self.shape if isinstance(self.shape, Unknown) else len(self.shape)


def size_of(run: Runtime, self: Tensor) -> Value:
    """`x.size`."""
    return self.shape if isinstance(self.shape, Unknown) else dims.product(self.shape)


def bytes_of(run: Runtime, self: Tensor) -> Value:
    """`x.nbytes`."""
    return self.shape if isinstance(self.shape, Unknown) else dims.multiply(dims.product(self.shape), item_size(self))


def item_size(self: Tensor) -> int:
    """`x.itemsize`, in bytes."""
    return BYTES.get(self.dtype, 2 if self.dtype == "bfloat16" else 4)


ATTRIBUTES: dict[str, Callable[[Runtime, Tensor], Value]] = {
    "shape": lambda run, self: dims.read(self.shape),
    "ndim": rank_of,
    "size": size_of,
    "dtype": lambda run, self: shown_dtype(self.dtype),
    "nbytes": bytes_of,
    "itemsize": lambda run, self: item_size(self),
    "T": lambda run, self: transpose(run, self),
    "mT": lambda run, self: apply(run, Transpose(-1, -2), self, function="mT"),
    "at": lambda run, self: Instance(AT, native=IndexedUpdate(self)),
    "real": lambda run, self: self,
    "__class__": lambda run, self: ARRAY,
    # Of a variable of nnx or linen: the array that it holds.
    "value": lambda run, self: self,
    "raw_value": lambda run, self: self,
}


def get(run: Runtime, tensor: Tensor, attribute: str) -> Value:
    """An attribute of an array: a property, a method; or MISSING."""
    found = ATTRIBUTES.get(attribute)
    if found is not None:
        return found(run, tensor)
    bound = METHODS.get(attribute)
    if bound is not None:
        return Bound(bound, tensor)
    if attribute == "name" and isinstance(tensor, Weight):
        return tensor.name
    return run.unknown(f"{attribute} of an array is not followed") if attribute in NAMES.of("jax.Array") else MISSING


def set_attribute(run: Runtime, tensor: Tensor, attribute: str, value: Value) -> None:
    """`variable.value = x`: the values change, not what is counted."""


def set_index(run: Runtime, tensor: Tensor, key: Value, value: Value) -> Tensor:
    """Arrays of JAX refuse it; a variable of nnx takes it (`self.count[...] += 1`)."""
    if isinstance(tensor, Weight):
        return tensor
    raise run.error("TypeError", "JAX arrays are immutable: use x.at[idx].set(y)")
