"""Programs that stop before they train, for an exception that nobody deals with: what stands behind is followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

HEAD = """\
import sys
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
"""

MAIN = """\
NETS = {{"small": nn.Linear}}

def chosen(name):
    return NETS[name](12, 5)

def main():
    {before}
    net = {net}
    data = TensorDataset(torch.randn(512, 12), torch.zeros(512, dtype=torch.long))
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in DataLoader(data, batch_size=16):
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""


def program(before: str = "pass", net: str = "nn.Sequential(nn.Linear(12, 5))") -> str:
    return HEAD + MAIN.format(before=before, net=net)


def reports_of(folder: Path, text: str) -> tuple[ModelReport, ...]:
    path = folder / "train.py"
    path.write_text(text)
    return analyse(load(str(path)), Settings()).reports


STOPPING = {
    "a name that no model has": (program(net='NETS["large"](12, 5)'), None, "KeyError: large"),
    "the same in a function of its own": (program(net='chosen("large")'), None, "KeyError: large"),
    "what has nothing to do with the model": (program('log = {}["name"]'), 65, "KeyError: name"),
    "what a function of the file raises": (program("check = (lambda: 1 / 0)()"), 65, "ZeroDivisionError"),
    "two of them": (program('a = {}["a"]\n    b = {}["b"]'), 65, "KeyError: a"),
}


@pytest.mark.parametrize("case", STOPPING.values(), ids=list(STOPPING))
def test_the_training_behind_is_a_lower_bound_and_says_where_the_program_stops(
    case: tuple[str, int | None, str], tmp_path: Path
) -> None:
    text, parameters, why = case
    (report,) = reports_of(tmp_path, text)
    assert (report.kind, report.status, report.parameters) == ("training", "lower-bound", parameters)
    assert report.training.batch_size.value == 16
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (12,)
    reasons = [cause.reason for cause in report.causes]
    assert any(why in reason for reason in reasons), reasons
    assert len(reasons) == len(set(reasons))


MEANT = {
    "the program ends because it wants to": program("sys.exit(0)"),
    "an exception that the program raises by itself": program("raise SystemExit"),
}


@pytest.mark.parametrize("text", MEANT.values(), ids=list(MEANT))
def test_what_stands_behind_an_end_that_is_meant_is_not_followed(text: str, tmp_path: Path) -> None:
    assert not any(report.kind == "training" for report in reports_of(tmp_path, text))


def test_sizes_that_are_wrong_stay_wrong(tmp_path: Path) -> None:
    (report,) = reports_of(tmp_path, program(net="nn.Sequential(nn.Linear(13, 5))"))
    assert report.problems


def test_a_program_that_deals_with_its_exceptions_is_exact(tmp_path: Path) -> None:
    text = program('try:\n        log = {}["name"]\n    except KeyError:\n        log = None')
    (report,) = reports_of(tmp_path, text)
    assert (report.status, report.causes) == ("exact", ())


def test_a_program_that_stops_after_its_training_is_exact(tmp_path: Path) -> None:
    (report,) = reports_of(tmp_path, program() + 'end = {}["name"]\n')
    assert (report.kind, report.status, report.causes) == ("training", "exact", ())


def test_nothing_is_found_behind_a_stop_that_leads_to_no_training(tmp_path: Path) -> None:
    assert not reports_of(tmp_path, HEAD + 'size = {}["size"]\ndef make():\n    return {}["x"]\nmake()\n')


def test_a_frozen_network_in_a_loss_is_a_part_of_a_training_that_is_not_known(tmp_path: Path) -> None:
    frozen = "features = nn.Sequential(nn.Linear(5, 7))\n    features.requires_grad_(False)"
    text = program(before=frozen, net='torch.load("net.pt")').replace(
        "F.cross_entropy(net(x), y)", "F.mse_loss(features(net(x)), features(x[:, :5]))"
    )
    (report,) = reports_of(tmp_path, text)
    assert (report.name, report.kind, report.parameters) == ("model", "training", None)
    assert report.training.optimizer.value.name == "adam"


def test_a_module_is_given_names_through_its_dict(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text("from torch import nn\ndef small():\n    return nn.Linear(2, 2)\n")
    text = HEAD + (
        "import nets\n"
        'nets.__dict__["mine"] = lambda: nn.Sequential(nn.Linear(12, 5))\n'
        'net = nets.__dict__["mine"]()\n'
        "net(torch.randn(4, 12))\n"
    )
    (report,) = reports_of(tmp_path, text)
    assert (report.status, report.parameters) == ("exact", 65)


def test_what_a_loop_of_unknown_length_changes_is_no_number(tmp_path: Path) -> None:
    text = HEAD + (
        "import math, yaml\n"
        "h = math.ceil(40 / yaml.safe_load(open('sizes.yaml'))['scale'])\n"
        "class Pictures(torch.utils.data.Dataset):\n"
        "    def __len__(self):\n"
        "        return 10\n"
        "    def __getitem__(self, at):\n"
        "        picture = torch.FloatTensor(3, h, h)\n"
        "        for row in range(h):\n"
        "            picture[0, row, :] = torch.zeros(h)\n"
        "        return picture\n"
        "net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten())\n"
        "optimizer = torch.optim.Adam(net.parameters())\n"
        "for x in DataLoader(Pictures(), batch_size=8):\n"
        "    height, width = x.size()[-2:]\n"
        "    optimizer.zero_grad()\n"
        "    net(x).sum().backward()\n"
        "    optimizer.step()\n"
    )
    (report,) = reports_of(tmp_path, text)
    assert (report.kind, report.status, report.problems) == ("training", "lower-bound", ())
    assert not any("raises" in cause.reason for cause in report.causes)
