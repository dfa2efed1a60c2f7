"""What the constructors of torch's optimizers refuse, by the checks in torch/optim/*.py (2.12).

The optimizer is there all the same, with the figures of its step: that the program raises before is a cause of the
training, unless a handler of the program takes the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

Refusal: TypeAlias = "tuple[str, str]"
"""The class of the error, and its text."""

NOT_NEGATIVE = {
    "lr": "learning rate", "eps": "epsilon value", "weight_decay": "weight_decay value", "momentum": "momentum value",
    "alpha": "alpha value", "lr_decay": "lr_decay value", "momentum_decay": "momentum_decay value",
    "initial_accumulator_value": "initial_accumulator_value",
}  # fmt: skip
"""Options that are refused below zero, as the messages name them."""

UNCHECKED = {("ASGD", "alpha"), ("Muon", "eps"), ("NAdam", "momentum")}
"""Options of those names that a constructor takes as they are."""

FUSED = ("Adam", "AdamW", "SGD", "Adagrad")


def refused_option(name: str, given: Mapping[str, Value]) -> Refusal | None:
    """What the constructor of torch's own optimizer says of its options, None where it takes them."""
    return next(refused_options(name, given), None)


def refused_options(name: str, given: Mapping[str, Any]) -> Iterator[Refusal]:
    """All that is refused of the options, in the order of the checks."""
    for word, value in given.items():
        if word in NOT_NEGATIVE and (name, word) not in UNCHECKED and isinstance(value, (int, float)):
            beyond = value <= 0 if name == "SparseAdam" else not value >= 0
            if beyond:
                yield "ValueError", f"Invalid {NOT_NEGATIVE[word]}: {value}"
    betas = given.get("betas")
    if isinstance(betas, (tuple, list)) and len(betas) > 1:
        for place, beta in enumerate(betas[:2]):
            if isinstance(beta, (int, float)) and not 0 <= beta < 1:
                yield "ValueError", f"Invalid beta parameter at index {place}: {beta}"
        if name in ("Adam", "AdamW") and {*map(type, betas[:2])} in ({int, float}, {int}):
            # Older versions take them.
            yield "ValueError", "betas must be either both floats or both Tensors"
    rho, etas = given.get("rho"), given.get("etas")
    if isinstance(rho, (int, float)) and not 0 <= rho <= 1:
        yield "ValueError", f"Invalid rho value: {rho}"
    if isinstance(etas, (tuple, list)) and len(etas) == 2 and all(isinstance(each, (int, float)) for each in etas):
        if not 0 < etas[0] < 1 < etas[1]:
            yield "ValueError", f"Invalid eta values: {etas[0]}, {etas[1]}"
    momentum, dampening = given.get("momentum"), given.get("dampening")
    if name == "SGD" and given.get("nesterov") is True and isinstance(momentum, (int, float)):
        if momentum <= 0 or (isinstance(dampening, (int, float)) and dampening != 0):
            yield "ValueError", "Nesterov momentum requires a momentum and zero dampening"
    if name in FUSED and given.get("fused") is True:
        if given.get("differentiable") is True:
            yield "RuntimeError", "`fused` does not support `differentiable`"
        if given.get("foreach") is True:
            yield "RuntimeError", "`fused` and `foreach` cannot be `True` together."


def refused_groups(params: Value, groups: list[dict[str, Any]] | Unknown) -> Refusal | None:
    """What `Optimizer.__init__` says of the parameters: none, one by itself, what is no tensor, one in two groups."""
    if isinstance(params, Tensor):
        return "TypeError", "params argument given to the optimizer should be an iterable of Tensors or dicts"
    if isinstance(groups, Unknown):
        return None
    seen: set[int] = set()
    for group in groups:
        held = group.get("params")
        if not isinstance(held, list) or any(isinstance(each, Unknown) for each in held):
            return None
        if isinstance(params, (list, tuple)) and any(isinstance(each, Instance) and not each.payload for each in held):
            return "TypeError", "optimizer can only optimize Tensors, but one of the params is a module"
        own = {id(each) for each in held if isinstance(each, Weight)}
        if seen & own:
            return "ValueError", "some parameters appear in more than one parameter group"
        seen |= own
    if not groups or (not isinstance(groups[0]["params"], Unknown) and len(groups) == 1 and not groups[0]["params"]):
        given = [each for each in params if isinstance(each, dict)] if isinstance(params, (list, tuple)) else []
        return None if given else ("ValueError", "optimizer got an empty parameter list")
    return None


def refuse(run: Runtime, made: Instance, refusal: Refusal | None) -> None:
    """The constructor of an optimizer refuses what it is given, or does not."""
    if refusal is not None:
        run.refuse_made(made, *refusal)
