"""Results of a model's forward pass that the program still holds when it has returned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flake8_cnnmem.evaluate.holders import tensors_held
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import FOREVER, Call, Tensor
from flake8_cnnmem.ops.given import Made
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance

KEPT = "a result of forward is kept until the next step, which begins with it"

TOO_MUCH = Unknown("whether results of forward are kept: the program holds too much to be looked through")


def kept_results(
    layers: Iterable[Instance], modules: Iterable[object], inputs: Iterable[Tensor], calls: Sequence[Call]
) -> Unknown | None:
    """Mark what calls have made of the inputs and the code still holds as held until the end, and give a cause where
    there is any: PyTorch keeps a result, and what its gradient needs, until the next step puts another in its place (or
    for good, in a list), so that the next step begins with it. What is made of weights alone (a normed weight) is no
    larger for a larger batch, and is left as it is. `calls` are in the order in which they ran."""
    reached = {id(tensor) for tensor in inputs}
    made: dict[int, Call] = {}
    for call in calls:
        if not reached.isdisjoint(map(id, call.inputs)):
            for tensor in call.outputs:
                made[id(tensor)] = call
                reached.add(id(tensor))
            if isinstance(call.op, Made):
                made[id(call.inputs[0])] = call
                reached.add(id(call.inputs[0]))
    if not made:
        return None
    first: Call | None = None
    variables = [module.variables for module in modules if isinstance(module, Module)]
    found, whole = tensors_held([*layers, *variables])
    for tensor in found:
        if id(tensor) in made:
            call = made[id(tensor)]
            tensor.held = FOREVER
            first = call if first is None or call.number < first.number else first
    if first is None:
        return None if whole else TOO_MUCH
    place = (first.site.path, first.site.line) if first.site is not None else ("", 0)
    return Unknown(KEPT, *place)
