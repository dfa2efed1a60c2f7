"""Hooks of torch.nn.Module: functions that run before and after a forward pass, and may give it other arguments or
another result.

By torch/nn/modules/module.py (`_call_impl`): hooks for all modules come before those of the module itself, each in the
order in which they were registered; one that gives None changes nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Raised, Value

BEFORE, AFTER = "_forward_pre_hooks", "_forward_hooks"
BACKWARD = ("_backward_hooks", "_backward_pre_hooks")
WITH_KWARGS = {BEFORE: "_forward_pre_hooks_with_kwargs", AFTER: "_forward_hooks_with_kwargs"}
"""Which of the hooks, by their number, take the keyword arguments too."""

ALWAYS = "_forward_hooks_always_called"
"""Which of the hooks behind a forward pass are called even when it raises."""

STORES = frozenset({BEFORE, AFTER, *BACKWARD, *WITH_KWARGS.values(), ALWAYS})
"""The attributes of a module that hold hooks, each a dict from a hook's number to the hook."""

FOR_ALL = "hooks of all modules"
"""Scratch of the run: the stores of torch.nn.modules.module."""

REGISTRATION = {"_parameters": "parameter", "_buffers": "buffer", "_modules": "module"}
"""By the store of a module what the hooks of all modules are called that run before something is registered there."""

ON_BACKWARD = "hooks of backward passes"
"""Scratch of the run: the last hook of a backward pass that was registered, whether it is still there or not."""

handles = Members()
HANDLE = Class("RemovableHandle", namespace=handles, module="torch.utils.hooks")
"""What registering a hook gives: `native` are the dicts that hold it."""


@handles.method("remove")
def remove(run: Runtime, self: Instance) -> Value:
    """`handle.remove()`: the hook is not run any more."""
    for store in self.native or ():
        if self.attributes["id"] in store:
            run.changed(store)
            del store[self.attributes["id"]]
    return None


@handles.method("__enter__")
def enter(run: Runtime, self: Instance) -> Value:
    """`with handle`: the handle."""
    return self


@handles.method("__exit__")
def leave(run: Runtime, self: Instance, *exception: Value) -> Value:
    """The end of `with handle`, which removes the hook."""
    return remove(run, self)


def store_of(run: Runtime, module: Instance | None, name: str) -> OrderedDict[int, Value]:
    """The dict of this name: of a module, or of all modules; made when it is first asked for."""
    attributes = run.data(FOR_ALL) if module is None else module.attributes
    found = attributes.get(name)
    if not isinstance(found, OrderedDict):
        if module is not None:
            run.changed(module)
        found = attributes[name] = OrderedDict()
    return found


def add(
    run: Runtime, module: Instance | None, name: str, hook: Value, prepend: Value = False, with_kwargs: Value = False,
    always: Value = False,
) -> Instance:  # fmt: skip
    """Enter a hook, and give its handle."""
    if name in BACKWARD:
        run.data(ON_BACKWARD)["hook"] = hook
    numbers = run.data("hook numbers")
    numbers["last"] = number = numbers.get("last", -1) + 1
    stores = [store_of(run, module, name)]
    if with_kwargs is True and name in WITH_KWARGS:
        stores.append(store_of(run, module, WITH_KWARGS[name]))
    if always is True and name == AFTER:
        stores.append(store_of(run, module, ALWAYS))
    for store in stores:
        run.changed(store)
        store[number] = True if store is not stores[0] else hook
        if prepend is True:
            store.move_to_end(number, last=False)
    return Instance(HANDLE, {"id": number}, native=stores)


def set_in_backward(run: Runtime) -> Value:
    """What an attribute is that a tensor does not have for us: hooks of the backward pass, which are not run, may have
    set it (libraries for gradients of single samples do). MISSING in a program without such hooks."""
    hook = run.data(ON_BACKWARD).get("hook")
    return MISSING if hook is None else run.unknown("what a backward hook sets on a tensor is not followed")


def register(name: str, takes_kwargs: bool) -> Native:
    """`module.register_forward_hook` and its like, for the store of this name."""

    def with_options(
        run: Runtime, self: Instance, hook: Value, *, prepend: Value = False, with_kwargs: Value = False,
        always_call: Value = False,
    ) -> Value:  # fmt: skip
        return add(run, self, name, hook, prepend, with_kwargs, always_call)

    def plain(run: Runtime, self: Instance, hook: Value, prepend: Value = False) -> Value:
        return add(run, self, name, hook, prepend)

    return Native("register_hook", with_options if takes_kwargs else plain, propagate_unknown=False)


def register_for_all(name: str) -> Native:
    """The same for all modules: `torch.nn.modules.module.register_module_forward_hook`."""

    def for_all(run: Runtime, hook: Value, *, with_kwargs: Value = False, always_call: Value = False) -> Value:
        return add(run, None, name, hook, False, with_kwargs, always_call)

    return Native("register_module_hook", for_all, propagate_unknown=False)


