"""The documented Python interface: what tests and tools of a project ask. It changes by the rules of semantic
versioning: what is here stays, with its meaning, until the next major version.

    from flake8_cnnmem import GiB, analyse, report

    report("train.py").needs <= GiB(11)
    [each.name for each in analyse("models.py", batch_size=64)]

Nothing that is analysed is imported or run. Sizes are bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from flake8_cnnmem import units
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.settings import configuration
from flake8_cnnmem.settings.options import OPTIONS, BadValue, Settings
from flake8_cnnmem.text.lines import CellLine

if TYPE_CHECKING:
    from flake8_cnnmem.memory.estimate import Estimate
    from flake8_cnnmem.results import ModelReport, Row
    from flake8_cnnmem.unknown import Unknown

__all__ = ["Cause", "GiB", "Layer", "Memory", "MiB", "NotAnalysed", "NotKnown", "Report", "analyse", "report"]

Value = str | int | Iterable[int] | Iterable[str] | None
"""An option as the command takes it, or a number, or a shape or folders as a sequence."""


class NotAnalysed(Exception):
    """A file that cannot be read or parsed, a target that names nothing, an option that makes no sense."""


class NotKnown(Exception):
    """A figure was asked for of which nothing, or only a lower bound, is known; the message says what is missing."""


def GiB(number: float) -> int:
    """Bytes of so many GiB (1024 MiB)."""
    return int(number * units.GIB)


def MiB(number: float) -> int:
    """Bytes of so many MiB (1024 KiB)."""
    return int(number * units.MIB)


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something is not known, and where that was seen; the line is 0 and the path empty where that is no place.
    `cell` is that of a notebook, whose `line` is within it."""

    reason: str
    path: str
    line: int
    cell: int | None = None

    def __str__(self) -> str:
        cell = f"cell {self.cell}" if self.cell is not None else ""
        where = [part for part in (self.path, cell, str(self.line) if self.line else "") if part]
        return f"{':'.join(where)}: {self.reason}" if where else self.reason


@dataclass(frozen=True, slots=True)
class Layer:
    """One call of a layer. `output_shape` is without the batch, None where a size is not known."""

    name: str
    type: str
    path: str
    line: int
    output_shape: tuple[int | None, ...]
    parameters: int
    activations: int
    """Values per sample, as the CS231n notes count them."""
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """The bytes of a training step at its highest moment, by what they are for."""

    accounting: str
    parameters: int
    gradients: int
    optimizer: int
    activations: int
    input: int
    overhead: int
    total: int


@dataclass(frozen=True, slots=True)
class Report:
    """One model, or one training of a program."""

    target: str
    name: str
    path: str
    line: int
    cell: int | None
    kind: str
    """ "training" or "model"."""
    framework: str
    status: str
    """ "exact", "lower-bound", "upper-bound" or "unresolved"."""
    causes: tuple[Cause, ...]
    """What is missing to an exact figure."""
    batch_size: int
    optimizer: str
    dtype: str
    input_shape: tuple[int | None, ...] | None
    sources: tuple[tuple[str, str], ...]
    """Where each of these four was taken from: ("batch_size", "train.py:41")."""
    parameters: int | None
    trainable: int | None
    memory: Memory | None
    """None where nothing is known; of a lower bound, what is counted so far."""
    limit: int | None
    fits: bool | None
    """Whether it is within the limit; None without one, and where that is not known."""
    largest_batch_size: int | None
    layers: tuple[Layer, ...]

    @property
    def needs(self) -> int:
        """The bytes of a training step. Raises NotKnown where nothing or only a lower bound is known: a test that holds
        it against a limit does not pass for want of knowledge. `at_least` is the figure so far."""
        if self.memory is not None and self.status in ("exact", "upper-bound"):
            return self.memory.total
        said = "is not estimated" if self.memory is None else f"needs at least {units.show(self.memory.total)}"
        raise NotKnown("\n".join((f"{self.name} {said}", *map(str, self.causes))))

    @property
    def at_least(self) -> int:
        """The bytes that are certain to be needed; 0 where nothing is known, and of an upper bound."""
        return self.memory.total if self.memory is not None and self.status in ("exact", "lower-bound") else 0


