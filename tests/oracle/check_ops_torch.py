"""Random cases for `check_ops.py`: each op beside the PyTorch call that it stands for.

A case is (op, input shapes, run, weights or None, whether the leading axis may be the batch).
Tensors are on the "meta" device, which computes shapes by the same code as the real ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from check_shapes_torch import merge_cases, shape_cases, shapes_of

from flake8_cnnmem import ops


def torch_cases(rng: random.Random) -> Iterator[tuple[Any, ...]]:
    """One random case of each kind."""
    import torch
    from torch import nn

    def zeros(shape: tuple[int, ...], dtype: Any = torch.float32) -> Any:
        return torch.zeros(shape, device="meta", dtype=dtype)

    def some(low: int, high: int, number: int) -> tuple[int, ...]:
        return tuple(rng.randint(low, high) for _ in range(number))

    def run(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Callable[[], tuple[tuple[int, ...], ...]]:
        return lambda: shapes_of(function(*(zeros(shape) for shape in shapes)))

    def layer(
        op: Any, make: Callable[[], Any], *shapes: tuple[int, ...], batched: bool = True, cpu: bool = False
    ) -> tuple[Any, ...]:
        made: list[Any] = []

        def call() -> tuple[tuple[int, ...], ...]:
            with torch.device("cpu" if cpu else "meta"):
                made[:] = [make()]
            device = "cpu" if cpu else "meta"
            return shapes_of(made[0](*(torch.zeros(shape, device=device) for shape in shapes)))

        def weights() -> list[tuple[int, ...]]:
            module = made[0]
            return [tuple(w.shape) for _, w in [*module.named_parameters(), *module.named_buffers()]]

        return op, shapes, call, weights, batched

    pick = rng.choice
    rank = rng.randint(1, 3)
    batch = rng.randint(2, 4)
    groups = pick([1, 1, 2, 3])
    channels = groups * rng.randint(1, 4)
    filters = groups * rng.randint(1, 4)
    if rng.random() < 0.1:
        filters += 1
    kernel, stride, dilation = some(1, 4, rank), some(1, 3, rank), some(1, 3, rank)
    padding = some(0, 3, rank)
    sides = some(1, 14, rank)
    lead = (batch,) if rng.random() < 0.85 else ()
    shape = (*lead, channels, *sides)
    pairs = tuple((p, p) for p in padding)
    bias = rng.random() < 0.5
    conv = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[rank]
    declared = channels if rng.random() < 0.9 else groups * rng.randint(1, 4)
    yield layer(
        ops.Convolution(filters, kernel, declared, stride, pairs, dilation, groups, bias),
        lambda: conv(declared, filters, kernel, stride, padding, dilation, groups, bias),
        shape,
        batched=bool(lead),
    )
    named = pick(["same", "valid"])
    one = (1,) * rank
    yield layer(
        ops.Convolution(filters, kernel, channels, one, named, dilation, groups, bias),
        lambda: conv(channels, filters, kernel, 1, named, dilation, groups, bias),
        shape,
        batched=bool(lead),
    )
    transposed = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}[rank]
    extra = some(0, 2, rank) if rng.random() < 0.5 else (0,) * rank
    yield layer(
        ops.Convolution(filters, kernel, channels, stride, pairs, dilation, groups, bias, True, extra),
        lambda: transposed(channels, filters, kernel, stride, padding, extra, groups, bias, dilation),
        shape,
        batched=bool(lead),
        cpu=True,  # the meta device does not check the output padding
    )

    ceil = rng.random() < 0.6
    indices = rng.random() < 0.3
    max_pool = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}[rank]
    yield (
        ops.Pool("max", kernel, stride, pairs, dilation, ceil, False, indices),
        (shape,),
        run(max_pool(kernel, stride, padding, dilation, indices, ceil), shape),
        None,
        bool(lead),
    )
    average_pool = {1: nn.AvgPool1d, 2: nn.AvgPool2d, 3: nn.AvgPool3d}[rank]
    yield (
        ops.Pool("average", kernel, stride, pairs, 1, ceil),
        (shape,),
        run(average_pool(kernel, stride, padding, ceil), shape),
        None,
        bool(lead),
    )
    size = tuple(pick([None, 1, 2, 3, 7]) for _ in range(rank))
    adaptive = {1: nn.AdaptiveAvgPool1d, 2: nn.AdaptiveAvgPool2d, 3: nn.AdaptiveAvgPool3d}[rank]
    if rank > 1 or size[0] is not None:
        yield ops.AdaptivePool("average", size), (shape,), run(adaptive(size), shape), None, bool(lead)
    if rank == 2:
        aim = some(1, 8, 2)
        yield (
            ops.FractionalMaxPool(kernel, aim),
            (shape,),
            run(nn.FractionalMaxPool2d(kernel, aim), shape),
            None,
            bool(lead),
        )
        ratio = (rng.random(), rng.random())
        yield (
            ops.FractionalMaxPool(kernel, None, ratio),
            (shape,),
            run(nn.FractionalMaxPool2d(kernel, output_ratio=ratio), shape),
            None,
            bool(lead),
        )

    free = some(1, 6, rng.randint(1, 4))
    inputs = free[-1] if rng.random() < 0.8 else rng.randint(1, 6)
    yield layer(ops.Linear(5, inputs, bias), lambda: nn.Linear(inputs, 5, bias), free, batched=len(free) > 1)
    width = rng.randint(1, 5)
    yield (
        ops.Embedding(9, width),
        (free,),
        lambda: shapes_of(nn.Embedding(9, width, device="meta")(zeros(free, torch.int64))),
        None,
        True,
    )
    left, right = (*free[:-1], 3), (*free[:-1], 4)
    yield layer(ops.Bilinear(3, 4, 5, bias), lambda: nn.Bilinear(3, 4, 5, bias), left, right, batched=len(free) > 1)

    features = channels if rng.random() < 0.85 else channels + 1
    norm = {1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}[rank]
    ranks = {1: (2, 3), 2: (4,), 3: (5,)}[rank]
    track, affine = rng.random() < 0.7, rng.random() < 0.7
    yield layer(
        ops.BatchNorm(features, 1, affine, affine, track, ranks=ranks),
        lambda: norm(features, affine=affine, track_running_stats=track),
        shape,
        batched=bool(lead),
    )
    group_count = rng.randint(1, 4)
    yield layer(
        ops.GroupNorm(group_count, features), lambda: nn.GroupNorm(group_count, features), (batch, channels, *sides)
    )
    tail = free[rng.randrange(len(free)) :] if rng.random() < 0.8 else some(1, 3, 2)
    yield layer(ops.LayerNorm(tail), lambda: nn.LayerNorm(tail), free, batched=tail != free)
    yield layer(ops.RMSNorm(tail), lambda: nn.RMSNorm(tail), free, batched=tail != free)
    yield layer(ops.PRelu(features), lambda: nn.PReLU(features), (batch, channels, *sides), cpu=True)

    yield from shape_cases(rng, zeros, run)
    yield from merge_cases(rng, zeros, run)

    # The cases below are slow on the meta device or need real numbers.
    if rng.random() < 0.3:
        cell, cls = pick([("rnn", nn.RNN), ("lstm", nn.LSTM), ("gru", nn.GRU)])
        layers, both, first = rng.randint(1, 3), rng.random() < 0.5, rng.random() < 0.5
        projection = pick([0, 0, 1, 2, 5]) if cell == "lstm" else 0
        hidden = rng.randint(1, 4)
        steps = some(1, 4, 3) if rng.random() < 0.8 else some(1, 4, 2)
        given = steps[-1] if rng.random() < 0.85 else 3
        options = {"proj_size": projection} if projection else {}
        yield layer(
            ops.Recurrent(cell, hidden, given, layers, both, bias, first, projection),
            lambda: cls(given, hidden, layers, bias=bias, batch_first=first, bidirectional=both, **options),
            steps,
            batched=len(steps) == 3 and first,
            cpu=True,
        )
        one_step = {"rnn": nn.RNNCell, "lstm": nn.LSTMCell, "gru": nn.GRUCell}[cell]
        yield layer(
            ops.RecurrentCell(cell, hidden, given, bias), lambda: one_step(given, hidden, bias), steps[-2:], cpu=True
        )
