"""Measures what `scaled_dot_product_attention` takes in PyTorch's CUDA code: fixtures/truth/cuda_attention.json.

Run by hand, with a CUDA build of PyTorch and a card (one that only counts will do):

    python tests/oracle/measure_attention.py NAME

writes the cases of the card at hand under NAME over what the truth holds of it: the node that goes back through the
kernel, the strides of the result, what is kept beside q, k, v and the result, and what the way back asks for beside the
three gradients.
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

TRUTH = Path(__file__).resolve().parents[2] / "fixtures" / "truth" / "cuda_attention.json"
DEFAULTS: dict[str, Any] = {
    "batch": 16, "heads": 8, "shared": 1, "queries": 256, "keys": 256, "width": 64, "value_width": None,
    "mask": None, "dropout": 0.0, "causal": False, "inside": False,
}  # fmt: skip
VARIED: list[dict[str, Any]] = [
    {},
    {"inside": True},
    *({"width": width} for width in (5, 20, 32, 36, 80, 96, 128, 160, 192, 256, 512)),
    *({"queries": length, "keys": length} for length in (50, 65, 128, 129, 197, 1024)),
    {"queries": 64, "keys": 300},
    {"queries": 300, "keys": 64, "width": 32},
    {"batch": 64, "queries": 64, "keys": 64, "width": 128},
    {"dropout": 0.1},
    {"causal": True},
    {"mask": [1, 1, 256, 256]},
    {"mask": [16, 1, 1, 256]},
    {"mask": [1, 1, 197, 197], "queries": 197, "keys": 197},
    {"shared": 2},
    {"value_width": 32},
]
DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def requested(which: str) -> int:
    return int(torch.cuda.memory_stats()[f"requested_bytes.all.{which}"])


def operand(case: dict[str, Any], dtype: torch.dtype, heads: int, length: int, width: int) -> torch.Tensor:
    """With heads outside of the positions, or inside."""
    if case["inside"]:
        x = torch.empty(case["batch"], length, heads, width, device="cuda", dtype=dtype).transpose(1, 2)
        return x.detach().requires_grad_(True)
    return torch.empty(case["batch"], heads, length, width, device="cuda", dtype=dtype, requires_grad=True)


def measure(case: dict[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    torch._C._cuda_clearCublasWorkspaces()
    heads, shared = case["heads"], case["heads"] // case["shared"]
    q = operand(case, dtype, heads, case["queries"], case["width"])
    k = operand(case, dtype, shared, case["keys"], case["width"])
    v = operand(case, dtype, shared, case["keys"], case["value_width"] or case["width"])
    mask = None if case["mask"] is None else torch.empty(*case["mask"], device="cuda", dtype=dtype)
    gc.collect()
    before = requested("current")
    options = {"dropout_p": case["dropout"], "is_causal": case["causal"], "enable_gqa": case["shared"] > 1}
    y = F.scaled_dot_product_attention(q, k, v, mask, **options)
    kept = requested("current") - before - y.numel() * y.element_size()
    found = {"node": type(y.grad_fn).__name__, "strides": list(y.stride()), "kept": kept}
    gradient = torch.empty_like(y)
    torch.cuda.reset_peak_memory_stats()
    before = requested("current")
    gradients = torch.autograd.grad(y, [q, k, v], gradient)
    beside = requested("peak") - before - sum(one.numel() * one.element_size() for one in gradients)
    return {**found, "backward": beside}


def main() -> None:
    torch.cuda.init()
    truth: dict[str, Any] = json.loads(TRUTH.read_text()) if TRUTH.exists() else {}
    truth.setdefault(
        "about",
        "scaled_dot_product_attention in PyTorch's CUDA code, by card: the node behind the result, its strides, bytes"
        " kept beside q, k, v and the result, and bytes that the way back asks for beside the three gradients. Made by"
        " tests/oracle/measure_attention.py.",
    )
    truth.setdefault("torch", torch.__version__)
    truth.setdefault("defaults", DEFAULTS)
    rows = []
    for name, dtype in DTYPES.items():
        for varied in VARIED:
            try:
                rows.append({**varied, "dtype": name, **measure({**DEFAULTS, **varied}, dtype)})
            except RuntimeError as problem:
                print(name, varied, str(problem).splitlines()[0], file=sys.stderr)
    truth.setdefault("cards", {})[sys.argv[1]] = rows
    text = json.dumps({**truth, "cards": {name: f"@{name}" for name in truth["cards"]}}, indent=1)
    for name, found in truth["cards"].items():
        lines = ",\n".join(f"   {json.dumps(row)}" for row in found)
        text = text.replace(f'"@{name}"', f"[\n{lines}\n  ]")
    TRUTH.write_text(text + "\n")


if __name__ == "__main__":
    main()
