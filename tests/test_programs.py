"""Small training programs: each of their phases is told as a reader finds it, with the memory that PyTorch asked for.

fixtures/truth/programs.json is measured by tests/oracle/measure_programs.py; `python tests/score_programs.py` prints
what this holds it against.
"""

from __future__ import annotations

import pytest

from tests import score_programs
from tests.score_programs import PHASES, PROGRAMS, TRUTH, Phase

KNOWN: dict[str, str] = {}
"""Phases that fall short, each with its cause."""


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
def test_a_phase_is_told_as_it_is_and_takes_what_pytorch_asks_for(phase: Phase) -> None:
    wrong = score_programs.score(phase).wrong
    if phase.name in KNOWN:
        assert wrong, f"no longer falls short: {KNOWN[phase.name]}"
    else:
        assert not wrong


def test_what_falls_short_is_a_phase_of_a_program() -> None:
    assert set(KNOWN) <= {phase.name for phase in PHASES}


def test_every_program_has_its_truth() -> None:
    # net.py is the model that several programs import.
    assert {path.name for path in PROGRAMS.glob("*.py")} - {"net.py"} == {program["program"] for program in TRUTH}
