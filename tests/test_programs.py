"""Small training programs: each of their phases is told as a reader finds it, with the memory that PyTorch asked for.

fixtures/truth/programs.json and double_backward.json are measured by tests/oracle/measure_programs.py;
`python tests/score_programs.py` prints what this holds it against.
"""

from __future__ import annotations

import pytest

from tests import score_programs
from tests.score_programs import PHASES, PROGRAMS, TRUTH, Phase

KNOWN: dict[str, str] = {
    "cached_features/2": "a list that a loop over a loader fills has one batch, not all of them",
    "checkpointed_segments/1": "the input is read off a part of the model that is called behind another",
    "deep_q/1": "a replay memory of random transitions is not followed",
    "generated_then_read/1": "a program that trains nothing has no evaluation beside a training",
    "learning_rates/1": "a loop in which everything is made anew for each learning rate is not followed to its step",
    "sharpness_aware/1": "what the first of the two steps makes for a moment is counted as state",
    "simclr/1": "the batch is told in samples, of which each has two views; pairs grow with its square: a lower bound",
    "swa/1": "what updating an average makes for a moment is not counted",
    "unfrozen_later/2": "what is unfrozen in a later turn is a training of its own, told behind the first",
}
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
