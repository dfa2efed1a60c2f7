"""The notes of an analysis by the expression that they belong to, as far as they belong to one model.

A file's models are evaluated many times over: built, tried with open sizes, run in a step of the program's loop. The
ops of an evaluation are numbered, and a note knows the numbers before and behind it. A model's own notes are those
within the numbers of its graph; the bytes that a step keeps belong to the expressions around the ops that keep them.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import field
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.graph import Call, Invocation, Model, Tensor
from flake8_cnnmem.hints.model import Span
from flake8_cnnmem.hints.places import Places
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.noting import Note


@dataclass(slots=True)
class ExpressionFacts:
    """What a model says of one expression."""

    node: ast.expr
    span: Span
    values: list[Value] = field(default_factory=list)
    """What the model's forward pass gives here; each once where the shapes are the same."""
    layers: list[Instance] = field(default_factory=list)
    """The model's layers that are made here."""
    kept: int | None = None
    """Bytes that ops within this expression keep for the backward pass; None where that is not known."""
    uncalled: list[Tensor] = field(default_factory=list)
    """What its layers give where no expression of this file calls them."""
    calls: list[Span] = field(default_factory=list)
    """Where its layers are called in this file."""
    kept_by_layers: int | None = None
    """Bytes that the ops of its layers keep."""


@dataclass(slots=True)
class EvaluationNotes:
    """The notes of one evaluation, in the order in which they end."""

    notes: list[Note] = field(default_factory=list)
    lasts: list[int] = field(default_factory=list)

    def ending(self, first: int, last: int) -> list[Note]:
        """Those that ended between two numbers."""
        return self.notes[bisect_left(self.lasts, first) : bisect_right(self.lasts, last)]

    def within(self, first: int, last: int) -> list[Note]:
        """Those that began and ended between two numbers."""
        return [note for note in self.ending(first, last) if note.first >= first]


class SavedBytes:
    """The bytes that a step keeps, by the numbers of the ops that keep them: counted once at each expression."""

    def __init__(self, sizes: Sequence[tuple[int, int]]) -> None:
        self.numbers = [number for number, _ in sizes]
        self.sums = [0, *accumulate(size for _, size in sizes)]
        self.counted: set[tuple[Span, int]] = set()

    def number_in(self, note: Note) -> int:
        """How many of the ops ran within one evaluation of an expression."""
        return bisect_right(self.numbers, note.last) - bisect_right(self.numbers, note.first)

    def within(self, note: Note, span: Span) -> int:
        """What is kept for the ops of one evaluation of an expression."""
        low, high = bisect_right(self.numbers, note.first), bisect_right(self.numbers, note.last)
        if low == high or (span, low) in self.counted:
            return 0
        self.counted.add((span, low))
        return self.sums[high] - self.sums[low]


