"""torch.Tensor and torch.nn.Parameter as classes, and how parameters and buffers are made."""

from __future__ import annotations

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.changed_weights import MADE_WEIGHTS, unsure_of
from flake8_cnnmem.frameworks.nested import countable
from flake8_cnnmem.frameworks.torch.applying import is_trained, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import sizes
from flake8_cnnmem.frameworks.torch.dtypes import COMPLEX, LEGACY, ON_CARD, is_floating
from flake8_cnnmem.frameworks.torch.functions.constants import constant, from_nested, shape_around
from flake8_cnnmem.frameworks.torch.noted import note_made
from flake8_cnnmem.frameworks.torch.registry import METHODS
from flake8_cnnmem.frameworks.torch.sizes import Sizes
from flake8_cnnmem.graph import Tensor, Weight, lies_on_device
from flake8_cnnmem.parameter_values import ValuesOf
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import same_values, shares
from flake8_cnnmem.unknown import Unknown, of_sequences
from flake8_cnnmem.values import Class, Native, Value

NOT_CALLED = Unknown("a lazy layer's input size is not known before its first call")
NOT_INITIALISED = Unknown("the layer's sizes are not known before its first call")


def _new_tensor(run: Runtime, cls: Class, *data: Value, **options: Value) -> Value:
    """A tensor of one of the older types: that of a type of the card's (`torch.cuda.FloatTensor`) is made there."""
    made = _made_of(run, cls, *data)
    if cls.module == ON_CARD and isinstance(made, Tensor) and made.call is None and not made.moved:
        made.moved = made.made_there = True
        made.born = run.next_number()
        note_made(run, made)
    return made


