"""Normalisation: weights as PyTorch 2.13 and Keras 3.15 have them, and what each layer refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import BatchNorm, GroupNorm, InstanceNorm, LayerNorm, LocalResponseNorm, Normalise, RMSNorm
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U: Any = Unknown("a size that nobody knows")

ACCEPTED: dict[str, tuple[Op, Shape]] = {
    "batch norm": (BatchNorm(64, ranks=(4,)), (N, 64, 7, 7)),
    "batch norm of unknown channels": (BatchNorm(64), (N, U, 7, 7)),
    "batch norm of unknown features": (BatchNorm(U), (N, 64, 7, 7)),
    "batch norm along an unknown axis": (BatchNorm(64, U), (N, 5, 7, 7)),
    "keras: batch norm of the last axis": (BatchNorm(axis=-1), (N, 7, 7, 64)),
    "torch: batch norm with nothing of its width": (BatchNorm(64, 1, False, False, False), (N, 5, 7, 7)),
    "torch: instance norm with nothing of its width": (InstanceNorm(64), (N, 5, 7, 7)),
    "layer norm": (LayerNorm((768,)), (N, 197, 768)),
    "layer norm over two axes": (LayerNorm((7, 8)), (N, 3, 7, 8)),
    "layer norm of an unknown width": (LayerNorm((768,)), (N, 197, U)),
    "keras: layer norm": (LayerNorm(axes=-1), (N, 197, 768)),
    "rms norm": (RMSNorm((768,)), (N, 197, 768)),
    "group norm": (GroupNorm(32, 64), (N, 64, 7, 7)),
    "group norm of unknown channels": (GroupNorm(32), (N, U, 7, 7)),
    "keras: group norm of each channel": (GroupNorm(-1, axis=-1), (N, 7, 7, 64)),
    "torch: group norm without weights": (GroupNorm(4, 8, 1, False, False), (N, 12, 7, 7)),
    "local response norm": (LocalResponseNorm(5), (N, 64, 7, 7)),
    "division by a norm": (Normalise(), (N, 64)),
}


@pytest.mark.parametrize(("op", "shape"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_shape_is_kept(op: Op, shape: Shape) -> None:
    assert op.outputs(shape) == (shape,)


PROBLEMS: dict[str, tuple[Op, Shape, str]] = {
    "batch norm of other channels": (BatchNorm(32), (N, 64, 7, 7), "takes 32 channels, but is given 64"),
    "batch norm of another rank": (
        BatchNorm(64, ranks=(2, 3)),
        (N, 64, 7, 7),
        "takes an input of 2 or 3 axes, but is given (N, 64, 7, 7)",
    ),
    "batch norm along an axis that is not there": (
        BatchNorm(axis=3),
        (N, 64),
        "works on axis 3, but its input has 2 axes",
    ),
    "instance norm of other channels": (
        InstanceNorm(32, 1, True, True),
        (N, 64, 7, 7),
        "takes 32 channels, but is given 64",
    ),
    "layer norm of another width": (LayerNorm((512,)), (N, 197, 768), "takes 512 features, but is given 768"),
    "layer norm of another shape": (
        LayerNorm((3, 7, 8)),
        (N, 4, 7, 8),
        "takes an input that ends with (3, 7, 8), but is given (N, 4, 7, 8)",
    ),
    "layer norm of more axes than there are": (
        LayerNorm((3, 7)),
        (7,),
        "takes an input that ends with (3, 7), but is given (7,)",
    ),
    "rms norm of another width": (RMSNorm((512,)), (N, 768), "takes 512 features, but is given 768"),
    "groups that do not divide the declared channels": (
        GroupNorm(32, 48),
        (N, 48, 7, 7),
        "has 32 groups, which do not divide its 48 channels",
    ),
    "groups that do not divide the input": (
        GroupNorm(32, axis=-1),
        (N, 7, 7, 48),
        "has 32 groups, which do not divide its 48 channels",
    ),
    "group norm of other channels": (GroupNorm(8, 32), (N, 64, 7, 7), "takes 32 channels, but is given 64"),
}


@pytest.mark.parametrize(("op", "shape", "what"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problem(mismatch: Callable[..., Mismatch], op: Op, shape: Shape, what: str) -> None:
    found = mismatch(op, shape)
    assert (found.problem.code, found.problem.what) == ("CNM201", what)
    assert found.recovered in ((shape,), None)


WEIGHTS: dict[str, tuple[Op, tuple[Shape, ...], dict[str, Shape]]] = {
    "torch: batch norm": (
        BatchNorm(8),
        (),
        {"weight": (8,), "bias": (8,), "running_mean": (8,), "running_var": (8,), "num_batches_tracked": ()},
    ),
    "torch: batch norm without weights": (
        BatchNorm(8, scale=False, center=False),
        (),
        {"running_mean": (8,), "running_var": (8,), "num_batches_tracked": ()},
    ),
    "torch: batch norm without statistics": (BatchNorm(8, track=False), (), {"weight": (8,), "bias": (8,)}),
    "keras: batch norm without scale": (
        BatchNorm(axis=-1, scale=False, counted=False),
        ((N, 7, 7, 16),),
        {"bias": (16,), "running_mean": (16,), "running_var": (16,)},
    ),
    "instance norm has none": (InstanceNorm(8), (), {}),
    "layer norm": (LayerNorm((7, 8)), (), {"weight": (7, 8), "bias": (7, 8)}),
    "layer norm without a shift": (LayerNorm((8,), None, True, False), (), {"weight": (8,)}),
    "keras: layer norm over two axes": (LayerNorm(axes=(1, 3)), ((N, 4, 5, 6),), {"weight": (4, 6), "bias": (4, 6)}),
    "rms norm": (RMSNorm((768,)), (), {"weight": (768,)}),
    "keras: rms norm": (RMSNorm(axes=-1), ((N, 768),), {"weight": (768,)}),
    "group norm": (GroupNorm(4, 64), (), {"weight": (64,), "bias": (64,)}),
    "an unknown scale": (GroupNorm(4, 64, 1, U), (), {"weight": (U,), "bias": (64,)}),
}


@pytest.mark.parametrize(("op", "shapes", "expected"), WEIGHTS.values(), ids=WEIGHTS.keys())
def test_weights(op: Op, shapes: tuple[Shape, ...], expected: dict[str, Shape]) -> None:
    specs = op.weights(*shapes)
    assert {name: spec.shape for name, spec in specs.items()} == expected
    for name, spec in specs.items():
        buffer = name.startswith(("running", "num"))
        assert (spec.buffer, spec.trainable) == (buffer, not buffer)
        assert spec.dtype == ("int64" if name == "num_batches_tracked" else "float")


def test_weights_before_the_first_call_are_not_known() -> None:
    assert isinstance(BatchNorm().weights()["weight"].shape[0], Unknown)
    assert isinstance(LayerNorm(axes=-1).weights()["weight"].shape[0], Unknown)
