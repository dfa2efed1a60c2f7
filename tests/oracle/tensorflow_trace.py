"""What lies in TensorFlow's memory during one step, from its own allocator's trace on the CPU.

`TF_CPU_ALLOCATOR_USE_BFC` puts the CPU on the allocator that GPUs use; the profiler's MemoryAllocation and
MemoryDeallocation events name the op, the shape and the kind of every tensor. What the CPU's kernels use as scratch
(tensors of the kind "temp" in convolutions and poolings, and those without an op: code that XLA compiled for the CPU) is
left out: a GPU's kernels have their own. Other kernels' results are of that kind, too: a variable's new value
(PrepareToUpdateVariable of training_op_helpers.h), an Einsum, a reduction.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPU_ALLOCATOR_USE_BFC", "true")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# oneDNN's kernels put copies in their own layouts beside the tensors; a GPU has none of them.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tensorflow as tf  # type: ignore[import-not-found,import-untyped,unused-ignore]

BLOCK = 256
"""What TensorFlow's allocator rounds every tensor up to (kMinAllocationSize of bfc_allocator.h)."""
ALLOCATOR = "bfc"
SCRATCH = re.compile(r"(conv|pool|depthwise)[^/]*$", re.IGNORECASE)
"""Ops whose kernels on the CPU take scratch, by the last part of their names."""


@dataclass(frozen=True, slots=True)
class Event:
    """One allocation (`size` > 0) or release (< 0), rounded to blocks. `op` and `shape` are "" where unknown."""

    address: int
    size: int
    op: str
    shape: str
    temporary: bool


def rounded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def trace(run: Callable[[], object]) -> list[Event]:
    """The allocator's events while `run` runs, in order."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2  # type: ignore[import-not-found,unused-ignore]

    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=3, python_tracer_level=0)
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder, options)
        run()
        tf.profiler.experimental.stop()
        (path,) = Path(folder).rglob("*.xplane.pb")
        space = xplane_pb2.XSpace()
        space.ParseFromString(path.read_bytes())
    found: list[tuple[int, Event]] = []
    for plane in space.planes:
        kinds = {key: metadata.name for key, metadata in plane.event_metadata.items()}
        names = {key: metadata.name for key, metadata in plane.stat_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                kind = kinds[event.metadata_id]
                if kind not in ("MemoryAllocation", "MemoryDeallocation"):
                    continue
                stats = {names[stat.metadata_id]: value_of(stat, names) for stat in event.stats}
                if ALLOCATOR in str(stats.get("allocator_name", "")):
                    found.append((line.timestamp_ns * 1000 + event.offset_ps, event_of(kind, stats)))
    found.sort(key=lambda item: item[0])
    return [event for _, event in found]


def value_of(stat: Any, names: dict[int, str]) -> Any:
    which = stat.WhichOneof("value")
    value = getattr(stat, which)
    return names[value] if which == "ref_value" else value


def event_of(kind: str, stats: dict[str, Any]) -> Event:
    size = rounded(int(stats["requested_bytes"]))
    op = str(stats.get("tf_op", ""))
    released = kind == "MemoryDeallocation"
    return Event(
        int(stats["addr"]),
        -size if released else size,
        op,
        str(stats.get("shape", "")),
        not released and (not op or (stats.get("region_type") == "temp" and SCRATCH.search(op) is not None)),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """Bytes beyond what lay there before the step: at its highest, and when the forward pass had ended."""

    peak: int
    kept: int
    alive: tuple[Event, ...]
    """The tensors alive at the peak, the largest first."""


def replay(events: Iterable[Event], ends_forward: Callable[[Event], bool]) -> Step:
    """`ends_forward` tells the first tensor of the backward pass."""
    live: dict[int, Event] = {}
    now = peak = kept = 0
    begun = ended = False
    alive: tuple[Event, ...] = ()
    for event in events:
        if event.size < 0:
            before = live.pop(event.address, None)
            if before is None:
                # A variable's old value, once the step runs; until then what earlier steps left behind.
                now += event.size if begun else 0
            elif not before.temporary:
                now += event.size
            continue
        begun = begun or not event.temporary
        if not ended and ends_forward(event):
            ended, kept = True, now
        live[event.address] = event
        if event.temporary:
            continue
        now += event.size
        if now > peak:
            peak = now
            alive = tuple(live.values())
    return Step(peak, kept, tuple(sorted(alive, key=lambda event: -event.size)))
