"""Where a batch size, an input's size, an optimizer and a dtype are written that the code uses somewhere else."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]

HEAD = """\
import argparse, json
from dataclasses import dataclass
from types import SimpleNamespace
import torch, yaml
from torch.utils.data import DataLoader, TensorDataset
data = TensorDataset(torch.zeros(640, 8), torch.zeros(640, 2))
"""
LOOP = """
net = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    (net(x) - y).square().mean().backward()
    optimizer.step()
"""
HERE = HEAD.count("\n")

PROGRAMS = {
    "at the call itself": ("loader = DataLoader(data, batch_size=16)", 1, ""),
    "a line of a call over several": ("loader = DataLoader(\n    data,\n    batch_size=16,\n)", 1, 3),
    "a constant": ("SIZE = 16\nloader = DataLoader(data, batch_size=SIZE)", 2, 1),
    "a constant of a constant": ("A = 16\nSIZE = A\nloader = DataLoader(data, SIZE)", 3, 1),
    "a constant that is set twice": ("SIZE = 4\nSIZE = 16\nloader = DataLoader(data, SIZE)", 3, 2),
    "a constant with the number at two places": (
        "import os\nSIZE = 16\nif os.environ.get('X'):\n    SIZE = 16\nloader = DataLoader(data, SIZE)", 5, "",
    ),
    "a computed number": ("SIZE = 8 * 2\nloader = DataLoader(data, SIZE)", 2, 1),
    "a default of a function": (
        "def made(size=16):\n    return DataLoader(data, batch_size=size)\nloader = made()", 2, 1,
    ),
    "an argument of a function": (
        "def made(size=4):\n    return DataLoader(data, batch_size=size)\nloader = made(16)", 2, 3,
    ),
    "an argument of a class": (
        """class Data:
    def __init__(self, size=4):
        self.size = size
    def loader(self):
        return DataLoader(data, batch_size=self.size)
loader = Data(size=16).loader()""", 5, 6,
    ),
    "an option of argparse": (
        """parser = argparse.ArgumentParser()
parser.add_argument('--batch-size', type=int, default=16)
args = parser.parse_args()
loader = DataLoader(data, batch_size=args.batch_size)""", 4, 2,
    ),
    "a dataclass": (
        """@dataclass
class Config:
    steps: int = 9
    size: int = 16
c = Config()
loader = DataLoader(data, c.size)""", 6, 4,
    ),
    "a dict": ("c = {'size': 16, 'n': 3}\nloader = DataLoader(data, c['size'])", 2, 1),
    "a namespace": ("c = SimpleNamespace(size=16)\nloader = DataLoader(data, c.size)", 2, 1),
    "a dict that is asked": ("c = {'n': 3}\nloader = DataLoader(data, c.get('size', 16))", 2, ""),
    "an imported constant": ("from settings import SIZE\nloader = DataLoader(data, SIZE)", 2, "settings.py:2"),
    "a YAML file": ("c = yaml.safe_load(open('c.yaml'))\nloader = DataLoader(data, c['size'])", 2, "c.yaml:3"),
    "a nested key": ("c = yaml.safe_load(open('c.yaml'))\nloader = DataLoader(data, c['data']['bs'])", 2, "c.yaml:5"),
    "a JSON file": ("c = json.load(open('c.json'))\nloader = DataLoader(data, c['size'])", 2, "c.json:2"),
    "a file with another number": (
        "c = yaml.safe_load(open('c.yaml'))\nloader = DataLoader(data, c['other'] // 2)", 2, "",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "used", "written"), PROGRAMS.values(), ids=PROGRAMS)
def test_both_places_are_told(tmp_path: Path, run_cnnmem: Run, text: str, used: int, written: int | str) -> None:
    (tmp_path / "settings.py").write_text("# how much at a time\nSIZE = 16\n")
    (tmp_path / "c.yaml").write_text("# settings\nsteps: 4\nsize: 16  # samples\ndata:\n  bs: 16\nother: 32\n")
    (tmp_path / "c.json").write_text('{\n  "size": 16\n}\n')
    (tmp_path / "train.py").write_text(HEAD + text + LOOP)
    [model] = json.loads(run_cnnmem("report", "train.py", "--format=json").stdout)["models"]
    training = model["training"]
    assert training["batch_size"] == 16
    at = f"train.py:{HERE + used}"
    assert training["sources"]["batch_size"] == at
    place = f"train.py:{HERE + written}" if isinstance(written, int) else written or at
    assert training["written"]["batch_size"] == place
    assert f"batch 16 ({place})" in run_cnnmem("report", "train.py").stdout
    assert f"at batch 16 ({place})" in run_cnnmem("check", "train.py", "--gpu-limit=1KiB").stdout


TENSORS = {
    "in the call of the model": ("x = torch.randn(settings['size'], 16)\n    loss = net(x)", "c.yaml:2"),
    "on the device": ("x = torch.zeros((settings['size'], 16)).to('cpu')\n    loss = net(x)", "c.yaml:2"),
    "at once": ("loss = net(torch.rand(SIZE, 16))", "train.py:3"),
    "as it is": ("x = torch.randn(16, 16)\n    loss = net(x)", "train.py:8"),
}
"""Steps on tensors, another side of which is the batch size as well."""


@pytest.mark.parametrize(("text", "place"), TENSORS.values(), ids=TENSORS)
def test_the_first_size_of_a_tensor_is_the_batch(tmp_path: Path, run_cnnmem: Run, text: str, place: str) -> None:
    (tmp_path / "c.yaml").write_text("# settings\nsize: 16\n")
    (tmp_path / "train.py").write_text(
        f"""import torch, yaml
