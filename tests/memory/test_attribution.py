"""What is kept for the backward pass, op by op: every byte with one op, and no other bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load
from flake8_cnnmem.training import Fact

ROOT = Path(__file__).resolve().parent.parent.parent / "fixtures"

MODELS = {
    "a chain of layers": "models/torch/vgg16.py",
    "residual blocks": "models/torch/resnet.py",
    "joined maps": "models/torch/unet.py",
    "checkpoints": "memory/torch/resnet_checkpointed.py",
    "attention": "models/torch/vit.py",
    "Keras": "models/keras/resnet50.py",
}


@pytest.mark.parametrize("path", MODELS.values(), ids=MODELS)
def test_what_the_ops_keep_adds_up_to_what_is_saved(path: str) -> None:
    settings = Settings(input_shape=Fact((3, 224, 224), "option"))
    for report in analyse(load(str(ROOT / path)), settings).reports:
        estimate = report.estimate
        assert estimate is not None
        assert estimate.saved is not None
        assert report.model is not None
        inputs = estimate.saved - sum(size for _, size in estimate.kept_by)
        assert estimate.input - 512 * len(report.model.inputs) <= inputs <= estimate.input
        names = [name for name, _ in estimate.kept_by]
        assert len(set(names)) == len(names)
        assert set(names) <= {moment.name for moment in estimate.moments()} | {"loss"}


def test_a_loop_of_several_losses_tells_what_most_is_kept_for() -> None:
    [report] = analyse(load(str(ROOT / "scripts/dcgan_faces.py")), Settings()).reports
    assert report.estimate is not None
    kept = dict(report.estimate.kept_by)
    assert {name.partition(".")[0] for name in kept} == {"Generator", "Discriminator", "BCELoss"}
    assert report.estimate.saved is not None
    assert 0 < sum(kept.values()) <= report.estimate.saved
