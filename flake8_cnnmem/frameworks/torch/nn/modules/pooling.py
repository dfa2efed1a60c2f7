"""torch.nn's pooling layers."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.frameworks.torch.arguments import ntuple
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.functional.pooling import adaptive, fractional, pool, unpool
from flake8_cnnmem.frameworks.torch.nn.layer import base_class, current, layer
from flake8_cnnmem.graph import Op
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Value

_MaxPoolNd = base_class("_MaxPoolNd", "pooling")
_AvgPoolNd = base_class("_AvgPoolNd", "pooling")
_LPPoolNd = base_class("_LPPoolNd", "pooling")
_MaxUnpoolNd = base_class("_MaxUnpoolNd", "pooling")
_AdaptiveMaxPoolNd = base_class("_AdaptiveMaxPoolNd", "pooling")
_AdaptiveAvgPoolNd = base_class("_AdaptiveAvgPoolNd", "pooling")

BASES = {
    cls.name: cls for cls in (_MaxPoolNd, _AvgPoolNd, _LPPoolNd, _MaxUnpoolNd, _AdaptiveMaxPoolNd, _AdaptiveAvgPoolNd)
}

UNUSED = Elementwise("identity")
"""The stubs below only declare signatures: each layer calls the pooling function itself."""


def default_stride(attributes: dict[str, Value]) -> None:
    """A pool without a stride steps by its window."""
    if attributes["stride"] is None:
        attributes["stride"] = attributes["kernel_size"]


def lines(*names: str) -> Callable[[dict[str, Value]], None]:
    """One-dimensional layers store their sizes as tuples of one."""

    def arrange(attributes: dict[str, Value]) -> None:
        default_stride(attributes)
        for name in names:
            attributes[name] = ntuple(attributes[name], 1)

    return arrange


def max_forward(rank: int) -> Callable[..., Value]:
    """The call of a max pool over so many axes, by the attributes that it has then."""

    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        kernel, stride, padding, dilation, ceil_mode, indices = current(
            run, self, "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices"
        )
        return pool(run, f"MaxPool{rank}d", "max", rank, input, kernel, stride, padding, dilation, ceil_mode, indices)

    return forward


def average_forward(rank: int) -> Callable[..., Value]:
    """The call of an average pool over so many axes, by the attributes that it has then."""

    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        kernel, stride, padding, ceil_mode = current(run, self, "kernel_size", "stride", "padding", "ceil_mode")
        return pool(run, f"AvgPool{rank}d", "average", rank, input, kernel, stride, padding, 1, ceil_mode)

    return forward


def power_forward(rank: int) -> Callable[..., Value]:
    """The call of a power-average pool over so many axes."""

    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        kernel, stride, ceil_mode = current(run, self, "kernel_size", "stride", "ceil_mode")
        return pool(run, f"LPPool{rank}d", "lp", rank, input, kernel, stride, 0, 1, ceil_mode)

    return forward


def unpool_forward(rank: int) -> Callable[..., Value]:
    """The call of a max unpool over so many axes, on a map and its indices."""

    def forward(run: Runtime, self: Instance, input: Value, indices: Value, output_size: Value = None) -> Value:
        kernel, stride, padding = current(run, self, "kernel_size", "stride", "padding")
        return unpool(run, rank, input, indices, kernel, stride, padding, output_size)

    return forward


def adaptive_forward(rank: int, mode: str) -> Callable[..., Value]:
    """The call of an adaptive pool over so many axes, "max" or "average"."""
    name = f"Adaptive{'Max' if mode == 'max' else 'Avg'}Pool{rank}d"

    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        indices = self.attributes.get("return_indices", False)
        return adaptive(run, name, mode, rank, input, attribute(run, self, "output_size"), indices)

    return forward


def fractional_forward(rank: int) -> Callable[..., Value]:
    """The call of a fractional max pool over so many axes."""

    def forward(run: Runtime, self: Instance, input: Value) -> Value:
        kernel, size, ratio, indices = current(
            run, self, "kernel_size", "output_size", "output_ratio", "return_indices"
        )
        return fractional(run, rank, input, kernel, size, ratio, indices)

    return forward


def declare(stub: Callable[..., Op], name: str, base: Class | None, forward: Callable[..., Value],
            arrange: Callable[[dict[str, Value]], None] | None = None) -> Class:  # fmt: skip
    """One class of a family whose ranks share a signature."""

    def copy(*args: Value, **kwargs: Value) -> Op:
        return UNUSED

    copy.__name__ = name
    copy.__wrapped__ = stub  # type: ignore[attr-defined]
    bases = (base,) if base is not None else ()
    return layer("pooling", *bases, forward=forward, arrange=arrange, weighted=False)(copy)


def max_pool(
    kernel_size: Value, stride: Value = None, padding: Value = 0, dilation: Value = 1, return_indices: Value = False,
    ceil_mode: Value = False,
) -> Op:  # fmt: skip
    """The signature of nn.MaxPool1d, 2d and 3d; their calls make the op."""
    return UNUSED


def average_pool_of_lines(
    kernel_size: Value, stride: Value = None, padding: Value = 0, ceil_mode: Value = False,
    count_include_pad: Value = True,
) -> Op:  # fmt: skip
    """The signature of nn.AvgPool1d."""
    return UNUSED


def average_pool(
    kernel_size: Value, stride: Value = None, padding: Value = 0, ceil_mode: Value = False,
    count_include_pad: Value = True, divisor_override: Value = None,
) -> Op:  # fmt: skip
    """The signature of nn.AvgPool2d and 3d."""
    return UNUSED


def power_pool(norm_type: Value, kernel_size: Value, stride: Value = None, ceil_mode: Value = False) -> Op:
    """The signature of nn.LPPool1d, 2d and 3d."""
    return UNUSED


def max_unpool(kernel_size: Value, stride: Value = None, padding: Value = 0) -> Op:
    """The signature of nn.MaxUnpool1d, 2d and 3d."""
    return UNUSED


def adaptive_max_pool(output_size: Value, return_indices: Value = False) -> Op:
    """The signature of nn.AdaptiveMaxPool1d, 2d and 3d."""
    return UNUSED


def adaptive_average_pool(output_size: Value) -> Op:
    """The signature of nn.AdaptiveAvgPool1d, 2d and 3d."""
    return UNUSED


def fractional_max_pool(
    kernel_size: Value, output_size: Value = None, output_ratio: Value = None, return_indices: Value = False,
    _random_samples: Value = None,
) -> Op:  # fmt: skip
    """The signature of nn.FractionalMaxPool2d and 3d."""
    return UNUSED


for _rank in (1, 2, 3):
    declare(max_pool, f"MaxPool{_rank}d", _MaxPoolNd, max_forward(_rank), default_stride)
    if _rank == 1:
        declare(average_pool_of_lines, "AvgPool1d", _AvgPoolNd, average_forward(1),
                lines("kernel_size", "stride", "padding"))  # fmt: skip
    else:
        declare(average_pool, f"AvgPool{_rank}d", _AvgPoolNd, average_forward(_rank), default_stride)
    declare(power_pool, f"LPPool{_rank}d", _LPPoolNd, power_forward(_rank))
    declare(max_unpool, f"MaxUnpool{_rank}d", _MaxUnpoolNd, unpool_forward(_rank), default_stride)
    declare(adaptive_max_pool, f"AdaptiveMaxPool{_rank}d", _AdaptiveMaxPoolNd, adaptive_forward(_rank, "max"))
    declare(adaptive_average_pool, f"AdaptiveAvgPool{_rank}d", _AdaptiveAvgPoolNd, adaptive_forward(_rank, "average"))
    if _rank > 1:
        declare(fractional_max_pool, f"FractionalMaxPool{_rank}d", None, fractional_forward(_rank))
