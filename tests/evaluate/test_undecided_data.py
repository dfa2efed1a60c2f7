"""What is known of data though not all of it is: numbers drawn at random, one of several, lists of unknown length."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance
from tests.evaluate.programs import evaluate

HEAD = """
import copy, itertools, os, random
import cv2
import numpy as np
import tensorflow as tf
import torch
from keras.preprocessing.sequence import pad_sequences
from keras.preprocessing.text import Tokenizer
from keras.utils import to_categorical
from PIL import Image, ImageOps
from torchvision import transforms as T
drawn = random.random() > 0.5
picture = cv2.imread("a.png")
image = Image.open("a.png")
"""

KNOWN = {
    "a random factor leaves an array its shape": ("np.zeros((5, 6)) * random.uniform(0, 1)", [5, 6]),
    "what goes into an array leaves it as it is": ("x = np.zeros((5, 6))\nx += os.listdir('.')", [5, 6], "x"),
    "a factor of any kind may broadcast": ("np.zeros((5, 6)) * cv2.unheard_of(3)", "?"),
    "a factor of any kind may broadcast an axis of one": ("np.zeros((1, 6)) * cv2.unheard_of(3)", "?"),
    "a random factor leaves known values their shape": ("torch.linspace(0, 1, 6) * random.random()", [6]),
    "and one with an axis of one": ("random.random() * torch.ones(1, 6)", [1, 6]),
    "the place of a name in a list is a number": ("torch.zeros(3) + ['a', 'b'].index(os.listdir('.')[0])", [3]),
    "and truth values": ("torch.arange(6) < random.randint(1, 5)", [6]),
    "a crop at a random place": (
        "y, x = random.randint(0, 99), np.random.randint(0, 99)\nr = picture[y : y + 40, x : x + 50]", [40, 50, 3], "r",
    ),
    "a crop about the middle": (
        "h, w = picture.shape[:2]\ny = (h - 40) // 2\nr = picture[y : y + 40, 0 : w]", [40, None, 3], "r",
    ),
    "ends that are not computed from one another": (
        "y = random.randint(0, 9)\nr = picture[y : max(y, 5) + 40]", [None, None, 3], "r",
    ),
    "Pillow's crop": (
        "x = random.randint(0, image.width - 9)\nr = np.array(image.convert('RGB').crop((x, 3, x + 9, 35)))",
        [32, 9, 3], "r",
    ),
    "a border": ("r = np.array(ImageOps.expand(image.convert('L').resize((9, 8)), (1, 2, 3, 4)))", [14, 13], "r"),
    "an array at a random place": ("np.zeros((5, 6, 7))[random.randrange(5)]", [6, 7]),
    "an array at a place of any kind": ("np.zeros((5, 6, 7))[cv2.unheard_of(3)]", "?"),
    "arrays of files in a comprehension": (
        "r = [cv2.resize(cv2.imread(f), (9, 8)) for f in os.listdir('.')][3]", [8, 9, 3], "r",
    ),
    "many of them as one array": (
        "r = np.stack([cv2.resize(cv2.imread(f), (9, 8)) / 255 for f in os.listdir('.')])", [None, 8, 9, 3], "r",
    ),
    "many of them behind one another": (
        "r = np.concatenate([cv2.resize(cv2.imread(f), (9, 8)) for f in os.listdir('.')])", [None, 9, 3], "r",
    ),
    "of a method": (
        ("class D:\n    def load(self, f):\n        return np.zeros((4, 5)), f\n"
        "    def all(self):\n        return [self.load(f) for f in os.listdir('.')]\nr = D().all()[2][0]"),
        [4, 5], "r",
    ),
    "of what is called, and is no function": (
        "m = torch.nn.Linear(4, 5)\nr = [m(torch.zeros(2, 4)) for f in os.listdir('.')][0]", "?", "r",
    ),
    "of one within another": (
        "m = torch.nn.Linear(4, 5)\nr = [torch.relu(m(torch.zeros(2, 4))) for f in os.listdir('.')][0]", "?", "r",
    ),
    "places that a batch sampler draws": (
        ("from torch.utils.data import BatchSampler, SubsetRandomSampler\n"
        "for i in BatchSampler(SubsetRandomSampler(range(40)), 8, True):\n    r = torch.zeros(40, 3)[i]"), [8, 3], "r",
    ),
    "all places of fewer": (
        ("from torch.utils.data import BatchSampler, RandomSampler\n"
        "for i in BatchSampler(RandomSampler(range(5)), 8, False):\n    r = torch.zeros(40, 3)[i]"), [5, 3], "r",
    ),
    "rows of a tensor of unknown length": ("torch.zeros(len(os.listdir('.')), 3).split(8)[1]", [8, 3]),
    "a place that is drawn of a range": ("np.zeros((5, 6, 7))[np.random.choice(range(5))]", [6, 7]),
    "volumes of pictures in a given size": (
        ("from skimage.transform import resize\n"
        "r = resize(np.stack([picture] * 3), output_shape=(3, 20, 21, 3))[1]"), [20, 21, 3], "r",
    ),
    "a tensor at a random place": ("torch.zeros(5, 6, 7)[np.random.randint(5)]", [6, 7]),
    "where something holds": ("np.zeros((4, 3))[np.where(np.zeros(4) == 1)[0]]", [None, 3]),
    "one of two sizes": ("np.zeros((4, 8)) if drawn else np.ones((4, 9))", [4, None]),
    "one of two dtypes": ("np.zeros((4, 8), 'uint8') if drawn else np.ones((4, 8), 'float32')", [4, 8]),
    "one of two functions": ("f = T.CenterCrop(9) if drawn else T.Resize((9, 9))\nr = f(torch.zeros(3, 30, 30))",
                             [3, 9, 9], "r"),
    "one of several at random": (
        "random.choice([T.CenterCrop(9), T.Resize((9, 9))])(torch.zeros(3, 30, 30))", [3, 9, 9],
    ),
    "a list of so many numbers": ("torch.tensor(list(range(random.randint(1, 9))))", "?"),
    "a tuple of them": ("torch.tensor(tuple(range(random.randint(1, 9))))", "?"),
    "what is made of each of them": ("torch.tensor([at * 2 for at in range(random.randint(1, 9))])", "?"),
    "those of them that are smaller": ("torch.tensor([at for at in range(9) if at < random.randint(1, 9)])", "?"),
    "them one by one": ("torch.tensor([*range(random.randint(1, 9))])", "?"),
    "them mapped, from the end": ("torch.tensor(list(reversed(list(map(float, range(random.randint(1, 9)))))))", "?"),
    "a whole number of them": ("torch.tensor(int(random.random() * 9))", []),
    "a value of a dict by a random key": ("{0: np.zeros((3, 4)), 1: np.ones((3, 4))}[random.randint(0, 1)]", [3, 4]),
    "what is tried until it is taken": (
        "def f(x):\n while True:\n  if random.random() > 0.5:\n   return x[:, 1:3]\nr = f(np.zeros((4, 5)))",
        [4, 2], "r",
    ),
    "a list that a loop over files fills": (
        "xs = []\nfor name in os.listdir('.'):\n    xs.append(cv2.resize(cv2.imread(name), (5, 4)))\nr = xs[3]",
        [4, 5, 3], "r",
    ),
    "all of them": (
        "xs = []\nfor name in os.listdir('.'):\n    xs.append(np.zeros((4, 5)))\nr = np.array(xs)", [None, 4, 5], "r",
    ),
    "all of them as tensors": (
        "xs = []\nfor name in os.listdir('.'):\n    xs.append(torch.zeros(4))\nr = torch.stack(xs)", [None, 4], "r",
    ),
    "of a list with other things in front": (
        "xs = [np.zeros((9, 5))]\nfor name in os.listdir('.'):\n    xs.append(np.zeros((4, 5)))\nr = xs[3]",
        [None, 5], "r",
    ),
    "as many labels as there are files": (
        "xs = [1.0]\nxs.extend(os.listdir('.'))\nr = to_categorical(xs, 9)", [None, 9], "r",
    ),
    "as many rows as there are files": (
        "xs = ['a']\nxs.extend(os.listdir('.'))\nr = pad_sequences(Tokenizer(50).texts_to_matrix(xs), maxlen=7)",
        [None, 7], "r",
    ),
    "as many numbers as there are files": (
        "xs = [1.0]\nxs.extend(os.listdir('.'))\nr = torch.FloatTensor(xs)", "?", "r",
    ),
    "as many numbers as there are files, in TensorFlow": (
        "xs = [1.0]\nxs.extend(os.listdir('.'))\nr = tf.constant(xs)", "?", "r",
    ),
    "a copy of a list of unknown length": (
        "xs = [1.0]\nxs.extend(os.listdir('.'))\nr = np.zeros((len(copy.deepcopy(xs)), len(copy.copy(xs)), 3))",
        [None, None, 3], "r",
    ),
    "a chain of lists of unknown length": (
        "xs = [1.0]\nxs.extend(os.listdir('.'))\nr = np.zeros((len(list(itertools.chain([2.0], xs))), 3))",
        [None, 3], "r",
    ),
    "one sample that stands for all, sorted": (
        "xs = [(np.zeros(4), os.listdir('.'))] * 5\nxs.sort(key=lambda x: len(x[1]))\nr = np.stack(list(zip(*xs))[0])",
        [5, 4], "r",
    ),
    "a list of what may be arrays": ("np.array([cv2.unheard_of(3)] * 4)", "?"),
    "numbers, some of them unknown": ("np.array([cv2.unheard_of(3), 1])", [2]),
    "an array of a part of what is unknown": ("np.array([cv2.unheard_of(3)[2:]])", "?"),
    "a tensor of parts of what is unknown": ("torch.tensor([cv2.unheard_of(3)[:2], cv2.unheard_of(4)[:2]])", "?"),
    "a tensor of nested lists of such parts": ("torch.as_tensor([[cv2.unheard_of(3)[2:]]])", "?"),
    "a tensor of the older kind of such a part": ("torch.FloatTensor([cv2.unheard_of(3)[1:]])", "?"),
    "a tensor of classes": ("torch.tensor([cv2.unheard_of(3), cv2.unheard_of(4)])", [2]),
    "a tensor of numbers, some of them unknown": ("torch.tensor([[cv2.unheard_of(3), 1], [2, 3]])", [2, 2]),
    "a tensor of lengths": ("torch.tensor([len(cv2.unheard_of(3))])", [1]),
    "changed one by one": (
        "xs = []\nfor name in os.listdir('.'):\n    xs.append(np.zeros((4, 5)))\nr = [x.T for x in xs][7]", [5, 4], "r",
    ),
    "a picture whose channels nobody knows": (
        "np.array(image.resize((7, 6))).transpose(2, 0, 1)", [None, 6, 7],
    ),
    "a file that is not there, in another shape": ("np.load('x.npy').reshape(-1, 3, 8, 8)[0]", [3, 8, 8]),
}  # fmt: skip


def shape_of(value: Any) -> Any:
    if isinstance(value, Unknown) or (isinstance(value, Tensor) and isinstance(value.shape, Unknown)):
        return "?"
    assert isinstance(value, Tensor)
    assert isinstance(value.shape, tuple)
    return [None if isinstance(size, Unknown) else size for size in value.shape]


@pytest.mark.parametrize("row", KNOWN.values(), ids=KNOWN)
def test_a_shape_is_known_as_far_as_the_code_gives_it(row: tuple[Any, ...]) -> None:
    code, shape, name = row if len(row) == 3 else (f"r = {row[0]}", row[1], "r")
    variables, run = evaluate(HEAD + code)
    assert run.failures == []
    assert shape_of(variables[name]) == shape


def test_what_makes_samples_is_no_call_of_a_model() -> None:
    _, run = evaluate("""
