"""The tensor as user code sees it: attributes, conversion, iteration, and what is written to it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.changed_weights import note_changed, set_flag
from flake8_cnnmem.frameworks.distances import number_of_range
from flake8_cnnmem.frameworks.torch import memory_formats, tensor_casts  # noqa: F401 (it fills the table)
from flake8_cnnmem.frameworks.torch.applying import apply, is_trained, is_view
from flake8_cnnmem.frameworks.torch.autograd import grad
from flake8_cnnmem.frameworks.torch.autograd.backward import backward, forget_gradient, gradient_of, retain_grad
from flake8_cnnmem.frameworks.torch.autograd.by_hand import written
from flake8_cnnmem.frameworks.torch.devices import to_device, to_host
from flake8_cnnmem.frameworks.torch.dtypes import (
    COMPLEX,
    GPU,
    LAYOUTS,
    SIZES,
    dtype_from,
    is_floating,
)
from flake8_cnnmem.frameworks.torch.functions.complex import imag, real
from flake8_cnnmem.frameworks.torch.functions.constants import counted, scalar
from flake8_cnnmem.frameworks.torch.functions.indexing import index
from flake8_cnnmem.frameworks.torch.functions.shapes import permute_axes, swap
from flake8_cnnmem.frameworks.torch.functions.splitting import unbind
from flake8_cnnmem.frameworks.torch.names import NAMES
from flake8_cnnmem.frameworks.torch.nn.modules.hooks import HANDLE, set_in_backward
from flake8_cnnmem.frameworks.torch.nn.parameter import note_part, type_of
from flake8_cnnmem.frameworks.torch.registry import METHODS, define
from flake8_cnnmem.frameworks.torch.sizes import sizes_read
from flake8_cnnmem.frameworks.torch.strides import NOT_FOLLOWED, is_lost, is_row_major
from flake8_cnnmem.frameworks.torch.written_parts import needs_gradient
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.parameter_values import owner, values_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import is_part, lose, same_values, shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Bound, Class, Instance, Native, Value

OWN_ATTRIBUTES = "attributes of tensors"
"""Scratch of the run: what code hangs on tensors (`p.no_decay = True`), by the tensor's id."""


def shape_of(run: Runtime, tensor: Tensor) -> Value:
    """`x.shape`: a tuple of sizes, the batch among them."""
    return sizes_read(tensor.shape)


def rank_of(run: Runtime, tensor: Tensor) -> Value:
    """`x.ndim`: the number of axes."""
    return tensor.shape if isinstance(tensor.shape, Unknown) else len(tensor.shape)


def graph_node(run: Runtime, tensor: Tensor) -> Value:
    """`tensor.grad_fn`: what it says of itself is not known, but whoever keeps it keeps the graph behind the tensor."""
    if tensor.call is None or not needs_gradient(tensor):
        return None
    return Instance(NODE, {"_result": tensor})


NODE = Class(
    "Node",
    namespace={
        "__getattr__": Native("__getattr__", lambda run, self, name: run.unknown("gradients are not computed")),
        "__call__": Native("__call__", lambda run, self, *args: run.unknown("gradients are not computed")),
    },
    module="torch.autograd.graph",
)


def reversed_axes(run: Runtime, tensor: Tensor) -> Value:
    """`x.T`: all axes in reverse."""
    if isinstance(tensor.shape, Unknown):
        return swap(run, tensor, 0, 1)
    return permute_axes(run, tensor, tuple(reversed(range(len(tensor.shape)))), "permute")


def last_swapped(run: Runtime, tensor: Tensor) -> Value:
    """`x.mT`: the last two axes swapped."""
    return swap(run, tensor, -2, -1)


def values_only(run: Runtime, tensor: Tensor) -> Value:
    """`x.data`: the same values without their history. Outside of a forward pass a parameter's stay its own: whatever
    is written to them is written to it; but a flag that is set on them is not its own."""
    if not isinstance(tensor, Weight) or run.invocation is not None:
        return detach(run, tensor)
    return values_of(run, tensor)


def on_meta(run: Runtime, tensor: Tensor) -> Value:
    """`x.is_meta`: of what a model computes False; which tensors a program makes without memory is not followed."""
    if tensor.call is not None or run.invocation is not None:
        return False
    return run.unknown("whether a tensor is on the meta device is not known")


