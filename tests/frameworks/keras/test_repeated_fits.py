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
