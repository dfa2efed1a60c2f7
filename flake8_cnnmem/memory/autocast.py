"""Autocast: the casts of operands that an op's row asks for, and the cache of weights in half precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flake8_cnnmem.frameworks.rules import Row, Rules
from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.dtypes import is_floating, widest
from flake8_cnnmem.memory.plan import Plan
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.memory.tape import Entry, Keyed, Node


@dataclass(slots=True)
class Autocast:
    """The casts of a forward pass, and the cache of weights in half precision that ends with the region."""

    memory: Memory
    rules: Rules
    cache: dict[int, Value] = field(default_factory=dict)

    def cast(
        self, call: Call, row: Row, operands: Sequence[Keyed], weights: Sequence[Keyed], half: str
    ) -> tuple[list[Keyed], list[Keyed], list[Entry], list[Storage]]:
        """Operands and weights in the dtype that autocast chooses for the op, the nodes of the casts, and the
        storages that are the call's own to release."""
        wanted = half if row.autocast == "half" else row.autocast
        if wanted == "within":
            wanted = "float32"
        if wanted == "result":
            wanted = ""
        if wanted == "widest":
            wanted = widest([value.dtype for _, value in operands]) or half
        if not wanted:
            return list(operands), list(weights), [], []
        nodes: list[Entry] = []
        made: list[Storage] = []
        # Norms and losses in float32 take their parameters as they are. The last argument is cast first: that is how
        # PyTorch's builds evaluate the arguments of a call.
        both = wanted == half
        cast_weights = [self._cast(call, one, wanted, nodes, made) if both else one for one in reversed(weights)]
        cast_operands = [self._cast(call, one, wanted, nodes, made) for one in reversed(operands)]
        return cast_operands[::-1], cast_weights[::-1], nodes, made

    def _cast(self, call: Call, given: Keyed, wanted: str, nodes: list[Entry], made: list[Storage]) -> Keyed:
        key, value = given
        if not is_floating(value.dtype) or value.dtype in (wanted, "float64"):
            return given
        cached = self.cache.get(key)
        if cached is not None:
            return id(cached), cached
        cast = self.memory.new(value.shape, wanted, value.strides)
        cast.grad = value.grad and call.grad
        if cast.grad:
            plan = Plan(self.rules.row("cast"), "cast", wanted=(0,), trained=() if value.weight is None else (0,))
            nodes.append(Node(call, plan, [given], [(id(cast), cast)], []))
        if value.weight is not None and value.grad:
            self.cache[key] = cast
        else:
            made.append(cast.storage)
        return id(cast), cast

    def end(self) -> None:
        """The region is over."""
        for cast in self.cache.values():
            self.memory.release(cast.storage)
        self.cache.clear()
