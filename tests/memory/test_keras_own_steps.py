"""Steps that a program writes itself for `fit` (`train_step` with a GradientTape, `compute_loss`), held against what
TensorFlow's allocator says of the program as it stands (tests/oracle/keras_own_steps.py)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from tests.memory.evaluated import truth

FITS = Path(__file__).parents[2] / "fixtures" / "fits"
TRUTH = truth("keras_own_steps")["programs"]
PLACES = [(program, place) for program, fits in TRUTH.items() for place in range(len(fits))]

CLOSE = 0.03
"""Beyond what the runs themselves differ by: the executor runs independent ops in any order."""


@cache
def trainings(program: str) -> list[ModelReport]:
    return list(analyse(load(str(FITS / program)), Settings()).reports)


@pytest.mark.parametrize(("program", "place"), PLACES)
def test_a_step_of_the_programs_own_needs_what_tensorflow_asks_for(program: str, place: int) -> None:
    report, measured = trainings(program)[place], TRUTH[program][place]["peak_bytes"]
    assert report.status == "exact", report.causes
    assert report.estimate is not None
    assert measured[0] * (1 - CLOSE) <= report.estimate.total <= measured[-1] * (1 + CLOSE)
