"""One sample of a data set of a hub: the columns that the program has made, and those of which nothing is known."""

from __future__ import annotations

from dataclasses import field

from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.packages.PIL import PERHAPS_IMAGE
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Value


@dataclass(frozen=True, slots=True)
class Columns:
    """What is known of a data set's samples: the columns that the program has made, and how a sample is given."""

    made: dict[str, Value] = field(default_factory=dict)
    alone: bool = False
    """Whether there are no other columns than these."""
    transform: Value = None
    """The function that makes samples of what is stored; None without one."""
    format: Value = None
    """The format of `set_format`; None for Python's own values."""
    shown: tuple[str, ...] | None = None
    """The columns that the format gives; None for all."""
    count: Value = None
    """How many samples there are; None where that is not known."""


# One sample, or the columns of a batch of one.

ROW_MEMBERS = Members()
ROW = Class("LazyRow", namespace=ROW_MEMBERS, module="datasets.formatting")


LABELS = ("label", "labels")
"""Columns of one number for each sample, as transformers takes them (data/data_collator.py: "label: handles a single
value (int or float) per object")."""


def something(run: Runtime, name: Value) -> Unknown:
    """What a column of the data set itself holds."""
    cause = run.unknown("what a published data set holds is not known")
    if name in LABELS:
        return cause.as_number("int")
    return Unknown(cause.reason, cause.path, cause.line, something=True, known=PERHAPS_IMAGE)


def row_of(columns: Columns, batched: bool = False) -> Instance:
    """One sample as its functions see it, `batched` with a list of one value for each column."""
    payload = {name: [value] if batched else value for name, value in columns.made.items()}
    return Instance(ROW, native=(columns.alone, batched), payload=payload)


def held(row: Instance) -> dict[Value, Value]:
    """The columns of a sample that are known."""
    return row.payload if isinstance(row.payload, dict) else {}


def beyond(run: Runtime, row: Instance, name: Value) -> Value:
    """A column that the program has not made."""
    if is_alone(row) and isinstance(name, str):
        raise KeyError(name)
    batched = isinstance(row.native, tuple) and row.native[1] is True
    return [something(run, name)] if batched else something(run, name)


def is_alone(row: Instance) -> bool:
    """Whether a sample has no other columns than those that are known."""
    return isinstance(row.native, tuple) and row.native[0] is True


@ROW_MEMBERS.method("__getitem__")
def row_item(run: Runtime, self: Instance, name: Value) -> Value:
    """A column by its name."""
    found = held(self).get(name, MISSING) if isinstance(name, str) else MISSING
    return beyond(run, self, name) if found is MISSING else found


@ROW_MEMBERS.method("get")
def row_get(run: Runtime, self: Instance, name: Value, default: Value = None) -> Value:
    """A column, or something else where there is none."""
    return row_item(run, self, name) if name in held(self) or not is_alone(self) else default


@ROW_MEMBERS.method("__setitem__")
def row_set(run: Runtime, self: Instance, name: Value, value: Value) -> None:
    """A column is made."""
    run.changed(held(self))
    if isinstance(name, str):
        held(self)[name] = value


@ROW_MEMBERS.method("__delitem__")
def row_delete(run: Runtime, self: Instance, name: Value) -> None:
    """A column is left out."""
    run.changed(held(self))
    held(self).pop(name, None)


@ROW_MEMBERS.method("pop")
def row_pop(run: Runtime, self: Instance, name: Value, default: Value = None) -> Value:
    """A column is taken out."""
    found = row_get(run, self, name, default)
    row_delete(run, self, name)
    return found


@ROW_MEMBERS.method("keys", "values", "items", "__iter__", "__contains__", "__len__", "copy")
def row_whole(run: Runtime, self: Instance, *args: Value) -> Value:
    """All columns, among them those that are not known."""
    return run.unknown("which columns a published data set has is not known")


def values_in(run: Runtime, given: Value) -> tuple[dict[str, Value], bool] | Unknown:
    """The columns in what a function gives, and whether there are no others."""
    if isinstance(given, Instance) and given.cls is ROW:
        return {name: value for name, value in held(given).items() if isinstance(name, str)}, is_alone(given)
    inner = given.payload if isinstance(given, Instance) else given
    if isinstance(inner, dict):
        return {name: value for name, value in inner.items() if isinstance(name, str)}, True
    return given if isinstance(given, Unknown) else run.unknown("a sample is no dict of columns")


def one_of_batch(run: Runtime, value: Value) -> Value:
    """The first sample's value of a column that a function gives for a batch."""
    if isinstance(value, (list, tuple)):
        return value[0] if len(value) == 1 else run.unknown("how many samples a function makes of one is not known")
    return value if isinstance(value, Unknown) else run.index(value, 0)
