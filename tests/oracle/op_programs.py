"""Writes a training program for each expression of op_expressions.txt, to be held against PyTorch's own CUDA code.

By hand, as random_programs.py, which says how to go on:

    python tests/oracle/op_programs.py FOLDER

Each is a layer, the expression, and the mean of its tanh: in float32, under autocast to float16, and on an input that
does not lie contiguous (channels last; of sequences transposed); of sequences under autocast to bfloat16 as well. A name
ends in a, b, c, d accordingly. Random nets find what ops do to each other; this finds what one does.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PROGRAM = """\
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        x = {first}
        x = {expression}
        return torch.tanh(x).mean()


net = Net().cuda(){last}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(8, {shape}, device="cuda"){last}
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.{half}, enabled={on}):
        loss = net(x)
    loss.backward()
    optimizer.step()
"""
MADE = {
    "w16": "nn.Parameter(torch.zeros(16))",
    "p16": "nn.Parameter(torch.zeros(1, 16, 1, 1))",
    "m": "nn.Parameter(torch.zeros(16, 16))",
    "m32": "nn.Parameter(torch.zeros(32, 32))",
    "c": "nn.Parameter(torch.zeros(16, 32, 17, dtype=torch.complex64))",
    "bi": "nn.Parameter(torch.zeros(8, 16, 16))",
    "k": "nn.Conv2d(16, 16, 3, padding=1)",
    "w64": "nn.Parameter(torch.zeros(64))",
    "m64": "nn.Parameter(torch.zeros(64, 64))",
    "m192": "nn.Parameter(torch.zeros(192, 64))",
    "e": "nn.Parameter(torch.zeros(64, 64))",
    "cls": "nn.Parameter(torch.zeros(1, 1, 64))",
    "k1": "nn.Conv1d(48, 48, 3)",
    "lstm_cell": "nn.LSTMCell(64, 64)",
    "gru_cell": "nn.GRUCell(64, 64)",
    "mha": "nn.MultiheadAttention(64, 4, batch_first=True)",
    "enc": "nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)",
    "dec": "nn.TransformerDecoderLayer(64, 4, 128, batch_first=True)",
    "bn": "nn.BatchNorm1d(64)",
    "seq": "nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU())",
}
"""What an expression may name of `self`."""
LAST = ".to(memory_format=torch.channels_last)"
MAPS = "nn.Conv2d(16, 16, 3, padding=1)", "self.first(x)"
ROWS = "nn.Linear(64, 64)", "self.first(x)"
COLUMNS = "nn.Linear(48, 48)", "self.first(x.transpose(1, 2)).transpose(1, 2)"
VARIANTS = {
    "map": (
        ("a", "float16", False, "", *MAPS),
        ("b", "float16", True, "", *MAPS),
        ("c", "float16", False, LAST, *MAPS),
    ),
    "sequence": (
        ("a", "float16", False, "", *ROWS),
        ("b", "float16", True, "", *ROWS),
        ("c", "float16", False, "", *COLUMNS),
        ("d", "bfloat16", True, "", *ROWS),
    ),
}
SHAPES = {"map": "16, 32, 32", "sequence": "48, 64"}


def main() -> None:
    folder, kind, number = Path(sys.argv[1]), "", 0
    folder.mkdir(parents=True, exist_ok=True)
    for line in Path(__file__).with_name("op_expressions.txt").read_text().splitlines():
        if line.startswith("#"):
            kind, number = line.split()[1].removesuffix("s"), 0
            continue
        for name, half, on, last, layer, first in VARIANTS[kind]:
            named = dict.fromkeys(re.findall(r"self\.(\w+)", line))
            made = [f"self.first = {layer}", *(f"self.{word} = {MADE[word]}" for word in named)]
            text = PROGRAM.format(
                made="\n        ".join(made),
                first=first,
                expression=line,
                last=last,
                shape=SHAPES[kind],
                half=half,
                on=on,
            )
            (folder / f"{kind}_{number:03}{name}.py").write_text(text)
        number += 1


if __name__ == "__main__":
    main()
