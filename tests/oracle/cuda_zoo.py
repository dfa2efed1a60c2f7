"""What PyTorch's CUDA code allocates for torchvision's classifiers and under its optimizers: fixtures/truth/cuda_zoo.json.

Run by hand with a CUDA build of torch, and torchvision's sources on the path; kernels may do nothing, as only the
allocator is asked (cuDNN's workspaces have to be switched off there). Cases that the file has are not measured again.

    python tests/oracle/cuda_zoo.py fixtures/truth/cuda_zoo.json

Every classifier of torchvision in float32 and under autocast to float16 with Adam, and eight optimizers on a dozen of
them. Weights are left as they are allocated: no figure depends on their values.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))
import torchvision_ops  # noqa: F401  (before torchvision)
from cuda_steps import CLASSES, ROOT, built

LIST = ROOT / "fixtures" / "truth" / "torchvision.json"
BATCHES = (16, 4)
"""The second where the first needs more than the card has."""
DOZEN = (
    "alexnet()", "convnext_tiny()", "densenet121()", "efficientnet_b0()", "mobilenet_v3_large()", "regnet_y_400mf()",
    "resnet50()", "shufflenet_v2_x1_0()", "squeezenet1_1()", "swin_t()", "vgg16()", "vit_b_16()",
)  # fmt: skip
OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("sgd", {}), ("sgd", {"momentum": 0.9}), ("adamw", {}), ("rmsprop", {}), ("adagrad", {}), ("adadelta", {}),
    ("nadam", {}), ("adam", {"foreach": False}),
]  # fmt: skip
KEYS = ("target", "side", "batch_size", "optimizer", "options", "dtype", "live", "allocated", "reserved")
"""The columns of a row."""


def cases() -> list[tuple[Any, ...]]:
    targets = [each["target"] for each in json.loads(LIST.read_text())["models"]]
    found: list[tuple[Any, ...]] = []
    for dtype in ("float32", "mixed_float16"):
        found += [(target, side_of(target), "adam", {}, dtype) for target in targets]
    for target in targets:
        if target.endswith(DOZEN):
            found += [(target, side_of(target), name, options, "float32") for name, options in OPTIMIZERS]
    return found


def side_of(target: str) -> int:
    return 299 if "inception_v3" in target else 224


def first(out: Any) -> Any:
    while not isinstance(out, torch.Tensor):
        out = out[0] if isinstance(out, (tuple, list)) else next(iter(out.values()))
    return out


def measure(target: str, side: int, batch: int, name: str, options: dict[str, Any], dtype: str) -> list[int]:
    """Bytes: what the third step asks for at most, without cuBLAS's workspaces; allocated and reserved at most."""
    for key, function in vars(torch.nn.init).items():
        if key.endswith("_") and callable(function):
            setattr(torch.nn.init, key, lambda tensor, *_, **__: tensor)
    model = built(target).cuda().train()
    optimizer = getattr(torch.optim, CLASSES[name])(model.parameters(), **{"lr": 0.1, **options})
    cuda, allocated = torch.cuda, 0

    def step() -> None:
        x = torch.empty(batch, 3, side, side, device="cuda")
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=dtype != "float32"):
            out = first(model(x))
            y = torch.zeros(batch, dtype=torch.long, device="cuda")
            loss = torch.nn.functional.cross_entropy(out, y)
        del out
        loss.backward()
        optimizer.step()

    for _ in range(3):
        allocated = max(allocated, cuda.max_memory_allocated())
        cuda.reset_peak_memory_stats()
        step()
    allocated = max(allocated, cuda.max_memory_allocated())
    live, reserved = cuda.memory_stats()["requested_bytes.all.peak"], cuda.memory_stats()["reserved_bytes.all.peak"]
    gc.collect()
    before = cuda.memory_stats()["requested_bytes.all.current"]
    torch._C._cuda_clearCublasWorkspaces()
    return [live - before + cuda.memory_stats()["requested_bytes.all.current"], allocated, reserved]


def apart(*case: Any) -> list[int] | str:
    """`measure` in a process of its own; the error where there is one."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answer: list[int] | str = measure(*case)
        except BaseException:
            answer = traceback.format_exc().strip().splitlines()[-1]
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else "ended"  # type: ignore[no-any-return]


def main() -> None:
    path = Path(sys.argv[1])
    rows: list[list[Any]] = json.loads(path.read_text())["rows"] if path.exists() else []
    known = {json.dumps([*row[:2], *row[3:6]]) for row in rows}
    for case in cases():
        if json.dumps(case) in known:
            continue
        answer: list[int] | str = ""
        for batch in BATCHES:
            answer = apart(*case[:2], batch, *case[2:])
            if not isinstance(answer, str):
                rows.append([*case[:2], batch, *case[2:], *answer])
                break
        print(*case, answer, flush=True)
        write(path, rows)


def write(path: Path, rows: list[list[Any]]) -> None:
    about = (
        "Training steps of torchvision's classifiers in PyTorch's own CUDA code, cuDNN's workspaces left out: bytes that"
        " the third step asks for at most, cuBLAS's workspaces left out (live), torch.cuda.max_memory_allocated and"
        " max_memory_reserved of the first three steps. Made by tests/oracle/cuda_zoo.py."
    )
    head = {"about": about, "torch": torch.__version__, "torchvision": "0.28.0", "keys": KEYS}
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    path.write_text(json.dumps(head | {"card": "A100-40GB"}, indent=1)[:-2] + f',\n "rows": [\n{lines}\n ]\n}}\n')


if __name__ == "__main__":
    main()
