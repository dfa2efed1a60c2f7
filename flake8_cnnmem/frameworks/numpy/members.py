"""Attributes and methods of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.numpy import shapes
from flake8_cnnmem.frameworks.numpy.arrays import flat_of, make, plain, with_values_of
from flake8_cnnmem.frameworks.numpy.creation import array
from flake8_cnnmem.frameworks.numpy.dtypes import BYTES, dtype_object, name_of
from flake8_cnnmem.frameworks.numpy.functions import FUNCTIONS
from flake8_cnnmem.frameworks.numpy.indexing import iterate
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import lose, rewrite, same_values, shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Native, Property, Value

MEMBERS: dict[str, Value] = {}

ALSO_FUNCTIONS = (
    "sum", "prod", "mean", "max", "min", "argmax", "argmin", "var", "std", "any", "all", "cumsum", "cumprod",
    "clip", "round",
    "squeeze", "swapaxes", "repeat", "dot", "ravel", "argsort",
)  # fmt: skip
"""Methods that do what the function of the same name does."""

for _name in ALSO_FUNCTIONS:
    MEMBERS[_name] = FUNCTIONS[_name]
MEMBERS["conj"] = Native("conj", lambda run, self: self)


def method(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the function below as a method of arrays."""

    def enter(body: Callable[..., Any]) -> Callable[..., Any]:
        MEMBERS[name] = Native(name, body)
        return body

    return enter


@method("reshape")
def reshape(run: Runtime, self: Tensor, *shape: Value, order: Value = "C", **kwargs: Value) -> Value:
    """`array.reshape(*shape)`, a -1 worked out."""
    return shapes.reshaped(run, self, shape[0] if len(shape) == 1 else shape)


MEMBERS["resize"] = MEMBERS["reshape"]


@method("transpose")
def transpose(run: Runtime, self: Tensor, *axes: Value) -> Value:
    """`array.transpose(*axes)`: axes reversed, or in this order."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        return shapes.transposed(run, self, axes[0])
    return shapes.transposed(run, self, axes or None)


@method("astype")
def astype(run: Runtime, self: Tensor, dtype: Value, *args: Value, **kwargs: Value) -> Value:
    """`array.astype(dtype)`: a copy, unless one is not wanted."""
    return array(run, self, name_of(dtype) or self.dtype, copy=kwargs.get("copy", True))


@method("copy")
def copy(run: Runtime, self: Tensor, *args: Value) -> Tensor:
    """`array.copy()`"""
    return with_values_of(make(self.shape, flat_of(self), self.dtype), self)


@method("flatten")
def flatten(run: Runtime, self: Tensor, *args: Value) -> Value:
    """`array.flatten()`: a copy along one axis."""
    return shapes.raveled(run, copy(run, self))


@method("view")
def view(run: Runtime, self: Tensor, *args: Value) -> Value:
    """`array.view()`: another array in the same storage."""
    made = copy(run, self)
    shares(made, self, None if args else same_values)
    return made


for _name in ("byteswap", "newbyteorder"):
    MEMBERS[_name] = MEMBERS["copy"]


@method("item")
def item(run: Runtime, self: Tensor, *args: Value) -> Value:
    """`array.item()`: its one value, or that of a place."""
    flat = flat_of(self)
    if flat is None or (len(flat) != 1 and not args):
        return run.unknown("the values of an array are not known")
    return flat[args[0] if args and isinstance(args[0], int) else 0]


@method("tolist")
def tolist(run: Runtime, self: Tensor) -> Value:
    """`array.tolist()`: nested lists of numbers."""
    if self.shape == ():
        return plain(self)
    items = iterate(run, self)
    if isinstance(items, Unknown):
        return items
    if self.data is None and isinstance(self.shape, tuple) and len(self.shape) == 1:
        return [run.unknown("the values of an array are not known")] * len(items)
    return [tolist(run, each) if isinstance(each, Tensor) else each for each in items]


@method("fill")
def fill(run: Runtime, self: Tensor, value: Value) -> None:
    """`array.fill(value)`"""
    flat = flat_of(self)
    rewrite(run, self, make(self.shape, None if flat is None else [plain(value)] * len(flat), self.dtype).data)


@method("sort")
def sort(run: Runtime, self: Tensor, *args: Value, **kwargs: Value) -> None:
    """`array.sort()`: in place; the values of more than one axis are not known then."""
    flat = flat_of(self)
    if flat is not None and len(self.shape) == 1 and all(isinstance(value, (int, float)) for value in flat):  # type: ignore[arg-type]
        numbers: list[Any] = flat
        rewrite(run, self, make(self.shape, sorted(numbers), self.dtype).data)
    else:
        lose(run, self)


PROPERTIES: dict[str, Callable[[Runtime, Tensor], Value]] = {
    "shape": lambda run, self: dims.read(self.shape),
    "ndim": lambda run, self: self.shape if isinstance(self.shape, Unknown) else len(self.shape),
    "size": lambda run, self: self.shape if isinstance(self.shape, Unknown) else dims.product(self.shape),
    "dtype": lambda run, self: dtype_object("float32" if self.dtype == "float" else self.dtype),
    "T": lambda run, self: shapes.transposed(run, self),
    # What `np.load(path).flat[0]` takes out of a file may be a dict of arrays.
    "flat": lambda run, self: self.shape if isinstance(self.shape, Unknown) else shapes.raveled(run, self),
    "real": lambda run, self: self,
    "itemsize": lambda run, self: BYTES.get(self.dtype, 8),
    "nbytes": lambda run, self: (
        self.shape
        if isinstance(self.shape, Unknown)
        else dims.multiply(dims.product(self.shape), BYTES.get(self.dtype, 8))
    ),
}

NDARRAY = Class("ndarray", namespace={
    **MEMBERS, **{name: Property(Native(name, body)) for name, body in PROPERTIES.items()},
}, module="numpy")  # fmt: skip


def get(run: Runtime, tensor: Tensor, attribute: str) -> Value:
    """An attribute of an array; Unknown for those that arrays have and we do not follow."""
    found = PROPERTIES.get(attribute)
    if found is not None:
        return found(run, tensor)
    method = MEMBERS.get(attribute)
    if method is not None:
        return Bound(method, tensor)
    if attribute in ("__len__", "__iter__", "__getitem__", "__abs__"):
        return MISSING
    return run.unknown(f"{attribute} of an array is not followed")


def set_attribute(run: Runtime, tensor: Tensor, attribute: str, value: Value) -> None:
    """`array.shape = (2, 3)` reshapes in place; others change nothing that is counted."""
    if attribute == "shape":
        made = shapes.reshaped(run, copy(run, tensor), value)
        if isinstance(made, Tensor):
            # Nobody reads its views off it any more.
            lose(run, tensor)
            run.changed(tensor)
            tensor.shape, tensor.data = made.shape, made.data
