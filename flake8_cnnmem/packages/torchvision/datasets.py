"""torchvision.datasets: what one sample of each is, and how many there are, by torchvision's and the sets' own
documentation. Images of files have the mode that torchvision converts them to, and a size that nobody knows.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from flake8_cnnmem.frameworks.torch.utils_data.dataset import DATASET
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.packages.PIL import Picture, image
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

TRAIN = "root, train=True, transform=None, target_transform=None, download=False"
SPLIT = "root, split='train', transform=None, target_transform=None, download=False"
LOADED = f"{SPLIT}, loader=None"
FOLDER = "root, transform=None, target_transform=None, loader=None, is_valid_file=None, allow_empty=False"
UNSIZED = Unknown("the size of an image in a file is not known")


@dataclass(frozen=True, slots=True)
class Facts:
    """One data set. `counts` are samples by the value of `split`, `train`, ... of the constructor.

    `target` is "class", "mask" (an image of the sample's size), "attributes" or "other". `classes` is their number.
    `stored` is how `data` keeps the images: "NHW" of a tensor, "NHWC" or "NCHW" of an array, or "" for files.
    """

    parameters: str
    mode: str = "RGB"
    height: int | Unknown = UNSIZED
    width: int | Unknown = UNSIZED
    counts: Mapping[Any, int] = field(default_factory=dict)
    target: str = "class"
    classes: int | None = None
    stored: str = ""


TRAIN_TEST = {True: 60000, False: 10000}
MNIST = Facts(TRAIN, "L", 28, 28, TRAIN_TEST, classes=10, stored="NHW")
CIFAR = {True: 50000, False: 10000}
EMNIST_COUNTS = {
    "byclass": (697932, 116323), "bymerge": (697932, 116323), "balanced": (112800, 18800), "letters": (124800, 20800),
    "digits": (240000, 40000), "mnist": (60000, 10000),
}  # fmt: skip
VOC = "root, year='2012', image_set='train', download=False, transform=None, target_transform=None, transforms=None"
COCO = "root, annFile, transform=None, target_transform=None, transforms=None"

DATASETS: dict[str, Facts] = {
    "MNIST": MNIST,
    "FashionMNIST": MNIST,
    "KMNIST": MNIST,
    "QMNIST": Facts("root, what=None, compat=True, train=True, transform=None, target_transform=None, download=False",
                    "L", 28, 28, TRAIN_TEST, classes=10, stored="NHW"),
    "EMNIST": Facts("root, split, train=True, transform=None, target_transform=None, download=False", "L", 28, 28,
                    {(word, train): pair[not train] for word, pair in EMNIST_COUNTS.items() for train in (True, False)},
                    stored="NHW"),
    "CIFAR10": Facts(TRAIN, "RGB", 32, 32, CIFAR, classes=10, stored="NHWC"),
    "CIFAR100": Facts(TRAIN, "RGB", 32, 32, CIFAR, classes=100, stored="NHWC"),
    "SVHN": Facts(SPLIT, "RGB", 32, 32, {"train": 73257, "test": 26032, "extra": 531131}, classes=10, stored="NCHW"),
    "STL10": Facts("root, split='train', folds=None, transform=None, target_transform=None, download=False", "RGB", 96,
                   96, {"train": 5000, "test": 8000, "unlabeled": 100000, "train+unlabeled": 105000}, classes=10,
                   stored="NCHW"),
    "USPS": Facts(TRAIN, "L", 16, 16, {True: 7291, False: 2007}, classes=10),
    "SEMEION": Facts("root, transform=None, target_transform=None, download=True", "L", 16, 16, {None: 1593},
                     classes=10),
    "Omniglot": Facts("root, background=True, transform=None, target_transform=None, download=False, loader=None", "L",
                      105, 105, {}, classes=None),
    "FER2013": Facts("root, split='train', transform=None, target_transform=None", "L", 48, 48, {}, classes=7),
    "PCAM": Facts(SPLIT, "RGB", 96, 96, {"train": 262144, "val": 32768, "test": 32768}, classes=2),
    "EuroSAT": Facts("root, transform=None, target_transform=None, download=False, loader=None", "RGB", 64, 64,
                     {None: 27000}, classes=10),
    "CelebA": Facts("root, split='train', target_type='attr', transform=None, target_transform=None, download=False",
                    "RGB", 218, 178, {"train": 162770, "valid": 19867, "test": 19962, "all": 202599}, "attributes"),
    "LFWPeople": Facts("root, split='10fold', image_set='funneled', transform=None, target_transform=None, "
                       "download=False, loader=None", "RGB", 250, 250),
    "ImageFolder": Facts(FOLDER),
    "DatasetFolder": Facts("root, loader, extensions=None, transform=None, target_transform=None, is_valid_file=None, "
                           "allow_empty=False"),
    "ImageNet": Facts("root, split='train', transform=None, target_transform=None, loader=None, is_valid_file=None",
                      counts={"train": 1281167, "val": 50000}, classes=1000),
    "Imagenette": Facts("root, split='train', size='full', download=False, transform=None, target_transform=None, "
                        "loader=None", counts={"train": 9469, "val": 3925}, classes=10),
    "Food101": Facts(LOADED, counts={"train": 75750, "test": 25250}, classes=101),
    "Flowers102": Facts(LOADED, counts={"train": 1020, "val": 1020, "test": 6149}, classes=102),
    "StanfordCars": Facts(LOADED, counts={"train": 8144, "test": 8041}, classes=196),
    "FGVCAircraft": Facts("root, split='trainval', annotation_level='variant', transform=None, target_transform=None, "
                          "download=False, loader=None",
                          counts={"train": 3334, "val": 3333, "trainval": 6667, "test": 3333}),
    "DTD": Facts("root, split='train', partition=1, transform=None, target_transform=None, download=False, loader=None",
                 counts={"train": 1880, "val": 1880, "test": 1880}, classes=47),
    "GTSRB": Facts(SPLIT, counts={"train": 26640, "test": 12630}, classes=43),
    "Caltech101": Facts("root, target_type='category', transform=None, target_transform=None, download=False",
                        classes=101),
    "Caltech256": Facts("root, transform=None, target_transform=None, download=False", classes=257),
    "Country211": Facts(LOADED, counts={"train": 31650, "valid": 10550, "test": 21100}, classes=211),
    "SUN397": Facts("root, transform=None, target_transform=None, download=False, loader=None", counts={None: 108754},
                    classes=397),
    "Places365": Facts("root, split='train-standard', small=False, download=False, transform=None, "
                       "target_transform=None, loader=None", classes=365),
    "INaturalist": Facts("root, version='2021_train', target_type='full', transform=None, target_transform=None, "
                         "download=False, loader=None"),
    "RenderedSST2": Facts(LOADED, classes=2),
    "LSUN": Facts("root, classes='train', transform=None, target_transform=None"),
    "OxfordIIITPet": Facts("root, split='trainval', target_types='category', transforms=None, transform=None, "
                           "target_transform=None, download=False", counts={"trainval": 3680, "test": 3669},
                           classes=37),
    "Cityscapes": Facts("root, split='train', mode='fine', target_type='instance', transform=None, "
                        "target_transform=None, transforms=None", "RGB", 1024, 2048,
                        {"train": 2975, "val": 500, "test": 1525, "train_extra": 19998}, "mask"),
    "VOCSegmentation": Facts(VOC, target="mask"),
    "VOCDetection": Facts(VOC, target="other"),
    "SBDataset": Facts("root, image_set='train', mode='boundaries', download=False, transforms=None", target="mask"),
    "CocoDetection": Facts(COCO, target="other"),
    "CocoCaptions": Facts(COCO, target="other"),
    "Flickr8k": Facts("root, ann_file, transform=None, target_transform=None, loader=None", target="other"),
    "Flickr30k": Facts("root, ann_file, transform=None, target_transform=None, loader=None", target="other"),
    "WIDERFace": Facts(SPLIT, target="other"),
    "Kitti": Facts("root, train=True, transform=None, target_transform=None, transforms=None, download=False",
                   target="other", counts={True: 7481, False: 7518}),
    "FakeData": Facts("size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, target_transform=None, "
                      "random_offset=0"),
}  # fmt: skip

MASKS = ("segmentation", "semantic", "instance")
"""Values of `target_type` for which the target is an image."""


def base_init(
    run: Runtime, self: Instance, root: Value = None, transforms: Value = None, transform: Value = None,
    target_transform: Value = None,
) -> Value:  # fmt: skip
    run.changed(self)
    self.attributes.update(root=root, transform=transform, target_transform=target_transform, transforms=transforms)
    return None


VISION = Class(
    "VisionDataset",
    (DATASET,),
    {"__init__": Native("__init__", base_init, propagate_unknown=False)},
    module="torchvision.datasets",
)


def signature_of(parameters: str) -> inspect.Signature:
    """A signature from its text, whose defaults are plain values."""
    arguments = ast.parse(f"def f({parameters}): pass").body[0].args  # type: ignore[attr-defined]
    names = [each.arg for each in arguments.args]
    defaults = [inspect.Parameter.empty] * (len(names) - len(arguments.defaults))
    defaults += [ast.literal_eval(each) for each in arguments.defaults]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature(
        [inspect.Parameter(name, kind, default=value) for name, value in zip(names, defaults, strict=True)]
    )


def count_of(facts: Facts, given: Mapping[str, Value]) -> int | None:
    """How many samples these arguments ask for."""
    if None in facts.counts:
        return facts.counts[None]
    for key in ("split", "train", "image_set"):
        value = given.get(key)
        if key == "split" and "train" in given:
            value = (value, given["train"])
        if isinstance(value, (str, bool, tuple)) and value in facts.counts:
            return facts.counts[value]
    return None


def stored(facts: Facts, count: int) -> Tensor | None:
    """`data` as the data set keeps it."""
    height, width = facts.height, facts.width
    if facts.stored == "NHW":
        return Tensor((count, height, width), "uint8")
    if facts.stored == "NHWC":
        return Tensor((count, height, width, 3), "uint8", framework="numpy")
    if facts.stored == "NCHW":
        return Tensor((count, 3, height, width), "uint8", framework="numpy")
    return None


def declare(name: str, facts: Facts) -> Class:
    signature = signature_of(facts.parameters)

    def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        run.changed(self)
        self.attributes.update(given)
        count = count_of(facts, given)
        self.attributes["count"] = count if name != "FakeData" else given["size"]
        if facts.classes is not None:
            self.attributes["classes"] = [run.unknown("the name of a class is not known")] * facts.classes
        data = stored(facts, count) if count is not None else None
        if data is not None and isinstance(data.shape, tuple):
            self.attributes["data"] = data
            labels = "labels" if name in ("SVHN", "STL10") else "targets"
            self.attributes[labels] = Tensor(data.shape[:1], "int64", framework=data.framework)
        return None

    def item(run: Runtime, self: Instance, index: Value) -> Value:
        given = self.attributes
        first: Value
        if name == "FakeData":
            first = fake(run, given.get("image_size"))
        elif given.get("loader") is not None:
            first = run.call(given["loader"], run.unknown("which files a data set has is not known"))
        else:
            first = image(Picture(facts.mode, facts.height, facts.width))
        second = target(run, facts, given)
        joint = given.get("transforms")
        if joint is not None:
            return run.call(joint, first, second)
        if given.get("transform") is not None:
            first = run.call(given["transform"], first)
        if given.get("target_transform") is not None:
            second = run.call(given["target_transform"], second)
        return first, second

    def length(run: Runtime, self: Instance) -> Value:
        count = self.attributes.get("count")
        return run.unknown(f"how many samples {name} has is not known") if count is None else count

    members: dict[str, Any] = {"__init__": init, "__getitem__": item, "__len__": length}
    namespace: dict[str, Value] = {
        word: Native(word, function, propagate_unknown=False) for word, function in members.items()
    }
    namespace["__getattr__"] = Native("__getattr__", other, propagate_unknown=False)
    cls = Class(name, (VISION,), namespace, module="torchvision.datasets")
    cls.facts["signature"] = signature
    return cls


def fake(run: Runtime, size: Value) -> Value:
    sizes = size if isinstance(size, (tuple, list)) and len(size) == 3 else [run.unknown("a fake image's size")] * 3
    mode = "L" if sizes[0] == 1 else "RGB" if sizes[0] == 3 else run.unknown("an image's mode")
    return image(Picture(mode, sizes[1], sizes[2]))


def target(run: Runtime, facts: Facts, given: Mapping[str, Value]) -> Value:
    kinds = given.get("target_type", given.get("target_types"))
    several = list(kinds) if isinstance(kinds, (list, tuple)) else [kinds]
    found = [one_target(run, facts, kind) for kind in several]
    return tuple(found) if isinstance(kinds, (list, tuple)) and len(found) > 1 else found[0]


def one_target(run: Runtime, facts: Facts, kind: Value) -> Value:
    if facts.target == "mask" or kind in MASKS:
        if kind in ("polygon", "color"):
            return run.unknown("a target of a data set is not known")
        return image(Picture("L", facts.height, facts.width))
    if facts.target == "attributes":
        shape = ATTRIBUTES.get(kind) if isinstance(kind, str) else None
        return Tensor(shape, "int64") if shape is not None else run.unknown("a target of a data set is not known")
    return CLASS_INDEX if facts.target == "class" else run.unknown("a target of a data set is not known")


ATTRIBUTES: dict[str, tuple[int, ...]] = {"attr": (40,), "identity": (), "bbox": (4,), "landmarks": (10,)}
"""What CelebA gives for each `target_type`."""

CLASS_INDEX = 0
"""The class of the first sample, as good as any other."""


def other(run: Runtime, self: Instance, name: Value) -> Value:
    """What a data set tells of its files."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of a data set is not known")


CLASSES: dict[str, Any] = {name: declare(name, facts) for name, facts in DATASETS.items()}
CLASSES["VisionDataset"] = VISION


def default_loader(run: Runtime, path: Value) -> Value:
    return image(Picture("RGB", UNSIZED, UNSIZED))


FOLDER_NAMES: dict[str, Value] = {
    "ImageFolder": CLASSES["ImageFolder"],
    "DatasetFolder": CLASSES["DatasetFolder"],
    "default_loader": Native("default_loader", default_loader, propagate_unknown=False),
    "pil_loader": Native("pil_loader", default_loader, propagate_unknown=False),
    "IMG_EXTENSIONS": (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"),
}
"""torchvision.datasets.folder."""
