"""Holds the memory of torchvision's classifiers and of eight optimizers against PyTorch's own CUDA code.

    CNNMEM_ZOO=FOLDER python tests/score_cuda_zoo.py [NAME]

Every step of fixtures/truth/cuda_zoo.json that is off, then by group the median, the 95th percentile and the worst
error of the live tensors, of torch.cuda.max_memory_allocated and of max_memory_reserved.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from flake8_cnnmem.frameworks.torch.saved_tensors import RULES
from flake8_cnnmem.graph import Model
from flake8_cnnmem.memory import account, framework
from flake8_cnnmem.memory.chips import CHIPS
from flake8_cnnmem.training import Fact
from tests.memory.evaluated import named, training_of, truth

TRUTH = truth("cuda_zoo")
CARD = TRUTH["card"]
STEPS: list[dict[str, Any]] = [dict(zip(TRUTH["keys"], row, strict=True)) for row in TRUTH["rows"]]
FIGURES = ("live", "allocated", "reserved")
AIMS = {"live": (0.0002, 0.001), "allocated": (0.001, 0.005), "reserved": (0.005, 0.02)}
"""The median and the worst error that are aimed at."""
UNROUNDED = replace(RULES, alignment=1)
ATTENTION = ("vit_", "swin_", "maxvit")
"""What has attention: torchvision's transformers."""


@dataclass(frozen=True)
class Score:
    """Errors as fractions."""

    live: float
    allocated: float
    reserved: float


@cache
def built(target: str, side: int) -> Model:
    return named(target, (3, side, side))


def score(step: dict[str, Any]) -> Score:
    training = replace(training_of(step), loss=Fact("cross_entropy", "default"))
    model = built(step["target"], step["side"])
    live = framework.estimate(model, training, 0, UNROUNDED, CHIPS[CARD]).tensor_peak
    found = account(model, training, "framework", 0, CARD)
    assert live is not None
    assert found.allocated is not None
    assert found.reserved is not None
    return Score(
        live / step["live"] - 1, found.allocated / step["allocated"] - 1, found.reserved / step["reserved"] - 1
    )


def name_of(step: dict[str, Any]) -> str:
    options = "".join(f" {key} {value}" for key, value in step["options"].items())
    return f"{step['target'].rpartition('::')[2]} {step['optimizer']}{options} {step['dtype']}"


def group_of(step: dict[str, Any]) -> str:
    if step["optimizer"] != "adam" or step["options"]:
        return "optimizers, float32"
    name = step["target"].rpartition("::")[2]
    return f"{'transformers' if name.startswith(ATTENTION) else 'CNNs'}, {step['dtype']}"


def is_off(found: Score) -> bool:
    """Whether a figure is farther off than the worst that is aimed at."""
    return any(abs(getattr(found, figure)) > AIMS[figure][1] for figure in FIGURES)


def summary(scores: Sequence[tuple[str, Score]]) -> Iterator[str]:
    for group in dict.fromkeys(name for name, _ in scores):
        mine = [found for name, found in scores if name == group]
        parts = []
        for figure in FIGURES:
            errors = sorted(abs(getattr(found, figure)) for found in mine)
            high = errors[-(-len(errors) * 95 // 100) - 1]
            parts.append(f"{figure} {statistics.median(errors):.3%} / {high:.3%} / {errors[-1]:.3%}")
        yield f"{group} ({len(mine)}): {', '.join(parts)}"


def main() -> None:
    scores = []
    for step in STEPS:
        if len(sys.argv) > 1 and sys.argv[1] not in name_of(step):
            continue
        found = score(step)
        scores.append((group_of(step), found))
        if is_off(found) or len(sys.argv) > 1:
            errors = ", ".join(f"{figure} {getattr(found, figure):+.3%}" for figure in FIGURES)
            print(f"{name_of(step):60} {errors}", flush=True)
    print(f"torch {TRUTH['torch']}, torchvision {TRUTH['torchvision']}, {CARD}; median / 95th percentile / worst")
    print("\n".join(summary(scores)))


if __name__ == "__main__":
    main()
