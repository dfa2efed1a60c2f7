"""Signatures that torch has deprecated and still takes: the factor first, `x.add_(-lr, d)`, `x.addcmul_(1 - b, g, g)`.

By torch/csrc/autograd's python_arg_parser: `add(Number alpha, Tensor other)`, `addcmul(Number value, Tensor tensor1,
Tensor tensor2)` and their like.
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.frameworks.torch.registry import METHODS, TORCH
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Native, Value


def factor_first(function: Callable[..., Value], tensors: int, word: str) -> Callable[..., Value]:
    """The function, taking its factor in front of its tensors as well."""

    def called(run: Runtime, input: Value, *args: Value, **kwargs: Value) -> Value:
        if len(args) == tensors + 1 and not isinstance(args[0], Tensor) and isinstance(args[1], Tensor):
            kwargs[word] = args[0]
            args = args[1:]
        return function(run, input, *args, **kwargs)

    return called


for _table in (METHODS, TORCH):
    for _names, _tensors, _word in (
        ("add add_ sub sub_", 1, "alpha"),
        ("addcmul addcmul_ addcdiv addcdiv_", 2, "value"),
    ):
        for _name in _names.split():
            _native = _table.get(_name)
            if isinstance(_native, Native):
                _table[_name] = Native(_name, factor_first(_native.function, _tensors, _word), propagate_unknown=False)
