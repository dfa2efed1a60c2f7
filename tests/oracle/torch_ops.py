"""Measures what single ops keep and what their step's peak is, on fake tensors: fixtures/truth/torch_ops.json.

Each case is an op between a convolution and a mean squared error, as the text of a module's constructor and of its
forward pass. The same text is what the tests evaluate. Run by hand: `python tests/oracle/torch_ops.py`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import re
import sys
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

sys.path.insert(0, str(Path(__file__).parent))
from torch_measure import LiveStorages
from torch_op_cases import MORE, ON_THE_CPU
from torch_steps import as_on_cuda, faked, kept

TARGET = Path(__file__).parents[2] / "fixtures" / "truth" / "torch_ops.json"
SHAPE, BATCH = [8, 32, 32], 4

SOURCE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(8, 16, 1, bias=False)
        self.op = {make}

    def forward(self, x):
        x = self.stem(x)
        return {apply}
"""
WITH_Y = SOURCE.replace(
    "        x = self.stem(x)\n",
    "        y = self.side(x)\n        x = self.stem(x)\n",
).replace("        self.op", "        self.side = nn.Conv2d(8, 16, 1, bias=False)\n        self.op")
"""For ops of two tensors. A tensor that is made and not used would be held by the running function."""


def source(make: str, apply: str) -> str:
    return (WITH_Y if re.search(r"\by\b", apply) else SOURCE).format(make=make, apply=apply)


UNARY = [
    "relu",
    "relu6",
    "silu",
    "hardswish",
    "hardsigmoid",
    "mish",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "gelu",
    "softplus",
    "softsign",
    "tanhshrink",
    "hardshrink",
    "softshrink",
    "hardtanh",
]
IN_PLACE = [
    "relu",
    "relu6",
    "silu",
    "hardswish",
    "hardsigmoid",
    "mish",
    "leaky_relu",
    "elu",
    "selu",
    "celu",
    "hardtanh",
]
FUNCTIONS = [
    "sigmoid",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "abs",
    "neg",
    "sin",
    "cos",
    "square",
    "reciprocal",
    "erf",
    "log1p",
    "expm1",
    "sign",
    "floor",
]

