"""torch.optim.Optimizer and torch's own optimizers: parameter groups and options. Theirs are not stepped: what they
hold and make is a table (memory/optimizers.py). What derives from them is followed (following.py)."""

from __future__ import annotations

from inspect import Parameter, Signature
from itertools import count

from flake8_cnnmem.frameworks.torch.autograd.grad import cleared
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.optim.following import clears, note_step, stepped_inside, subclassed, watched
from flake8_cnnmem.frameworks.torch.optim.options import OPTIONS
from flake8_cnnmem.frameworks.torch.optim.private_helpers import GROUPING
from flake8_cnnmem.frameworks.torch.optim.refused_options import refuse, refused_groups, refused_option
from flake8_cnnmem.frameworks.updates import SHARES, STATES_TOLD
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Native, Value

MEMBERS = Members()
OPTIMIZER = Class("Optimizer", namespace=MEMBERS, module="torch.optim.optimizer")
MEMBERS["_group_tensors_by_device_and_dtype"] = GROUPING
MEMBERS["__init_subclass__"] = ClassMethod(Native("__init_subclass__", subclassed, propagate_unknown=False))

STATE_MEMBERS = Members()
STATE = Class("defaultdict", namespace=STATE_MEMBERS, module="collections")
"""`Optimizer.state`: a dict that makes a dict for each parameter it is asked for."""


@STATE_MEMBERS.method("__getitem__")
def state_of(run: Runtime, self: Instance, parameter: Value) -> Value:
    """`optimizer.state[parameter]`: a dict, empty at first."""
    held = self.payload
    if isinstance(parameter, Unknown):
        return parameter
    if id(held) in run.havocked:
        return run.havocked[id(held)][1]
    if parameter not in held:
        run.changed(held)
        held[parameter] = {}
    return held[parameter]


def groups_of(run: Runtime, params: Value, defaults: dict[str, Value]) -> list[dict[str, Value]] | Unknown:
    """The parameter groups: each a dict with "params" and every option."""
    items = run.items(params)
    if isinstance(items, Unknown):
        return items
    given = [item for item in items if isinstance(item, dict)]
    if items and len(given) == len(items):
        groups = []
        for item in given:
            each = item.get("params", [])
            held = [each] if isinstance(each, Tensor) else run.items(each)
            weights: list[Value] = [held] if isinstance(held, Unknown) else list(held)
            forget_values(weights)
            groups.append({**defaults, **item, "params": weights})
        return groups
    # `named_parameters()` gives pairs.
    weights = [item[1] if isinstance(item, tuple) and len(item) == 2 else item for item in items]
    forget_values(weights)
    return [{**defaults, "params": weights}]


def forget_values(held: list[Value]) -> None:
    """Tensors of no model that are updated from now on have no values that are known."""
    for value in held:
        if isinstance(value, Tensor) and value.requires_grad and not isinstance(value, Weight):
            value.data = None


def start(run: Runtime, self: Instance, params: Value, defaults: dict[str, Value]) -> None:
    """What the constructors of all optimizers do: groups of parameters with their options, an empty state."""
    groups = groups_of(run, params, defaults)
    run.changed(self)
    self.attributes.update(defaults=dict(defaults), state=Instance(STATE, payload={}), param_groups=groups)
    self.native = {"name": self.cls.name, "options": dict(defaults), "groups": groups, "made": run.next_number()}
    run.data("optimizers")[id(self)] = self
    refuse(run, self, refused_groups(params, groups))


@MEMBERS.method("__init__")
def optimizer_init(run: Runtime, self: Instance, params: Value, defaults: Value = None) -> Value:
    """`Optimizer.__init__(params, defaults)`: parameter groups of the parameters, each with the defaults."""
    start(run, self, params, dict(defaults) if isinstance(defaults, dict) else {})
    return None


@MEMBERS.method("add_param_group")
def add_param_group(run: Runtime, self: Instance, param_group: Value) -> Value:
    """`optimizer.add_param_group(param_group)`: one more group, with the defaults for what it does not say."""
    groups = self.attributes.get("param_groups")
    if isinstance(groups, list) and isinstance(param_group, dict):
        added = groups_of(run, [param_group], self.attributes.get("defaults", {}))
        run.changed(groups)
        groups.extend(added if isinstance(added, list) else [])
        refuse(run, self, refused_groups(groups, groups))
    return None


