"""torch.nn.utils: weight norm and spectral norm as hooks that compute a weight ahead of each call, as they were before
parametrisations (`parametrizations`); vectors of parameters, fused layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from flake8_cnnmem.dims import Shape, product
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.copying import NOT_LEAVES
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary, matmul
from flake8_cnnmem.frameworks.torch.functions.reductions import reduce
from flake8_cnnmem.frameworks.torch.functions.shapes import permute_axes, reshape_to, swap
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.modules.module import PRE_HOOKS, put, stored
from flake8_cnnmem.frameworks.torch.nn.parameter import make_parameter, weight_like
from flake8_cnnmem.frameworks.torch.tensors import clone
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Broadcast
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value


@dataclass(frozen=True, slots=True)
class Hook:
    """What computes a weight ahead of each call of its module: `kind` is who asked for it, `name` the weight's."""

    kind: str
    name: str
    compute: Callable[[Runtime, Instance], Value] = field(compare=False)
    """Made anew for each module; what it depends on beside the weight are the sizes of what is computed from."""

    def __call__(self, run: Runtime, module: Instance) -> None:
        """Compute the weight before its module is called."""
        before = module.attributes.get(self.name)
        module.attributes[self.name] = self.compute(run, module)
        # The module holds the computed weight until it computes the next one.
        run.let_go(before)


def hooks_of(module: Instance) -> tuple[Hook, ...]:
    """The hooks that compute a module's weights."""
    found = module.attributes.get(PRE_HOOKS, ())
    return found if isinstance(found, tuple) else ()


def magnitude_shape(weight: Weight, dim: Value) -> Shape | Unknown:
    """The shape of the norms that are taken over all axes but one."""
    if isinstance(weight.shape, Unknown):
        return weight.shape
    if dim is None or dim == -1:
        return ()
    if not isinstance(dim, int):
        return Unknown("the axis of a weight norm is not known")
    return tuple(size if at == dim % len(weight.shape) else 1 for at, size in enumerate(weight.shape))


def take(run: Runtime, module: Instance, name: str) -> Weight | None:
    """A parameter, taken off its module."""
    held = stored(module, "_parameters")
    weight = held.get(name)
    if not isinstance(weight, Weight):
        return None
    run.changed(held)
    del held[name]
    return weight


def add_hook(run: Runtime, module: Instance, hook: Hook) -> None:
    """Add a hook, in the place of one of its kind for the same weight."""
    run.changed(module)
    others = tuple(each for each in hooks_of(module) if (each.kind, each.name) != (hook.kind, hook.name))
    module.attributes[PRE_HOOKS] = (*others, hook)


def drop_hook(run: Runtime, module: Instance, kinds: tuple[str, ...], name: str) -> None:
    """Take away the hooks of these kinds for a weight."""
    run.changed(module)
    left = tuple(each for each in hooks_of(module) if each.kind not in kinds or each.name != name)
    module.attributes[PRE_HOOKS] = left
    module.attributes.pop(name, None)


def normed(run: Runtime, v: Value, g: Value, dim: Any) -> Value:
    """torch._weight_norm: one kernel along the first or the last axis, else the formula `v * (g / norm(v))`."""
    tensor = tensor_of(v)
    shape = tensor.shape if isinstance(tensor, Tensor) else tensor
    if isinstance(shape, Unknown) or (isinstance(dim, int) and dim in (0, len(shape) - 1)):
        return apply(run, Broadcast("weight_norm"), v, g, function="weight_norm")
    if dim is None or dim == -1:
        norms = reduce(run, "norm", v)
    else:
        rows = shape[dim % len(shape)] if isinstance(dim, int) else Unknown("the axis of a weight norm is not known")
        flat = reshape_to(run, swap(run, v, 0, dim), ((rows, -1),), "reshape")
        others = (1,) * (len(shape) - 1)
        norms = swap(run, reshape_to(run, reduce(run, "norm", flat, 1), ((rows, *others),), "view"), 0, dim)
    return binary(run, "*", v, binary(run, "/", g, norms))


def weight_norm(run: Runtime, module: Value, name: Value = "weight", dim: Value = 0) -> Value:
    """`name` becomes `name_g` and `name_v`; the weight is computed from them ahead of each call."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    weight = take(run, module, name)
    if weight is None:
        return module
    put(run, module, "_parameters", f"{name}_g", weight_like(run, weight, magnitude_shape(weight, dim)))
    put(run, module, "_parameters", f"{name}_v", weight_like(run, weight, weight.shape))

    def compute(run: Runtime, self: Instance) -> Value:
        return normed(run, attribute(run, self, f"{name}_v"), attribute(run, self, f"{name}_g"), dim)

    compute_shape(run, module, name, weight)
    if run.grad_enabled:
        ahead = module.attributes[name]
        run.data(NOT_LEAVES)[id(ahead)] = ahead
    add_hook(run, module, Hook("weight norm", name, compute))
    return module


def compute_shape(run: Runtime, module: Instance, name: str, weight: Weight) -> None:
    """Until the first call the plain attribute has the weight's shape."""
    run.changed(module)
    module.attributes[name] = Tensor(weight.shape, weight.dtype)


