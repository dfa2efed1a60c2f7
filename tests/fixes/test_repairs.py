"""What people write where sizes do not agree: each kind with a sibling of the bug it was learned from, and the cases
in which two remedies are possible and none is made."""

from __future__ import annotations

import pytest

from flake8_cnnmem.fixes import mended
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

MODULE = """\
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, width=24, depth=3):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}


Net()(torch.zeros({given}))
"""


def module(init: str, forward: str, given: str, before: str = "") -> str:
    lines = "\n        ".join
    text = MODULE.format(init=lines(init.split("; ")), forward=lines(forward.split("; ")), given=given)
    return text.replace("\n\n\nclass Net", f"{before}\n\nclass Net", 1)


KERAS = "import keras\nfrom keras import layers\n\nmodel = keras.Sequential([keras.Input({shape}), {layers}])\n"


TWO = """

class Two(nn.Module):
    def __init__(self, wide_in, wide):
        super().__init__()
        self.fc = nn.Linear(wide_in, wide)
        self.norm = nn.LayerNorm(wide)

    def forward(self, x):
        return self.norm(self.fc(x))
"""
"""A module of a width in and a width out."""

RESIDUAL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, wide_in, wide, step):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(wide_in, wide, 3, step, 1), nn.ReLU(), nn.Conv2d(wide, wide, 3, 1, 1))
        self.short = nn.Identity()
        if wide_in != wide:
            self.short = nn.Sequential(nn.Conv2d(wide_in, wide, 1, stride=step), nn.BatchNorm2d(wide))

    def forward(self, x):
        return self.main(x) + self.short(x)


