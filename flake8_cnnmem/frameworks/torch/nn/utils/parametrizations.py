"""torch.nn.utils.parametrize and parametrizations: a property in a parameter's place, which computes it whenever it is
read. What is computed from lies below `module.parametrizations.name`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_cnnmem.frameworks.torch.autograd.regions import nothing, region, unchanged
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.functional.normalization import normalize
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE, put, stored
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.frameworks.torch.nn.modules.module_dict import MODULE_DICT
from flake8_cnnmem.frameworks.torch.nn.parameter import empty_weight, weight_like
from flake8_cnnmem.frameworks.torch.nn.utils.weight_norm import (
    default_axis,
    divided,
    magnitude_shape,
    natives,
    normed,
    take,
    vectors,
)
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops.derivative import NotDerived
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Property, Value

LIST_MEMBERS = Members()
LIST = Class("ParametrizationList", (MODULE,), LIST_MEMBERS, module="torch.nn.utils.parametrize")
COMPUTED = "parametrised weights"
"""Scratch of the run: how many `cached()` are open, and what was computed since."""


def list_of(module: Value, name: str) -> Instance | None:
    """The ParametrizationList of a parameter, if it has one."""
    holder = stored(module, "_modules").get("parametrizations") if isinstance(module, Instance) else None
    found = stored(holder, "_modules").get(name) if isinstance(holder, Instance) else None
    return found if isinstance(found, Instance) else None


def add(run: Runtime, module: Instance, name: str, step: Instance) -> bool:
    """Put a parametrisation on a parameter, behind those that it has. False where there is no such parameter."""
    made = list_of(module, name)
    if made is None:
        weight = take(run, module, name)
        if weight is None:
            return False
        holder = stored(module, "_modules").get("parametrizations")
        if not isinstance(holder, Instance):
            holder = Instance(MODULE_DICT)
            init_module(run, holder)
            put(run, module, "_modules", "parametrizations", holder)
        made = Instance(LIST)
        init_module(run, made)
        put(run, holder, "_modules", name, made)
        for word, original in originals(run, step, weight):
            put(run, made, "_parameters", word, original)
        read = Native("__get__", reader(name), propagate_unknown=False)
        run.changed(module)
        module.cls = Class(f"Parametrized{own_name(module.cls)}", (module.cls,), {name: Property(read)})
    put(run, made, "_modules", str(len(stored(made, "_modules"))), step)
    return True


def own_name(cls: Class) -> str:
    """The name of a class before its instance was parametrized."""
    return cls.name.removeprefix("Parametrized")


def originals(run: Runtime, step: Instance, weight: Weight) -> list[tuple[str, Weight]]:
    """What the parameter is computed from: as large as it is, or what the step's `right_inverse` makes of it."""
    inverse = run.find(step, "right_inverse")
    given: Value = weight
    if inverse is not MISSING:
        records, run.grad_enabled = run.grad_enabled, False
        given = run.call(inverse, weight)
        run.grad_enabled = records

    def made(value: Value) -> Weight:
        tensor = value if isinstance(value, Tensor) else weight
        new = weight_like(run, weight, tensor.shape)
        new.trainable = weight.trainable
        return new

    if isinstance(given, (tuple, list)):
        return [(f"original{at}", made(each)) for at, each in enumerate(given)]
    if isinstance(given, Tensor) and given.shape == weight.shape:
        # The parameter itself, for whoever else has it: `ParametrizationList.__init__` sets its values.
        return [("original", weight)]
    return [("original", made(given))]


def reader(name: str) -> Callable[[Runtime, Instance], Value]:
    """What reads the parameter: each step in turn, from the originals on."""

    def read(run: Runtime, self: Instance) -> Value:
        cache = run.data(COMPUTED)
        key = id(self), name
        if cache.get("open", 0) and key in cache:
            return cache[key]
        found = list_of(self, name)
        if found is None:
            return run.unknown(f"the parametrisation of {name} is not known")
        values: list[Value] = list(stored(found, "_parameters").values())
        for step in list(stored(found, "_modules").values()):
            values = [run.call(step, *values)]
        if cache.get("open", 0):
            cache[key] = values[0]
        return values[0]

    return read