def spectral_norm(
    run: Runtime, module: Value, name: Value = "weight", n_power_iterations: Value = 1, eps: Value = 1e-12,
    dim: Value = None,
) -> Value:  # fmt: skip
    """`name` becomes `name_orig` with buffers `name_u` and `name_v`; the weight is divided ahead of each call."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    weight = take(run, module, name)
    if weight is None:
        return module
    axis = dim if isinstance(dim, int) else default_axis(module)
    put(run, module, "_parameters", f"{name}_orig", weight_like(run, weight, weight.shape))
    vectors(run, module, weight, f"{name}_u", f"{name}_v", axis)

    def compute(run: Runtime, self: Instance) -> Value:
        original, u, v = (attribute(run, self, f"{name}_{end}") for end in ("orig", "u", "v"))
        trains = self.attributes.get("training") is not False
        return divided(run, original, u, v, axis, n_power_iterations if trains else 0, trains)

    compute_shape(run, module, name, weight)
    add_hook(run, module, Hook("spectral norm", name, compute))
    return module


def divided(run: Runtime, weight: Value, u: Value, v: Value, axis: int, iterations: Value, copied: bool) -> Value:
    """The weight by its largest singular value: `weight / dot(u, mv(matrix, v))`, u and v as they are after the power
    iterations; `copied` where the next ones write into the buffers."""
    tensor = tensor_of(weight)
    rank = len(tensor.shape) if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) else 0
    matrix = weight
    if axis % max(1, rank):
        order = (axis % rank, *(each for each in range(rank) if each != axis % rank))
        matrix = permute_axes(run, matrix, order, "permute")
    rows = tensor.shape[axis] if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) else -1
    if rank != 2:
        # `flatten(1)` of a matrix is that matrix itself, whose cast autocast remembers.
        matrix = reshape_to(run, matrix, ((rows, -1),), "reshape")
    records, run.grad_enabled = run.grad_enabled, False
    for _ in range(iterations if isinstance(iterations, int) else 1):
        matmul(run, swap(run, matrix, 0, 1), u)
        matmul(run, matrix, v)
    run.grad_enabled = records
    if copied:
        u, v = clone(run, u), clone(run, v)
    return binary(run, "/", weight, matmul(run, u, matmul(run, matrix, v)))


def default_axis(module: Instance) -> int:
    """Transposed convolutions have their outputs on axis 1."""
    return 1 if any(cls.name.startswith("ConvTranspose") for cls in module.cls.mro) else 0


def vectors(run: Runtime, module: Instance, weight: Weight, first: str, second: str, axis: int) -> None:
    """The two singular vectors that power iteration keeps as buffers."""
    if isinstance(weight.shape, Unknown) or not weight.shape:
        return
    rows = weight.shape[axis]
    columns = product(size for at, size in enumerate(weight.shape) if at != axis % len(weight.shape))
    put(run, module, "_buffers", first, weight_like(run, weight, (rows,), buffer=True))
    put(run, module, "_buffers", second, weight_like(run, weight, (columns,), buffer=True))


def remove_norm(run: Runtime, module: Value, name: Value = "weight") -> Value:
    """The computed weight becomes a plain parameter again."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    held = stored(module, "_parameters")
    original = held.get(f"{name}_v") or held.get(f"{name}_orig")
    if not isinstance(original, Weight):
        return module
    run.changed(held)
    for suffix in ("_g", "_v", "_orig"):
        held.pop(f"{name}{suffix}", None)
    for suffix in ("_u", "_v"):
        stored(module, "_buffers").pop(f"{name}{suffix}", None)
    drop_hook(run, module, ("weight norm", "spectral norm"), name)
    put(run, module, "_parameters", name, weight_like(run, original, original.shape))
    return module


def clip(run: Runtime, parameters: Value, *args: Value, **kwargs: Value) -> Value:
    """`clip_grad_norm_`: gradients are not computed, and neither is their norm."""
    return run.unknown("gradients are not computed")


def to_vector(run: Runtime, parameters: Value, param_device: Value = None) -> Value:
    """`parameters_to_vector(parameters)`: (values of all,)."""
    items = run.items(parameters)
    if isinstance(items, Unknown):
        return items
    from flake8_cnnmem.frameworks.torch.functions.joining import cat
    from flake8_cnnmem.frameworks.torch.functions.shapes import flatten

    return cat(run, [flatten(run, tensor_of(item)) for item in items])


def fuse_conv_bn_eval(run: Runtime, conv: Value, bn: Value, transpose: Value = False) -> Value:
    """A convolution with a bias that stands for both."""
    if isinstance(conv, Instance) and stored(conv, "_parameters").get("bias") is None:
        weight = stored(conv, "_parameters").get("weight")
        if isinstance(weight, Weight) and isinstance(weight.shape, tuple):
            put(run, conv, "_parameters", "bias", make_parameter(run, Tensor(weight.shape[:1]), False))
    return conv


def skip_init(run: Runtime, module_cls: Value, *args: Value, **kwargs: Value) -> Value:
    """`skip_init(module_cls, ...)`: the module."""
    return run.call(module_cls, *args, **kwargs)


def natives(table: dict[str, Callable[..., Value]]) -> dict[str, Value]:
    """A table of functions as natives that see unknowns among their arguments."""
    return {name: Native(name, function, propagate_unknown=False) for name, function in table.items()}


UTILITIES = natives(
    {
        "weight_norm": weight_norm,
        "spectral_norm": spectral_norm,
        "remove_weight_norm": remove_norm,
        "remove_spectral_norm": remove_norm,
        "clip_grad_norm_": clip,
        "clip_grad_value_": clip,
        "clip_grad_norm": clip,
        "get_total_norm": clip,
        "parameters_to_vector": to_vector,
        "vector_to_parameters": lambda run, vec, parameters: None,
        "fuse_conv_bn_eval": fuse_conv_bn_eval,
        "skip_init": skip_init,
    }
)
