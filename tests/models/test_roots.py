"""Which models a file is said to define, and what they are fed with."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, load

PARTS = """
import torch.nn as nn

class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.shortcut = nn.Sequential()
        self.conv = nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU())
        if inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1))

    def forward(self, x):
        return self.conv(x) + self.shortcut(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(3, 8)
        self.second = nn.Sequential(Block(8, 8), Block(8, 16))

    def forward(self, x):
        return self.second(self.first(x))
"""

FILES = {
    "a model that is built and never called": ("net = Net()\nnet.cuda()", ["Net"]),
    "a model that is wrapped": ("net = nn.DataParallel(Net())", ["Net"]),
    "a model and the code's own call of it": ("import torch\nnet = Net()\nnet(torch.zeros(1, 3, 8, 8))", ["Net"]),
    "a part that is tried out by itself": (
        "import torch\nnet = Net()\nnet.first(torch.zeros(1, 3, 8, 8))",
        ["Net"],
    ),
    "a part alone that a variable holds": ("part = Net().second", ["part"]),
    "a part that is taken by its place": ("part = Net().second[1]", ["part"]),
    "a part that a method gives": ("part = Net().get_submodule('first').eval()", ["part"]),
    "two parts of two wholes": ("a = Net().first\nb = Net().second", ["a", "b"]),
    "a part of a model that is held as well": ("net = Net()\npart = net.first", ["Net"]),
    "a part of a model that a list holds": ("nets = [Net()]\npart = nets[0].first", ["Net"]),
    "a part of a model that was called": (
        "import torch\nnet = Net()\nnet(torch.zeros(1, 3, 8, 8))\npart = net.first\ndel net",
        ["Net"],
    ),
}


@pytest.mark.parametrize(("code", "names"), FILES.values(), ids=FILES)
def test_only_whole_models_are_found(code: str, names: list[str], tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(f"{PARTS}\n{code}\n", encoding="utf-8")
    assert [report.name for report in analyse(load(str(path)), Settings()).reports] == names


def test_the_figures_of_a_part_are_its_own(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(f"{PARTS}\npart = Net().second\n", encoding="utf-8")
    [report] = analyse(load(str(path)), Settings()).reports
    # Block(8, 8): 584; Block(8, 16): 1168 and 144 of its shortcut.
    assert report.parameters == 584 + 1168 + 144


@pytest.mark.parametrize("given", ["net, {'lr': 1}", "[net, 1]", "{'net': net}"])
def test_a_model_that_another_file_gives_among_other_things(given: str, tmp_path: Path) -> None:
    (tmp_path / "zoo.py").write_text(f"{PARTS}\ndef create():\n    net = Net()\n    return {given}\n", encoding="utf-8")
    path = tmp_path / "use.py"
    path.write_text("import torch\nfrom zoo import create\nmade = create()\n", encoding="utf-8")
    [report] = analyse(load(str(path)), Settings()).reports
    assert (report.name, report.line) == ("Net", 3)


def test_a_stack_of_transforms_is_no_model(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import keras\nfrom keras import layers\n"
        "augment = keras.Sequential([layers.RandomFlip(), layers.Rescaling(1 / 255)])\n"
        "(x, y), _ = keras.datasets.cifar10.load_data()\nx = augment(x)\n"
        "net = keras.Sequential([keras.Input((32, 32, 3)), layers.Flatten(), layers.Dense(10)])\n",
        encoding="utf-8",
    )
    assert [report.name for report in analyse(load(str(path)), Settings()).reports] == ["net"]


PATCHES = """
import torch.nn as nn

class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(48, 10)

    def forward(self, x):
        sizes = table[x.ndim]
        return self.layer(x.reshape(x.shape[0], *sizes))

table = {4: (64, 48)}
net = Patches()
"""


def test_the_option_is_taken_where_patches_of_the_input_reach_the_first_linear_layer(tmp_path: Path) -> None:
    path = tmp_path / "patches.py"
    path.write_text(PATCHES, encoding="utf-8")
    (report,) = analyse(load(str(path)), Settings.of({"input_shape": (3, 32, 32)})).reports
    assert report.status == "exact"
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (3, 32, 32)


WRAPPING = """
import functools

def wrapping(factory):
    @functools.wraps(factory)
    def wrapped(*args, **kwargs):
        return factory(*args, **kwargs)
    return wrapped
"""

WRAPPED = """
import torch.nn as nn
from wrapping import wrapping

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(48, width)

    def forward(self, x):
        return self.layer(x)

@wrapping
def wide(*, progress=True, **kwargs):
    return Net(1000)

@wrapping
def of_any_width(width):
    return Net(width)
"""


def test_a_factory_is_found_behind_the_wrapper_of_another_module(tmp_path: Path) -> None:
    """torchvision's own factories are wrapped so. One that needs an argument is no model by itself."""
    (tmp_path / "wrapping.py").write_text(WRAPPING, encoding="utf-8")
    path = tmp_path / "net.py"
    path.write_text(WRAPPED, encoding="utf-8")
    (report,) = analyse(load(str(path)), Settings()).reports
    assert (report.name, report.parameters) == ("wide", 49_000)


def test_a_train_method_without_end_is_a_cause(tmp_path: Path) -> None:
    endless = "\n    def train(self, mode=True):\n        while True:\n            pass\n"
    file = tmp_path / "net.py"
    file.write_text(f"{PARTS}{endless}\nnet = Net()\nnet.training = False\n")
    [report] = analyse(load(str(file)), Settings()).reports
    assert report.status != "exact"
    assert report.causes[0].reason == "the code runs for too long to be followed"


def test_a_layer_that_cannot_be_made_leaves_the_model_in_doubt() -> None:
    text = """
from keras import Sequential, layers

model = Sequential()
model.add(layers.Input((8,)))
model.add(layers.Dense(4, activation=3))
model.add(layers.Dense(2))
"""
    [report] = analyse(Source("net.py", text), Settings()).reports
    assert report.status == "lower-bound"
    assert report.causes[0].line == 6


DOUBTFUL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
    def forward(self, x):
        x = self.first(x)
        {body}
"""
UNKNOWN = "if x.sum().item() > 0.5:"
WAYS = {
    "a return": f"{UNKNOWN} return x\n        return self.second(x)",
    "a round that goes on": f"for _ in range(1):\n            {UNKNOWN} continue\n            x = self.second(x)\n"
    "        return x",
    "a loop that is left": f"for _ in range(1):\n            {UNKNOWN} break\n            x = self.second(x)\n"
    "        return x",
    "a branch": f"{UNKNOWN} x = self.second(x)\n        return x",
}


@pytest.mark.parametrize("body", WAYS.values(), ids=WAYS)
def test_what_may_not_run_is_no_part_of_the_bound(body: str) -> None:
    [report] = analyse(Source("net.py", DOUBTFUL.format(body=body)), Settings()).reports
    assert report.status == "lower-bound"
    assert [row.name for row in report.rows if row.type == "Linear"] == ["first"]


@pytest.mark.parametrize("body", WAYS.values(), ids=WAYS)
def test_what_a_draw_leaves_out_is_part_of_an_upper_bound(body: str) -> None:
    text = DOUBTFUL.format(body=body.replace(UNKNOWN, "if torch.rand(1).item() > 0.5:"))
    [report] = analyse(Source("net.py", text + "\n\nNet()(torch.zeros(4, 8))\n"), Settings()).reports
    assert report.status == "upper-bound"
    assert [row.name for row in report.rows if row.type == "Linear"] == ["first", "second"]


NEVER_MADE = {
    "Keras": "from keras import Sequential, layers\n\nmodel = Sequential([layers.Dense(4), layers.Activation(3)])\n",
    "PyTorch": "from torch import nn\n\nmodel = nn.Sequential(nn.Conv2d(3, 8, 3, padding_mode='mirror'), nn.ReLU())\n",
}


@pytest.mark.parametrize("text", NEVER_MADE.values(), ids=NEVER_MADE)
def test_a_model_that_cannot_be_made_is_named_with_the_cause(text: str) -> None:
    [report] = analyse(Source("net.py", text), Settings()).reports
    assert (report.name, report.status, report.line) == ("model", "unresolved", 3)
    assert report.causes[0].reason.startswith("the code raises ValueError")


def test_what_is_no_model_is_none_when_it_cannot_be_made() -> None:
    text = "import torch\nfrom torch import nn\n\nloss = nn.CrossEntropyLoss(weight=torch.ones(2) + 'x')\n"
    assert analyse(Source("net.py", text), Settings()).reports == ()


def test_arguments_that_have_to_be_named_and_that_nobody_gives_are_told() -> None:
    text = (
        "from torch import nn\n\nclass Net(nn.Module):\n    def __init__(self, depth=2, *, size, width=8, classes):\n"
        "        super().__init__()\n        self.body = nn.Linear(12, width)\n"
        "        self.head = nn.Linear(width, classes)\n\n    def forward(self, x):\n"
        "        return self.head(self.body(x))\n"
    )
    (report,) = analyse(Source("net.py", text), Settings()).reports
    assert [cause.reason for cause in report.causes][:2] == [
        "nobody gives __init__ its argument size",
        "nobody gives __init__ its argument classes",
    ]
    assert report.status == "lower-bound"
    assert report.parameters == 12 * 8 + 8


def test_a_list_of_numbers_beside_the_batch_leaves_the_input_stated() -> None:
    text = (
        "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.embed, self.head = nn.Embedding(50, 16), nn.Linear(16, 4)\n\n"
        "    def forward(self, x, lengths):\n        return self.head(self.embed(x).sum(1) / max(lengths))\n\n"
        "net = Net()\nnet(torch.randint(0, 50, (8, 20)), [20] * 8)\n"
    )
    (report,) = analyse(Source("net.py", text), Settings()).reports
    assert (report.status, report.causes) == ("exact", ())
    assert next(row.output_shape for row in report.rows) == (20, 16)


def test_a_model_whose_program_ends_in_an_error_before_it_trains_is_not_exact() -> None:
    text = (
        "import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2))\n"
        "optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
        "for x, y in {data}:\n    loss = nn.functional.cross_entropy(net(x), y)\n    loss.backward()\n"
        "    optimizer.step()\n"
    )
    (report,) = analyse(Source("net.py", text.format(data="mnist_loader")), Settings()).reports
    assert [(cause.reason, cause.line) for cause in report.causes][-1:] == [
        ("the code raises NameError: name 'mnist_loader' is not defined", 6)
    ]
    (report,) = analyse(
        Source("net.py", text.format(data="[(torch.zeros(4, 8), torch.zeros(4).long())] * 3")), Settings()
    ).reports
    assert (report.status, report.training.batch_size.value) == ("exact", 4)


TRANSFORMED = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Front(nn.Module):
    def __init__(self):
        super().__init__()
        self.{held}

    def forward(self, x):
        return x @ self.filters.t()

class Clips(Dataset):
    def __init__(self):
        self.front = Front()

    def __len__(self):
        return 64

    def __getitem__(self, i):
        with torch.no_grad():
            return self.front(torch.randn(1, 160)), i % 10

net = nn.Sequential(nn.Flatten(), nn.Linear(4, 10))
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(2):
    for x, y in DataLoader(Clips(), batch_size=16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("held", "names"),
    [
        ("register_buffer('filters', torch.randn(4, 160))", ["net"]),
        ("filters = nn.Parameter(torch.randn(4, 160))", ["Front", "net"]),
    ],
)
def test_a_transform_of_a_data_set_is_not_fed_what_it_gives(held: str, names: list[str]) -> None:
    """The loader's batches are what another model is called on; a transform without parameters is no model at all."""
    reports = analyse(Source("train.py", TRANSFORMED.replace("{held}", held)), Settings()).reports
    assert [report.name for report in reports] == names
    assert not any(report.status == "unresolved" for report in reports)
    assert reports[-1].status == "exact"
