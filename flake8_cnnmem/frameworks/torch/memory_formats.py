"""`torch.channels_last` and its like: in which order the axes of a tensor lie in memory."""

from __future__ import annotations

from collections.abc import Iterable

from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.strides import is_row_major
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

FORMATS: dict[str, Value] = {
    name: Native(name, lambda run: None)
    for name in ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")
}
RANKS = {"channels_last": 4, "channels_last_3d": 5}
"""The axes of what lies so."""


def asked(values: Iterable[Value]) -> str:
    """The name of the format among the arguments of `to` and its like, or ""."""
    found = (value.name for value in values if isinstance(value, Native))
    return next((name for name in found if name in FORMATS), "")


def laid_out(run: Runtime, tensor: Value, name: str, function: str) -> Value:
    """A tensor in this format: a copy unless it lies so. Only maps have channels that run fastest."""
    if not isinstance(tensor, Tensor) or isinstance(tensor.shape, Unknown):
        return tensor
    if isinstance(tensor, Weight):
        mark(tensor, name)
        return tensor
    if RANKS.get(name) == len(tensor.shape):
        return apply(run, Elementwise("channels_last"), tensor, function=function)
    if name == "contiguous_format" and tensor.call is not None and not is_row_major(tensor):
        return apply(run, Elementwise("contiguous"), tensor, function=function)
    return tensor


def mark(weight: Weight, name: str) -> None:
    """A parameter or buffer lies in this format from now on."""
    if name in RANKS and not isinstance(weight.shape, Unknown) and len(weight.shape) == RANKS[name]:
        weight.channels_last = True
    elif name == "contiguous_format":
        weight.channels_last = False
