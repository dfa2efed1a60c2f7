"""What is known of a table or a column: how many rows and columns, and the names of these."""

from __future__ import annotations

from typing import TypeGuard

from flake8_cnnmem.dims import Shape, is_size
from flake8_cnnmem.frameworks.numpy.arrays import as_array
from flake8_cnnmem.frameworks.numpy.dtypes import name_of
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value

ROWS, NAMES, WIDTH, DTYPE = "_rows", "_names", "_width", "_dtype"

FRAME_MEMBERS, SERIES_MEMBERS, INDEXER_MEMBERS = Members(), Members(), Members()
FRAME = Class("DataFrame", namespace=FRAME_MEMBERS, module="pandas")
SERIES = Class("Series", namespace=SERIES_MEMBERS, module="pandas")
INDEXER = Class("_iLocIndexer", namespace=INDEXER_MEMBERS, module="pandas.core.indexing")


def how_many(run: Runtime, what: str) -> Unknown:
    return run.unknown(f"how many {what} a table has is not known").as_number("int")


def frame(run: Runtime, rows: Value = None, names: Value = None, width: Value = None) -> Instance:
    """A table; None for what is not known."""
    columns: tuple[Value, ...] | Unknown = how_many(run, "columns")
    if isinstance(names, (list, tuple)) and all(isinstance(name, (str, int)) for name in names):
        columns = tuple(names)
    size = len(columns) if isinstance(columns, tuple) else width if is_size(width) else how_many(run, "columns")
    return Instance(FRAME, {ROWS: rows if is_size(rows) else how_many(run, "rows"), NAMES: columns, WIDTH: size})


def series(run: Runtime, rows: Value = None, dtype: str | None = None) -> Instance:
    """A column; no dtype where nobody knows what it holds."""
    return Instance(SERIES, {ROWS: rows if is_size(rows) else how_many(run, "rows"), DTYPE: dtype})


def is_frame(value: Value) -> TypeGuard[Instance]:
    return isinstance(value, Instance) and value.cls.derives_from(FRAME)


def is_series(value: Value) -> TypeGuard[Instance]:
    return isinstance(value, Instance) and value.cls.derives_from(SERIES)


def is_table(value: Value) -> TypeGuard[Instance]:
    """Whether a value is a table or a column of one."""
    return is_frame(value) or is_series(value)


def with_rows(run: Runtime, table: Instance, rows: Value = None) -> Instance:
    """So many of the rows; None where that is not known."""
    kept = rows if is_size(rows) else how_many(run, "rows")
    return Instance(table.cls, {**table.attributes, ROWS: kept})


def names_of(table: Instance) -> tuple[Value, ...] | None:
    names = table.attributes.get(NAMES)
    return names if isinstance(names, tuple) else None


def extents(run: Runtime, table: Instance) -> Shape:
    """(rows, columns), or (rows,)."""
    keys = (ROWS, WIDTH) if is_frame(table) else (ROWS,)
    found = (table.attributes.get(key) for key in keys)
    return tuple(each if is_size(each) or isinstance(each, Unknown) else how_many(run, "rows") for each in found)


def values(run: Runtime, table: Instance, dtype: Value = None) -> Value:
    """The array of a table; of one column only where its kind is known."""
    kind = name_of(dtype) if dtype is not None else table.attributes.get(DTYPE)
    if is_frame(table) and not isinstance(kind, str):
        kind = "float32"
    if not isinstance(kind, str) or kind in ("object", "str"):
        return run.unknown("what a column of a table holds is not known")
    return Tensor(extents(run, table), kind, framework="numpy")


def set_columns(run: Runtime, table: Instance, names: tuple[Value, ...] | None) -> None:
    """The columns from now on."""
    run.changed(table)
    table.attributes.update({NAMES: how_many(run, "columns"), WIDTH: how_many(run, "columns"), DTYPE: None})
    if names is not None:
        table.attributes.update({NAMES: names, WIDTH: len(names)})


def in_place(run: Runtime, table: Instance, made: Instance, inplace: Value) -> Value:
    """The new table, or None and the old one changed."""
    if run.truth(inplace) is False:
        return made
    run.changed(table)
    table.attributes.update(made.attributes)
    return None if run.truth(inplace) is True else run.unknown("whether a table is changed is not known")


def listed(run: Runtime, value: Value) -> list[Value] | None:
    """Names that are given as one or several."""
    if isinstance(value, (str, int)):
        return [value]
    items = run.items(value) if isinstance(value, (list, tuple, set, range)) else None
    known = isinstance(items, list) and all(isinstance(item, (str, int)) for item in items)
    return items if known and isinstance(items, list) else None


def without(run: Runtime, table: Instance, labels: Value) -> Instance:
    """A table less some columns."""
    names, gone, width = names_of(table), listed(run, labels), table.attributes.get(WIDTH)
    if gone is None:
        return frame(run, table.attributes.get(ROWS))
    if names is not None:
        return frame(run, table.attributes.get(ROWS), [name for name in names if name not in gone])
    left = width - len(set(gone)) if isinstance(width, int) else None
    return frame(run, table.attributes.get(ROWS), None, left)


def part_of(run: Runtime, table: Instance, rows: int | None) -> Instance:
    """So many of a table's rows."""
    return with_rows(run, table, rows)


def array_of(run: Runtime, value: Value) -> Value:
    """A table as an array; anything else as it is."""
    return as_array(run, value) if is_table(value) else value
