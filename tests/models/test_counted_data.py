"""Data whose length nobody knows, beside numbers, in splits, in folds: one training each, with its facts.

Parameters are PyTorch's and Keras' own count.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

HEAD = """\
import itertools
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision import datasets, transforms

to_tensor = transforms.Compose([transforms.Resize((64, 64)), transforms.ToTensor()])
loader = DataLoader(datasets.ImageFolder("data", to_tensor), batch_size=64)
"""

NET = """\
net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 200))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""

TURN = """\
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
"""

COUNTED = {
    "numbers of an unknown end": "for at, (x, y) in zip(range(1, len(loader) + 1), loader):\n",
    "a length that is asked for None": (
        "def batches(many):\n"
        "    count = range(many) if many is not None else itertools.count()\n"
        "    return zip(count, loader)\n"
        "for at, (x, y) in batches(len(loader)):\n"
    ),
}


def report_of(text: str, folder: Path) -> ModelReport:
    path = folder / "train.py"
    path.write_text(text)
    (report,) = analyse(load(str(path)), Settings()).reports
    return report


@pytest.mark.parametrize("loop", COUNTED.values(), ids=COUNTED)
def test_data_beside_numbers_of_which_nobody_knows_how_many_there_are(loop: str, tmp_path: Path) -> None:
    report = report_of(HEAD + NET + loop + TURN, tmp_path)
    assert (report.kind, report.status, report.parameters) == ("training", "exact", 2024)
    assert report.training.input_shape is not None
    assert (report.training.batch_size.value, report.training.input_shape.value) == (64, (3, 64, 64))


SPLITS = """\
class Splits(nn.BatchNorm2d):
    def __init__(self, channels, splits):
        super().__init__(channels)
        self.splits = splits

    def forward(self, x):
        n, c, h, w = x.shape
        many = [each.repeat(self.splits) for each in (self.running_mean, self.running_var, self.weight, self.bias)]
        return F.batch_norm(x.view(-1, {sizes}), *many, True).view(n, c, h, w)

net = nn.Sequential(nn.Conv2d(3, 8, 3), Splits(8, 16), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 200))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
"""


def test_several_samples_may_become_one_of_more_channels(tmp_path: Path) -> None:
    report = report_of(HEAD + SPLITS.format(sizes="c * self.splits, h, w") + TURN, tmp_path)
    assert (report.status, report.parameters, report.problems) == ("exact", 2040, ())
    # What PyTorch 2.12 asks for on a CUDA device.
    assert report.estimate is not None
    assert report.estimate.total == pytest.approx(26_782_800, rel=1e-3)


def test_sizes_that_no_number_of_samples_fills_are_told(tmp_path: Path) -> None:
    report = report_of(HEAD + SPLITS.format(sizes="c * self.splits, h, w - 1") + TURN, tmp_path)
    assert [each.problem.code for each in report.problems] == ["CNM201"]


FOLDS = """\
def run(fold):
    net = nn.Sequential(nn.utils.weight_norm(nn.Linear(12, 5)), nn.ReLU(), nn.Linear(5, 3))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(TensorDataset(torch.rand(96, 12), torch.zeros(96, dtype=torch.long)), batch_size=32):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()

for fold in range(3):
    run(fold)
"""


def test_models_with_a_norm_of_weights_are_one_training_in_each_fold(tmp_path: Path) -> None:
    report = report_of(HEAD + FOLDS, tmp_path)
    assert (report.times, report.parameters, report.training.batch_size.value) == (3, 88, 32)


PIPELINE = """\
import numpy as np
import tensorflow as tf

x = np.load("arrays.npz")["x"]
y = tf.keras.utils.to_categorical(np.zeros(600), 10)
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(64)
model = tf.keras.Sequential([tf.keras.layers.Conv2D(4, 5), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam()
for images, labels in data:
    with tf.GradientTape() as tape:
        loss = tf.keras.losses.categorical_crossentropy(labels, model(images, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


def test_targets_do_not_stand_for_inputs_that_are_not_known(tmp_path: Path) -> None:
    report = report_of(PIPELINE, tmp_path)
    assert (report.status, report.training.input_shape, report.problems) == ("lower-bound", None, ())
    assert report.training.batch_size.value == 64


RESIZED = """\
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.empty(0))
        self.last = nn.Linear(5, 2)

    def forward(self, x):
        if self.table.numel() == 0:
            made = torch.rand(x.size(1), 5)
            self.table.resize_(made.size())
            self.table.copy_(made)
        return self.last(torch.matmul(x.transpose(1, 2), self.table).transpose(1, 2).transpose(1, 2))

net = Scale()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for turn in range(10):
    optimizer.zero_grad()
    net(torch.rand(4, 8, 20)).sum().backward()
    optimizer.step()
"""


def test_a_buffer_that_is_given_another_size(tmp_path: Path) -> None:
    report = report_of(HEAD + RESIZED, tmp_path)
    assert (report.status, report.parameters, report.problems) == ("exact", 12, ())


NUMBERED = """\
import os
from torch.utils.data import Dataset

class Named(Dataset):
    def __init__(self, folder):
        self.names = sorted({each.split("_")[0] for each in os.listdir(folder)})

    def __len__(self):
        return 640

    def __getitem__(self, at):
        return torch.rand(3, 64, 64), self.names.index("first")

def collate(samples):
    return torch.stack([x for x, _ in samples]), torch.tensor([y for _, y in samples])

net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 200))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in DataLoader(Named("data"), batch_size=64, collate_fn=collate):
    assert y.dtype == torch.long
"""


def test_where_something_stands_is_a_whole_number(tmp_path: Path) -> None:
    report = report_of(HEAD + NUMBERED + TURN, tmp_path)
    assert (report.status, report.parameters, report.problems) == ("exact", 2024, ())
    assert report.training.batch_size.value == 64


REPLAYED = """\
import numpy as np

net = nn.Sequential(nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for turn in range(10):
    rows = [np.random.rand(12) for _ in range(64)]
    x, y = torch.FloatTensor({}), torch.zeros(64, dtype=torch.long)
"""

LISTED = {"of arrays": "rows", "of lists of arrays": "[[row] for row in rows]).squeeze(1"}


@pytest.mark.parametrize("values", LISTED.values(), ids=LISTED)
def test_arrays_keep_their_axes_in_a_list_that_becomes_a_tensor(values: str, tmp_path: Path) -> None:
    report = report_of(HEAD + REPLAYED.format(values) + TURN, tmp_path)
    assert report.training.input_shape is not None
    assert (report.status, report.parameters, report.training.input_shape.value) == ("exact", 83, (12,))
    assert report.training.batch_size.value == 64
