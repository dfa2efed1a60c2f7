"""Keras programs made by chance, against what Keras says of them: nothing exact is wrong, and nothing that runs is
accused. tests/generated_keras.py makes the programs; fixtures/truth/generated_keras.json holds what Keras said."""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.generated_keras import differs, said, written  # noqa: E402

TRUTH = json.loads((ROOT / "fixtures" / "truth" / "generated_keras.json").read_text())["programs"]


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")


@pytest.mark.parametrize("tens", range(0, len(TRUTH), 10))
def test_what_is_said_of_a_model_is_so(tens: int) -> None:
    found, exact = {}, 0
    for truth in TRUTH[tens : tens + 10]:
        text = written(truth["seed"])
        assert zlib.crc32(text.encode()) == truth["text"]
        told = said(text)
        exact += told["status"] == "exact"
        found[truth["seed"]] = differs(truth, told)
    assert {seed: wrong for seed, wrong in found.items() if wrong} == {}
    assert exact >= 5
