"""tf.io, and tensorflow_datasets: images and records of files by what the code says of them."""

from __future__ import annotations

from collections.abc import Mapping

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.keras.pipeline_elements import pipeline
from flake8_cnnmem.frameworks.keras.pipelines import DATASET, batched
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Namespace, Value, native

UNSIZED = Unknown("the size of an image in a file is not known")


def tensor(shape: Shape, dtype: str) -> Tensor:
    """A tensor of TensorFlow."""
    return Tensor(shape, dtype, framework="keras")


def read_file(run: Runtime, filename: Value = None, name: Value = None) -> Value:
    """`tf.io.read_file`: a text."""
    return tensor((), "string")


def decoded(run: Runtime, contents: Value = None, channels: Value = 0, *args: Value, dtype: Value = "uint8",
            **kwargs: Value) -> Value:  # fmt: skip
    """An image (height, width, channels); without the number of channels that is the file's own."""
    count = channels if isinstance(channels, int) and channels > 0 else UNSIZED
    kind = str(dtype) if isinstance(dtype, str) else "uint8"
    return tensor((UNSIZED, UNSIZED, count), "float" if kind == "float32" else kind)


def decode_raw(
    run: Runtime, input_bytes: Value = None, out_type: Value = "uint8", *args: Value, **kwargs: Value
) -> Value:
    """`tf.io.decode_raw`: (values,), of which nobody knows how many."""
    return tensor((run.unknown("how many values a record holds is not known"),), str(out_type))


def feature(run: Runtime, shape: Value = (), dtype: Value = "float32", default_value: Value = None) -> Value:
    """`tf.io.FixedLenFeature(shape, dtype)`: what `tf.io.parse_single_example` gives under a name."""
    return Instance(FEATURE, native={"shape": tuple(shape) if isinstance(shape, (list, tuple)) else (), "dtype": dtype})


FEATURE = Class("FixedLenFeature", module="tensorflow.io")


