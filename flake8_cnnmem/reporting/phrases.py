"""What all forms of a report say in the same words and figures: the facts, the terms, the verdict, the remedies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from flake8_cnnmem import units
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.device import labelled
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.precedence import shown_path
from flake8_cnnmem.results import LEAST_GROWTH, ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.training import Fact

NOT_STATED = "not stated"

ENDLESS = 10**6
"""A largest batch from which on it is not told: no data set has so many samples, and no limit holds it back."""

STATUS = {
    "exact": "exact", "lower-bound": "a lower bound", "upper-bound": "an upper bound", "unresolved": "not estimated",
}  # fmt: skip


def status(report: ModelReport) -> str:
    """What the report's figures are; of a model that cannot run, why there are none."""
    return "sizes do not fit together" if report.problems else STATUS[report.status]


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact of training as people read it: its name, its value, where it was found, and what was passed over."""

    name: str
    value: str
    source: str
    passed_over: tuple[tuple[str, str], ...]


def facts(report: ModelReport) -> list[StatedFact]:
    """Input, batch, optimizer and dtype, in this order; the input only where it is known."""
    training = report.training
    found: list[tuple[str, str, Fact[Any]]] = [
        ("batch", training.batch_words, training.drawn),
        ("optimizer", str(training.optimizer.value), training.optimizer),
        ("dtype", training.dtype.value, training.dtype),
    ]
    if training.input_shape is not None:
        found.insert(0, ("input", stated(training.input_shape.value), training.input_shape))
    return [StatedFact(name, value, fact.place, fact.passed_over) for name, value, fact in found]


def terms(estimate: Estimate) -> list[tuple[str, int]]:
    """The sums by term, those of a card's own behind what all tensors take together, and the total."""
    rows = [
        ("parameters", estimate.parameters),
        ("gradients", estimate.gradients),
        ("optimizer state", estimate.optimizer),
        ("activations", estimate.activations),
        ("input", estimate.input),
    ]
    if estimate.overhead_parts:
        named = dict(estimate.overhead_parts)
        rows.append(("tensors", sum(size for _, size in rows)))
        rows += [(label, named[name]) for name, label in labelled(named)]
    elif estimate.overhead:
        rows.append(("overhead", estimate.overhead))
    return [*rows, ("total", estimate.total)]


def accounting(estimate: Estimate) -> str:
    """`of a training step at batch 64, framework accounting, highest in the backward pass, at features.4`."""
    evaluates = estimate.peak_at is not None and estimate.peak_at.phase == "evaluation"
    of = "an evaluation" if evaluates else "a training step"
    where = f", highest {estimate.moment}" if estimate.moment and not evaluates else ""
    return f"of {of} at batch {estimate.batch_size}, {estimate.accounting} accounting{where}"


def not_counted(report: ModelReport) -> list[str]:
    """`not counted: workspaces of convolutions, 0 to 907 MiB, usually about 300 MiB, as cuDNN decides; more than
    120 MiB of them would not fit`."""
    estimate = report.estimate
    if estimate is None or not estimate.convolutions:
        return []
    usual = f", usually about {units.show(estimate.convolutions_usual)}" if estimate.convolutions_usual else ""
    said = f"not counted: workspaces of convolutions, 0 to {units.show(estimate.convolutions)}{usual}, as cuDNN decides"
    spare = None if report.limit is None else report.limit - estimate.total
    if report.fits and spare is not None and spare < estimate.convolutions:
        said += f"; more than {units.show(spare)} of them would not fit"
    return [said]


def trained(report: ModelReport) -> str:
    """`training 2 of 3, loop at train.py:88, 5 times, 970 of 44,170 parameters train`; empty where the program does not
    train the model, and where nothing is to be said of its training."""
    if report.place is None:
        return ""
    index, count = report.place
    said = [f"training {index} of {count}" if count > 1 else "training"]
    if report.trained_at is not None:
        said.append(f"loop at {placed(report, report.trained_at.path, report.trained_at.line)}")
    if report.times > 1:
        said.append(f"{report.times} times")
    if report.trainable is not None and report.parameters is not None and report.trainable < report.parameters:
        said.append(f"{report.trainable:,} of {report.parameters:,} parameters train")
    return ", ".join(said) if len(said) > 1 or count > 1 else ""


def placed(report: ModelReport, path: str, line: int) -> str:
    """`train.py:88`; empty where it is not known."""
    return f"{shown_path(path, report.path)}:{line}" if path and line else ""


def beside(report: ModelReport) -> list[tuple[str, str, int]]:
    """What is in memory beside the model: (what, where, bytes)."""
    return [(each.what, placed(report, each.path, each.line), each.bytes) for each in report.also_in_memory]


def evaluated(report: ModelReport) -> str:
    """`evaluation at batch 1000 (train.py:24) needs 730 MiB; the training itself 163 MiB`; empty where the training
    needs more."""
    found = report.evaluation
    if found is None:
        return ""
    where = placed(report, found.path, found.line)
    needs, training = units.show_apart(found.total, found.training_total)
    return f"evaluation at batch {found.batch_size} ({where}) needs {needs}; the training itself {training}"


