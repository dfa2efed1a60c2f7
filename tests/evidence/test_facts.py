"""What code says of training, by small programs: which evidence is taken, and what is passed over for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from flake8_cnnmem.training import Fact, Optimizer

TORCH = """\
import itertools
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        return self.head(F.relu(self.conv(x)).mean((2, 3)))

def data(count=512, size=32):
    return TensorDataset(torch.randn(count, 3, size, size), torch.zeros(count, dtype=torch.long))

def step(net, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()

net = Net()
"""

KERAS = """\
import numpy as np
import keras
from keras import layers

x, y = np.zeros((500, 28, 28, 1)), np.zeros((500,))
model = keras.Sequential([keras.Input((28, 28, 1)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(10)])
"""


def report_of(folder: Path, text: str, settings: Settings | None = None) -> ModelReport:
    path = folder / "train.py"
    path.write_text(text)
    reports = analyse(load(str(path)), settings or Settings()).reports
    assert len({report.name for report in reports}) == 1
    # Of several trainings of one model the last one.
    return reports[-1]


BATCHES = {
    "the loader that a training loop draws from, and not one that is shuffled": (
        TORCH + "val = DataLoader(data(), 99, shuffle=True)\n"
        "step(net, DataLoader(data(), batch_size=24), torch.optim.SGD(net.parameters(), 0.1))",
        24,
    ),
    "the training loader, and not the one that is drawn from without gradients": (
        TORCH + "train, test = DataLoader(data(), 16), DataLoader(data(), 77)\n"
        "step(net, train, torch.optim.SGD(net.parameters(), 0.1))\n"
        "with torch.no_grad():\n    for x, y in test:\n        net(x)",
        16,
    ),
    "without a loop the loader that is shuffled": (
        TORCH + "a = DataLoader(data(), 5)\nb = DataLoader(data(), 6, shuffle=True)",
        6,
    ),
    "without a loop the loader that is named so": (
        TORCH
        + "test_loader = DataLoader(data(), 5)\nother = DataLoader(data(), 7)\ntrain_loader = DataLoader(data(), 6)",
        6,
    ),
    "what a call elsewhere is told says nothing of a training": (
        TORCH + "from data_of_my_own import loader, warm_up\nwarm_up(batch_size=48)\n"
        "step(net, loader(), torch.optim.SGD(net.parameters(), 0.1))",
        32,
    ),
    "without a training what a call is told that makes training and test data": (
        TORCH + "from data_of_my_own import loaders\ntrain_loader, test_loader = loaders(batch_size=48)",
        48,
    ),
    "a test loader alone says nothing": (TORCH + "test_loader = DataLoader(data(), 5)", 32),
    "what the loop cuts off an array": (
        TORCH + "x, y = torch.randn(500, 3, 8, 8), torch.zeros(500, dtype=torch.long)\n"
        "optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
        "for at in range(0, 500, 20):\n"
        "    F.cross_entropy(net(x[at:at + 20]), y[at:at + 20]).backward()\n    optimizer.step()",
        20,
    ),
    "a backward pass without an optimizer": (
        TORCH + "loss = F.cross_entropy(net(torch.randn(7, 3, 16, 16)), torch.zeros(7, dtype=torch.long))\n"
        "loss.backward()",
        7,
    ),
    "a call that nothing goes back from says nothing": (TORCH + "net(torch.randn(7, 3, 16, 16))", 32),
    "DataParallel divides among the devices that the code names": (
        TORCH + "wide = nn.DataParallel(net, device_ids=[0, 1, 2])\n"
        "step(wide, DataLoader(data(), 64), torch.optim.SGD(net.parameters(), 0.1))",
        22,
    ),
    "DataParallel over devices that the code does not count": (
        TORCH + "step(nn.DataParallel(net), DataLoader(data(), 64), torch.optim.SGD(net.parameters(), 0.1))",
        64,
    ),
    "DistributedDataParallel divides nothing": (
        TORCH + "wide = nn.parallel.DistributedDataParallel(net, device_ids=[0, 1])\n"
        "step(wide, DataLoader(data(), 64), torch.optim.SGD(net.parameters(), 0.1))",
        64,
    ),
    "accumulated gradients change nothing in the batch": (
        TORCH + "optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
        "for at, (x, y) in enumerate(DataLoader(data(), 12)):\n"
        "    (F.cross_entropy(net(x), y) / 4).backward()\n"
        "    if (at + 1) % 4 == 0:\n        optimizer.step()\n        optimizer.zero_grad()",
        12,
    ),
    "fit with a step of the model's own": (
        KERAS
        + """import tensorflow as tf

class Own(keras.Model):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.inner(data)))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights))
        return {"loss": loss}

