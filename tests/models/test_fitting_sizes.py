"""The image sizes that a model takes, found by calling it on few of them."""

from __future__ import annotations

import pytest

from flake8_cnnmem.graph import Problem
from flake8_cnnmem.models.inputs import Fitting, fitting_sizes


@pytest.mark.parametrize(
    ("stride", "features", "most"),
    [
        pytest.param(32, 7, 12, id="a VGG: 224 to 255"),
        pytest.param(16, 14, 12, id="224 to 239"),
        pytest.param(1, 224, 8, id="one size alone"),
        pytest.param(32, 6, 24, id="192 to 223"),
        pytest.param(37, 5, 30, id="a stride that is no power of two: 185 to 221"),
        pytest.param(4, 7, 30, id="28 to 31"),
        pytest.param(32, 9, 30, id="288 to 319"),
    ],
)
def test_all_sizes_that_fit_are_found_with_few_calls(stride: int, features: int, most: int) -> None:
    asked: set[int] = set()

    def first_problem(size: int) -> Problem | None:
        asked.add(size)
        given = size // stride
        return None if given == features else Problem("CNM201", "", given=given, declared=features)

    low, high = stride * features, stride * (features + 1) - 1
    found = fitting_sizes(first_problem, lambda size: size % stride)
    assert isinstance(found, Fitting)
    assert (found.low, found.high) == (low, high)
    assert len(asked) <= most


@pytest.mark.parametrize("spanned", [1, 2, 16, 31, 32, 33, 64, 4000])
def test_a_guess_saves_calls_and_decides_nothing(spanned: int) -> None:
    asked: set[int] = set()

    def first_problem(size: int) -> Problem | None:
        asked.add(size)
        return None if size // 32 == 7 else Problem("CNM201", "", given=size // 32, declared=7)

    found = fitting_sizes(first_problem, lambda size: size % 32, lambda size: spanned)
    assert isinstance(found, Fitting)
    assert (found.size, found.low, found.high) == (224, 224, 255)
    assert len(asked) <= (6 if spanned == 32 else 14)