settings = yaml.safe_load(open('c.yaml'))
SIZE = 16
net = torch.nn.Linear(16, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(9):
    optimizer.zero_grad()
    {text}
    loss.sum().backward()
    optimizer.step()
"""
    )
    [model] = json.loads(run_cnnmem("report", "train.py", "--format=json").stdout)["models"]
    assert model["training"]["batch_size"] == 16
    assert model["training"]["written"]["batch_size"] == place


IMAGES = """\
import argparse, contextlib, json
import torch, yaml
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms


class Images(Dataset):
    def __init__(self, side, transform=None):
        self.side = side

    def __len__(self):
        return 64

    def __getitem__(self, at):
        return torch.rand(3, self.side, self.side), at % 10


net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)).cuda()
parser = argparse.ArgumentParser()
parser.add_argument("--opt", default="adamw")
args = parser.parse_args()
settings = yaml.safe_load(open("c.yaml"))
"""
STEP = """
for image, label in DataLoader(images, 16):
    optimizer.zero_grad()
    CONTEXT
        loss = nn.functional.cross_entropy(net(image.cuda()), label.cuda())
    loss.backward()
    optimizer.step()
"""
TOP = IMAGES.count("\n")
ADAM = "torch.optim.AdamW(net.parameters())"

GIVEN = f"images = Images(48)\noptimizer = {ADAM}\n"
NO_CONTEXT = "with contextlib.nullcontext():"

ORIGINS = {
    "a side from a file": (
        f"images = Images(settings['side'])\noptimizer = {ADAM}", NO_CONTEXT, "input_shape", "c.yaml:2",
    ),
    "a side in a constant": (f"SIDE = 48\nimages = Images(SIDE)\noptimizer = {ADAM}", NO_CONTEXT, "input_shape", 1),
    "a side in a transform": (
        f"""to = transforms.Compose([
    transforms.Resize((48, 48)),
    transforms.ToTensor(),
])
images = datasets.CIFAR10('.', transform=to)
optimizer = {ADAM}""", NO_CONTEXT, "input_shape", 2,
    ),
    "a data set of known images": (
        f"images = datasets.CIFAR10(\n    '.', transform=transforms.ToTensor())\noptimizer = {ADAM}",
        NO_CONTEXT, "input_shape", 1,
    ),
    "an optimizer from a table": (
        """images = Images(48)
KINDS = {'sgd': torch.optim.SGD, 'adamw': torch.optim.AdamW}
optimizer = KINDS[settings['optimizer']](net.parameters())""", NO_CONTEXT, "optimizer", "c.yaml:3",
    ),
    "an optimizer by getattr": (
        """images = Images(48)
OPTIMIZER = 'AdamW'
optimizer = getattr(torch.optim, OPTIMIZER)(net.parameters())""", NO_CONTEXT, "optimizer", 2,
    ),
    "an optimizer by a test": (
        f"""images = Images(48)
if args.opt.lower() == 'sgd':
    optimizer = torch.optim.SGD(net.parameters())
elif args.opt.lower() == 'adamw':
    optimizer = {ADAM}""", NO_CONTEXT, "optimizer", -2,
    ),
    "autocast by a flag": (GIVEN, "with torch.autocast('cuda', enabled=settings['amp']):", "dtype", "c.yaml:4"),
    "autocast by its dtype": (
        f"HALF = 'bfloat16'\n{GIVEN}", "with torch.autocast('cuda', dtype=getattr(torch, HALF)):", "dtype", 1,
    ),
    "autocast at its line": (GIVEN, "with torch.autocast('cuda', dtype=torch.bfloat16):", "dtype", 6),
    "autocast in a variable": (f"{GIVEN}context = torch.autocast('cuda')", "with context:", "dtype", 3),
}  # fmt: skip


@pytest.mark.parametrize(("text", "context", "fact", "place"), ORIGINS.values(), ids=ORIGINS)
def test_what_is_written_elsewhere_is_found(
    tmp_path: Path, run_cnnmem: Run, text: str, context: str, fact: str, place: int | str
) -> None:
    (tmp_path / "c.yaml").write_text("# settings\nside: 48\noptimizer: adamw\namp: true\n")
    (tmp_path / "train.py").write_text(IMAGES + text + STEP.replace("CONTEXT", context))
    [model] = json.loads(run_cnnmem("report", "train.py", "--format=json").stdout)["models"]
    training = model["training"]
    at = place if isinstance(place, str) else f"train.py:{TOP + place}"
    assert training["written"][fact] == at
    assert f"({at})" in run_cnnmem("report", "train.py").stdout


def test_a_directive_and_an_option_are_where_they_are(tmp_path: Path, run_cnnmem: Run) -> None:
    program = HEAD + "SIZE = 16\nloader = DataLoader(data, SIZE)" + LOOP
    (tmp_path / "train.py").write_text(f"# cnnmem: batch-size=16\n\n{program}")
    [model] = json.loads(run_cnnmem("report", "train.py", "--format=json").stdout)["models"]
    assert model["training"]["written"]["batch_size"] == "directive"
    assert model["training"]["written"]["dtype"] == "default"