ATTRIBUTES: dict[str, Callable[[Runtime, Tensor], Value]] = {
    "shape": shape_of,
    "ndim": rank_of,
    "dtype": lambda run, tensor: dtype_from(tensor),
    "device": lambda run, tensor: GPU,
    "requires_grad": lambda run, tensor: needs_gradient(tensor),
    "T": reversed_axes,
    "mT": last_swapped,
    "H": last_swapped,
    "mH": last_swapped,
    "data": values_only,
    "real": real,
    "imag": imag,
    "grad": gradient_of,
    "grad_fn": graph_node,
    "is_cuda": lambda run, tensor: True,
    "is_cpu": lambda run, tensor: False,
    "is_mps": lambda run, tensor: False,
    "is_meta": on_meta,
    "is_sparse": lambda run, tensor: False,
    "is_quantized": lambda run, tensor: False,
    "is_mkldnn": lambda run, tensor: False,
    "is_nested": lambda run, tensor: False,
    "is_leaf": lambda run, tensor: grad.is_leaf(tensor) or not needs_gradient(tensor),
    "layout": lambda run, tensor: LAYOUTS["strided"],
    "itemsize": lambda run, tensor: SIZES.get(tensor.dtype, 4),
    "nbytes": lambda run, tensor: bytes_of(tensor),
    "name": lambda run, tensor: None,
    "names": lambda run, tensor: None,
    "__class__": lambda run, tensor: type_of(tensor),
    "__dict__": lambda run, tensor: dict(own_attributes(run, tensor)),
}


def bytes_of(tensor: Tensor) -> Value:
    """`x.nbytes`: values times the bytes of its dtype."""
    if isinstance(tensor.shape, Unknown):
        return tensor.shape
    return dims.multiply(dims.product(tensor.shape), SIZES.get(tensor.dtype, 4))


def own_attributes(run: Runtime, tensor: Tensor) -> dict[str, Value]:
    """What the program has put on a tensor as attributes."""
    entry = run.data(OWN_ATTRIBUTES).get(id(tensor))
    return entry[1] if entry is not None else {}


def get(run: Runtime, tensor: Tensor, attribute: str) -> Value:
    """An attribute of a tensor: a method, a property, one of the program's; or MISSING."""
    method = METHODS.get(attribute)
    if method is not None:
        return Bound(method, tensor)
    found = ATTRIBUTES.get(attribute)
    tensor = tensor if attribute == "requires_grad" else owner(tensor)
    if found is not None:
        return found(run, tensor)
    own = own_attributes(run, tensor)
    if attribute in own:
        return own[attribute]
    if attribute in NAMES.of("torch.Tensor"):
        return run.unknown(f"{attribute} of a tensor is not followed")
    return set_in_backward(run)


SHARED = "weights that lie in the storage of others (`a.data = b.data`) were counted for themselves"


def set_attribute(run: Runtime, tensor: Tensor, attribute: str, value: Value) -> None:
    """Set an attribute of a tensor: `requires_grad`, `data`, `grad`, or one of the program's."""
    tensor = tensor if attribute == "requires_grad" else owner(tensor)
    if attribute == "requires_grad":
        if value is None or type(value) in (int, float, str):
            raise run.error("RuntimeError", "requires_grad must be a bool")
        if isinstance(tensor, Weight):
            set_flag(run, tensor, value)
        elif value is False and not grad.is_leaf(tensor) and is_trained(run, tensor):
            raise run.error("RuntimeError", "you can only change requires_grad flags of leaf variables.")
        else:
            tensor.requires_grad = value is True
    elif attribute == "data":
        if isinstance(tensor, Weight) and isinstance(value, Tensor):
            written(run, tensor)
            note_changed(run, tensor)
            whole = owner(value)
            if isinstance(whole, Weight) and whole is not tensor and whole.moved and tensor.moved:
                note_cause(run, None, "shared storage", SHARED, upper=True)
            tensor.shape, tensor.data = note_part(run, value).shape, None
            tensor.dtype = "float" if value.dtype == "float32" else value.dtype
        elif isinstance(tensor, Weight) and isinstance(value, Unknown):
            tensor.data = None
        elif not isinstance(tensor, Weight):
            lose(run, tensor)
    elif attribute == "grad":
        if value is None:
            forget_gradient(run, tensor)
        grad.set_gradient(run, tensor, value)
    elif attribute not in ATTRIBUTES:
        run.data(OWN_ATTRIBUTES).setdefault(id(tensor), (tensor, {}))[1][attribute] = value


def size(run: Runtime, input: Tensor, dim: Value = None) -> Value:
    """`x.size()` as `x.shape`; `x.size(dim)`: the size of one axis. IndexError where there is no such axis."""
    shape = sizes_read(input.shape)
    if isinstance(shape, Unknown) or dim is None:
        return shape
    if not isinstance(dim, int):
        return dim if isinstance(dim, Unknown) else run.unknown("which axis is asked for is not known")
    if not -max(1, len(shape)) <= dim < max(1, len(shape)):
        raise IndexError(f"Dimension out of range (got {dim} for a tensor of {len(shape)} dimensions)")
    return shape[dim]


