"""From a native's arguments to a Call: which of them are weights, what dtype comes out, what needs no Call at all."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.changed_weights import WRITTEN_LEAVES
from flake8_cnnmem.frameworks.torch.autograd.grad import OF_LEAVES, STEPPING
from flake8_cnnmem.frameworks.torch.dtypes import is_floating, kind, promote
from flake8_cnnmem.frameworks.torch.functions.constants import CONSTANT_STEPS, Constant, is_constant
from flake8_cnnmem.frameworks.torch.noted import note_made
from flake8_cnnmem.frameworks.torch.on_meta import THERE, note_mixed
from flake8_cnnmem.frameworks.torch.unlike_dtypes import note_unlike
from flake8_cnnmem.frameworks.torch.written_parts import WRITTEN, as_written, note_written
from flake8_cnnmem.graph import Mismatch, Op, Tensor, Weight
from flake8_cnnmem.ops import Expand, Flatten, Reshape, Unflatten
from flake8_cnnmem.parameter_values import VALUES_READ
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.shared_values import lose, shares
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

NO_TENSOR = Unknown("a tensor was expected")


def tensor_of(value: Value) -> Tensor | Unknown:
    """An argument as the input of an op. Numbers are scalars; what is no tensor at all is Unknown."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Instance) and isinstance(value.payload, Tensor):
        return value.payload
    if isinstance(value, bool):
        return Constant((), "bool", data=value)
    if isinstance(value, int):
        return Constant((), "int64", data=value)
    if isinstance(value, float):
        return Constant((), "float", data=value)
    return NO_TENSOR


def apply(
    run: Runtime,
    op: Op,
    *inputs: Value,
    weights: Sequence[Value] = (),
    function: str = "",
    dtype: str | None = None,
    dtypes: Sequence[str] | None = None,
) -> Value:
    """Run an op. Weights among the inputs are recorded as the call's weights too.

    `dtype` is that of all outputs; without it and `dtypes`, the first input's.
    """
    tensors = [value if isinstance(value, Tensor) else tensor_of(value) for value in inputs]
    if run.data(WRITTEN):
        tensors = [as_written(run, value) if isinstance(value, Tensor) else value for value in tensors]
    if dtypes is None and dtype is not None:
        dtypes = (dtype,)
    if op.in_place and isinstance(tensors[0], Tensor):
        lose(run, tensors[0])
    if op.kind in OF_FRACTIONS:
        note_whole(run, op.kind, tensors[0], dtypes)
    constants = True
    own: list[Value] = [weight for weight in weights if weight is not None]
    for tensor in tensors:
        if isinstance(tensor, Weight):
            constants = False
            if tensor not in own:
                own.append(tensor)
        elif constants and not is_constant(tensor):
            constants = False
    if constants and not own and any(type(tensor) is Constant for tensor in tensors):
        folded = fold(op, [tensor for tensor in tensors if isinstance(tensor, Tensor)], dtypes, run.next_number())
        if folded is not None:
            run.spend(CONSTANT_STEPS)
            # Written in place it is the same tensor, for whoever else holds it.
            first = tensors[0]
            if op.in_place and type(first) is Constant and first.data is None:
                note_leaf_written(run, first)
                return first
            if isinstance(folded, Tensor) and folded.view_of is None:
                note_made(run, folded, *tensors)
            return folded
    if run.autocast is None and len(own) + len(tensors) > 1 and (op.product or op.convolves or op.kind == "layer_norm"):
        note_unlike(run, op.kind, tensors[0], own[0] if own else tensors[1])
    if op.in_place:
        refuse_repeated(run, tensors[0])
    if op.in_place and run.grad_enabled:
        refuse_one_of_several(run, tensors)
        refuse_leaf(run, tensors[0])
    made = run.apply(op, *tensors, weights=own, function=function, dtypes=dtypes)
    if run.data(THERE):
        note_mixed(run, function or op.kind, [*tensors, *own], made)
    if run.autocast is not None and dtypes is None and isinstance(made, Tensor) and made.dtype == "float32":
        leave_open(op, made)
    if isinstance(made, Tensor) and made.shape in ONE and any(map(is_drawn, tensors)):
        made.chance = True
    if op.in_place and not run.grad_enabled:
        remain_leaf(run, tensors[0], made)
    elif op.in_place:
        note_written(run, tensors, made)
    stepping = run.data(STEPPING)
    if stepping:
        for noted in stepping.values():
            noted.note_call(made)
    return made


