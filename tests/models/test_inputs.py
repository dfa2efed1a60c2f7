"""Which input shapes of an option a PyTorch model takes, by what its first layer says."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.training import Fact

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential({layers})
    def forward(self, x):
        return self.layers(x)
"""

CASES = {
    "a Linear reads rows": ("nn.Linear(64, 5)", (64,), (64,)),
    "a Linear reads the last axis, whatever stands before": ("nn.Linear(64, 5)", (10, 64), (10, 64)),
    "a Linear does not read another last axis": ("nn.Linear(64, 5)", (10, 32), (64,)),
    "a flattened image": ("nn.Flatten(), nn.Linear(784, 5)", (1, 28, 28), (1, 28, 28)),
    "a flattened image of another size": ("nn.Flatten(), nn.Linear(784, 5)", (3, 28, 28), (784,)),
    "a convolution reads its channels": ("nn.Conv2d(3, 8, 3)", (3, 40, 50), (3, 40, 50)),
    "a convolution does not read other channels": ("nn.Conv2d(3, 8, 3)", (1, 40, 50), (3, None, None)),
}


@pytest.mark.parametrize(("layers", "option", "taken"), CASES.values(), ids=CASES)
def test_option(layers: str, option: tuple[int, ...], taken: tuple[int | None, ...]) -> None:
    settings = Settings(input_shape=Fact(option, "option"))
    (report,) = analyse(Source("net.py", NET.format(layers=layers)), settings).reports
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == taken


SIZES = {
    "a global pool before the Linear": (
        "nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)",
        (3, None, None),
    ),
    "a flattened map before the Linear": ("nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8 * 30 * 30, 5)", (3, 32, 32)),
    "maps alone": ("nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.ConvTranspose2d(8, 3, 2, 2)", (3, None, None)),
}


@pytest.mark.parametrize(("layers", "taken"), SIZES.values(), ids=SIZES)
def test_size_that_the_layers_ask_for(layers: str, taken: tuple[int | None, ...]) -> None:
    (report,) = analyse(Source("net.py", NET.format(layers=layers)), Settings()).reports
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == taken
