"""torch.nn.Module: the call that enters a layer with its hooks, and what is done to all of a module at once."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem.dims import first_unknown
from flake8_cnnmem.frameworks.changed_weights import BESIDE, note_changed, set_flag
from flake8_cnnmem.frameworks.torch import memory_formats
from flake8_cnnmem.frameworks.torch.autograd.grad import cleared
from flake8_cnnmem.frameworks.torch.devices import is_host, names_device
from flake8_cnnmem.frameworks.torch.dtypes import COMPLEX, GPU, dtype_of, is_dtype, is_floating
from flake8_cnnmem.frameworks.torch.nn.modules import hooks
from flake8_cnnmem.frameworks.torch.nn.modules.module import (
    MEMBERS,
    PRE_HOOKS,
    is_module,
    modules_in,
    owned,
    stored,
    walk,
    weights_of,
)
from flake8_cnnmem.frameworks.torch.nn.modules.module_contents import own_children
from flake8_cnnmem.frameworks.torch.nn.parameter import NOT_CALLED
from flake8_cnnmem.frameworks.torch.on_meta import forget, is_meta, note_there
from flake8_cnnmem.frameworks.torch.written_parts import WRITTEN, results_as_written
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Native, Raised, Value


def call_module(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A call of a module: hooks, `forward` within a region of the graph, hooks."""
    forward = self.attributes.get("forward", MISSING)
    if forward is MISSING:
        forward = self.cls.find("forward")
        if isinstance(forward, Native) or type(forward).__name__ == "Function":
            args = (self, *args)
        else:
            forward = run.get(self, "forward")
    with run.enter(self):
        for hook in self.attributes.get(PRE_HOOKS, ()):
            hook(run, self)
        if not hooks.hooked(run, self):
            result = run.call(forward, *args, **kwargs)
            run.let_go(*args, *kwargs.values())
            return result
        own = args[:1] if isinstance(forward, Native) or type(forward).__name__ == "Function" else ()
        args, kwargs = hooks.before(run, self, args[len(own) :], kwargs)
        try:
            result = run.call(forward, *own, *args, **kwargs)
        except Raised:
            hooks.after_error(run, self, args, kwargs)
            raise
        run.let_go(*args, *kwargs.values())
        return hooks.after(run, self, args, kwargs, result)


