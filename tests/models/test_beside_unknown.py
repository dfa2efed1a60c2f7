"""Trainings with a part that nobody can follow: what is known of them is told, and is never called exact."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

KERAS = """\
import keras
import numpy as np
import tensorflow as tf
from {where} import encoder_of

def head_of(width):
    return keras.Sequential([keras.Input((width,)), keras.layers.Dense(64), keras.layers.Dense(width)])

pictures = tf.data.Dataset.from_tensor_slices(np.zeros((512, 24, 24, 3), "float32")).batch(64)
encoder, head = encoder_of(128), head_of(128)
"""

OWN_STEP = """\
class Twins(keras.Model):
    def __init__(self, encoder, head):
        super().__init__()
        self.encoder, self.head = encoder, head

    def train_step(self, pictures):
        with tf.GradientTape() as tape:
            codes = self.encoder(pictures)
            loss = tf.reduce_mean((self.head(codes) - tf.stop_gradient(codes)) ** 2)
        weights = self.encoder.trainable_variables + self.head.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return {"loss": loss}

twins = Twins(encoder, head)
twins.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9))
twins.fit(pictures)
"""

OWN_LOOP = """\
optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
for batch in pictures:
    with tf.GradientTape() as tape:
        codes = encoder(batch)
        loss = tf.reduce_mean((head(codes) - tf.stop_gradient(codes)) ** 2)
    weights = encoder.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
"""

ENCODER = """\
import keras

def encoder_of(width):
    return keras.Sequential([keras.Input((24, 24, 3)), keras.layers.Flatten(), keras.layers.Dense(width)])
"""


def reports_of(folder: Path, text: str) -> list[ModelReport]:
    (folder / "known_parts.py").write_text(ENCODER)
    path = folder / "train.py"
    path.write_text(text)
    return list(analyse(load(str(path)), Settings()).reports)


@pytest.mark.parametrize("step", [OWN_STEP, OWN_LOOP], ids=["train_step", "a loop with a tape"])
def test_a_model_that_trains_with_one_that_is_not_found_is_no_more_than_a_bound(step: str, tmp_path: Path) -> None:
    (report,) = reports_of(tmp_path, KERAS.format(where="parts_that_are_not_here") + step)
    assert (report.name, report.kind, report.status) == ("head", "training", "lower-bound")
    assert report.training.batch_size.value == 64
    first = report.causes[0].reason
    assert "parts_that_are_not_here" in first or first == "which weights the step updates is not known"


HALF_KNOWN = """\
import keras
from layers_that_are_not_here import stem

def encoder_of(width):
    pictures = keras.Input((24, 24, 3))
    return keras.Model(pictures, keras.layers.Dense(width)(stem(keras.layers.Rescaling(1 / 255)(pictures))))
"""


@pytest.mark.parametrize("step", [OWN_STEP, OWN_LOOP], ids=["train_step", "a loop with a tape"])
def test_a_model_whose_middle_is_not_found_is_not_left_out_silently(step: str, tmp_path: Path) -> None:
    (tmp_path / "half_known.py").write_text(HALF_KNOWN)
    found = reports_of(tmp_path, KERAS.format(where="half_known") + step)
    (report,) = [report for report in found if report.name == "head"]
    assert (report.kind, report.status) == ("training", "lower-bound")
    assert "layers_that_are_not_here" in report.causes[0].reason


@pytest.mark.parametrize("step", [OWN_STEP, OWN_LOOP], ids=["train_step", "a loop with a tape"])
def test_where_it_is_found_both_are_trained_together(step: str, tmp_path: Path) -> None:
    (report,) = reports_of(tmp_path, KERAS.format(where="known_parts") + step)
    assert report.parameters == 24 * 24 * 3 * 128 + 128 + 128 * 64 + 64 + 64 * 128 + 128
    assert not [cause for cause in report.causes if "which weights" in cause.reason]


STYLE = """\
import torch
from PIL import Image
from torch import nn
from torchvision import transforms

features = nn.Conv2d(3, 32, 3, padding=1).cuda().requires_grad_(False)
net = nn.Conv2d(3, 3, 3, padding=1).cuda()
optimizer = torch.optim.Adam(net.parameters())
style = {style}
maps = features(style.unsqueeze(0).cuda()){after}
target = maps.mean((2, 3))
for _ in range(4):
    found = features(net(torch.randn(4, 3, 64, 64, device="cuda"))).mean((2, 3))
    optimizer.zero_grad()
    nn.functional.mse_loss(found, target.expand(4, -1)).backward()
    optimizer.step()
