"""Programs that train in today's styles, each with what it trains, worked out by hand from the text (the parameters by
PyTorch): several trainings in one script, subcommands, sizes that change."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

FOLDER = Path(__file__).resolve().parent.parent.parent / "fixtures" / "styles"

Facts = tuple[str, int, tuple[int | None, ...] | None, str, str, int, int, int]
"""Status, batch, input, optimizer, dtype, parameters, those that train, how often."""

SCRIPTS: dict[str, list[Facts]] = {
    "subcommands.py": [
        ("exact", 20, (3, 32, 32), "adamw", "float32", 314, 314, 1),
        ("exact", 24, (3, 48, 48), "momentum", "float32", 618, 170, 1),
    ],
    "folds.py": [
        ("exact", 25, (20,), "adam", "float32", 353, 353, 5),
        ("exact", 25, (20,), "adam", "float32", 5633, 5633, 5),
    ],
    "mean_teacher.py": [("exact", 40, (3, 32, 32), "adamw", "mixed_float16", 1290, 1290, 1)],
    "random_scales.py": [("lower-bound", 8, (3, None, None), "sgd", "float32", 550, 550, 1)],
    # PyTorch 2.12 refuses its betas=(0, 0.9), of an int and a float.
    "wasserstein.py": [("lower-bound", 80, (1, 28, 28), "adam", "float32", 210065, 210065, 1)],
    "gradient_tape.py": [("exact", 48, (28, 28, 1), "rmsprop", "float32", 250, 250, 1)],
    "keras_distillation.py": [
        ("exact", 50, (28, 28, 1), "adam", "float32", 1290, 1290, 1),
        # Its compute_loss runs the teacher: TensorFlow's own trace has 6.4 MiB at once, student and input are 1.5 MiB.
        ("lower-bound", 30, (28, 28, 1), "adamw", "float32", 1460, 170, 1),
    ],
    "lightning_data_module.py": [("exact", 36, (3, 40, 40), "adamw", "mixed_float16", 1370, 1370, 1)],
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_script_trains(name: str) -> None:
    reports = [report for report in analyse(load(str(FOLDER / name)), Settings()).reports if report.kind == "training"]
    found = []
    for report in sorted(reports, key=lambda each: each.place or (0, 0)):
        training = report.training
        shape = training.input_shape.value if training.input_shape is not None else None
        facts = (report.status, training.drawn.value, shape, training.optimizer.value.name, training.dtype.value)
        found.append((*facts, report.parameters, report.trainable, report.times))
    assert found == SCRIPTS[name]


def test_every_script_has_its_facts() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == set(SCRIPTS)


def test_keyword_arguments_may_be_called_as_our_own_parameters(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "import argparse\n"
        "from torch import nn\n"
        "class Setting:\n"
        "    def __init__(self, **options):\n"
        "        self.width = options['run'] + options['cls']\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.set_defaults(run=3)\n"
        "space = argparse.Namespace(run=parser.parse_args([]).run)\n"
        "model = nn.Sequential(nn.Linear(Setting(run=space.run, cls=4).width, 2))\n"
    )
    (report,) = analyse(load(str(path)), Settings()).reports
    assert report.parameters == 16


GENERATOR = """\
import argparse
import keras
import numpy as np
from keras import layers

def generator():
    return keras.Sequential([keras.Input((100,)), layers.Dense(784, activation="tanh"), layers.Reshape((28, 28, 1))])

def discriminator():
    return keras.Sequential([keras.Input((28, 28, 1)), layers.Flatten(), layers.Dense(1, activation="sigmoid")])

def train(batch):
    d, g = discriminator(), generator()
    d.compile("adam", "binary_crossentropy")
    d.trainable = False
    both = keras.Sequential([g, d])
    both.compile("adam", "binary_crossentropy")
    for step in range(100):
        made = g.predict(np.zeros((batch, 100)))
        d.train_on_batch(np.concatenate([np.zeros((batch, 28, 28, 1)), made]), np.ones(2 * batch))
        both.train_on_batch(np.zeros((batch, 100)), np.ones(batch))

def generate(batch):
    g = MADE
    g.load_weights("g.h5")
    return g.predict(np.zeros((batch, 100)))

parser = argparse.ArgumentParser()
parser.add_argument("--mode")
args = parser.parse_args()
if args.mode == "train":
    train(64)
else:
    generate(32)
"""


ANOTHER = "keras.Sequential([keras.Input((100,)), layers.Dense(10)])"


@pytest.mark.parametrize(("made", "kinds"), [("generator()", {"training"}), (ANOTHER, {"training", "model"})])
def test_a_model_that_is_made_again_to_be_used_is_none_beside_its_training(
    made: str, kinds: set[str], tmp_path: Path
) -> None:
    path = tmp_path / "gan.py"
    path.write_text(GENERATOR.replace("MADE", made))
    reports = analyse(load(str(path)), Settings()).reports
    assert {report.kind for report in reports} == kinds
    assert len(reports) == len(kinds)
