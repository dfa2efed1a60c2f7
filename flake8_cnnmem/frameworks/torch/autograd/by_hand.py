"""Gradient descent that the code writes out: weights that it changes after it has read their gradients.

No optimizer is there: what the code computes on the way is counted as the ops that it runs, and what it keeps from step
to step as what its names hold.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.autograd.grad import ASKED, GRADIENTS, PASSES, STEPPING
from flake8_cnnmem.frameworks.updates import Update
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value

BY_HAND = Class("SGD", unknown_base=Unknown("weights are updated without an optimizer"), module="torch.optim")

DESCENT = Optimizer("sgd", (), Update())
"""It has no state of its own, and its ops are the program's."""

DESCENTS = "descents by hand"
"""Scratch of the run: by a weight's id the group of weights that are updated along with it."""


def written(run: Runtime, weight: Value) -> None:
    """A tensor is written over: a step, where it is a weight whose gradient the code has read, and no optimizer steps
    or holds it. What it is made of need not lead to the gradient: velocities are kept in between."""
    known = run.data(GRADIENTS) or run.data(ASKED)
    if not known or run.data(STEPPING) or not isinstance(weight, Weight) or weight.buffer or not weight.trainable:
        return
    if (id(weight) in known or id(weight) in run.data(ASKED)) and not is_held(run, weight):
        updated(run, weight)


def storage_of(tensor: Tensor) -> Tensor:
    """The tensor in whose memory this one lies: behind views and what is written in place."""
    while tensor.call is not None and tensor.call.inputs:
        op = tensor.call.op
        if getattr(op, "in_place", False) is not True and getattr(op, "view", False) is not True:
            break
        tensor = tensor.call.inputs[0]
    return tensor


def is_held(run: Runtime, weight: Weight) -> bool:
    """Whether an optimizer was made for it."""
    for optimizer in run.data("optimizers").values():
        groups = optimizer.attributes.get("param_groups")
        for group in groups if isinstance(groups, list) else ():
            held = group.get("params") if isinstance(group, dict) else None
            if any(each is weight for each in (held if isinstance(held, list) else ())):
                return True
    return False


def updated(run: Runtime, weight: Weight) -> None:
    """Note the step with the first weight that is updated after a backward pass; the others are a part of it."""
    descents = run.data(DESCENTS)
    number = run.data(PASSES).get("number", 0) + run.data(ASKED).get("number", 0)
    now: Instance | None = descents.get("now")
    found: Instance | None = descents.get(id(weight))
    under_way = now is not None and now.native["pass"] == number
    if found is None:
        found = now if under_way else Instance(BY_HAND, {"param_groups": [{"params": []}]}, native={}, site=run.here())
        assert found is not None
        descents[id(weight)] = found
        found.attributes["param_groups"][0]["params"].append(weight)
    if found.native.get("pass") != number:
        found.native["pass"] = number
        descents["now"] = found
        run.note("step", found, by_hand=True)
    elif found is now:
        run.joins_step(found)
