"""A replayed step on a card: what the allocator reserves for it, whether it fits, and the largest batch that does.

The tensors of a step are affine in the batch, the allocator is not: what is left over of a cached block depends on all
sizes before it. So each batch is asked for by a replay of its own; a step that runs out of memory ends where it does.
"""

from __future__ import annotations

from dataclasses import field

from flake8_cnnmem.graph import Call
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.allocator import allocator_for
from flake8_cnnmem.memory.allocator.caching import DEFAULTS, Block, CachingAllocator, OutOfMemory
from flake8_cnnmem.memory.allocator.program import Program, program_of
from flake8_cnnmem.memory.allocator.settings import AllocatorSettings
from flake8_cnnmem.memory.allocator.whole_program import run_whole
from flake8_cnnmem.memory.estimate import Moment
from flake8_cnnmem.memory.replay_result import Replayed

PRECISION = 256
"""Parts of a card to which the least room is found that a step does with."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """What PyTorch says of a program's memory: `torch.cuda.max_memory_allocated` and `max_memory_reserved`; and of the
    latter as much as it cannot do without, where it gives unused segments back to have room for the rest."""

    allocated: int
    reserved: int
    needed: int


def replay(program: Program, batch: int, allocator: CachingAllocator) -> CachingAllocator:
    """Run a program; OutOfMemory where the allocator raises it."""
    sizes = [line.at(batch) for line in program.lots]
    held: dict[int, Block] = {}
    allocate, release = allocator.allocate, allocator.release
    for at, request in enumerate(program.requests):
        if request < 0:
            if -1 - request in held:
                release(held.pop(-1 - request))
        elif sizes[request]:
            # What takes nothing at this batch size is not asked for.
            held[at] = allocate(sizes[request])
    return allocator


@dataclass(slots=True)
class OnCard:
    """A step as it was replayed, on a card that CUDA shows `visible` bytes of. `workspace` are the bytes that each
    thread with a product takes."""

    replayed: Replayed
    workspace: int
    visible: int
    settings: AllocatorSettings
    _programs: dict[int, Program] = field(default_factory=dict)
    _largest: dict[int, int] = field(default_factory=dict)
    """The largest batches that were asked for, by the room."""

    def program(self, replayed: Replayed) -> Program:
        """What the replayed step asks for, from the beginning of the program on."""
        found = self._programs.get(replayed.batch)
        if found is None:
            found = self._programs[replayed.batch] = program_of(replayed.timeline, self.workspace)
        return found

    @property
    def workspaces(self) -> int:
        """Bytes of the workspaces together."""
        return self.program(self.replayed).workspaces

    def run(self, batch: int, room: int | None, program: Program | None = None) -> tuple[int, int] | None:
        """The most that the program has allocated and reserved with so much of the card; None where it runs out of
        memory."""
        program = program or self.program(self.replayed)
        if self.settings == DEFAULTS:
            return run_whole(program, batch, room)
        try:
            allocator = replay(program, batch, allocator_for(room, self.settings, self.visible))
        except OutOfMemory:
            return None
        return allocator.most_allocated, allocator.most_reserved

    def at(self, batch: int, room: int, least: bool = True) -> Reserved:
        """The step at this batch size, where so much of the card is left for it. Of one that does not fit: what it
        reserves where there is room, and the least room that it does with, which takes some ten replays; without
        `least` that is not searched for."""
        free = self.run(batch, None)
        assert free is not None
        allocated, reserved = free
        if reserved <= room:
            return Reserved(allocated, reserved, reserved)
        tight = self.run(batch, room)
        if tight is None and not least:
            return Reserved(allocated, reserved, reserved)
        low, high = (room, reserved) if tight is None else tight
        while high - low > self.visible // PRECISION:
            middle = (low + high) // 2
            less = self.run(batch, middle)
            if less is None:
                low = middle
            else:
                high = less[1]
        return Reserved(*(free if tight is None else tight), high)

    def largest_batch(self, room: int) -> int:
        """The largest batch size at which the step fits into so many bytes; 0 when there is none."""
        known = self._largest.get(room)
        if known is None:
            known = self._largest[room] = self.found_largest(room)
        return known

    def found_largest(self, room: int) -> int:
        """The same, searched for: a replay for each batch size that is tried."""
        several = self.replayed if self.replayed.batch > 1 else self.replayed.again(2)
        program = self.program(several)
        fails = several.timeline.largest_batch(room) + 1
        step = max(1, fails // 128)
        fits = fails - 1
        while fits > 1 and self.run(fits, room, program) is None:
            fails, fits, step = fits, max(1, fits - step), 2 * step
        while fails - fits > 1:
            middle = (fits + fails) // 2
            if self.run(middle, room, program) is None:
                fails = middle
            else:
                fits = middle
        if fits > 1:
            return fits
        single = self.replayed if self.replayed.batch == 1 else self.replayed.again(1)
        return int(self.run(1, room, self.program(single)) is not None)

    def moments(self, batch: int) -> tuple[Moment, ...]:
        return self.replayed.moments(batch)

    def kept_by(self) -> tuple[tuple[str, int], ...]:
        return self.replayed.kept_by()

    def kept_by_call(self) -> tuple[tuple[Call, int], ...]:
        return self.replayed.kept_by_call()
