"""Measures what the programs of a folder (random_programs.py) ask of PyTorch's CUDA allocator: FOLDER/truth.json.

    python tests/oracle/measure_random_programs.py FOLDER

Run by hand with a CUDA build of PyTorch and a card; one that only counts will do, no value is looked at. Of each program
the bytes at its peak beyond what was there before it. All run in one process that has multiplied matrices on both of
autograd's threads, so that cuBLAS's workspaces are there before the first. A program that fails leaves its error.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import torch


def requested(which: str) -> int:
    return int(torch.cuda.memory_stats()[f"requested_bytes.all.{which}"])


def warm_up() -> None:
    layer = torch.nn.Linear(4, 4).cuda()
    layer(torch.zeros(2, 4, device="cuda")).sum().backward()


def measured(path: Path) -> dict[str, object]:
    gc.collect()
    torch.cuda.reset_peak_memory_stats()
    before = requested("current")
    try:
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
    except Exception as failure:
        return {"error": f"{type(failure).__name__}: {failure}"[:300]}
    return {"requested": requested("peak") - before}


def main() -> None:
    folder = Path(sys.argv[1])
    warm_up()
    # What is there now stays: each program's collection looks at that program alone.
    gc.freeze()
    found = {path.name: measured(path) for path in sorted(folder.glob("*.py"))}
    (folder / "truth.json").write_text(json.dumps({"torch": torch.__version__, "programs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