CASES: list[tuple[str, str]] = [
    *(("None", f"F.{name}(x)") for name in UNARY),
    *(("None", f"F.{name}(x, inplace=True)") for name in IN_PLACE),
    *(("None", f"torch.{name}(x)") for name in FUNCTIONS),
    *(("None", f"x.{name}_()") for name in ("sigmoid", "tanh", "exp", "relu")),
    *(("None", text) for text in ("x ** 2", "x ** 3", "x * 2.0", "x + 1", "1 - x", "x / 3", "2 / x", "x.mul_(2.0)")),
    *(("None", text) for text in ("x.clamp(0, 1)", "x.clamp(min=0)", "F.softmax(x, 1)", "F.log_softmax(x, dim=-1)")),
    *(("None", f"x {symbol} y") for symbol in ("+", "-", "*", "/")),
    *(("None", text) for text in ("x.add_(y)", "torch.maximum(x, y)", "torch.minimum(x, y)", "torch.relu_(x.add_(y))")),
    *(("None", f"x {symbol} y.mean((2, 3), keepdim=True)") for symbol in ("*", "/")),
    ("nn.Parameter(torch.zeros(16, 1, 1))", "x * self.op"),
    ("nn.Parameter(torch.zeros(16, 1, 1))", "x + self.op"),
    ("nn.Parameter(torch.zeros(1, 16, 32, 32))", "x + self.op"),
    *(("None", text) for text in ("torch.cat([x, y], 1)", "torch.stack([x, y], 1)", "torch.where(x > 0, x, y)")),
    *(("None", text) for text in ("x.chunk(2, 1)[0]", "x.unbind(1)[3]", "torch.split(x, [4, 12], 1)[1]")),
    ("None", "(lambda a, b: a * torch.sigmoid(b))(*x.chunk(2, 1))"),
    *(("None", text) for text in ("x[:, :8]", "x[:, :, ::2, ::2]", "x[:, 0]", "x[:, [1, 2, 3]]", "x[:, None, :, 2:]")),
    *(("None", text) for text in ("torch.roll(x, (1, 1), (2, 3))", "x.flip(2)", "x.repeat(1, 2, 1, 1)")),
    *(("None", f"F.pad(x, (1, 1, 1, 1){mode})") for mode in ("", ", mode='reflect'", ", mode='replicate'")),
    *(("None", text) for text in ("x.permute(0, 2, 3, 1).contiguous()", "x.permute(0, 2, 3, 1).reshape(4, -1)")),
    *(("None", text) for text in ("x.flatten(1)", "x.clone()", "x + x.detach()", "x.unsqueeze(1).expand(-1, 3, 16, 32, 32)")),
    ("None", "x.view(4, 2, 8, 32, 32).transpose(1, 2).reshape(4, 16, 32, 32)"),
    *(("None", f"F.interpolate(x, scale_factor=2, mode='{mode}')") for mode in ("nearest", "bilinear", "bicubic", "area")),
    *(("None", text) for text in ("F.pixel_shuffle(x, 2)", "F.pixel_unshuffle(x, 2)", "F.unfold(x, 3)", "F.channel_shuffle(x, 2)")),
    *(("None", text) for text in ("F.max_pool2d(x, 2)", "F.avg_pool2d(x, 2)", "F.adaptive_max_pool2d(x, 4)")),
    *(("None", text) for text in ("F.adaptive_avg_pool2d(x, 4)", "F.adaptive_avg_pool2d(x, 1)", "F.adaptive_max_pool2d(x, 1)")),
    *(("None", text) for text in ("F.max_pool1d(x.flatten(2), 2)", "F.avg_pool1d(x.flatten(2), 2)", "F.lp_pool2d(x, 2, 2)")),
    *(("None", f"x.{name}((2, 3))") for name in ("mean", "sum", "amax", "var", "std")),
    *(("None", text) for text in ("x.max(1)[0]", "x.max(dim=1, keepdim=True).values", "x.logsumexp(1)", "x.cumsum(1)")),
    *(("None", text) for text in ("x.topk(5, 1)[0]", "x.sort(1)[0]", "x.norm(dim=1)", "F.normalize(x, dim=1)", "F.glu(x, 1)")),
    ("nn.PReLU(16)", "self.op(x)"),
    ("nn.PReLU()", "self.op(x)"),
    ("nn.BatchNorm2d(16)", "self.op(x)"),
    ("nn.BatchNorm2d(16).eval()", "F.relu(self.op(x), inplace=True)"),
    ("nn.BatchNorm2d(16, affine=False)", "self.op(x)"),
    ("nn.LayerNorm([16, 32, 32])", "self.op(x)"),
    ("nn.LayerNorm(16)", "self.op(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)"),
    ("nn.GroupNorm(4, 16)", "self.op(x)"),
    ("nn.InstanceNorm2d(16)", "self.op(x)"),
    ("nn.InstanceNorm2d(16, affine=True)", "F.relu(self.op(x), inplace=True)"),
    ("nn.LocalResponseNorm(5)", "self.op(x)"),
    ("nn.Dropout(0.5)", "self.op(x)"),
    ("nn.Dropout(0.0)", "self.op(x)"),
    ("nn.Dropout2d(0.5)", "self.op(x)"),
    ("nn.AlphaDropout(0.5)", "self.op(x)"),
    ("nn.Conv2d(16, 32, 3, padding=1)", "self.op(x)"),
    ("nn.Conv2d(16, 32, 3, stride=2, groups=4)", "self.op(x)"),
    ("nn.Conv2d(16, 16, 3, padding=1, padding_mode='reflect')", "self.op(x)"),
    ("nn.ConvTranspose2d(16, 32, 2, 2)", "self.op(x)"),
    ("nn.Conv1d(16, 32, 3)", "self.op(x.flatten(2))"),
    ("nn.Conv3d(16, 8, 3, padding=1)", "self.op(x.unsqueeze(2))"),
    ("nn.Conv2d(16, 32, 3, padding=1).requires_grad_(False)", "self.op(x)"),
    ("nn.Linear(16384, 64)", "self.op(x.flatten(1))"),
    ("nn.Linear(32, 64)", "self.op(x)"),
    ("nn.Linear(32, 64, bias=False)", "self.op(x)"),
    ("nn.Linear(16, 64, bias=False)", "self.op(x.permute(0, 2, 3, 1))"),
    ("nn.Linear(32, 64)", "F.relu(self.op(x), inplace=True)"),
    ("nn.Linear(32, 64).requires_grad_(False)", "self.op(x)"),
    ("nn.Bilinear(32, 32, 8)", "self.op(x, y)"),
    *(("None", text) for text in ("x @ y", "x @ y.transpose(-2, -1)", "x @ y.mean(1, keepdim=True)", "x.flatten(1) @ y.flatten(1).t()")),
    ("None", "torch.einsum('bcij,bckj->bcik', x, y)"),
    ("nn.Parameter(torch.zeros(32, 8))", "x @ self.op"),
    ("None", "F.scaled_dot_product_attention(x, y, x + y)"),
    ("nn.MultiheadAttention(32, 4, batch_first=True)", "self.op(x.flatten(1, 2), x.flatten(1, 2), x.flatten(1, 2), need_weights=False)[0]"),
    ("nn.MultiheadAttention(32, 4, batch_first=True)", "self.op(x.flatten(1, 2), y.flatten(1, 2), y.flatten(1, 2))[0]"),
    ("nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)", "self.op(x.flatten(1, 2))"),
    ("nn.GELU('tanh')", "self.op(x)"),
    ("nn.Upsample(scale_factor=2, mode='bilinear')", "self.op(x)"),
    ("nn.Flatten()", "self.op(x)"),
    ("nn.Identity()", "self.op(x)"),
]  # fmt: skip


