"""Batches that a generator of the code's own puts together from files that are not there: whole batches count, however
their ends are worked out, and a batch whose size was not found is a cause."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

HEAD = """\
import glob, random
import cv2
import keras
import numpy as np
import pandas as pd
from keras import layers
files, table, batch = glob.glob("*.jpg"), pd.read_csv("all.csv"), 16
def load(name):
    return cv2.resize(cv2.imread(name), (20, 24))
def gen():
"""

TAIL = """
model = keras.Sequential([keras.Input((24, 20, 3)), layers.Flatten(), layers.Dense(1)])
model.compile("adam", "mse")
model.fit(gen(), steps_per_epoch=50)
"""

EACH = "        x = np.array([load(each) for each in names]) / 255\n        yield x, np.zeros(len(names))\n"

WAYS = {
    "a slice that moves": "    for at in range(0, len(files), batch):\n        names = files[at:at + batch]\n" + EACH,
    "by its number": "    for at in range(len(files) // batch):\n        names = files[at * batch:(at + 1) * batch]\n"
    + EACH,
    "up to the end of the files": "    for at in range(0, len(files), batch):\n"
    "        names = files[at:min(at + batch, len(files))]\n" + EACH,
    "rows of a table": "    for at in range(0, len(table), batch):\n"
    "        names = table.iloc[at:at + batch]['name'].values\n" + EACH,
    "places in a shuffled order": "    order = np.arange(len(files))\n    np.random.shuffle(order)\n"
    "    for at in range(0, len(order), batch):\n        names = [files[i] for i in order[at:at + batch]]\n" + EACH,
    "drawn at random": "    while True:\n        names = random.sample(files, batch)\n" + EACH,
    "filled one by one": "    for at in range(0, len(files), batch):\n        end = min(at + batch, len(files))\n"
    "        x = np.zeros((len(files[at:end]), 24, 20, 3))\n        for i, each in enumerate(files[at:end]):\n"
    "            x[i] = load(each)\n        yield x, np.zeros(end - at)\n",
    "a list for each": "    for at in range(0, len(files), batch):\n        x, y = [], []\n"
    "        for each in files[at:at + batch]:\n            x.append(load(each))\n            y.append(0)\n"
    "        yield np.array(x), np.array(y)\n",
}


def reported(text: str) -> ModelReport:
    (report,) = analyse(Source("train.py", text), Settings()).reports
    return report


@pytest.mark.parametrize("body", WAYS.values(), ids=WAYS)
def test_whole_batches_count(body: str) -> None:
    report = reported(HEAD + body + TAIL)
    assert (report.training.batch_size.value, report.status) == (16, "exact")


UNFOLLOWED = "    from elsewhere import images\n    yield images(), images()\n"


def test_a_batch_that_was_not_found_is_a_cause() -> None:
    report = reported(HEAD + UNFOLLOWED + TAIL)
    assert (report.training.batch_size.source, report.status) == ("default", "lower-bound")
    assert "the training's batch size is not known: 32, the default, was counted" in {c.reason for c in report.causes}


def test_steps_of_an_epoch_tell_the_batch_where_the_generator_does_not() -> None:
    tail = TAIL.replace("steps_per_epoch=50", "steps_per_epoch=np.ceil(len(files) / batch)")
    assert reported(HEAD + UNFOLLOWED + tail).training.batch_size.value == 16


LOADER = """\
import glob, random
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
class Files(Dataset):
    def __init__(self):
        self.files = glob.glob("*.pt")
    def __len__(self):
        return len(self.files)
    def __getitem__(self, at):
        return torch.zeros(8), torch.zeros(1)
data, net = Files(), nn.Linear(8, 1)
loader = DataLoader(data, batch_size={size})
opt = torch.optim.SGD(net.parameters(), 0.1)
for x, y in loader:
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""

SMALLER = {
    "of a loader": LOADER.format(size="min(24, len(data))"),
    "in another order, of more": LOADER.format(size="min(len(data), 24, 64)"),
    "of arrays": HEAD
    + "    pass\nmodel = keras.Sequential([keras.Input((24, 20, 3)), layers.Flatten(), layers.Dense(1)])\n"
    "model.compile('adam', 'mse')\n"
    "model.fit(np.zeros((99, 24, 20, 3)), np.zeros((99, 1)), batch_size=min(24, len(files)))\n",
}


@pytest.mark.parametrize("text", SMALLER.values(), ids=SMALLER)
def test_a_batch_no_larger_than_the_data_is_whole(text: str) -> None:
    report = reported(text)
    assert (report.training.batch_size.value, report.status) == (24, "exact")


@pytest.mark.parametrize("size", ["random.randint(8, 24)", "max(24, len(data))"])
def test_a_batch_of_an_unknown_size_is_a_cause(size: str) -> None:
    assert reported(LOADER.format(size=size)).status == "lower-bound"


JOINED = """\
import glob
import rasterio
import numpy as np
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset, random_split
class Scene(Dataset):
    def __init__(self, path, tile):
        self.path, self.tile = path, tile
    def __len__(self):
        return rasterio.open(self.path).width // self.tile
    def __getitem__(self, at):
        with rasterio.open(self.path) as source:
            image, mask = source.read(), source.read(2)
        mask = torch.as_tensor(mask.astype(np.int64)).reshape(self.tile, self.tile)
        return torch.as_tensor(image).reshape(3, self.tile, self.tile), mask
{scenes}
data = ConcatDataset(scenes)
train, rest = random_split(data, [len(data) - len(data) // 10, len(data) // 10])
net = nn.Conv2d(3, 5, 1).cuda()
opt = torch.optim.SGD(net.parameters(), 0.1)
loss = nn.CrossEntropyLoss()
for x, y in DataLoader(train, 6):
    opt.zero_grad()
    loss(net(x.cuda()), y.cuda()).backward()
    opt.step()
"""

SCENES = {
    "in a comprehension": "scenes = [Scene(each, 16) for each in glob.glob('*.tif')]",
    "one by one": "scenes = []\nfor each in glob.glob('*.tif'):\n    scenes.append(Scene(each, 16))",
}


@pytest.mark.parametrize("scenes", SCENES.values(), ids=SCENES)
def test_data_sets_of_files_that_are_not_there(scenes: str) -> None:
    report = reported(JOINED.format(scenes=scenes))
    assert report.training.input_shape is not None
    assert (report.training.input_shape.value, report.training.batch_size.value, report.status) == (
        (3, 16, 16), 6, "exact",
    )  # fmt: skip
    # As PyTorch 2.12's allocator counts the same step on zeros, within one block; with labels of 8 bytes each.
    assert report.estimate is not None
    assert report.estimate.total == pytest.approx(112_640, abs=512)
