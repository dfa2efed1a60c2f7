"""torch.nn.functional's pooling functions."""

from __future__ import annotations

from typing import cast

from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.arguments import ntuple, per_axis, size
from flake8_cnnmem.frameworks.torch.registry import define
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import AdaptivePool, FractionalMaxPool, MaxUnpool, Pool
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value


def with_indices(run: Runtime, op: Pool | AdaptivePool | FractionalMaxPool, input: Value, function: str) -> Value:
    """A pool whose second result are the places of the maxima, int64."""
    dtype = input.dtype if isinstance(input, Tensor) else "float"
    return apply(run, op, input, function=function, dtypes=(dtype, "int64") if op.indices else (dtype,))


def pool(
    run: Runtime,
    function: str,
    mode: str,
    rank: int,
    input: Value,
    kernel_size: Value,
    stride: Value,
    padding: Value = 0,
    dilation: Value = 1,
    ceil_mode: Value = False,
    indices: Value = False,
) -> Value:
    """A sliding window. Without a stride (None, or an empty tuple) it is the kernel's size."""
    step = None if stride is None or stride == () or stride == [] else per_axis(stride, rank)
    op = Pool(
        mode,
        per_axis(kernel_size, rank),
        step,
        per_axis(padding, rank),
        per_axis(dilation, rank),
        ceil_mode is True,
        indices=indices is True,
    )
    return with_indices(run, op, input, function)


def adaptive(
    run: Runtime, function: str, mode: str, rank: int, input: Value, target: Value, indices: Value = False
) -> Value:
    """(N, C, sides) to (N, C, target), a None in the target keeping its side."""
    sizes = tuple(None if item is None else size(item) for item in ntuple(target, rank))
    if len(sizes) == 1:
        sizes *= rank
    return with_indices(run, AdaptivePool(mode, sizes, indices=indices is True), input, function)