def _made_of(run: Runtime, cls: Class, *data: Value) -> Value:
    """`torch.Tensor(2, 3)` and `torch.Tensor(x.shape)` by sizes, `torch.Tensor([1, 2])` and `torch.Tensor((1, 2))` by
    values."""
    dtype = LEGACY.get(cls.name, "float")
    if len(data) == 1 and isinstance(data[0], (list, tuple)) and not isinstance(data[0], Sizes):
        lost = next((run.havocked[id(each)][1] for each in (data[0], *data[0]) if id(each) in run.havocked), None)
        if lost is not None:
            return Tensor(lost, dtype)
        count = countable(data[0])
        run.spend((count or 0) // 8)
        found = None if count is None else from_nested(data[0])
        if found is None:
            return Tensor(Unknown("the sizes of a tensor could not be worked out"), dtype)
        shape, values = found
        first = next((value for value in values if isinstance(value, Tensor)), None)
        if first is not None:
            return Tensor(shape_around(shape, values, first), dtype)
        cause = of_sequences(values)
        if cause is not None:
            return Tensor(cause, dtype)
        plain = all(isinstance(value, (bool, int, float)) for value in values)
        return constant(shape, values if plain else None, dtype)
    if len(data) == 1 and isinstance(data[0], Tensor):
        given = data[0]
        return given if given.framework == "torch" else Tensor(given.shape, dtype, data=given.data)
    return Tensor(sizes(data) if data else (0,), dtype)


TENSOR = Class("Tensor", namespace=METHODS, module="torch")
METHODS["__new__"] = Native("__new__", _new_tensor, propagate_unknown=False)


LEGACY_TENSORS = {name: Class(name, (TENSOR,), {}, module="torch") for name in LEGACY}
CARD_TENSORS = {name: Class(name, (TENSOR,), {}, module=ON_CARD) for name in LEGACY}
"""The same types of `torch.cuda`."""


def make_parameter(run: Runtime, data: Value, trainable: Value = True) -> Weight:
    """A new parameter of the data's shape and values."""
    tensor = tensor_of(data) if data is not None else NOT_INITIALISED
    if isinstance(tensor, Unknown):
        return Weight(tensor, site=run.here(), trainable=trainable is not False, unsure=unsure_of(trainable))
    dtype = "float" if tensor.dtype == "float32" else tensor.dtype
    if trainable is True and dtype.startswith(("int", "uint", "bool")):
        raise run.error("RuntimeError", "Only Tensors of floating point and complex dtype can require gradients")
    made = Weight(
        note_part(run, tensor).shape,
        dtype,
        trainable=trainable is not False and (is_floating(dtype) or dtype in COMPLEX),
        site=run.here(),
        unsure=unsure_of(trainable),
    )
    made.moved = lies_on_device(tensor)
    run.data(MADE_WEIGHTS)[id(tensor)] = (tensor, made)
    if tensor.call is None and tensor.data is not None:
        shares(made, tensor, None)
    return made


def note_part(run: Runtime, tensor: Tensor) -> Tensor:
    """A parameter is made of a tensor, which this gives: of a part of another one it holds the whole storage."""
    whole = tensor
    while whole.call is not None and whole.call.op.view and whole.call.inputs:
        whole = whole.call.inputs[0]
    if whole is tensor or not lies_on_device(whole) or whole.dtype != tensor.dtype or isinstance(whole.shape, Unknown):
        # Ahead of its move it is a part of one on the host: what is moved is the part alone.
        return tensor
    if not isinstance(tensor.shape, Unknown) and dims.product(whole.shape) != dims.product(tensor.shape):
        note_cause(run, None, "parts as parameters", "a parameter holds the larger storage that it is a part of")
    return tensor


def make_buffer(run: Runtime, data: Tensor) -> Weight:
    """A buffer of the data's shape and values. What computed the data is no part of the model; of one that asks for a
    gradient, or hands one on, nothing more is counted."""
    if isinstance(data, Weight) and data.buffer:
        return data
    if is_trained(run, data):
        note_cause(run, None, "buffers that train", "what a buffer needs that asks for a gradient")
    made = Weight(data.shape, data.dtype, data=data.data, trainable=False, buffer=True, site=run.here())
    run.data(MADE_WEIGHTS)[id(data)] = (data, made)
    if data.call is None:
        shares(made, data, same_values)
    return made


def as_buffer(run: Runtime, tensor: Tensor) -> Tensor:
    """What stands under a buffer's name from now on. A result of a forward pass through which a gradient goes is that
    result itself: what is computed of it afterwards goes back through it. So is one of as many values as the batch has
    samples, which the next pass puts another in place of."""
    if run.invocation is not None and tensor.call is not None:
        shape = tensor.shape if isinstance(tensor.shape, tuple) else ()
        if any(isinstance(length, Batch) for length in shape) or is_trained(run, tensor):
            return tensor
    return make_buffer(run, tensor)


def swap_tensors(run: Runtime, t1: Value, t2: Value) -> Value:
    """torch.utils.swap_tensors: two tensors change places, wherever they are held."""
    if not isinstance(t1, Weight) or not isinstance(t2, Weight):
        note_cause(run, None, "tensors swapped", "which tensors change places is not followed")
        return None
    for word in ("shape", "dtype", "data", "trainable", "unsure"):
        first, second = getattr(t1, word), getattr(t2, word)
        setattr(t1, word, second)
        setattr(t2, word, first)
    return None


def weight_like(run: Runtime, weight: Weight, shape: Shape | Unknown, buffer: bool = False) -> Weight:
    """A weight of this shape that is made from another one, in its dtype and where it lies."""
    made = empty_weight(run, shape, weight.dtype, buffer)
    made.moved, made.made_there = weight.moved, weight.made_there
    return made


def empty_weight(run: Runtime, shape: Shape | Unknown, dtype: str = "float", buffer: bool = False) -> Weight:
    """A weight that a layer makes for itself, in the dtype that the program has set as the default, if any."""
    if dtype == "float":
        default = run.data("default dtype").get("dtype", dtype)
        if isinstance(default, str):
            dtype = default
        else:
            note_cause(run, None, "default dtype", "whether the default dtype is another one is not known")
    return Weight(shape, dtype, trainable=not buffer, buffer=buffer, site=run.here())


def _new_parameter(run: Runtime, cls: Class, data: Value = None, requires_grad: Value = True) -> Value:
    return make_parameter(run, data, requires_grad)


def _new_buffer(run: Runtime, cls: Class, data: Value = None, *, persistent: Value = True) -> Value:
    tensor = tensor_of(data)
    return tensor if isinstance(tensor, Unknown) else make_buffer(run, tensor)


def _new_uninitialised(
    run: Runtime, cls: Class, requires_grad: Value = True, device: Value = None, dtype: Value = None
) -> Value:
    asks = requires_grad is not False
    return Weight(NOT_INITIALISED, trainable=asks, site=run.here(), unsure=unsure_of(requires_grad))


PARAMETER = Class(
    "Parameter",
    (TENSOR,),
    {"__new__": Native("__new__", _new_parameter, propagate_unknown=False)},
    module="torch.nn.parameter",
)
BUFFER = Class(
    "Buffer",
    (TENSOR,),
    {"__new__": Native("__new__", _new_buffer, propagate_unknown=False)},
    module="torch.nn.parameter",
)
UNINITIALIZED_PARAMETER = Class(
    "UninitializedParameter",
    (PARAMETER,),
    {"__new__": Native("__new__", _new_uninitialised, propagate_unknown=False)},
    module="torch.nn.parameter",
)


def type_of(tensor: Tensor) -> Class:
    """The class that user code sees."""
    plain = not isinstance(tensor, Weight) or tensor.buffer or isinstance(tensor, ValuesOf)
    return TENSOR if plain else PARAMETER
