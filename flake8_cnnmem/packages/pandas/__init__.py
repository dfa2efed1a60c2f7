"""pandas: tables, by how many rows and columns they have, as far as the program says it. No file is ever read.

A table of a file has columns that nobody knows, until the program picks some by name: `table[["age", "fare"]]` has two.
What a column holds is not known, so a single one has values of no known kind until it is cast; several columns together
are taken as what a network asks for as it stands, as arrays of files are. Whatever is not listed here is not known.
"""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import add
from flake8_cnnmem.packages.pandas.members import cast
from flake8_cnnmem.packages.pandas.tables import (
    FRAME,
    ROWS,
    SERIES,
    WIDTH,
    frame,
    is_frame,
    is_series,
    is_table,
    listed,
    names_of,
    series,
    without,
)
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Value, native


def read(
    run: Runtime, path: Value = None, *args: Value, names: Value = None, usecols: Value = None,
    index_col: Value = None, nrows: Value = None, chunksize: Value = None, iterator: Value = False, **kwargs: Value,
) -> Value:  # fmt: skip
    """A table of a file: the columns that are named, else nobody knows which."""
    if chunksize is not None or iterator is not False:
        return run.unknown("a table that is read in parts is not followed")
    taken = listed(run, usecols) if usecols is not None else listed(run, names) if names is not None else None
    made = frame(run, None, taken)
    if index_col not in (None, False) and taken is not None:
        made = without(run, made, index_col) if isinstance(index_col, str) else frame(run, None, None, len(taken) - 1)
    return cast(run, made, kwargs["dtype"]) if kwargs.get("dtype") is not None else made


def concatenated(run: Runtime, objs: Value, axis: Value = 0, *args: Value, **kwargs: Value) -> Value:
    """Rows of one behind those of another, or columns beside columns."""
    parts = run.items(objs) if isinstance(objs, (list, tuple)) else None
    if not isinstance(parts, list) or not parts or not all(is_table(part) for part in parts):
        return run.unknown("what tables are put together is not known")
    tables = [part for part in parts if isinstance(part, Instance)]
    if axis in (1, "columns"):
        width: Value = 0
        for table in tables:
            more = table.attributes.get(WIDTH) if is_frame(table) else 1
            width = add(width, more) if isinstance(width, int) and isinstance(more, int) else None
        return frame(run, tables[0].attributes.get(ROWS), None, width)
    if all(is_series(table) for table in tables):
        return series(run)
    columns = {names_of(table) for table in tables}
    return frame(run, None, columns.pop() if len(columns) == 1 else None)


def encoded(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`get_dummies`: a column for each value that occurs."""
    return frame(run)


READERS: Sequence[str] = ("csv", "table", "excel", "parquet", "feather", "fwf", "sql", "sql_query", "orc")


def other(name: str) -> Value:
    """What is not listed here."""
    return CONTENTS[name] if name in CONTENTS else MISSING if name.startswith("__") else Unknown(
        f"pandas.{name} is not followed")  # fmt: skip


CONTENTS: dict[str, Value] = {
    "DataFrame": FRAME, "Series": SERIES, "concat": native("concat", concatenated),
    "get_dummies": native("get_dummies", encoded), **{f"read_{name}": native(f"read_{name}", read) for name in READERS},
}  # fmt: skip
MODULES = {"pandas": other}
