"""`load_state_dict`: the values change no size, but names and sizes that do not fit are refused.

https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html (load_state_dict)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from flake8_cnnmem.frameworks.changed_weights import MADE_WEIGHTS
from flake8_cnnmem.frameworks.framework import LOADED_STATES
from flake8_cnnmem.frameworks.torch.nn.modules import hooks
from flake8_cnnmem.frameworks.torch.nn.modules.module import MEMBERS, walk, weights_of
from flake8_cnnmem.frameworks.torch.nn.modules.module_contents import OWN_STATE
from flake8_cnnmem.frameworks.torch.on_meta import forget
from flake8_cnnmem.graph import Tensor, Weight, lies_on_device
from flake8_cnnmem.parameter_values import owner
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

LOADED = Class(
    "_IncompatibleKeys",
    namespace={
        "__iter__": Native("__iter__", lambda run, self: iter(self.payload)),
        "__getitem__": Native("__getitem__", lambda run, self, index: self.payload[index]),
        "__len__": Native("__len__", lambda run, self: 2),
    },
)

COUNTER = "num_batches_tracked"
"""What normalisations make up where a dict without version has none (torch/nn/modules/batchnorm.py)."""

HOOKED = "loading hooks"
"""Scratch of the run: whether anything was registered that may change names before they are compared."""


@MEMBERS.method("load_state_dict")
def load_state_dict(
    run: Runtime, self: Instance, state_dict: Value, strict: Value = True, assign: Value = False
) -> Value:
    """Gives the names that are missing and those that nobody asked for; RuntimeError for them where it is `strict`, and
    for another size in any case."""
    if assign is not False:
        forget(run, weights_of(self))
    if assign is True and isinstance(state_dict, dict):
        assigned(run, self, state_dict)
    if isinstance(state_dict, Unknown):
        run.data(LOADED_STATES)[id(state_dict)] = state_dict
    if isinstance(state_dict, dict) and id(state_dict) not in run.havocked:
        load_by_program(run, self, state_dict, strict)
    if not isinstance(state_dict, dict) or run.data(HOOKED) or id(state_dict) in run.havocked:
        return Instance(LOADED, {"missing_keys": [], "unexpected_keys": []}, payload=([], []))
    if any(type(module.cls.find("_load_from_state_dict")) is not Native for _, module in walk(self)):
        # A class has a way of its own.
        return Instance(LOADED, {"missing_keys": [], "unexpected_keys": []}, payload=([], []))
    own: Value = run.call(run.get(self, "state_dict"))
    if not isinstance(own, Mapping):
        return own
    missing = [name for name in own if name not in state_dict and not name.endswith(COUNTER)]
    unexpected = [name for name in state_dict if name not in own]
    other = next((name for name, value in own.items() if is_other_size(value, state_dict.get(name))), None)
    if other is not None or (strict is True and (missing or unexpected)):
        name = other or (missing + unexpected)[0]
        raise run.error("RuntimeError", f"Error(s) in loading state_dict for {self.cls.name}: {name}")
    return Instance(LOADED, {"missing_keys": missing, "unexpected_keys": unexpected}, payload=(missing, unexpected))


def assigned(run: Runtime, self: Instance, state_dict: Mapping[str, Value]) -> None:
    """With `assign` the parameters are made of the tensors of the dict, where those lie, and in their storages."""
    named = run.call(run.get(self, "state_dict"), keep_vars=True)
    for name, weight in named.items() if isinstance(named, Mapping) else ():
        value = state_dict.get(name)
        if isinstance(weight, Weight) and isinstance(value, Tensor):
            source = owner(value)
            weight.moved = lies_on_device(source)
            weight.dtype = value.dtype
            run.data(MADE_WEIGHTS)[id(source)] = (source, weight)


def load_by_program(run: Runtime, self: Instance, state_dict: dict[str, Value], strict: Value) -> None:
    """What the program itself does when a module is loaded: hooks ahead of it, and classes with a way of their own.
    Either may make other layers, for what is in the file."""
    for path, module in list(walk(self)):
        prefix = f"{path}." if path else ""
        arguments: tuple[Value, ...] = (state_dict, prefix, {}, strict, [], [], [])
        for hook, with_module in module.attributes.get(PRE_LOAD, ()):
            run.call(hook, *((module,) if with_module else ()), *arguments)
        if type(module.cls.find("_load_from_state_dict")) is not Native:
            run.call(run.get(module, "_load_from_state_dict"), *arguments)


def is_other_size(own: Value, given: Value) -> bool:
    """Whether two tensors have other sizes for certain."""
    if not isinstance(own, Tensor) or not isinstance(given, Tensor):
        return False
    sizes = (own.shape, given.shape)
    if any(isinstance(shape, Unknown) or not all(isinstance(size, int) for size in shape) for shape in sizes):
        return False
    return own.shape != given.shape


PRE_LOAD = "_load_state_dict_pre_hooks"
"""The attribute of a module with the hooks that run before it is loaded, each with whether it takes the module."""


def pre_hook(public: bool) -> Callable[..., Value]:
    """`register_load_state_dict_pre_hook(hook)`, which hands on the module, and its older, private form."""

    def register(run: Runtime, self: Instance, hook: Value, with_module: Value = False) -> Value:
        run.data(HOOKED)["registered"] = True
        run.changed(self)
        self.attributes[PRE_LOAD] = (*self.attributes.get(PRE_LOAD, ()), (hook, public or with_module is True))
        return Instance(hooks.HANDLE, {"id": -1})

    return register


MEMBERS.method("_register_load_state_dict_pre_hook")(pre_hook(False))
MEMBERS.method("register_load_state_dict_pre_hook")(pre_hook(True))


def loading_hook(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """These change what a dict holds, or look at what was loaded: they are not run."""
    run.data(HOOKED)["registered"] = True
    return Instance(hooks.HANDLE, {"id": -1})


@MEMBERS.method("register_state_dict_post_hook", "_register_state_dict_hook")
def storing_hook(run: Runtime, self: Instance, hook: Value) -> Value:
    """These may change what `state_dict()` gives: nobody runs them, and from here on that is not known."""
    run.changed(self)
    self.attributes[OWN_STATE] = run.unknown("what a hook makes of a state_dict is not followed")
    return loading_hook(run, self, hook)


MEMBERS.method(
    "register_state_dict_pre_hook",
    "register_load_state_dict_post_hook",
)(loading_hook)
