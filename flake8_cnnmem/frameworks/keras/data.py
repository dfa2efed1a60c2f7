"""Data: keras.datasets of known shapes, generators and folders of images with their batch and image sizes."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Shape, Size, as_size
from flake8_cnnmem.frameworks.keras import element_counts
from flake8_cnnmem.frameworks.keras.element_counts import count_in
from flake8_cnnmem.frameworks.keras.pipeline_elements import element_of, fact, facts_of, native, pipeline
from flake8_cnnmem.frameworks.keras.pipeline_items import plain_dtype
from flake8_cnnmem.frameworks.keras.pipelines import DATASET, batched, iterate, length, rows_of, size_of_batch
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.shapes import plain_size
from flake8_cnnmem.frameworks.keras.texts import TOKENIZER, count_of
from flake8_cnnmem.graph import Site, Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, ONE_FOR_ALL, Class, Instance, Namespace, Native, Value

DATASETS: dict[str, tuple[tuple[Shape, Shape, str], tuple[Shape, Shape, str]]] = {
    "mnist": (((60000, 28, 28), (60000,), "uint8"), ((10000, 28, 28), (10000,), "uint8")),
    "fashion_mnist": (((60000, 28, 28), (60000,), "uint8"), ((10000, 28, 28), (10000,), "uint8")),
    "cifar10": (((50000, 32, 32, 3), (50000, 1), "uint8"), ((10000, 32, 32, 3), (10000, 1), "uint8")),
    "cifar100": (((50000, 32, 32, 3), (50000, 1), "uint8"), ((10000, 32, 32, 3), (10000, 1), "uint8")),
    "boston_housing": (((404, 13), (404,), "float64"), ((102, 13), (102,), "float64")),
    "california_housing": (((16512, 8), (16512,), "float32"), ((4128, 8), (4128,), "float32")),
    "imdb": (((25000,), (25000,), "object"), ((25000,), (25000,), "object")),
    "reuters": (((8982,), (8982,), "object"), ((2246,), (2246,), "object")),
}
"""(x, y, dtype) of the training and the test part, as `load_data()` gives them by default. Pictures in colour have
their channels where `image_data_format()` puts them: all versions turn CIFAR's round for channels_last alone."""
PICTURES = 4
"""Axes of pictures in colour."""

CLASSES = {"mnist": (10, 10), "fashion_mnist": (10, 10), "cifar10": (10, 10), "cifar100": (100, 100), "imdb": (2, 2),
           "reuters": (46, 0)}  # fmt: skip
"""How many classes the labels of both parts tell apart. The few samples of Reuters' test part are not looked at."""


