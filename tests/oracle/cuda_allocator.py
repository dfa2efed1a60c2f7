"""What PyTorch's caching allocator does with the tensors of a few steps: fixtures/truth/allocator.json.gz.

Run by hand with a CUDA build of torch, on any card: what kernels compute does not matter, and no size of the card does,
as each case allows itself a fraction of it. Each case is a process of its own, for the allocator's settings are read once.

    python tests/oracle/cuda_allocator.py fixtures/truth/allocator.json.gz
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import subprocess
import sys

CASES = [
    # name, PYTORCH_ALLOC_CONF, MiB that the process may take (0: all), layers, batch
    ("as it comes", "", 0, 7, 16),
    ("as it comes, another size", "", 0, 10, 13),
    ("segments given back", "", 166, 7, 16),
    ("segments given back more than once", "", 146, 9, 11),
    ("no room", "", 124, 7, 16),
    ("large blocks are not split", "max_split_size_mb:24", 0, 7, 48),
    ("large blocks are given back one by one", "max_split_size_mb:24", 640, 7, 48),
    ("large blocks are rounded up further", "max_split_size_mb:32,max_non_split_rounding_mb:64", 0, 10, 45),
    ("sizes in quarters of powers of two", "roundup_power2_divisions:4", 0, 7, 16),
    ("sizes by intervals", "roundup_power2_divisions:[1:8,16:2,64:4,>:1]", 0, 10, 13),
    ("segments grow", "expandable_segments:True", 0, 7, 16),
    ("segments grow and give pages back", "expandable_segments:True", 144, 7, 16),
    ("unused segments are collected", "garbage_collection_threshold:0.6", 190, 7, 16),
    ("larger segments", "large_segment_size_mb:64", 0, 10, 45),
]


def net(layers: int):
    import torch

    def block(given: int, made: int, stride: int) -> list[torch.nn.Module]:
        return [torch.nn.Conv2d(given, made, 3, stride, 1, bias=False), torch.nn.BatchNorm2d(made), torch.nn.ReLU()]

    widths = [3, 24, 48, 40, 96, 72, 160, 136, 288, 320, 416][: layers + 1]
    parts = [each for at, pair in enumerate(itertools.pairwise(widths)) for each in block(*pair, 1 + at % 2)]
    return torch.nn.Sequential(
        *parts, torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(4 * widths[-1], 513)
    )


def measure(settings: str, mib: int, layers: int, batch: int) -> dict[str, object]:
    import torch

    card = torch.cuda.get_device_properties(0).total_memory
    fraction = mib * 2**20 / card
    if mib:
        torch.cuda.set_per_process_memory_fraction(fraction)
    memory = torch.cuda.memory
    memory._record_memory_history(max_entries=1000000, stacks="python", context=None)
    model, failed = net(layers).cuda(), 0
    optimizer = torch.optim.Adam(model.parameters())
    try:
        for _ in range(3):
            x = torch.empty(batch, 3, 112, 112, device="cuda")
            y = torch.zeros(batch, dtype=torch.long, device="cuda")
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            del x, y, loss
    except torch.OutOfMemoryError:
        pass
    stats, trace = memory.memory_stats(), memory._snapshot()["device_traces"][0]
    memory._record_memory_history(enabled=None)
    events: list[int] = []
    made: dict[int, int] = {}
    reserved: list[int] = []
    now = 0
    for event in trace:
        what, at = event["action"], event.get("addr")
        if what in ("segment_alloc", "segment_map"):
            now += event["size"]
        elif what in ("segment_free", "segment_unmap"):
            now -= event["size"]
        elif what == "oom":
            failed = event["size"]
            break
        elif what == "alloc":
            made[at] = len(events)
            events.append(event["size"])
            reserved.append(now)
        elif what == "free_completed" and at in made:
            events.append(-1 - made.pop(at))
            reserved.append(now)
    return {
        "settings": settings, "card": card, "fraction": fraction if mib else 0, "failed": failed, "events": events,
        # Where it changed: (index of the event, bytes).
        "reserved": [[at, one] for at, one in enumerate(reserved) if not at or one != reserved[at - 1]],
        "most_allocated": stats["allocated_bytes.all.peak"], "most_reserved": stats["reserved_bytes.all.peak"],
        "retries": stats["num_alloc_retries"],
    }  # fmt: skip


def main() -> None:
    if len(sys.argv) > 2:
        print(json.dumps(measure(*json.loads(sys.argv[2]))))
        return
    found = []
    for name, settings, *rest in CASES:
        run = [sys.executable, __file__, "", json.dumps([settings, *rest])]
        done = subprocess.run(
            run, capture_output=True, text=True, env={**os.environ, "PYTORCH_ALLOC_CONF": settings}, check=True
        )
        found.append({"name": name, **json.loads(done.stdout.splitlines()[-1])})
        case = found[-1]
        print(name, len(case["events"]), case["most_allocated"], case["most_reserved"], case["retries"], case["failed"])
    import torch

    content = json.dumps({"torch": torch.__version__, "cases": found}).encode()
    with open(sys.argv[1], "wb") as file:
        file.write(gzip.compress(content, mtime=0))


main()