def before_registration(run: Runtime, self: Instance, store: str, name: Value, value: Value) -> Value:
    """What is registered under a name: the hooks of all modules may give something else."""
    registered = run.data(FOR_ALL).get(f"{REGISTRATION[store]} registration")
    for hook in list(registered.values()) if registered else ():
        found = run.call(hook, self, name, value)
        value = value if found is None else found
    return value


REGISTERING = {
    "register_forward_pre_hook": register(BEFORE, True),
    "register_forward_hook": register(AFTER, True),
    "register_full_backward_hook": register(BACKWARD[0], False),
    "register_full_backward_pre_hook": register(BACKWARD[1], False),
    "register_backward_hook": register(BACKWARD[0], False),
}
"""Methods of a module."""

REGISTERING_FOR_ALL = {
    "register_module_forward_pre_hook": register_for_all(BEFORE),
    "register_module_forward_hook": register_for_all(AFTER),
    **{
        f"register_module_{what}_registration_hook": register_for_all(f"{what} registration")
        for what in REGISTRATION.values()
    },
    "register_module_full_backward_hook": register_for_all(BACKWARD[0]),
    "register_module_full_backward_pre_hook": register_for_all(BACKWARD[1]),
    "register_module_backward_hook": register_for_all(BACKWARD[0]),
}
"""Functions of torch.nn.modules.module."""


def holds(attributes: Mapping[str, Any], *names: str) -> bool:
    """Whether one of these stores holds a hook, or may hold one: code that is not followed may have changed it."""
    # Asked at every call of a module, of which hardly one has any.
    for name in names:
        store = attributes.get(name)
        if store is not None and (isinstance(store, Unknown) or store):
            return True
    return False


def hooked(run: Runtime, module: Instance) -> bool:
    """Whether any function runs around the forward pass of a module, or may."""
    everywhere = run.data(FOR_ALL)
    return holds(module.attributes, BEFORE, AFTER) or (bool(everywhere) and holds(everywhere, BEFORE, AFTER))


def of(run: Runtime, module: Instance, name: str) -> Iterator[tuple[Value, bool]]:
    """The hooks of a kind in their order, each with whether it takes the keyword arguments. One may remove itself.
    Where it is not known which there are, that stands for a hook."""
    everywhere: Mapping[str, Any] = run.data(FOR_ALL)
    for attributes in (everywhere, module.attributes):
        held, with_kwargs = attributes.get(name), attributes.get(WITH_KWARGS[name])
        if isinstance(held, Unknown):
            yield held, False
            continue
        for number, hook in list((held or {}).items()):
            yield hook, isinstance(with_kwargs, dict) and number in with_kwargs


Arguments = tuple[tuple[Value, ...], dict[str, Value]]


def before(run: Runtime, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Arguments:
    """The arguments of a forward pass, as the hooks ahead of it leave them."""
    for hook, with_kwargs in of(run, module, BEFORE):
        given = run.call(hook, module, args, kwargs) if with_kwargs else run.call(hook, module, args)
        if given is None:
            continue
        if isinstance(given, Unknown):
            args, kwargs = tuple(given for _ in args), dict.fromkeys(kwargs, given)
        elif not with_kwargs:
            args = given if isinstance(given, tuple) else (given,)
        elif isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], dict):
            args, kwargs = given
        else:
            raise run.error("RuntimeError", "forward pre-hook must return None or a tuple of (new_args, new_kwargs)")
    return args, kwargs


def after(run: Runtime, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value], result: Value) -> Value:
    """What a module gives, as the hooks behind its forward pass leave it."""
    for hook, with_kwargs in of(run, module, AFTER):
        given = run.call(hook, module, args, *([kwargs] if with_kwargs else []), result)
        result = result if given is None else given
    return result


def after_error(run: Runtime, module: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """What a forward pass that raises still runs: the hooks behind it that are always called, without a result. Their
    own errors are but warnings."""
    for attributes in (run.data(FOR_ALL), module.attributes):
        called, always, with_kwargs = (attributes.get(name) or {} for name in (AFTER, ALWAYS, WITH_KWARGS[AFTER]))
        for number, hook in list(called.items() if always else ()):
            if number in always:
                with suppress(Raised):
                    run.call(hook, module, args, *([kwargs] if number in with_kwargs else []), None)


def doubt(run: Runtime, module: Instance) -> Unknown | None:
    """Why the backward pass of a module is not counted as it will be: what its hooks keep or change of it."""
    if any(holds(attributes, *BACKWARD) for attributes in (module.attributes, run.data(FOR_ALL))):
        site = module.site
        reason = f"what a backward hook of {module.cls.name} holds of the backward pass is not followed"
        return Unknown(reason, *((site.path, site.line) if site is not None else ()))
    return None
