"""Data: keras.datasets of known shapes, generators and tf.data pipelines that keep their batch and image sizes."""

from __future__ import annotations

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.keras.shapes import plain_size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Namespace, Native, Run, StaticMethod, Value

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
"""(x, y, dtype) of the training and the test part, as `load_data()` gives them by default."""


def dataset(name: str) -> Namespace | None:
    """`keras.datasets.mnist`."""
    parts = DATASETS.get(name)
    if parts is None:
        return None

    def load_data(run: Run, *args: Value, **kwargs: Value) -> Value:
        def array(shape: Shape, dtype: str) -> Tensor:
            return Tensor(shape, dtype, framework="numpy")

        return tuple((array(x, dtype), array(y, "uint8" if dtype == "uint8" else "int64")) for x, y, dtype in parts)

    def word_index(run: Run, *args: Value, **kwargs: Value) -> Value:
        return run.unknown("a word index is not known")

    members = {"load_data": Native("load_data", load_data), "get_word_index": Native("get_word_index", word_index)}
    return Namespace(f"keras.datasets.{name}", lambda word: members.get(word, MISSING))


# --- generators and pipelines -----------------------------------------------------------------------------------------


def pipeline(cls: Class, **facts: Value) -> Instance:
    return Instance(cls, native=facts)


def facts_of(self: Instance) -> dict[str, Value]:
    return self.native if isinstance(self.native, dict) else {}


def fact(run: Run, self: Instance, name: str) -> Value:
    """What a pipeline keeps, and Unknown for what it does not."""
    facts = facts_of(self)
    if name in facts:
        return facts[name]
    return MISSING if name.startswith("__") else run.unknown(f"{name} of a data set is not known")


def iterate(run: Run, self: Instance) -> Value:
    return run.unknown("the items of a data set are not followed")


