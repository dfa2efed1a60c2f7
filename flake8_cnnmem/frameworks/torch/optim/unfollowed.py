"""What a function that nobody can follow makes of parameters: perhaps an optimizer. It is one once it steps."""

from __future__ import annotations

from collections.abc import Iterable

from flake8_cnnmem.frameworks.torch.autograd.grad import STEPPING, cleared
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.optim.following import Noted, stepped_inside
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value

MEMBERS = Members()
UNFOLLOWED = Class(
    "Optimizer", namespace=MEMBERS, unknown_base=Unknown("an optimizer is not known"), module="torch.optim"
)


@MEMBERS.method("step")
def step(run: Runtime, self: Instance, closure: Value = None, *args: Value, **kwargs: Value) -> Value:
    """A step takes nothing, or a closure: what is told more (an average of the parameters) is no optimizer."""
    cause: Unknown = self.native["cause"]
    if args or kwargs or isinstance(closure, (list, tuple, Instance, int)):
        return cause
    loss = None if closure is None else run.call(closure)
    run.data("optimizers")[id(self)] = self
    if not stepped_inside(run, self):
        run.note("step", self)
    return loss


@MEMBERS.method("zero_grad")
def zero_grad(run: Runtime, self: Instance, set_to_none: Value = True) -> Value:
    """`optimizer.zero_grad()`: gradients of its parameters are gone."""
    cleared(run, [weight for group in self.attributes["param_groups"] for weight in group["params"]])
    run.note("zero_grad", self, set_to_none=set_to_none)
    return None


def made_by_unfollowed(run: Runtime, cause: Unknown, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What comes of parameters, or of groups of them, in the hands of a function that is not known."""
    now = run.data(STEPPING).get("now")
    if isinstance(now, Noted):
        # What it does with tensors is done to the state, or with more memory.
        if any(holds_tensors(value) for value in (*args, *kwargs.values())):
            now.causes.setdefault(cause)
        return cause
    given = args[0] if args else kwargs.get("params")
    if given is None or isinstance(given, (str, int, float, Instance, Unknown)):
        return cause
    groups = groups_in(run, given)
    if not groups:
        return cause
    here = run.here()
    reason = f"the optimizer is not known: {cause.reason}"
    told = Unknown(reason, *((here.path, here.line) if here is not None else (cause.path, cause.line)))
    return Instance(UNFOLLOWED, {"param_groups": groups}, native={"cause": told, "options": {}}, site=here)


def holds_tensors(value: Value) -> bool:
    """Whether a value is a tensor, or a sequence with one."""
    return isinstance(value, Tensor) or (
        isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value)
    )


def groups_in(run: Runtime, given: Value) -> list[dict[str, Value]]:
    """Parameter groups, as torch's optimizers take them; empty for anything else."""
    if isinstance(given, (dict, Tensor)) or not isinstance(given, Iterable):
        return []
    items = run.items(given) if not isinstance(given, list) else given
    if isinstance(items, Unknown) or not items:
        return []
    groups = [item for item in items if isinstance(item, dict) and "params" in item]
    if len(groups) == len(items):
        found = []
        for item in groups:
            inner = run.items(item["params"])
            if isinstance(inner, Unknown):
                return []
            found.append({**item, "params": inner})
        return found if any(is_trained(each["params"]) for each in found) else []
    items = [item[1] if isinstance(item, tuple) and len(item) == 2 else item for item in items]
    return [{"params": items}] if is_trained(items) else []


def is_trained(items: list[Value]) -> bool:
    """Whether values are parameters, all of them."""
    return bool(items) and all(isinstance(item, Weight) and not item.buffer for item in items)
