"""Measures the dtypes that ops give under autocast on CUDA: fixtures/truth/autocast.json.

Run by hand, with a CUDA build of PyTorch and a card (one that only counts will do): `python
tests/oracle/measure_autocast.py`. An op that autocast has a kernel for and of which there is no case is an error.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from autocast_cases import CASES, NOT_CALLED, source

TRUTH = Path(__file__).resolve().parents[2] / "fixtures" / "truth" / "autocast.json"
HALVES = ("float16", "bfloat16")


def given(call: str, half: str) -> str:
    space: dict[str, Any] = {}
    exec(source(call, half), space)
    try:
        result = space["Net"]().cuda()(torch.zeros(4, 8, 8, device="cuda"))
    except (RuntimeError, NotImplementedError) as refused:
        return f"refused: {str(refused).splitlines()[0]}"
    return str(result.dtype).removeprefix("torch.")


def main() -> None:
    names = torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCUDA")
    listed = {name.removeprefix("aten::") for name in names}
    assert listed - NOT_CALLED <= set(CASES), listed - NOT_CALLED - set(CASES)
    rows = {name: {half: given(call, half) for half in HALVES} for name, call in CASES.items()}
    about = "The dtype of each op's result under autocast on CUDA, by the calls of tests/oracle/autocast_cases.py."
    truth = {"about": about, "torch": torch.__version__, "listed": sorted(listed & set(CASES)), "dtypes": rows}
    TRUTH.write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()
