"""Entries of the tape that no gradient can come to any more, as the code has let go of their results: they go."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flake8_cnnmem.memory.forward import Forward


def forget(forward: Forward, key: int) -> None:
    """The code has let go of a result that nothing reads: what was kept for its gradient goes with it."""
    asked: Counter[int] | None = None
    tape, gone = forward.tape, {key}
    for at in range(len(tape) - 1, -1, -1):
        entry = tape[at]
        gives = entry.gives
        if gone.isdisjoint(gives):
            continue
        if asked is None:
            asked = Counter(chain.from_iterable(entry.asks for entry in tape))
        if any(asked[one] or leads_back(forward, one) for one in gives):
            continue
        del tape[at]
        for storage in entry.saved:
            forward.memory.let_go(storage)
        asks = entry.asks
        asked.subtract(asks)
        forward.asked.difference_update([one for one in asks if not asked[one]])
        gone.update(one for one in asks if not asked[one] and not leads_back(forward, one))


def leads_back(forward: Forward, key: int) -> bool:
    """Whether something holds a result through which a gradient goes: the places of maxima are none. Casts of weights
    are held by autocast until its region ends."""
    value = forward.values.get(key)
    return (value is not None and value.grad) or key in forward.autocast.held


def forget_unreachable(forward: Forward) -> None:
    """A backward pass is over: what is left of the tape, and no gradient can come to any more, goes."""
    tape = forward.tape
    asked = Counter(chain.from_iterable(entry.asks for entry in tape))
    for at in range(len(tape) - 1, -1, -1):
        entry = tape[at]
        if not any(asked[key] or leads_back(forward, key) for key in entry.gives):
            del tape[at]
            for storage in entry.saved:
                forward.memory.let_go(storage)
            asked.subtract(entry.asks)
    forward.asked = {key for key, times in asked.items() if times > 0}
