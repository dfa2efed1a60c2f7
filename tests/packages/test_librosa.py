"""What is computed of a sound is as large as librosa makes it (fixtures/truth/sounds.json)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran

TRUTH = json.loads((Path(__file__).parents[2] / "fixtures" / "truth" / "sounds.json").read_text())
CASES = list(TRUTH["arrays"])


@pytest.fixture(scope="module")
def arrays() -> Ran:
    return Ran(TRUTH["setup"] + "".join(f"found{at} = {case}\n" for at, case in enumerate(CASES)))


@pytest.mark.parametrize("case", CASES)
def test_arrays_are_as_librosa_makes_them(arrays: Ran, case: str) -> None:
    found = arrays[f"found{CASES.index(case)}"]
    assert isinstance(found, Tensor)
    assert isinstance(found.shape, tuple)
    assert [list(found.shape), found.dtype] == TRUTH["arrays"][case]


def test_a_sound_in_a_file_is_as_long_as_nobody_knows_until_it_is_cut() -> None:
    ran = Ran(
        "import librosa\nsound, rate = librosa.load('a.wav', sr=16000)\ncut = librosa.util.fix_length(sound, size=9)"
    )
    assert ran["rate"] == 16000
    assert isinstance(ran["sound"].shape[0], Unknown)
    assert ran["cut"].shape == (9,)
