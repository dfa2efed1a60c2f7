"""What makes two versions of a model differ: the facts of training one by one, then the layers, with their bytes.

The bytes are replays: the old model's step with the new batch size, then with the new optimizer as well, and so on;
what is left is the layers' (and the input's, which only exists with them). So they add up to the difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.precedence import shown_path
from flake8_cnnmem.results import ModelReport, Row
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.training import Fact, Training

BESIDE = ("input_shape", "devices", "whole", "losses")
"""What of a Training is no fact of its own: the input counts with the layers, the devices with the batch they share,
the losses of several outputs with the first one's."""

FACTS = {field.name: field.name.replace("_", " ") for field in fields(Training) if field.name not in BESIDE}
"""The facts of a Training that a step is replayed with, in this order, as people call them."""


@dataclass(frozen=True, slots=True)
class LayerChange:
    """One row of the layer table that differs; None on the side where it is not."""

    before: Row | None
    after: Row | None
    before_path: str
    after_path: str

    @property
    def name(self) -> str:
        row = self.after or self.before
        assert row is not None
        return row.name

    @property
    def place(self) -> str:
        """Where it stands, in the new code if it is there."""
        row, path = (self.after, self.after_path) if self.after is not None else (self.before, self.before_path)
        assert row is not None
        path = shown_path(row.path, path) if row.path else path
        return f"{path}:{row.line}" if row.line else path

    @property
    def parameters(self) -> int:
        return (self.after.parameters if self.after else 0) - (self.before.parameters if self.before else 0)

    @property
    def activations(self) -> int:
        """The difference in values per sample."""
        return (self.after.activations if self.after else 0) - (self.before.activations if self.before else 0)


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that accounts for the difference. `bytes` are its share; None where it cannot be told."""

    what: str
    """ "batch size", "optimizer", "dtype", "loss", "input", "layers", "input and layers", "limit", ..."""
    before: str
    after: str
    before_source: str
    after_source: str
    bytes: int | None = None
    layers: tuple[LayerChange, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelChange:
    """One model that changed, came (`before` is None) or went (`after` is None)."""

    before: ModelReport | None
    after: ModelReport | None
    changes: tuple[Change, ...] = ()

    @property
    def report(self) -> ModelReport:
        """The newer side that there is."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def bytes(self) -> int | None:
        """How much more a step takes; None where one side is not known."""
        if self.before is None or self.after is None or self.before.estimate is None or self.after.estimate is None:
            return None
        return self.after.estimate.total - self.before.estimate.total


def figures(report: ModelReport) -> tuple[Any, ...]:
    """All that people compare of a model; where it stands and where a fact was found are not of it."""
    training = report.training
    estimate = report.estimate
    return (
        report.status,
        report.parameters,
        report.trainable,
        report.activations,
        None if estimate is None else (estimate.total, estimate.parameters, estimate.gradients, estimate.optimizer,
                                       estimate.activations, estimate.input, estimate.overhead),
        report.limit,
        report.fits,
        report.largest_batch_size,
        [getattr(fact := getattr(training, field.name), "value", fact) for field in fields(training)],
    )  # fmt: skip


def entry_of(before: ModelReport | None, after: ModelReport | None, settings: Settings) -> ModelChange | None:
    """What changed between both, None where nothing did."""
    if before is None or after is None:
        return ModelChange(before, after)
    if figures(before) == figures(after):
        return None
    return ModelChange(before, after, tuple(changes_of(before, after, settings)))


def changes_of(before: ModelReport, after: ModelReport, settings: Settings) -> Iterator[Change]:
    """The facts of training that differ, each with its own share, then what is left for the layers."""
    training, shares = before.training, replayed(before, after, settings)
    total = None if before.estimate is None else before.estimate.total
    for name, label in FACTS.items():
        old, new = getattr(training, name), getattr(after.training, name)
        if old.value == new.value:
            continue
        share = shares.get(name)
        yield Change(label, str(old.value), str(new.value), old.place, new.place, share)
        total = None if total is None or share is None else total + share
    layers = layer_changes(before, after)
    left = None if total is None or after.estimate is None else after.estimate.total - total
    old_input, new_input = training.input_shape, after.training.input_shape
    shape_changed = (old_input and old_input.value) != (new_input and new_input.value)
    made_alike = not any(
        each.before is None or each.after is None or each.parameters or each.before.type != each.after.type
        for each in layers
    )
    if shape_changed:
        what = "input" if made_alike else "input and layers"
        yield Change(
            what, shown(old_input), shown(new_input), source(old_input), source(new_input), left,
            () if made_alike else layers,
        )  # fmt: skip
    elif layers:
        yield Change("layers", "", "", "", "", left, layers)
    elif before.trainable != after.trainable:
        old_count, new_count = f"{before.trainable or 0:,}", f"{after.trainable or 0:,}"
        yield Change("trainable parameters", old_count, new_count, before.path, after.path, left)
    elif left:
        yield Change("the way the step is computed", "", "", before.path, after.path, left)
    if before.limit != after.limit:
        old_limit, new_limit = (str(side.limit) if side.limit else "none" for side in (before, after))
        yield Change("limit", old_limit, new_limit, "", "")
    if before.status != after.status:
        yield Change("what is known", before.status, after.status, why(before), why(after), None)


def replayed(before: ModelReport, after: ModelReport, settings: Settings) -> dict[str, int]:
    """By fact how many bytes the old model's step grows with the new value, those before it taken already."""
    replay, limit = before.replay, before.limit
    if replay is None or before.estimate is None or after.estimate is None:
        return {}
    gpu = "" if limit is None else settings.gpu_named(limit, before.path)
    training, last = before.training, before.estimate.total
    if replay(training, gpu).total != last:
        # Counted with something that is not known here (a GPU that a directive names): no share can be told.
        return {}
    shares: dict[str, int] = {}
    for name in FACTS:
        if getattr(training, name).value == getattr(after.training, name).value:
            continue
        training = replace(training, **{name: getattr(after.training, name)})
        if name == "loss":
            training = replace(training, losses=after.training.losses)
        shares[name] = replay(training, gpu).total - last
        last += shares[name]
    return shares


def layer_changes(before: ModelReport, after: ModelReport) -> tuple[LayerChange, ...]:
    """The rows that differ, those first that weigh most. Rows are alike by name, several of one name by their order."""
    old, new = by_name(before.rows), by_name(after.rows)
    found = [
        LayerChange(old.get(key), new.get(key), before.path, after.path)
        for key in dict.fromkeys((*old, *new))
        if key not in old or key not in new or made(old[key]) != made(new[key])
    ]
    return tuple(sorted(found, key=lambda each: -(abs(each.activations) + abs(each.parameters))))


def by_name(rows: Sequence[Row]) -> dict[tuple[str, int], Row]:
    seen: defaultdict[str, int] = defaultdict(int)
    found = {}
    for row in rows:
        found[row.name, seen[row.name]] = row
        seen[row.name] += 1
    return found


def made(row: Row) -> tuple[Any, ...]:
    return row.type, row.output_shape, row.parameters, row.activations


def shown(fact: Fact[tuple[int | None, ...]] | None) -> str:
    return "unknown" if fact is None else "x".join("?" if size is None else str(size) for size in fact.value) or "1"


def source(fact: Fact[Any] | None) -> str:
    return "" if fact is None else fact.place


def why(report: ModelReport) -> str:
    return report.causes[0].at(report.path) if report.causes else ""
