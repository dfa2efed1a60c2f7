"""Measures what single ops keep and ask for in PyTorch's own CUDA code: fixtures/truth/cuda_ops.json.

The cases of torch_ops.py, each between a convolution and a mean squared error, in float32 and under autocast to
float16. Run by hand, with a CUDA build of PyTorch and a card (one that only counts will do; cuDNN's workspaces have
to be switched off there):

    python tests/oracle/cuda_ops.py
"""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
from cuda_op_cases import CASES as CUDA_CASES
from torch_op_cases import MORE
from torch_ops import BATCH, CASES, SHAPE, net

TARGET = Path(__file__).parents[2] / "fixtures" / "truth" / "cuda_ops.json"
STEPS = 2


def requested(which: str) -> int:
    return int(torch.cuda.memory_stats()[f"requested_bytes.all.{which}"])


def workspaces() -> int:
    """Bytes of cuBLAS's workspaces, which are let go of."""
    before = requested("current")
    torch._C._cuda_clearCublasWorkspaces()
    return before - requested("current")


def step(model: nn.Module, x: torch.Tensor, target: torch.Tensor, half: torch.dtype | None) -> None:
    """The loss is taken inside of autocast, as most programs do."""
    with torch.autocast("cuda", dtype=half or torch.float16, enabled=half is not None):
        loss = F.mse_loss(model(x), target)
    loss.backward()


def measure(make: str, apply: str, half: torch.dtype | None) -> tuple[int, int]:
    """Bytes kept for the backward pass, and the most that is asked for in a step, the gradients cleared before."""
    torch.set_default_device("cuda")
    gc.collect()
    workspaces()
    before = requested("current")
    model = net(make, apply).cuda().train()
    x = torch.zeros(BATCH, *SHAPE)
    with torch.no_grad():
        target = torch.zeros(model(x).shape)
    for _ in range(STEPS):
        model.zero_grad(set_to_none=True)
        torch.cuda.reset_peak_memory_stats()
        step(model, x, target, half)
    peak = requested("peak") - before
    model.zero_grad(set_to_none=True)
    peak -= workspaces()
    fixed = {t.untyped_storage().data_ptr() for t in (*model.parameters(), *model.buffers())}
    saved: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if tensor.is_cuda and storage.data_ptr() not in fixed:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    autocast = torch.autocast("cuda", dtype=half or torch.float16, enabled=half is not None)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), autocast:
        result = model(x)
    del result
    return sum(saved.values()), peak


def main() -> None:
    torch.cuda.init()
    rows: list[dict[str, Any]] = []
    for make, apply in [*CASES, *MORE, *CUDA_CASES]:
        row: dict[str, Any] = {"make": make, "apply": apply}
        for name, half in (("float32", None), ("mixed_float16", torch.float16)):
            try:
                row[name] = measure(make, apply, half)
            except (RuntimeError, NotImplementedError) as problem:
                # What autocast cannot do stands in no program.
                print(f"{make}; {apply}; {name}: {str(problem).splitlines()[0]}", file=sys.stderr)
        rows.append(row)
    content = {
        "about": "Single ops between a 1x1 convolution and a mean squared error, as PyTorch's CUDA code runs them: "
        "bytes kept for the backward pass, and the most that a step asks of the allocator, cuBLAS's workspaces left "
        "out; in float32 and under autocast to float16. Made by tests/oracle/cuda_ops.py.",
        "torch": torch.__version__,
        "card": torch.cuda.get_device_name(0),
        "input_shape": SHAPE,
        "batch_size": BATCH,
    }
    head = json.dumps(content, indent=1).removesuffix("\n}")
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    TARGET.write_text(f'{head},\n "ops": [\n{lines}\n ]\n}}\n')


if __name__ == "__main__":
    main()
