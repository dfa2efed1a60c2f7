"""Programs that take long to follow: what comes before a training must not hide it, and where it does, that is told."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

EVALUATED_OFTEN = """\
import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(8, 8) for _ in range(400)]).cuda()
optimizer = torch.optim.Adam(model.parameters())


def batch():
    return torch.rand(64, 8).cuda()


@torch.no_grad()
def estimate_loss():
    out = {}
    for split in ["train", "val"]:
        losses = torch.zeros(200)
        for k in range(200):
            losses[k] = model(batch()).mean().item()
        out[split] = losses.mean()
    return out


for iteration in range(1000):
    if iteration % 100 == 0:
        estimate_loss()
    loss = model(batch()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

PRIMES = """\
def primes(count):
    found, number = [], 2
    while len(found) < count:
        if all(number % prime for prime in found):
            found.append(number)
        number += 1
    return found
"""
"""What takes long to follow."""

COUNTS_FOR_LONG = """\
import torch
from torch import nn

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())


PRIMES


def main():
    order = primes({count})
    for _ in range(100):
        loss = model(torch.rand(64, 1, 28, 28).cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
"""


def test_many_evaluations_before_the_first_step_do_not_use_the_budget_up() -> None:
    [report] = analyse(Source("train.py", EVALUATED_OFTEN), Settings()).reports
    assert (report.status, report.training.batch_size.value) == ("exact", 64), report.causes
    assert report.training.optimizer.value.name == "adam"


@pytest.mark.parametrize(
    ("count", "status", "batch"), [(10, "exact", 64), (100_000, "lower-bound", 32)], ids=["followed", "cut off"]
)
def test_a_program_that_is_cut_off_before_it_trains_is_no_exact_one(count: int, status: str, batch: int) -> None:
    code = COUNTS_FOR_LONG.replace("PRIMES\n", PRIMES).replace("{count}", str(count))
    [report] = analyse(Source("train.py", code), Settings()).reports
    assert (report.status, report.training.batch_size.value) == (status, batch), report.causes
    said = [cause.reason for cause in report.causes if "too long to be followed" in cause.reason]
    assert bool(said) == (status == "lower-bound")


def test_a_program_that_ends_before_it_makes_a_model_says_what_ends_it() -> None:
    code = "import torch\nfrom torch import nn\nimport loss\nfor at in xrange(3):\n    model = nn.Linear(3, at)\n"
    found = analyse(Source("train.py", code), Settings())
    told = [(cause.reason, cause.line) for cause in found.missing]
    assert ("the code raises NameError: name 'xrange' is not defined", 4) in told
    assert not found.reports


IN_THE_SECOND_EPOCH = """\
import torch
from torch import nn

first, second = nn.Linear(8, 8).cuda(), nn.Linear(8, 8).cuda()
one = torch.optim.Adam(first.parameters())
other = torch.optim.Adam(second.parameters())
for epoch in range(3):
    for _ in range(100):
        x = torch.rand(64, 8).cuda()
        one.zero_grad()
        second(first(x)).mean().backward()
        one.step()
        number = 0
        while epoch == 1 and number < 10 ** 9:
            number += 1
        other.zero_grad()
        second(first(x).detach()).mean().backward()
        other.step()
"""


def test_a_turn_that_is_not_followed_to_its_end_is_no_training_of_its_own() -> None:
    """The steps of the second epoch end within a turn, behind the first of its two optimizers."""
    reports = analyse(Source("train.py", IN_THE_SECOND_EPOCH), Settings()).reports
    assert [(report.kind, report.place, report.parameters) for report in reports] == [("training", (1, 1), 144)]


CUT_ON_THE_OTHER_SIDE = """\
import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--mode", required=True)


PRIMES


def main():
    args = parser.parse_args()
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 10)).cuda()
    if args.mode == "train":
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(100):
            loss = model(torch.rand(64, 1, 28, 28).cuda()).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    elif args.mode == "test":
        primes(100_000)


main()
"""


def test_a_training_keeps_its_optimizer_where_the_other_side_of_its_branch_runs_for_too_long() -> None:
    (report,) = analyse(Source("train.py", CUT_ON_THE_OTHER_SIDE.replace("PRIMES\n", PRIMES)), Settings()).reports
    assert report.training.optimizer.value.name == "adam"
    assert report.training.batch_size.value == 64
