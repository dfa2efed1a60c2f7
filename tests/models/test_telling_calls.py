"""A model is called on inputs of unknown rank only as far as its layers tell what each input is: that is what all of
its calls would tell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.evaluate.application import Halted
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.models import build
from flake8_cnnmem.models.inputs import expected_by
from flake8_cnnmem.models.trials import Telling
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models" / "torch"

PATCHES_AS_ROWS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(48, 8), nn.Linear(8, 2)

    def forward(self, x):
        return self.second(self.first(x.reshape(-1, 48)))

net = Net()
"""
"""Nobody says what its input is: rows that are made of it come first."""


class Whole(Telling):
    """Notes what is told where the calls would end, and goes on to the last one."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__(inputs)
        self.told: list[object] | None = None
        made.append(self)

    def append(self, call: Call) -> None:
        if self.told is not None:
            list.append(self, call)
            return
        try:
            super().append(call)
        except Halted:
            self.told = [reading.expected for reading in self.readings]


made: list[Whole] = []


@pytest.mark.parametrize("name", ["audio_m5", "lenet", "resnet", "seq2seq_gru", "siamese", "transformer", "vit", ""])
def test_what_is_told_is_what_all_calls_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (MODELS / f"{name}.py").read_text(encoding="utf-8") if name else PATCHES_AS_ROWS
    settings = Settings.of({"input_shape": (3, 64, 64), "cache_dir": ""})
    made.clear()
    ended = analyse(Source("net.py", text), settings)
    monkeypatch.setattr(build, "Telling", Whole)
    whole = analyse(Source("net.py", text), settings)
    assert [each.training.input_shape for each in ended.reports] == [
        each.training.input_shape for each in whole.reports
    ]
    assert any(each.told is not None for each in made)
    for each in made:
        if each.told is not None:
            assert each.told == [expected_by(each, tensor) for tensor in each.inputs]


def test_calls_that_are_taken_away_again_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "Telling", Whole)
    made.clear()
    analyse(Source("net.py", (MODELS / "lenet.py").read_text(encoding="utf-8")), Settings(cache_dir=""))
    calls = next(list(each) for each in made if each.told is not None and any(each.told))
    inputs = next(each.inputs for each in made if each.told is not None and any(each.told))
    telling = Telling(inputs)
    with pytest.raises(Halted):
        list(map(telling.append, calls))
    del telling[:]
    other = next(call for call in calls if call.inputs[0] is not inputs[0])
    telling.append(other)
    assert not any(reading.over for reading in telling.readings)
