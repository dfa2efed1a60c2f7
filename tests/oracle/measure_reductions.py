"""Measures what a sum over some axes asks of PyTorch's CUDA allocator beside its result: fixtures/truth/reductions.json.

Run by hand, with a CUDA build of PyTorch and a card (one that only counts will do):

    python tests/oracle/measure_reductions.py NAME

writes the cases of the card at hand under NAME over what the truth holds of it. A sum whose rows are too many for the
threads of a block is split over blocks, which leave their parts in memory: twice the summed tensor in float32 where a
Linear layer's gradient is summed over a thousand rows for its bias. How it is split depends on the card.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from pathlib import Path
from typing import Any

import torch

TRUTH = Path(__file__).resolve().parents[2] / "fixtures" / "truth" / "reductions.json"
SIZES = [1, 3, 8, 10, 17, 32, 64, 100, 128, 196, 256, 300, 512, 768, 1000, 1024, 1500, 2048, 3000, 4096, 10000]


def cases() -> list[tuple[list[int], list[int], str]]:
    """Gradients of Linear layers first: rows by features, batch by length by features."""
    rows = [64, 512, 1000, 1020, 1021, 1024, 2048, 8192, 40000]
    found = [
        ([n, c], [0], "float32") for n, c in itertools.product(rows, [1, 10, 100, 127, 768, 1000, 3072, 4096, 50257])
    ]
    found += [
        ([8, length, c], [0, 1], "float32") for length, c in itertools.product([128, 197, 1024], [320, 768, 2304])
    ]
    found += [([n, c], [0], dtype) for n in (1024, 5000) for c in (10, 768, 4096) for dtype in ("float16", "bfloat16")]
    choose = random.Random(0)
    while len(found) < 240:
        shape = [choose.choice(SIZES) for _ in range(choose.choice([1, 2, 2, 3, 3, 4]))]
        axes = sorted(choose.sample(range(len(shape)), choose.randint(1, len(shape))))
        if torch.Size(shape).numel() <= 10**8:
            found.append((shape, axes, choose.choice(["float32", "float32", "float16", "bfloat16"])))
    return found


def beside(shape: list[int], axes: list[int], dtype: str) -> int:
    """Bytes that are asked for beside the result, while the sum is made."""
    x = torch.zeros(shape, device="cuda", dtype=getattr(torch, dtype))
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_stats()["requested_bytes.all.current"]
    y = x.sum(axes)
    return int(torch.cuda.memory_stats()["requested_bytes.all.peak"] - before - y.numel() * y.element_size())


def main() -> None:
    truth: dict[str, Any] = json.loads(TRUTH.read_text()) if TRUTH.exists() else {}
    card = torch.cuda.get_device_properties(0)
    truth.setdefault(
        "about",
        "Bytes that a sum over some axes of a contiguous tensor asks for beside its result, as PyTorch's own CUDA code "
        "does, by card; made by tests/oracle/measure_reductions.py. cases: shape, summed axes, dtype, bytes.",
    )
    truth.setdefault("versions", {})["torch"] = torch.__version__.split("+")[0]
    truth.setdefault("cards", {})[sys.argv[1]] = {
        "multiprocessors": card.multi_processor_count,
        "threads_per_multiprocessor": card.max_threads_per_multi_processor,
        "cases": [[shape, axes, dtype, beside(shape, axes, dtype)] for shape, axes, dtype in cases()],
    }
    text = json.dumps(
        {**truth, "cards": {name: {**data, "cases": f"@{name}"} for name, data in truth["cards"].items()}}, indent=1
    )
    for name, data in truth["cards"].items():
        # A case a line.
        rows = ",\n".join(f"    {json.dumps(case)}" for case in data["cases"])
        text = text.replace(f'"@{name}"', f"[\n{rows}\n   ]")
    TRUTH.write_text(text + "\n")


if __name__ == "__main__":
    main()
