"""Holds what the program says of fixtures/programs against fixtures/truth, phase by phase.

    python tests/score_programs.py [TEXT]

One line a phase: the error of its figure, and what is not as a reader finds it. The figure is `memory.total`, held
against what PyTorch asked for less cuBLAS's workspaces, which nobody sees who reads the code. A phase that trains is
held against the training of its place. One that evaluates needs to be told where it needs more than the trainings do:
as the `evaluation` of a training, or in an entry of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flake8_cnnmem.cli import main as cnnmem

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
PROGRAMS = FIXTURES / "programs"
TRUTHS = ("programs", "double_backward")
TRUTH: list[dict[str, Any]] = [
    program for name in TRUTHS for program in json.loads((FIXTURES / "truth" / f"{name}.json").read_text())["programs"]
]

TOLERANCE = 0.005
"""What a figure may be off."""


@dataclass(frozen=True)
class Phase:
    """A phase of a program as the truth has it."""

    program: dict[str, Any]
    index: int

    @property
    def name(self) -> str:
        return f"{Path(self.program['program']).stem}/{self.index + 1}"

    @property
    def truth(self) -> dict[str, Any]:
        return dict(self.program["phases"][self.index])

    @property
    def trains(self) -> bool:
        return "training" in self.truth["kind"]

    @property
    def place(self) -> int:
        """Which of the program's phases of its kind it is."""
        return sum(Phase(self.program, at).trains == self.trains for at in range(self.index))

    @property
    def wanted(self) -> int:
        """What the phase asks for without cuBLAS's workspaces."""
        return int(self.truth["requested_peak"] - self.truth["workspaces"])

    @property
    def is_told(self) -> bool:
        """Whether it is a training, or an evaluation that needs more than each of the program's trainings."""
        phases = [Phase(self.program, at) for at in range(len(self.program["phases"]))]
        return self.trains or all(self.wanted > phase.wanted for phase in phases if phase.trains)


@dataclass(frozen=True)
class Score:
    error: float | None
    """Of the figure, as a fraction; None where there is none."""
    wrong: tuple[str, ...]
    """What is not as it is to be, the figure included."""


PHASES = [Phase(program, index) for program in TRUTH for index in range(len(program["phases"]))]


@cache
def entries(program: str) -> list[dict[str, Any]]:
    """What `cnnmem report PROGRAM --format json`, run in the program's folder, has to say."""
    before = os.getcwd()
    os.chdir(PROGRAMS)
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
            cnnmem(["report", program, "--format", "json"])
    finally:
        os.chdir(before)
    return list(json.loads(output.getvalue())["models"])


def score(phase: Phase) -> Score:
    found = entries(phase.program["program"])
    if not phase.trains:
        return of_evaluation(phase, found)
    trainings = [entry for entry in found if entry["kind"] == "training"]
    if phase.place >= len(trainings):
        return Score(None, (f"not found: {len(trainings)} trainings, {len(found)} entries",))
    entry = trainings[phase.place]
    memory, evaluation, truth = entry["memory"]["total"], entry["evaluation"], phase.truth
    if truth["kind"] == "training" and evaluation is not None:
        memory = evaluation["training_total"]
    wrong = [*facts(phase, entry, len(trainings)), *off(memory, phase.wanted)]
    if "training_alone_requested_peak" in truth:
        alone = truth["training_alone_requested_peak"] - truth["workspaces"]
        wrong += [f"training alone: {each}" for each in off((evaluation or {}).get("training_total"), alone)]
        wrong += differing("evaluation's batch", (evaluation or {}).get("batch_size"), truth["evaluation_batch"])
    return Score(error(memory, phase.wanted), tuple(wrong))


def of_evaluation(phase: Phase, found: list[dict[str, Any]]) -> Score:
    """An evaluation is the larger part of a training's entry, or an entry of its own."""
    told = [
        (entry["evaluation"]["batch_size"], entry["evaluation"]["total"], entry["memory"])
        for entry in found
        if entry["evaluation"] is not None
    ]
    told += [
        (entry["training"]["batch_size"], entry["memory"]["total"], entry["memory"])
        for entry in found
        if entry["kind"] == "evaluation"
    ]
    if not told:
        return Score(None, ("no evaluation is told",) if phase.is_told else ())
    batch, total, memory = told[min(phase.place, len(told) - 1)]
    wrong = [*differing("batch", batch, phase.truth["batch"]), *off(total, phase.wanted), *growth(phase, memory)]
    return Score(error(total, phase.wanted), tuple(wrong))


def facts(phase: Phase, entry: dict[str, Any], trainings: int) -> Iterator[str]:
    truth, training = phase.truth, entry["training"]
    if entry["status"] != "exact":
        yield f"{entry['status']}: {'; '.join(cause['reason'] for cause in entry['causes'][:1])}"
    yield from differing("batch", training["batch_size"], truth["batch"])
    yield from differing("input", entry["input_shape"], truth["input"])
    yield from differing("trainable", entry["parameters"]["trainable"], truth["trainable"])
    yield from differing("dtype", training["dtype"], truth.get("dtype", "float32"))
    wanted, said = truth["optimizer"], str(training["optimizer"]).lower()
    names = list(wanted.values()) if isinstance(wanted, dict) else [wanted]
    if said not in names:
        yield f"optimizer {said}, not {' or '.join(names)}"
    of = sum(Phase(phase.program, at).trains for at in range(len(phase.program["phases"])))
    if of > 1 or trainings > 1:
        yield from differing("place", entry["phase"], {"index": phase.place + 1, "of": of})
    if "times" in truth:
        yield from differing("times", entry["times"], truth["times"])
    yield from growth(phase, entry["memory"])


def growth(phase: Phase, memory: dict[str, Any]) -> Iterator[str]:
    """What one more turn of its loop adds."""
    known = phase.program.get("growth", {})
    if known.get("phase") == phase.index + 1:
        said = memory["growth"] or 0
        if abs(said - known["bytes"]) > TOLERANCE * known["bytes"]:
            yield f"grows by {said:,}, not {known['bytes']:,}"


def differing(what: str, said: object, wanted: object) -> Iterator[str]:
    if said != wanted:
        yield f"{what} {said}, not {wanted}"


def error(said: int | None, wanted: int) -> float | None:
    return None if said is None else said / wanted - 1


def off(said: int | None, wanted: int) -> Iterator[str]:
    by = error(said, wanted)
    if by is None:
        yield "no figure"
    elif abs(by) > TOLERANCE:
        yield f"{said:,} bytes, not {wanted:,}: {by:+.2%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="?", default="")
    only = parser.parse_args().only
    right, phases = 0, [phase for phase in PHASES if only in phase.name]
    for phase in phases:
        started = time.perf_counter()
        try:
            result = score(phase)
        except Exception as failure:
            result = Score(None, (f"{type(failure).__name__}: {failure}",))
        right += not result.wrong
        figure = "        " if result.error is None else f"{result.error:+8.2%}"
        seconds = time.perf_counter() - started
        print(f"{phase.name:32}{figure}{seconds:6.1f}s  {'; '.join(result.wrong) or 'right'}", flush=True)
    print(f"{right} of {len(phases)} phases right")
    sys.exit(right != len(phases))


if __name__ == "__main__":
    main()