"""
PICTURE = 'transforms.ToTensor()(Image.open("style.jpg").convert("RGB"))'


@pytest.mark.parametrize(
    ("style", "after", "cause"),
    [
        (PICTURE, "", "how large maps is, which is held beside the step, is not known"),
        (PICTURE, ".mean((2, 3), keepdim=True)", ""),
        (PICTURE, ".cpu()", ""),
        ("torch.zeros(3, 80, 60)", "", ""),
    ],
    ids=["of a picture", "only its means", "on the host", "of a stated size"],
)
def test_what_is_held_of_a_picture_in_a_file_is_more_than_is_counted(
    tmp_path: Path, style: str, after: str, cause: str
) -> None:
    (report,) = reports_of(tmp_path, STYLE.format(style=style, after=after))
    assert report.status == ("lower-bound" if cause else "exact"), report.causes
    assert [cause] * len(report.causes) == [each.reason[: len(cause)] for each in report.causes]


ROWS = """\
import numpy as np
import torch
from torch import nn

rows = torch.from_numpy(np.load("rows.npy")).view(-1, 20){where}
net = nn.Linear(20, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{loop}
    loss = net({taken}).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BY_STEPS = "for i in range(0, len(rows), 64):"
AT_RANDOM = "for _ in range(9):\n    i = torch.randint(0, len(rows), (64,))"
ROUND = "i = 0\nfor _ in range(9):\n    taken = rows[i : i + 64]\n    i += 64\n    if i >= len(rows):\n        i = 0"


@pytest.mark.parametrize(
    ("where", "loop", "taken", "status"),
    [
        (".cuda()", BY_STEPS, "rows[i : i + 64]", "lower-bound"),
        (".cuda()", AT_RANDOM, "rows[i]", "lower-bound"),
        (".cuda()", ROUND, "taken", "lower-bound"),
        ("", BY_STEPS, "rows[i : i + 64].cuda()", "exact"),
        ("", ROUND, "taken.cuda()", "exact"),
    ],
    ids=["by steps", "at random", "round and round", "on the host, by steps", "on the host, round and round"],
)
def test_a_data_set_on_the_device_of_unknown_size_is_more_than_is_counted(
    tmp_path: Path, where: str, loop: str, taken: str, status: str
) -> None:
    (report,) = reports_of(tmp_path, ROWS.format(where=where, loop=loop, taken=taken))
    assert (report.status, report.training.batch_size.value) == (status, 64), report.causes
    assert {each.reason[:18] for each in report.causes} == ({"how large rows is,"} if where else set())


DRAWN = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Lines(Dataset):
    def __init__(self):
        self.rows = [line.split() for line in open("lines.txt")]
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, at):
        return torch.zeros(20), torch.tensor([len(word) for word in self.rows[at]])

def join(batch):
    return torch.stack([x for x, _ in batch]), torch.cat([y for _, y in batch])

net = nn.Linear(20, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def step(batch):
    x, y = (each.cuda() for each in batch)
    return net(x).sum() * y.float().mean()

for batch in DataLoader(Lines(), batch_size=64, collate_fn=join):
    loss = step(batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_what_the_step_itself_draws_is_not_held_beside_it(tmp_path: Path) -> None:
    (report,) = reports_of(tmp_path, DRAWN)
    assert report.training.batch_size.value == 64
    assert not [each for each in report.causes if "held beside" in each.reason]


PICKED = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, {width})).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x, y = torch.randn(128, 64, device="cuda"), torch.randint(0, 9, (128,), device="cuda")
    out = net(x)
    optimizer.zero_grad()
    {loss}.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("width", "loss", "status"),
    [
        (256, "out[y.unique()].pow(2).mean()", "lower-bound"),
        (1, "out[y.unique()].pow(2).mean()", "exact"),
        (256, "out[y > 3].pow(2).mean()", "lower-bound"),
        (256, "out[y].pow(2).mean()", "exact"),
    ],
    ids=["rows that differ", "little", "by a mask", "as many rows"],
)
def test_a_loss_of_values_whose_number_is_not_known_makes_more_than_is_counted(
    tmp_path: Path, width: int, loss: str, status: str
) -> None:
    (report,) = reports_of(tmp_path, PICKED.format(width=width, loss=loss))
    assert report.status == status, report.causes
