"""What an optimizer object says of the training: its name, its options, its parameters, and what was followed of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from flake8_cnnmem.frameworks.torch.autograd.by_hand import BY_HAND, DESCENT
from flake8_cnnmem.frameworks.torch.optim.base import OPTIMIZER
from flake8_cnnmem.frameworks.torch.optim.following import Followed, steps_natively
from flake8_cnnmem.frameworks.torch.optim.options import OPTIONS, TELLING
from flake8_cnnmem.frameworks.torch.optim.unfollowed import UNFOLLOWED
from flake8_cnnmem.frameworks.updates import InnerOptimizer, Update
from flake8_cnnmem.graph import Tensor, Weight, lies_on_device
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def keeps_for_all(optimizer: Instance) -> bool:
    """Adagrad makes its sums when it is constructed (`Adagrad.__init__`), those of frozen parameters as well, and the
    vectors of LBFGS are of all parameters (`_gather_flat_grad`), where all others make what they keep for the first
    gradient."""
    return optimizer.cls.name in ("Adagrad", "LBFGS") and optimizer.cls.site is None


def state_of_frozen(run: Runtime, weights: Sequence[Weight]) -> tuple[Unknown, ...]:
    """Why an optimizer's state is not known whose training is not followed: which parameters get no gradient."""
    frozen = {id(weight) for weight in weights if not weight.trainable and not weight.buffer}
    return tuple(
        Unknown(f"{optimizer.cls.name} keeps state for frozen parameters as well", *place_of(optimizer))
        for optimizer in run.data("optimizers").values()
        if keeps_for_all(optimizer) and any(id(weight) in frozen for weight in parameters_of(optimizer) or ())
    )


def place_of(optimizer: Instance) -> tuple[str, int]:
    """Path and line where an optimizer is made; ("", 0) where that is not known."""
    return (optimizer.site.path, optimizer.site.line) if optimizer.site is not None else ("", 0)


def parameters_of(optimizer: Instance) -> list[Weight] | None:
    """The parameters that an optimizer updates; None where they are not known."""
    groups = optimizer.attributes.get("param_groups")
    if not isinstance(groups, list):
        inner = [each for each in optimizer.attributes.values() if isinstance(each, Instance)]
        known = [parameters_of(each) for each in inner if each.cls.derives_from(OPTIMIZER)]
        return None if not known or None in known else [weight for each in known for weight in each or ()]
    held = [value for group in groups if isinstance(group, dict) for value in group.get("params", [])]
    own = list(map(as_parameter, held))
    weights = [value for value in own if value is not None]
    return weights if len(weights) == len(own) else None


def as_parameter(value: Value) -> Weight | None:
    """What an optimizer is given to update, as a parameter: a tensor of no model is one that stands for it. None for
    what is not known."""
    if isinstance(value, Weight):
        return value
    if type(value) is not Tensor or not value.requires_grad or value.symbolic or value.view_of is not None:
        return None
    if isinstance(value.shape, Unknown) or not all(type(size) is int for size in value.shape):
        return None
    if value.trained_as is None:
        moved = lies_on_device(value)
        value.trained_as = Weight(
            value.shape, value.dtype, moved=moved, made_there=value.made_there, site=value.site, stands_for=value
        )
    return value.trained_as


def groups_of(optimizer: Instance) -> list[frozenset[int]]:
    """The parameters of each group, by id: a step goes through the groups one by one."""
    groups = optimizer.attributes.get("param_groups")
    held = [group.get("params", []) for group in groups if isinstance(group, dict)] if isinstance(groups, list) else []
    return [frozenset(id(own) for value in each if (own := as_parameter(value)) is not None) for each in held]


def options_of(groups: Sequence[Value]) -> dict[str, Any]:
    """The options that tell, each with the largest value that any of these parameter groups has."""
    found: dict[str, Any] = {}
    for group in groups:
        for word in TELLING:
            setting = group.get(word) if isinstance(group, dict) else None
            if word == "weight_decay" and isinstance(group, dict) and group.get("decoupled_weight_decay") is True:
                # It is taken from the parameter itself.
                continue
            if word == "line_search_fn" and setting is not None:
                setting = True
            if word == "foreach" and setting is None and isinstance(group, dict) and group.get("fused") is False:
                # Who refuses the one is not given the other (adam of torch/optim/adam.py asks whether both are None).
                setting = False
            if isinstance(setting, (bool, int, float)) and (setting or word == "foreach"):
                before = found.get(word)
                found[word] = max(before, setting) if before is not None else setting
    return found


