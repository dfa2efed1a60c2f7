"""Hugging Face's datasets: what a sample holds that the program itself has made. Nothing is ever loaded.

What the columns of a published data set hold is in no file of the project, so a column is not known until the program
computes it: with `map`, or with the function of `set_transform`. By the documentation of datasets 4 and
src/datasets/arrow_dataset.py: `map` with `batched` hands a function columns of several samples, without it one sample,
and adds the columns that it gives; `set_transform` makes samples of what its function gives alone.
"""

from __future__ import annotations

from dataclasses import replace

from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.utils_data.dataloader import length_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.datasets.samples import ROW, Columns, one_of_batch, row_item, row_of, something, values_in
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Property, Stream, Value, native

TENSORS = frozenset(("torch", "pt", "pytorch"))
"""Formats whose samples are tensors of PyTorch."""


# The data set

MEMBERS = Members()
HUB_DATASET = Class("Dataset", namespace=MEMBERS, module="datasets.arrow_dataset")
SPLIT_MEMBERS = Members()
SPLITS = Class("DatasetDict", namespace=SPLIT_MEMBERS, module="datasets.dataset_dict")


def made_of(columns: Columns) -> Instance:
    """A data set of such samples."""
    return Instance(HUB_DATASET, native=columns)


def columns_of(self: Instance) -> Columns:
    """What is known of a data set's samples."""
    return self.native if isinstance(self.native, Columns) else Columns()


@MEMBERS.method("__init__")
def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`Dataset(table)`, whose table is not followed."""
    self.native = Columns()


@MEMBERS.method("__getitem__")
def item(run: Runtime, self: Instance, index: Value) -> Value:
    """A sample by its place, or a column by its name."""
    columns = columns_of(self)
    if isinstance(index, str):
        return run.unknown("what a column of a data set holds is not known")
    if isinstance(index, (slice, list, tuple, Tensor)):
        return run.unknown("how many samples a part of a data set has is not known")
    if columns.transform is not None:
        given = values_in(run, run.make_data(columns.transform, row_of(columns, batched=True)))
        if isinstance(given, Unknown):
            return given
        first: dict[Value, Value] = {name: one_of_batch(run, value) for name, value in given[0].items()}
        return first if given[1] else Instance(ROW, native=(False, False), payload=first)
    return formatted(run, columns)


def formatted(run: Runtime, columns: Columns) -> Value:
    """A sample in the data set's format."""
    shown = {
        name: in_format(run, value, columns.format)
        for name, value in columns.made.items()
        if columns.shown is None or name in columns.shown
    }
    if columns.shown is not None:
        # A column that the program has not made, but names: it is there, and nothing is known of it.
        return {
            name: shown[name] if name in shown else in_format(run, something(run, name), columns.format)
            for name in columns.shown
        }
    return shown if columns.alone else Instance(ROW, native=(False, False), payload=shown)


def in_format(run: Runtime, value: Value, format: Value) -> Value:
    """A stored value as a sample has it: numbers and lists of them as tensors where the format says so."""
    if isinstance(value, Tensor):
        if format in TENSORS:
            return Tensor(value.shape, value.dtype)
        return run.unknown("a tensor in a data set without a format comes back as lists")
    if format not in TENSORS:
        return value
    if isinstance(value, bool):
        return Tensor((), "bool")
    if is_whole(value):
        return Tensor((), "int64")
    if isinstance(value, float):
        return Tensor((), "float32")
    if isinstance(value, list) and value and all(map(is_whole, value)):
        return Tensor((len(value),), "int64")
    return value


def is_whole(value: Value) -> bool:
    """Whether a value is a whole number, known or not."""
    return (isinstance(value, Unknown) and value.number == "int") or type(value) is int


@MEMBERS.method("__iter__")
def each(run: Runtime, self: Instance) -> Value:
    """Samples, one after another: the first stands for all."""
    return Stream(lambda: run.index(self, 0))


