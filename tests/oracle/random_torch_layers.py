"""Layers with random arguments on inputs of random sizes, in PyTorch and in the interpreter: what differs is printed.

Run by hand with PyTorch and libcst installed:

    python tests/oracle/random_torch_layers.py [COUNT] [SEED]

What PyTorch refuses must be a problem of the call or an exception of the program here, and nothing else may be.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.oracle.torch_cases import HEAD

Draw = random.Random


def one_or_each(draw: Draw, rank: int, least: int, most: int) -> Any:
    if draw.random() < 0.5:
        return draw.randint(least, most)
    return tuple(draw.randint(least, most) for _ in range(rank))


def convolution(draw: Draw, rank: int, channels: int) -> str:
    groups = draw.choice([1, 1, 1, 2, 3, channels])
    named = {
        "stride": one_or_each(draw, rank, 1, 3),
        "padding": draw.choice(["same", "valid", None, None, None]) or one_or_each(draw, rank, 0, 3),
        "dilation": one_or_each(draw, rank, 1, 2),
        "groups": groups,
        "bias": draw.random() < 0.5,
        "padding_mode": draw.choice(["zeros", "zeros", "zeros", "reflect", "circular", "replicate"]),
    }
    kernel = one_or_each(draw, rank, 1, 5)
    filters = draw.choice([groups * draw.randint(1, 3), draw.randint(1, 6)])
    given = draw.choice([channels, channels, channels, channels, channels + 1])
    return f"nn.Conv{rank}d({given}, {filters}, {kernel}, {chosen(draw, named)})"


def chosen(draw: Draw, named: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in named.items() if draw.random() < 0.6)


def transposed(draw: Draw, rank: int, channels: int) -> str:
    groups = draw.choice([1, 1, 2, channels])
    named = {
        "stride": one_or_each(draw, rank, 1, 3),
        "padding": one_or_each(draw, rank, 0, 2),
        "output_padding": one_or_each(draw, rank, 0, 2),
        "groups": groups,
        "bias": draw.random() < 0.5,
        "dilation": one_or_each(draw, rank, 1, 2),
    }
    filters = groups * draw.randint(1, 3)
    return f"nn.ConvTranspose{rank}d({channels}, {filters}, {one_or_each(draw, rank, 1, 4)}, {chosen(draw, named)})"


def pool(draw: Draw, rank: int, channels: int) -> str:
    kind = draw.choice(["MaxPool", "AvgPool", "LPPool"])
    kernel = one_or_each(draw, rank, 1, 4)
    named = {"stride": one_or_each(draw, rank, 1, 4), "ceil_mode": draw.random() < 0.5}
    if kind != "LPPool":
        named["padding"] = one_or_each(draw, rank, 0, 2)
    if kind == "MaxPool":
        named["dilation"] = one_or_each(draw, rank, 1, 2)
        named["return_indices"] = draw.random() < 0.3
    if kind == "AvgPool":
        named["count_include_pad"] = draw.random() < 0.5
    first = "2, " if kind == "LPPool" else ""
    return f"nn.{kind}{rank}d({first}{kernel}, {chosen(draw, named)})"


def adaptive(draw: Draw, rank: int, channels: int) -> str:
    kind = draw.choice(["Max", "Avg"])
    return f"nn.Adaptive{kind}Pool{rank}d({one_or_each(draw, rank, 1, 6)})"


def norm(draw: Draw, rank: int, channels: int) -> str:
    given = draw.choice([channels, channels, channels, channels + 1])
    named = {"affine": draw.random() < 0.5, "track_running_stats": draw.random() < 0.5, "bias": draw.random() < 0.7}
    return draw.choice(
        [
            f"nn.BatchNorm{rank}d({given}, {chosen(draw, named)})",
            f"nn.InstanceNorm{rank}d({given}, {chosen(draw, named)})",
            f"nn.GroupNorm({draw.randint(1, 4)}, {given}, affine={named['affine']})",
        ]
    )


def padding(draw: Draw, rank: int, channels: int) -> str:
    kind = draw.choice(["ZeroPad", "ConstantPad", "ReflectionPad", "ReplicationPad", "CircularPad"])
    amounts: Any = draw.randint(0, 4)
    if draw.random() < 0.6:
        least = -1 if kind in ("ZeroPad", "ConstantPad") else 0
        amounts = tuple(draw.randint(least, 4) for _ in range(2 * rank))
    return f"nn.{kind}{rank}d({amounts}{', 0' if kind == 'ConstantPad' else ''})"


def upsample(draw: Draw, rank: int, channels: int) -> str:
    mode = draw.choice(["nearest", {1: "linear", 2: "bilinear", 3: "trilinear"}[rank], "nearest-exact"])
    if draw.random() < 0.5:
        return f"nn.Upsample({one_or_each(draw, rank, 1, 12)}, mode={mode!r})"
    scale = draw.choice([0.5, 1.5, 2, 2.7, tuple(draw.choice([0.7, 1.3, 2]) for _ in range(rank))])
    return f"nn.Upsample(scale_factor={scale}, mode={mode!r})"


def unfold(draw: Draw, rank: int, channels: int) -> str:
    named = {
        "dilation": one_or_each(draw, 2, 1, 2),
        "padding": one_or_each(draw, 2, 0, 2),
        "stride": one_or_each(draw, 2, 1, 3),
    }
    return f"nn.Unfold({one_or_each(draw, 2, 1, 4)}, {chosen(draw, named)})"


def others(draw: Draw, rank: int, channels: int) -> str:
    return draw.choice(
        [
            f"nn.Flatten({draw.randint(0, rank)}, {draw.randint(-2, rank + 1)})",
            f"nn.GLU({draw.randint(-1, 1)})",
            f"nn.ChannelShuffle({draw.randint(1, 3)})",
            f"nn.PixelShuffle({draw.randint(1, 3)})",
            f"nn.PixelUnshuffle({draw.randint(1, 3)})",
            f"nn.Linear({draw.randint(5, 9)}, 3)",
            f"nn.LayerNorm({draw.randint(5, 9)})",
            f"nn.PReLU({draw.choice([1, channels, channels + 1])})",
            f"nn.Unflatten(1, ({draw.randint(1, 3)}, -1))",
        ]
    )


def recurrent(draw: Draw, rank: int, channels: int) -> str:
    named = {
        "num_layers": draw.randint(1, 3),
        "bias": draw.random() < 0.5,
        "batch_first": draw.random() < 0.5,
        "bidirectional": draw.random() < 0.5,
    }
    kind = draw.choice(["RNN", "LSTM", "GRU"])
    if kind == "LSTM" and draw.random() < 0.3:
        named["proj_size"] = draw.randint(1, 4)
    return f"nn.{kind}({draw.randint(5, 9)}, {draw.randint(3, 6)}, {chosen(draw, named)})"


KINDS: list[tuple[Callable[[Draw, int, int], str], tuple[int, ...]]] = [
    (convolution, (1, 2, 3)), (transposed, (1, 2, 3)), (pool, (1, 2, 3)), (adaptive, (1, 2, 3)), (norm, (1, 2, 3)),
    (padding, (1, 2, 3)), (upsample, (1, 2, 3)), (unfold, (2,)), (others, (1, 2)), (recurrent, (1,)),
]  # fmt: skip


def case(draw: Draw) -> str:
    kind, ranks = draw.choice(KINDS)
    rank = draw.choice(ranks)
    channels = draw.choice([1, 2, 3, 4, 6, 9])
    sides = [draw.randint(5, 9) if kind in (recurrent, others) else draw.randint(1, 13) for _ in range(rank)]
    shape = (draw.choice([2, 2, 3]), channels, *sides)
    if draw.random() < 0.15:
        shape = shape[1:]
    return f"{HEAD}x = torch.randn({', '.join(map(str, shape))})\nm = {kind(draw, rank, channels)}\ny = m(x)"


def main(count: int = 2000, seed: int = 0) -> None:
    warnings.simplefilter("ignore")
    from flake8_cnnmem.frameworks.torch.nn.modules.module import owned
    from tests.frameworks.torch.code import Ran, declared, shapes
    from tests.oracle.measure_torch import measure

    draw = random.Random(seed)
    wrong = refused = 0
    for _ in range(count):
        code = case(draw)
        truth = measure(code)
        ran = Ran(code)
        if "error" in truth:
            refused += 1
            if not ran.problems and not ran.failures:
                wrong += 1
                print(f"not refused: {code[len(HEAD) :]!r}: {truth['error'][:150]}")
            continue
        found = shapes(ran["y"]) if not ran.failures else ran.failures
        own = declared(list(owned(ran["m"], "_parameters"))) if not ran.failures else None
        if found != truth["y"] or ran.problems or own != [entry[:2] for entry in truth["parameters"]]:
            wrong += 1
            print(f"differs: {code[len(HEAD) :]!r}\n  torch {truth['y']}\n  here  {found} {ran.problems}")
    print(f"{count} layers, {refused} refused by torch, {wrong} differ")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
