"""Data sets, albumentations and OpenCV by their documentation, and torchvision's constructors by their signatures."""

from __future__ import annotations

import ast
import inspect
import os
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.torchvision.datasets import CLASSES, DATASETS
from flake8_cnnmem.packages.torchvision.transforms import TRANSFORMS
from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran, size

HEAD = """
import cv2
import numpy as np
import torch
import albumentations as A
from albumentations.pytorch import ToTensorV2
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms as T
to_tensor = T.ToTensor()
array = np.zeros((40, 60, 3), dtype=np.uint8)
mask = np.zeros((40, 60), dtype=np.uint8)
def first(data):
    return next(iter(DataLoader(data, batch_size=8)))[0]
"""
SIZES = {
    "MNIST": (
        "first(datasets.MNIST('d', train=True, transform=to_tensor, download=True))",
        (8, 1, 28, 28),
    ),
    "FashionMNIST, resized": (
        "first(datasets.FashionMNIST('d', transform=T.Compose([T.Resize(32), to_tensor])))",
        (8, 1, 32, 32),
    ),
    "CIFAR100": (
        "first(datasets.CIFAR100('d', True, to_tensor))",
        (8, 3, 32, 32),
    ),
    "SVHN": (
        "first(datasets.SVHN('d', split='extra', transform=to_tensor))",
        (8, 3, 32, 32),
    ),
    "STL10": (
        "first(datasets.STL10('d', 'train', transform=to_tensor))",
        (8, 3, 96, 96),
    ),
    "CelebA, cropped": (
        "first(datasets.CelebA('d', transform=T.Compose([T.CenterCrop(178), T.Resize(64), to_tensor])))",
        (8, 3, 64, 64),
    ),
    "a folder of images": (
        "first(datasets.ImageFolder('d', transform=T.Compose([T.RandomResizedCrop(96), to_tensor])))",
        (8, 3, 96, 96),
    ),
    "a folder without a crop": (
        "first(datasets.ImageFolder('d', transform=to_tensor))",
        (8, 3, "?", "?"),
    ),
    "fake data": (
        "first(datasets.FakeData(100, (3, 50, 60), transform=to_tensor))",
        (8, 3, 50, 60),
    ),
    "a mask of the same size": (
        "datasets.Cityscapes('d', target_type='semantic', target_transform=T.PILToTensor())[0][1]",
        (1, 1024, 2048),
    ),
    "the stored images": (
        "torch.from_numpy(datasets.CIFAR10('d', train=False).data)",
        (10000, 32, 32, 3),
    ),
    "how many there are": (
        "torch.zeros(len(datasets.KMNIST('d', train=False)), len(datasets.Food101('d').classes))",
        (10000, 101),
    ),
    "an image of a file, converted": (
        "T.Compose([T.Resize((9, 7)), to_tensor])(Image.open('a.png').convert('L'))",
        (1, 9, 7),
    ),
    "an image read in a way nobody knows": (
        "T.Compose([T.CenterCrop(64), to_tensor, T.Normalize((0.5,) * 3, (0.5,) * 3)])(input())",
        (3, 64, 64),
    ),
    "albumentations: resized": (
        "A.Compose([A.Resize(20, 30), A.Normalize(), ToTensorV2()])(image=array)['image']",
        (3, 20, 30),
    ),
    "albumentations: the mask goes along": (
        "A.Compose([A.Resize(20, 30), ToTensorV2()])(image=array, mask=mask)['mask']",
        (20, 30),
    ),
    "albumentations: by keywords": (
        "A.RandomResizedCrop(size=(24, 28))(image=array)['image']",
        (24, 28, 3),
    ),
    "albumentations: the longer side, then padded": (
        "A.Compose([A.LongestMaxSize(max_size=32), A.PadIfNeeded(32, 32)])(image=array)['image']",
        (32, 32, 3),
    ),
    "albumentations: the shorter side": (
        "A.SmallestMaxSize(max_size=20)(image=array)['image']",
        (20, 30, 3),
    ),
    "albumentations: one of several that agree": (
        "A.OneOf([A.RandomCrop(16, 16), A.CenterCrop(16, 16)])(image=array)['image']",
        (16, 16, 3),
    ),
    "albumentations: one of several that do not": (
        "A.OneOf([A.RandomCrop(16, 16), A.CenterCrop(8, 16)])(image=array)['image']",
        ("?", 16, 3),
    ),
    "albumentations: what keeps the size": (
        "A.Compose([A.HorizontalFlip(p=0.5), A.Rotate(35), A.GaussNoise()])(image=array)['image']",
        (40, 60, 3),
    ),
    "albumentations: a quarter turn": (
        "A.RandomRotate90()(image=array)['image']",
        ("?", "?", 3),
    ),
    "OpenCV: read and resized": (
        "cv2.resize(cv2.imread('a.png'), (64, 32))",
        (32, 64, 3),
    ),
    "OpenCV: read in grey": (
        "cv2.resize(cv2.imread('a.png', cv2.IMREAD_GRAYSCALE), (64, 32))",
        (32, 64),
    ),
    "OpenCV: by a factor": (
        "cv2.resize(array, None, fx=0.5, fy=2)",
        (80, 30, 3),
    ),
    "OpenCV: to grey": (
        "cv2.cvtColor(array, cv2.COLOR_BGR2GRAY)",
        (40, 60),
    ),
    "OpenCV: a border": (
        "cv2.copyMakeBorder(array, 1, 2, 3, 4, cv2.BORDER_CONSTANT)",
        (43, 67, 3),
    ),
}


