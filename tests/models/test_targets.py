"""What `PATH::NAME` names: classes and factories by themselves, and names as they stand when the program has run."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import TargetError, analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, load
from tests.conftest import not_followed

HEAD = "import keras\nimport numpy as np\nfrom keras import layers\n"

DENSE = "keras.Sequential([keras.Input((%s,)), layers.Dense(%s)])"

PROGRAMS = {
    "a name whose data another statement reads again": (
        ("(x, y), _ = keras.datasets.cifar10.load_data()\n"
        "net = keras.Sequential()\n"
        "net.add(layers.Flatten(input_shape=x.shape[1:]))\n"
        "net.add(layers.Dense(10))\n"
        "x = x.astype('float32')\n"
        "net.compile('adam', 'mse')\nnet.fit(x, y)\n"),
        "net", 30730, 30730,
    ),
    "a name that the main part assigns": (
        f"if __name__ == '__main__':\n    net = {DENSE % (3, 4)}\n", "net", 16, 16,
    ),
    "a name in a function that the script calls": (
        (f"def main():\n    net = {DENSE % (3, 4)}\n    net.compile('adam', 'mse')\n    net.fit(np.zeros((8, 3)), "
        "np.zeros((8, 4)))\nif __name__ == '__main__':\n    main()\n"),
        "net", 16, 16,
    ),
    "an attribute of an object that the program makes": (
        f"class Trainer:\n    def __init__(self):\n        self.net = {DENSE % (3, 4)}\ntrainer = Trainer()\n",
        "trainer.net", 16, 16,
    ),
    "a part of a larger model": (
        (f"first = {DENSE % (3, 4)}\nlast = {DENSE % (4, 2)}\nboth = keras.Sequential([first, last])\n"
        "both.compile('adam', 'mse')\nboth.fit(np.zeros((8, 3)), np.zeros((8, 2)))\n"),
        "last", 10, 10,
    ),
    "a factory that needs a global which the program sets": (
        ("def build():\n    return keras.Sequential([keras.Input(x.shape[1:]), layers.Dense(4)])\n"
        "if __name__ == '__main__':\n    x = np.zeros((8, 3))\n"),
        "build()", 16, 16,
    ),
    "what is frozen by the end": (
        (f"net = {DENSE % (3, 4)}\nnet.add(layers.Dense(2))\nx, y = np.zeros((8, 3)), np.zeros((8, 2))\n"
        "net.compile('adam', 'mse')\nnet.fit(x, y)\nnet.layers[0].trainable = False\nnet.compile('adam', 'mse')\n"
        "net.fit(x, y)\n"),
        "net", 26, 10,
    ),
    "a factory stays what it is": (
        f"def net():\n    return {DENSE % (3, 4)}\nraise SystemExit\n", "net", 16, 16,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("code", "target", "parameters", "trainable"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_target_is(code: str, target: str, parameters: int, trainable: int, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(HEAD + code, encoding="utf-8")
    [model] = analyse(load(str(path)), Settings(), target).reports
    assert (model.status, model.parameters, model.trainable) == ("exact", parameters, trainable), model.causes


def test_open_inputs_are_fed_by_their_names(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        f"{HEAD}a, b = keras.Input((None,), name='words', dtype='int32'), keras.Input((None, 4), name='steps')\n"
        "x = layers.concatenate([layers.LSTM(3)(layers.Embedding(9, 2)(a)), layers.LSTM(3)(b)])\n"
        "net = keras.Model([a, b], layers.Dense(1)(x))\nnet.compile('adam', 'mse')\n"
        "net.fit({'steps': np.zeros((8, 5, 4)), 'words': np.zeros((8, 6))}, np.zeros((8, 1)))\n",
        encoding="utf-8",
    )
    [model] = analyse(load(str(path)), Settings()).reports
    shape = model.training.input_shape
    assert (not_followed(model), shape.value if shape is not None else None) == ([], (6,)), model.causes


GAPS = {
    "built by what it is fitted on": "net = keras.Sequential(LAYERS)\nnet.compile('adam', 'mse')\n"
    "net.fit(np.zeros((8, 9)), np.zeros((8, 2)))\n",
    "built by a shape": "net = keras.Sequential(LAYERS)\nnet.build((None, 9))\n",
    "added one by one": "net = keras.Sequential()\nfor each in LAYERS:\n    net.add(each)\nnet.build((None, 9))\n",
    "within another model": "class Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
    "        self.first = keras.Sequential(LAYERS)\n    def call(self, x):\n        return self.first(x)\n"
    "net = Net()\nnet.compile('adam', 'mse')\nnet.fit(np.zeros((8, 9)), np.zeros((8, 2)))\n",
    "in front of a model with an input": f"net = keras.Sequential([unheard.Layer(), {DENSE % (9, 4)}])\n",
}


@pytest.mark.parametrize("code", GAPS.values(), ids=GAPS)
def test_a_stack_with_a_layer_that_is_not_known(code: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        f"{HEAD}import unheard\nLAYERS = [layers.Dense(3), unheard.Layer(), layers.Dense(2)]\n{code}", encoding="utf-8"
    )
    [model] = analyse(load(str(path)), Settings(), "net").reports
    assert model.status != "exact"
    assert any("unheard" in cause.reason for cause in model.causes)


def test_a_name_that_is_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(f"{HEAD}def main():\n    net = 3\nmain()\n", encoding="utf-8")
    with pytest.raises(TargetError, match="there is no 'net' in"):
        analyse(load(str(path)), Settings(), "net")


SETTINGS = {
    "of the file itself": ("K.set_image_data_format('channels_first')", ""),
    "under a condition": ("if K.backend() == 'tensorflow':\n    K.set_image_dim_ordering('th')", ""),
    "of a module that it imports": ("from layout import FILTERS", ("from keras import backend as K\n"
                                    "K.set_image_data_format('channels_first')\nFILTERS = 8\n")),
}  # fmt: skip


@pytest.mark.parametrize(("line", "module"), SETTINGS.values(), ids=SETTINGS)
def test_settings_hold_for_a_factory(line: str, module: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    (tmp_path / "layout.py").write_text(module, encoding="utf-8")
    path.write_text(
        f"{HEAD}from keras import backend as K\nFILTERS = 8\n{line}\ndef net():\n"
        "    return keras.Sequential([keras.Input((2, 9, 9)), layers.Conv2D(FILTERS, 3)])\n",
        encoding="utf-8",
    )
    [model] = analyse(load(str(path)), Settings(), "net").reports
    assert (model.status, model.parameters) == ("exact", 8 * 2 * 9 + 8), model.causes


PARTS = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 3))
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.body(x))

    def part(self):
        return self.body
"""


@pytest.mark.parametrize(
    ("target", "name", "parameters"),
    [
        ("Net()", "Net", 23),
        ("Net().eval()", "Net", 23),
        ("Net().body", "Net().body", 15),
        ("Net().part()", "Net().part()", 15),
        ("Net().get_submodule('body')", "Net().get_submodule('body')", 15),
        ("list(Net().children())[0]", "list(Net().children())[0]", 15),
        ("Net().body[0]", "Net().body[0]", 15),
    ],
)
def test_a_part_is_reported_as_that(target: str, name: str, parameters: int) -> None:
    [report] = analyse(Source("net.py", PARTS), Settings(), target).reports
    assert (report.name, report.parameters) == (name, parameters)
