"""torch.nn.utils: weight norm, spectral norm and parametrisations, which compute a weight ahead of each call."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Shape, product
from flake8_cnnmem.frameworks.torch.applying import apply, tensor_of
from flake8_cnnmem.frameworks.torch.convolutions import attribute
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.module import MODULE, PRE_HOOKS, put, stored
from flake8_cnnmem.frameworks.torch.module import init as init_module
from flake8_cnnmem.frameworks.torch.parameters import empty_weight, make_parameter
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Broadcast, Elementwise
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Run, Value

Hook = Callable[[Run, Instance], None]


def magnitude_shape(weight: Weight, dim: Value) -> Shape | Unknown:
    """The shape of the norms that are taken over all axes but one."""
    if isinstance(weight.shape, Unknown):
        return weight.shape
    if dim is None or dim == -1:
        return ()
    if not isinstance(dim, int):
        return Unknown("the axis of a weight norm is not known")
    return tuple(size if at == dim % len(weight.shape) else 1 for at, size in enumerate(weight.shape))


def take(run: Run, module: Instance, name: str) -> Weight | None:
    """A parameter, taken off its module."""
    held = stored(module, "_parameters")
    weight = held.get(name)
    if not isinstance(weight, Weight):
        return None
    run.changed(held)
    del held[name]
    return weight


def add_hook(run: Run, module: Instance, hook: Hook) -> None:
    run.changed(module)
    module.attributes[PRE_HOOKS] = (*module.attributes.get(PRE_HOOKS, ()), hook)


def weight_norm(run: Run, module: Value, name: Value = "weight", dim: Value = 0) -> Value:
    """`name` becomes `name_g` and `name_v`; the weight is computed from them ahead of each call."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    weight = take(run, module, name)
    if weight is None:
        return module
    put(run, module, "_parameters", f"{name}_g", empty_weight(run, magnitude_shape(weight, dim), weight.dtype))
    put(run, module, "_parameters", f"{name}_v", empty_weight(run, weight.shape, weight.dtype))

    def compute(run: Run, self: Instance) -> None:
        g, v = attribute(run, self, f"{name}_g"), attribute(run, self, f"{name}_v")
        self.attributes[name] = apply(run, Broadcast("weight_norm"), v, g, function="weight_norm")

    compute_shape(run, module, name, weight)
    add_hook(run, module, compute)
    return module


def compute_shape(run: Run, module: Instance, name: str, weight: Weight) -> None:
    """Until the first call the plain attribute has the weight's shape."""
    run.changed(module)
    module.attributes[name] = Tensor(weight.shape, weight.dtype)


def spectral_norm(
    run: Run, module: Value, name: Value = "weight", n_power_iterations: Value = 1, eps: Value = 1e-12,
    dim: Value = None,
) -> Value:  # fmt: skip
    """`name` becomes `name_orig` with buffers `name_u` and `name_v`; the weight is divided ahead of each call."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    weight = take(run, module, name)
    if weight is None:
        return module
    put(run, module, "_parameters", f"{name}_orig", empty_weight(run, weight.shape, weight.dtype))
    vectors(run, module, weight, f"{name}_u", f"{name}_v", dim if isinstance(dim, int) else default_axis(module))

    def compute(run: Run, self: Instance) -> None:
        original = attribute(run, self, f"{name}_orig")
        self.attributes[name] = apply(run, Elementwise("scale"), original, function="spectral_norm")

    compute_shape(run, module, name, weight)
    add_hook(run, module, compute)
    return module


def default_axis(module: Instance) -> int:
    """Transposed convolutions have their outputs on axis 1."""
    return 1 if any(cls.name.startswith("ConvTranspose") for cls in module.cls.mro) else 0


def vectors(run: Run, module: Instance, weight: Weight, first: str, second: str, axis: int) -> None:
    """The two singular vectors that power iteration keeps as buffers."""
    if isinstance(weight.shape, Unknown) or not weight.shape:
        return
    rows = weight.shape[axis]
    columns = product(size for at, size in enumerate(weight.shape) if at != axis)
    put(run, module, "_buffers", first, empty_weight(run, (rows,), weight.dtype, buffer=True))
    put(run, module, "_buffers", second, empty_weight(run, (columns,), weight.dtype, buffer=True))


def remove_norm(run: Run, module: Value, name: Value = "weight") -> Value:
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
    module.attributes.pop(PRE_HOOKS, None)
    put(run, module, "_parameters", name, empty_weight(run, original.shape, original.dtype))
    return module


PARAMETRIZED_MEMBERS = Members()
PARAMETRIZATION_LIST = Class(
    "ParametrizationList", (MODULE,), PARAMETRIZED_MEMBERS, module="torch.nn.utils.parametrize"
)


def parametrised(run: Run, module: Instance, name: str) -> Instance | None:
    """The ParametrizationList under `module.parametrizations.name`, with the parameter moved to `original`."""
    weight = take(run, module, name)
    if weight is None:
        return None
    holder = stored(module, "_modules").get("parametrizations")
    if not isinstance(holder, Instance):
        from flake8_cnnmem.frameworks.torch.containers import MODULE_DICT

        holder = Instance(MODULE_DICT)
        init_module(run, holder)
        put(run, module, "_modules", "parametrizations", holder)
    made = Instance(PARAMETRIZATION_LIST)
    init_module(run, made)
    put(run, holder, "_modules", name, made)
    compute_shape(run, module, name, weight)
    made.native = weight
    return made


def parametrised_weight_norm(run: Run, module: Value, name: Value = "weight", dim: Value = 0) -> Value:
    """torch.nn.utils.parametrizations.weight_norm: `original0` (magnitude) and `original1` (direction)."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    made = parametrised(run, module, name)
    if made is None:
        return module
    weight: Weight = made.native
    g = empty_weight(run, magnitude_shape(weight, dim), weight.dtype)
    v = empty_weight(run, weight.shape, weight.dtype)
    put(run, made, "_parameters", "original0", g)
    put(run, made, "_parameters", "original1", v)

    def compute(run: Run, self: Instance) -> None:
        self.attributes[name] = apply(run, Broadcast("weight_norm"), v, g, function="weight_norm")

    add_hook(run, module, compute)
    return module