def shape_of(value: Any) -> Any:
    assert isinstance(value, Tensor), value
    return value.shape.reason if isinstance(value.shape, Unknown) else tuple(size(each) for each in value.shape)


@pytest.mark.parametrize(("expression", "expected"), SIZES.values(), ids=SIZES)
def test_sizes_are_those_of_the_documentation(expression: str, expected: tuple[Any, ...]) -> None:
    ran = Ran(f"{HEAD}result = {expression}")
    assert ran.failures == []
    assert shape_of(ran["result"]) == expected


def torchvision() -> Path | None:
    zoo = os.environ.get("CNNMEM_ZOO")
    found = Path(zoo) / "torchvision" if zoo else None
    return found if found is not None and found.is_dir() else None


def constructors(folder: Path) -> dict[str, ast.arguments]:
    """The constructors' parameters of every class below a folder."""
    found: dict[str, ast.arguments] = {}
    for path in sorted(folder.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                for part in node.body:
                    if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                        found.setdefault(node.name, part.args)
    return found


def names(arguments: ast.arguments) -> list[str]:
    return [each.arg for each in arguments.args[1:]]


@pytest.mark.skipif(torchvision() is None, reason="torchvision's source is where CNNMEM_ZOO says, and nowhere else")
def test_constructors_take_torchvisions_own_parameters() -> None:
    source = torchvision()
    assert source is not None
    real = constructors(source / "datasets")
    for name in DATASETS:
        signature = CLASSES[name].facts["signature"]
        own = real.get(name)
        if own is None or own.kwarg is not None or own.vararg is not None:
            continue
        assert list(signature.parameters) == names(own), name
    real = constructors(source / "transforms")
    for name, cls in TRANSFORMS.items():
        signature = getattr(cls, "facts", {}).get("signature")
        if isinstance(signature, inspect.Signature) and name in real and real[name].vararg is None:
            assert list(signature.parameters)[: len(names(real[name]))] == names(real[name]), name


def test_a_transform_that_tells_nothing_leaves_open_whether_it_is_an_image_of_pillow() -> None:
    """A batch may be normalised on the card: `x.size(0)` is a tensor's method then, no pair of numbers."""
    ran = Ran(
        "import h5py\nfrom torchvision.transforms import v2\n"
        "batch = v2.Normalize(mean=[0.5], std=[0.5])(h5py.File('x')['images'])\nresult = batch.size(0)\n"
    )
    assert ran.failures == []
    assert isinstance(ran["result"], Unknown)
