"""What the pipeline answers: for a file, the models that it defines, each with its layers, memory and verdict.

Made by `model_report` and `analysis`, read by the checks and the reports.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from flake8_cnnmem.graph import Call, Model, Problem, Site
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.running.lazy_fields import LazyField
from flake8_cnnmem.settings.directives import Directives
from flake8_cnnmem.text.lines import in_words
from flake8_cnnmem.training import Training
from flake8_cnnmem.units import KIB
from flake8_cnnmem.unknown import Unknown


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the layer table. Values are per sample."""

    name: str
    type: str
    line: int
    output_shape: tuple[int | None, ...]
    """Without the batch, None where not known; for several outputs that of the first."""
    parameters: int
    activations: int
    """cs231n counting: 0 for what writes no volume."""
    bytes: int
    """What this row's activations take at the batch size, in the estimate's dtype, forward only."""
    path: str = ""
    """The file that `line` is in, as it was found; empty where it is not known."""
    kept: int | None = None
    """Bytes of the batch that it keeps for the backward pass; a layer that is called again has shown at its first call
    what it keeps. None where no step was replayed."""
    depth: int = 1
    """How deep in the model its layer lies: 1 directly inside it."""


@dataclass(frozen=True, slots=True)
class LayerProblem:
    """A CNM201 / CNM202 problem, where it is certain."""

    problem: Problem
    layer: str
    site: Site
    context: str
    """What was given: "for the 28x28 input of line 40", or empty."""
    origin: str = ""
    """What made the sizes that are given: "by flatten (line 20)", or empty."""
    call: Call | None = field(default=None, repr=False, compare=False)
    """The call whose sizes they are."""
    written: str = ""
    """Where numbers of it are written: "512 is written in line 206", or empty."""
    decided: str = ""
    """Where else the sizes come from: "128 comes from line 42, 96 from line 44"."""
    at: Site | None = None
    """The line that has to change where that is known to be another one than `site`, the layer's or the call's."""

    @property
    def place(self) -> Site:
        """Where the finding stands."""
        return self.site if self.at is None else self.at

    def standing_at(self, place: Site) -> LayerProblem:
        return replace(self, at=place)

    @property
    def message(self) -> str:
        """`fc1 takes 400 features, but is given 256 by flatten (line 20) for the 28x28 input of line 40; 256 features
        would fit`; `add (line 14) adds ...` where the finding stands in another line."""
        name = called(self.layer) if self.at is None else f"{called(self.layer)} ({in_words(self.site.line)})"
        said = " ".join(filter(None, (name, self.problem.what, self.origin, self.context)))
        said = ", ".join(filter(None, (said, self.written, self.decided)))
        return f"{said}; {self.problem.advice}" if self.problem.advice else said


def called(layer: str) -> str:
    """A layer's name in a sentence: a Sequential gives its layers numbers."""
    return f"layer {layer}" if layer.isdecimal() else layer


@dataclass(frozen=True, slots=True)
class Drop:
    """CNM203: a pool or stride that does not divide its input."""

    layer: str
    site: Site
    axis: str
    size: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Remedy:
    """One change that makes a training step smaller, with what the step would then take."""

    change: str
    """ "batch size 24", "mixed_float16", "optimizer sgd", "checkpointing layer1, layer2", "input 3x192x192"."""
    total: int
    """Bytes of the step with this change alone."""
    fits: bool | None
    """Whether that is within the limit; None where there is no limit or the total is a lower bound within it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several models that are trained in one step."""

    name: str
    path: str
    line: int
    column: int
    parameters: int
    trainable: int
    input_shape: tuple[int | None, ...] | None
    """Without the batch; None where not known."""


