"""Wrappers of modules that are run again in the backward pass, or whose kept tensors wait in the host's memory:
`checkpoint_wrapper`, `offload_wrapper` and `apply_activation_checkpointing` of torch.distributed, and fairscale's.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.autograd.regions import offloaded
from flake8_cnnmem.frameworks.torch.distributed.wrappers import wrapper
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module, put, set_attribute, stored, walk
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value, native

HELD = "_checkpoint_wrapped_module"
IMPLEMENTATION = "checkpoint_impl"


def hold(run: Runtime, self: Instance, mod: Value, *args: Value, **kwargs: Value) -> None:
    """The constructor of a wrapper: it holds the module."""
    set_attribute(run, self, HELD, mod)


def held(self: Instance) -> Value:
    """The module that a wrapper holds."""
    return stored(self, "_modules").get(HELD)


def again(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """A call of the module as a checkpoint: what is within is computed again in the backward pass."""
    # A reentrant wrapper hands on the arguments by name, too, as tensors of one list.
    given = (*args, *kwargs.values()) if self.attributes.get(IMPLEMENTATION) == "reentrant" else None
    with run.enter(None, checkpoint=True, reentrant=given):
        return run.call(held(self), *args, **kwargs)


def aside(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """A call of the module whose saved tensors go to the host."""
    return offloaded(run, held(self), *args, **kwargs)


def other(run: Runtime, self: Instance, name: str) -> Value:
    """Attributes of the module that is wrapped are found on the wrapper."""
    modules = stored(self, "_modules")
    return modules[name] if name in modules else run.get(modules.get(HELD), name)


MODULE_NAME = "torch.distributed.algorithms._checkpoint.checkpoint_wrapper"
CHECKPOINTED = wrapper("CheckpointWrapper", MODULE_NAME, hold, {
    "forward": native("forward", again), "__getattr__": native("__getattr__", other),
})  # fmt: skip
OFFLOADED = wrapper("OffloadWrapper", MODULE_NAME, hold, {
    "forward": native("forward", aside), "__getattr__": native("__getattr__", other),
})  # fmt: skip


def checkpoint_wrapper(
    run: Runtime, /, module: Value, checkpoint_impl: Value = None, checkpoint_fn: Value = None,
    offload_to_cpu: Value = False, **kwargs: Value,
) -> Value:  # fmt: skip
    """A module wrapped as a checkpoint."""
    if not is_module(module):
        return module
    made = run.construct(CHECKPOINTED, module)
    if isinstance(made, Instance):
        made.attributes[IMPLEMENTATION] = checkpoint_impl
    return made


def offload_wrapper(run: Runtime, /, module: Value) -> Value:
    """A module wrapped so that its saved tensors go to the host."""
    return run.construct(OFFLOADED, module) if is_module(module) else module


def apply_checkpointing(
    run: Runtime, /, model: Instance, checkpoint_wrapper_fn: Value = None, check_fn: Value = None,
    auto_wrap_policy: Value = None, **kwargs: Value,
) -> Value:  # fmt: skip
    """Every module inside that the check says yes to, in its wrapper."""
    wrap = native("checkpoint_wrapper", checkpoint_wrapper) if checkpoint_wrapper_fn is None else checkpoint_wrapper_fn
    for _, parent in list(walk(model)) if is_module(model) else []:
        for name, child in list(stored(parent, "_modules").items()):
            if not is_module(child) or child.cls in (CHECKPOINTED, OFFLOADED):
                continue
            wanted = run.truth(run.call(check_fn, child)) if check_fn is not None else True
            if wanted is True and not isinstance(wanted, Unknown):
                put(run, parent, "_modules", name, run.call(wrap, child))
    return None


CONTENTS: dict[str, Value] = {
    "checkpoint_wrapper": native("checkpoint_wrapper", checkpoint_wrapper),
    "offload_wrapper": native("offload_wrapper", offload_wrapper),
    "apply_activation_checkpointing": native("apply_activation_checkpointing", apply_checkpointing),
    "CheckpointWrapper": CHECKPOINTED,
    "CheckpointImpl": Class(
        "CheckpointImpl", namespace={"REENTRANT": "reentrant", "NO_REENTRANT": "no_reentrant"}, module=MODULE_NAME
    ),
}
