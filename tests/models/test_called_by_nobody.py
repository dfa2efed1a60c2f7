"""Functions that a file is started with from outside, and programs that name themselves (`__main__`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

NET = """\
import sys
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Conv2d(3, width, 3)

    def forward(self, x):
        return self.inner(x)


"""

TRAIN = """\
def main(argv=None):
    net = Net(4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(9):
        optimizer.zero_grad()
        net(torch.randn(16, 3, 20, 20)).sum().backward()
        optimizer.step()
"""


def reports(text: str, tmp_path: Path) -> list[ModelReport]:
    path = tmp_path / "case.py"
    path.write_text(text, encoding="utf-8")
    source = load(str(path))
    assert source is not None
    return list(analyse(source, Settings()).reports)


def fed(model: ModelReport) -> tuple[int | None, ...] | None:
    """The sizes of one sample."""
    shape = model.training.input_shape
    return None if shape is None else tuple(shape.value)


STARTS = {
    "an entry point of the package": "",
    "sys.modules": "if __name__ == '__main__':\n    sys.modules['__main__'].main()\n",
    "the module under its own name": "if __name__ == '__main__':\n    getattr(sys.modules[__name__], 'main')()\n",
    "import": "if __name__ == '__main__':\n    import __main__\n    __main__.main()\n",
    "importlib": "if __name__ == '__main__':\n    import importlib\n    importlib.import_module('__main__').main()\n",
    "__import__": "if __name__ == '__main__':\n    __import__('__main__').main()\n",
    "TensorFlow 1": "if __name__ == '__main__':\n    import tensorflow as tf\n    tf.app.run()\n",
    "TensorFlow 1 from 2": "if __name__ == '__main__':\n    import tensorflow as tf\n    tf.compat.v1.app.run(main)\n",
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_the_function_that_a_file_is_started_with_is_followed(start: str, tmp_path: Path) -> None:
    (model,) = reports(NET + TRAIN + start, tmp_path)
    assert model.kind == "training"
    assert (model.status, fed(model), model.training.batch_size.value) == ("exact", (3, 20, 20), 16)


COMMANDS = {
    "click": ("import click\n", "@click.command()\n@click.option('--width', default=4)\n"),
    "typer": ("import typer\n\napp = typer.Typer()\n", "@app.command()\n"),
}


@pytest.mark.parametrize(("imported", "decorator"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_that_a_package_starts_is_followed(imported: str, decorator: str, tmp_path: Path) -> None:
    main = TRAIN.replace("main(argv=None)", "main(width: int = 4)").replace("Net(4)", "Net(width)")
    (model,) = reports(imported + NET + decorator + main, tmp_path)
    assert (model.kind, model.status, model.parameters) == ("training", "exact", 4 * 3 * 9 + 4)


def test_a_test_that_nobody_calls_says_what_a_model_is_fed_with(tmp_path: Path) -> None:
    text = NET + "def test():\n    net = Net(4)\n    print(net(torch.randn(2, 3, 32, 32)).size())\n"
    (model,) = reports(text, tmp_path)
    assert (model.name, model.status, fed(model)) == ("Net", "exact", (3, 32, 32))


def test_it_says_so_of_the_model_that_a_factory_makes(tmp_path: Path) -> None:
    text = NET + "def small():\n    return Net(4)\n\n\ndef test():\n    small()(torch.randn(2, 3, 32, 32))\n"
    (model,) = reports(text, tmp_path)
    assert (model.name, model.status, fed(model)) == ("small", "exact", (3, 32, 32))


def test_a_program_of_its_own_needs_no_start(tmp_path: Path) -> None:
    text = NET + TRAIN + "\n\nnet = Net(8)\nnet(torch.zeros(1, 3, 9, 9))\n"
    (model,) = reports(text, tmp_path)
    assert (model.kind, fed(model)) == ("model", (3, 9, 9))


def test_a_function_of_any_settings_is_not_started_without_them(tmp_path: Path) -> None:
    text = NET + "def train(**settings):\n    return Net(settings['width']).backward()\n"
    (model,) = reports(text, tmp_path)
    assert [cause.reason for cause in model.causes][:1] == ["nobody gives __init__ its argument width"]


def test_a_class_that_only_an_uncalled_function_mentions_is_told(tmp_path: Path) -> None:
    text = NET + "def build(config):\n    return Net(config.width)\n"
    (model,) = reports(text, tmp_path)
    assert model.name == "Net"
    assert [cause.reason for cause in model.causes][:1] == ["nobody gives __init__ its argument width"]


FLAGS = """\
flags = tf.app.flags
flags.DEFINE_integer('width', 4, 'channels')


def main(_):
    net = Net(flags.FLAGS.width)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(9):
        optimizer.zero_grad()
        net(torch.randn(16, 3, 20, 20)).sum().backward()
        optimizer.step()


if __name__ == '__main__':
    tf.app.run()
"""


@pytest.mark.parametrize(
    "imported", ["import tensorflow as tf\n", "import tensorflow.compat.v1 as tf\n"], ids=["1", "2"]
)
def test_flags_of_tensorflow(imported: str, tmp_path: Path) -> None:
    (model,) = reports(NET + imported + FLAGS, tmp_path)
    assert (model.status, model.parameters) == ("exact", 4 * 3 * 9 + 4)


FLATTEN = """\
def flatten(args):
    flat = {}
    for name in vars(args):
        value = getattr(args, name)
        if somewhere.is_config(value):
            flat.update(flatten(value))
        else:
            flat[name] = value
    return flat
"""
DEPTH = """\
def depth(tree):
    if tree.leaf:
        return 0
    return 1 + max(depth(tree.left), depth(tree.right))
"""
COLLECT = """\
def collect(node, out):
    out.append(node)
    for child in node.children:
        collect(child, out)
"""
FUNCTIONS = {
    "a dict of settings": (FLATTEN, "flatten(somewhere.load())"),
    "the depth of a tree": (DEPTH, "depth(somewhere.load())"),
    "a list that each call fills": (COLLECT, "collect(somewhere.load(), [])"),
}


@pytest.mark.parametrize(("function", "call"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_that_calls_itself_as_often_as_nobody_knows(function: str, call: str, tmp_path: Path) -> None:
    (model,) = reports(NET + TRAIN + f"\n\nimport somewhere\n\n\n{function}\n\nprint({call})\nmain()\n", tmp_path)
    assert (model.kind, model.status) == ("training", "exact")


def test_what_such_a_function_gives_is_not_known(tmp_path: Path) -> None:
    function, call = FUNCTIONS["the depth of a tree"]
    (model,) = reports(NET + f"import somewhere\n\n\n{function}\n\nnet = Net({call})\n", tmp_path)
    assert model.status != "exact"
    assert "somewhere" in model.causes[0].reason


WRAPPED = """\
import functools
import torch
from torch import nn


def checked(init):
    @functools.wraps(init)
    def inner(*args, **kwargs):
        return init(*args, **kwargs)

    return inner


class Base(nn.Module):
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.__init__ = checked(cls.__init__)


class Net(Base):
    def __init__(self, *, width):
        super().__init__()
        self.inner = nn.Linear(3, width)

    def forward(self, x):
        return self.inner(x)
"""


def test_what_a_wrapped_constructor_lacks_is_what_it_lacks_without(tmp_path: Path) -> None:
    (found,) = reports(WRAPPED, tmp_path)
    assert [cause.reason for cause in found.causes][:1] == ["nobody gives __init__ its argument width"]


def test_a_model_that_is_given_nothing_is_called_with_nothing(tmp_path: Path) -> None:
    text = "import torch\nfrom torch import nn\n\n\nclass Point(nn.Module):\n    def __init__(self):\n"
    text += "        super().__init__()\n        self.at = nn.Parameter(torch.ones(2))\n\n"
    text += "    def forward(self):\n        return self.at ** 2\n\n\nmodel = Point()\n"
    (found,) = reports(text, tmp_path)
    assert (found.status, found.parameters, found.causes) == ("exact", 2, ())


CHANGES = {
    "a global": "WIDTH = 4\ndef wide():\n    global WIDTH\n    WIDTH = 64\n",
    "the namespace": "WIDTH = 4\ndef tiny():\n    globals().update(WIDTH=1)\n",
    "the default dtype": "WIDTH = 4\ndef half():\n    torch.set_default_dtype(torch.float16)\n",
    "the mode": "WIDTH = 4\ndef evaluate():\n    torch.set_grad_enabled(False)\n",
    "a class": "WIDTH = 4\ndef patch():\n    Net.forward = lambda self, x: self.inner(x).sigmoid().exp()\n",
    "what is kept": "WIDTH = 4\nKEPT = []\ndef keep():\n    KEPT.append(Net(512).cuda())\n",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_one_start_changes_the_others_do_not_find(change: str, tmp_path: Path) -> None:
    trains = TRAIN.replace("Net(4)", "Net(WIDTH)")
    (alone,) = reports(NET + "WIDTH = 4\n" + trains, tmp_path)
    found = [each for each in reports(NET + change + trains, tmp_path) if each.kind == "training"]
    assert [each.status for each in found] == ["exact"]
    assert alone.estimate is not None
    assert [each.estimate.total for each in found if each.estimate is not None] == [alone.estimate.total]


FIELDS = {
    "a module of linen": (
        "from flax import linen as nn\nclass Net(nn.Module):\n    width: int\n    @nn.compact\n"
        "    def __call__(self, x):\n        return nn.Dense(self.width)(x)\n"
    ),
    "a dataclass": (
        "from dataclasses import dataclass\nfrom torch import nn\n@dataclass(eq=False)\nclass Net(nn.Module):\n"
        "    width: int\n    def __post_init__(self):\n        super().__init__()\n"
        "        self.inner = nn.Linear(3, self.width)\n    def forward(self, x):\n        return self.inner(x)\n"
    ),
    "layers made of a field that nobody gives": (
        "from flax import linen as nn\nclass Net(nn.Module):\n    widths: list\n    @nn.compact\n"
        "    def __call__(self, x):\n        for layer in [nn.Dense(each) for each in self.widths]:\n"
        "            x = layer(x)\n        return x\n"
    ),
}


@pytest.mark.parametrize("case", FIELDS)
def test_a_class_that_nobody_makes_lacks_its_fields_and_raises_nothing(case: str, tmp_path: Path) -> None:
    (report,) = reports(FIELDS[case], tmp_path)
    told = [cause.reason for cause in report.causes]
    assert any(reason.startswith("nobody gives Net its field width") for reason in told), told
    assert not any("raises" in reason for reason in told), told
