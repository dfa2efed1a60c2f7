"""Texts of unknown length that are cut and filled up to a stated one: the sample is as long as the program makes it.
Each way was run under PyTorch 2.12 on texts shorter, longer and just as long; what may be of any length is a bound."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

PROGRAM = """\
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

LONG = 64

def padded(words, known, length, value=0):
    out = []
    for word in words[:length]:
        out.append(known.get(word, 0))
    while len(out) < length:
        out.append(value)
    return out

class Texts(Dataset):
    def __init__(self):
        self.rows = [line.split() for line in open("corpus.txt")]
        self.known = {{"a": 1}}
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, at):
        words = self.rows[at]
        ids = [self.known.get(word, 0) for word in words]
        {sample}
        return x, 0

class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 8)
        self.out = nn.Linear(8, 2)
    def forward(self, x):
        return self.out(self.table(x).mean(1))

def joined(batch):
    {collate}
    return torch.stack(xs), torch.tensor([y for _, y in batch])

net = Bag()
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(Texts(), batch_size=16, collate_fn=joined):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""

AS_IT_IS = "xs = [x for x, _ in batch]"
WHOLE = "x = torch.tensor(ids)"

CUT_AND_FILLED = {
    "added": ("ids = ids[:LONG]; x = torch.tensor(ids + [0] * (LONG - len(ids)))", AS_IT_IS),
    "between two tokens": (
        "ids = [2] + ids[:LONG - 2] + [3]; x = torch.tensor(ids + [0] * (LONG - len(ids)))", AS_IT_IS,
    ),
    "in place": ("ids = ids[:LONG]; ids += [0] * (LONG - len(ids)); x = torch.LongTensor(ids)", AS_IT_IS),
    "extended": ("ids = ids[:LONG]; left = LONG - len(ids); ids.extend([0] * left); x = torch.tensor(ids)", AS_IT_IS),
    "as long as the words": (
        ("words = words[:LONG]; ids = [self.known.get(w, 0) for w in words]; "
        "x = torch.tensor(ids + [0] * (LONG - len(words)))"), AS_IT_IS,
    ),
    "either": (
        "ids = ids + [0] * (LONG - len(ids)) if len(ids) < LONG else ids[:LONG]; x = torch.tensor(ids)", AS_IT_IS,
    ),
    "cut where it is too long": (
        "ids = ids[:LONG] if len(ids) > LONG else ids; x = torch.tensor(ids + [0] * (LONG - len(ids)))", AS_IT_IS,
    ),
    "filled, then cut": ("x = torch.tensor((ids + [0] * LONG)[:LONG])", AS_IT_IS),
    "one by one": ("x = torch.tensor(padded(words, self.known, LONG))", AS_IT_IS),
    "torch's pad": ("t = torch.tensor(ids)[:LONG]; x = F.pad(t, (0, LONG - t.size(0)))", AS_IT_IS),
    "numpy's pad": ("a = np.array(ids[:LONG]); x = torch.from_numpy(np.pad(a, (0, LONG - len(a))))", AS_IT_IS),
    "zeros behind": (
        "t = torch.tensor(ids[:LONG]); x = torch.cat([t, torch.zeros(LONG - t.size(0), dtype=torch.long)])", AS_IT_IS,
    ),
    "numpy's zeros": (
        ("a = np.array(ids[:LONG]); b = np.zeros(LONG - a.shape[0], dtype=np.int64); "
        "x = torch.from_numpy(np.concatenate([a, b]))"), AS_IT_IS,
    ),
    "in the batch": (WHOLE, "xs = [F.pad(x[:LONG], (0, LONG - len(x[:LONG]))) for x, _ in batch]"),
}  # fmt: skip

OF_ANY_LENGTH = {
    "not cut": ("x = torch.tensor(ids + [0] * (LONG - len(ids)))", AS_IT_IS),
    "as the longest": (
        WHOLE, "long = max(len(x) for x, _ in batch); xs = [F.pad(x, (0, long - len(x))) for x, _ in batch]",
    ),
    "only cut": ("x = torch.tensor(ids[:LONG])", AS_IT_IS),
    "filled by another's length": (
        "other = self.rows[0][:LONG]; x = torch.tensor(ids[:LONG] + [0] * (LONG - len(other)))", AS_IT_IS,
    ),
    "one in two": (
        "ids = [i for i in ids[:LONG] if i]; x = torch.tensor(ids + [0] * (LONG - len(words[:LONG])))", AS_IT_IS,
    ),
    "longer than before": (
        ("ids = ids[:LONG]; many = len(ids)\n        for word in words: ids.append(0)\n"
        "        x = torch.tensor(ids + [0] * (LONG - many))"), AS_IT_IS,
    ),
    "half of it": ("ids = ids[:LONG]; x = torch.tensor(ids + [0] * (LONG - len(ids) // 2))", AS_IT_IS),
}  # fmt: skip


def training(sample: str, collate: str, folder: Path) -> tuple[str, int, object]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(sample=sample.replace("; ", "\n        "), collate=collate.replace("; ", "\n    ")))
    (report,) = analyse(load(str(path)), Settings()).reports
    shape = report.training.input_shape
    return report.status, report.training.batch_size.value, shape.value if shape is not None else None


@pytest.mark.parametrize(("sample", "collate"), CUT_AND_FILLED.values(), ids=CUT_AND_FILLED)
def test_what_is_filled_up_to_a_length_has_it(sample: str, collate: str, tmp_path: Path) -> None:
    assert training(sample, collate, tmp_path) == ("exact", 16, (64,))


@pytest.mark.parametrize(("sample", "collate"), OF_ANY_LENGTH.values(), ids=OF_ANY_LENGTH)
def test_what_may_be_of_any_length_is_not_exact(sample: str, collate: str, tmp_path: Path) -> None:
    assert training(sample, collate, tmp_path) == ("lower-bound", 16, (None,))
