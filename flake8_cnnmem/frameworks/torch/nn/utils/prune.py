"""torch.nn.utils.prune: a mask beside a parameter, with which it is multiplied ahead of each call."""

from __future__ import annotations

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module, put, stored, walk
from flake8_cnnmem.frameworks.torch.nn.parameter import weight_like
from flake8_cnnmem.frameworks.torch.nn.utils.weight_norm import Hook, add_hook, drop_hook, hooks_of, natives, take
from flake8_cnnmem.graph import Tensor, Weight, lies_on_device
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Native, Value

PRUNED = "pruning"

KEPT_MASK = "the mask that a pruning is given stays in its hook, beside the one that it makes"
"""`CustomFromMask.__init__` keeps it; `global_unstructured` gives each parameter its part of one."""


def prune(run: Runtime, module: Value, name: Value, *args: Value, **kwargs: Value) -> Value:
    """`name` becomes `name_orig` with a buffer `name_mask`; pruned again it has another mask in the same place."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    weight = take(run, module, name)
    if weight is None:
        return module
    if any(isinstance(each, Tensor) and lies_on_device(each) for each in (*args, *kwargs.values())):
        note_cause(run, None, "masks", KEPT_MASK)
    original = weight_like(run, weight, weight.shape)
    original.trainable = weight.trainable
    put(run, module, "_parameters", f"{name}_orig", original)
    put(run, module, "_buffers", f"{name}_mask", weight_like(run, weight, weight.shape, buffer=True))

    def compute(run: Runtime, self: Instance) -> Value:
        return binary(run, "*", attribute(run, self, f"{name}_mask"), attribute(run, self, f"{name}_orig"))

    hook = Hook(PRUNED, name, compute)
    hook(run, module)
    add_hook(run, module, hook)
    return module


def remove(run: Runtime, module: Value, name: Value) -> Value:
    """A plain parameter again, with zeros in it."""
    if not isinstance(module, Instance) or not isinstance(name, str):
        return module
    held = stored(module, "_parameters")
    original = held.get(f"{name}_orig")
    if not isinstance(original, Weight) or not any(each.kind == PRUNED for each in hooks_of(module)):
        return module
    run.changed(held)
    del held[f"{name}_orig"]
    run.changed(stored(module, "_buffers"))
    stored(module, "_buffers").pop(f"{name}_mask", None)
    drop_hook(run, module, (PRUNED,), name)
    put(run, module, "_parameters", name, original)
    return module


def prune_all(
    run: Runtime, parameters: Value, pruning_method: Value, importance_scores: Value = None, **kwargs: Value
) -> Value:
    """Each (module, name) of a list, by one threshold."""
    items = run.items(parameters)
    for item in [] if isinstance(items, Unknown) else items:
        pair = run.items(item)
        if isinstance(pair, list) and len(pair) == 2:
            held = stored(pair[0], "_parameters") if isinstance(pair[0], Instance) else {}
            if any(name == pair[1] and isinstance(weight, Weight) and weight.moved for name, weight in held.items()):
                note_cause(run, None, "masks", KEPT_MASK)
            prune(run, pair[0], pair[1])
    return items if isinstance(items, Unknown) else None


def is_pruned(run: Runtime, module: Value) -> Value:
    """Whether a module, or one below it, is pruned."""
    inside = [each for _, each in walk(module)] if isinstance(module, Instance) and is_module(module) else []
    return any(hook.kind == PRUNED for each in inside for hook in hooks_of(each))


BASE = Class("BasePruningMethod", module="torch.nn.utils.prune")
BASE.namespace["apply"] = ClassMethod(
    Native("apply", lambda run, cls, module, name, *args, **kwargs: prune(run, module, name), propagate_unknown=False)
)
METHODS = ("CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "RandomStructured", "RandomUnstructured")
FUNCTIONS = (
    "custom_from_mask", "identity", "l1_unstructured", "ln_structured", "random_structured", "random_unstructured",
)  # fmt: skip

PRUNE: dict[str, Value] = {
    **natives(dict.fromkeys(FUNCTIONS, prune)),
    **natives({"global_unstructured": prune_all, "is_pruned": is_pruned, "remove": remove}),
    "BasePruningMethod": BASE,
    **{name: Class(name, (BASE,), module="torch.nn.utils.prune") for name in METHODS},
}
