"""Updates of variables that are still under way while the way back goes on.

TensorFlow's executor runs what is ready in the order in which it became so (ExecutorState::ScheduleReady of
tensorflow/core/common_runtime/executor.cc; the kernels of a GPU are run by the thread that finds them ready, since
OpKernel counts them as inexpensive). An update that is a chain of ops takes turns with the ops of the way back, op by
op: what it is made of is there while the next variable's gradient is made and its update begins. Measured: two updates
at once, in every run (fixtures/truth/keras_steps.json).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.storages import Memory, Storage


@dataclass(slots=True)
class InFlight:
    """Storages by the number of turns after which they are let go of: a turn is an op of the way
    back, or one that makes something new."""

    memory: Memory
    waiting: list[tuple[int, list[Storage]]] = field(default_factory=list)
    coming: list[tuple[int, Line, int]] = field(default_factory=list)
    """By the turns until then, what is made, and for how many more it is there."""

    def hold(self, storages: Sequence[Storage], turns: int) -> None:
        """Let go of these behind so many turns that follow the present one."""
        self.waiting.append((turns, list(storages)))

    def make(self, line: Line, behind: int, turns: int) -> None:
        """So many bytes are made behind `behind` turns, and are there for `turns` more."""
        self.coming.append((behind, line, turns))

    def turn(self) -> None:
        waiting, self.waiting = self.waiting, []
        for left, storages in waiting:
            if left > 0:
                self.waiting.append((left - 1, storages))
                continue
            for storage in storages:
                self.memory.release(storage)
        coming, self.coming = self.coming, []
        for left, line, turns in coming:
            if left > 1:
                self.coming.append((left - 1, line, turns))
            else:
                self.waiting.append((turns, [self.memory.allocate(line, "stepping")]))

    def end(self) -> None:
        """All turns are over."""
        while self.waiting or self.coming:
            self.turn()
