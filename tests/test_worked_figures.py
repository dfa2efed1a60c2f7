"""The worked figures of the CS231n notes and of published answers, on model code in both frameworks.

VGG16's rows are the course notes' own table; the 50x50 CNN and ResNet-50 are worked by hand from the same rules.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.memory import cs231n
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from flake8_cnnmem.training import Optimizer

MODELS = Path(__file__).resolve().parent.parent / "fixtures" / "models"

# Values written and weights without biases, row by row.
VGG16 = [
    (3_211_264, 1_728), (3_211_264, 36_864), (802_816, 0),
    (1_605_632, 73_728), (1_605_632, 147_456), (401_408, 0),
    (802_816, 294_912), (802_816, 589_824), (802_816, 589_824), (200_704, 0),
    (401_408, 1_179_648), (401_408, 2_359_296), (401_408, 2_359_296), (100_352, 0),
    (100_352, 2_359_296), (100_352, 2_359_296), (100_352, 2_359_296), (25_088, 0),
    (4_096, 102_760_448), (4_096, 16_777_216), (1_000, 4_096_000),
]  # fmt: skip


def report_on(path: str, expression: str, **options: object) -> ModelReport:
    settings = Settings.of({"accounting": "cs231n", "batch_size": 64, "optimizer": Optimizer("momentum"), **options})
    (report,) = analyse(load(str(MODELS / path)), settings, expression).reports
    return report


def biases(values: int, parameters: int) -> int:
    """The notes leave biases out: one for each filter or unit of a row that has weights."""
    return parameters and {3_211_264: 64, 1_605_632: 128, 802_816: 256, 401_408: 512, 100_352: 512}.get(values, values)


@pytest.mark.parametrize(
    ("path", "expression"),
    [("keras/vgg16.py", "vgg16()"), ("torch/vgg16.py", "VGG16()")],
    ids=["in Keras", "in PyTorch"],
)
def test_vgg16_reads_as_the_notes_print_it(path: str, expression: str) -> None:
    shape = (224, 224, 3) if path.startswith("keras") else (3, 224, 224)
    report = report_on(path, expression, input_shape=shape)
    # PyTorch's pool to 7x7 in front of the classifier changes nothing at this size, and the notes do not have it.
    written = [
        (row.activations, row.parameters) for row in report.rows if row.activations and row.type != "AdaptiveAvgPool2d"
    ]
    assert [(values, n - biases(values, n)) for values, n in written] == VGG16
    assert report.parameters == 138_357_544
    assert report.parameters - sum(biases(*row) for row in written) == 138_344_128
    assert sum(values for values, _ in written) + 224 * 224 * 3 == 15_237_608


@pytest.mark.parametrize(
    ("path", "expression"),
    [("keras/small_cnn.py", "model"), ("torch/small_cnn.py", "SmallCNN()")],
    ids=["in Keras", "in PyTorch"],
)
def test_the_small_cnn(path: str, expression: str) -> None:
    shape = (50, 50, 3) if path.startswith("keras") else (3, 50, 50)
    report = report_on(path, expression, input_shape=shape)
    assert [row.activations for row in report.rows if row.activations] == [80_000, 20_000, 40_000, 9_216, 500, 10]
    assert report.activations == 157_226 - 7_500
    assert report.parameters == 4_632_902
    assert report.estimate is not None
    assert report.estimate.total == 134_174_536


def test_resnet50_of_keras() -> None:
    report = report_on("keras/resnet50.py", "ResNet50()", input_shape=(224, 224, 3))
    assert (report.parameters, report.activations) == (25_636_712, 16_310_248)
    assert pytest.approx(168e6, rel=0.002) == (25_636_712 + 16_310_248) * 4


def test_the_formula_alone() -> None:
    parts = cs231n.training_bytes(532_752, 19_072_984, 9_000, 128, 1)
    assert [round(part / 2**20, 1) for part in parts] == [520.3, 218.3, 4.4]
    assert round(sum(parts) / 2**20, 1) == 742.9
