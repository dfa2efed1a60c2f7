"""scikit-learn, as far as it stands before a training: small data sets, parts of data, scaling and numbering of it.

Sizes by its documentation. Which samples a part takes is not known, how many is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from flake8_cnnmem.dims import Size, add, as_size, is_size
from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.pandas.tables import ROWS, array_of, is_table, part_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value, native


def count_of(run: Runtime, value: Value) -> int | None:
    """How many samples there are, where that is known."""
    if isinstance(value, Tensor):
        first = value.shape[0] if isinstance(value.shape, tuple) and value.shape else None
        return first if isinstance(first, int) else None
    if is_table(value):
        rows = value.attributes.get(ROWS)
        return rows if isinstance(rows, int) else None
    items = run.items(value) if isinstance(value, (list, tuple, range)) else None
    return len(items) if isinstance(items, list) else None


def shares(count: int, test_size: Value, train_size: Value) -> tuple[int, int] | None:
    """(training, test): a fraction of the test part is rounded up, one of the training part down."""
    if test_size is None and train_size is None:
        test_size = 0.25
    test = math.ceil(test_size * count) if isinstance(test_size, float) else test_size
    train = math.floor(train_size * count) if isinstance(train_size, float) else train_size
    if isinstance(test, int):
        if train is None:
            return count - test, test
        return (train, test) if isinstance(train, int) else None
    return (train, count - train) if isinstance(train, int) and test is None else None


def part(run: Runtime, value: Value, size: int | None) -> Value:
    """So many of the samples."""
    cause = run.unknown("which samples a split takes is not known")
    if isinstance(value, Tensor) and isinstance(value.shape, tuple) and value.shape:
        return Tensor((cause if size is None else size, *value.shape[1:]), value.dtype, framework=value.framework)
    if is_table(value):
        return part_of(run, value, size)
    if isinstance(value, (list, tuple, range)):
        items = run.items(value)
        if isinstance(items, Unknown) or size is None:
            return (items if isinstance(items, Unknown) else cause).as_something()
        run.check_size(size)
        return [common(items, cause)] * max(size, 0)
    return (value if isinstance(value, Unknown) else cause).as_something()


def common(items: Sequence[Value], cause: Unknown) -> Value:
    if items and all(type(item) is int for item in items):
        return cause.as_number("int")
    return items[0] if items and all(item is items[0] for item in items) else cause


def train_test_split(
    run: Runtime, *arrays: Value, test_size: Value = None, train_size: Value = None, random_state: Value = None,
    shuffle: Value = True, stratify: Value = None,
) -> Value:  # fmt: skip
    """Training and test part of each array in turn."""
    counts = [count for array in arrays if (count := count_of(run, array)) is not None]
    sizes = shares(counts[0], test_size, train_size) if counts else None
    return [part(run, array, size) for array in arrays for size in (sizes or (None, None))]


# Folds

folds = Names()


@folds.function("__init__", propagate_unknown=False)
def folds_init(run: Runtime, self: Instance, n_splits: Value = 5, *args: Value, **kwargs: Value) -> None:
    self.attributes.update(n_splits=n_splits, **kwargs)


@folds.function("get_n_splits", propagate_unknown=False)
def number_of_folds(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    repeats = self.attributes.get("n_repeats", 1)
    return run.operate("*", self.attributes.get("n_splits"), repeats)


@folds.function("split", propagate_unknown=False)
def split(run: Runtime, self: Instance, X: Value = None, y: Value = None, groups: Value = None) -> Value:
    """A pair of index arrays for each fold. Only plain folds are as long as the samples divided among them."""
    number = number_of_folds(run, self)
    if not isinstance(number, int):
        return number
    run.check_size(number)
    count = count_of(run, X)
    cause = run.unknown("how many samples a fold takes is not known")
    made = []
    for at in range(number):
        test: Size = cause
        if self.cls.name == "KFold" and count is not None:
            test = count // number + (at < count % number)
        train: Size = count - test if isinstance(test, int) and count is not None else cause
        made.append(tuple(Tensor((size,), "int64", framework="numpy") for size in (train, test)))
    return iter(made)


# What is done to samples

changing = Names({"__init__": ignored("__init__")})
for _name in ("fit", "partial_fit"):
    changing[_name] = native(_name, lambda run, self, *args, **kwargs: self)


def same_size(run: Runtime, self: Instance, X: Value, *args: Value, **kwargs: Value) -> Value:
    X = array_of(run, X)
    if isinstance(X, Tensor):
        kept = X.dtype in ("float16", "float32")
        return Tensor(X.shape, X.dtype if kept else "float64", framework="numpy")
    return X if isinstance(X, Unknown) else run.unknown("what a scaler makes of samples is not followed")


def numbered(run: Runtime, self: Instance, y: Value, *args: Value, **kwargs: Value) -> Value:
    count = count_of(run, y)
    size = run.unknown("how many labels there are is not known") if count is None else count
    return Tensor((size,), "int64", framework="numpy")


def changer(name: str, function: Callable[..., Value]) -> Value:
    words = ("transform", "fit_transform", "inverse_transform")
    return native_class(name, {**changing, **{word: native(word, function) for word in words}}, module="sklearn")


# Data sets


def bunch_item(run: Runtime, self: Instance, key: Value) -> Value:
    """A Bunch is a dict whose keys are attributes."""
    found = self.attributes.get(key) if isinstance(key, str) else None
    return run.unknown("what a data set of scikit-learn says of itself is not known") if found is None else found


def bunch_more(run: Runtime, self: Instance, name: Value) -> Value:
    """Names of features and classes, descriptions."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown("what a data set of scikit-learn says of itself is not known")


