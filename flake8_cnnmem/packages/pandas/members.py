"""What tables, columns and their parts can do."""

from __future__ import annotations

from flake8_cnnmem.frameworks.numpy.dtypes import name_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.pandas.tables import (
    DTYPE,
    FRAME,
    FRAME_MEMBERS,
    INDEXER,
    INDEXER_MEMBERS,
    NAMES,
    ROWS,
    SERIES_MEMBERS,
    WIDTH,
    extents,
    frame,
    how_many,
    in_place,
    is_frame,
    is_series,
    is_table,
    listed,
    names_of,
    series,
    set_columns,
    sliced_rows,
    values,
    with_rows,
    without,
)
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Property, Value, native

# A table


@FRAME_MEMBERS.method("__init__")
def frame_init(
    run: Runtime, self: Instance, data: Value = None, index: Value = None, columns: Value = None,
    dtype: Value = None, copy: Value = None,
) -> None:  # fmt: skip
    """`DataFrame(array, columns=names)`, or a dict of columns."""
    names = listed(run, columns) if columns is not None else None
    shape = data.shape if isinstance(data, Tensor) and isinstance(data.shape, tuple) else ()
    made = frame(run, shape[0] if shape else None, names, shape[1] if len(shape) == 2 else 1 if shape else None)
    if is_frame(data) and names is None:
        made = data
    elif isinstance(data, dict) and columns is None and id(data) not in run.havocked:
        made = frame(run, None, tuple(data))
    self.attributes.update(made.attributes)


@FRAME_MEMBERS.method("__getitem__")
def frame_item(run: Runtime, self: Instance, key: Value) -> Value:
    """A column by its name, several by a list of them, rows by a slice or a mask."""
    rows, kind = self.attributes.get(ROWS), self.attributes.get(DTYPE)
    if isinstance(key, (str, int)):
        return series(run, rows, kind)
    if isinstance(key, (list, tuple)):
        made = frame(run, rows, listed(run, key))
        made.attributes[DTYPE] = kind
        return made
    if isinstance(key, slice):
        return sliced_rows(run, self, key)
    if is_table(key) or isinstance(key, Tensor):
        return with_rows(run, self)
    return run.unknown("which part of a table is taken is not known")


@FRAME_MEMBERS.method("__setitem__")
def frame_set(run: Runtime, self: Instance, key: Value, value: Value) -> None:
    """A column, or several, are added or replaced."""
    names, new = names_of(self), listed(run, key)
    if is_series(key) or isinstance(key, Tensor):
        return
    known = names is not None and new is not None
    added = tuple(name for name in new or () if name not in (names or ()))
    set_columns(run, self, (*(names or ()), *added) if known else None)


@FRAME_MEMBERS.method("__delitem__")
def frame_delete(run: Runtime, self: Instance, key: Value) -> None:
    run.changed(self)
    self.attributes.update(without(run, self, key).attributes)


@FRAME_MEMBERS.method("pop")
def frame_pop(run: Runtime, self: Instance, item: Value) -> Value:
    frame_delete(run, self, item)
    return series(run, self.attributes.get(ROWS))


@FRAME_MEMBERS.method("insert")
def frame_insert(run: Runtime, self: Instance, loc: Value, column: Value, value: Value, *args: Value) -> None:
    frame_set(run, self, column, value)


@FRAME_MEMBERS.method("drop")
def frame_drop(
    run: Runtime, self: Instance, labels: Value = None, axis: Value = 0, index: Value = None, columns: Value = None,
    level: Value = None, inplace: Value = False, errors: Value = "raise",
) -> Value:  # fmt: skip
    """Less some columns, or less some rows."""
    gone = columns if columns is not None else labels if axis in (1, "columns") else None
    if gone is not None and errors != "ignore":
        made = without(run, self, gone)
    else:
        made = with_rows(run, self) if gone is None else frame(run, self.attributes.get(ROWS))
    return in_place(run, self, made, inplace)