nn.Sequential(Block(3, 8, 2), Block(8, 8, 1), Block(8, 8, 2))(torch.zeros(4, 3, 32, 32))
"""


def fitted(layers: str, compiled: str, targets: str, shape: str = "(9,)") -> str:
    """A Keras model that is fitted to targets."""
    return (
        f"import keras\nimport numpy as np\nfrom keras import layers\n\n"
        f"model = keras.Sequential([keras.Input({shape}), {layers}])\nmodel.compile({compiled})\n"
        f"model.fit(np.zeros((40, *{shape})), {targets})\n"
    )


BOTH = "return self.b(self.a(x))"


def transposed() -> str:
    down, up = "nn.Conv1d(2, 4, 3, stride=3)", "nn.ConvTranspose1d(4, 2, 3, stride=3)"
    return module(f"self.down = {down}; self.up = {up}", "return x + self.up(self.down(x))", "4, 2, 29")


MENDED = {
    "a factor of the size": (
        module("self.a = nn.Linear(8, 3 * width); self.b = nn.Linear(4 * width, 5)", BOTH, "4, 8"),
        "nn.Linear(4 * width, 5)", "nn.Linear(3 * width, 5)",
    ),
    "another parameter": (
        module("self.d = depth; self.a = nn.Linear(8, width); self.b = nn.Linear(depth, 5)", BOTH, "4, 8"),
        "nn.Linear(depth, 5)", "nn.Linear(width, 5)",
    ),
    "a projection for four": (
        module("self.a = nn.Linear(8, 3 * width)", "i, f, g, o = self.a(x).split([24] * 4, -1); return i", "4, 8"),
        "3 * width", "4 * width",
    ),
    "the axis of a concatenation, not written": (
        module("self.a = nn.Linear(8, 4)", "return torch.cat([x, self.a(x)])", "6, 8"),
        "self.a(x)])", "self.a(x)], dim=1)",
    ),
    "maps with the channels last": (
        module("self.a = nn.Conv2d(3, 4, 3)", "return self.a(2 * x)", "6, 20, 20, 3"),
        "self.a(2 * x)", "self.a((2 * x).permute(0, 3, 1, 2))",
    ),
    "a scale for each channel of a signal": (
        module("self.a = nn.Linear(8, 8)", "return x * self.a(x.mean(2))", "6, 8, 50"),
        "self.a(x.mean(2))", "self.a(x.mean(2))[:, :, None]",
    ),
    "a query for each sample": (
        module("self.q = nn.Parameter(torch.zeros(1, 5, width))", "return torch.bmm(self.q, x)", "6, 24, 9"),
        "bmm(self.q, x)", "bmm(self.q.expand(x.size(0), -1, -1), x)",
    ),
    "keys that are not transposed": (
        module("self.a = nn.Linear(8, 8)", "w = (self.a(x) @ self.a(x)).softmax(-1); return w @ x", "6, 9, 8"),
        "self.a(x) @ self.a(x)", "self.a(x) @ self.a(x).transpose(-2, -1)",
    ),
    "a state whose axes are swapped": (
        module(
            "self.a = nn.LSTM(8, width, depth, batch_first=True)",
            "h = torch.zeros(x.shape[0], 3, 24); return self.a(x, (h, h))[0]", "6, 9, 8",
        ),
        "torch.zeros(x.shape[0], 3, 24)", "torch.zeros(3, x.shape[0], 24)",
    ),
    "what a transposed convolution lacks": (transposed(), "2, 3, stride=3)", "2, 3, stride=3, output_padding=2)"),
    "a flatten in forward": (
        module("self.a = nn.Conv2d(3, 4, 3, 2); self.b = nn.Linear(4 * 9 * 9, 5)", BOTH, "6, 3, 20, 20"),
        "self.b(self.a(x))", "self.b(self.a(x).flatten(1))",
    ),
    "a map beside a resized one": (
        module(
            "self.a = nn.Conv2d(3, 3, 3, 2, 1)",
            "y = self.a(x); return torch.cat([x, F.interpolate(y, scale_factor=2)], 1)", "6, 3, 21, 21",
        ),
        "scale_factor=2", "size=x.shape[-2:]",
    ),
    "a wrapped recurrent layer": (
        KERAS.format(shape="(9, 4)", layers="layers.Bidirectional(layers.GRU(8)), layers.GRU(3)"),
        "layers.GRU(8)", "layers.GRU(8, return_sequences=True)",
    ),
    "a signal without channels": (
        KERAS.format(shape="shape=(90,)", layers="layers.Conv1D(8, 3)"), "shape=(90,)", "shape=(90, 1)",
    ),
    "a number that the construction around it hands over": (
        module("self.a = Two(8, 16); self.b = Two(24, 5)", BOTH, "4, 8", TWO), "Two(24, 5)", "Two(16, 5)",
    ),
    "a width as the layer before it writes it": (
        module("self.a = nn.Linear(8, width * 3); self.b = Two(width, 5)", BOTH, "4, 8", TWO),
        "Two(width, 5)", "Two(width * 3, 5)",
    ),
    "the first of the widths": (
        module("w = [16, 32, 64]; self.a = nn.Linear(8, w[0]); self.b = nn.Linear(w[-1], 5)", BOTH, "4, 8"),
        "w[-1]", "w[0]",
    ),
    "an unpooling with the indices of the input": (
        module(
            "self.p = nn.MaxPool1d(2, return_indices=True); self.a = nn.Conv1d(4, 6, 1); self.u = nn.MaxUnpool1d(2)",
            "y, at = self.p(x); return self.u(self.a(y), at)", "3, 4, 20",
        ),
        "nn.Conv1d(4, 6, 1)", "nn.Conv1d(4, 4, 1)",
    ),
    "a layer before a reshape that the rest decides": (
        module("self.a = nn.Linear(8, 8)", "y = self.a(x).view(-1, 3, 4); return y @ torch.eye(4) + torch.ones(3, 4)",
               "6, 8"),
        "nn.Linear(8, 8)", "nn.Linear(8, 12)",
    ),
    "a scale of a group norm": (
        module("self.s = nn.Parameter(torch.ones(8))", "return F.group_norm(x, 4, weight=self.s)", "6, 16, 9"),
        "torch.ones(8)", "torch.ones(16)",
    ),
    "a shortcut that a stride asks for": (
        RESIDUAL, "if wide_in != wide:", "if step != 1 or wide_in != wide:",
    ),
    "a mask for the longest sequence": (
        module(
            "self.register_buffer('mask', torch.ones(40, 40).tril())",
            "w = x @ x.transpose(1, 2); return w.masked_fill(self.mask.eq(0), -1e9)", "6, 9, 8",
        ),
        "self.mask.eq", "self.mask[:w.size(-2), :w.size(-1)].eq",
    ),
    "a mask of another axis": (
        module(
            "self.a = nn.MultiheadAttention(8, 2, batch_first=True)",
            "n = x.shape[2]; m = torch.ones(n, n).triu(1).bool(); return self.a(x, x, x, attn_mask=m)[0]", "6, 9, 8",
        ),
        "x.shape[2]", "x.shape[1]",
    ),
    "numbers of classes": (
        fitted("layers.Dense(5)", "loss=keras_loss", "np.zeros((40, 1))").replace(
            "keras_loss", "'categorical_crossentropy'"),
        "'categorical_crossentropy'", "'sparse_categorical_crossentropy'",
    ),
    "masks of the image's size": (
        fitted("layers.Conv2D(4, 3), layers.Conv2D(1, 1)", "loss='mse'", "np.zeros((40, 20, 20, 1))", "(20, 20, 3)"),
        "layers.Conv2D(4, 3)", 'layers.Conv2D(4, 3, padding="same")',
    ),
}  # fmt: skip

LEFT = {
    "two widths of which either may be meant": module(
        "self.a = nn.Linear(8, 2 * width); self.b = nn.Linear(8, 3 * width)", "return self.a(x) + self.b(x)", "4, 8"
    ),
    "two parameters of that size": module(
        "self.a = nn.Linear(8, 24); self.b = nn.Linear(depth, 5)", "return self.b(self.a(x))", "4, 8"
    ).replace("depth=3", "depth=3, other=24"),
    "a layer that is called on another width as well": module(
        "self.a = nn.Linear(8, width); self.b = nn.Linear(2 * width, 5)",
        "return self.b(self.a(x)) + self.b(torch.cat([self.a(x)] * 2, 1))", "4, 8",
    ),
    "a decoder, which is to get the code at each step": KERAS.format(
        shape="(9, 4)", layers="layers.LSTM(8), layers.LSTM(8, return_sequences=True)"
    ),
    "groups that divide nothing": module("self.a = nn.GroupNorm(7, width)", "return self.a(x)", "4, 24, 8, 8"),
    "a width and a reshape, of which either may be meant": module(
        "self.a = nn.Linear(8, 8)", "return self.a(x).view(-1, 3, 4)", "6, 8"
    ),
    "two constructions that hand over, one of which is right": module(
        "self.a = Two(8, 16)", "return self.a(x) + self.a(torch.cat([x, x], 1))", "4, 8", TWO
    ),
    "a full mask, of which nobody says which part counts": module(
        "self.register_buffer('mask', torch.ones(40, 40))",
        "w = x @ x.transpose(1, 2); return w.masked_fill(self.mask.eq(0), -1e9)", "6, 9, 8",
    ),
    "two convolutions that take from the map": fitted(
        "layers.Conv2D(4, 3), layers.Conv2D(1, 3)", "loss='mse'", "np.zeros((40, 20, 20, 1))", "(20, 20, 3)"
    ),
    "classes of another number than the targets": fitted(
        "layers.Dense(5)", "loss='categorical_crossentropy'", "np.zeros((40, 3))"
    ),
    "maps of unequal sides": module(
        "self.a = nn.Conv2d(3, 3, 5)", "return torch.cat([x, self.a(x)], 1)", "4, 3, 20, 20"
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")


@pytest.mark.parametrize(("text", "old", "new"), MENDED.values(), ids=MENDED)
def test_the_one_remedy_is_written(text: str, old: str, new: str) -> None:
    assert text.count(old) == 1
    result = mended(Source("net.py", text), Settings())
    assert result.text == text.replace(old, new)
    assert result.left == ()


@pytest.mark.parametrize("text", LEFT.values(), ids=LEFT)
def test_what_is_not_certain_is_left(text: str) -> None:
    result = mended(Source("net.py", text), Settings())
    assert (result.text, result.fixes) == (text, ())
    assert [finding.code for finding in result.left] == ["CNM201"] * len(result.left) != []
