"""Models that one step trains together: one finding that names its parts, and counts the step as its loop runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

HEAD = """\
import itertools
import torch
from torch import nn

def net(*sizes):
    return nn.Sequential(*(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])))

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = net(64, 32, 8)

    def forward(self, x):
        return self.layers(x)

class Decoder(nn.Module):
    def __init__(self, out=64):
        super().__init__()
        self.layers = net(8, 32, out)

    def forward(self, z):
        return self.layers(z)

x = torch.randn(16, 64)
"""

PROGRAMS = {
    "an encoder and a decoder with one optimizer over both": (
        HEAD + "encoder, decoder = Encoder(), Decoder()\n"
        "optimizer = torch.optim.Adam(itertools.chain(encoder.parameters(), decoder.parameters()))\n"
        "nn.functional.mse_loss(decoder(encoder(x)), x).backward()\noptimizer.step()",
        ["Encoder", "Decoder"],
        "exact",
    ),
    "two of one class, by the names that the code gives them": (
        HEAD + "coarse = Encoder()\nfine = Encoder()\n"
        "optimizer = torch.optim.Adam([*coarse.parameters(), *fine.parameters()])\n"
        "(coarse(x) + fine(x)).sum().backward()\noptimizer.step()",
        ["coarse", "fine"],
        "exact",
    ),
    "a graph that is retained for a second loss": (
        HEAD + "encoder, decoder = Encoder(), Decoder()\n"
        "first, second = torch.optim.Adam(encoder.parameters()), torch.optim.Adam(decoder.parameters())\n"
        "out = decoder(encoder(x))\n(out - x).abs().mean().backward(retain_graph=True)\n"
        "out.pow(2).mean().backward()\nfirst.step()\nsecond.step()",
        ["Encoder", "Decoder"],
        "exact",
    ),
    "a loss that cannot be followed makes a lower bound": (
        HEAD + "from nowhere import penalty\nencoder, decoder = Encoder(), Decoder()\n"
        "optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])\n"
        "(penalty(decoder(encoder(x))) + 1).backward()\noptimizer.step()",
        ["Encoder", "Decoder"],
        "lower-bound",
    ),
}


def reports_of(folder: Path, text: str) -> tuple[ModelReport, ...]:
    path = folder / "train.py"
    path.write_text(text)
    return analyse(load(str(path)), Settings()).reports


@pytest.mark.parametrize(("text", "names", "status"), PROGRAMS.values(), ids=PROGRAMS)
def test_one_finding_names_the_parts(text: str, names: list[str], status: str, tmp_path: Path) -> None:
    # A class that a program leaves alone is a model of the file, too.
    (report,) = [report for report in reports_of(tmp_path, text) if report.parts]
    assert [part.name for part in report.parts] == names
    assert report.name == " + ".join(names)
    assert report.status == status
    assert report.parameters == sum(part.parameters for part in report.parts)
    assert report.trainable == sum(part.trainable for part in report.parts)


def test_models_that_are_trained_one_after_the_other_are_findings_of_their_own(tmp_path: Path) -> None:
    loop = """
for model in (Encoder(), Decoder(out=7)):
    optimizer = torch.optim.Adam(model.parameters())
    size = 64 if isinstance(model, Encoder) else 8
    for given in torch.utils.data.DataLoader([torch.randn(size)] * 64, 16):
        model(given).sum().backward()
        optimizer.step()
"""
    reports = reports_of(tmp_path, HEAD + loop)
    assert [(report.name, report.parts) for report in reports] == [("Encoder", ()), ("Decoder", ())]


def test_a_loss_with_no_weights_and_a_transform_are_no_models(tmp_path: Path) -> None:
    more = """
class Dice(nn.Module):
    def forward(self, a, b):
        return 1 - (a * b).sum() / (a + b).sum()

class Scale(nn.Module):
    def forward(self, x):
        return x / 255

dice, scale, model = Dice(), Scale(), Encoder()
optimizer = torch.optim.Adam(model.parameters())
dice(model(scale(x)), torch.zeros(16, 8)).backward()
optimizer.step()
"""
    (trained,) = [report for report in reports_of(tmp_path, HEAD + more) if report.name != "Decoder"]
    assert (trained.name, trained.parts) == ("Encoder", ())


def test_a_batch_more_takes_as_much_in_a_step_of_two_models_as_the_code_says(tmp_path: Path) -> None:
    """The step is known at the code's batch size; at any other it is what the same code takes at that size."""
    text, _, _ = PROGRAMS["an encoder and a decoder with one optimizer over both"]
    at = {}
    for size in (1600, 1700):
        (report,) = reports_of(tmp_path, text.replace("randn(16,", f"randn({size},"))
        assert report.estimate is not None
        at[size] = report.estimate
    assert at[1600].largest_batch(at[1700].total) == 1700
    assert at[1600].largest_batch(at[1700].total - 1) < 1700


def test_a_module_whose_step_calls_its_layers_is_counted_by_that_step(tmp_path: Path) -> None:
    """What `forward` does is not what is trained here."""
    more = """
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Encoder(), Decoder()

    def forward(self, x):
        return self.first(x)

pair = Pair()
optimizer = torch.optim.Adam(pair.parameters())
nn.functional.mse_loss(pair.second(pair.first(x)), x).backward()
optimizer.step()
"""
    (report,) = reports_of(tmp_path, HEAD + more)
    assert (report.name, report.status, report.parts) == ("Pair", "exact", ())
    assert report.estimate is not None
    assert {moment.name for moment in report.estimate.moments()} >= {"first.layers.0", "second.layers.1"}


def test_a_teacher_that_is_only_looked_at_is_in_memory_beside_the_student(tmp_path: Path) -> None:
    text = HEAD + (
        "teacher = Encoder().eval().requires_grad_(False)\nstudent = Encoder()\n"
        "optimizer = torch.optim.SGD(student.parameters(), 0.1)\n"
        "for step in range(3):\n    with torch.no_grad():\n        wanted = teacher(x)\n"
        "    nn.functional.mse_loss(student(x), wanted).backward()\n    optimizer.step()"
    )
    (report,) = [report for report in reports_of(tmp_path, text) if report.kind == "training"]
    assert (report.status, report.parts) == ("exact", ())
    (row,) = report.also_in_memory
    # 64 x 32 + 32 and 32 x 8 + 8 values, each of the four tensors rounded up to 512 bytes.
    assert (row.what, row.bytes) == ("teacher: weights", 8192 + 512 + 1024 + 512)


def test_models_that_take_turns_are_counted_once_each(tmp_path: Path) -> None:
    loop = """
models = [Encoder().cuda() for _ in range(5)]
optimizers = [torch.optim.Adam(model.parameters()) for model in models]

def epoch_of(model, optimizer):
    for given in torch.utils.data.DataLoader([torch.randn(64)] * 64, 16):
        optimizer.zero_grad()
        model(given.cuda()).sum().backward()
        optimizer.step()

for epoch in range(14):
    for model, optimizer in zip(models, optimizers):
        epoch_of(model, optimizer)
"""
    (report,) = [report for report in reports_of(tmp_path, HEAD + loop) if report.kind == "training"]
    assert report.times == 5
