"""The image sizes that a model takes, found by calling it on few of them."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.evaluate.noting import Notes
from flake8_cnnmem.graph import Problem
from flake8_cnnmem.models.inputs import Fitting, fitting_sizes
from flake8_cnnmem.models.trials import Trials
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import shared


@pytest.mark.parametrize(
    ("stride", "features", "most"),
    [
        pytest.param(32, 7, 11, id="a VGG: 224 to 255"),
        pytest.param(16, 14, 10, id="224 to 239"),
        pytest.param(1, 224, 5, id="one size alone"),
        pytest.param(32, 6, 16, id="192 to 223"),
        pytest.param(37, 5, 23, id="a stride that is no power of two: 185 to 221"),
        pytest.param(4, 7, 12, id="28 to 31"),
        pytest.param(32, 9, 19, id="288 to 319"),
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


GUESSES = [
    None,
    (224, 255),
    (224, 230),
    (224, 4000),
    (1, 2),
    (200, 255),
    (230, 255),
    (225, 255),
    (2000, 3000),
    (255, 224),
]


@pytest.mark.parametrize("guess", GUESSES)
def test_a_guess_saves_calls_and_decides_nothing(guess: tuple[int, int] | None) -> None:
    asked: set[int] = set()

    def first_problem(size: int) -> Problem | None:
        asked.add(size)
        return None if size // 32 == 7 else Problem("CNM201", "", given=size // 32, declared=7)

    found = fitting_sizes(first_problem, lambda size: size % 32, lambda size: guess)
    assert isinstance(found, Fitting)
    assert (found.size, found.low, found.high) == (224, 224, 255)
    assert len(asked) <= (6 if guess == (224, 255) else 15)


MAPS = """from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.b = nn.Conv2d(8, 8, 3, stride=2, padding=1)
        self.c = nn.Conv2d(8, 8, 1, stride=2)
        self.pool = nn.AvgPool2d(4)
        self.fc = nn.Linear(8, 10)
    def forward(self, x):
        x = self.a(x)
        x = self.pool(self.b(x) + x[:, :, ::2, ::2])
        return self.fc(x.flatten(1))
"""
"""A ResNet's habits: strides of 2 and 2, and a pool of 4 that leaves nothing of the maps: 13 to 28 fit."""

SMALL = """from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.MaxPool2d(2))
        self.fc = nn.Linear(8 * 3 * 3, 10)
    def forward(self, x):
        return self.fc(self.body(x).flatten(1))
"""
"""Neither 64 nor 224 fits: both give maps that are too large, of 7 and 27 rows where the Linear takes 3."""

ALONG = """from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(2, 4, 5, stride=3), nn.MaxPool1d(2), nn.Conv1d(4, 4, 3))
        self.fc = nn.Linear(4 * 20, 10)
    def forward(self, x):
        return self.fc(self.body(x).flatten(1))
"""
"""A sequence: 64 is too short and 224 too long for the 20 values that the Linear takes."""


@pytest.mark.parametrize(
    ("text", "fit", "most"), [(MAPS, "13 to 28", 8), (SMALL, "31 to 38", 8), (ALONG, "134 to 139", 11)]
)
def test_the_layers_own_sizes_tell_which_images_fit(
    text: str, fit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured with torch 2.13: the sizes that each takes."""
    asked: list[object] = []
    first_problem = Trials.first_problem

    def counted(self: Trials, values: list[object]) -> object:
        asked.append(values)
        return first_problem(self, values)

    monkeypatch.setattr(Trials, "first_problem", counted)
    [report] = analyse(shared("maps.py", text), Settings()).reports
    assert any(f"{fit} fit" in cause.reason for cause in report.causes)
    assert len(asked) <= most


def test_trials_are_not_noted() -> None:
    notes = Notes("maps.py")
    analyse(shared("maps.py", MAPS), Settings(), notes=notes)
    assert sum(note.node.lineno == 14 for note in notes.found) == 5, "of its five expressions each once"