@MEMBERS.method("step")
def step(run: Runtime, self: Instance, closure: Value = None, *args: Value, **kwargs: Value) -> Value:
    """A step over a closure runs it: forward and backward are in there."""
    loss = None if closure is None else run.call(closure)
    if not stepped_inside(run, self):
        note_step(run, self)
    return loss


@MEMBERS.method("zero_grad")
def zero_grad(run: Runtime, self: Instance, set_to_none: Value = True) -> Value:
    """`optimizer.zero_grad()`: gradients of its parameters are gone."""
    groups = self.attributes.get("param_groups")
    for group in groups if isinstance(groups, list) else ():
        held = group.get("params") if isinstance(group, dict) else None
        cleared(run, held if isinstance(held, list) else ())
    clears(run)
    if watched(run):
        run.note("zero_grad", self, set_to_none=set_to_none)
    return None


@MEMBERS.method("load_state_dict")
def load_state_dict(run: Runtime, self: Instance, state_dict: Value = None) -> Value:
    """`optimizer.load_state_dict(state_dict)`: the tensors of a state that another optimizer has told are its own from
    then on, as they lie where they are to lie."""
    told, other = run.data(STATES_TOLD).get(id(state_dict), (None, None))
    if told is state_dict and other is not self and isinstance(self.native, dict) and told is not None:
        self.native[SHARES] = other
    return None


@MEMBERS.method(
    "register_step_pre_hook",
    "register_step_post_hook",
    "train",
    "eval",
    "_patch_step_function",
    "register_state_dict_pre_hook",
    "register_state_dict_post_hook",
    "register_load_state_dict_pre_hook",
    "register_load_state_dict_post_hook",
)
def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A method that gives None."""
    return None


@MEMBERS.method("_cuda_graph_capture_health_check")
def health_check(run: Runtime, self: Instance) -> Value:
    """`_cuda_graph_capture_health_check()`, which finds nothing."""
    return None


@MEMBERS.method("__setstate__")
def set_state(run: Runtime, self: Instance, state: Value) -> Value:
    """`optimizer.__setstate__(state)`: the attributes of a copy."""
    if isinstance(state, dict):
        run.changed(self)
        self.attributes.update(state)
    return None


@MEMBERS.method("state_dict")
def state_dict(run: Runtime, self: Instance) -> Value:
    """`optimizer.state_dict()`: the groups, in which parameters are numbers; the state is left out."""
    told: list[Value] = []
    groups, numbers = self.attributes.get("param_groups"), count()
    for group in groups if isinstance(groups, list) else ():
        held = group.get("params") if isinstance(group, dict) else None
        told.append({**group, "params": [next(numbers) for _ in held]} if isinstance(held, list) else group)
    found: dict[Value, Value] = {"state": {}, "param_groups": told}
    if isinstance(self.native, dict) and self.native.get("stepped"):
        run.data(STATES_TOLD)[id(found)] = found, self
    return found


def _declare(name: str) -> Class:
    options = OPTIONS[name]
    order = tuple(options)

    def init(run: Runtime, self: Instance, params: Value, *args: Value, **kwargs: Value) -> Value:
        if len(args) > len(order):
            raise TypeError(f"{name}() takes at most {len(order) + 1} arguments")
        given = dict(zip(order, args, strict=False))
        for word, value in kwargs.items():
            if word not in options:
                raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{word}'")
            given[word] = value
        start(run, self, params, {**options, **given})
        refuse(run, self, refused_option(name, {**options, **given}))
        return None

    cls = Class(
        name,
        (OPTIMIZER,),
        {"__init__": Native("__init__", init, propagate_unknown=False)},
        module=f"torch.optim.{name.lower()}",
    )
    cls.facts["signature"] = lambda: Signature([
        Parameter(word, Parameter.POSITIONAL_OR_KEYWORD, default=options.get(word, Parameter.empty))
        for word in ("params", *options)
    ])  # fmt: skip
    return cls


OPTIMIZERS: dict[str, Class] = {**{name: _declare(name) for name in OPTIONS}, "Optimizer": OPTIMIZER}
