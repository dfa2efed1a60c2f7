"""Which input shapes of an option a PyTorch model takes, by what its first layer says."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings, parse_input_shape
from flake8_cnnmem.source import Source
from flake8_cnnmem.training import Fact
from tests.conftest import not_followed

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
    "a usual size, where each leaves rows over": (
        "nn.Conv2d(3, 8, 3, stride=2), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 7 * 7, 5)",
        (3, 32, 32),
    ),
    "maps that are normalised": ("nn.InstanceNorm2d(3), nn.Conv2d(3, 8, 3)", (3, None, None)),
    "maps alone": ("nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.ConvTranspose2d(8, 3, 2, 2)", (3, None, None)),
}


@pytest.mark.parametrize(("layers", "taken"), SIZES.values(), ids=SIZES)
def test_size_that_the_layers_ask_for(layers: str, taken: tuple[int | None, ...]) -> None:
    (report,) = analyse(Source("net.py", NET.format(layers=layers)), Settings()).reports
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == taken


SEVERAL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = {layers}
        self.head = nn.Linear({features}, 1)
    def forward(self, {arguments}):
        {body}
"""

RANKS = {
    "two images of the size that the layers ask for": (
        "nn.Conv2d(3, 8, 3), nn.Flatten()", 8 * 30 * 30, "x, y",
        "return self.head(torch.abs(self.b(self.a(x)) - self.b(self.a(y))))", (3, 32, 32),
    ),
    "rows": ("nn.Linear(8, 8), nn.ReLU()", 8, "x", "return self.head(self.b(self.a(x)))", (8,)),
    "a sequence whose axes are swapped": (
        "nn.Linear(8, 16), nn.Conv1d(16, 4, 1)", 4, "x",
        "return self.head(self.b(self.a(x).transpose(1, 2)).mean(2))", (None, 8),
    ),
    "a sequence whose length is asked for": (
        "nn.Linear(8, 24), nn.ReLU()", 8, "x",
        "n, l, _ = x.shape; return self.head(self.a(x).view(n, l, 3, 8).sum(2))", (None, 8),
    ),
    "rows that are normalised": (
        "nn.BatchNorm1d(8), nn.ReLU()", 8, "x", "return self.head(self.b(self.a(x)))", (8,),
    ),
    "series that are normalised": (
        "nn.BatchNorm1d(4), nn.Conv1d(4, 8, 3)", 8, "x", "return self.head(self.b(self.a(x)).mean(2))", (4, None),
    ),
    "maps with the channels last": (
        "nn.Linear(8, 16), nn.Conv2d(16, 3, 1)", 8, "x", "return self.b(self.a(x).permute(0, 3, 1, 2))",
        (None, None, 8),
    ),
    "sequences of class numbers": (
        "nn.Embedding(9, 8), nn.LSTM(8, 8, batch_first=True)", 8, "x",
        "return self.head(self.b(self.a(x))[0][:, -1])", (None,),
    ),
    "one class number each": (
        "nn.Embedding(9, 8), nn.Embedding(7, 8)", 16, "u, v",
        "return self.head(torch.cat([self.a(u), self.b(v)], dim=1))", (),
    ),
    "a sequence and one class number": (
        "nn.Linear(8, 8), nn.Embedding(7, 8)", 8, "x, y",
        "return self.head((self.a(x).transpose(1, 2) * self.b(y)[:, :, None]).sum(2))", (None, 8),
    ),
}  # fmt: skip
"""Inputs that nothing states, whose first layer takes several ranks: the rest of the model tells which is meant."""


@pytest.mark.parametrize(("layers", "features", "arguments", "body", "taken"), RANKS.values(), ids=RANKS)
def test_rank_that_the_model_accepts(
    layers: str, features: int, arguments: str, body: str, taken: tuple[int | None, ...]
) -> None:
    text = SEVERAL.format(layers=layers, features=features, arguments=arguments, body=body)
    (report,) = analyse(Source("net.py", text), Settings()).reports
    assert report.problems == ()
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == taken


MADE_ANOTHER = {
    "a pooled map in one row": ("nn.MaxPool2d(2)", "nn.Linear(36, 2)", "self.b(self.a(x).flatten(1))"),
    "a pooled map, viewed": ("nn.MaxPool2d(2)", "nn.Linear(36, 2)", "self.b(self.a(x).view(x.size(0), -1))"),
    "a pooled line": ("nn.AvgPool1d(2)", "nn.Linear(20, 2)", "self.b(self.a(x))"),
    "a line of powers": ("nn.LPPool1d(2, 2)", "nn.Linear(20, 2)", "self.b(self.a(x))"),
    "a map that is made larger": ("nn.Upsample(scale_factor=2)", "nn.Linear(36, 2)", "self.b(self.a(x).flatten(1))"),
    "padded features": ("nn.ConstantPad1d(1, 0.0)", "nn.Linear(12, 2)", "self.b(self.a(x))"),
    "differences": ("nn.ReLU()", "nn.Linear(9, 2)", "self.b(torch.diff(self.a(x)))"),
    "the last two axes of several": (
        "nn.ReLU()",
        "nn.Linear(10, 2)",
        "self.b(self.a(x).flatten(-2)).permute(0, 2, 1)",
    ),
    "maps whose sides are joined": ("nn.ReLU()", "nn.Linear(10, 2)", "self.b(self.a(x).flatten(2))"),
}


