"""Deep copies of modules, as `copy.deepcopy` makes them: every module and weight anew, sharing kept."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.parameter_values import owner
from flake8_cnnmem.values import Bound, Instance, Value


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
