"""Trainings that a program makes again with other models made in the same way (folds): each is told once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

from flake8_cnnmem.results import ModelReport


def told_once(reports: Sequence[tuple[ModelReport, bool]]) -> tuple[ModelReport, ...]:
    """The reports of a file, each with whether the framework's own trainer trains it: several of one such call that
    need the same are one, which counts them. What is left is numbered anew."""
    known: dict[Hashable, int] = {}
    found: list[ModelReport] = []
    places = Counter(place_of(report) for report, fitted in reports if fitted)
    for report, fitted in reports:
        key = likeness(report) if fitted and places[place_of(report)] > 1 else None
        at = known.get(key) if key is not None else None
        if at is not None:
            found[at] = replace(found[at], times=found[at].times + report.times)
            continue
        if key is not None:
            known[key] = len(found)
        found.append(report)
    return tuple(found) if len(found) == len(reports) else tuple(numbered(found))


def place_of(report: ModelReport) -> Hashable:
    """Where a model is made, and where it is trained."""
    site = report.trained_at
    return (report.path, report.line, report.column, *(() if site is None else (site.path, site.line, site.column)))


def likeness(report: ModelReport) -> Hashable:
    """What two trainings by one call have in common if they are alike: facts, ops with their sizes, bytes, causes; None
    of what is no such training."""
    model, estimate, training = report.model, report.estimate, report.training
    if report.kind != "training" or report.trained_at is None or model is None or estimate is None or report.parts:
        return None
    shape = training.input_shape.value if training.input_shape is not None else None
    optimizer = training.optimizer.value
    facts = (training.batch_size.value, training.dtype.value, optimizer.name, optimizer.options, training.losses, shape)
    ops = tuple((call.op.kind, *(repr(tensor.shape) for tensor in call.outputs)) for call in model.calls)
    figures = (estimate.total, estimate.saved, estimate.parameters, estimate.optimizer, estimate.growth)
    counts = (report.parameters, report.trainable, repr(report.causes), repr(report.also_in_memory))
    return (place_of(report), report.name, repr(facts), ops, figures, counts)


def numbered(reports: Sequence[ModelReport]) -> list[ModelReport]:
    """The reports with their places among the trainings that are left."""
    places = sorted({report.place[0] for report in reports if report.place is not None})
    return [
        report if report.place is None else replace(report, place=(1 + places.index(report.place[0]), len(places)))
        for report in reports
    ]
