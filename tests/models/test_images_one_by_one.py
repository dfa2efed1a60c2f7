"""Detectors, which are given a list of images and a list of dicts: what they compute counts as far as it is known."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.training import Fact

DETECTOR = """\
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms.functional import to_tensor

class Boxes(Dataset):
    def __init__(self, paths):
        self.paths = paths
    def __getitem__(self, at):
        image = {image}
        return image, {{"boxes": torch.zeros(2, 4), "labels": torch.ones(2, dtype=torch.int64)}}
    def __len__(self):
        return 100

class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1))
        self.head = nn.Conv2d(32, 4, 1)
    def forward(self, images, targets):
        batch = torch.zeros(len(images), 3, *images[0].shape[-2:])
        for at, image in enumerate(images):
            batch[at] = image
        found = self.head(self.backbone(batch)).flatten(2).transpose(1, 2)
        chosen = [each[each[:, 0] > 0.5] for each in found]
        wanted = [target["boxes"] for target in targets]
        return {{"boxes": sum((a.mean(0) - b.mean(0)).abs().sum() for a, b in zip(chosen, wanted))}}

model = Detector()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = DataLoader(Boxes(["a.png", "b.png"]), batch_size=2, collate_fn=lambda batch: tuple(zip(*batch)))
for images, targets in loader:
    images = list(images)
    targets = [dict(target) for target in targets]
    losses = model(images, targets)
    loss = sum(losses.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

FROM_A_FILE = "to_tensor(Image.open(self.paths[at]).convert('RGB'))"
KEPT = 4 * 2 * 100 * 120 * (3 + 16 + 32)
"""Bytes: the inputs of three convolutions (that of the second is what ReLU keeps), of two images of 100x120."""


@pytest.mark.parametrize(
    ("image", "option", "source"),
    [("torch.rand(3, 100, 120)", None, "net.py:"), (FROM_A_FILE, (3, 100, 120), "option")],
    ids=["a size that the code says", "a size that the option says"],
)
def test_what_is_known_of_a_detector_counts(image: str, option: tuple[int, ...] | None, source: str) -> None:
    settings = Settings(input_shape=Fact(option, "option")) if option else Settings()
    (report,) = analyse(Source("net.py", DETECTOR.format(image=image)), settings).reports
    assert report.status == "lower-bound"
    assert not any("raises" in cause.reason for cause in report.causes)
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (3, 100, 120)
    assert report.training.input_shape.source.startswith(source)
    assert report.training.batch_size.value == 2
    assert report.estimate is not None
    assert report.estimate.saved is not None
    assert KEPT <= report.estimate.saved <= 1.1 * KEPT


def test_images_of_files_have_no_size() -> None:
    (report,) = analyse(Source("net.py", DETECTOR.format(image=FROM_A_FILE)), Settings()).reports
    assert report.status == "lower-bound"
    assert report.training.batch_size.value == 2
    assert "the size of an image in a file is not known" in [cause.reason for cause in report.causes]