@FRAME_MEMBERS.method("set_index")
def frame_set_index(
    run: Runtime, self: Instance, keys: Value, drop: Value = True, append: Value = False, inplace: Value = False,
    *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    return in_place(run, self, without(run, self, keys), inplace)


@FRAME_MEMBERS.method("rename")
def frame_rename(run: Runtime, self: Instance, *args: Value, inplace: Value = False, **kwargs: Value) -> Value:
    """Other names, as many."""
    width = self.attributes.get(WIDTH)
    return in_place(run, self, frame(run, self.attributes.get(ROWS), None, width), inplace)


@FRAME_MEMBERS.method("reset_index")
def frame_reset(
    run: Runtime, self: Instance, level: Value = None, drop: Value = False, inplace: Value = False,
    *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    """Numbered anew; what numbered the rows before becomes a column unless it is dropped."""
    rows = self.attributes.get(ROWS)
    made = frame(run, rows) if run.truth(drop) is not True else Instance(self.cls, dict(self.attributes))
    return in_place(run, self, made, inplace)


@FRAME_MEMBERS.method("select_dtypes", "describe", "groupby", "corr", "pivot", "pivot_table", "melt", "transpose",
                      "to_dict", "iterrows", "itertuples", "explode", "apply", "agg", "squeeze")  # fmt: skip
def not_followed(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("what is made of a table is not followed")


@FRAME_MEMBERS.getter("T", "dtypes", "index")
def frame_unknown(run: Runtime, self: Instance) -> Value:
    return run.unknown("what a table holds is not known")


def set_names(run: Runtime, self: Instance, value: Value) -> None:
    """`table.columns = names`: other names, as many."""
    names = listed(run, value)
    if names is not None:
        set_columns(run, self, tuple(names))
        return
    run.changed(self)
    self.attributes[NAMES] = how_many(run, "columns")


# What tables and columns have in common


def shape_of(run: Runtime, self: Instance) -> Value:
    return extents(run, self)


def length(run: Runtime, self: Instance) -> Value:
    return extents(run, self)[0]


def alike(run: Runtime, self: Instance, *args: Value, inplace: Value = False, **kwargs: Value) -> Value:
    """Other values in as many rows and columns."""
    return in_place(run, self, Instance(self.cls, {**self.attributes, DTYPE: None}), inplace)


def copied(run: Runtime, self: Instance, *args: Value, inplace: Value = False, **kwargs: Value) -> Value:
    """The same values, in another order perhaps."""
    return in_place(run, self, Instance(self.cls, dict(self.attributes)), inplace)


def fewer(run: Runtime, self: Instance, *args: Value, inplace: Value = False, **kwargs: Value) -> Value:
    """Some of the rows."""
    return in_place(run, self, with_rows(run, self), inplace)


def cast(run: Runtime, self: Instance, dtype: Value, *args: Value, **kwargs: Value) -> Value:
    """The values in another dtype; a dict of them says nothing of all."""
    kind = None if isinstance(dtype, (dict, Unknown)) else name_of(dtype)
    return Instance(self.cls, {**self.attributes, DTYPE: kind})


def to_numpy(run: Runtime, self: Instance, dtype: Value = None, *args: Value, **kwargs: Value) -> Value:
    return values(run, self, dtype)


def indexer(run: Runtime, self: Instance) -> Value:
    return Instance(INDEXER, {"of": self, "by": "place"})


def labelled(run: Runtime, self: Instance) -> Value:
    return Instance(INDEXER, {"of": self, "by": "label"})


def operated(run: Runtime, self: Instance, other: Value) -> Value:
    """Arithmetic and comparisons go value by value."""
    if is_series(self) and is_frame(other):
        return Instance(FRAME, {**other.attributes, DTYPE: None})
    return Instance(self.cls, {**self.attributes, DTYPE: None})


def member(run: Runtime, self: Instance, name: Value) -> Value:
    """A column by its name, or what is not listed here."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", f"'{self.cls.name}' object has no attribute '{name}'")
    names = names_of(self) if is_frame(self) else None
    return series(run, self.attributes.get(ROWS)) if names and name in names else run.unknown(f"{name} of a table")


def each(run: Runtime, self: Instance) -> Value:
    """What a loop goes through: nobody knows how much it is, nor what."""
    return run.unknown("what a table holds is not known")


def contains(run: Runtime, self: Instance, item: Value) -> Value:
    names = names_of(self) if is_frame(self) else None
    return run.unknown("what a table holds is not known") if names is None else item in names


OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "lt", "le", "gt", "ge", "eq", "ne")
for _members in (FRAME_MEMBERS, SERIES_MEMBERS):
    _members.getter("shape")(shape_of)
    _members.getter("values")(lambda run, self: values(run, self))
    _members.getter("iloc", "iat")(indexer)
    _members.getter("loc", "at")(labelled)
    _members.method("__len__")(length)
    _members.method("to_numpy", "__array__")(to_numpy)
    _members.method("astype")(cast)
    _members.method("copy", "sort_values", "sort_index", "convert_dtypes")(copied)
    _members.method("fillna", "replace", "round", "clip", "abs", "ffill", "bfill", "interpolate", "applymap", "map",
                    "isna", "isnull", "notna", "notnull", "shift", "diff", "pct_change", "rolling_mean", "rank",
                    "isin", "where", "mask", "infer_objects")(alike)  # fmt: skip
    _members.method("dropna", "drop_duplicates", "head", "tail", "query", "sample", "truncate", "nlargest",
                    "nsmallest")(fewer)  # fmt: skip
    _members.method(*(f"__{side}{name}__" for name in OPERATORS for side in ("", "r")))(operated)
    _members.method("__neg__", "__invert__")(lambda run, self: operated(run, self, None))
    _members.method("__getattr__")(member)
    _members.method("__iter__")(each)
    _members.method("__contains__")(contains)
FRAME_MEMBERS["columns"] = Property(native("columns", frame_unknown), native("columns", set_names))


def reduced(run: Runtime, self: Instance, axis: Value = 0, *args: Value, **kwargs: Value) -> Value:
    """A value for each column."""
    return series(run, self.attributes.get(ROWS if axis in (1, "columns") else WIDTH))


def averaged(run: Runtime, self: Instance, axis: Value = 0, *args: Value, **kwargs: Value) -> Value:
    """A float for each column."""
    return series(run, self.attributes.get(ROWS if axis in (1, "columns") else WIDTH), "float64")


FRAME_MEMBERS.method("min", "max", "sum", "nunique")(reduced)
FRAME_MEMBERS.method("mean", "std", "var", "median", "quantile")(averaged)


# A column


@SERIES_MEMBERS.method("__init__")
def series_init(run: Runtime, self: Instance, data: Value = None, *args: Value, **kwargs: Value) -> None:
    shape = data.shape if isinstance(data, Tensor) and isinstance(data.shape, tuple) and data.shape else (None,)
    made = series(run, shape[0], data.dtype if isinstance(data, Tensor) else None)
    self.attributes.update(data.attributes if is_series(data) else made.attributes)


@SERIES_MEMBERS.method("__getitem__")
def series_item(run: Runtime, self: Instance, key: Value) -> Value:
    """Some of the rows, or what one holds."""
    if isinstance(key, slice):
        return sliced_rows(run, self, key)
    if isinstance(key, (list, Tensor)) or is_series(key):
        return with_rows(run, self)
    return run.unknown("what a table holds is not known")


@SERIES_MEMBERS.method("__setitem__")
def series_set(run: Runtime, self: Instance, key: Value, value: Value) -> None:
    run.changed(self)
    self.attributes[DTYPE] = None


@SERIES_MEMBERS.method("apply")
def series_apply(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("what is made of a column of a table is not followed")


@SERIES_MEMBERS.method("reset_index")
def series_reset(run: Runtime, self: Instance, *args: Value, drop: Value = False, **kwargs: Value) -> Value:
    if run.truth(drop) is True:
        return copied(run, self, inplace=kwargs.get("inplace", False))
    return frame(run, self.attributes.get(ROWS), None, 2)


# Parts by place and by label


@INDEXER_MEMBERS.method("__getitem__")
def indexed(run: Runtime, self: Instance, key: Value) -> Value:
    """Rows by labels, masks and lists are of no known number."""
    table = self.attributes["of"]
    assert isinstance(table, Instance)
    rows, *columns = key if isinstance(key, tuple) else (key,)
    if isinstance(rows, Unknown):
        return run.unknown("what a table holds is not known")
    one = isinstance(rows, (int, str))
    kept = table if rows == slice(None, None, None) else with_rows(run, table)
    if isinstance(rows, slice) and self.attributes["by"] == "place":
        kept = sliced_rows(run, table, rows)
    if is_series(table):
        return run.unknown("what a table holds is not known") if one else kept
    found = of_columns(run, kept, columns[0]) if columns else kept
    if not one:
        return found
    return series(run, found.attributes.get(WIDTH)) if is_frame(found) else run.unknown("what a table holds")


def of_columns(run: Runtime, table: Instance, key: Value) -> Instance:
    """The columns that a part takes."""
    rows, width, names = table.attributes.get(ROWS), table.attributes.get(WIDTH), names_of(table)
    if isinstance(key, (str, int)):
        return series(run, rows)
    if isinstance(key, (list, tuple)):
        items = run.items(key)
        return frame(run, rows, None, len(items) if isinstance(items, list) else None)
    if isinstance(key, Unknown) and not key.something:
        return frame(run, rows)
    if not isinstance(key, slice) or any(not isinstance(end, (int, type(None))) for end in (key.start, key.stop)):
        return frame(run, rows)
    if key == slice(None, None, None):
        return table
    if names is not None:
        return frame(run, rows, names[key])
    return frame(run, rows, None, len(range(width)[key]) if isinstance(width, int) else None)


@INDEXER_MEMBERS.method("__setitem__")
def index_set(run: Runtime, self: Instance, key: Value, value: Value) -> None:
    """What is written may be a new row, or a new column by a label."""
    table = self.attributes["of"]
    assert isinstance(table, Instance)
    run.changed(table)
    if is_frame(table):
        set_columns(run, table, None)
    table.attributes.update({ROWS: how_many(run, "rows"), DTYPE: None})