def kept(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Instance:
    """`shuffle`, `prefetch` and their like: the same data."""
    return Instance(self.cls, native=dict(facts_of(self)))


def batched(run: Run, self: Instance, batch_size: Value = None, *args: Value, **kwargs: Value) -> Instance:
    facts = dict(facts_of(self))
    facts["batch_size"] = batch_size
    element = facts.get("element")
    if isinstance(element, tuple):
        facts["batch_shape"] = (None, *element)
    return Instance(self.cls, native=facts)


def mapped(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Instance:
    """After a function of the user's, the shape of an item is no longer known."""
    facts = dict(facts_of(self))
    facts.pop("element", None)
    facts.pop("batch_shape", None)
    return Instance(self.cls, native=facts)


def native(function: Value) -> Native:
    return Native(function.__name__, function, absorb=False)


def from_tensors(run: Run, tensors: Value, name: Value = None) -> Instance:
    first = tensors[0] if isinstance(tensors, (list, tuple)) and tensors else tensors
    if isinstance(first, Tensor) and isinstance(first.shape, tuple):
        return pipeline(DATASET, element=tuple(first.shape[1:]))
    return pipeline(DATASET)


def any_dataset(run: Run, *args: Value, **kwargs: Value) -> Instance:
    return pipeline(DATASET)


DATASET = Class(
    "Dataset",
    namespace={
        "__init__": Native("__init__", lambda run, self, *args, **kwargs: None, absorb=False),
        "__getattr__": Native("__getattr__", fact, absorb=False),
        "__iter__": native(iterate),
        "__len__": native(iterate),
        "batch": native(batched),
        "padded_batch": native(batched),
        "map": native(mapped),
        "flat_map": native(mapped),
        "interleave": native(mapped),
        "apply": native(mapped),
        "cardinality": native(iterate),
        "as_numpy_iterator": native(iterate),
        "make_one_shot_iterator": native(iterate),
        **{
            name: native(kept)
            for name in (
                "shuffle", "prefetch", "repeat", "cache", "take", "skip", "filter", "with_options", "unbatch", "shard",
                "concatenate", "enumerate",
            )
        },
        "from_tensor_slices": StaticMethod(native(from_tensors)),
        "from_tensors": StaticMethod(native(any_dataset)),
        "from_generator": StaticMethod(native(any_dataset)),
        "list_files": StaticMethod(native(any_dataset)),
        "range": StaticMethod(native(any_dataset)),
        "zip": StaticMethod(native(any_dataset)),
    },
    module="tensorflow.data",
)  # fmt: skip

CHANNELS = {"rgb": 3, "rgba": 4, "grayscale": 1}


def image_pipeline(cls: Class, size: Value, batch_size: Value, color_mode: Value) -> Instance:
    channels = CHANNELS.get(color_mode, 3) if isinstance(color_mode, str) else 3
    sides = tuple(plain_size(side) for side in size) if isinstance(size, (list, tuple)) else (size, size)
    if isinstance(size, Unknown):
        sides = (size, size)
    return pipeline(
        cls,
        batch_size=batch_size,
        target_size=size,
        image_shape=(*sides, channels),
        element=(*sides, channels),
        batch_shape=(None, *sides, channels),
    )


def image_dataset_from_directory(
    run: Run, directory: Value, labels: Value = "inferred", label_mode: Value = "int", class_names: Value = None,
    color_mode: Value = "rgb", batch_size: Value = 32, image_size: Value = (256, 256), *args: Value,
    subset: Value = None, **options: Value,
) -> Value:  # fmt: skip
    made = [image_pipeline(DATASET, image_size, batch_size, color_mode) for _ in range(2 if subset == "both" else 1)]
    return tuple(made) if len(made) > 1 else made[0]


def flow_from_directory(
    run: Run, self: Instance, directory: Value, target_size: Value = (256, 256), color_mode: Value = "rgb",
    classes: Value = None, class_mode: Value = "categorical", batch_size: Value = 32, *args: Value, **options: Value,
) -> Instance:  # fmt: skip
    return image_pipeline(ITERATOR, target_size, batch_size, color_mode)


def flow_from_dataframe(
    run: Run, self: Instance, dataframe: Value, directory: Value = None, x_col: Value = "filename",
    y_col: Value = "class", weight_col: Value = None, target_size: Value = (256, 256), color_mode: Value = "rgb",
    classes: Value = None, class_mode: Value = "categorical", batch_size: Value = 32, *args: Value, **options: Value,
) -> Instance:  # fmt: skip
    return image_pipeline(ITERATOR, target_size, batch_size, color_mode)


def flow(
    run: Run, self: Instance, x: Value, y: Value = None, batch_size: Value = 32, *args: Value, **options: Value
) -> Instance:
    facts: dict[str, Value] = {"batch_size": batch_size}
    first = x[0] if isinstance(x, (list, tuple)) and x else x
    if isinstance(first, Tensor) and isinstance(first.shape, tuple):
        facts["batch_shape"] = (None, *first.shape[1:])
        facts["n"] = first.shape[0]
    return Instance(ITERATOR, native=facts)


def generator_init(run: Run, self: Instance, *args: Value, **kwargs: Value) -> None:
    self.native = dict(kwargs)


ITERATOR = Class(
    "Iterator",
    namespace={
        "__getattr__": Native("__getattr__", fact, absorb=False),
        "__iter__": native(iterate),
        "__len__": native(iterate),
        "__getitem__": Native("__getitem__", lambda run, self, key: iterate(run, self), absorb=False),
    },
    module="keras.preprocessing.image",
)

GENERATOR = Class(
    "ImageDataGenerator",
    namespace={
        "__init__": Native("__init__", generator_init, absorb=False),
        "__getattr__": Native("__getattr__", fact, absorb=False),
        "fit": Native("fit", lambda run, self, *args, **kwargs: None, absorb=False),
        "flow": native(flow),
        "flow_from_directory": native(flow_from_directory),
        "flow_from_dataframe": native(flow_from_dataframe),
    },
    module="keras.preprocessing.image",
)


def pad_sequences(
    run: Run, sequences: Value, maxlen: Value = None, dtype: Value = "int32", padding: Value = "pre",
    truncating: Value = "pre", value: Value = 0.0,
) -> Value:  # fmt: skip
    count: Value = run.unknown("the number of sequences is not known")
    if isinstance(sequences, (list, tuple)):
        count = len(sequences)
    elif isinstance(sequences, Tensor) and isinstance(sequences.shape, tuple) and sequences.shape:
        count = sequences.shape[0]
    length = run.unknown("the length of the longest sequence is not known") if maxlen is None else maxlen
    return Tensor((count, length), dtype if isinstance(dtype, str) else "int32", framework="numpy")


def to_categorical(run: Run, x: Value, num_classes: Value = None, dtype: Value = None) -> Value:
    """(n,) or (n, 1) labels to (n, classes)."""
    shape = x.shape if isinstance(x, Tensor) else (len(x),) if isinstance(x, (list, tuple)) else x
    if not isinstance(shape, tuple):
        return run.unknown("the labels are not known")
    if len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    classes = run.unknown("the number of classes is not known") if num_classes is None else num_classes
    return Tensor((*shape, classes), "float32", framework="numpy")


def img_to_array(run: Run, img: Value, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("the size of an image in a file is not known")


def load_img(run: Run, path: Value, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("the size of an image in a file is not known")


MEMBERS: dict[str, Value] = {
    "ImageDataGenerator": GENERATOR,
    "Dataset": DATASET,
    "Sequence": Class(
        "Sequence", namespace={"__init__": Native("__init__", lambda run, self, *args, **kwargs: None, absorb=False)}
    ),
    "PyDataset": Class(
        "PyDataset", namespace={"__init__": Native("__init__", lambda run, self, *args, **kwargs: None, absorb=False)}
    ),
    **{
        function.__name__: Native(function.__name__, function, absorb=False)
        for function in (image_dataset_from_directory, pad_sequences, to_categorical, img_to_array, load_img)
    },
}


def find(name: str) -> Value:
    return MEMBERS.get(name, MISSING)
