"""Measures training steps of small nets in PyTorch's own CUDA code: fixtures/truth/cuda_live.json.

Run by hand, with a CUDA build of PyTorch and a card (one that only counts will do; cuDNN's workspaces have to be
switched off there):

    python tests/oracle/measure_live.py

Each net of fixtures/live in float32 and under autocast to float16, with Adam: what autograd keeps after the forward
pass, and the most that the third step asks of the allocator, cuBLAS's workspaces left out. The loss is the one that is
assumed where the code has none: cross entropy over the second axis, or a binary one of a single value.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parent))
from torch_measure import cross_entropy, make_target

ROOT = Path(__file__).parents[2]
NETS = ROOT / "fixtures" / "live"
TARGET = ROOT / "fixtures" / "truth" / "cuda_live.json"

CASES: list[tuple[str, int, list[int]]] = [
    ("attention.py::GPT()", 8, [128, 256]),
    ("attention.py::GPT(dropout=0.0)", 8, [100, 256]),
    ("attention.py::WithWeights()", 8, [128, 128]),
    ("attention.py::LengthFirst()", 8, [196, 128]),
    ("attention.py::Encoder()", 8, [128, 256]),
    ("attention.py::Encoder(norm_first=True, activation='gelu')", 8, [128, 256]),
    ("attention.py::Padded()", 16, [64, 128]),
    ("attention.py::Translator()", 8, [64, 128]),
    ("attention.py::Decoder()", 8, [3, 128, 128]),
    ("attention.py::Masked()", 8, [100, 128]),
    ("attention.py::Grouped()", 8, [128, 256]),
    ("attention.py::ByHand()", 8, [128, 128]),
    ("attention.py::ViT()", 16, [3, 96, 96]),
    ("attention.py::Linearised()", 16, [256, 128]),
    ("attention.py::Windowed()", 8, [3, 128, 128]),
    ("attention.py::NonLocal()", 8, [3, 48, 48]),
    ("attention.py::Latents()", 8, [512, 128]),
    ("attention.py::OddHeads()", 8, [128, 160]),
    ("attention.py::TinyHeads()", 8, [128, 80]),
    ("attention.py::InFull()", 8, [128, 128]),
    ("attention.py::Rotary()", 8, [128, 256]),
    ("attention.py::Bert()", 8, [128]),
    ("contexts.py::Chosen(SDPBackend.MATH)", 16, [128, 256]),
    ("contexts.py::Chosen(SDPBackend.EFFICIENT_ATTENTION, dropout=0.1)", 16, [128, 256]),
    ("contexts.py::Chosen([SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION])", 16, [128, 256]),
    ("contexts.py::Chosen([SDPBackend.MATH, SDPBackend.EFFICIENT_ATTENTION], set_priority=True)", 16, [128, 256]),
    ("contexts.py::Outside()", 16, [128, 256]),
    ("contexts.py::Decorated()", 16, [128, 256]),
    ("contexts.py::Switched()", 16, [128, 256]),
    ("contexts.py::Uncached()", 512, [1024]),
    ("contexts.py::Cached()", 512, [1024]),
    ("contexts.py::Regions()", 512, [1024]),
    ("contexts.py::Precise()", 4096, [256]),
    ("contexts.py::Target()", 1024, [512]),
    ("contexts.py::Checkpointed()", 512, [512]),
    ("contexts.py::Checkpointed(reentrant=True)", 512, [512]),
    ("contexts.py::Frozen()", 32, [128, 256]),
    ("maps.py::UNet()", 4, [3, 64, 64]),
    ("maps.py::UNet(mode='bilinear')", 4, [3, 64, 64]),
    ("maps.py::UNet(mode='nearest')", 4, [3, 64, 64]),
    ("maps.py::Denoiser()", 4, [3, 64, 64]),
    ("maps.py::Pyramid()", 8, [3, 96, 96]),
    ("maps.py::Atrous()", 4, [3, 128, 128]),
    ("maps.py::Sharper()", 4, [3, 64, 64]),
    ("maps.py::Volumes()", 2, [1, 16, 48, 48]),
    ("maps.py::ConvNext()", 8, [3, 128, 128]),
    ("maps.py::Squeezed()", 8, [3, 96, 96]),
    ("maps.py::Dense()", 8, [3, 48, 48]),
    ("maps.py::WeightStandard()", 8, [3, 48, 48]),
    ("maps.py::Spectral()", 16, [3, 64, 64]),
    ("maps.py::Warped()", 16, [3, 64, 64]),
    ("sequences.py::LstmCells()", 64, [20, 64]),
    ("sequences.py::GruCells()", 64, [20, 64]),
    ("sequences.py::PlainCells()", 64, [20, 64]),
    ("sequences.py::OwnLstm()", 64, [20, 64]),
    ("sequences.py::ConvCells()", 4, [6, 3, 32, 32]),
    ("sequences.py::Mixer()", 16, [64, 256]),
    ("sequences.py::Gated()", 16, [256, 128]),
    ("sequences.py::Points()", 16, [512, 3]),
    ("sequences.py::Twice()", 2048, [64]),
    ("sequences.py::Highway()", 1024, [64]),
    ("sequences.py::Words()", 64, [200]),
    ("sequences.py::Language()", 8, [64]),
    ("sequences.py::Vae()", 512, [784]),
    ("sequences.py::Focal()", 8, [3, 64, 64]),
    ("sequences.py::Dice()", 8, [3, 64, 64]),
    ("sequences.py::Margin()", 256, [512]),
    ("sequences.py::Smoothed()", 512, [64]),
    ("sequences.py::Distilled()", 512, [256]),
    ("sequences.py::Triplets()", 512, [256]),
    ("sequences.py::Cumulated()", 16, [256, 128]),
    ("sequences.py::Graph()", 32, [128, 64]),
]
TOKENS = ("Bert()", "Words()", "Language()")
"""Nets that are given numbers of words."""
PRECISIONS = {"float32": None, "mixed_float16": torch.float16}


def requested(which: str) -> int:
    return int(torch.cuda.memory_stats()[f"requested_bytes.all.{which}"])


def workspaces() -> int:
    """Bytes of cuBLAS's workspaces, which are let go of."""
    before = requested("current")
    torch._C._cuda_clearCublasWorkspaces()
    return before - requested("current")


