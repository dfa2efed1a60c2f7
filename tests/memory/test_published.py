"""What real cards took, as others have published it (fixtures/truth/device.json): `steps` against the tensors and
blocks of a step, reserved over allocated memory (`reserved`) against the replayed allocator. What optimizer stepped is
not stated of the latter: Adam and SGD are assumed. Of the two steps of ResNet-50 PyTorch 2.12's own allocator gives
1.136 and 1.118."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.memory import account
from tests.memory.evaluated import named, training_of, truth

PUBLISHED = {row["what"]: row["ratio"] for row in truth("device")["reserved"]["to spare"]}
RESNET, MOBILENET = "torchvision/models/resnet.py::resnet50()", "torchvision/models/mobilenetv2.py::mobilenet_v2()"


@pytest.mark.parametrize(
    ("what", "target", "batch", "optimizer", "dtype", "off"),
    [
        ("ResNet-50, autocast, batch 16, T4", RESNET, 16, "adam", "mixed_float16", 0.067),
        ("ResNet-50, autocast, batch 32, T4", RESNET, 32, "adam", "mixed_float16", 0.06),
        ("MobileNetV2, batch 32, node by node", MOBILENET, 32, "sgd", "float32", 0.005),
        ("MobileNetV2, batch 64, node by node", MOBILENET, 64, "sgd", "float32", 0.005),
        ("MobileNetV2, batch 128, node by node", MOBILENET, 128, "sgd", "float32", 0.005),
    ],
)
def test_what_is_reserved_is_as_published(
    what: str, target: str, batch: int, optimizer: str, dtype: str, off: float
) -> None:
    training = training_of({"batch_size": batch, "optimizer": optimizer, "dtype": dtype})
    found = account(named(target, (3, 224, 224)), training, "framework", 0, "T4")
    assert found.reserved is not None
    assert found.allocated is not None
    assert found.reserved / found.allocated == pytest.approx(PUBLISHED[what], abs=off)


STEPS = [row for row in truth("device")["steps"] if row["model"] == "resnet50" and row["batch"] in (64, 256)]
CLASSES = 1000
"""Of the network here; theirs have fewer."""


@pytest.mark.parametrize("row", STEPS, ids=lambda row: f"batch {row['batch']}")
def test_what_is_allocated_is_as_published(row: dict[str, Any]) -> None:
    """Beside the step lie the buckets of DistributedDataParallel, as large as the gradients. What is missing are the
    workspaces of cuDNN's kernels (0.3 to 0.7 % of it), and what they are rounded up to."""
    training = training_of({"batch_size": row["batch"], "optimizer": "sgd", "options": {"momentum": 0.9}})
    found = account(named(RESNET, (3, 224, 224)), training, "framework", 0, "A100-80GB")
    assert found.allocated is not None
    fewer = (CLASSES - row["classes"]) * (2048 + 1) * 4
    parameters = found.parameters - fewer
    allocated = found.allocated - 3 * fewer + parameters
    assert allocated / 2**20 == pytest.approx(row["allocated_mib"], rel=0.015)
