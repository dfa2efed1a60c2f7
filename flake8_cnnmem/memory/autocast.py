"""Autocast: the casts of operands that an op's row asks for, and the cache of weights in half precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from flake8_cnnmem.frameworks.rules import OpRule, Rules
from flake8_cnnmem.graph import Call, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.dtypes import half_of, is_floating, widest
from flake8_cnnmem.memory.plan import Plan
from flake8_cnnmem.memory.storages import Memory, Storage, Value, without_holes
from flake8_cnnmem.memory.tape import Entry, Keyed, TapeNode


@dataclass(slots=True)
class Autocast:
    """The casts of a forward pass, and the cache of weights in half precision that ends with the region."""

    memory: Memory
    rules: Rules
    cache: dict[int, Value] = field(default_factory=dict)
    held: set[int] = field(default_factory=set)
    """The ids of the cached ones."""
    region: int = 0
    """The outermost region of the last op."""
    on_tape: set[int] = field(default_factory=set)
    """The keys of the weights whose cached casts have a node on the tape. What a backward pass has used up, or a
    checkpointed stretch has left off the tape, gets another one when the cast is read again."""
    dated: bool = False
    """Whether the calls are those of one turn, so that what was frozen when they ran counts."""
    said: bool = False
    """Whether the code of the turn itself has regions of autocast."""

    def cast(
        self, call: Call, row: OpRule, operands: Sequence[Keyed], weights: Sequence[Keyed], half: str, records: bool
    ) -> tuple[list[Keyed], list[Keyed], list[Entry], list[Storage]]:
        """Operands and weights in the dtype that autocast chooses for the op, the nodes of the casts where a tape
        `records` them, and the storages that are the call's own to release."""
        wanted = half if row.autocast == "half" else row.autocast
        if wanted == "within":
            wanted = "float32"
        if wanted == "result" or (wanted == "fused" and half == "float16"):
            wanted = ""
        if wanted == "fused":
            wanted = "float32"
        if wanted == "widest":
            # A single value widens no tensor of its kind.
            ranked = [value.dtype for _, value in operands if value.shape != ()]
            wanted = widest(ranked) or widest([value.dtype for _, value in operands]) or half
        if not wanted:
            return list(operands), list(weights), [], []
        nodes: list[Entry] | None = [] if records else None
        made: list[Storage] = []
        # Norms and losses in float32 take their parameters as they are. The last argument is cast first: that is how
        # PyTorch's builds evaluate the arguments of a call.
        both = wanted == half
        cast_weights = [self._cast(call, one, wanted, nodes, made) if both else one for one in reversed(weights)]
        cast_operands = [self._cast(call, one, wanted, nodes, made) for one in reversed(operands)]
        return cast_operands[::-1], cast_weights[::-1], nodes or [], made

    def _cast(self, call: Call, given: Keyed, wanted: str, nodes: list[Entry] | None, made: list[Storage]) -> Keyed:
        key, value = given
        if not is_floating(value.dtype) or value.dtype in (wanted, "float64"):
            return given
        caches = call.caches_casts and value.weight is not None and (value.grad or self._asked(call, key, value.weight))
        cast = self.cache.get(key) if caches else None
        new = cast is None
        if cast is None:
            cast = self.memory.new(value.shape, wanted, without_holes(value))
            cast.grad = value.grad and (call.grad or caches)
            if caches:
                self.cache[key] = cast
                self.held.add(id(cast))
            else:
                made.append(cast.storage)
        if nodes is not None and cast.grad and (new or key not in self.on_tape):
            plan = Plan(self.rules.row("cast"), "cast", wanted=(0,), trained=() if value.weight is None else (0,))
            nodes.append(TapeNode(call, plan, [given], [(id(cast), cast)], []))
            if caches:
                self.on_tape.add(key)
        return id(cast), cast

    def _asked(self, call: Call, key: int, weight: Weight) -> bool:
        """Whether a weight that gets no gradient in the step asked for one when the call ran (a teacher that nobody
        has frozen): the cache asks for no more, whether gradients are recorded or not (`cached_cast` in
        aten/src/ATen/autocast_mode.cpp)."""
        return self.dated and not weight.buffer and key not in call.frozen

    def half(self, call: Call, dtype: str) -> str | None:
        """The half dtype of autocast around a call that runs now; what another outermost region has cached is gone.
        Where the turn's own code says where autocast is on, it is off elsewhere; where it does not, one region is
        around all of it under mixed precision, and what is inside may switch it off."""
        around = None if self.said else half_of(dtype)
        self.go_on(0 if around is not None else call.cast_region)
        return call.autocast if call.autocast is not None or call.cast_region else around

    def go_on(self, region: int) -> None:
        """What follows runs in this outermost region: what another one has cached is gone."""
        if region != self.region:
            self.end()
            self.region = region

    def keep_within(self, region: int) -> None:
        """A backward pass or an optimizer's step begins in this outermost region: what it has cached stays until it
        ends. Where the turn's code does not say where autocast is on, it is off by then."""
        self.go_on(region)
        if not (self.said and region):
            self.end()

    def look_at(self, tape: Sequence[Entry]) -> None:
        """A backward pass has used up nodes: these are left."""
        given = {key for entry in tape for key in entry.gives}
        self.on_tape = {key for key, cast in self.cache.items() if id(cast) in given}

    def end(self) -> None:
        """The region is over."""
        for cast in self.cache.values():
            self.memory.release(cast.storage)
        self.cache.clear()
        self.held.clear()
        self.on_tape.clear()