@MEMBERS.method("__len__")
def length(run: Runtime, self: Instance) -> Value:
    """How many samples there are."""
    count = columns_of(self).count
    if count is None:
        return run.unknown("how many samples a published data set has is not known").as_number("int")
    return count


@MEMBERS.method("map")
def mapped(
    run: Runtime, self: Instance, function: Value = None, with_indices: Value = False, with_rank: Value = False,
    input_columns: Value = None, batched: Value = False, batch_size: Value = 1000, drop_last_batch: Value = False,
    remove_columns: Value = None, keep_in_memory: Value = False, load_from_cache_file: Value = None,
    cache_file_name: Value = None, writer_batch_size: Value = 1000, features: Value = None,
    disable_nullable: Value = False, fn_kwargs: Value = None, *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    """The data set with the columns that a function gives for its samples."""
    columns = columns_of(self)
    several = run.truth(batched)
    if function is None:
        return self
    if isinstance(several, Unknown):
        return several
    row = row_of(columns, several)
    names = [input_columns] if isinstance(input_columns, str) else input_columns
    given = [row] if not isinstance(names, (list, tuple)) else [row_item(run, row, name) for name in names]
    index = run.unknown("which sample of a data set it is is not known").as_number("int")
    more = [[index] if several else index] if run.truth(with_indices) is True else []
    options = {str(word): value for word, value in fn_kwargs.items()} if isinstance(fn_kwargs, dict) else {}
    result = run.attempt(function, *given, *more, **options)
    found = ({}, True) if result is None else values_in(run, result)
    kept = without(columns, remove_columns)
    if isinstance(found, Unknown):
        return made_of(replace(kept, made={}, alone=False, count=None))
    new = {name: one_of_batch(run, value) if several else value for name, value in found[0].items()}
    # A function that gives several samples for one changes how many there are.
    return made_of(replace(kept, made={**kept.made, **new}, count=None if several else kept.count))


def without(columns: Columns, names: Value) -> Columns:
    """Without columns: all that were there where their names are the data set's own."""
    if names is None:
        return columns
    left_out = {names} if isinstance(names, str) else set(names) if isinstance(names, (list, tuple)) else None
    if left_out is None or any(isinstance(name, Unknown) for name in left_out):
        return replace(columns, made={})
    return replace(columns, made={name: value for name, value in columns.made.items() if name not in left_out})


@MEMBERS.method("filter", "select", "take", "skip", "shard")
def some(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """Some of its samples."""
    return made_of(replace(columns_of(self), count=None))


@MEMBERS.method("shuffle", "sort", "flatten_indices", "to_iterable_dataset", "with_indices", "repeat")
def same(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """The same samples in another order."""
    return made_of(columns_of(self))


@MEMBERS.method("remove_columns")
def removed(run: Runtime, self: Instance, column_names: Value) -> Value:
    """Without some columns."""
    return made_of(without(columns_of(self), column_names))


@MEMBERS.method("rename_column")
def renamed(run: Runtime, self: Instance, original_column_name: Value, new_column_name: Value) -> Value:
    """One column by another name."""
    return made_of(named_anew(run, columns_of(self), {original_column_name: new_column_name}))


@MEMBERS.method("rename_columns")
def renamed_all(run: Runtime, self: Instance, column_mapping: Value) -> Value:
    """Several columns by other names."""
    return made_of(named_anew(run, columns_of(self), column_mapping if isinstance(column_mapping, dict) else {}))


def named_anew(run: Runtime, columns: Columns, names: dict[Value, Value]) -> Columns:
    """Columns by other names. One that the program has not made is there by its new name."""
    made = {str(names.get(name, name)): value for name, value in columns.made.items()}
    raw = {} if columns.alone else {str(new): something(run, old) for old, new in names.items()}
    return replace(columns, made={**raw, **made})


@MEMBERS.method("add_column")
def added(run: Runtime, self: Instance, name: Value, column: Value, *args: Value, **kwargs: Value) -> Value:
    """One column more."""
    columns = columns_of(self)
    value = run.index(column, 0)
    return made_of(replace(columns, made={**columns.made, name: value} if isinstance(name, str) else columns.made))


@MEMBERS.method("select_columns")
def only(run: Runtime, self: Instance, column_names: Value) -> Value:
    """Some columns alone."""
    names = [column_names] if isinstance(column_names, str) else column_names
    columns = columns_of(self)
    if not isinstance(names, (list, tuple)):
        return made_of(replace(columns, made={}, alone=False))
    kept = {str(name): columns.made.get(str(name), something(run, name)) for name in names}
    return made_of(replace(columns, made=kept, alone=True))


def in_another_format(columns: Columns, type: Value, names: Value) -> Columns:
    """Samples in a format, of these columns alone where any are named."""
    shown = tuple(map(str, names)) if isinstance(names, (list, tuple)) else None
    return replace(columns, format=type, shown=shown, transform=None)


@MEMBERS.method("with_format")
def with_format(run: Runtime, self: Instance, type: Value = None, columns: Value = None, **kwargs: Value) -> Value:
    """A data set whose samples have a format."""
    return made_of(in_another_format(columns_of(self), type, columns))


@MEMBERS.method("set_format")
def set_format(run: Runtime, self: Instance, type: Value = None, columns: Value = None, **kwargs: Value) -> None:
    """Its samples have a format from here on."""
    run.changed(self)
    self.native = in_another_format(columns_of(self), type, columns)


@MEMBERS.method("reset_format")
def reset_format(run: Runtime, self: Instance) -> None:
    """Its samples are Python's own values again."""
    set_format(run, self)


@MEMBERS.method("with_transform")
def with_transform(run: Runtime, self: Instance, transform: Value = None, **kwargs: Value) -> Value:
    """A data set whose samples a function makes."""
    return made_of(replace(columns_of(self), transform=transform))


@MEMBERS.method("set_transform")
def set_transform(run: Runtime, self: Instance, transform: Value = None, **kwargs: Value) -> None:
    """A function makes its samples from here on."""
    run.changed(self)
    self.native = replace(columns_of(self), transform=transform)


@MEMBERS.method("train_test_split")
def split(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """Two parts of the same kind, by name."""
    return splits(replace(columns_of(self), count=None))


@MEMBERS.method("__getattr__")
def other(run: Runtime, self: Instance, name: Value) -> Value:
    """What a data set tells of itself: its columns, features, labels."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of a published data set is not known")


MEMBERS["num_rows"] = Property(native("num_rows", length))


# Data sets by the name of their split: all alike but for what the program puts there itself.


def splits(columns: Columns) -> Instance:
    """A dict of data sets, each of such samples."""
    return Instance(SPLITS, {"alike": made_of(columns)}, payload={})


@SPLIT_MEMBERS.method("__init__")
def splits_init(run: Runtime, self: Instance, given: Value = None, **kwargs: Value) -> None:
    """`DatasetDict({"train": ..., "test": ...})`."""
    self.payload = {**(given if isinstance(given, dict) else {}), **kwargs}


@SPLIT_MEMBERS.method("__getitem__")
def splits_item(run: Runtime, self: Instance, name: Value) -> Value:
    """The data set of one split."""
    known = self.payload if isinstance(self.payload, dict) else {}
    if isinstance(name, str) and name in known:
        return known[name]
    alike = self.attributes.get("alike")
    if not isinstance(alike, Instance):
        if isinstance(name, str):
            raise KeyError(name)
        return run.unknown("which split of a data set it is is not known")
    found = made_of(columns_of(alike))
    if isinstance(name, str):
        # What `set_transform` does to it counts when it is asked for again.
        run.changed(known)
        known[name] = found
    return found


@SPLIT_MEMBERS.method("__setitem__")
def splits_set(run: Runtime, self: Instance, name: Value, value: Value) -> None:
    """A split is put there."""
    if isinstance(self.payload, dict) and isinstance(name, str):
        run.changed(self.payload)
        self.payload[name] = value


@SPLIT_MEMBERS.method("pop")
def splits_pop(run: Runtime, self: Instance, name: Value, *args: Value) -> Value:
    """A split is taken out."""
    return splits_item(run, self, name)


@SPLIT_MEMBERS.method("__getattr__", "keys", "values", "items", "__iter__", "__len__", "__contains__")
def splits_other(run: Runtime, self: Instance, *args: Value) -> Value:
    """What is known of the splits of a published data set: nothing."""
    if args and isinstance(args[0], str) and args[0].startswith("__"):
        raise run.error("AttributeError", args[0])
    return run.unknown("which splits a published data set has is not known")


def for_each_split(name: str) -> Value:
    """A method of data sets as a dict of them has it."""

    def method(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        own = self.payload if isinstance(self.payload, dict) else {}
        made = {key: run.call(run.get(value, name), *args, **kwargs) for key, value in own.items()}
        alike = self.attributes.get("alike")
        more = run.call(run.get(alike, name), *args, **kwargs) if isinstance(alike, Instance) else None
        if name.startswith(("set_", "reset_")):
            return None
        return Instance(SPLITS, {"alike": more}, payload=made)

    return native(name, method)


for _name in (
    "map", "filter", "shuffle", "sort", "remove_columns", "rename_column", "rename_columns", "select_columns",
    "with_format", "set_format", "reset_format", "with_transform", "set_transform",
):  # fmt: skip
    SPLIT_MEMBERS[_name] = for_each_split(_name)


def loaded(run: Runtime, /, *args: Value, split: Value = None, **kwargs: Value) -> Value:
    """`load_dataset(path, name, ..., split=...)`: the data set of a split, several in a list, or all by name."""
    if isinstance(split, (list, tuple)):
        return [made_of(Columns()) for _ in split]
    if isinstance(split, Unknown):
        return split
    return splits(Columns()) if split is None else made_of(Columns())


def joined(run: Runtime, /, dsets: Value, *args: Value, **kwargs: Value) -> Value:
    """`concatenate_datasets`: samples like those of the first."""
    items = run.items(dsets)
    first = MISSING if isinstance(items, Unknown) or not items else items[0]
    if isinstance(first, Instance) and first.cls is HUB_DATASET:
        return made_of(replace(columns_of(first), count=None))
    return run.unknown("which data sets are joined is not known")


def from_dict(run: Runtime, /, mapping: Value, *args: Value, **kwargs: Value) -> Value:
    """`Dataset.from_dict({"column": [...]})`: the first sample stands for all."""
    if not isinstance(mapping, dict):
        return made_of(Columns())
    made = {str(name): run.index(column, 0) for name, column in mapping.items()}
    first = next(iter(mapping.values()), None)
    count = length_of(run, first) if first is not None else None
    return made_of(Columns(made, alone=True, count=count if isinstance(count, int) else None))


for _name, _function in {"from_dict": from_dict}.items():
    MEMBERS.static(_name)(_function)
for _name in ("from_pandas", "from_csv", "from_json", "from_parquet", "from_text", "from_generator", "from_list",
              "load_from_disk"):  # fmt: skip
    MEMBERS.static(_name)(lambda run, *args, **kwargs: made_of(Columns()))

STAND_INS: dict[str, dict[str, Value]] = {
    "datasets": {
        "load_dataset": native("load_dataset", loaded),
        "load_from_disk": native("load_from_disk", loaded),
        "concatenate_datasets": native("concatenate_datasets", joined),
        "interleave_datasets": native("interleave_datasets", joined),
        "Dataset": HUB_DATASET,
        "DatasetDict": SPLITS,
    }
}
