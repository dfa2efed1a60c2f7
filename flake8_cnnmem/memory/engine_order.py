"""In which order a backward pass takes the entries of a tape: PyTorch's engine, and TensorFlow's executor.

After torch/csrc/autograd/engine.cpp (ReadyQueue): of those whose gradients have all arrived the one that was made last,
by the numbers of the thread that made it. What the program runs and what a backward pass runs whose graph is kept are
two threads on a GPU, each with numbers of its own, that grow with every step: in the first the two mix, and after a few
all of the one that makes more a step come before all of the other's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

from flake8_cnnmem.memory.tape import Entry, TapeNode


def in_order(entries: Sequence[Entry], program: int, passes: int, first: bool = False) -> list[Entry]:
    """The entries with the first to run at the end, as a tape has them. `program` is how many nodes the program has
    made so far, `passes` how many its backward passes; in the `first` step each node's own number decides."""
    if not any(entry.label.derives for entry in entries):
        return list(entries)
    ranks = [rank for rank, _ in ranked(entries, passes > program, first)]
    askers: dict[int, int] = {}
    for entry in entries:
        for key in set(entry.asks):
            askers[key] = askers.get(key, 0) + 1
    by_result = {key: at for at, entry in enumerate(entries) for key in entry.gives}
    waits = [sum(askers.get(key, 0) for key in set(entry.gives)) for entry in entries]
    ready = [(ranks[at], -at) for at in range(len(entries)) if not waits[at]]
    heapify(ready)
    order: list[Entry] = []
    while ready:
        at = -heappop(ready)[1]
        order.append(entries[at])
        for key in set(entries[at].asks):
            before = by_result.get(key)
            if before is not None:
                waits[before] -= 1
                if not waits[before]:
                    heappush(ready, (ranks[before], -before))
    return order[::-1]


def as_ready(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with the first to run at the end, as a tape has them, in the order in which TensorFlow's executor
    comes to them: what is ready waits behind what was ready before it, so that branches go back side by side
    (ExecutorState::ScheduleReady of tensorflow/core/common_runtime/executor.cc; memory/in_flight.py says why)."""
    by_result = {key: entry for entry in entries for key in entry.gives}
    waits: dict[int, int] = {}
    for entry in entries:
        for asked in {id(by_result[key]) for key in entry.asks if key in by_result}:
            waits[asked] = waits.get(asked, 0) + 1
    ready = deque(entry for entry in reversed(entries) if not waits.get(id(entry)))
    order: list[Entry] = []
    while ready:
        entry = ready.popleft()
        order.append(entry)
        for before in {id(by_result[key]): by_result[key] for key in entry.asks if key in by_result}.values():
            waits[id(before)] -= 1
            if not waits[id(before)]:
                ready.append(before)
    return order[::-1]


def ranked(entries: Sequence[Entry], passes_first: bool, first: bool) -> Iterator[tuple[int, Entry]]:
    """Each entry with what the queue sorts it by, the lowest first."""
    number = 0
    for entry in entries:
        if isinstance(entry, TapeNode):
            number = entry.number
        # Of equal numbers the program's own, as a critic with a penalty does (fixtures/programs/dragan.py).
        yield (2 * -number + entry.label.derives) if first else entry.label.derives is not passes_first, entry
