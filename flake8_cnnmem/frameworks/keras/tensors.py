"""Attributes, operators and indexing of Keras tensors and variables."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Batch, Size
from flake8_cnnmem.frameworks.keras import constants
from flake8_cnnmem.frameworks.keras.constants import constant, is_constant, plain
from flake8_cnnmem.frameworks.keras.dtypes import shown_dtype
from flake8_cnnmem.frameworks.keras.ops.creation import refine
from flake8_cnnmem.frameworks.keras.ops.elementwise import binary, cast, unary
from flake8_cnnmem.frameworks.keras.ops.matrices import matmul
from flake8_cnnmem.frameworks.keras.ops.operands import apply
from flake8_cnnmem.frameworks.keras.ops.shaping import ndim, reshape, size, squeeze, transpose, unstack
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.shapes import shown
from flake8_cnnmem.frameworks.keras.variables import new_variable
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Elementwise, Index
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Value

BINARY = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide", "%": "remainder", "**": "power",
    "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "not_equal",
    "&": "logical", "|": "logical", "^": "logical",
}  # fmt: skip

UNARY = {"neg": "neg", "abs": "abs", "~": "logical_not", "invert": "logical_not"}


def operate(run: Runtime, symbol: str, left: Value, right: Value) -> Value:
    """A binary operator with a tensor on either side, or a unary one with the right side None."""
    if symbol in UNARY:
        return unary(run, left, kind=UNARY[symbol])
    if symbol == "pos":
        return left
    if symbol.endswith("=") and symbol not in ("==", "!=", "<=", ">="):
        symbol = symbol[:-1]
    if symbol in ("==", "!=") and (
        left is None or right is None or isinstance(left, (str, Instance)) or isinstance(right, (str, Instance))
    ):
        return symbol == "!="
    if symbol in ("is", "is not", "in", "not in"):
        return run.unknown(f"{symbol!r} of a tensor is not followed")
    if symbol == "@":
        return matmul(run, left, right)
    kind = BINARY.get(symbol)
    if kind is None:
        return run.unknown(f"{symbol!r} of a tensor is not followed")
    if (
        (isinstance(left, (Unknown, Tensor)) and isinstance(right, (Unknown, Tensor)))
        or is_number(left)
        or is_number(right)
    ):
        return binary(run, left, right, kind=kind)
    if isinstance(left, (list, tuple)) or isinstance(right, (list, tuple)):
        return binary(run, left, right, kind=kind)
    other = right if isinstance(left, Tensor) else left
    if isinstance(other, Instance):
        return NOT_IMPLEMENTED
    raise run.error("TypeError", f"unsupported operand types for {symbol}: a tensor and {type(other).__name__}")


NOT_IMPLEMENTED = Unknown("an operator with a tensor and another object is not followed")


def is_number(value: Value) -> bool:
    """Whether a value is a plain number, or a size that counts with the batch."""
    return isinstance(value, (int, float, complex, Batch))


# --- indexing ---------------------------------------------------------------------------------------------------------


def index(run: Runtime, tensor: Tensor, key: Value) -> Value:
    """`tensor[key]`: of a constant its values, else a view or a copy of the tensor."""
    items = key if isinstance(key, tuple) else (key,)
    if is_constant(tensor):
        found = index_constant(tensor.data, tuple(plain(item) for item in items))
        if found is not MISSING:
            return constant(found) if isinstance(found, tuple) else found
    return apply(run, Index(tuple(position(item) for item in items)), tensor, function="getitem")


def position(item: Value) -> Value:
    """An index with its bounds as plain numbers."""
    if isinstance(item, slice):
        return slice(plain(item.start), plain(item.stop), plain(item.step))
    if isinstance(item, Tensor) and item.shape == ():
        return plain(item)
    return item


def index_constant(data: Value, items: tuple[Value, ...]) -> Value:
    """What plain positions take from known values; MISSING where it is not that simple."""
    if not items:
        return data
    first, rest = items[0], items[1:]
    if first is Ellipsis and len(rest) < constants.depth(data):
        return index_constant(data, (*(slice(None),) * (constants.depth(data) - len(rest)), *rest))
    if not isinstance(data, tuple):
        return MISSING
    if isinstance(first, bool):
        return MISSING
    if isinstance(first, int):
        return index_constant(data[first], rest)
    if isinstance(first, slice):
        bounds = (plain(first.start), plain(first.stop), plain(first.step))
        if not all(bound is None or isinstance(bound, int) for bound in bounds):
            return MISSING
        taken = data[slice(*bounds)]
        if not rest:
            return taken
        parts = tuple(index_constant(item, rest) for item in taken)
        return MISSING if MISSING in parts else parts
    return MISSING


def set_index(run: Runtime, tensor: Tensor, key: Value, value: Value) -> Tensor:
    """TensorFlow's tensors do not take items; numpy arrays of the program do, and keep their shape."""
    if isinstance(value, Tensor) and value.call is not None:
        copied = run.apply(Elementwise("copy"), tensor, function="setitem", framework="keras")
        return copied if isinstance(copied, Tensor) else tensor
    if tensor.data is not None:
        return Tensor(tensor.shape, tensor.dtype, framework=tensor.framework)
    return tensor


