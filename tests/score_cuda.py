"""Holds what a report for a card says of allocated and reserved memory against PyTorch's own CUDA code.

    CNNMEM_ZOO=FOLDER python tests/score_cuda.py

One line for each step of fixtures/truth/cuda.json, then the median and the worst error, and the largest batches.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from flake8_cnnmem.graph import Model
from flake8_cnnmem.memory import account, gpus
from flake8_cnnmem.training import Fact
from tests.memory.evaluated import named, training_of, truth

TRUTH = truth("cuda")
STEPS: list[dict[str, Any]] = TRUTH["steps"]
LARGEST: list[dict[str, Any]] = TRUTH["largest"]
CARD = "A100-40GB"
MIB = 1024 * 1024


@dataclass(frozen=True)
class Score:
    """Errors as fractions."""

    allocated: float
    reserved: float


@cache
def built(target: str, input_shape: tuple[int, ...]) -> Model:
    return named(target, input_shape)


def score(row: dict[str, Any]) -> Score:
    """The errors of a step's figures."""
    case = row["case"]
    training = replace(training_of(case), loss=Fact("cross_entropy", "default"))
    found = account(built(case["target"], tuple(case["input_shape"])), training, "framework", 0, CARD)
    assert found.allocated is not None
    assert found.reserved is not None
    return Score(found.allocated / row["allocated"] - 1, found.reserved / row["reserved"] - 1)


def largest(row: dict[str, Any]) -> int:
    """Our largest batch for a row."""
    case = row["case"]
    training = replace(training_of(case), loss=Fact("cross_entropy", "default"))
    found = account(built(case["target"], tuple(case["input_shape"])), training, "framework", 0, row["card"])
    return found.largest_batch(gpus.find(row["card"]).mib * MIB)


def name_of(row: dict[str, Any]) -> str:
    case = row["case"]
    options = "".join(f" {key} {value}" for key, value in case.get("options", {}).items())
    where = case["target"].removeprefix("fixtures/models/torch/").removeprefix("torchvision/models/")
    return f"{where} {case['optimizer']}{options} {case['dtype']}"


def main() -> None:
    scores = []
    for row in STEPS:
        found = score(row)
        scores.append(found)
        print(f"{name_of(row):90} allocated {found.allocated:+8.3%}  reserved {found.reserved:+8.3%}", flush=True)
    for what in ("allocated", "reserved"):
        errors = [abs(getattr(each, what)) for each in scores]
        print(f"{what}: median {statistics.median(errors):.3%}, worst {max(errors):.3%} of {len(errors)}")
    for row in LARGEST:
        print(f"{name_of(row):90} {row['card']:10} largest batch {largest(row)}, PyTorch's {row['largest_batch']}")


if __name__ == "__main__":
    print(json.dumps({"torch": TRUTH["torch"], "card": TRUTH["card"]}))
    main()