def dim(run: Runtime, input: Tensor) -> Value:
    """`x.dim()`: the number of axes."""
    return rank_of(run, input)


def stride(run: Runtime, input: Tensor, dim: Value = None) -> Value:
    """`x.stride()`, `x.stride(dim)`, in values."""
    if isinstance(input.shape, Unknown):
        return input.shape
    strides: list[Size] = []
    step: Size = 1
    for length in reversed(input.shape):
        strides.insert(0, step)
        step = dims.multiply(step, length)
    if dim is None:
        return tuple(strides)
    return strides[dim] if isinstance(dim, int) else run.unknown("which axis is asked for is not known")


def element_size(run: Runtime, input: Tensor) -> Value:
    """The bytes of one value."""
    return SIZES.get(input.dtype, 4)


def item(run: Runtime, input: Value) -> Value:
    """`x.item()`: the value, where it is known."""
    count = counted(input.shape) if isinstance(input, Tensor) and isinstance(input.shape, tuple) else None
    if count is not None and count != 1:
        raise run.error("RuntimeError", f"a Tensor with {count} elements cannot be converted to Scalar")
    number = scalar(input) if not isinstance(input, Weight) else None
    if number is not None:
        return number
    cause = run.unknown("a number is computed from a tensor's values")
    if isinstance(input, Tensor) and input.chance:
        cause = cause.by_chance()
    if isinstance(input, Tensor) and input.unit:
        return cause.drawn("float", 0.0, 1.0, False)
    kind = number_kind(input.dtype) if isinstance(input, Tensor) else ""
    return cause.as_number(kind) if kind in ("int", "float") else cause.as_something()


def tolist(run: Runtime, input: Tensor) -> Value:
    """`x.tolist()`: nested lists, where the values are known."""
    if input.data is None or isinstance(input, Weight):
        cause = run.unknown("a list is made from a tensor's values")
        shape = input.shape if isinstance(input.shape, tuple) else (cause,)
        sizes = [size for size in shape if isinstance(size, int)]
        if len(sizes) < len(shape) or math.prod(sizes) > MOST_LISTED:
            return cause
        return numbers(sizes, cause.as_number(number_kind(input.dtype)))
    return listed(input.data)


def number_kind(dtype: str) -> str:
    """The kind of Python's own number that a value of this type becomes."""
    return "int" if "int" in dtype else "bool" if dtype == "bool" else "complex" if "complex" in dtype else "float"


MOST_LISTED = 4096
"""So many values that are not known are made a list of at most."""


def numbers(sizes: Sequence[int], each: Unknown) -> Value:
    """Nested lists of these sizes, of numbers that are not known."""
    return [numbers(sizes[1:], each) for _ in range(sizes[0])] if sizes else each


def listed(data: Any) -> Any:
    """Nested tuples as nested lists."""
    return [listed(part) for part in data] if isinstance(data, tuple) else data


def itself(run: Runtime, input: Value, *args: Value, **kwargs: Value) -> Value:
    """A method that gives its tensor."""
    return input


for _name in (
    "pin_memory", "share_memory_", "coalesce", "rename", "refine_names", "align_to",
):  # fmt: skip
    METHODS[_name] = Native(_name, itself, propagate_unknown=False)
METHODS["retain_grad"] = Native("retain_grad", retain_grad)
METHODS["cuda"] = Native("cuda", to_device, propagate_unknown=False)
METHODS["xpu"] = Native("xpu", to_device, propagate_unknown=False)
METHODS["cpu"] = Native("cpu", to_host, propagate_unknown=False)


def contiguous(run: Runtime, input: Value, memory_format: Value = None) -> Value:
    """A copy where the input is a view in another order; the same tensor otherwise."""
    name = memory_formats.asked((memory_format,))
    if name in memory_formats.RANKS:
        return memory_formats.laid_out(run, input, name, "contiguous")
    if isinstance(input, Tensor) and input.call is None and is_part(input):
        # It is a copy where the view is in another order.
        made = dataclasses.replace(input, view_of=None)
        shares(made, input, None)
        return made
    if not isinstance(input, Tensor) or input.call is None or is_row_major(input):
        return input
    return apply(run, Elementwise("contiguous"), input, function="contiguous")


def is_contiguous(run: Runtime, input: Tensor) -> Value:
    """Whether the values lie in row-major order."""
    return run.unknown(NOT_FOLLOWED) if is_lost(input) else is_row_major(input)