def net(make: str, apply: str) -> nn.Module:
    names: dict[str, Any] = {"torch": torch, "nn": nn, "F": F}
    exec(source(make, apply), names)
    module = names["Net"]()
    assert isinstance(module, nn.Module)
    if ".eval()" in make:
        module.train = lambda mode=True: module  # type: ignore[assignment,method-assign]
    return module


def peak_of(model: nn.Module) -> int:
    with LiveStorages() as live:
        for tensor in (*model.parameters(), *model.buffers()):
            live.watch(tensor)
        with torch.no_grad():
            target = torch.zeros_like(model(torch.randn(BATCH, *SHAPE)), memory_format=torch.contiguous_format)
        x = torch.randn(BATCH, *SHAPE)
        gc.collect()
        live.peak = live.live
        value = F.mse_loss(model(x), target)
        value.backward()
        return live.peak


def measure(make: str, apply: str) -> tuple[int, int]:
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        saved = kept(faked(net(make, apply).train(), mode), SHAPE, BATCH)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        return saved, peak_of(faked(net(make, apply).train(), mode))


def main() -> None:
    records = []
    for make, apply in [*CASES, *MORE, *ON_THE_CPU]:
        record: dict[str, Any] = {"make": make, "apply": apply, "source": source(make, apply)}
        reference = (make, apply) in ON_THE_CPU
        with contextlib.nullcontext() if reference else as_on_cuda():
            record["saved_bytes"], record["peak_bytes"] = measure(make, apply)
        if reference:
            record["cpu"] = True
        records.append(record)
    about = (
        "Single ops between a 1x1 convolution and a mean squared error: bytes that the forward pass keeps, and the"
        " peak of the step without an optimizer. Fake tensors, CPU build, dropout as CUDA runs it (native_dropout),"
        " but where cpu is true."
    )
    content = {
        "about": about, "torch": torch.__version__, "input_shape": SHAPE, "batch_size": BATCH, "ops": records,
    }  # fmt: skip
    TARGET.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