def built(target: str) -> nn.Module:
    name, _, expression = target.partition("::")
    spec = importlib.util.spec_from_file_location(Path(name).stem, NETS / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    net = eval(expression, vars(module))
    assert isinstance(net, nn.Module)
    return net


def measure(target: str, batch: int, shape: list[int], half: torch.dtype | None) -> dict[str, int]:
    gc.collect()
    workspaces()
    before = requested("current")
    net = built(target).cuda().train()
    kind = torch.int64 if target.endswith(TOKENS) else torch.float32
    x = torch.zeros(batch, *shape, dtype=kind, device="cuda")
    autocast = torch.autocast("cuda", dtype=half or torch.float16, enabled=half is not None)
    with torch.no_grad():
        y = make_target(net(x)).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(3):
        torch.cuda.reset_peak_memory_stats()
        optimizer.zero_grad(set_to_none=True)
        with autocast:
            loss = cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        del loss
    peak = requested("peak") - before
    optimizer.zero_grad(set_to_none=True)
    gc.collect()
    peak -= workspaces()
    fixed = {t.untyped_storage().data_ptr() for t in (*net.parameters(), *net.buffers())}
    saved: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if tensor.is_cuda and storage.data_ptr() not in fixed:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor), autocast:
        result = net(x)
    del result
    return {"saved_bytes": sum(saved.values()), "peak_bytes": peak}


def main() -> None:
    torch.cuda.init()
    wanted = sys.argv[1:]
    rows: list[dict[str, Any]] = []
    for target, batch, shape in CASES:
        if wanted and not any(each in target for each in wanted):
            continue
        for dtype, half in PRECISIONS.items():
            try:
                found = measure(target, batch, shape, half)
            except RuntimeError as problem:
                # What autocast cannot do stands in no program.
                print(f"{target} {dtype}: {problem}", file=sys.stderr)
                continue
            rows.append({"target": target, "batch_size": batch, "input_shape": shape, "dtype": dtype, **found})
    about = (
        "Training steps of the nets of fixtures/live in PyTorch's own CUDA code, with Adam: bytes that autograd keeps"
        " after the forward pass, and the most that the third step asks of the allocator, cuBLAS's workspaces left"
        " out. Made by tests/oracle/measure_live.py."
    )
    head = json.dumps({"about": about, "torch": torch.__version__, "card": torch.cuda.get_device_name(0)}, indent=1)
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    text = f'{head.removesuffix(chr(10) + "}")},\n "steps": [\n{lines}\n ]\n}}\n'
    if wanted:
        print(text)
    else:
        TARGET.write_text(text)


if __name__ == "__main__":
    main()
