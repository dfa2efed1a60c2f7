"""Small training programs: each of their phases is told as a reader finds it, with the memory that PyTorch asked for.

fixtures/truth/programs.json and double_backward.json are measured by tests/oracle/measure_programs.py;
`python tests/score_programs.py` prints what this holds it against.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests import score_programs
from tests.score_programs import PHASES, PROGRAMS, TOLERANCE, TRUTH, Phase, entries

CLOSE = 0.001
"""How far the error of a figure that is known to be off may move."""


@dataclass(frozen=True)
class Short:
    """How a phase falls short: the error of its figure as a fraction (None where there is none), what is wrong by its
    first word, and the cause."""

    error: float | None
    wrong: tuple[str, ...]
    cause: str


KNOWN: dict[str, Short] = {
    "another_optimizer_midway/1": Short(
        -0.3995, ("lower-bound", "optimizer", "figure"), "what optimizers that take turns with the same weights keep"
    ),
    "copied_every_epoch/1": Short(
        -0.2476, ("lower-bound", "figure"), "the moment at which weights are copied is none of the step's"
    ),
    "copied_between_epochs/1": Short(
        -0.1954, ("lower-bound", "figure"), "the moment at which weights are copied is none of the step's"
    ),
    "checkpoint_held/1": Short(
        -0.3299, ("lower-bound", "figure"), "what a file holds is not known, and lies beside the step"
    ),
    "cached_in_a_list/1": Short(None, ("no",), "what a model that only answers needs is not told beside a training"),
    "validated_late_with_graph/1": Short(
        -0.6916,
        ("lower-bound", "figure"),
        "what a graph keeps that lies beside the steps of the next epoch is not counted",
    ),
    "pool_of_images/1": Short(
        -0.0260,
        ("lower-bound", "figure"),
        "what a pool holds is counted until it is full, and told as a bound",
    ),
    "generated_then_read/1": Short(None, ("no",), "a program that trains nothing has no evaluation beside a training"),
    "student_on_the_host/1": Short(
        0.0466, ("upper-bound", "figure"), "a model that trains on the host beside another one is counted on the card"
    ),
    "stepped_on_the_host/1": Short(
        1.3564,
        ("upper-bound", "trainable", "figure"),
        "copies of the weights that an optimizer trains on the host are counted on the card",
    ),
    "recomputed_by_hand/1": Short(
        -0.3616, ("lower-bound", "figure"), "what a backward pass of its own computes with a graph is not counted"
    ),
    "shuffled_on_the_card/1": Short(
        -0.4808, ("lower-bound", "figure"), "what is computed of all data between the steps is told, and not counted"
    ),
    "halves_shuffled/1": Short(
        -0.3964, ("lower-bound", "figure"), "what is computed of all data between the steps is told, and not counted"
    ),
    "head_replaced_midway/2": Short(
        -0.0835,
        ("lower-bound", "figure"),
        "gradients of a replaced head lie there until the first step clears them",
    ),
    "sampled_with_graph/1": Short(
        -0.3351, ("lower-bound", "figure"), "what a name keeps with its graph until it is made again is not counted"
    ),
    "graphs_left/2": Short(
        -0.6610, ("lower-bound", "figure"), "what is kept with its graph before a training is not counted beside it"
    ),
    "sharpness_aware/1": Short(
        0.0703,
        ("upper-bound", "optimizer", "figure"),
        "the weights that SAM puts aside and back are counted for the whole of a step",
    ),
    "teacher_forcing/1": Short(
        -0.0131, ("lower-bound", "figure"), "what cuDNN reserves for recurrent layers is its own: the truth has a guess"
    ),
    "scaled_by_channel/1": Short(
        0.0009, ("lower-bound",), "what an addcmul makes for factors that are repeated is not known in all cases"
    ),
    "penalty_at_first/1": Short(
        0.2118,
        ("upper-bound", "figure"),
        "a penalty of the first step alone is counted beside the state that the optimizer has from then on",
    ),
    "short_batch_enlarged/1": Short(
        0.0001, ("batch",), "the batch is told in samples, each of which the step repeats ten times"
    ),
    "simclr/1": Short(0.0001, ("batch",), "the batch is told in samples, of which each has two views"),
}
"""Phases that fall short. What is known must neither grow nor go unnoticed when it is mended."""


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
def test_a_phase_is_told_as_it_is_and_takes_what_pytorch_asks_for(phase: Phase) -> None:
    found = score_programs.score(phase)
    known = KNOWN.get(phase.name)
    if known is None:
        assert not found.wrong
        return
    assert found.wrong, f"no longer falls short: {known.cause}"
    assert tuple(map(first_word, found.wrong)) == known.wrong
    if known.error is None:
        assert found.error is None
    else:
        assert found.error is not None
        assert abs(found.error - known.error) < CLOSE


@pytest.mark.parametrize("phase", [phase for phase in PHASES if phase.name in KNOWN], ids=lambda phase: phase.name)
def test_what_is_off_is_not_called_exact(phase: Phase) -> None:
    """A figure that is too low is a lower bound, one that is too high an upper estimate."""
    error = KNOWN[phase.name].error
    if error is None or abs(error) <= TOLERANCE:
        return
    trainings = [entry for entry in entries(phase.program["program"]) if entry["kind"] == "training"]
    assert trainings[phase.place]["status"] == ("lower-bound" if error < 0 else "upper-bound")


def first_word(wrong: str) -> str:
    word = wrong.split()[0].rstrip(":")
    return "figure" if word[0].isdigit() else word


def test_what_falls_short_is_a_phase_of_a_program() -> None:
    assert set(KNOWN) <= {phase.name for phase in PHASES}


def test_every_program_has_its_truth() -> None:
    # net.py is the model that several programs import.
    assert {path.name for path in PROGRAMS.glob("*.py")} - {"net.py"} == {program["program"] for program in TRUTH}