def parametrised_spectral_norm(
    run: Run, module: Value, name: Value = "weight", n_power_iterations: Value = 1, eps: Value = 1e-12,
    dim: Value = None,
) -> Value:  # fmt: skip
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    made = parametrised(run, module, name)
    if made is None:
        return module
    weight: Weight = made.native
    original = empty_weight(run, weight.shape, weight.dtype)
    put(run, made, "_parameters", "original", original)
    inner = Instance(MODULE)
    init_module(run, inner)
    vectors(run, inner, weight, "_u", "_v", dim if isinstance(dim, int) else default_axis(module))
    put(run, made, "_modules", "0", inner)

    def compute(run: Run, self: Instance) -> None:
        self.attributes[name] = apply(run, Elementwise("scale"), original, function="spectral_norm")

    add_hook(run, module, compute)
    return module


def register_parametrization(
    run: Run, module: Value, tensor_name: Value, parametrization: Value, *, unsafe: Value = False
) -> Value:
    """A user's own parametrisation: its forward computes the weight ahead of each call."""
    if not isinstance(module, Instance) or not isinstance(tensor_name, str):
        return module
    made = parametrised(run, module, tensor_name)
    if made is None:
        return module
    weight: Weight = made.native
    original = empty_weight(run, weight.shape, weight.dtype)
    put(run, made, "_parameters", "original", original)
    put(run, made, "_modules", "0", parametrization)

    def compute(run: Run, self: Instance) -> None:
        self.attributes[tensor_name] = run.call(parametrization, original)

    add_hook(run, module, compute)
    return module


def orthogonal(
    run: Run, module: Value, name: Value = "weight", orthogonal_map: Value = None, *,
    use_trivialization: Value = True,
) -> Value:  # fmt: skip
    return module


def clip(run: Run, parameters: Value, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("gradients are not computed")


def to_vector(run: Run, parameters: Value, param_device: Value = None) -> Value:
    items = run.items(parameters)
    if isinstance(items, Unknown):
        return items
    from flake8_cnnmem.frameworks.torch.joining import cat
    from flake8_cnnmem.frameworks.torch.shapes import flatten

    return cat(run, [flatten(run, tensor_of(item)) for item in items])


def fuse_conv_bn_eval(run: Run, conv: Value, bn: Value, transpose: Value = False) -> Value:
    """A convolution with a bias that stands for both."""
    if isinstance(conv, Instance) and stored(conv, "_parameters").get("bias") is None:
        weight = stored(conv, "_parameters").get("weight")
        if isinstance(weight, Weight) and isinstance(weight.shape, tuple):
            put(run, conv, "_parameters", "bias", make_parameter(run, Tensor(weight.shape[:1]), False))
    return conv


def skip_init(run: Run, module_cls: Value, *args: Value, **kwargs: Value) -> Value:
    return run.call(module_cls, *args, **kwargs)


def natives(table: dict[str, Callable[..., Value]]) -> dict[str, Value]:
    return {name: Native(name, function, absorb=False) for name, function in table.items()}


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
PARAMETRIZATIONS = natives(
    {
        "weight_norm": parametrised_weight_norm,
        "spectral_norm": parametrised_spectral_norm,
        "orthogonal": orthogonal,
    }
)
PARAMETRIZE = natives(
    {
        "register_parametrization": register_parametrization,
        "remove_parametrizations": lambda run, module, tensor_name, leave_parametrized=True: module,
        "is_parametrized": lambda run, module, tensor_name=None: (
            isinstance(module, Instance) and "parametrizations" in stored(module, "_modules")
        ),
    }
)
