"""What bounds an evaluation: steps, depth, and the size of any one value."""

from __future__ import annotations

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.unknown import Leaving

STEPS = 4_000_000
"""Statements, calls, operators and loop rounds for one file, forward passes left out. A step takes a microsecond or
two. A ResNet-152 takes some 20,000, layers included; a file that builds a hundred models of a zoo 500,000."""

STATEMENT_STEPS = 500_000
"""Steps that one top-level statement may take, so that a long computation does not starve the models after it. Nearly
all published models take less to build. Where they are spent on Keras layers, they take 2 s."""

IMPORT_STEPS = 1_000_000
"""The same of an imported module: it draws on what the file has left, not on the statement that asks for it. A table
of seven ready segmentation networks takes 800,000."""

TARGET_STEPS = 8_000_000
"""Steps of the expression that a report is asked for: somebody waits for this one model. One that looks at every pair
of its positions (TinyViT) takes 5,000,000."""

FORWARD_STEPS = 160_000
"""Steps of one forward pass. The largest published ones take 130,000."""

TRIAL_STEPS = 140_000
"""Steps of a forward pass that is only tried, for what it says of its input. One that needs more is not tried again."""

FORWARDS_STEPS = 16_000_000
"""Steps of all forward passes for one file: some 16 s. The files of the model zoos that take most, with 18 ResNets of
200 layers in one, take 10,000,000."""

READ = 12_000_000
"""Characters of imported modules, counted once when a module is read and once more for each of its statements that is
run: some 10 s, and 150 MB. Code on top of transformers or pandas takes 8,000,000."""

LAYER_STEPS = 80
"""What the construction of a layer costs beside the calls it consists of: it holds weights and tables of its own."""

CALL_STEPS = 40
"""What the application of an op costs: its shapes are worked out, and the graph holds it."""

FEW_STEPS = 40_000
"""Steps that are soon done: what is left of a loop is gone through where it takes no more, although the turns before
may say already what it leaves."""

LOOP_ROUNDS = 200_000
"""Rounds of one loop. A training loop over literal epochs is cut short well before the budget is gone."""

DEPTH = 180
"""Nested calls of interpreted functions."""

LENGTH = 300_000
"""Items of a container, characters of a string."""

BITS = 4096
"""Bits of an integer: sizes and seeds are far below, `10**10**10` far above."""

YIELDS = 2_000
"""Values taken from one generator function: its body is run to the end, or up to here."""


class Exhausted(Leaving):
    """The budget ended. Caught where a whole statement or model can be given up."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Budget:
    steps: int = STEPS
    depth: int = 0
    reserve: int = 0
    """Steps that the statement which is running may not take: they are there for those after it, and for imports."""
