"""Measures what PyTorch's allocator reserves for the nets of a public sheet where cuDNN asks for no workspace: the rows
`nets` of fixtures/truth/workspaces.json.

    python tests/oracle/sheet_workspaces.py cnn_data_step1.csv > rows.json

Run by hand with a CUDA build of PyTorch and a card that only counts (cuDNN's workspaces set to none); the sheet is that
of itu-rad/GPUMemNet. Of its nets the plain chains of convolutions in odd rows: half of them, on which nothing is fitted.
"""

from __future__ import annotations

import ast
import csv
import gc
import json
import re
import sys

import torch
from torch import nn

ACTIVATIONS = (
    nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.ELU, nn.SELU, nn.GELU, nn.Tanh, nn.SiLU, nn.Softplus, nn.Mish,
)  # fmt: skip
NAMED = {each.__name__: each for each in ACTIVATIONS}
NAME = re.compile(
    r"input_channels:(\d+)_num_classes:(\d+)_depth:\d+_arch:(\w+?)_base_filters:\d+_batch:(\d+)_input_size:(\d+)_"
    r"act:\w+?_dropout:([\d.]+)_dropout:(\w+)_batchnorm:(\w+)\.out"
)
MIB = 2**20


def chain(layers: list[tuple[str, int, int]], channels: int, classes: int, rate: float) -> tuple[nn.Module, list[int]]:
    """The net of a row, and the channels of its convolutions: they follow from the numbers of parameters."""
    made: list[nn.Module] = []
    widths = [channels]
    for name, _, parameters in layers:
        if name == "conv2d":
            widths.append(parameters // (9 * widths[-1] + 1))
            made.append(nn.Conv2d(widths[-2], widths[-1], 3, padding=1))
        elif name == "batch_norm2d":
            made.append(nn.BatchNorm2d(widths[-1]))
        elif name == "dropout":
            made.append(nn.Dropout(rate))
        elif name in NAMED:
            made.append(NAMED[name]())
    ending = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(widths[-1], classes), nn.Softmax(dim=1)
    return nn.Sequential(*made, *ending), widths


def measured(net: nn.Module, shape: tuple[int, ...]) -> tuple[int, int]:
    """The highest bytes allocated and reserved of one forward pass and three steps."""
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    net = net.cuda().train()
    shown = torch.empty(shape, device="cuda")
    net(shown)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(3):
        images = torch.empty(shape, device="cuda")
        labels = torch.zeros(shape[0], dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
    return torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()


def main() -> None:
    csv.field_size_limit(10**9)
    # cuBLAS's workspaces are there before the first net, and stay.
    nn.Linear(4, 4).cuda()(torch.zeros(2, 4, device="cuda")).sum().backward()
    with open(sys.argv[1], newline="") as sheet:
        rows = list(csv.DictReader(sheet))
    for row in rows[1::2]:
        name, card = NAME.match(row["Filename"]), float(row["Max GPU Memory (MiB)"])
        if row["Status"] != "SUCCESSFUL" or name is None or name[3] in ("residual", "dense") or not 0 < card < 37_000:
            continue
        layers = ast.literal_eval(row["Activations-Params"])
        if not layers:
            continue
        batch, side = int(name[4]), int(name[5])
        net, widths = chain(layers, int(name[1]), int(name[2]), float(name[6]))
        allocated, reserved = measured(net, (batch, widths[0], side, side))
        print(json.dumps([name[3], batch, side, widths, allocated // MIB, reserved // MIB, int(card)]), flush=True)


if __name__ == "__main__":
    main()
