"""Updates of variables that are still under way while the way back goes on.

TensorFlow's executor runs what is ready in the order in which it became so (ExecutorState::ScheduleReady of
tensorflow/core/common_runtime/executor.cc; the kernels of a GPU are run by the thread that finds them ready, since
OpKernel counts them as inexpensive). An update that is a chain of ops takes turns with the ops of the way back, op by
op: what it is made of is there while the next variable's gradient is made and its update begins. Measured: two updates
at once, in every run (fixtures/truth/keras_steps.json).
"""

from __future__ import annotations

from collections import deque
from dataclasses import field

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.storages import Memory, Storage


@dataclass(slots=True)
class InFlight:
    """Storages that are let go of when so many `turns` have followed: those of ops which make something new."""

    memory: Memory
    turns: int = 1
    now: list[Storage] = field(default_factory=list)
    before: deque[list[Storage]] = field(default_factory=deque)

    def turn(self) -> None:
        self.before.append(self.now)
        self.now = []
        if len(self.before) > self.turns:
            for storage in self.before.popleft():
                self.memory.release(storage)

    def end(self) -> None:
        """All turns are over."""
        for _ in range(self.turns + 1):
            self.turn()
