"""What torch/optim/optimizer.py and torch/utils/_foreach_utils.py have that optimizers written like torch's own call.

By their source in torch 2.13. Parameters are on a GPU: the multi-tensor (foreach) form is the default.
"""

from __future__ import annotations

import math

from flake8_cnnmem.frameworks.torch.dtypes import DTYPES, GPU
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Value, native


def fused_or_foreach(run: Runtime, params: Value, differentiable: Value, use_fused: Value = False) -> Value:
    """`_default_to_fused_or_foreach`: (fused, foreach)."""
    if run.truth(differentiable) is not False:
        return False, False
    return use_fused, run.truth(use_fused) is not True


def value_of(run: Runtime, x: Value) -> Value:
    """A number, for one tensor of which it is not known."""
    return run.call(run.get(x, "item")) if isinstance(x, Tensor) else x


def root(run: Runtime, x: Value) -> Value:
    """`_dispatch_sqrt(x)`: the square root of a tensor or a number."""
    if isinstance(x, Tensor):
        return run.call(run.get(x, "sqrt"))
    return math.sqrt(x) if isinstance(x, (int, float)) else x


def given_back(run: Runtime, function: Value, *args: Value, **kwargs: Value) -> Value:
    """A decorator that gives its function back."""
    return function


def decorator(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """A decorator with arguments that gives its function back."""
    return native("decorator", given_back)


def grouped(run: Runtime, tensorlistlist: Value, with_indices: Value = False) -> Value:
    """Lists of tensors in groups of one device and dtype, by those of the first list."""
    lists = run.items(tensorlistlist)
    if isinstance(lists, Unknown) or not lists:
        return lists if isinstance(lists, Unknown) else {}
    columns: list[list[Value]] = []
    for each in lists:
        column = run.items(each)
        if isinstance(column, Unknown):
            return column
        columns.append(column)
    found: dict[Value, tuple[list[list[Value]], list[int]]] = {}
    for at, tensor in enumerate(columns[0]):
        dtype = DTYPES.get(tensor.dtype) if isinstance(tensor, Tensor) else None
        key = (GPU, dtype)
        held, indices = found.setdefault(key, ([[] for _ in columns], []))
        indices.append(at)
        for column, into in zip(columns, held, strict=True):
            if column:
                into.append(column[at])
    return found


def grouped_by(run: Runtime, cls: Value, tensorlistlist: Value, with_indices: Value = False) -> Value:
    """`Optimizer._group_tensors_by_device_and_dtype(lists)`: as `grouped`."""
    return grouped(run, tensorlistlist, with_indices)


REQUIRED = Instance(Class("_RequiredParameter", module="torch.optim.optimizer"))
"""What stands for an option that has to be given."""

PRIVATES: dict[str, Value] = {
    "required": REQUIRED,
    "_default_to_fused_or_foreach": native("_default_to_fused_or_foreach", fused_or_foreach),
    "_get_value": native("_get_value", value_of),
    "_to_scalar": native("_to_scalar", given_back),
    "_stack_if_compiling": native("_stack_if_compiling", given_back),
    "_dispatch_sqrt": native("_dispatch_sqrt", root),
    "_view_as_real": native("_view_as_real", lambda run, *args: None),
    "_get_scalar_dtype": native("_get_scalar_dtype", lambda run, is_fused=None: DTYPES["float32"]),
    "_use_grad_for_differentiable": native("_use_grad_for_differentiable", given_back),
    "_disable_dynamo_if_unsupported": native("_disable_dynamo_if_unsupported", decorator),
    "_get_capturable_supported_devices": native("_get_capturable_supported_devices", lambda run, *args: ["cuda"]),
    **{
        f"_{name}_doc": ""
        for name in ("params", "foreach", "capturable", "maximize", "differentiable", "fused", "nesterov", "closure")
    },
}

FOREACH_UTILITIES: dict[str, Value] = {
    "_group_tensors_by_device_and_dtype": native("_group_tensors_by_device_and_dtype", grouped),
    "_get_foreach_kernels_supported_devices": native(
        "_get_foreach_kernels_supported_devices", lambda run: ["cuda", "xpu"]
    ),
    "_get_fused_kernels_supported_devices": native("_get_fused_kernels_supported_devices", lambda run: ["cuda"]),
    "_device_has_foreach_support": native("_device_has_foreach_support", lambda run, device: True),
    "_has_foreach_support": native("_has_foreach_support", lambda run, tensors, device: True),
}

GROUPING = ClassMethod(native("_group_tensors_by_device_and_dtype", grouped_by))