def analyse(target: str | os.PathLike[str], *, configured: bool = True, **options: Value) -> tuple[Report, ...]:
    """The models and trainings that a file defines, in the order of their lines.

    `target` is what `cnnmem report` takes: PATH, PATH::NAME or PATH::EXPRESSION. The options are those of the command,
    with underscores: `batch_size=64`, `gpu_limit="T4"`, `input_shape=(3, 224, 224)`. The project's configuration, from
    the working directory on, gives the others unless `configured` is False.

    Raises NotAnalysed, and TypeError for an option that there is not.
    """
    from flake8_cnnmem.analysis import TargetError
    from flake8_cnnmem.analysis import analyse as analysed
    from flake8_cnnmem.source import SourceError, load

    path, colons, what = os.fspath(target).partition("::")
    settings = settings_of(options, configured)
    try:
        source = load(path)
        source.check()
        answer = analysed(source, settings, what if colons else None)
    except SourceError as error:
        raise NotAnalysed(f"{path}:{error.line}: {error.reason}" if error.line else f"{path}: {error.reason}") from None
    except TargetError as error:
        raise NotAnalysed(f"{os.fspath(target)}: {error}") from None
    if answer.failure is not None:
        raise NotAnalysed(str(cause(answer.failure)))
    return tuple(map(report_of, answer.reports))


def report(target: str | os.PathLike[str], *, configured: bool = True, **options: Value) -> Report:
    """The one of a file that decides whether it fits: what is known least, and of what is known, what needs most.

    Where the file trains, its trainings are looked at, else its models. Takes and raises what `analyse` does, and
    NotAnalysed where there is no model.
    """
    found = analyse(target, configured=configured, **options)
    if not found:
        raise NotAnalysed(f"{os.fspath(target)}: no model found")
    trained = [each for each in found if each.kind == "training"]
    order = ("upper-bound", "exact", "lower-bound", "unresolved")

    def weight(each: Report) -> tuple[bool, bool, int]:
        known = order.index(each.status)
        return known == 3, known == 2, each.memory.total if each.memory is not None else 0

    return max(trained or found, key=weight)


def settings_of(options: dict[str, Value], configured: bool) -> Settings:
    """Raises NotAnalysed for a bad value, TypeError for an unknown name."""
    by_field = {option.field: option for option in OPTIONS}
    unknown = sorted(set(options) - set(by_field))
    if unknown:
        raise TypeError(f"{unknown[0]!r} is no option: use {', '.join(by_field)}")
    try:
        values = configuration.read() if configured else {}
        if "gpu_limit" in options:
            values.pop("per_file_limits", None)
        given = {name: by_field[name].parse(spelled(value)) for name, value in options.items()}
        return Settings.of(values | dict(configuration.against(given, os.getcwd())))
    except BadValue as error:
        raise NotAnalysed(str(error)) from None


def spelled(value: Value) -> str:
    """A value as the command line has it."""
    if value is None or isinstance(value, (str, int)):
        return str(value).lower() if value is None else str(value)
    return ",".join(map(str, value))


def report_of(model: ModelReport) -> Report:
    training = model.training
    facts = (
        ("batch_size", training.drawn.source),
        ("optimizer", training.optimizer.source),
        ("dtype", training.dtype.source),
        *((("input_shape", training.input_shape.source),) if training.input_shape is not None else ()),
    )
    line, cell = place(model.line)
    return Report(
        target=model.target,
        name=model.name,
        path=model.path,
        line=line,
        cell=cell,
        kind=model.kind,
        framework=model.framework,
        status=model.status,
        causes=tuple(map(cause, model.causes)),
        batch_size=training.drawn.value,
        optimizer=training.optimizer.value.name,
        dtype=training.dtype.value,
        input_shape=training.input_shape.value if training.input_shape is not None else None,
        sources=facts,
        parameters=model.parameters,
        trainable=model.trainable,
        memory=memory_of(model.estimate) if model.estimate is not None else None,
        limit=model.limit,
        fits=model.fits,
        largest_batch_size=model.largest_batch_size,
        layers=tuple(map(layer_of, model.rows if model.rows_at is None else model.rows_at(None))),
    )


def layer_of(row: Row) -> Layer:
    line, cell = place(row.line)
    return Layer(row.name, row.type, row.path, line, row.output_shape, row.parameters, row.activations, cell)


def memory_of(estimate: Estimate) -> Memory:
    return Memory(
        estimate.accounting,
        estimate.parameters,
        estimate.gradients,
        estimate.optimizer,
        estimate.activations,
        estimate.input,
        estimate.overhead,
        estimate.total,
    )


def cause(unknown: Unknown) -> Cause:
    line, cell = place(unknown.line)
    return Cause(unknown.reason, unknown.path, line, cell)


def place(line: int) -> tuple[int, int | None]:
    return (line.inner, line.cell) if isinstance(line, CellLine) else (int(line), None)
