"""Models that a program makes and fits anew in the same way: folds are one training, told with how often."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

FOLDS = """
import keras, numpy as np
from keras import layers
x, y = np.zeros((500, 16)), np.zeros((500, 1))
def build(units):
    m = keras.Sequential([keras.Input((16,)), layers.Dense(units, "relu"), layers.Dense(1)])
    m.compile("adam", "mse")
    return m
for {turns}:
    model = build({units})
    model.fit(x, y, batch_size={batch}, epochs=3)
last = build(64)
last.fit(x, y, batch_size=50)
"""

TURNS = {
    "folds": ("fold in range(5)", "32", "20", [5, 1]),
    "widths": ("width in (8, 16, 16)", "width", "20", [1, 2, 1]),
    "batch sizes": ("size in (10, 20)", "32", "size", [1, 1, 1]),
}


@pytest.mark.parametrize(("turns", "units", "batch", "times"), TURNS.values(), ids=TURNS)
def test_models_that_are_trained_alike_are_told_once(
    turns: str, units: str, batch: str, times: list[int], tmp_path: Path
) -> None:
    path = tmp_path / "folds.py"
    path.write_text(FOLDS.replace("{turns}", turns).replace("{units}", units).replace("{batch}", batch))
    found = analyse(load(str(path)), Settings()).reports
    assert [report.times for report in found] == times
    assert [report.place for report in found] == [(at, len(times)) for at in range(1, len(times) + 1)]


REPLAY = """
import random
import numpy as np
import keras
from keras import layers
m = keras.Sequential([keras.Input((4,)), layers.Dense(8), layers.Dense(2)])
m.compile("adam", "mse")
{code}
"""

STATES = """
memory = []
for step in range(50):
    memory.append(({state}, 1))
    for state, reward in random.sample(memory, 1):
        m.fit(state, m.predict(state), verbose=0)
"""

TURNS_OF_ONE = {
    "states that an environment gives": (STATES.replace("{state}", "env.step()"), ("upper-bound", 32)),
    "states of a known shape": (STATES.replace("{state}", "np.zeros((1, 4))"), ("exact", 1)),
    "the same data in every turn": (
        "x, y = np.load('x.npy'), np.load('y.npy')\nfor epoch in range(9):\n    m.fit(x, y, epochs=1)",
        ("exact", 32),
    ),
    "folds, each with a model of its own": (
        (
            "for part in files:\n    m = keras.Sequential([keras.Input((4,)), layers.Dense(2)])\n"
            "    m.compile('adam', 'mse')\n    m.fit(np.load(part), labels[part])"
        ),
        ("exact", 32),
    ),
    "a batch that is stated": (
        "for part in files:\n    m.fit(np.load(part), labels[part], batch_size=16)",
        ("exact", 16),
    ),
}


@pytest.mark.parametrize(("code", "told"), TURNS_OF_ONE.values(), ids=TURNS_OF_ONE)
def test_turns_that_give_other_arrays_each_are_upper_bounds(code: str, told: tuple[str, int], tmp_path: Path) -> None:
    path = tmp_path / "replay.py"
    path.write_text("from environments import env, files, labels\n" + REPLAY.replace("{code}", code))
    report = analyse(load(str(path)), Settings()).reports[-1]
    assert (report.status, report.training.batch_size.value) == told


WIDTHS = {
    "TextVectorization(max_tokens=500, output_mode='multi_hot')": None,
    "TextVectorization(max_tokens=500, output_mode='tf_idf', pad_to_max_tokens=True)": 500,
    "TextVectorization(max_tokens=500, output_mode='count', vocabulary=['a', 'b'])": 3,
    "StringLookup(max_tokens=500, output_mode='one_hot')": None,
    "StringLookup(max_tokens=500, output_mode='one_hot', vocabulary=['a', 'b', 'c'])": 4,
}


@pytest.mark.parametrize(("layer", "width"), WIDTHS.items(), ids=WIDTHS)
def test_most_tokens_are_no_width(layer: str, width: int | None, tmp_path: Path) -> None:
    path = tmp_path / "words.py"
    path.write_text(
        f"import keras\nfrom keras import layers\nwords = layers.{layer}\nwords.adapt(open('words').readlines())\n"
        "i = keras.Input((1,), dtype='string')\nm = keras.Model(i, layers.Dense(1)(words(i)))\n"
    )
    (report,) = analyse(load(str(path)), Settings()).reports
    assert (report.status, report.parameters) == (("exact", width + 1) if width else ("lower-bound", report.parameters))
