"""Results of a model's forward pass that its layers, or variables of modules, still hold when it has returned."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import FOREVER, Call, Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

MOST = 1024
"""Items of one container that are looked at."""
DEPTH = 3
"""Containers within containers."""


def kept_results(
    layers: Iterable[Instance], modules: Iterable[object], inputs: Iterable[Tensor], calls: Sequence[Call]
) -> Unknown | None:
    """Mark what calls have made of the inputs and the code still holds as held until the end, and give a cause where
    there is any: PyTorch keeps a result, and what its gradient needs, until the next step puts another in its place (or
    for good, in a list), so that the next step begins with it. What is made of weights alone (a normed weight) is no
    larger for a larger batch, and is left as it is. `calls` are in the order in which they ran."""
    given = {id(tensor) for tensor in inputs}
    made: dict[int, Call] = {}
    for call in calls:
        if any(id(tensor) in given or id(tensor) in made for tensor in call.inputs):
            made.update((id(tensor), call) for tensor in call.outputs)
    holders: list[dict[str, Value]] = [layer.attributes for layer in layers]
    holders += [module.variables for module in modules if isinstance(module, Module)]
    first: Call | None = None
    for holder in holders:
        for tensor in tensors_held(holder.values(), DEPTH):
            if id(tensor) in made:
                call = made[id(tensor)]
                tensor.held = FOREVER
                first = call if first is None or call.number < first.number else first
    if first is None:
        return None
    place = (first.site.path, first.site.line) if first.site is not None else ("", 0)
    return Unknown("a result of forward is kept until the next step, which begins with it", *place)


def tensors_held(values: Iterable[Value], depth: int) -> Iterator[Tensor]:
    """The tensors among some values and in containers among them, each container once. Other objects are not looked
    into."""
    seen: set[int] = set()
    waiting: list[tuple[Iterable[Value], int]] = [(values, depth)]
    while waiting:
        found, left = waiting.pop()
        for value in islice(found, MOST):
            if type(value) is Tensor:
                yield value
            elif left and isinstance(value, (list, tuple, deque, dict)) and id(value) not in seen and len(seen) < MOST:
                seen.add(id(value))
                # As natives change it: an OrderedDict of the host keeps an order of its own beside.
                inner = dict.values(value) if isinstance(value, dict) else value
                waiting.append((inner, left - 1))