def optimizer_of(value: Value) -> Optimizer | None:
    """An optimizer whose step is torch's own by its class's name; any other by what its code was seen to do."""
    if not isinstance(value, Instance) or not isinstance(value.native, dict):
        return None
    if value.cls is BY_HAND:
        return DESCENT
    if value.cls is UNFOLLOWED:
        return Optimizer("unknown", (), Update(causes=(value.native["cause"],)), known=False)
    if not value.cls.derives_from(OPTIMIZER):
        return None
    followed = value.native.get("followed")
    if isinstance(followed, Followed):
        return Optimizer(value.cls.name.lower(), (), update_of(followed))
    if steps_natively(value):
        whole = by_table(value)
        parts, causes = by_group(value), tuple(unsaid(value))
        if not parts and not causes:
            return whole
        return replace(whole, own=Update(parts=parts or (InnerOptimizer(whole),), causes=causes))
    path, line = (value.site.path, value.site.line) if value.site is not None else ("", 0)
    never = Unknown(f"what {value.cls.name} keeps is not known: no step of it is seen", path, line)
    return Optimizer(value.cls.name.lower(), (), Update(causes=(never,)))


DECIDING = ("momentum", "amsgrad", "centered", "history_size", "weight_decay", "foreach", "fused")
"""Options that decide whether there is more state, or a copy of the gradients in the step."""


def unsaid(value: Instance) -> Iterator[Unknown]:
    """Why an optimizer may need more than is counted: an option of it is not known, and was taken to be off. AdamW's
    decay needs nothing (`adamw`: the parameters are scaled in place)."""
    groups = value.attributes.get("param_groups")
    for group in groups if isinstance(groups, list) else ():
        for word in DECIDING:
            setting = group.get(word) if isinstance(group, dict) else None
            if isinstance(setting, Unknown) and not (word == "weight_decay" and value.cls.name == "AdamW"):
                yield Unknown(f"the {word} of {value.cls.name} is not known: {setting.reason}", *place_of(value))
                return


def update_of(followed: Followed) -> Update:
    """What was followed of an optimizer, as the replay asks it."""
    held = followed.held
    parts = []
    for native in followed.native.values():
        weights = parameters_of(native)
        ids = None if weights is None else frozenset(id(weight) for weight in weights)
        parts.append(InnerOptimizer(by_table(native), ids))
    early = [tensor for key in held.state if key in followed.early for tensor in held.state[key]]
    return Update(
        {key: tuple(tensors) for key, tensors in held.state.items() if key not in followed.early},
        (*held.shared, *early),
        tuple(parts),
        followed.calls,
        followed.gradients,
        followed.replaced,
        followed.kept,
        tuple({**held.causes, **followed.causes}),
    )


def by_group(value: Instance) -> tuple[InnerOptimizer, ...]:
    """One of torch's own by its parameter groups, where these differ in the options that tell; else none."""
    groups = value.attributes.get("param_groups")
    if not isinstance(groups, list) or len(groups) < 2:
        return ()
    each = [by_table(value, [group]) for group in groups]
    if all(one.name == each[0].name and one.options == each[0].options for one in each):
        return ()
    return tuple(InnerOptimizer(one, ids) for one, ids in zip(each, groups_of(value), strict=False))


def by_table(value: Instance, groups: Sequence[Value] | None = None) -> Optimizer:
    """One of torch's own, or one of the user's that is made from it, by its groups or some of them."""
    known = next((cls.name for cls in value.cls.mro if cls.name in OPTIONS and cls.site is None), value.cls.name)
    if groups is None:
        held = value.attributes.get("param_groups")
        groups = [value.native.get("options"), *(held if isinstance(held, list) else [])]
    found = options_of(groups)
    name = known.lower()
    if name == "sgd" and found.get("momentum"):
        name = "momentum"
    if name == "muon":
        found.setdefault("nesterov", False)
    return Optimizer(name, tuple(sorted(found.items())))