own = Own(model)
own.compile("adam")
own.fit(x, batch_size=48)
""",
        48,
    ),
    "fit's own argument": (KERAS + "model.compile('adam', 'mse')\nmodel.fit(x, y, batch_size=48)", 48),
    "fit on arrays without a word takes Keras' own": (KERAS + "model.compile('adam', 'mse')\nmodel.fit(x, y)", 32),
    "the last fit, what came before was warming up": (
        KERAS + "model.compile('adam', 'mse')\nmodel.fit(x, y, batch_size=9)\nmodel.fit(x, y, batch_size=11)",
        11,
    ),
    "a sequence of the user's": (
        KERAS + "class Data(keras.utils.Sequence):\n"
        "    def __init__(self, size):\n        super().__init__()\n        self.size = size\n"
        "    def __len__(self):\n        return 10\n"
        "    def __getitem__(self, at):\n        return np.zeros((self.size, 28, 28, 1)), np.zeros((self.size,))\n"
        "model.compile('adam', 'mse')\nmodel.fit(Data(18))",
        18,
    ),
    "a batch that an Input states": (
        KERAS.replace("keras.Input((28, 28, 1))", "keras.Input((28, 28, 1), batch_size=7)"),
        7,
    ),
}


@pytest.mark.parametrize(("text", "batch"), BATCHES.values(), ids=BATCHES)
def test_the_batch_size_is(text: str, batch: int, tmp_path: Path) -> None:
    assert report_of(tmp_path, text).training.batch_size.value == batch


OPTIMIZERS = {
    "the one that steps on this model": (
        TORCH + "other = torch.optim.Adagrad(nn.Linear(2, 2).parameters())\n"
        "optimizer = torch.optim.RMSprop(net.parameters(), centered=True)",
        "rmsprop with centered",
    ),
    "one over parameter groups": (
        TORCH + "optimizer = torch.optim.AdamW([{'params': net.conv.parameters(), 'lr': 1e-4},\n"
        "    {'params': net.head.parameters(), 'amsgrad': True}])",
        "adamw with amsgrad",
    ),
    "one over chained parameters": (
        TORCH + "optimizer = torch.optim.NAdam(itertools.chain(net.conv.parameters(), net.head.parameters()))",
        "nadam",
    ),
    "one whose class the code looks up by name": (
        TORCH + "optimizer = getattr(torch.optim, 'SGD')(net.parameters(), lr=0.1, momentum=0.9)",
        "momentum",
    ),
    "a name in compile": (KERAS + "model.compile(optimizer='nadam', loss='mse')", "nadam"),
    "an object in compile": (
        KERAS + "model.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9), loss='mse')",
        "momentum",
    ),
    "what compile says last": (KERAS + "model.compile('sgd', 'mse')\nmodel.compile('adamax', 'mse')", "adamax"),
    "one around another": (
        KERAS + "model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.Lion()), 'mse')",
        "lion",
    ),
}


@pytest.mark.parametrize(("text", "optimizer"), OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_the_optimizer_is(text: str, optimizer: str, tmp_path: Path) -> None:
    assert str(report_of(tmp_path, text).training.optimizer.value) == optimizer


DTYPES = {
    "autocast around the forward pass": (
        TORCH + "optimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
        "for x, y in DataLoader(data(), 8):\n"
        "    with torch.autocast('cuda', dtype=torch.bfloat16):\n        loss = F.cross_entropy(net(x), y)\n"
        "    loss.backward()\n    optimizer.step()",
        "mixed_bfloat16",
    ),
    "autocast that is switched off": (
        TORCH
        + "optimizer = torch.optim.SGD(net.parameters(), 0.1)\nscaler = torch.cuda.amp.GradScaler(enabled=False)\n"
        "for x, y in DataLoader(data(), 8):\n"
        "    with torch.cuda.amp.autocast(enabled=False):\n        loss = F.cross_entropy(net(x), y)\n"
        "    scaler.scale(loss).backward()\n    scaler.step(optimizer)",
        "float32",
    ),
    "a model in half precision": (TORCH + "net.half()", "float16"),
    "a policy that is set after the model was made": (
        "import keras\n" + KERAS + "\nkeras.mixed_precision.set_global_policy('mixed_float16')\n",
        "float32",
    ),
    "a policy that is taken back after the model was made": (
        "import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')\n"
        + KERAS
        + "\nkeras.mixed_precision.set_global_policy('float32')\n",
        "mixed_float16",
    ),
    "a policy": ("import keras\nkeras.mixed_precision.set_global_policy('mixed_float16')\n" + KERAS, "mixed_float16"),
}


@pytest.mark.parametrize(("text", "dtype"), DTYPES.values(), ids=DTYPES)
def test_the_dtype_is(text: str, dtype: str, tmp_path: Path) -> None:
    assert report_of(tmp_path, text).training.dtype.value == dtype


LOOP = TORCH + "step(net, DataLoader(data(size=48), 16), torch.optim.SGD(net.parameters(), 0.1))\n"


def test_the_order_is_directive_then_code_then_option(tmp_path: Path) -> None:
    settings = Settings(batch_size=Fact(64, "option"), optimizer=Fact(Optimizer("adam"), "option"))
    training = report_of(tmp_path, "# cnnmem: optimizer=lion\n\n" + LOOP, settings).training
    path = tmp_path / "train.py"
    assert training.batch_size == Fact(16, f"{path}:28", (("64", "option"),))
    assert training.optimizer == Fact(Optimizer("lion"), "directive", (("sgd", f"{path}:28"), ("adam", "option")))


def test_the_call_in_the_loop_gives_the_input_and_others_are_passed_over(tmp_path: Path) -> None:
    settings = Settings(input_shape=Fact((3, 224, 224), "option"))
    shape = report_of(tmp_path, LOOP + "net(torch.zeros(1, 3, 96, 96))\n", settings).training.input_shape
    path = tmp_path / "train.py"
    assert shape == Fact((3, 48, 48), f"{path}:22", (("3x96x96", f"{path}:27"), ("3x224x224", "option")))


def test_an_option_that_says_the_same_is_not_passed_over(tmp_path: Path) -> None:
    assert report_of(tmp_path, LOOP, Settings(batch_size=Fact(16, "option"))).training.batch_size.passed_over == ()


def test_a_model_in_another_file_stands_where_the_script_builds_it(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(TORCH.removesuffix("net = Net()\n"))
    (tmp_path / "config.py").write_text("BATCH = 40\n")
    report = report_of(
        tmp_path,
        "import torch\nimport config\nfrom nets import Net, data, step, DataLoader\n\nnet = Net().cuda()\n"
        "step(net, DataLoader(data(), config.BATCH), torch.optim.Adam(net.parameters()))\n",
    )
    assert (report.line, report.training.batch_size.value, report.status) == (5, 40, "exact")


def test_a_model_that_another_file_builds_and_trains_stands_at_the_call_that_leads_there(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(
        TORCH.removesuffix("net = Net()\n") + "class Trainer:\n"
        "    def __init__(self, size):\n        self.net, self.size = Net(), size\n"
        "    def run(self):\n"
        "        step(self.net, DataLoader(data(), self.size), torch.optim.Adam(self.net.parameters()))\n"
    )
    report = report_of(tmp_path, "from engine import Trainer\nimport torch\n\nTrainer(28).run()\n")
    assert (report.name, report.line, report.training.batch_size.value) == ("Net", 4, 28)