@dataclass(frozen=True, slots=True)
class AlsoInMemory:
    """What lies in memory during a training's step and is not the step's own."""

    what: str
    """ "teacher: weights", "optimizer: state"."""
    bytes: int
    path: str
    line: int
    """Where the code makes it; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """A loop that calls a trained model without an optimizer step, where it needs more than the training does."""

    batch_size: int
    total: int
    """Bytes, overhead included."""
    path: str
    line: int
    """Where its batch is written, or comes from."""
    largest_batch_size: int | None
    """The largest of its batches that fits; None where there is no limit."""
    training_total: int
    """What the training alone needs."""
    loop_path: str = ""
    loop_line: int = 0
    """Where the loop stands."""


LEAST_GROWTH = 4 * KIB
"""Bytes a turn that are worth telling: a scalar or a few take a block of the allocator each."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a loop still holds after a turn, with its graph, that it did not hold before."""

    what: str
    """The container, variable or attribute: "outputs", "self.total"."""
    bytes: int
    """Of one turn."""
    path: str
    line: int
    column: int
    """The statement that keeps it."""
    loop_path: str
    loop_line: int
    """Where the loop stands."""
    gathers: bool
    """Whether it is a container that is filled; else each turn's result is made of the last."""
    single: bool
    """Whether what is kept are single numbers (losses)."""
    use: str
    """What comes of the graph that is kept: "evaluation", nothing, as nothing is learned from the loop; "training",
    nothing, though the loop trains; "backward", a backward pass after the loop goes through it."""


@dataclass(frozen=True)
class ModelReport:
    """All that is known of one model. What is not known of an unresolved one is None.

    Checks read little of it: the layer table, what a stride drops, the largest batch and what would make the step
    smaller are worked out for those who ask.
    """

    target: str
    name: str
    path: str
    line: int
    column: int
    framework: str
    status: str
    """ "exact", "lower-bound", "upper-bound" or "unresolved"."""
    causes: tuple[Unknown, ...]
    training: Training
    parameters: int | None
    trainable: int | None
    estimate: Estimate | None
    limit: int | None
    fits: bool | None
    activations: LazyField[int | None] = LazyField(None)
    rows: LazyField[tuple[Row, ...]] = LazyField(())
    rows_at: Callable[[int | None], tuple[Row, ...]] | None = field(default=None, repr=False, compare=False)
    """The rows with what lies deeper than so many levels as one; None: the innermost layers, also of nested models."""
    largest_batch_size: LazyField[int | None] = LazyField(None)
    problems: tuple[LayerProblem, ...] = ()
    drops: LazyField[tuple[Drop, ...]] = LazyField(())
    model: Model | None = None
    remedies: LazyField[tuple[Remedy, ...]] = LazyField(())
    """What would make it smaller, the cheapest change first."""
    first_fit: LazyField[Remedy | None] = LazyField(None)
    """The first of them with which it may fit; None where there is none."""
    parts: tuple[Part, ...] = ()
    """The models that one step trains together, in the order in which they are built; empty for a single model."""
    kind: str = "model"
    """ "training" where a loop of the program, or the framework on its behalf, trains it; else "model"."""
    place: tuple[int, int] | None = None
    """Which of the program's trainings it is, and how many there are."""
    trained_at: Site | None = None
    """Where the loop stands that trains it."""
    times: int = 1
    """How often the program trains models like this in the same way."""
    also_in_memory: tuple[AlsoInMemory, ...] = ()
    evaluation: EvaluationReport | None = None
    """The evaluation that needs more than the training, whose figure `estimate` then is."""
    growths: tuple[Growth, ...] = ()
    """What keeps memory growing with every turn of its loops, each loop that trains or evaluates it."""
    defined_at: tuple[str, int, int] = ("", 0, 0)
    """Where the class or factory stands: the file, its first and its last line; of a class the first twice."""
    made_of: LazyField[frozenset[tuple[str, int]]] = LazyField(frozenset())
    """Where the classes stand, and the constructing calls of the models, that it is made of."""
    version: str = ""
    """The framework's version that it is counted for, and who asks for it; empty for the newest that is known."""
    replay: Callable[[Training, str], Estimate] | None = field(default=None, repr=False, compare=False)
    """The estimate with other facts of training, and with what a GPU of this name adds ("": none)."""

    @property
    def bound(self) -> str:
        """What stands before its figures where these are no exact ones."""
        return {"lower-bound": "at least ", "upper-bound": "at most "}.get(self.status, "")

    @property
    def bound_of_batch(self) -> str:
        """The same for the largest batch that fits."""
        return {"lower-bound": "at most ", "upper-bound": "at least "}.get(self.status, "")


@dataclass(frozen=True, slots=True)
class FileReport:
    """All that is known of one file. `failure` says why its models could not be looked for, if they could not."""

    path: str
    reports: tuple[ModelReport, ...] = ()
    directives: Directives = Directives()
    failure: Unknown | None = None
    missing: tuple[Unknown, ...] = ()
    """Packages on top of a framework whose source is not found, and that no report has as a cause: a model that such a
    package makes is not known to be one. Where a file has no model, statements that cost too much to be followed."""
