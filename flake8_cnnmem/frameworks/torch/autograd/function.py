"""torch.autograd.Function: a forward pass of one's own, run like any function, and a backward pass of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.autograd.regions import OWN_BACKWARD
from flake8_cnnmem.frameworks.torch.dtypes import is_floating
from flake8_cnnmem.frameworks.torch.noted import unnoted
from flake8_cnnmem.graph import Invocation, OwnBackward, Tensor, Weight
from flake8_cnnmem.ops.elementwise import Elementwise
from flake8_cnnmem.ops.given import Filled
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Value, native

WRITTEN = "declared"
"""The kind of what a kernel writes: what is kept of it is said with the call."""


def nothing(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """A method that gives None."""
    return None


CONTEXT = Class(
    "FunctionCtx",
    namespace={name: native(name, nothing) for name in ("mark_dirty", "set_materialize_grads", "save_for_forward")},
    module="torch.autograd.function",
)


def save_for_backward(run: Runtime, self: Instance, *tensors: Value) -> Value:
    """`ctx.save_for_backward(*tensors)`: kept as `ctx.saved_tensors`, each storage until the backward pass."""
    self.attributes["saved_tensors"] = tensors
    return None


def mark_non_differentiable(run: Runtime, self: Instance, *tensors: Value) -> Value:
    """`ctx.mark_non_differentiable(*tensors)`: these results ask for no gradient."""
    self.attributes[NO_GRADIENT] = tuple(tensor for tensor in tensors if isinstance(tensor, Tensor))
    return None


NO_GRADIENT = "without gradient"
"""Among a context's attributes: the results of a function that nothing is learned through."""
CONTEXT.namespace["mark_non_differentiable"] = native("mark_non_differentiable", mark_non_differentiable)
CONTEXT.namespace["save_for_backward"] = native("save_for_backward", save_for_backward)


def apply_function(run: Runtime, cls: Value, *args: Value, **kwargs: Value) -> Value:
    """`MyFunction.apply(x)`: its forward, with a context unless `setup_context` gets one, and what its backward makes
    of the gradients. Of the forward's tensors only those that the context saves are kept."""
    with unnoted(run):
        return followed(run, cls, args, kwargs)


def followed(run: Runtime, cls: Value, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Value:
    """The call itself. What the function makes without an op is for its kernels."""
    forward = run.get(cls, "forward")
    context = Instance(CONTEXT, {"needs_input_grad": (True,) * len(args)})
    with run.enter(None) as region:
        if isinstance(cls, Class) and any(
            "setup_context" in each.namespace for each in cls.mro if each is not FUNCTION
        ):
            result = run.call(forward, *args, **kwargs)
            run.attempt(run.get(cls, "setup_context"), context, args, result)
        else:
            result = run.call(forward, context, *args, **kwargs)
        result = written_by_kernels(run, region, cls, context, args, result)
    results = tuple(tensor for tensor in listed(result) if isinstance(tensor, Tensor))
    if run.grad_enabled and results and not any(tensor is argument for tensor in results for argument in args):
        given = tuple(Tensor(tensor.shape, tensor.dtype) for tensor in results)
        own = run.data(OWN_BACKWARD)
        own[id(context)] = context
        first, gradients = run.aside(run.find(cls, "backward"), context, *given)
        del own[id(context)]
        region.own = OwnBackward(saved_by(context), results, given, args, tuple(listed(gradients)), first)
    marked = context.attributes.get(NO_GRADIENT, ())
    if not marked or not run.grad_enabled:
        return result
    return replaced(result, {id(each): apply(run, Elementwise("detach"), each, function="detach") for each in marked})


def written_by_kernels(
    run: Runtime, region: Invocation, cls: Value, context: Instance, args: tuple[Value, ...], result: Value
) -> Value:
    """The result where the forward pass makes tensors that no op of it fills (`y = torch.empty_like(x)`), but a kernel
    that nobody sees: to autograd they are results of the arguments all the same. One op stands for the kernels; what
    the context holds of such tensors is its results."""
    inputs = [each for each in args if isinstance(each, Tensor)]
    among = {id(each) for each in inputs}

    def is_written(value: Value) -> TypeGuard[Tensor]:
        if not isinstance(value, Tensor) or isinstance(value, Weight) or value.call is not None:
            return False
        return id(value) not in among and value.born >= region.number

    found = [each for each in listed(result) if is_written(each)]
    if not inputs or not found:
        return result
    found = list({id(each): each for each in [*found, *filter(is_written, saved_by(context))]}.values())
    name = cls.name if isinstance(cls, Class) else "apply"
    op = Filled.beside(WRITTEN, [each.shape for each in found], [each.shape for each in inputs])
    made = apply(run, op, *inputs, function=name, dtypes=[each.dtype for each in found])
    outputs = made if isinstance(made, tuple) else (made,)
    now = {id(old): new for old, new in zip(found, outputs, strict=True)}
    for word, value in context.attributes.items():
        context.attributes[word] = replaced(value, now)
    return replaced(result, now)


def replaced(value: Value, now: dict[int, Value]) -> Value:
    """A tensor, or the tensors of a tuple or list, with others in their place."""
    if isinstance(value, (tuple, list)):
        return type(value)(now.get(id(each), each) for each in value)
    return now.get(id(value), value)


def listed(value: Value) -> Sequence[Value]:
    """One value as a list; a tuple or list as it is."""
    return value if isinstance(value, (tuple, list)) else [value]


def saved_by(context: Instance) -> tuple[Tensor, ...]:
    """Every tensor that a function's context holds: saved the way it should be, or as an attribute."""
    held = [value for word, value in context.attributes.items() if word != NO_GRADIENT]
    found = [tensor for value in held for tensor in listed(value)]
    return tuple({id(tensor): tensor for tensor in found if isinstance(tensor, Tensor)}.values())


def kernel_backward(
    run: Runtime, operands: Sequence[Value], results: Sequence[Value], held: Sequence[Tensor]
) -> OwnBackward | None:
    """The way back of a kernel that keeps `held`: one op that makes a gradient of its own for each floating operand.
    None where nothing can have one."""
    asks = [each for each in operands if isinstance(each, Tensor) and is_floating(each.dtype)]
    shapes = [each.shape for each in asks if not isinstance(each.shape, Unknown)]
    if not asks or len(shapes) < len(asks):
        return None
    ends = tuple(each for each in results if isinstance(each, Tensor))
    given = tuple(Tensor(each.shape, each.dtype) for each in ends)

    def make(run: Runtime) -> Value:
        op = Filled.beside(WRITTEN, shapes, [each.shape for each in given])
        return apply(run, op, *given, function="backward", dtypes=[each.dtype for each in asks])

    first, gradients = run.aside(native("backward", make))
    return OwnBackward(tuple(held), ends, given, tuple(asks), tuple(listed(gradients)), first)


FUNCTION = Class(
    "Function",
    (CONTEXT,),
    {"apply": ClassMethod(native("apply", apply_function))},
    module="torch.autograd.function",
)