@pytest.mark.parametrize(("first", "second", "body"), MADE_ANOTHER.values(), ids=MADE_ANOTHER)
def test_what_a_layer_takes_is_not_the_input_where_something_before_it_gives_another_size(
    first: str, second: str, body: str
) -> None:
    text = SEVERAL.format(layers=f"{first}, {second}", features=2, arguments="x", body=f"return self.head({body})")
    (report,) = analyse(Source("net.py", text), Settings()).reports
    assert report.problems == ()
    assert [cause.reason for cause in report.causes] == ["the size of the input is not stated"]


WRONG_AT_ANY_RANK = {
    "features": ("nn.Linear(8, 16), nn.ReLU()", 8, "x", "return self.head(self.b(self.a(x)))"),
    "embeddings side by side": (
        "nn.Embedding(9, 8), nn.Embedding(7, 8)", 8, "u, v", "return self.head(torch.cat([self.a(u), self.b(v)], -1))",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("layers", "features", "arguments", "body"), WRONG_AT_ANY_RANK.values(), ids=WRONG_AT_ANY_RANK)
def test_what_is_wrong_at_any_rank(layers: str, features: int, arguments: str, body: str) -> None:
    text = SEVERAL.format(layers=layers, features=features, arguments=arguments, body=body)
    (report,) = analyse(Source("net.py", text), Settings()).reports
    (problem,) = report.problems
    assert problem.problem.what == "takes 8 features, but is given 16"


DENOISER = """
import torch
from torch import nn

class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.time = nn.Linear(1, 8)
        self.context = nn.Linear(24, 8)

    def forward(self, x, t, context, scale=None):
        h = self.first(x) + self.time({time})[:, :, None, None] + self.context(context).mean(1)[:, :, None, None]
        return h if scale is None else h * scale
"""
OPEN = """
import keras
from keras import layers
a, b = keras.Input((None, 4)), keras.Input((None,), dtype="int32")
x = layers.concatenate([layers.LSTM(3)(a), layers.LSTM(3)(layers.Embedding(9, 2)(b))])
net = keras.Model([a, b], layers.Dense(1)(x))
"""

STATED = {
    "each input has its own": (DENOISER.format(time="t"), "3,16,16; 1; 7,24", (8, 16, 16)),
    "one value a sample": (DENOISER.format(time="t[:, None]"), "3,16,16; (); 7,24", (8, 16, 16)),
    "an argument with a default, too": (DENOISER.format(time="t"), "3,16,16; 1; 7,24; 8,16,16", (8, 16, 16)),
    "Keras' open inputs": (OPEN, "5,4; 6", (1,)),
}


@pytest.mark.parametrize("how", ["option", "directive"])
@pytest.mark.parametrize(("text", "stated", "output"), STATED.values(), ids=STATED)
def test_shapes_of_several_inputs(text: str, stated: str, output: tuple[int, ...], how: str) -> None:
    settings = Settings(input_shape=Fact(parse_input_shape(stated), "option")) if how == "option" else Settings()  # type: ignore[arg-type]
    written = text if how == "option" else f"# cnnmem: input-shape={stated}\n{text}"
    (report,) = analyse(Source("net.py", written), settings).reports
    assert not not_followed(report), report.causes
    assert report.model is not None
    (result,) = report.model.outputs
    assert result.shape[1:] == output  # type: ignore[index]


PARTS_OF_A_SEQUENCE = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        b, t, c, h, w = x.shape
        y = self.conv(x.reshape(-1, c, h, w)).view(b, t, 8, h, w)
        return y[:, :6].view(-1, 8, h, w)

net = Net()
net(torch.randn({batch}, 9, 3, 16, 16))
"""


@pytest.mark.parametrize(("batch", "refused"), [(1, False), (2, True)])
def test_an_axis_of_one_sample_may_lie_anywhere(batch: int, refused: bool) -> None:
    """As in PyTorch: the view of six of nine frames exists for one sequence, and for no two."""
    (report,) = analyse(Source("net.py", PARTS_OF_A_SEQUENCE.format(batch=batch)), Settings()).reports
    assert bool(report.problems) is refused
