"""Reserved over allocated memory of real cards, as others have published it (`reserved` of fixtures/truth/device.json),
against the replayed allocator. What optimizer stepped is not stated there: Adam and SGD are assumed. Of the two steps
of ResNet-50 PyTorch 2.12's own allocator gives 1.136 and 1.118."""

from __future__ import annotations

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