def iterate(run: Runtime, tensor: Tensor) -> list[Value] | Unknown:
    """The parts of a tensor along its first axis, or why they are not known."""
    if is_constant(tensor):
        if not isinstance(tensor.data, tuple):
            raise run.error("TypeError", "iteration over a 0-d tensor")
        return [constant(item) if isinstance(item, tuple) else item for item in tensor.data]
    found = unstack(run, tensor)
    return found if isinstance(found, (list, Unknown)) else [found]


def length(run: Runtime, tensor: Tensor) -> Size:
    """`len(x)`: the size of the first axis."""
    if isinstance(tensor.shape, Unknown):
        return tensor.shape
    if not tensor.shape:
        raise run.error("TypeError", "len() of a 0-d tensor")
    return tensor.shape[0]


# --- attributes -------------------------------------------------------------------------------------------------------


def shape(run: Runtime, tensor: Tensor) -> Value:
    """`x.shape`: None for the batch."""
    return shown(tensor.shape, session_of(run).batch_size)


def get_shape(run: Runtime, self: Tensor) -> Value:
    """`x.get_shape()`: its sizes, None for the batch unless the code has said one."""
    return shown(self.shape, session_of(run).batch_size)


def shape_list(run: Runtime, self: Tensor) -> Value:
    """`x.shape.as_list()` as `x._keras_shape` and its like give it."""
    found = shape(run, self)
    return list(found) if isinstance(found, tuple) else found


def name_of(run: Runtime, tensor: Tensor) -> Value:
    """`x.name`: a weight's own, that of an input, or of the layer that made it."""
    if isinstance(tensor, Weight):
        return tensor.name
    session = session_of(run)
    named = session.names.get(id(tensor))
    if named is not None:
        return named[1]
    node = session.node_of(tensor)
    operation = node[0].operation if node is not None else None
    return operation.native.name if isinstance(operation, Instance) else "tensor"


def history(run: Runtime, tensor: Tensor) -> Value:
    """`tensor._keras_history`: (operation, node_index, tensor_index); Keras 2 called the first one `layer`."""
    node = session_of(run).node_of(tensor)
    if node is None:
        return MISSING
    made_by = node[0].operation
    operation = made_by if isinstance(made_by, Instance) else run.unknown("an operator outside any layer")
    named = {"operation": operation, "layer": operation, "node_index": 0, "tensor_index": node[1]}
    return Instance(HISTORY, attributes=named, payload=(operation, 0, node[1]), site=run.here())


HISTORY = Class(
    "KerasHistory",
    namespace={
        "__getitem__": Native("__getitem__", lambda run, self, key: self.payload[key], propagate_unknown=False),
        "__iter__": Native("__iter__", lambda run, self: list(self.payload), propagate_unknown=False),
        "__len__": Native("__len__", lambda run, self: len(self.payload)),
    },
    module="keras",
)


def numpy(run: Runtime, self: Tensor) -> Value:
    """`x.numpy()`: an array of the shape; of a constant without axes its value."""
    if self.data is not None and self.shape == ():
        return self.data
    return Tensor(self.shape, self.dtype if self.dtype != "float" else "float32", data=self.data, framework="numpy")


def set_shape(run: Runtime, self: Tensor, shape: Value) -> None:
    """`x.set_shape(shape)`: sizes that were not known are."""
    refine(self, shape)