ONE: tuple[Shape, ...] = ((), (1,))
"""The shapes of a tensor whose value a program may test."""


def is_drawn(tensor: Value) -> bool:
    """Whether a tensor's values are drawn at random each time."""
    return isinstance(tensor, Tensor) and tensor.chance


def leave_open(op: Op, made: Tensor) -> None:
    """What autocast computes in half precision is not float32 because what it read is."""
    from flake8_cnnmem.frameworks.torch.saved_tensors import RULES

    if RULES.row(op.kind).autocast == "half":
        made.dtype = "float"


OF_FRACTIONS = frozenset({
    "mean", "var", "std", "var_mean", "std_mean", "norm", "normalize", "nanmean", "softmax", "log_softmax", "gelu",
    "silu", "elu", "leaky_relu", "softplus", "layer_norm", "dropout", "cdist",
})  # fmt: skip
"""Kinds of ops that torch has for no whole numbers."""


def note_whole(run: Runtime, what: str, given: Value, dtypes: Sequence[str] | None) -> None:
    """An op on whole numbers that is there for fractions alone is an error in torch: what follows is not told as exact.
    A mean of them is one unless a dtype is said."""
    if what not in OF_FRACTIONS or not isinstance(given, Tensor) or kind(given.dtype) >= kind("float"):
        return
    if what in ("mean", "nanmean", "norm") and dtypes is not None and dtypes[0] != "float":
        return
    note_cause(run, None, "whole numbers", f"{what} of {given.dtype} is refused")


def remain_leaf(run: Runtime, before: Tensor | Unknown, made: Value) -> None:
    """A leaf that is written in place where no gradient flows (`w -= rate * w.grad`) is the same tensor afterwards: it
    asks for a gradient, and has the one that it had."""
    if not isinstance(before, Tensor) or isinstance(before, Weight) or not isinstance(made, Tensor):
        return
    if before.requires_grad:
        made.requires_grad, made.trained_as = True, before.trained_as
        had = run.data(OF_LEAVES).pop(id(before), None)
        if had is not None:
            run.data(OF_LEAVES)[id(made)] = (made, had[1])


def is_trained(run: Runtime, tensor: Tensor) -> bool:
    """Whether a parameter, or a leaf that asks for a gradient, is among all that a tensor is made of."""
    seen: set[int] = set()
    waiting = [tensor]
    while waiting:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        run.spend(1)
        if at.requires_grad or (isinstance(at, Weight) and at.trainable):
            return True
        if at.call is not None and at.call.grad and is_floating(at.dtype) and not at.call.op.cuts_gradient:
            waiting += [*at.call.inputs, *at.call.weights]
    return False


def refuse_one_of_several(run: Runtime, tensors: Sequence[Tensor | Unknown]) -> None:
    """RuntimeError for writing in place into one of the views that a single function gave (`for row in x.unbind(0):
    row.mul_(2)`), where a gradient flows (`handle_view_on_rebase` in torch/csrc/autograd/variable.cpp)."""
    part = tensors[0]
    if not isinstance(part, Tensor) or part.call is None or not part.call.op.view or len(part.call.outputs) < 2:
        return
    if part.call.grad and any(isinstance(tensor, Tensor) and is_trained(run, tensor) for tensor in tensors):
        reason = f"Output {part.index} of {part.call.op.kind} is a view and is being modified inplace. This view is the"
        raise run.error("RuntimeError", f"{reason} output of a function that returns multiple views")


def refuse_leaf(run: Runtime, written: Tensor | Unknown) -> None:
    """RuntimeError for writing in place into a leaf that asks for a gradient, or into a view of one, while that is
    recorded (`check_inplace` in torch/csrc/autograd/VariableTypeUtils.h)."""
    if not isinstance(written, Tensor):
        return
    leaf = written
    while leaf.call is not None:
        if not is_view(leaf):
            return
        leaf = leaf.call.inputs[0]
    if isinstance(leaf, Weight) and not run.grad_enabled and id(leaf) not in run.data(VALUES_READ):
        # Written through `.data` it keeps its version.
        note_leaf_written(run, leaf)
    if asks_for_gradient(run, leaf):
        what = "a leaf Variable" if leaf is written else "a view of a leaf Variable"
        raise run.error("RuntimeError", f"{what} that requires grad is being used in an in-place operation.")