def growth(report: ModelReport) -> list[str]:
    """`and 72 MiB more with every turn: outputs (train.py:24)`, or how many turns the figure counts; then what
    keeps memory growing in other loops."""
    found, at = report.evaluation, report.trained_at
    own = (found.loop_path, found.loop_line) if found is not None else (at.path, at.line) if at is not None else ()
    size = report.estimate.growth if report.estimate is not None else 0
    named = [each for each in report.growths if size >= LEAST_GROWTH and (each.loop_path, each.loop_line) == own]
    said = []
    if size >= LEAST_GROWTH:
        names = ", ".join(f"{each.what} ({placed(report, each.path, each.line)})" for each in named)
        turns = report.estimate.turns if report.estimate is not None else 0
        more = f"{units.show(size)} more with every turn"
        more = f"{more}, {turns} counted" if turns else f"and {more}"
        said.append(f"{more}{f': {names}' if names else ''}")
    for each in report.growths:
        if each not in named:
            line, loop = placed(report, each.path, each.line), placed(report, each.loop_path, each.loop_line)
            more = f"{units.show(each.bytes)} more with every turn of the loop at {loop}"
            said.append(f"{each.what} ({line}) keeps {more}")
    return said


def verdict(report: ModelReport, settings: Settings) -> str:
    """Whether it fits, by how much, and up to which batch."""
    if report.problems:
        return "it cannot run with these sizes: no estimate, no verdict"
    if report.estimate is None:
        return "no estimate, no verdict"
    if report.limit is None:
        return "no limit is set"
    total, limit = units.show_apart(report.estimate.total, report.limit)
    name = settings.gpu_named(report.limit, report.path)
    gpu = f" ({name})" if name else ""
    if report.fits is None:
        answer = f"it takes {report.bound}{total}; whether it fits is not known"
    else:
        answer = fits_by(report, report.estimate.total, report.limit, on_card=bool(name))
    largest = report.largest_batch_size
    whose = ""
    if report.evaluation is not None:
        largest, whose = report.evaluation.largest_batch_size, "evaluation "
    fits = f"; {whose}fits up to {report.bound_of_batch}batch {largest}"
    batch = "" if largest is None or largest >= ENDLESS else "; not even batch 1 fits" if largest < 1 else fits
    return f"limit {limit}{gpu}: {answer}{batch}"


CLOSE = 3
"""Percent of a card: what its context takes is known to a third, and what convolutions take for a moment is not."""


def is_close(total: int, limit: int) -> bool:
    return abs(limit - total) * 100 < CLOSE * limit


def fits_by(report: ModelReport, total: int, limit: int, on_card: bool) -> str:
    """`fits, 13.0 GiB to spare`, `does not fit: 1.2 GiB over`; near the size of a card `too close to call: fits by
    120 MiB of 15.0 GiB`."""
    rest = units.show(abs(limit - total))
    if on_card and is_close(total, limit):
        by = "fits" if report.fits else "over"
        return f"too close to call: {by} by {report.bound}{rest} of {units.show(limit)}"
    return f"fits, {rest} to spare" if report.fits else f"does not fit: {report.bound}{rest} over"


def total(report: ModelReport) -> str:
    """`12.04 GiB`, `at least 2.1 GiB`, `at most 3 GiB`, `not estimated`: the figure, as near to the limit as the
    verdict shows it."""
    if report.estimate is None:
        return status(report)
    size = report.estimate.total
    shown = units.show(size) if report.limit is None else units.show_apart(size, report.limit)[0]
    return f"{report.bound}{shown}"


def fitting(fits: bool | None) -> str:
    """One word for a verdict."""
    return {True: "fits", False: "does not fit", None: ""}[fits]


def shape(sizes: Sequence[int | None]) -> str:
    """`64x224x224`, `?` for a size that is not known; a single value has no sides."""
    return "x".join("?" if size is None else str(size) for size in sizes) or "1"


def stated(sizes: Sequence[int | None]) -> str:
    """The shape of an input, or that nobody states it."""
    return NOT_STATED if None in sizes else shape(sizes)


def line_of(line: int, path: str, report: ModelReport) -> str:
    """`14`; in another file than the report's `resnet.py:14`."""
    if not line:
        return ""
    if path in ("", report.path):
        return str(line)
    return f"{short_path(path, report.path)}:{line}"


def short_path(path: str, report: str) -> str:
    """A path as the report at `report` names its own; one of an installed package from there on, any other file
    elsewhere by its name alone."""
    found = shown_path(path, report)
    if not os.path.isabs(found) or os.path.isabs(report):
        return found
    for packages in ("site-packages", "dist-packages"):
        _, between, inside = found.rpartition(f"{os.sep}{packages}{os.sep}")
        if between:
            return inside
    return os.path.basename(found)


def mib(size: int) -> str:
    if size > units.LARGEST:
        return f"over {units.LARGEST // units.MIB:,}"
    return f"{size / units.MIB:,.2f}"
