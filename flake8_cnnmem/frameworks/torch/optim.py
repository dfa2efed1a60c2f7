"""torch.optim: optimizers hold parameter groups and options, schedulers hold nothing. Nothing is stepped."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Namespace, Native, Run, Value

OPTIONS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 1e-3, "momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False, "maximize": False,
            "foreach": None, "differentiable": False, "fused": None},
    "Adam": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "amsgrad": False, "foreach": None,
             "maximize": False, "capturable": False, "differentiable": False, "fused": None,
             "decoupled_weight_decay": False},
    "AdamW": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 1e-2, "amsgrad": False,
              "maximize": False, "foreach": None, "capturable": False, "differentiable": False, "fused": None},
    "Adamax": {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "foreach": None,
               "maximize": False, "differentiable": False, "capturable": False},
    "NAdam": {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "momentum_decay": 4e-3,
              "decoupled_weight_decay": False, "foreach": None, "maximize": False, "capturable": False,
              "differentiable": False},
    "RAdam": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "decoupled_weight_decay": False,
              "foreach": None, "maximize": False, "capturable": False, "differentiable": False},
    "RMSprop": {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0, "centered": False,
                "capturable": False, "foreach": None, "maximize": False, "differentiable": False},
    "Adagrad": {"lr": 1e-2, "lr_decay": 0, "weight_decay": 0, "initial_accumulator_value": 0, "eps": 1e-10,
                "foreach": None, "maximize": False, "differentiable": False, "fused": None},
    "Adadelta": {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0, "foreach": None, "capturable": False,
                 "maximize": False, "differentiable": False},
    "Adafactor": {"lr": 1e-2, "beta2_decay": -0.8, "eps": (None, 1e-3), "d": 1.0, "weight_decay": 0.0,
                  "foreach": None, "maximize": False},
    "ASGD": {"lr": 1e-2, "lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0, "foreach": None,
             "maximize": False, "differentiable": False, "capturable": False},
    "LBFGS": {"lr": 1, "max_iter": 20, "max_eval": None, "tolerance_grad": 1e-7, "tolerance_change": 1e-9,
              "history_size": 100, "line_search_fn": None},
    "Rprop": {"lr": 1e-2, "etas": (0.5, 1.2), "step_sizes": (1e-6, 50), "capturable": False, "foreach": None,
              "maximize": False, "differentiable": False},
    "SparseAdam": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "maximize": False},
    "Muon": {"lr": 1e-3, "weight_decay": 0.1, "momentum": 0.95, "nesterov": True,
             "ns_coefficients": (3.4445, -4.775, 2.0315), "eps": 1e-7, "ns_steps": 5, "adjust_lr_fn": None},
}  # fmt: skip
"""Each optimizer's options after `params`, in their order."""

MEMBERS = Members()
OPTIMIZER = Class("Optimizer", namespace=MEMBERS, module="torch.optim.optimizer")


def groups_of(run: Run, params: Value, defaults: dict[str, Value]) -> list[dict[str, Value]] | Unknown:
    """The parameter groups: each a dict with "params" and every option."""
    items = run.items(params)
    if isinstance(items, Unknown):
        return items
    if items and all(isinstance(item, dict) for item in items):
        groups = []
        for item in items:
            held = run.items(item.get("params", []))
            weights = [held] if isinstance(held, Unknown) else held
            groups.append({**defaults, **item, "params": weights})
        return groups
    # `named_parameters()` gives pairs.
    weights = [item[1] if isinstance(item, tuple) and len(item) == 2 else item for item in items]
    return [{**defaults, "params": weights}]


def start(run: Run, self: Instance, params: Value, defaults: dict[str, Value]) -> None:
    groups = groups_of(run, params, defaults)
    run.changed(self)
    self.attributes.update(defaults=dict(defaults), state={}, param_groups=groups)
    self.native = {"name": self.cls.name, "options": dict(defaults), "groups": groups}
    run.data("optimizers")[id(self)] = self


@MEMBERS.method("__init__")
def optimizer_init(run: Run, self: Instance, params: Value, defaults: Value = None) -> Value:
    start(run, self, params, dict(defaults) if isinstance(defaults, dict) else {})
    return None


@MEMBERS.method("add_param_group")
def add_param_group(run: Run, self: Instance, param_group: Value) -> Value:
    groups = self.attributes.get("param_groups")
    if isinstance(groups, list) and isinstance(param_group, dict):
        added = groups_of(run, [param_group], self.attributes.get("defaults", {}))
        run.changed(groups)
        groups.extend(added if isinstance(added, list) else [])
    return None