def dataset(name: str) -> Namespace | None:
    """The module `keras.datasets.<name>`, whose `load_data` gives arrays of the shapes of that data set; None for
    another name."""
    parts = DATASETS.get(name)
    if parts is None:
        return None

    def load_data(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        def array(shape: Shape, size: Size | None, dtype: str, classes: int = 0) -> Tensor:
            lead = shape[0] if size is None else size
            if len(shape) == PICTURES and session_of(run).data_format == "channels_first":
                shape = (shape[0], shape[3], *shape[1:3])
            return Tensor((lead, *shape[1:]), dtype, framework="numpy", classes=classes)

        sizes = part_sizes(run, name, kwargs) or (None, None)
        coarse = name == "cifar100" and "coarse" in (*args, kwargs.get("label_mode"))
        classes = (20, 20) if coarse else CLASSES.get(name, (0, 0))
        if isinstance(sizes[0], Unknown):
            classes = (0, 0)
        return tuple(
            (array(x, size, dtype), array(y, size, "uint8" if dtype == "uint8" else "int64", count))
            for (x, y, dtype), count, size in zip(parts, classes, sizes, strict=True)
        )

    def word_index(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        return run.unknown("a word index is not known")

    members = {"load_data": Native("load_data", load_data), "get_word_index": Native("get_word_index", word_index)}
    return Namespace(f"keras.datasets.{name}", lambda word: members.get(word, MISSING))


WHOLE = {"boston_housing": 506, "california_housing": 20640, "reuters": 11228}
"""The samples of sets that `load_data` divides itself, by `test_split`."""


def part_sizes(run: Runtime, name: str, kwargs: dict[str, Value]) -> tuple[Size, Size] | None:
    """How many samples the parts have where `load_data` is told to divide them otherwise, or to leave some out."""
    if kwargs.get("maxlen") is not None:
        cause = run.unknown("how many texts are short enough is not known")
        return cause, cause
    share = kwargs.get("test_split")
    if share is None or name not in WHOLE:
        return None
    if not isinstance(share, (int, float)):
        cause = run.unknown("how a data set is divided is not known")
        return cause, cause
    first = int(WHOLE[name] * (1 - share))
    return first, WHOLE[name] - first


# --- generators and folders -------------------------------------------------------------------------------------------

CLASSES_UNKNOWN = Unknown("how many classes a folder has is not known")
FILES_UNKNOWN = Unknown("what a folder holds is not known")


def labels(mode: Value, size: Size, of_folder: bool, classes: Value = None) -> Value:
    """A batch's labels by `class_mode` or `label_mode`; MISSING for none."""
    if mode in (None, "input"):
        return MISSING
    if mode == "categorical":
        number = len(classes) if isinstance(classes, (list, tuple)) and classes else CLASSES_UNKNOWN
        return Tensor((size, number), "float", framework="keras")
    if mode == "binary":
        return Tensor((size, 1) if of_folder else (size,), "float", framework="keras")
    return Tensor((size,), "int32" if of_folder else "float", framework="keras")


CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


def image_pipeline(
    run: Runtime, cls: Class, size: Value, batch_size: Value, color_mode: Value, mode: Value, site: Site | None,
    classes: Value = None,
) -> Instance:  # fmt: skip
    """Batches of images of a folder, resized, with their labels."""
    channels = CHANNELS.get(color_mode, 3) if isinstance(color_mode, str) else 3
    sides = tuple(plain_size(side) for side in size) if isinstance(size, (list, tuple)) else (size, size)
    if isinstance(size, Unknown):
        sides = (size, size)
    facts: dict[str, Value] = {"target_size": size, "image_shape": (*sides, channels), "site": site}
    count = size_of_batch(batch_size)
    lead = () if batch_size is None else (count,)
    images = Tensor((*lead, *sides, channels), "float", framework="keras")
    target = labels(mode, count, cls is DATASET, classes)
    facts["element"] = images if target is MISSING else (images, target)
    if batch_size is not None:
        facts["batch_size"] = batch_size
    return pipeline(cls, facts)


def image_dataset_from_directory(
    run: Runtime, directory: Value, labels: Value = "inferred", label_mode: Value = "int", class_names: Value = None,
    color_mode: Value = "rgb", batch_size: Value = 32, image_size: Value = (256, 256), *args: Value,
    subset: Value = None, **options: Value,
) -> Value:  # fmt: skip
    """Batches (batch, height, width, channels) of float images and their labels."""
    mode = label_mode if labels is not None else None
    made = [
        with_classes(
            image_pipeline(run, DATASET, image_size, batch_size, color_mode, mode, run.here(), class_names), class_names
        )
        for _ in range(2 if subset == "both" else 1)
    ]
    return tuple(made) if len(made) > 1 else made[0]


def with_classes(data: Instance, class_names: Value) -> Instance:
    """A data set of a folder with what Keras sets on it: nothing that is made of it has that."""
    stated = list(class_names) if isinstance(class_names, (list, tuple)) else CLASSES_UNKNOWN
    data.attributes.update(class_names=stated, file_paths=FILES_UNKNOWN)
    return data


def batches(
    run: Runtime, samples: Tensor, targets: Value, batch_size: Value, parts: int = 1, class_names: Value = None
) -> Value:
    """Pipelines, as many as `parts`, of batches of such samples, with the targets of one if there are any."""
    element = samples if targets is MISSING else (samples, targets)
    facts: dict[str, Value] = {"element": element, "site": run.here()}
    if batch_size is not None:
        facts["batch_size"] = batch_size
    made = [with_classes(pipeline(DATASET, facts), class_names) for _ in range(parts)]
    return tuple(made) if parts > 1 else made[0]


def lead_of(batch_size: Value) -> tuple[Size, ...]:
    """The first axis of a pipeline's tensors: none where it is not batched."""
    return () if batch_size is None else (size_of_batch(batch_size),)


def text_dataset_from_directory(
    run: Runtime, directory: Value, labels: Value = "inferred", label_mode: Value = "int", class_names: Value = None,
    batch_size: Value = 32, *args: Value, subset: Value = None, **options: Value,
) -> Value:  # fmt: skip
    """Whole texts, each a string."""
    texts = Tensor(lead_of(batch_size), "string", framework="keras")
    targets = labels_of(label_mode if labels is not None else None, batch_size, class_names)
    return batches(run, texts, targets, batch_size, 2 if subset == "both" else 1, class_names)


def audio_dataset_from_directory(
    run: Runtime, directory: Value, labels: Value = "inferred", label_mode: Value = "int", class_names: Value = None,
    batch_size: Value = 32, sampling_rate: Value = None, output_sequence_length: Value = None, *args: Value,
    subset: Value = None, **options: Value,
) -> Value:  # fmt: skip
    """Waves of (length, channels), whose channels are the files' own."""
    length = output_sequence_length
    if length is None:
        length = run.unknown("the length of the longest recording is not known")
    shape = (*lead_of(batch_size), plain_size(length), run.unknown("how many channels a recording has is not known"))
    waves = Tensor(shape, "float", framework="keras")
    targets = labels_of(label_mode if labels is not None else None, batch_size, class_names)
    return batches(run, waves, targets, batch_size, 2 if subset == "both" else 1, class_names)


def labels_of(mode: Value, batch_size: Value, classes: Value = None) -> Value:
    """The labels of a batch of images, by the mode."""
    found = labels(mode, size_of_batch(batch_size), True, classes)
    if batch_size is None and isinstance(found, Tensor) and isinstance(found.shape, tuple):
        return Tensor(found.shape[1:], found.dtype, framework="keras")
    return found


def timeseries_dataset_from_array(
    run: Runtime, data: Value, targets: Value, sequence_length: Value, sequence_stride: Value = 1,
    sampling_rate: Value = 1, batch_size: Value = 128, shuffle: Value = False, seed: Value = None,
    start_index: Value = None, end_index: Value = None, **options: Value,
) -> Value:  # fmt: skip
    """Windows of (sequence_length, *features) with the target of each."""

    def behind(value: Value) -> tuple[Size, ...] | Unknown:
        return value.shape[1:] if isinstance(value, Tensor) and isinstance(value.shape, tuple) else first_cause(value)

    def first_cause(value: Value) -> Unknown:
        found = value.shape if isinstance(value, Tensor) else value
        return found if isinstance(found, Unknown) else run.unknown("what a time series is made of is not known")

    features, wanted = behind(data), behind(targets)
    shape = features if isinstance(features, Unknown) else (plain_size(sequence_length), *features)
    element: Value = Tensor(shape, "float", framework="keras")
    if targets is not None:
        kind = plain_dtype(targets) if isinstance(targets, Tensor) else "float"
        element = (element, Tensor(wanted, kind, framework="keras"))
    end = count_in(data) if end_index is None else end_index
    numbers = (start_index or 0, end, sequence_length, sequence_stride, sampling_rate)
    count = windows_of(*numbers, None if targets is None else count_in(targets), targets is None)
    facts: dict[str, Value] = {**element_counts.counted(count), "element": element, "site": run.here()}
    windows = pipeline(DATASET, facts)
    return windows if batch_size is None else batched(run, windows, batch_size)


def windows_of(start: Any, end: Any, length: Any, stride: Any, rate: Any, targets: Any, alone: bool) -> Size | None:
    """How many windows a series has, of which each begins where there is a target, if there are `targets` at all; None
    where that is not known (keras/src/utils/timeseries_dataset_utils.py)."""
    numbers = (start, end, length, stride, rate)
    if not all(type(each) is int for each in numbers) or not (alone or type(targets) is int):
        return None
    starts: int = end - start - (length - 1) * rate
    return max(-(-(starts if alone else min(starts, targets)) // stride), 0) or None


def split_dataset(run: Runtime, dataset: Value, *args: Value, **options: Value) -> Value:
    """Two pipelines of what a pipeline, or the rows of arrays, are made of."""
    if isinstance(dataset, Instance) and isinstance(dataset.native, dict):
        return tuple(pipeline(dataset.cls, element_counts.without(dataset.native)) for _ in range(2))
    element = rows_of(run, tuple(dataset) if isinstance(dataset, list) else dataset)
    return tuple(pipeline(DATASET, {"element": element}) for _ in range(2))


def flow_from_directory(
    run: Runtime, self: Instance, directory: Value, target_size: Value = (256, 256), color_mode: Value = "rgb",
    classes: Value = None, class_mode: Value = "categorical", batch_size: Value = 32, *args: Value, **options: Value,
) -> Instance:  # fmt: skip
    """`generator.flow_from_directory(...)`: batches of images and labels, of the classes that are named."""
    made = image_pipeline(run, ITERATOR, target_size, batch_size, color_mode, class_mode, run.here())
    return of_classes(made, classes)


def of_classes(made: Instance, classes: Value) -> Instance:
    """A generator's iterator with the numbers of the classes that it is told."""
    if isinstance(classes, (list, tuple)) and classes and isinstance(made.native, dict):
        made.native |= {
            "num_classes": len(classes),
            "class_indices": {name: number for number, name in enumerate(classes) if isinstance(name, str)},
        }
    return made


def flow_from_dataframe(
    run: Runtime, self: Instance, dataframe: Value, directory: Value = None, x_col: Value = "filename",
    y_col: Value = "class", weight_col: Value = None, target_size: Value = (256, 256), color_mode: Value = "rgb",
    classes: Value = None, class_mode: Value = "categorical", batch_size: Value = 32, *args: Value, **options: Value,
) -> Instance:  # fmt: skip
    """`generator.flow_from_dataframe(...)`: batches of images and labels, of the classes that are named."""
    made = image_pipeline(run, ITERATOR, target_size, batch_size, color_mode, class_mode, run.here())
    return of_classes(made, classes)


def flow(
    run: Runtime, self: Instance, x: Value, y: Value = None, batch_size: Value = 32, *args: Value, **options: Value
) -> Instance:
    """`generator.flow(x, y, batch_size)`: batches of these arrays."""
    parts = x if isinstance(x, (list, tuple)) and x else [x]
    count = no_more_than(size_of_batch(batch_size), samples_of(self, parts[0], options.get("subset")))
    drawn = count if isinstance(count, int) else batch_size
    facts: dict[str, Value] = {"batch_size": drawn, "asked": batch_size, "site": run.here()}

    def batch(value: Value, dtype: str = "float") -> Value:
        if not isinstance(value, Tensor) or not isinstance(value.shape, tuple):
            return value if isinstance(value, Unknown) else run.unknown("what a generator is given is not known")
        return Tensor((count, *value.shape[1:]), dtype, framework="keras")

    images = [batch(part) for part in parts]
    first = images[0] if len(images) == 1 else images
    facts["element"] = first if y is None else (first, batch(y, getattr(y, "dtype", "float")))
    if isinstance(parts[0], Tensor) and isinstance(parts[0].shape, tuple):
        facts["n"] = parts[0].shape[0]
    return pipeline(ITERATOR, facts)


def samples_of(self: Instance, x: Value, subset: Value) -> Size | None:
    """The samples of an array that a generator gives: all, or those of a `subset`; None where that is not known."""
    count = x.shape[0] if isinstance(x, Tensor) and isinstance(x.shape, tuple) and x.shape else None
    share = facts_of(self).get("validation_split", 0.0)
    if not isinstance(count, int) or not isinstance(share, (int, float)):
        return None
    held_out = int(share * count)
    return count if subset is None else held_out if subset == "validation" else count - held_out


def no_more_than(size: Size, count: Size | None) -> Size:
    """A batch of arrays: all that there are where they are fewer."""
    return min(size, count) if isinstance(size, int) and isinstance(count, int) and count > 0 else size


def generator_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`ImageDataGenerator(...)`: its keyword arguments are kept for `flow` and `flow_from_directory`."""
    self.native = dict(kwargs)


ITERATOR = Class(
    "Iterator",
    namespace={
        "__getattr__": Native("__getattr__", fact, propagate_unknown=False),
        "__iter__": native(iterate),
        "__len__": native(length),
        "__next__": Native("__next__", lambda run, self: element_of(self), propagate_unknown=False),
        "next": Native("next", lambda run, self: element_of(self), propagate_unknown=False),
        "__getitem__": Native("__getitem__", lambda run, self, key: element_of(self), propagate_unknown=False),
        "reset": Native("reset", lambda run, self: None, propagate_unknown=False),
    },
    module="keras.preprocessing.image",
)

GENERATOR = Class(
    "ImageDataGenerator",
    namespace={
        "__init__": Native("__init__", generator_init, propagate_unknown=False),
        "__getattr__": Native("__getattr__", fact, propagate_unknown=False),
        "fit": Native("fit", lambda run, self, *args, **kwargs: None, propagate_unknown=False),
        "flow": native(flow),
        "flow_from_directory": native(flow_from_directory),
        "flow_from_dataframe": native(flow_from_dataframe),
    },
    module="keras.preprocessing.image",
)


def pad_sequences(
    run: Runtime, sequences: Value, maxlen: Value = None, dtype: Value = "int32", padding: Value = "pre",
    truncating: Value = "pre", value: Value = 0.0,
) -> Value:  # fmt: skip
    """(sequences, maxlen): how many sequences there are is not known."""
    count = count_of(run, sequences, "the number of sequences is not known")
    length = run.unknown("the length of the longest sequence is not known") if maxlen is None else maxlen
    unknown = run.unknown("the length of the sequences is not known")
    return Tensor((count, as_size(length, unknown)), dtype if isinstance(dtype, str) else "int32", framework="numpy")


def to_categorical(run: Runtime, x: Value, num_classes: Value = None, dtype: Value = None) -> Value:
    """(n,) or (n, 1) labels to (n, classes)."""
    shape = (
        x.shape
        if isinstance(x, Tensor)
        else (count_of(run, x, "how many labels there are is not known"),)
        if isinstance(x, (list, tuple))
        else x
    )
    if not isinstance(shape, tuple):
        return run.unknown("the labels are not known")
    if len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    told = x.classes if isinstance(x, Tensor) else 0
    classes = num_classes
    if num_classes is None:
        classes = told or run.unknown("the number of classes is not known")
    width = as_size(classes, run.unknown("the number of classes is not known"))
    return Tensor((*shape, width), "float32", framework="numpy", one_hot=told)


def img_to_array(run: Runtime, img: Value, *args: Value, **kwargs: Value) -> Value:
    """An image as an array, whose size is not known."""
    return run.unknown("the size of an image in a file is not known")


def load_img(run: Runtime, path: Value, *args: Value, **kwargs: Value) -> Value:
    """An image of a file, whose size is not known."""
    return run.unknown("the size of an image in a file is not known")


MEMBERS: dict[str, Value] = {
    "ImageDataGenerator": GENERATOR,
    "Tokenizer": TOKENIZER,
    "Dataset": DATASET,
    **{
        name: Class(
            name,
            namespace={
                "__init__": Native("__init__", lambda run, self, *args, **kwargs: None, propagate_unknown=False)
            },
            facts={ONE_FOR_ALL: True},
        )
        for name in ("Sequence", "PyDataset")
    },
    **{
        function.__name__: Native(function.__name__, function, propagate_unknown=False)
        for function in (
            image_dataset_from_directory,
            text_dataset_from_directory,
            audio_dataset_from_directory,
            timeseries_dataset_from_array,
            split_dataset,
            pad_sequences,
            to_categorical,
            img_to_array,
            load_img,
        )
    },
}


def find(name: str) -> Value:
    """A name of the modules of data, or MISSING."""
    return MEMBERS.get(name, MISSING)