def clone(run: Runtime, input: Value, *, memory_format: Value = None) -> Value:
    """A copy; of a constant the constant."""
    if isinstance(input, Tensor) and input.data is not None and input.call is None and not isinstance(input, Weight):
        return dataclasses.replace(input, view_of=None)
    made = apply(run, Elementwise("copy"), input, function="clone")
    return memory_formats.laid_out(run, made, memory_formats.asked((memory_format,)), "clone")


def detach(run: Runtime, input: Value) -> Value:
    """The tensor without what it was computed of, in the same storage."""
    if isinstance(input, Tensor) and input.call is None and not isinstance(input, Weight) and input.data is not None:
        return input
    return apply(run, Elementwise("detach"), input, function="detach")


def detach_(run: Runtime, input: Value) -> Value:
    """`x.detach_()`; a parameter stays itself, and asks for no gradient any more."""
    if isinstance(input, Weight):
        set_flag(run, input, False)
        return input
    if isinstance(input, Tensor) and is_view(input):
        raise run.error("RuntimeError", "Can't detach views in-place. Use detach() instead.")
    return detach(run, input)


def requires_grad_(run: Runtime, input: Tensor, mode: Value = True) -> Value:
    """`x.requires_grad_(mode)`: the tensor."""
    set_attribute(run, input, "requires_grad", mode)
    return input


def numpy(run: Runtime, input: Tensor) -> Value:
    """`x.numpy()`: an array of the shape. RuntimeError within a model for a result that a gradient goes through
    (tensor_to_numpy in torch/csrc/utils/tensor_numpy.cpp)."""
    if run.invocation is not None and input.call is not None and run.grad_enabled and is_trained(run, input):
        raise run.error("RuntimeError", "Can't call numpy() on Tensor that requires grad.")
    dtype = "float32" if input.dtype == "float" else input.dtype
    made = Tensor(input.shape, dtype, data=input.data, framework="numpy")
    shares(made, input, same_values)
    return made


define("tensor.backward")(backward)


def record_stream(run: Runtime) -> Value:
    """`x.record_stream(stream)`, which changes nothing here."""
    return None


def register_hook(run: Runtime) -> Value:
    """`x.register_hook(hook)`: a handle; hooks on gradients are not run."""
    return Instance(HANDLE, {"id": -1})


def register_post_accumulate_grad_hook(run: Runtime, input: Value, hook: Value) -> Value:
    """A hook that is run when a parameter's gradient is there, as optimizers in the backward pass are written."""
    if isinstance(input, Weight):
        run.data(grad.HOOKS).setdefault(id(input), (input, []))[1].append(hook)
    return Instance(HANDLE, {"id": -1})


def is_floating_point(run: Runtime, input: Value) -> Value:
    """`x.is_floating_point()`: whether its dtype is a floating one."""
    return is_floating(input.dtype) if isinstance(input, Tensor) else input


def is_complex(run: Runtime, input: Value) -> Value:
    """`x.is_complex()`: whether its dtype is a complex one."""
    return input.dtype in COMPLEX if isinstance(input, Tensor) else input


def get_device(run: Runtime) -> Value:
    """`x.get_device()`: 0, the GPU."""
    return 0


def storage(run: Runtime) -> Value:
    """What says where a tensor lies in memory, which is not known."""
    return run.unknown("where a tensor lies in memory is not known")


def is_same_size(run: Runtime, input: Value, other: Value) -> Value:
    """Whether two tensors have the same sizes."""
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        return run.unknown("the sizes of tensors are not known")
    unknown = next((shape for shape in (input.shape, other.shape) if isinstance(shape, Unknown)), None)
    return unknown if unknown is not None else input.shape == other.shape


def iterate(run: Runtime, tensor: Tensor) -> list[Value] | Unknown:
    """The items along the first axis."""
    if tensor.shape == ():
        raise run.error("TypeError", "iteration over a 0-d tensor")
    number = number_of_range(run, tensor)
    if number is not None:
        return number
    parts = unbind(run, tensor, 0)
    # An op of several outputs gives them as a tuple.
    return list(parts) if isinstance(parts, (tuple, list)) else run.items(parts)


def length(run: Runtime, tensor: Tensor) -> Size:
    """`len(x)`: the size of the first axis. TypeError without axes."""
    if isinstance(tensor.shape, Unknown):
        return tensor.shape
    if not tensor.shape:
        raise run.error("TypeError", "len() of a 0-d tensor")
    return tensor.shape[0]


def get_item(run: Runtime, input: Value, key: Value) -> Value:
    """`x.__getitem__(key)`: as `x[key]`."""
    return index(run, input, key)


METHODS["__getitem__"] = Native("__getitem__", get_item, propagate_unknown=False)
