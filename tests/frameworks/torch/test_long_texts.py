"""Trainings on parts of one long text that is not there: a part is as long as the code makes it, wherever it lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

HEAD = """\
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset, random_split

model = nn.Sequential(nn.Embedding(500, 8), nn.Linear(8, 500))
optimizer = torch.optim.Adam(model.parameters())

def learn(given, wanted):
    loss = nn.functional.cross_entropy(model(given).flatten(0, 1), wanted.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

COUNTED = """
count = 0
with open("corpus") as file:
    for line in file:
        count += len(line.split()) + 1
text = torch.LongTensor(count)
text = text[: text.numel() // 16 * 16].view(16, -1)
for at in range(0, text.size(1) - 24, 24):
    learn(text[:, at : at + 24], text[:, at + 1 : at + 25])
"""

NUMBERED = """
class Numbers:
    def __init__(self):
        self.known, self.of = [], {}

    def add(self, word):
        if word not in self.of:
            self.known.append(word)
            self.of[word] = len(self.known) - 1

def numbered(path):
    numbers, lines = Numbers(), []
    for line in open(path):
        for word in line.split():
            numbers.add(word)
    for line in open(path):
        line_of = []
        for word in line.split():
            line_of.append(numbers.of[word])
        lines.append(torch.tensor(line_of).type(torch.int64))
    return torch.cat(lines)

class Parts(Dataset):
    def __init__(self):
        self.text = numbered("corpus")

    def __len__(self):
        return len(self.text) // 24 - 1

    def __getitem__(self, index):
        first = index * 24
        last = first + 24
        return self.text[first:last], self.text[first + 1 : last + 1]

parts = Parts()
"""

LETTERS = """
class Parts(Dataset):
    def __init__(self):
        self.text = open("corpus").read()
        self.of = {letter: at for at, letter in enumerate(sorted(set(self.text)))}

    def __len__(self):
        return len(self.text) - 24

    def __getitem__(self, index):
        numbers = [self.of[letter] for letter in self.text[index : index + 25]]
        return torch.tensor(numbers[:-1]), torch.tensor(numbers[1:])

parts = Parts()
"""

LOADED = """
for given, wanted in DataLoader({}, batch_size=16):
    learn(given, wanted)
"""

CUT = "most = int(len(parts) * 0.9)\nparts, rest = random_split(parts, [most, len(parts) - most])\n"

PROGRAMS = {
    "as many columns as a loop steps over": COUNTED,
    "words, by the number of a part": NUMBERED + LOADED.format("parts"),
    "letters, by where a part begins": LETTERS + LOADED.format("parts"),
    "parts of a random split": LETTERS + CUT + LOADED.format("parts"),
    "parts of two texts": LETTERS + LOADED.format("ConcatDataset([parts, Parts()])"),
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_part_is_as_long_as_the_code_makes_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + text)
    (report,) = analyse(load(str(path)), Settings()).reports
    assert (report.kind, report.status) == ("training", "exact")
    assert report.training.batch_size.value == 16
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (24,)


OPENED = """
import io
with io.open("corpus", encoding="utf-8") as file:
    text = file.read()
"""

STORIES = """
from functools import reduce
stories, lines = [], []
for line in open("corpus"):
    if line.startswith("?"):
        stories.append(([each for each in lines if each], line))
    else:
        lines.append(line.split())
asked = [(reduce(lambda a, b: a + b, lines), line) for lines, line in stories]
text = str(asked)
"""


@pytest.mark.parametrize("opened", [OPENED, STORIES], ids=["io.open", "what fails for the one that stands for all"])
def test_what_a_file_holds_is_the_cause(opened: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        HEAD.replace("500", "len(set(text))").replace("model =", opened + "model =")
        + """
for turn in range(100):
    learn(torch.randint(0, 9, (16, 24)), torch.randint(0, 9, (16, 24)))
"""
    )
    (report,) = analyse(load(str(path)), Settings()).reports
    assert (report.kind, report.status) == ("training", "lower-bound")
    assert {cause.reason for cause in report.causes} == {"what a file holds is not known"}


UNKNOWN = {
    "up to the end of a line": LETTERS.replace("self.text[index : index + 25]", "self.text[index:].split()[0]"),
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_what_depends_on_the_text_is_not_known(text: str, tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + text + LOADED.format("parts"))
    (report,) = analyse(load(str(path)), Settings()).reports
    assert (report.kind, report.status) == ("training", "lower-bound")
    assert report.training.batch_size.value == 16
