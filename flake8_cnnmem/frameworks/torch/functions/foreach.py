"""torch._foreach_*: an op over each tensor of a list, as `torch.optim`'s multi-tensor steps write it.

Each is the op of the same name on one tensor after the other; what it makes for all of them lives at once because the
list holds it.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.registry import METHODS, TORCH
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

NAMES = (
    "abs", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "ceil", "clamp_max", "clamp_min", "cos", "cosh", "div",
    "erf", "erfc", "exp", "expm1", "floor", "frac", "lerp", "lgamma", "log", "log10", "log1p", "log2", "max",
    "maximum", "minimum", "mul", "neg", "norm", "pow", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh",
    "sqrt", "sub", "tan", "tanh", "trunc",
)  # fmt: skip
IN_PLACE = [name for name in NAMES if name not in ("norm", "max")]


METHOD_OF = {"maximum_": "clamp_min_", "minimum_": "clamp_max_"}
"""What a tensor has no method of that name for."""


def over_each(method: str) -> Value:
    """A native that applies a tensor's method to each tensor of a list. Other lists go along, scalars count for all."""

    def function(run: Runtime, tensors: Value, *args: Value, **kwargs: Value) -> Value:
        given = run.items(tensors)
        if isinstance(given, Unknown):
            return given
        made: list[Value] = []
        for at, tensor in enumerate(given):
            own = [part_of(run, arg, at, len(given)) for arg in args]
            named = {word: part_of(run, arg, at, len(given)) for word, arg in kwargs.items()}
            if "ord" in named:
                named["p"] = named.pop("ord")
            if method in SCALED and len(own) == SCALED[method][0] + 1:
                named[SCALED[method][1]] = own.pop()
            made.append(run.call(run.get(tensor, METHOD_OF.get(method, method)), *own, **named))
        return None if method.endswith("_") else made

    return Native(f"_foreach_{method}", function, propagate_unknown=False)


def part_of(run: Runtime, arg: Value, at: int, count: int) -> Value:
    """An argument for the tensor at a place: that of a list of as many, or the one for all."""
    if isinstance(arg, (list, tuple)) and len(arg) == count:
        return arg[at]
    return arg


SCALED = {
    "addcmul": (2, "value"), "addcmul_": (2, "value"), "addcdiv": (2, "value"), "addcdiv_": (2, "value"),
}  # fmt: skip
"""Methods that take by name what the multi-tensor form takes last."""


def copied(run: Runtime, tensors: Value, sources: Value, non_blocking: Value = False) -> Value:
    """`torch._foreach_copy_(tensors, sources)`: `copy_` for each pair."""
    into, given = run.items(tensors), run.items(sources)
    if isinstance(into, list) and isinstance(given, list):
        for tensor, source in zip(into, given, strict=False):
            run.call(run.get(tensor, "copy_"), source)
    return None


def emptied(run: Runtime, tensors: Value) -> Value:
    """`torch._foreach_zero_(tensors)`: `zero_` for each."""
    given = run.items(tensors)
    for tensor in given if isinstance(given, list) else ():
        if isinstance(tensor, Tensor):
            run.call(METHODS["zero_"], tensor)
    return None


for _name in NAMES:
    TORCH[f"_foreach_{_name}"] = over_each(_name)
for _name in IN_PLACE:
    TORCH[f"_foreach_{_name}_"] = over_each(f"{_name}_")
TORCH["_foreach_copy_"] = Native("_foreach_copy_", copied, propagate_unknown=False)
TORCH["_foreach_zero_"] = Native("_foreach_zero_", emptied, propagate_unknown=False)
