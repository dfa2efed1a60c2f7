"""Programs made by chance, against what PyTorch says of them: nothing exact is wrong, no program that runs is accused.

`CNNMEM_GENERATED=COUNT` has more of those asked whose truth is stored; tests/generated.py asks PyTorch itself.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.generated import differs, said, written  # noqa: E402

TRUTH = json.loads((ROOT / "fixtures" / "truth" / "generated.json").read_text())["programs"]
FEW = 200
TAKEN = range(min(len(TRUTH), int(os.environ.get("CNNMEM_GENERATED", FEW))))


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")


def test_a_seed_writes_the_program_that_was_measured() -> None:
    assert [zlib.crc32(written(seed).encode()) for seed in range(len(TRUTH))] == [each["text"] for each in TRUTH]


@pytest.mark.parametrize("tens", range(0, len(TAKEN), 10))
def test_what_is_said_of_a_program_is_so(tens: int) -> None:
    found = {}
    for seed in TAKEN[tens : tens + 10]:
        truth = {word: value for word, value in TRUTH[seed].items() if word != "text"}
        found[seed] = differs(truth, said(written(seed)))
    assert {seed: wrong for seed, wrong in found.items() if wrong} == {}


def test_most_of_the_slips_are_found() -> None:
    """Of the programs that raise, those whose wrong size is told."""
    raising = [seed for seed in TAKEN if "raises" in TRUTH[seed]]
    assert sum(bool(said(written(seed))["found"]) for seed in raising) >= 0.95 * len(raising) > 0
