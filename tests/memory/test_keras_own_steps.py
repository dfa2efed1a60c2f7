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
def by_line(program: str) -> dict[int, ModelReport]:
    """What is told of a program's trainings, by the line of the `fit` that runs each."""
    reports = analyse(load(str(FITS / program)), Settings()).reports
    return {report.trained_at.line: report for report in reports if report.trained_at is not None}


@pytest.mark.parametrize(("program", "place"), PLACES)
def test_a_step_of_the_programs_own_needs_what_tensorflow_asks_for(program: str, place: int) -> None:
    case = TRUTH[program][place]
    report = by_line(program)[case["line"]]
    assert report.status == "exact", report.causes
    assert report.estimate is not None
    lowest, highest = case["peak_bytes"][0], case["peak_bytes"][-1]
    assert lowest * (1 - CLOSE) <= report.estimate.total <= highest * (1 + CLOSE)