def _declare(rank: int) -> None:
    maximum, average, power = f"max_pool{rank}d", f"avg_pool{rank}d", f"lp_pool{rank}d"

    def max_pool(
        run: Runtime,
        input: Value,
        kernel_size: Value,
        stride: Value = None,
        padding: Value = 0,
        dilation: Value = 1,
        ceil_mode: Value = False,
        return_indices: Value = False,
    ) -> Value:
        return pool(run, maximum, "max", rank, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)

    def max_pool_with_indices(
        run: Runtime,
        input: Value,
        kernel_size: Value,
        stride: Value = None,
        padding: Value = 0,
        dilation: Value = 1,
        ceil_mode: Value = False,
        return_indices: Value = False,
    ) -> Value:
        return pool(run, maximum, "max", rank, input, kernel_size, stride, padding, dilation, ceil_mode, True)

    def torch_max_pool(
        run: Runtime,
        input: Value,
        kernel_size: Value,
        stride: Value = (),
        padding: Value = 0,
        dilation: Value = 1,
        ceil_mode: Value = False,
    ) -> Value:
        return pool(run, maximum, "max", rank, input, kernel_size, stride, padding, dilation, ceil_mode)

    def avg_pool(
        run: Runtime,
        input: Value,
        kernel_size: Value,
        stride: Value = None,
        padding: Value = 0,
        ceil_mode: Value = False,
        count_include_pad: Value = True,
        divisor_override: Value = None,
    ) -> Value:
        return pool(run, average, "average", rank, input, kernel_size, stride, padding, 1, ceil_mode)

    def avg_pool_of_lines(
        run: Runtime,
        input: Value,
        kernel_size: Value,
        stride: Value = (),
        padding: Value = 0,
        ceil_mode: Value = False,
        count_include_pad: Value = True,
    ) -> Value:
        return pool(run, average, "average", rank, input, kernel_size, stride, padding, 1, ceil_mode)

    def lp_pool(
        run: Runtime,
        input: Value,
        norm_type: Value,
        kernel_size: Value,
        stride: Value = None,
        ceil_mode: Value = False,
    ) -> Value:
        return pool(run, power, "lp", rank, input, kernel_size, stride, 0, 1, ceil_mode)

    define(f"functional.{maximum}")(max_pool)
    define(f"functional.{maximum}_with_indices")(max_pool_with_indices)
    define(f"torch.{maximum}")(torch_max_pool)
    define(f"functional.{average}", *(["torch.avg_pool1d"] if rank == 1 else []))(
        avg_pool_of_lines if rank == 1 else avg_pool
    )
    define(f"functional.{power}")(lp_pool)

    def adaptive_avg_pool(run: Runtime, input: Value, output_size: Value) -> Value:
        return adaptive(run, f"adaptive_avg_pool{rank}d", "average", rank, input, output_size)

    def adaptive_max_pool(run: Runtime, input: Value, output_size: Value, return_indices: Value = False) -> Value:
        return adaptive(run, f"adaptive_max_pool{rank}d", "max", rank, input, output_size, return_indices)

    def adaptive_max_pool_with_indices(
        run: Runtime, input: Value, output_size: Value, return_indices: Value = False
    ) -> Value:
        return adaptive(run, f"adaptive_max_pool{rank}d", "max", rank, input, output_size, True)

    define(f"functional.adaptive_avg_pool{rank}d", *(["torch.adaptive_avg_pool1d"] if rank == 1 else []))(
        adaptive_avg_pool
    )
    define(f"functional.adaptive_max_pool{rank}d")(adaptive_max_pool)
    define(f"functional.adaptive_max_pool{rank}d_with_indices")(adaptive_max_pool_with_indices)

    def max_unpool(
        run: Runtime,
        input: Value,
        indices: Value,
        kernel_size: Value,
        stride: Value = None,
        padding: Value = 0,
        output_size: Value = None,
    ) -> Value:
        return unpool(run, rank, input, indices, kernel_size, stride, padding, output_size)

    define(f"functional.max_unpool{rank}d")(max_unpool)


def unpool(
    run: Runtime,
    rank: int,
    input: Value,
    indices: Value,
    kernel_size: Value,
    stride: Value,
    padding: Value,
    output_size: Value,
) -> Value:
    """(N, C, sides) to the sides before a max pool, by its indices."""
    target = None
    if isinstance(output_size, (list, tuple)):
        target = tuple(size(item) for item in output_size[-rank:])
    step = None if stride is None else per_axis(stride, rank)
    op = MaxUnpool(per_axis(kernel_size, rank), step, per_axis(padding, rank), target)
    return apply(run, op, input, indices, function=f"max_unpool{rank}d")


for _rank in (1, 2, 3):
    _declare(_rank)


def fractional(
    run: Runtime, rank: int, input: Value, kernel_size: Value, output_size: Value, output_ratio: Value, indices: Value
) -> Value:
    """(N, C, sides) to (N, C, size), or to each side times its ratio."""
    target = None if output_size is None else per_axis(output_size, rank)
    # Of a wrong kind it is found by the op.
    ratio = None if output_ratio is None else cast("tuple[float, ...]", ntuple(output_ratio, rank))
    op = FractionalMaxPool(per_axis(kernel_size, rank), target, ratio, indices=indices is True)
    return with_indices(run, op, input, f"fractional_max_pool{rank}d")


def _declare_fractional(rank: int) -> None:
    def fractional_max_pool(
        run: Runtime,
        input: Value,
        kernel_size: Value,
        output_size: Value = None,
        output_ratio: Value = None,
        return_indices: Value = False,
        _random_samples: Value = None,
    ) -> Value:
        return fractional(run, rank, input, kernel_size, output_size, output_ratio, return_indices)

    define(f"functional.fractional_max_pool{rank}d")(fractional_max_pool)


for _rank in (2, 3):
    _declare_fractional(_rank)