def parsed(run: Runtime, serialized: Value = None, features: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`tf.io.parse_single_example`: a tensor for each feature."""
    if not isinstance(features, dict):
        return run.unknown("what a record holds is not known")
    found: dict[Value, Value] = {}
    for name, value in features.items():
        known = isinstance(value, Instance) and isinstance(value.native, dict)
        kind = str(value.native["dtype"]) if known else ""
        found[name] = (
            tensor(value.native["shape"], "float" if kind == "float32" else kind)
            if known
            else run.unknown("what a record holds is not known")
        )
    return found


DECODERS: dict[str, Value] = {
    name: native(name, decoded)
    for name in ("decode_jpeg", "decode_png", "decode_image", "decode_bmp", "decode_and_crop_jpeg")
}
FILES: dict[str, Value] = {
    **DECODERS,
    "read_file": native("read_file", read_file),
    "decode_raw": native("decode_raw", decode_raw),
    "FixedLenFeature": native("FixedLenFeature", feature),
    "parse_single_example": native("parse_single_example", parsed),
    "gfile": Namespace("tensorflow.io.gfile", lambda word: MISSING),
}

# tensorflow_datasets, by the pages of its catalogue: image and number of classes, and how many there are in each split

IMAGES: Mapping[str, tuple[Shape, int, dict[str, int]]] = {
    "mnist": ((28, 28, 1), 10, {"train": 60000, "test": 10000}),
    "fashion_mnist": ((28, 28, 1), 10, {"train": 60000, "test": 10000}),
    "kmnist": ((28, 28, 1), 10, {"train": 60000, "test": 10000}),
    "emnist": ((28, 28, 1), 62, {"train": 697932, "test": 116323}),
    "cifar10": ((32, 32, 3), 10, {"train": 50000, "test": 10000}),
    "cifar100": ((32, 32, 3), 100, {"train": 50000, "test": 10000}),
    "svhn_cropped": ((32, 32, 3), 10, {"train": 73257, "test": 26032}),
    "stl10": ((96, 96, 3), 10, {"train": 5000, "test": 8000}),
    "rock_paper_scissors": ((300, 300, 3), 3, {"train": 2520, "test": 372}),
    "horses_or_humans": ((300, 300, 3), 2, {"train": 1027, "test": 256}),
    "eurosat": ((64, 64, 3), 10, {"train": 27000}),
    "patch_camelyon": ((96, 96, 3), 2, {"train": 262144, "test": 32768, "validation": 32768}),
    "cats_vs_dogs": ((UNSIZED, UNSIZED, 3), 2, {"train": 23262}),
    "tf_flowers": ((UNSIZED, UNSIZED, 3), 5, {"train": 3670}),
    "oxford_flowers102": ((UNSIZED, UNSIZED, 3), 102, {"train": 1020, "test": 6149, "validation": 1020}),
    "food101": ((UNSIZED, UNSIZED, 3), 101, {"train": 75750, "validation": 25250}),
    "stanford_dogs": ((UNSIZED, UNSIZED, 3), 120, {"train": 12000, "test": 8580}),
    "imagenet2012": ((UNSIZED, UNSIZED, 3), 1000, {"train": 1281167, "validation": 50000}),
    "imagenette": ((UNSIZED, UNSIZED, 3), 10, {"train": 9469, "validation": 3925}),
    "beans": ((500, 500, 3), 3, {"train": 1034, "test": 128, "validation": 133}),
    "malaria": ((UNSIZED, UNSIZED, 3), 2, {"train": 27558}),
    "colorectal_histology": ((150, 150, 3), 8, {"train": 5000}),
    "caltech101": ((UNSIZED, UNSIZED, 3), 102, {"train": 3059, "test": 6085}),
}


def element(name: str, supervised: bool) -> Value:
    """What a known data set of `tensorflow_datasets` gives: image and label, as a pair or a dict."""
    known = IMAGES.get(name.split("/")[0].split(":")[0])
    if known is None:
        cause = Unknown(f"what the data set {name} holds is not known")
        return (cause, cause) if supervised else cause
    image, label = tensor(known[0], "uint8"), tensor((), "int64")
    return (image, label) if supervised else {"image": image, "label": label}


def load(
    run: Runtime, name: Value, *, split: Value = None, data_dir: Value = None, batch_size: Value = None,
    shuffle_files: Value = False, download: Value = True, as_supervised: Value = False, with_info: Value = False,
    **kwargs: Value,
) -> Value:  # fmt: skip
    """`tfds.load(name, ...)`: a data set for each split."""
    if not isinstance(name, str):
        return run.unknown("which data set is loaded is not known")
    one = pipeline(DATASET, {"element": element(name, as_supervised is True)})
    if batch_size is not None:
        one = batched(run, one, batch_size)
    known = IMAGES.get(name.split("/")[0].split(":")[0])
    made: Value = one
    if isinstance(split, (list, tuple)):
        made = [Instance(DATASET, native=dict(one.native)) for _ in split]
    elif split is None and known is None:
        made = Instance(SPLITS, native=one)
    elif split is None and known is not None:
        made = {word: Instance(DATASET, native=dict(one.native)) for word in known[2]}
    return (made, information(name)) if with_info is True else made


def split_of(run: Runtime, self: Instance, word: Value) -> Instance:
    """One split of a data set whose splits nobody has written down."""
    return Instance(DATASET, native=dict(self.native.native))


def information(name: str) -> Instance:
    """What `tfds.load(with_info=True)` says of a data set."""
    known = IMAGES.get(name.split("/")[0].split(":")[0])
    if known is None:
        return Instance(INFO, {"name": name})
    image, classes, counts = known
    label = Instance(INFO, {"num_classes": classes, "names": Unknown("the names of classes are not known")})
    shape = tuple(None if isinstance(side, Unknown) else side for side in image)
    features = {"image": Instance(INFO, {"shape": shape}), "label": label}
    splits = {word: Instance(INFO, {"num_examples": count}) for word, count in counts.items()}
    return Instance(INFO, {"name": name, "features": features, "splits": splits})


def other(run: Runtime, self: Instance, name: Value) -> Value:
    """Any other attribute of what is known of a data set, which is not followed."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of a data set is not known")


INFO = Class("DatasetInfo", namespace={"__getattr__": native("__getattr__", other)}, module="tensorflow_datasets")

SPLITS = Class(
    "dict",
    namespace={"__getitem__": native("__getitem__", split_of), "__getattr__": native("__getattr__", other)},
    module="tensorflow_datasets",
)


def as_numpy(run: Runtime, dataset: Value, **kwargs: Value) -> Value:
    """`tfds.as_numpy(dataset)`: the data set."""
    return dataset


NAMES: dict[str, Value] = {
    "load": native("load", load),
    "as_numpy": native("as_numpy", as_numpy),
    "disable_progress_bar": native("disable_progress_bar", lambda run, *args: None),
}


def find_module(dotted: str) -> Namespace | None:
    """The module `tensorflow_datasets`, or None."""
    if dotted == "tensorflow_datasets":
        return Namespace(dotted, lambda word: NAMES.get(word, MISSING))
    return Namespace(dotted, lambda word: MISSING) if dotted.startswith("tensorflow_datasets.") else None