def step_of(name: str, forward: Callable[..., Value], **members: Callable[..., Value]) -> Class:
    """The class of one of torch's own parametrisations."""
    return Class(
        name,
        (MODULE,),
        {
            word: Native(word, function, propagate_unknown=False)
            for word, function in {"forward": forward, **members}.items()
        },
        module="torch.nn.utils.parametrizations",
    )


def made_step(run: Runtime, cls: Class, **held: Value) -> Instance:
    """A module that is one parametrization, with these attributes."""
    step = Instance(cls)
    init_module(run, step)
    step.attributes.update(held)
    return step


def norm_forward(run: Runtime, self: Instance, weight_g: Value, weight_v: Value) -> Value:
    """A weight of its magnitude and its direction."""
    return normed(run, weight_v, weight_g, self.attributes.get("dim"))


def norm_inverse(run: Runtime, self: Instance, weight: Value) -> Value:
    """The magnitude and direction of a weight."""
    assert isinstance(weight, Weight)
    return Tensor(magnitude_shape(weight, self.attributes.get("dim")), weight.dtype), weight


WEIGHT_NORM = step_of("_WeightNorm", norm_forward, right_inverse=norm_inverse)


def weight_norm(run: Runtime, module: Value, name: Value = "weight", dim: Value = 0) -> Value:
    """`original0`, the magnitude, and `original1`, the direction."""
    if isinstance(module, Instance) and isinstance(name, str):
        add(run, module, name, made_step(run, WEIGHT_NORM, dim=-1 if dim is None else dim))
    return module


def spectral_forward(run: Runtime, self: Instance, weight: Value) -> Value:
    """A weight divided by its largest singular value; while training the vectors for it are improved first."""
    u, v = stored(self, "_buffers").get("_u"), stored(self, "_buffers").get("_v")
    if u is None or v is None:
        return normalize(run, weight, dim=0)
    trains = self.attributes.get("training") is not False
    iterations = self.attributes.get("n_power_iterations") if trains else 0
    return divided(run, weight, u, v, self.attributes["dim"], iterations, True)


SPECTRAL_NORM = step_of("_SpectralNorm", spectral_forward)


def spectral_norm(
    run: Runtime, module: Value, name: Value = "weight", n_power_iterations: Value = 1, eps: Value = 1e-12,
    dim: Value = None,
) -> Value:  # fmt: skip
    """The weight by its largest singular value; `0._u` and `0._v` are buffers. A vector is divided by its norm."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    weight = attribute(run, module, name)
    axis = dim if isinstance(dim, int) else default_axis(module)
    step = made_step(run, SPECTRAL_NORM, dim=axis, n_power_iterations=n_power_iterations)
    if isinstance(weight, Weight) and isinstance(weight.shape, tuple) and len(weight.shape) > 1:
        vectors(run, step, weight, "_u", "_v", axis)
    add(run, module, name, step)
    return module


def orthogonal_forward(run: Runtime, self: Instance, weight: Value) -> Value:
    """An orthogonal weight of the same shape; what it keeps for the backward pass is not known."""
    cause = run.unknown("what an orthogonal parametrisation keeps for the backward pass")
    if not isinstance(weight, Tensor):
        return cause
    return run.apply(NotDerived(weight.shape, cause), weight, function="orthogonal", weights=(weight,))


ORTHOGONAL = step_of("_Orthogonal", orthogonal_forward)


def orthogonal(
    run: Runtime, module: Value, name: Value = "weight", orthogonal_map: Value = None, *,
    use_trivialization: Value = True,
) -> Value:  # fmt: skip
    """Its maps (a matrix exponential, Cayley's, Householder's products) are computed by kernels of their own."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    weight, step = attribute(run, module, name), made_step(run, ORTHOGONAL)
    if use_trivialization is not False and isinstance(weight, Tensor) and isinstance(weight.shape, tuple):
        *batch, rows, columns = (1, 1, *weight.shape)[-max(2, len(weight.shape)) :]
        if isinstance(rows, int) and isinstance(columns, int):
            side = max(rows, columns)
            put(run, step, "_buffers", "base", empty_weight(run, (*batch, side, side), weight.dtype, buffer=True))
    add(run, module, name, step)
    return module