def unchanged(run: Runtime, self: Tensor, *args: Value, **kwargs: Value) -> Tensor:
    """A method that gives its tensor."""
    return self


def assign(run: Runtime, self: Tensor, *args: Value, **kwargs: Value) -> Tensor:
    """`variable.assign(value)`: the variable."""
    return self


def method(function: Callable[..., Value]) -> Native:
    """A native of the function's own name that sees unknowns."""
    return Native(function.__name__, function, propagate_unknown=False)


METHODS: dict[str, Native] = {
    "get_shape": method(get_shape),
    "set_shape": method(set_shape),
    "_shape_tuple": method(get_shape),
    "_shape_as_list": method(shape_list),
    "numpy": method(numpy),
    "eval": method(numpy),
    "value": method(unchanged),
    "read_value": method(unchanged),
    "initialized_value": method(unchanged),
    "assign": method(assign),
    "assign_add": method(assign),
    "assign_sub": method(assign),
    "load": method(assign),
    "reshape": Native(
        "reshape",
        lambda run, self, *shape: reshape(run, self, shape[0] if len(shape) == 1 else shape),
        propagate_unknown=False,
    ),
    "squeeze": Native("squeeze", lambda run, self, axis=None: squeeze(run, self, axis), propagate_unknown=False),
    "item": method(numpy),
    "astype": Native("astype", lambda run, self, dtype: cast(run, self, dtype), propagate_unknown=False),
}

COMPUTED = {
    "shape": shape,
    **dict.fromkeys(("_keras_shape", "_shape_val", "_shape"), shape),
    "name": name_of,
    "_keras_history": history,
}

SYMBOLS = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__div__": "/", "__pow__": "**",
    "__matmul__": "@", "__getitem__": "[]", "__neg__": "neg", "__abs__": "abs",
}  # fmt: skip


def get(run: Runtime, tensor: Tensor, attribute: str) -> Value:
    """An attribute of a tensor: computed, a method; or MISSING."""
    computed = COMPUTED.get(attribute)
    if computed is not None:
        return computed(run, tensor)
    found = METHODS.get(attribute)
    if found is not None:
        return Bound(found, tensor)
    if attribute == "dtype":
        return shown_dtype(tensor.dtype, session_of(run).floatx)
    if attribute == "ndim":
        return ndim(run, tensor)
    if attribute == "size" and tensor.framework == "numpy":
        return size(run, tensor)
    if attribute == "trainable" and isinstance(tensor, Weight):
        return tensor.trainable
    if attribute == "T":
        return transpose(run, tensor)
    if attribute in ("_uses_learning_phase", "sparse", "_keras_mask"):
        return None if attribute == "_keras_mask" else False
    if attribute in (
        "op",
        "graph",
        "device",
        "consumers",
        "initializer",
        "constraint",
        "regularizer",
        "experimental_ref",
        "ref",
        "handle",
        "path",
        "initial_value",
    ):
        return run.unknown(f"{attribute} of a tensor is not followed")
    if attribute in SYMBOLS:
        symbol = SYMBOLS[attribute]
        return Native(
            attribute,
            lambda run, other=None: (
                index(run, tensor, other) if symbol == "[]" else operate(run, symbol, tensor, other)
            ),
            propagate_unknown=False,
        )
    return MISSING


def set_attribute(run: Runtime, tensor: Tensor, attribute: str, value: Value) -> None:
    """Settable: a variable's `trainable`; Keras 1 code also notes `_keras_shape` on what it makes itself."""
    if attribute == "trainable" and isinstance(tensor, Weight) and isinstance(value, bool):
        tensor.trainable = value
        tensor.fixed, tensor.freed = not value, value
    elif attribute == "_keras_shape":
        refine(tensor, value)


TENSOR = Class("KerasTensor", module="keras")
"""What `isinstance` sees: a symbolic tensor."""


VARIABLE = Class(
    "Variable", (TENSOR,), {"__new__": Native("__new__", new_variable, propagate_unknown=False)}, module="keras"
)


def type_of(tensor: Tensor) -> Class:
    """The class of a tensor or variable."""
    return VARIABLE if isinstance(tensor, Weight) else TENSOR
