"""Idioms of training scripts: one training each, with its batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

KERAS = """\
import numpy as np
import keras
x, y = np.zeros((500, 10)), np.zeros((500, 1))
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(1)])
model.compile("adam", "mse")
"""

TORCH = """\
import os
import sys
import torch
from torch import nn

layer = nn.Linear(10, 1)
"""

STEP = """\
loss = (layer(torch.rand(50, 10)) - torch.rand(50, 1)).pow(2).mean()
optimizer.zero_grad()
loss.backward()
optimizer.step()
"""

SHARES = "which share of its parameters and results one device has is not followed: all of them were counted"

CASES = {
    "rows that array_split parts, by a fraction of them": (
        KERAS + "for epoch in range(3):\n"
        "    for rows in np.array_split(np.arange(x.shape[0]), x.shape[0] / 50):\n"
        "        model.train_on_batch(x[rows], y[rows])\n",
        [],
    ),
    "a critic of two inputs, fed with slices of slices": (
        KERAS.replace(
            "model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(1)])",
            "a, b = keras.Input((10,)), keras.Input((3,))\n"
            "model = keras.Model([a, b], [keras.layers.Dense(1)(a), keras.layers.Reshape((3,))(b)])",
        ).replace("np.zeros((500, 10))", "np.zeros((70_000, 10))")
        + "for large in range(x.shape[0] // 250):\n"
        "    part = x[large * 250 : (large + 1) * 250]\n"
        "    for small in range(5):\n"
        "        rows = part[small * 50 : (small + 1) * 50]\n"
        "        model.train_on_batch([rows, np.random.rand(50, 3)], [np.ones((50, 1)), np.ones((50, 3))])\n",
        [],
    ),
    "a bare layer in a step that no loop is around": (
        TORCH + "optimizer = torch.optim.Adam(layer.parameters())\n" + STEP,
        [],
    ),
    "a layer divided by a plan, on a mesh of as many devices as the launcher says": (
        TORCH + "from torch.distributed.device_mesh import init_device_mesh\n"
        "from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module\n"
        'mesh = init_device_mesh("cuda", (int(os.environ["WORLD_SIZE"]),))\n'
        "layer = parallelize_module(module=layer, device_mesh=mesh, parallelize_plan=ColwiseParallel())\n"
        "optimizer = torch.optim.Adam(layer.parameters())\n"
        "for turn in range(10):\n    " + STEP.replace("\n", "\n    "),
        [SHARES],
    ),
}


@pytest.mark.parametrize(("text", "causes"), CASES.values(), ids=CASES)
def test_there_is_one_training_with_its_batch(text: str, causes: list[str], tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(text)
    (report,) = analyse(load(str(path)), Settings()).reports
    assert (report.kind, report.parameters, report.training.optimizer.value.name) == ("training", 11, "adam")
    assert report.training.batch_size.value == 50
    assert [cause.reason for cause in report.causes] == causes
