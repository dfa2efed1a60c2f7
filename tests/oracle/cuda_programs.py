"""Measures what the training programs of fixtures/cuda, and of timm's models, ask of PyTorch's CUDA allocator: the keys
"programs" and "timm" of fixtures/truth/cuda.json.

Run by hand, with a CUDA build of PyTorch and a card (one that only counts will do; cuDNN's workspaces have to be
switched off there), and timm on the path for its models:

    python tests/oracle/cuda_programs.py [TEXT]

Each program in float32, and with autocast and its GradScaler switched on where it has them; each in a process of its
own. With TEXT only those whose name contains it are measured anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.score_cuda_programs import FIGURES, PROGRAMS, TIMM, name_of, text_of

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "fixtures" / "truth" / "cuda.json"


def cases() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {"programs": [], "timm": []}
    named = [("programs", {"program": path.name}) for path in sorted(PROGRAMS.glob("*.py"))]
    known = json.loads(TRUTH.read_text())["timm"]
    named += [("timm", {key: row[key] for key in TIMM}) for row in known if row["dtype"] == "float32"]
    for key, case in named:
        for dtype in ("float32", "mixed"):
            row = {**case, "dtype": dtype}
            if dtype == "float32" or text_of(row) != text_of({**case, "dtype": "float32"}):
                found[key].append(row)
    return found


def measure(text: str) -> dict[str, int]:
    import torch
    from measure_programs import answer_for_values, measure

    answer_for_values()
    # Distributions ask whether their arguments are valid numbers.
    asked = torch._is_all_true
    torch._is_all_true = lambda value: (asked(value), True)[1]  # type: ignore[assignment]
    row = measure(Path("program.py"), text, 0)["phases"][-1]
    figures = dict(zip(FIGURES, ("requested_peak", "allocated_peak", "reserved_peak"), strict=True))
    return {**{figure: row[name] for figure, name in figures.items()}, "workspaces": row["workspaces"]}


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.stdin.read())))
        sys.stdout.flush()
        os._exit(0)
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    content = json.loads(TRUTH.read_text())
    for key, rows in cases().items():
        before = {name_of(row): row for row in content[key]}
        for row in rows:
            if name_of(row) in before and (not only or only not in name_of(row)):
                row |= before[name_of(row)]
                continue
            command = [sys.executable, __file__, "--one"]
            done = subprocess.run(command, input=text_of(row), capture_output=True, text=True, check=True)
            row |= json.loads(done.stdout.splitlines()[-1])
            print(name_of(row), row, flush=True)
        content[key] = rows
    write(content)


def write(content: dict[str, Any]) -> None:
    """A row a line."""
    parts = []
    for key, value in content.items():
        rows = isinstance(value, list) and value and isinstance(value[0], dict)
        lines = ",\n  ".join(json.dumps(each) for each in value) if rows else ""
        parts.append(f" {json.dumps(key)}: [\n  {lines}\n ]" if rows else f" {json.dumps(key)}: {json.dumps(value)}")
    TRUTH.write_text("{\n" + ",\n".join(parts) + "\n}\n")


if __name__ == "__main__":
    main()