BUNCH = native_class(
    "Bunch",
    {"__getitem__": native("__getitem__", bunch_item), "__getattr__": native("__getattr__", bunch_more)},
    module="sklearn.utils",
)
LOADED = {
    "load_iris": (150, 4), "load_digits": (1797, 64), "load_wine": (178, 13), "load_breast_cancer": (569, 30),
    "load_diabetes": (442, 10), "fetch_california_housing": (20640, 8), "fetch_covtype": (581012, 54),
    "fetch_olivetti_faces": (400, 4096),
}  # fmt: skip
NUMBERS = frozenset(("load_diabetes", "fetch_california_housing"))
"""Data sets whose targets are no classes."""
PICTURES = {"load_digits": (8, 8), "fetch_olivetti_faces": (64, 64)}
MADE = {"make_classification": 20, "make_regression": 100, "make_blobs": 2, "make_moons": 2, "make_circles": 2}
"""The features that each makes by default."""


def loaded(name: str) -> Native:
    rows, columns = LOADED[name]
    target = "float64" if name in NUMBERS else "int64"
    kind = "float32" if name == "fetch_olivetti_faces" else "float64"

    def load(run: Runtime, *args: Value, return_X_y: Value = False, as_frame: Value = False, **kwargs: Value) -> Value:
        if run.truth(as_frame) is not False or kwargs.keys() & {"n_class", "subset"} or args:
            return run.unknown(f"which part or form of a data set {name} gives is not followed")
        data = Tensor((rows, columns), kind, framework="numpy")
        labels = Tensor((rows,), target, framework="numpy")
        if run.truth(return_X_y) is True:
            return data, labels
        return Instance(BUNCH, {"data": data, "target": labels,
                                **({"images": Tensor((rows, *PICTURES[name]), kind, framework="numpy")}
                                   if name in PICTURES else {})})  # fmt: skip

    return native(name, load)


def made(name: str) -> Native:
    def make(run: Runtime, n_samples: Value = 100, n_features: Value = None, *args: Value, **kwargs: Value) -> Value:
        features = MADE[name] if n_features is None or name in ("make_moons", "make_circles") else n_features
        # The samples of each cluster may be listed.
        items = run.items(n_samples) if isinstance(n_samples, (list, tuple)) else [n_samples]
        counts = [item for item in items if is_size(item)] if isinstance(items, list) else []
        unknown = run.unknown("how many samples are made is not known")
        samples: Size = unknown
        if isinstance(items, list) and len(counts) == len(items):
            samples = 0
            for each in counts:
                samples = add(samples, each)
        width = as_size(features, run.unknown("how many features are made is not known"))
        data = Tensor((samples, width), "float64", framework="numpy")
        labels = "float64" if name == "make_regression" else "int64"
        return data, Tensor((samples,), labels, framework="numpy")

    return Native(name, make)


MODULES: dict[str, dict[str, Value]] = {
    "sklearn": {},
    "sklearn.model_selection": {
        "train_test_split": native("train_test_split", train_test_split),
        **{
            name: native_class(name, dict(folds), module="sklearn.model_selection")
            for name in ("KFold", "StratifiedKFold", "GroupKFold", "StratifiedGroupKFold", "RepeatedKFold",
                         "RepeatedStratifiedKFold", "ShuffleSplit", "StratifiedShuffleSplit", "GroupShuffleSplit",
                         "TimeSeriesSplit")
        },
    },
    "sklearn.preprocessing": {
        **{name: changer(name, same_size) for name in ("StandardScaler", "MinMaxScaler", "RobustScaler",
                                                       "MaxAbsScaler", "Normalizer")},
        "LabelEncoder": changer("LabelEncoder", numbered),
    },
    "sklearn.datasets": {**{name: loaded(name) for name in LOADED}, **{name: made(name) for name in MADE}},
    "sklearn.metrics": {},
    "sklearn.utils": {
        "Bunch": BUNCH, "shuffle": native("shuffle", lambda run, *arrays, **kwargs:
                                          arrays[0] if len(arrays) == 1 else list(arrays)),
        "class_weight": unfollowed("sklearn.utils.class_weight"),
    },
}  # fmt: skip
