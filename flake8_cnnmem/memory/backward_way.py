"""What one node of the way back makes, and what it needs for that, in lots of the timeline."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.storages import Form

Made: TypeAlias = "tuple[str, Form, Form | None]"
"""How the gradient of an operand comes about: "fresh", of its own (a weight's is its `.grad`); "new", of its own among
the temporaries; "kept", in the memory of what the op has kept, where nobody else needs that; "alias", in the memory of
the gradient that has arrived; "reuse", the same where nobody else needs that, and of the second form else, in a graph
as "kept"; "late", fresh once the op is done; "crossed", over the gradient that has arrived or the
other operand, where nobody else needs that. And the form in which it lies."""


@dataclass(slots=True, eq=False)
class BackwardPlan:
    """`made` is for each operand that wants a gradient, None for one that gets none; `scratch` are lots that are there
    meanwhile, `sums` those that come one after the other once all is made. With `late` some are made when the op is
    done."""

    made: Sequence[Made | None]
    scratch: Sequence[int] = ()
    late: bool = False
    sums: Sequence[Sequence[int]] = ()
    order: Sequence[int] = ()
    """The places in `made` in the order of their making: sums over what was repeated, and casts, come last. Empty for
    their own."""
    instead: int | None = None
    """The lot of what takes the gradient's place: a copy that a view in front of the op makes, or a step in between."""
    sums_when: str = ""
    """"first" where the sums are those of a node of their own, which the backward pass comes to before the op, and
    "last" where what was there meanwhile is gone by then; "within" where they belong to a part of the op."""
    passing: Sequence[tuple[int, int]] = ()
    """By place in `made` a lot that is there with `scratch` until that one is made: what it is cast from."""
    validated: Collection[int] = ()
    """The places in `made` of what is summed or cast when all gradients are there (validate_outputs), and of a
    convolution's bias: the temporaries of the op are gone by then."""
    full: int = 0
    """So many of `scratch`, at its end, go one by one with their `sums`."""
    full_behind: bool = False
    """Whether what is `full` is of the first operand, and comes when the second one's gradient is made."""
    views: Collection[int] = ()
    """The places in `made` of gradients that are views of something: none is added to in place."""
    meanwhile: int = 0
    """So many of `scratch`, at its beginning, are gone when the first of `validated` is made."""
    turned: int | None = None
    """The lot of a copy that only the kernel of the first gradient reads: it comes behind that one's own room."""
    crossed: Mapping[int, int] = MappingProxyType({})
    """By place in `made` the lot of what its sum is taken of, where that may be written over an operand."""
    last: Sequence[int] = ()
    """Lots that come when all gradients are made, and stay: what the sum of a mask's is taken of."""