import torch
class D(torch.utils.data.Dataset):
    def __init__(self):
        self.blur = torch.nn.Conv2d(3, 3, 3)
    def __getitem__(self, at):
        return self.blur(torch.zeros(1, 3, 9, 9))[0]
for batch in torch.utils.data.DataLoader(D(), batch_size=4):
    shape = batch.shape
""")
    assert run.trace.root_calls == []


def test_either_of_two_models_is_not_called_as_a_function() -> None:
    variables, _ = evaluate(
        "import random, torch\nm = torch.nn.Linear(3, 4) if random.random() > 0.5 else torch.nn.Linear(3, 5)\n"
    )
    assert isinstance(variables["m"], Unknown)
    assert not isinstance(variables["m"], Instance)


WINDOWS = """
import numpy as np
import pandas as pd
import torch
from torch import nn

table = pd.read_csv("passengers.csv")[["count"]].values.astype("float32")


def windows(series, length):
    given = []
    for at in range(len(series) - length):
        given.append(series[at : at + length])
    return torch.tensor(np.array(given))


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(1, 20, batch_first=True), nn.Linear(20, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


net = Forecast()
whole = net(windows(table[:90], 4))
rest = net(windows(table[90:], 4))
"""


def test_an_array_of_a_list_of_unknown_length_is_no_number() -> None:
    """Of unknown length is how many rows there are; what is made of them has axes, and nobody's sizes are wrong."""
    report = analyse(Source("net.py", WINDOWS), Settings())
    assert checks.run(report, Settings(), {"CNM201", "CNM202"}) == []


MANY = """
files = os.listdir(".")
many = [cv2.resize(cv2.imread(f), (9, 8)) for f in files]
model = torch.nn.Linear(8 * 9 * 3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for {}:
    loss = model(torch.tensor(x).reshape(1, -1) / 255).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("drawn", ["x in many", "i, x in enumerate(many)", "x, name in zip(many, files)",
                                   "x, y in zip(many, many)"])  # fmt: skip
def test_each_of_many_that_are_alike_is_trained_on(drawn: str) -> None:
    (report,) = analyse(Source("program.py", HEAD + MANY.format(drawn)), Settings.of({})).reports
    assert report.training.input_shape is not None
    assert (report.training.batch_size.value, report.training.input_shape.value) == (1, (216,))
