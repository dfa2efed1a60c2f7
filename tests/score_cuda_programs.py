"""Holds what a report for a card says of whole training programs against PyTorch's own CUDA code.

    CNNMEM_ZOO=FOLDER python tests/score_cuda_programs.py [TEXT]

The programs of fixtures/cuda, and one for each of the models of timm that fixtures/truth/cuda.json names: the status
and the errors of the tensors' peak (rounded to blocks here, as it is asked for there), of
torch.cuda.max_memory_allocated and of max_memory_reserved; then the median and the worst of those that are
called exact. timm's need the folder.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flake8_cnnmem.cli import main as cnnmem

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ROOT / "fixtures" / "cuda"
TRUTH: dict[str, Any] = json.loads((ROOT / "fixtures" / "truth" / "cuda.json").read_text())
CARD = "A100-40GB"
FIGURES = ("requested", "allocated", "reserved")
TIMM = ("model", "options", "side", "batch", "optimizer")
"""What a row of timm's says of its program."""
PROGRAM = """\
import timm
import torch
from torch import nn

model = timm.create_model({model!r}, num_classes=100{options}).cuda()
model.train()
optimizer = torch.optim.{optimizer}
scaler = torch.amp.GradScaler("cuda", enabled=False)
for step in range(3):
    x, y = torch.randn({batch}, 3, {side}, {side}, device="cuda"), torch.randint(0, 100, ({batch},), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16, enabled=False):
        loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
"""


@dataclass(frozen=True)
class Score:
    """Errors as fractions; None where there is no figure."""

    status: str
    requested: float | None
    allocated: float | None
    reserved: float | None


def rows() -> Iterator[dict[str, Any]]:
    yield from TRUTH["programs"]
    if "CNNMEM_ZOO" in os.environ:
        yield from TRUTH["timm"]


def name_of(row: dict[str, Any]) -> str:
    return f"{row.get('model') or row['program'].removesuffix('.py')} {row['dtype']}"


def text_of(row: dict[str, Any]) -> str:
    """The program's text; where it is "mixed" with what it has of autocast and of a GradScaler switched on."""
    text = PROGRAM.format(**row) if "model" in row else (PROGRAMS / row["program"]).read_text()
    return text.replace("enabled=False", "enabled=True") if row["dtype"] == "mixed" else text


@cache
def report(text: str) -> dict[str, Any]:
    """What `cnnmem report` says of the largest training of a program."""
    output = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(output):
        path = Path(folder) / "program.py"
        path.write_text(text)
        options = ["--format", "json", "--gpu-limit", CARD]
        if "CNNMEM_ZOO" in os.environ:
            options += ["--search-path", os.environ["CNNMEM_ZOO"]]
        with contextlib.suppress(SystemExit):
            cnnmem(["report", str(path), *options])
    found = [entry for entry in json.loads(output.getvalue())["models"] if entry["kind"] == "training"]
    return max(found, key=lambda entry: int(entry["memory"]["total"] or 0))


def score(row: dict[str, Any]) -> Score:
    entry = report(text_of(row))
    memory = entry["memory"]
    wanted = (row["requested"] - row["workspaces"], row["allocated"], row["reserved"])
    said = (memory["tensor_peak"], memory.get("allocated"), memory.get("reserved"))
    errors = [None if mine is None else mine / theirs - 1 for mine, theirs in zip(said, wanted, strict=True)]
    return Score(entry["status"], *errors)


def main() -> None:
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    scores = []
    for row in rows():
        if only not in name_of(row):
            continue
        found = score(row)
        scores.append(found)
        errors = [getattr(found, figure) for figure in FIGURES]
        shown = "  ".join("    none" if error is None else f"{error:+8.3%}" for error in errors)
        print(f"{name_of(row):44} {found.status:12} {shown}", flush=True)
    exact = [found for found in scores if found.status == "exact"]
    print(f"torch {TRUTH['torch']}, {CARD}: {len(exact)} of {len(scores)} exact")
    for figure in FIGURES:
        errors = sorted(abs(error) for found in exact if (error := getattr(found, figure)) is not None)
        high = errors[-(-len(errors) * 95 // 100) - 1]
        print(f"{figure}: median {statistics.median(errors):.3%}, 95th percentile {high:.3%}, worst {errors[-1]:.3%}")


if __name__ == "__main__":
    main()