def call_wrapped(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`module(...)`: its `_call_impl`, which a class may have of its own."""
    if "_call_impl" in self.attributes or self.cls.find("_call_impl") is not MEMBERS["_call_impl"]:
        return run.call(run.get(self, "_call_impl"), *args, **kwargs)
    return call_module(run, self, *args, **kwargs)


MEMBERS["__call__"] = Native("__call__", call_wrapped, propagate_unknown=False)
MEMBERS["_call_impl"] = Native("_call_impl", call_module, propagate_unknown=False)


@MEMBERS.method("forward")
def forward(run: Runtime, self: Instance, *input: Value) -> Value:
    """A module without a `forward` of its own: an unknown, with the cause of a base that is not known."""
    cause = self.cls.any_unknown_base()
    return run.unknown(f"{self.cls.name} has no forward method") if cause is None else cause


def network_of(model: Instance) -> Instance:
    """What a module without a `forward` of its own, but with a `__call__`, holds, where that is a single module:
    classes around a network, for who trains it by a call of theirs (`train()`, `fit()`), are modules too, and take
    files rather than tensors. Without a `__call__` of its own it cannot be called."""
    while is_around(model):
        inside = [child for child in stored(model, "_modules").values() if child is not None]
        if len(inside) != 1 or not isinstance(inside[0], Instance):
            break
        model = inside[0]
    return model


def is_around(model: Instance) -> bool:
    """Whether a module does something of its own when it is called, and has no forward pass."""
    own = model.cls.find("__call__") is not MEMBERS["__call__"]
    return own and model.cls.find("forward") is MEMBERS["forward"] and "forward" not in model.attributes


@MEMBERS.method("apply")
def apply_to_all(run: Runtime, self: Instance, fn: Value) -> Value:
    """`module.apply(fn)`: of all below it first, then of itself; the module."""
    inside = own_children(run, self)
    for child in inside if isinstance(inside, list) else ():
        run.call(run.get(child, "apply"), fn)
    run.call(fn, self)
    return self


@MEMBERS.method("train")
def train(run: Runtime, self: Instance, mode: Value = True) -> Value:
    """`module.train(mode)`, of all below it as well; the module."""
    run.changed(self)
    self.attributes["training"] = mode
    inside = own_children(run, self)
    for child in inside if isinstance(inside, list) else ():
        if isinstance(child, Instance) and child.cls.find("train") is TRAIN:
            train(run, child, mode)
        else:
            run.call(run.get(child, "train"), mode)
    return self


TRAIN = MEMBERS["train"]


@MEMBERS.method("eval")
def evaluate(run: Runtime, self: Instance) -> Value:
    """`module.eval()`: the module."""
    return run.call(run.get(self, "train"), False)


@MEMBERS.method("requires_grad_")
def requires_grad(run: Runtime, self: Instance, requires_grad: Value = True) -> Value:
    """`module.requires_grad_(requires_grad)`: of all parameters; the module."""
    found = run.items(run.call(run.get(self, "parameters")))
    for value in found if isinstance(found, list) else ():
        if isinstance(value, Weight):
            if not isinstance(value.shape, Unknown) and first_unknown(value.shape) is NOT_CALLED:
                raise run.error("ValueError", "Attempted to use an uninitialized parameter in requires_grad_")
            set_flag(run, value, requires_grad)
    return self


def cast(run: Runtime, self: Instance, dtype: str) -> None:
    """Every floating parameter and buffer becomes one of this dtype."""
    run.data("casts")[id(self)] = run.here()
    for store in ("_parameters", "_buffers"):
        for _, value in owned(run, self, store):
            if isinstance(value, Weight) and is_floating(value.dtype):
                note_changed(run, value)
                value.dtype = dtype


@MEMBERS.method("to")
def to(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`module.to(...)`: another dtype for its floats, another device; the module."""
    for value in (*args, *kwargs.values()):
        if is_dtype(value):
            if not is_floating(dtype_of(value)) and dtype_of(value) not in COMPLEX:
                raise run.error("TypeError", "nn.Module.to only accepts floating point or complex dtypes")
            cast(run, self, dtype_of(value))
        elif isinstance(value, Tensor) and value.dtype != "float":
            cast(run, self, value.dtype)
        elif names_device(value):
            moved(run, self, not is_host(value))
            if value is GPU:
                run.data(BESIDE)["models"] = self
            if is_meta(value):
                note_there(run, weights_of(self))
    name = memory_formats.asked((*args, *kwargs.values()))
    for weight in weights_of(self) if name else ():
        memory_formats.mark(weight, name)
    return self


def moved(run: Runtime, self: Instance, away: bool) -> None:
    """All parameters and buffers lie on a device of the code's choice from now on, or on the host again."""
    others = [weight for weight in weights_of(self) if weight.moved != away]
    number = run.next_number() if others else 0
    for weight in others:
        weight.moves = (*weight.moves, (number, not away))
        weight.moved = away


def to_device(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`module.cuda()`: the module."""
    moved(run, self, True)
    return self


def to_host(run: Runtime, self: Instance) -> Value:
    """`module.cpu()`: the module."""
    moved(run, self, False)
    return self


def _declare_cast(name: str, dtype: str) -> None:
    def to_dtype(run: Runtime, self: Instance) -> Value:
        cast(run, self, dtype)
        return self

    MEMBERS.method(name)(to_dtype)


for _name, _dtype in (("half", "float16"), ("bfloat16", "bfloat16"), ("double", "float64"), ("float", "float")):
    _declare_cast(_name, _dtype)


@MEMBERS.method("type")
def type_(run: Runtime, self: Instance, dst_type: Value) -> Value:
    """`module.type(dtype)`: the module."""
    cast(run, self, dtype_of(dst_type))
    return self


def _itself(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return self


@MEMBERS.method("__setstate__")
def set_state(run: Runtime, self: Instance, state: Value) -> None:
    """`module.__setstate__(state)`: the attributes of a copy."""
    run.changed(self)
    if isinstance(state, dict):
        self.attributes.update(state)


MEMBERS.method("cuda", "xpu", "ipu", "mtia")(to_device)
MEMBERS.method("cpu")(to_host)
MEMBERS.method("share_memory")(_itself)


@MEMBERS.method("to_empty")
def to_empty(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`module.to_empty(device=...)`: its weights have memory; the module."""
    forget(run, weights_of(self))
    return self


def _nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return None


@MEMBERS.method("zero_grad")
def zero_grad(run: Runtime, self: Instance, set_to_none: Value = True) -> Value:
    """`module.zero_grad()`: gradients are gone."""
    cleared(run, [value for _, value in owned(run, self, "_parameters")])
    run.note("zero_grad", self, set_to_none=set_to_none)
    return None


MEMBERS.method(
    "set_extra_state", "_load_from_state_dict", "_log_api_usage_once",
    "_maybe_warn_non_full_backward_hook",
)(_nothing)  # fmt: skip

MEMBERS.update(hooks.REGISTERING)


def call_root(run: Runtime, root: Instance, inputs: Sequence[Value]) -> Value:
    """Call a model on its inputs."""
    result = run.call(root, *inputs)
    return results_as_written(run, result) if run.data(WRITTEN) else result


def doubts(run: Runtime, root: Instance) -> tuple[Unknown, ...]:
    """What of a model's training is counted otherwise than it is done."""
    found = [hooks.doubt(run, module) for module in modules_in(root)]
    for word in ("parameters", "named_parameters", "named_modules"):
        own = root.cls.find(word)
        site = getattr(own, "site", None)
        if not isinstance(own, Native) and site is not None:
            reason = f"{root.cls.name} has a {word}() of its own: what an optimizer is given is not all that it holds"
            found.append(Unknown(reason, site.path, site.line))
    return tuple(dict.fromkeys(cause for cause in found if cause is not None))


def functional_call(
    run: Runtime, module: Value, parameter_and_buffer_dicts: Value, args: Value = None, kwargs: Value = None, *,
    tie_weights: Value = True, strict: Value = False,
) -> Value:  # fmt: skip
    """torch.func.functional_call: a module called with other tensors in the place of its parameters and buffers."""
    if not isinstance(module, Instance) or not is_module(module):
        return module if isinstance(module, Unknown) else run.unknown("what is called is no module")
    several = parameter_and_buffer_dicts
    given = list(several) if isinstance(several, (tuple, list)) else [several]
    dicts = [each for each in given if isinstance(each, dict)]
    if len(dicts) < len(given):
        unknown = next(each for each in given if not isinstance(each, dict))
        return unknown if isinstance(unknown, Unknown) else run.unknown("the tensors of a call are not known by name")
    inside = dict(walk(module, unique=False))
    before: list[tuple[dict[str, Value], str, Value]] = []
    for name, value in [pair for each in dicts for pair in each.items()]:
        path, _, own = str(name).rpartition(".")
        holder = inside.get(path)
        stores = [stored(holder, store) for store in ("_parameters", "_buffers")] if holder is not None else []
        store = next((store for store in stores if own in store), None)
        if store is not None:
            run.changed(store)
            before.append((store, own, store[own]))
            store[own] = value
    arguments = tuple(args) if isinstance(args, (tuple, list)) else () if args is None else (args,)
    try:
        return run.call(module, *arguments, **(kwargs if isinstance(kwargs, dict) else {}))
    finally:
        for store, own, value in reversed(before):
            run.changed(store)
            store[own] = value