def note_leaf_written(run: Runtime, leaf: Tensor) -> None:
    """The code writes here into what no op made, or into a view of it."""
    run.data(WRITTEN_LEAVES).setdefault(id(leaf), []).append(run.next_number())


def refuse_repeated(run: Runtime, written: Tensor | Unknown) -> None:
    """RuntimeError for writing in place into what `expand` repeats: several elements lie in one place
    (`assert_no_internal_overlap` in aten/src/ATen/MemoryOverlap.cpp)."""
    if isinstance(written, Tensor) and written.call is not None and type(written.call.op) is Expand:
        (of,) = written.call.inputs
        if not isinstance(of.shape, Unknown) and not isinstance(written.shape, Unknown):
            before = (1,) * (len(written.shape) - len(of.shape)) + of.shape
            pairs = zip(before, written.shape, strict=True)
            if any(old == 1 and isinstance(new, int) and new > 1 for old, new in pairs):
                what = "unsupported operation: more than one element of the written-to tensor refers to a single"
                raise run.error("RuntimeError", f"{what} memory location. Please clone() the tensor before.")


def is_view(tensor: Tensor) -> bool:
    """Whether a tensor that an op made is a view for certain: a reshape copies where the strides allow no view, but
    not of a leaf itself, and not to the same shape."""
    call = tensor.call
    if call is None or not call.op.view or call.op.kind != "view" or not call.grad or not call.inputs:
        return False
    of = call.inputs[0]
    return not isinstance(call.op, MAY_COPY) or of.call is None or of.shape == tensor.shape


MAY_COPY = (Reshape, Flatten, Unflatten)


def asks_for_gradient(run: Runtime, tensor: Tensor) -> bool:
    """Whether a tensor is a leaf with a gradient, in no part of which may be written while that is recorded. Where
    `.data` of a parameter was read outside of a forward pass, it is that which is written."""
    if not run.grad_enabled or tensor.call is not None:
        return False
    if isinstance(tensor, Weight):
        asks = tensor.trainable and tensor.unsure is None and not tensor.buffer
        return asks and (run.invocation is not None or id(tensor) not in run.data(VALUES_READ))
    return tensor.requires_grad


def fold(op: Op, tensors: Sequence[Tensor], dtypes: Sequence[str] | None, number: int) -> Value | None:
    """What an op makes of constants: constants, by shape only. None where it cannot be said. `number` is theirs among
    calls."""
    shapes: list[Shape] = []
    for tensor in tensors:
        if isinstance(tensor.shape, Unknown):
            return None
        shapes.append(tensor.shape)
    try:
        outputs = op.outputs(*shapes)
    except Mismatch:
        return None
    first = tensors[0]
    # A view of what is a view itself may have to copy if it gives it another shape.
    whole = first if op.view and not (first.view_of and isinstance(op, Reshape)) else None
    there = any(tensor.moved for tensor in tensors)
    made = tuple(
        Constant(
            shape, dtypes[min(at, len(dtypes) - 1)] if dtypes else first.dtype, moved=there, view_of=whole, born=number
        )
        for at, shape in enumerate(outputs)
    )
    if any(map(is_drawn, tensors)):
        for each in made:
            each.chance = True
    if op.view:
        for each in made:
            shares(each, first, None)
    return made[0] if len(made) == 1 else made


OF_COMPLEX = {"float64": "complex128", "float16": "complex32"}
"""What a tensor becomes beside a complex number (`toComplexType` of c10/core/ScalarType.h)."""


def common_dtype(values: Sequence[Value]) -> str:
    """The dtype of an operation on several tensors and numbers: numbers do not widen a tensor of their kind."""
    dtype = ""
    for value in values:
        if isinstance(value, Tensor) and value.shape != ():
            dtype = promote(dtype, value.dtype) if dtype else value.dtype
    for value in values:
        if isinstance(value, Tensor) and value.shape == ():
            dtype = promote(dtype, value.dtype) if not dtype or kind(dtype) < kind(value.dtype) else dtype
        elif isinstance(value, complex) and dtype and kind(dtype) < kind("complex64"):
            dtype = OF_COMPLEX.get(dtype, "complex64")
        elif isinstance(value, float) and dtype and kind(dtype) < kind("float"):
            dtype = "float"
    return dtype or "float"
