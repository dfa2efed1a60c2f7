"""Deep copies of modules, as `copy.deepcopy` makes them: every module and weight anew, sharing kept."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from flake8_cnnmem.frameworks.torch.applying import is_trained
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.parameter_values import owner
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Bound, Instance, Value

NOT_LEAVES = "weights that are computed before their layer is called"
"""Scratch of the run: tensors, by id, that stand for what parameters were computed to, with a graph behind it."""


def refuse_copy(run: Runtime, tensor: Tensor) -> None:
    """RuntimeError for a deep copy of what a graph leads to (`Tensor.__deepcopy__` of torch/_tensor.py)."""
    computed = tensor.call is not None and tensor.call.grad and is_trained(run, tensor)
    if (computed and not isinstance(tensor, Weight)) or id(tensor) in run.data(NOT_LEAVES):
        what = "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment."
        raise run.error("RuntimeError", what)


def deep_copy(value: Value, memo: dict[int, Value] | None = None) -> Value:
    """A copy of modules, weights and the containers that hold them; other values are shared."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    made: Any = value
    value = owner(value)
    if isinstance(value, Weight):
        made = Weight(
            value.shape, value.dtype, data=value.data, name=value.name, trainable=value.trainable,
            buffer=value.buffer, site=value.site, moved=value.moved, channels_last=value.channels_last,
        )  # fmt: skip
        memo[id(value)] = made
    elif isinstance(value, Tensor):
        made = value
    elif isinstance(value, Instance):
        made = Instance(value.cls, {}, value.payload, value.native, value.site)
        memo[id(value)] = made
        made.attributes.update({name: deep_copy(item, memo) for name, item in value.attributes.items()})
    elif isinstance(value, (dict, OrderedDict)):
        made = type(value)()
        memo[id(value)] = made
        made.update({name: deep_copy(item, memo) for name, item in value.items()})
    elif isinstance(value, list):
        made = []
        memo[id(value)] = made
        made.extend(deep_copy(item, memo) for item in value)
    elif isinstance(value, Bound) and isinstance(value.receiver, Instance):
        # Hooks that are methods of what is copied are methods of the copy.
        made = Bound(value.function, deep_copy(value.receiver, memo))
    elif type(value) is tuple:
        made = tuple(deep_copy(item, memo) for item in value)
    return made