@MEMBERS.method("step")
def step(run: Run, self: Instance, closure: Value = None, *args: Value, **kwargs: Value) -> Value:
    """A step over a closure runs it: forward and backward are in there."""
    loss = None if closure is None else run.call(closure)
    run.note("step", self)
    return loss


@MEMBERS.method("zero_grad")
def zero_grad(run: Run, self: Instance, set_to_none: Value = True) -> Value:
    run.note("zero_grad", self, set_to_none=set_to_none)
    return None


@MEMBERS.method("load_state_dict", "register_step_pre_hook", "register_step_post_hook", "train", "eval")
def nothing(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return None


@MEMBERS.method("state_dict")
def state_dict(run: Run, self: Instance) -> Value:
    return {"state": {}, "param_groups": self.attributes.get("param_groups", [])}


def _declare(name: str) -> Class:
    options = OPTIONS[name]
    order = tuple(options)

    def init(run: Run, self: Instance, params: Value, *args: Value, **kwargs: Value) -> Value:
        if len(args) > len(order):
            raise TypeError(f"{name}() takes at most {len(order) + 1} arguments")
        given = dict(zip(order, args, strict=False))
        for word, value in kwargs.items():
            if word not in options:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{word}'")
            given[word] = value
        start(run, self, params, {**options, **given})
        return None

    return Class(
        name, (OPTIMIZER,), {"__init__": Native("__init__", init, absorb=False)}, module=f"torch.optim.{name.lower()}"
    )


OPTIMIZERS: dict[str, Value] = {**{name: _declare(name) for name in OPTIONS}, "Optimizer": OPTIMIZER}

SCHEDULER = Class(
    "LRScheduler",
    namespace={
        "__init__": Native(
            "__init__",
            lambda run, self, optimizer, *args, **kwargs: self.attributes.update(optimizer=optimizer),
            absorb=False,
        ),
        "step": Native("step", nothing, absorb=False),
        "load_state_dict": Native("load_state_dict", nothing, absorb=False),
        "state_dict": Native("state_dict", lambda run, self: {}, absorb=False),
        "get_last_lr": Native("get_last_lr", lambda run, self: run.unknown("a learning rate is not followed")),
        "get_lr": Native("get_lr", lambda run, self: run.unknown("a learning rate is not followed")),
    },
    module="torch.optim.lr_scheduler",
)
SCHEDULERS: dict[str, Class] = {}


def scheduler(name: str) -> Value:
    """Any scheduler by its name: none changes what a step needs."""
    if not name[:1].isupper():
        return MISSING
    if name not in SCHEDULERS:
        SCHEDULERS[name] = SCHEDULER if name in ("LRScheduler", "_LRScheduler") else Class(
            name, (SCHEDULER,), {}, module="torch.optim.lr_scheduler"
        )  # fmt: skip
    return SCHEDULERS[name]


LR_SCHEDULER = Namespace("torch.optim.lr_scheduler", scheduler)


def parameters_of(optimizer: Instance) -> list[Weight] | None:
    """The parameters that an optimizer updates; None where they are not known."""
    groups = optimizer.attributes.get("param_groups")
    if not isinstance(groups, list):
        return None
    held = [value for group in groups if isinstance(group, dict) for value in group.get("params", [])]
    return [value for value in held if isinstance(value, Weight)] if all(
        isinstance(value, Weight) for value in held
    ) else None  # fmt: skip


TELLING = (
    "momentum", "amsgrad", "centered", "weight_decay", "foreach", "fused", "history_size", "nesterov", "maximize",
)  # fmt: skip
"""Options that change the state or the step's temporaries, or that people know an optimizer by."""


def optimizer_of(value: Value) -> Optimizer | None:
    """An optimizer by its class's name; one of the user's own by the class of torch's that it is made from.

    An option counts with the largest value that any parameter group has.
    """
    if not isinstance(value, Instance) or not isinstance(value.native, dict) or not value.cls.derives_from(OPTIMIZER):
        return None
    known = next((cls.name for cls in value.cls.mro if cls.name in OPTIONS), value.cls.name)
    groups = value.attributes.get("param_groups")
    found: dict[str, Any] = {}
    for group in [value.native.get("options"), *(groups if isinstance(groups, list) else [])]:
        for word in TELLING:
            setting = group.get(word) if isinstance(group, dict) else None
            if isinstance(setting, (bool, int, float)) and (setting or word == "foreach"):
                before = found.get(word)
                found[word] = max(before, setting) if before is not None else setting
    name = known.lower()
    if name == "sgd" and found.get("momentum"):
        name = "momentum"
    return Optimizer(name, tuple(sorted(found.items())))
