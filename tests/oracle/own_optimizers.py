"""Measures what the optimizers of fixtures/optimizers keep and make, with torch on the CPU: fixtures/truth/own_optimizers.json.

Each program is run as it stands. At its end: the bytes of all tensors that the optimizer holds, parameters and gradients
left out, each storage once, those of one value counted apart; and the most that one of its last steps made for a
moment: some do more every so many steps. Run by hand: `python tests/oracle/own_optimizers.py`.
"""

from __future__ import annotations

import json
import runpy
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
from torch_measure import LiveStorages

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "fixtures" / "optimizers"
TARGET = ROOT / "fixtures" / "truth" / "own_optimizers.json"
LAST = 6
"""Steps of which the one that makes most is told."""

NOT_LOOKED_INTO = (nn.Module, type, types.FunctionType, types.MethodType, str, int, float)


def held(value: Any, seen: set[int]) -> Iterator[torch.Tensor]:
    """The tensors in what an optimizer holds."""
    if value is None or isinstance(value, NOT_LOOKED_INTO) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key != "params":
                yield from held(item, seen)
    elif isinstance(value, (list, tuple, set)):
        for item in value:
            yield from held(item, seen)
    elif hasattr(value, "__dict__"):
        yield from held(vars(value), seen)


def measured(path: Path) -> dict[str, int]:
    steps: list[tuple[Any, int]] = []
    hooked = torch.optim.Optimizer.profile_hook_step
    depth = 0

    def watched(step: Any) -> Any:
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            before = live.live
            if not depth:
                live.peak = before
            depth += 1
            try:
                return step(self, *args, **kwargs)
            finally:
                depth -= 1
                if not depth:
                    steps.append((self, live.peak - before))

        run.hooked = True  # type: ignore[attr-defined]
        return run

    torch.optim.Optimizer.profile_hook_step = staticmethod(watched)  # type: ignore[method-assign,assignment]
    try:
        with LiveStorages() as live, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            names = runpy.run_path(str(path))
    finally:
        torch.optim.Optimizer.profile_hook_step = hooked  # type: ignore[method-assign]
    optimizer = names["optimizer"]
    model = names["model"]
    own: set[int] = set()
    large = small = 0
    for tensor in held(optimizer, set()):
        storage = tensor.untyped_storage()
        if isinstance(tensor, nn.Parameter) or storage.data_ptr() in own:
            continue
        own.add(storage.data_ptr())
        if tensor.numel() > 1:
            large += storage.nbytes()
        else:
            small += 1
    return {
        "parameters": sum(p.numel() for p in model.parameters()) * 4,
        "state": large,
        "scalars": small,
        "temporaries": max((made for _, made in steps[1:][-LAST:]), default=0),
    }


def main() -> None:
    records = {path.stem: measured(path) for path in sorted(PROGRAMS.glob("*.py"))}
    about = (
        "Measured with torch on the CPU at the end of each program of fixtures/optimizers: bytes of the tensors that its"
        " optimizer holds (those of one value counted apart), and the most that one of its last six steps made for a moment, in blocks of 512."
    )
    content = {"about": about, "torch": torch.__version__.partition("+")[0], "optimizers": records}
    TARGET.write_text(json.dumps(content, indent=1) + "\n")
    print(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