def register(
    run: Runtime, module: Value, tensor_name: Value, parametrization: Value, *, unsafe: Value = False
) -> Value:
    """A user's own parametrisation: its forward computes the weight whenever it is read."""
    if isinstance(module, Instance) and isinstance(tensor_name, str) and isinstance(parametrization, Instance):
        add(run, module, tensor_name, parametrization)
    return module


def remove(run: Runtime, module: Any, tensor_name: Value, leave_parametrized: Value = True) -> Value:
    """A plain parameter again: with the computed values, or the original ones."""
    found = list_of(module, tensor_name) if isinstance(tensor_name, str) else None
    if found is None or not isinstance(module, Instance) or not isinstance(tensor_name, str):
        return module
    first = next(iter(stored(found, "_parameters").values()), None)
    records, run.grad_enabled = run.grad_enabled, False
    value = first if leave_parametrized is False else attribute(run, module, tensor_name)
    run.grad_enabled = records
    holder = stored(module, "_modules")["parametrizations"]
    run.changed(stored(holder, "_modules"))
    del stored(holder, "_modules")[tensor_name]
    run.changed(module)
    module.cls = without(module.cls, tensor_name)
    if not stored(holder, "_modules"):
        run.changed(stored(module, "_modules"))
        del stored(module, "_modules")["parametrizations"]
    if isinstance(value, Tensor):
        if isinstance(first, Weight) and first.shape == value.shape and len(stored(found, "_parameters")) == 1:
            left = first
        elif isinstance(first, Weight):
            left = weight_like(run, first, value.shape)
            left.trainable = first.trainable
        else:
            left = empty_weight(run, value.shape, value.dtype)
        put(run, module, "_parameters", tensor_name, left)
    return module


def without(cls: Class, name: str) -> Class:
    """The class as it was before a parameter became a property."""
    if not cls.bases or not cls.name.startswith("Parametrized"):
        return cls
    if name in cls.namespace:
        return cls.bases[0]
    inner = without(cls.bases[0], name)
    return Class(cls.name, (inner,), dict(cls.namespace))


def is_parametrized(run: Runtime, module: Value, tensor_name: Value = None) -> Value:
    """`is_parametrized(module, tensor_name)`: whether this tensor of it has a parametrization, or any."""
    if tensor_name is None:
        return isinstance(module, Instance) and "parametrizations" in stored(module, "_modules")
    return isinstance(tensor_name, str) and list_of(module, tensor_name) is not None


CACHED = region("cached", nothing, unchanged)
"""While it is open each parameter is computed once."""


def enter_cache(run: Runtime, self: Instance) -> Value:
    """`with parametrize.cached()`: from here on each weight is computed once."""
    cache = run.data(COMPUTED)
    cache["open"] = cache.get("open", 0) + 1
    return self


def leave_cache(run: Runtime, self: Instance, *exception: Value) -> Value:
    """The end of `with parametrize.cached()`: what was computed is dropped."""
    cache = run.data(COMPUTED)
    left = cache.get("open", 1) - 1
    if left <= 0:
        cache.clear()
    else:
        cache["open"] = left
    return None


CACHED.namespace["__enter__"] = Native("__enter__", enter_cache, propagate_unknown=False)
CACHED.namespace["__exit__"] = Native("__exit__", leave_cache, propagate_unknown=False)

PARAMETRIZATIONS: dict[str, Value] = natives(
    {"weight_norm": weight_norm, "spectral_norm": spectral_norm, "orthogonal": orthogonal}
)
PARAMETRIZE: dict[str, Value] = {
    **natives(
        {
            "register_parametrization": register,
            "remove_parametrizations": remove,
            "is_parametrized": is_parametrized,
        }
    ),
    "cached": CACHED,
    "ParametrizationList": LIST,
}
