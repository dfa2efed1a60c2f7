"""Where a wrong size is told: at the line of the small edit after which none is wrong. Programs: fixtures/bugs."""

from __future__ import annotations

import pytest

from flake8_cnnmem import analysis, checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.evaluate.noting import Notes
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.smallest_edit import MOST_TRIALS, with_lines_to_change
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.files import DISK

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        {layers}

    def forward(self, x):
        {forward}


Net()(torch.zeros({shape}))
"""

CASES = {
    "a layer that is never called": (
        ["self.a = nn.Linear(8, width)", "self.b = nn.Linear(8, width)", "self.c = nn.Linear(width, 8)",
         "self.d = nn.Linear(width, 3)"],
        ["h = self.a(x)", "h = self.b(h)", "return self.d(h)"], "2, 8", "h = self.b(h)",
    ),
    "a number in the place of a name": (
        ["self.a = nn.Linear(8, width)", "self.b = nn.Linear(20, width)", "self.c = nn.Linear(width, 3)"],
        ["return self.c(self.b(self.a(x)))"], "2, 8", "self.b = nn.Linear(20, width)",
    ),
    "another axis": (
        ["self.a = nn.Linear(8, width)", "self.b = nn.Linear(width, 3)"],
        ["h = self.a(x)", "h = h.mean(dim=2)", "return self.b(h)"], "2, 5, 8", "h = h.mean(dim=2)",
    ),
    "a switch that was forgotten": (
        ["self.a = nn.LSTM(8, width, batch_first=True)", "self.b = nn.Linear(width * 2, 3)"],
        ["h, _ = self.a(x)", "h = h[:, -1]", "return self.b(h)"], "2, 5, 8",
        "self.a = nn.LSTM(8, width, batch_first=True)",
    ),
    "what the layers beside it are told": (
        ["self.a = nn.Conv2d(3, 8, 4, stride=2, padding=1)", "self.b = nn.Conv2d(8, 8, 4, stride=2, padding=1)",
         "self.c = nn.Conv2d(8, 8, 3, padding=1)", "self.d = nn.Linear(8 * 4 * 4, 3)"],
        ["h = self.c(self.b(self.a(x)))", "return self.d(h.flatten(1))"], "2, 3, 32, 32",
        "self.c = nn.Conv2d(8, 8, 3, padding=1)",
    ),
    "a size that a line works out": (
        ["side = (32 - 6) // 4", "self.a = nn.Conv2d(3, 8, 7)", "self.b = nn.Linear(8 * side * side, 3)"],
        ["h = nn.functional.max_pool2d(self.a(x), 2)", "return self.b(h.flatten(1))"], "2, 3, 32, 32",
        "side = (32 - 6) // 4",
    ),
    "a summand that a line lacks": (
        ["other = 16", "both = width + 3", "self.a, self.b = nn.Linear(8, width), nn.Linear(8, other)",
         "self.c = nn.Linear(both, 3)"],
        ["h = torch.cat((self.a(x), self.b(x), x[:, :3]), 1)", "return self.c(h)"], "2, 8", "both = width + 3",
    ),
    "a result that nobody reads": (
        ["self.a, self.b = nn.Linear(8, 12), nn.Linear(8, width)", "self.c = nn.Linear(12, width)"],
        ["a, b = self.a(x), self.b(x)", "c = self.c(a)", "return torch.stack((a, b))"], "2, 8",
        "return torch.stack((a, b))",
    ),
    "another item of a list": (
        ["self.a, self.b = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 20, 3)", "self.c = nn.Conv2d(8, 5, 1)"],
        ["maps = [self.a(x)]", "maps.append(self.b(maps[0]))", "return self.c(maps[1])"], "2, 3, 16, 16",
        "return self.c(maps[1])",
    ),
    "another stride, where no other would do": (
        ["self.a = nn.Conv2d(3, 8, 4, stride=3)", "self.b = nn.Linear(8 * 15 * 15, 3)"],
        ["return self.b(self.a(x).flatten(1))"], "2, 3, 32, 32", "self.a = nn.Conv2d(3, 8, 4, stride=3)",
    ),
    "an axis that a reshape lacks": (
        ["self.a = nn.Linear(8, width)", "self.b = nn.Linear(width // 2, 3)"],
        ["h = self.a(x)", "h = h.view(x.size(0), 12)", "return self.b(h.sum(1))"], "2, 8", "h = h.view(x.size(0), 12)",
    ),
    "two sizes of a reshape": (
        ["self.a, self.b = nn.Conv2d(1, 6, 3), nn.Linear(6 * 14, width)"],
        ["n, c, t, f = self.a(x).shape", "h = self.a(x).view(n, c, t * f)", "return self.b(h)"], "2, 1, 10, 16",
        "h = self.a(x).view(n, c, t * f)",
    ),
    "one more that is joined": (
        ["self.a = nn.Linear(8, width)", "self.b = nn.Linear(8, 16)", "self.c = nn.Linear(width + 16 + 8, 3)"],
        ["a, b = self.a(x), self.b(x)", "h = torch.cat((a, b), 1)", "return self.c(h)"], "2, 8",
        "h = torch.cat((a, b), 1)",
    ),
    "a grid that was not squared": (
        ["self.count = 32 // 8", "self.a = nn.Conv2d(3, width, 8, stride=8)",
         "self.p = nn.Parameter(torch.zeros(self.count, width))"],
        ["return self.a(x).flatten(2).transpose(1, 2) + self.p"], "2, 3, 32, 32", "self.count = 32 // 8",
    ),
    "heads that leave a remainder": (
        ["self.heads = 5", "self.a = nn.Linear(24, 24)"],
        ["b, n, c = x.shape", "return self.a(x).view(b, n, self.heads, c // self.heads)"], "2, 7, 24",
        "self.heads = 5",
    ),
    "a last pooling to one value": (
        ["self.a = nn.Conv2d(3, width, 3, padding=1)", "self.b = nn.Linear(width, 3)"],
        ["h = self.a(x)", "h = nn.functional.avg_pool2d(h, 4)", "return self.b(h.flatten(1))"], "2, 3, 8, 8",
        "h = nn.functional.avg_pool2d(h, 4)",
    ),
    "steps that stand behind the features": (
        ["self.a = nn.Conv2d(3, width, 4, stride=4)", "self.b = nn.Linear(width, 3)"],
        ["h = self.a(x).flatten(2)", "return self.b(h)"], "2, 3, 32, 32", "h = self.a(x).flatten(2)",
    ),
    "a width that a loop does not hand on": (
        ["blocks, last = [], 8", "for size in (16, width, 32):", "    blocks.append(nn.Linear(last, size))",
         "    last = 16", "self.a = nn.Sequential(*blocks)"],
        ["return self.a(x)"], "2, 8", "last = 16",
    ),
    "a width that is taken apart": (
        ["self.a = nn.Linear(8, width * 4)"],
        ["a, b, c, d, e, f = self.a(x).chunk(6, dim=1)", "return a * x.repeat(1, 3) + b"], "2, 8",
        "self.a = nn.Linear(8, width * 4)",
    ),
    "maps that are not flattened": (
        ["self.a = nn.Conv2d(3, 8, 3)", "self.b = nn.Linear(8 * 4, width)"],
        ["h = nn.functional.adaptive_avg_pool2d(self.a(x), 2)", "return self.b(h)"], "2, 3, 8, 8",
        "h = nn.functional.adaptive_avg_pool2d(self.a(x), 2)",
    ),
    "a line that does nothing to a tensor's axes": (
        ["self.a = nn.Conv1d(8, width, 3)"], ["h = x", "return self.a(h)"], "2, 20, 8", "h = x",
    ),
    "a line that keeps a width": (
        ["blocks, size = [], 8", "for _ in range(2):", "    blocks.append(nn.Linear(size, size // 2))",
         "    size = size", "self.a = nn.Sequential(*blocks)"],
        ["return self.a(x)"], "2, 8", "size = size",
    ),
    "the next item of a list": (
        ["blocks, sizes = [], [8, 16, 32]", "for i in range(2):", "    into = sizes[i + 1]",
         "    blocks.append(nn.Linear(into, sizes[i + 1]))", "self.a = nn.Sequential(*blocks)"],
        ["return self.a(x)"], "2, 8", "into = sizes[i + 1]",
    ),
    "a list that is not turned round": (
        ["sizes = [8, 16, 32]", "back = sizes", "self.a = nn.Linear(8, 32)",
         "self.b = nn.Sequential(nn.Linear(back[0], back[1]), nn.Linear(back[1], back[2]))"],
        ["return self.b(self.a(x))"], "2, 8", "back = sizes",
    ),
    "a list that is emptied from its other end": (
        ["self.a, self.b = nn.Linear(8, 12), nn.Linear(12, 20)", "self.c = nn.Linear(20, 3)"],
        ["maps = [self.a(x)]", "maps.append(self.b(maps[0]))", "last = maps.pop(0)", "return self.c(last)"], "2, 8",
        "last = maps.pop(0)",
    ),
    "two widths the other way round": (
        ["self.a = nn.Conv1d(8, width, 3)", "inner, last = width, 5", "self.b = nn.Linear(last, inner)"],
        ["h = self.a(x)", "return self.b(h.mean(2))"], "2, 8, 20", "self.b = nn.Linear(last, inner)",
    ),
    "a padding without the dilation": (
        ["def padded(dilation=3):", "    around = 1",
         "    return nn.Conv1d(8, 8, 3, padding=around, dilation=dilation)", "self.a = padded()"],
        ["return x + self.a(x)"], "2, 8, 20", "around = 1",
    ),
    "a feature's own axis": (
        ["self.a = nn.Linear(1, width)", "self.b = nn.Linear(width, 3)"],
        ["h = self.a(x)", "return self.b(h)"], "2, 5", "h = self.a(x)",
    ),
    "an outer call that the lines beside it have": (
        ["self.conv1 = nn.Conv2d(3, 8, 3, padding=1)", "self.conv2 = nn.Conv2d(8, 8, 3, padding=1)",
         "self.conv3 = nn.Conv2d(8, 8, 3, padding=1)", "self.pool = nn.MaxPool2d(2)",
         "self.fc = nn.Linear(8 * 4 * 4, 3)"],
        ["x = self.pool(torch.relu(self.conv1(x)))", "x = torch.relu(self.conv2(x))",
         "x = self.pool(torch.relu(self.conv3(x)))", "return self.fc(x.flatten(1))"], "2, 3, 32, 32",
        "x = torch.relu(self.conv2(x))",
    ),
    "the last layer of a row": (
        ["self.a = nn.Sequential(", "    nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),",
         "    nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),",
         "    nn.Conv2d(8, 4, 3, padding=1), nn.ReLU(),", ")", "self.b = nn.Linear(4 * 4 * 4, 3)"],
        ["return self.b(self.a(x).flatten(1))"], "2, 3, 32, 32", "nn.Conv2d(8, 4, 3, padding=1), nn.ReLU(),",
    ),
    "an axis to be broadcast along": (
        ["self.a = nn.Linear(8, width)"],
        ["mask = (x[:, :, 0] > 0).unsqueeze(1)", "h = self.a(x).view(2, 5, 4, 6).transpose(1, 2)",
         "scores = h @ h.transpose(-2, -1)", "return scores.masked_fill(mask, 0.0)"], "2, 5, 8",
        "mask = (x[:, :, 0] > 0).unsqueeze(1)",
    ),
    "a name among the sizes of a reshape": (
        ["self.heads, self.head, self.width = 4, width // 4, width", "self.a = nn.Linear(8, width)"],
        ["return self.a(x).view(2, 5, self.heads, self.width)"], "2, 5, 8",
        "return self.a(x).view(2, 5, self.heads, self.width)",
    ),
    "a result of a pooling that nobody reads": (
        ["self.a = nn.Conv2d(3, 8, 3, padding=1)", "self.pool = nn.MaxPool2d(2)",
         "self.up = nn.Upsample(scale_factor=2)", "self.b = nn.Conv2d(8, 8, 3, padding=1)"],
        ["h = self.a(x)", "p = self.pool(h)", "m = self.b(h)", "return torch.cat([self.up(m), h], dim=1)"],
        "2, 3, 16, 16", "m = self.b(h)",
    ),
    "a pooling to more than one value": (
        ["self.a = nn.Conv2d(3, width, 3)", "self.pool = nn.AdaptiveAvgPool2d((2, 2))", "self.b = nn.Linear(width, 3)"],
        ["return self.b(self.pool(self.a(x)).flatten(1))"], "2, 3, 16, 16",
        "self.pool = nn.AdaptiveAvgPool2d((2, 2))",
    ),
    "a padding that does not go with its kernel": (
        ["self.a = nn.Conv2d(8, 8, 7, padding=1)", "self.b = nn.Conv2d(8, 8, 3, padding=1)"],
        ["return x + self.b(self.a(x))"], "2, 8, 16, 16", "self.a = nn.Conv2d(8, 8, 7, padding=1)",
    ),
    "another factor than the layer beside it": (
        ["ratio = 4", "self.a = nn.Linear(width, 2 * width)", "self.b = nn.Linear(ratio * width, width)"],
        ["return self.b(self.a(x))"], "2, 24", "self.a = nn.Linear(width, 2 * width)",
    ),
}  # fmt: skip


def text_of(layers: list[str], forward: list[str], shape: str) -> str:
    parts = {"layers": layers, "forward": forward}
    return NET.format(shape=shape, **{name: "\n        ".join(lines) for name, lines in parts.items()})


@pytest.mark.parametrize("case", CASES)
def test_the_line_of_the_edit_is_told(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")
    layers, forward, shape, wrong = CASES[case]
    text = text_of(layers, forward, shape)
    report = analyse(Source("net.py", text), Settings())
    lines = {finding.line for finding in checks.run(report, Settings(), ["CNM201"])}
    assert [text.split("\n")[line - 1].strip() for line in lines] == [wrong]


def test_nothing_is_tried_of_what_has_no_wrong_size_and_few_edits_of_what_has() -> None:
    tried: list[str] = []

    def evaluate(source: Source) -> FileReport:
        tried.append(source.text)
        return analysis.in_one_order(source, Settings(), None, DISK)

    layers, forward, shape, _ = CASES["another axis"]
    right = Source("net.py", text_of(layers, [forward[0], "h = h.mean(dim=1)", forward[2]], shape))
    notes = Notes("net.py")
    report = analyse(right, Settings(), notes=notes)
    assert with_lines_to_change(report, right, evaluate, notes) is report
    assert tried == []
    wrong = Source(
        "net.py", text_of(["self.a = nn.Linear(8, 7)", "self.b = nn.Embedding(3, 2)"], ["return self.a(x) @ x"], "2, 8")
    )
    with_lines_to_change(analyse(wrong, Settings(), notes=notes), wrong, evaluate, notes)
    assert 0 < len(tried) <= MOST_TRIALS + 1