class Collected:
    """The notes of one analysis of the file at `path`."""

    def __init__(self, path: str, places: Places, notes: Sequence[Note]) -> None:
        self.path = path
        self.places = places
        self.made: dict[int, tuple[Instance, list[ast.Call]]] = {}
        """By the id of a layer or other object: itself, and the calls that gave it."""
        self.runs: dict[int, EvaluationNotes] = {}
        """By the id of the evaluation: its other notes."""
        for note in notes:
            if type(note.value) is not Instance:
                run = self.runs.setdefault(id(note.run), EvaluationNotes())
                run.notes.append(note)
                run.lasts.append(note.last)
            elif isinstance(note.node, ast.Call):
                _, nodes = self.made.setdefault(id(note.value), (note.value, []))
                if note.node not in nodes:
                    nodes.append(note.node)
        self.spans: dict[int, Span] = {}
        self.sites: dict[int, Span | None] = {}
        self.taken: set[Span] = set()
        """The expressions of the models that were asked for."""
        self.called: set[Span] = set()
        """Those of them that give tensors."""

    def span(self, node: ast.expr) -> Span:
        found = self.spans.get(id(node))
        if found is None:
            found = self.spans[id(node)] = self.places.of(node)
        return found

    def of(self, report: ModelReport) -> list[ExpressionFacts]:
        """Each expression that the model runs or that makes one of its layers, unless a model that was asked for before
        does; the inner ones before those around them."""
        model = report.model
        if model is None:
            return []
        found: dict[Span, ExpressionFacts] = {}
        estimate = report.estimate
        keeping = estimate.kept_by_call if estimate is not None else ()
        notes = self.notes_of(model.calls)
        own = {call.number: call for call in model.calls}
        kept = SavedBytes(sorted((number_of(call, own), size) for call, size in keeping))
        self.take(found, notes.within(*reach(model.calls)), kept, shapes=True)
        # The program's own step is another run of the model, with numbers for the batch. It begins where the first
        # expression begins that keeps something and has ended by then.
        first, last = reach([call for call, _ in keeping])
        begins = min((note.first for note in notes.ending(first, last) if kept.number_in(note)), default=first)
        stepped = notes.within(begins, last) if keeping else []
        known = set(found)
        self.take(found, [note for note in stepped if self.span(note.node) not in known], kept, shapes=True)
        self.take(found, [note for note in stepped if self.span(note.node) in known], kept, shapes=False)
        self.take_layers(found, model, keeping)
        self.taken.update(found)
        return sorted(found.values(), key=lambda each: (*each.span[2:], -each.span[0], -each.span[1]))

    def notes_of(self, calls: Sequence[Call]) -> EvaluationNotes:
        """The notes of the evaluation that made these calls."""
        runs = list(self.runs.values())
        ours = {id(call) for call in calls}
        for run in runs if len(runs) > 1 else ():
            if any(id(getattr(note.value, "call", None)) in ours for note in run.notes):
                return run
        return runs[0] if len(runs) == 1 else EvaluationNotes()

    def take(self, found: dict[Span, ExpressionFacts], notes: Iterable[Note], kept: SavedBytes, shapes: bool) -> None:
        """Add what these notes say: values if `shapes`, and the bytes that are kept within them."""
        for note in notes:
            span = self.span(note.node)
            if span in self.taken:
                continue
            size = kept.within(note, span)
            if not shapes and not size:
                continue
            at = found.setdefault(span, ExpressionFacts(note.node, span))
            if shapes:
                add_value(at.values, note.value)
            if size:
                at.kept = (at.kept or 0) + size

    def take_layers(
        self, found: dict[Span, ExpressionFacts], model: Model, keeping: Iterable[tuple[Call, int]]
    ) -> None:
        """Add the layers, where they are made."""
        kept: dict[int, int] = {}
        for call, size in keeping:
            for key in {id(each.layer) for each in call.ancestry() if each.layer is not None}:
                kept[key] = kept.get(key, 0) + size
        invocations: dict[int, tuple[Invocation, Call]] = {}
        for call in model.calls:
            for each in call.ancestry():
                invocations[each.number] = (each, call)
        runs: dict[int, list[tuple[Invocation, Call]]] = {}
        for each, last in invocations.values():
            runs.setdefault(id(each.layer), []).append((each, last))
        self.called.update(span for span, at in found.items() if any(is_tensors(value) for value in at.values))
        # Asked of the paths: what the program has put into the model itself may have been put back by now.
        for layer, nodes in [self.made[key] for key in model.paths if key in self.made]:
            for node in nodes:
                span = self.span(node)
                if span in self.taken:
                    continue
                at = found.setdefault(span, ExpressionFacts(node, span))
                at.layers.append(layer)
                if layer is model.root:
                    continue
                if keeping and (id(layer) in kept or runs.get(id(layer))):
                    at.kept_by_layers = (at.kept_by_layers or 0) + kept.get(id(layer), 0)
                for invocation, last in runs.get(id(layer), ()):
                    call_span = self.called_at(invocation)
                    if call_span is not None and call_span in self.called:
                        at.calls += [call_span] if call_span not in at.calls else []
                    elif last.outputs:
                        add_value(at.uncalled, last.outputs[0])

    def called_at(self, invocation: Invocation) -> Span | None:
        """The call in this file by which a layer runs; None where a library's code calls it."""
        site, parent = invocation.site, invocation.parent
        if site is None or site.path != self.path or (parent is not None and parent.site is site):
            return None
        if id(site) not in self.sites:
            node = getattr(site, "node", None)
            self.sites[id(site)] = self.span(node) if isinstance(node, ast.Call) else None
        return self.sites[id(site)]


def number_of(call: Call, own: dict[int, Call]) -> int:
    """The number of an op among those of the program. A backend's own ops count for the layer call that they run in."""
    known = own.get(call.number)
    if call.within is None or known is None or (known.within is call.within and known.site is call.site):
        return call.number
    return call.within.number


def reach(calls: Sequence[Call]) -> tuple[int, int]:
    """The first and the last number of these calls and of all that they run in."""
    if not calls:
        return 1, 0
    inside = (each.number for call in calls for each in call.ancestry())
    return min([*inside, *(call.number for call in calls)]), max(call.number for call in calls)


def is_tensors(value: Value) -> bool:
    """Whether a value is a tensor, or holds nothing else."""
    return isinstance(value, Tensor) or (
        isinstance(value, (tuple, list)) and bool(value) and all(isinstance(each, Tensor) for each in value)
    )


def add_value(values: list[Any], value: Value) -> None:
    if all(not alike(value, other) for other in values):
        values.append(value)


def alike(value: Value, other: Value) -> bool:
    """Whether two values say the same."""
    if type(value) is not type(other):
        return False
    if isinstance(value, Tensor) and isinstance(other, Tensor):
        return bool(value.shape == other.shape and value.dtype == other.dtype)
    if isinstance(value, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(value) == len(other) and all(alike(*pair) for pair in zip(value, other, strict=True))
    return value is other or (not isinstance(value, (Unknown, Instance)) and bool(value == other))
