"""torch.nn.Module: parameters, buffers and submodules in live dicts, attribute access that is routed to them, and their
names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard

from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.modules import hooks
from flake8_cnnmem.frameworks.torch.nn.modules.hashes import check_hashes
from flake8_cnnmem.frameworks.torch.nn.parameter import as_buffer
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.parameter_values import ValuesOf
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Property, Value

MEMBERS = Members()
MODULE = Class("Module", namespace=MEMBERS, module="torch.nn.modules.module")

STORES = ("_parameters", "_buffers", "_modules")
NOT_STORED = "_non_persistent_buffers_set"
"""The names of buffers that `state_dict` leaves out; made when somebody asks for it, as hardly a module has any."""
SOMEWHERE = "?"
"""The name of what is registered under names that nobody knows."""
PRE_HOOKS = "_native_pre_hooks"
"""Hooks of our own that compute a weight ahead of each call (weight norm, spectral norm)."""


def is_module(value: Value) -> TypeGuard[Instance]:
    """Whether a value is an instance of nn.Module."""
    return isinstance(value, Instance) and MODULE in value.cls.mro


def stored(instance: Instance, name: str) -> dict[str, Any]:
    """One of the three dicts, made when a class forgot to call `super().__init__()`."""
    found = instance.attributes.get(name)
    if not isinstance(found, dict):
        found = instance.attributes[name] = {}
    return found


def children_of(instance: Instance) -> list[tuple[str, Instance]]:
    """The modules directly inside, each once under its first name, as `named_children` gives them."""
    modules = stored(instance, "_modules")
    if not modules:
        return []
    found: dict[int, tuple[str, Instance]] = {}
    for name, child in modules.items():
        if isinstance(child, Instance):
            found.setdefault(id(child), (str(name), child))
    return list(found.values())


def walk(root: Instance, unique: bool = True) -> Iterator[tuple[str, Instance]]:
    """The module and all inside it with dotted names, in the order of `named_modules`."""
    seen: set[int] = set()
    waiting = [("", root)]
    while waiting:
        path, instance = waiting.pop()
        if unique:
            if id(instance) in seen:
                continue
            seen.add(id(instance))
        yield path, instance
        modules = stored(instance, "_modules")
        if modules:
            before = f"{path}." if path else ""
            inner = [(f"{before}{name}", child) for name, child in modules.items() if type(child) is Instance]
            inner.reverse()
            waiting += inner


def modules_in(root: Instance) -> list[Instance]:
    """The module and all inside it as `walk` gives them, each once, for those who ask for no names."""
    found: dict[int, Instance] = {}
    waiting = [root]
    while waiting:
        instance = waiting.pop()
        key = id(instance)
        if key not in found:
            found[key] = instance
            modules = instance.attributes.get("_modules")
            if isinstance(modules, dict):
                waiting += [child for child in reversed(modules.values()) if type(child) is Instance]
    return list(found.values())


def visited(run: Runtime, root: Instance) -> list[tuple[str, Instance]]:
    """As `walk`, for a program that asks for it: as often as it likes. torch puts the modules that it has come by into
    a set: TypeError for one that has no hash, as an instance of a plain dataclass."""
    found = list(walk(root))
    run.spend(len(found) // 2)
    check_hashes(run, {instance.cls for _, instance in found if instance.cls.site is not None})
    return found


def owned(
    run: Runtime, root: Instance, store: str, recurse: bool = True, unique: bool = True
) -> Iterator[tuple[str, Value]]:
    """Parameters or buffers with dotted names, in the order of `named_parameters`; each once if `unique`, else under
    each of its names."""
    seen: set[int] = set()
    inside = visited(run, root) if unique else walk_often(run, root)
    for path, instance in inside if recurse else [("", root)]:
        for name, value in stored(instance, store).items():
            if value is None or (unique and id(value) in seen):
                continue
            seen.add(id(value))
            yield f"{path}.{name}" if path else str(name), value


DEEPEST = 900
"""So many modules inside one another are followed: Python itself ends there, in a module that holds itself."""


def walk_often(run: Runtime, root: Instance) -> Iterator[tuple[str, Instance]]:
    """As `walk`, but a shared module under each of its names, which takes as long as there are paths to it."""
    for path, instance in walk(root, unique=False):
        depth = path.count(".")
        if depth > DEEPEST:
            raise run.error("RecursionError", "a module holds itself")
        run.spend(1 + depth // 16)
        yield path, instance


def weights_of(root: Instance) -> list[Weight]:
    """All parameters in the order of `named_parameters`, then all buffers, each once."""
    inside = [instance.attributes for instance in modules_in(root)]
    found: dict[int, Weight] = {}
    for store in ("_parameters", "_buffers"):
        for attributes in inside:
            held = attributes.get(store)
            if isinstance(held, dict):
                for value in held.values():
                    if isinstance(value, Weight):
                        found.setdefault(id(value), value)
    return list(found.values())


def as_moved(root: Instance) -> list[Weight]:
    """The weights in the order in which `.cuda()` comes to them (`Module._apply`): a module's children first, then its
    own parameters and its buffers."""
    order: list[Instance] = []
    open_modules: list[tuple[str, Instance]] = []
    for path, instance in walk(root):
        while open_modules and not path.startswith(f"{open_modules[-1][0]}." if open_modules[-1][0] else ""):
            order.append(open_modules.pop()[1])
        open_modules.append((path, instance))
    order += [instance for _, instance in reversed(open_modules)]
    found: dict[int, Weight] = {}
    for instance in order:
        for store in ("_parameters", "_buffers"):
            for value in stored(instance, store).values():
                if isinstance(value, Weight):
                    found.setdefault(id(value), value)
    return list(found.values())


def paths_of(root: Instance) -> dict[int, str]:
    """By `id` of each module below a root, its dotted name."""
    return {id(instance): path for path, instance in walk(root)}


@MEMBERS.method("__init__")
def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`nn.Module.__init__()`: empty parameters, buffers and modules, training."""
    run.changed(self)
    self.attributes.update(training=True, _parameters={}, _buffers={}, _modules={})
    return None


@MEMBERS.method("__getattr__")
def get_attribute(run: Runtime, self: Instance, name: str) -> Value:
    """A parameter, buffer or module by its name. AttributeError for one that it does not have."""
    attributes = self.attributes
    for store in STORES:
        held = attributes.get(store)
        if isinstance(held, dict) and name in held:
            return held[name]
    if name in hooks.STORES:
        return hooks.store_of(run, self, name)
    if name == NOT_STORED:
        run.changed(self)
        made: set[str] = attributes.setdefault(NOT_STORED, set())
        return made
    cause = self.cls.any_unknown_base()
    if cause is not None:
        return cause
    raise run.error("AttributeError", f"'{self.cls.name}' object has no attribute '{name}'")


@MEMBERS.method("__setattr__")
def set_attribute(run: Runtime, self: Instance, name: str | Unknown, value: Value) -> Value:
    """`module.name = value`: parameters and modules are registered, anything else is an attribute."""
    if isinstance(name, Unknown):
        set_somewhere(run, self, name, value)
        return None
    if isinstance(value, Instance) and MODULE in value.cls.mro:
        put(run, self, "_modules", name, value)
    elif type(value) is ValuesOf:
        set_other(run, self, name, value)
    elif isinstance(value, Weight) and not value.buffer:
        if "_parameters" in self.attributes:
            check_name(run, "parameter", name)
        put(run, self, "_parameters", name, value)
    elif isinstance(value, Weight) and name not in stored(self, "_buffers"):
        put(run, self, "_buffers", name, value)
    elif (cause := perhaps_module(value)) is not None:
        put(run, self, "_modules", name, cause)
    else:
        set_other(run, self, name, value)
    return None


MEMBERS["__setattr__"] = Native("__setattr__", set_attribute, propagate_unknown=False, of_values=True)
"""What `parameter.data` gives is a tensor, and no parameter."""


def perhaps_module(value: Value) -> Unknown | None:
    """The cause for a value that may be a module: one of several of which one is, a module or None, or an object of a
    class whose base is one of several."""
    if isinstance(value, Instance):
        base = value.cls.any_unknown_base()
        return base if base is not None and base.of_layers else None
    if not isinstance(value, Unknown):
        return None
    return value if value.of_layers or is_module(value.instead) else None


def set_somewhere(run: Runtime, self: Instance, name: Unknown, value: Value) -> None:
    """`setattr(module, name, value)` under a name that nobody knows: one more module or parameter, or several. Anything
    else may stand for any attribute, and in the place of a module."""
    put(run, self, "_parameters" if isinstance(value, Weight) else "_modules", SOMEWHERE, name)
    if not is_module(value) and not isinstance(value, Weight):
        run.changed(self)
        for word in self.attributes.keys() - {*STORES}:
            self.attributes[word] = name


def set_other(run: Runtime, self: Instance, name: str, value: Value) -> None:
    """A value that is neither a parameter nor a module: it may still stand for one under a registered name."""
    for store in STORES:
        held = self.attributes.get(store)
        if isinstance(held, dict) and name in held:
            if store == "_buffers" and isinstance(value, Tensor):
                value = as_buffer(run, value)
            elif value is not None and not isinstance(value, Unknown) and self.cls.any_unknown_base() is None:
                wanted = {"_parameters": "parameter", "_modules": "child module"}.get(store, "buffer")
                raise run.error("TypeError", f"cannot assign another value as {wanted} '{name}'")
            run.changed(held)
            held[name] = value
            return
    found = self.cls.find(name)
    if isinstance(found, Property) and found.fset is not None:
        run.call(found.fset, self, value)
        return
    run.set_plainly(self, name, value)


def put(run: Runtime, self: Instance, store: str, name: str, value: Value) -> None:
    """Register under a name, taking it away from wherever else it stood."""
    attributes = self.attributes
    if store not in attributes and self.cls.any_unknown_base() is None:
        what = {"_parameters": "parameters", "_modules": "module"}.get(store, "buffer")
        raise run.error("AttributeError", f"cannot assign {what} before Module.__init__() call")
    if run.data(hooks.FOR_ALL):
        value = hooks.before_registration(run, self, store, name, value)
    if name in attributes:
        run.changed(self)
        del attributes[name]
    for other in STORES:
        if other != store:
            held = attributes.get(other)
            if isinstance(held, dict) and name in held:
                run.changed(held)
                del held[name]
    held = stored(self, store)
    run.changed(held)
    held[name] = value
    if isinstance(value, Weight) and not value.name:
        value.name = name


@MEMBERS.method("__delattr__")
def delete_attribute(run: Runtime, self: Instance, name: str) -> Value:
    """`del module.name`: out of the store that has it, else as of any object."""
    for store in STORES:
        held = self.attributes.get(store)
        if isinstance(held, dict) and name in held:
            run.changed(held)
            del held[name]
            return None
    run.delete_plainly(self, name)
    return None


def check_name(run: Runtime, what: str, name: str) -> None:
    """KeyError for a name that nothing may be registered under: without a letter, or with a dot."""
    if name == "":
        raise run.error("KeyError", f'{what} name can\'t be empty string ""')
    if isinstance(name, str) and "." in name:
        raise run.error("KeyError", f'{what} name can\'t contain "."')


@MEMBERS.method("register_parameter")
def register_parameter(run: Runtime, self: Instance, name: str, param: Value) -> Value:
    """`module.register_parameter(name, param)`: under the name in `_parameters`, None as well."""
    check_name(run, "parameter", name)
    if isinstance(param, Tensor) and not isinstance(param, Weight):
        raise run.error(
            "TypeError", f"cannot assign a tensor to parameter '{name}' (torch.nn.Parameter or None required)"
        )
    put(run, self, "_parameters", name, param)
    return None


@MEMBERS.method("register_buffer")
def register_buffer(run: Runtime, self: Instance, name: str, tensor: Value, persistent: Value = True) -> Value:
    """`self.register_buffer(name, tensor)`: part of the state unless `persistent` is False."""
    check_name(run, "buffer", name)
    buffer = as_buffer(run, tensor) if isinstance(tensor, Tensor) else tensor
    put(run, self, "_buffers", name, buffer)
    stored_not = {word for word in self.attributes.get(NOT_STORED, ()) if word != name}
    run.changed(self)
    self.attributes[NOT_STORED] = stored_not | {name} if persistent is False else stored_not
    return None


@MEMBERS.method("register_module")
def register_module(run: Runtime, self: Instance, name: str, module: Value) -> Value:
    """`module.register_module(name, module)`: calls `add_module`, which a class may have of its own."""
    return run.call(run.get(self, "add_module"), name, module)


@MEMBERS.method("add_module")
def add_module(run: Runtime, self: Instance, name: str, module: Value) -> Value:
    """`module.add_module(name, module)`: under the name in `_modules`. TypeError for what is no module."""
    if isinstance(name, Unknown):
        put(run, self, "_modules", SOMEWHERE, name)
        return None
    if isinstance(module, Unknown):
        # Under its name it stays visible as what could not be worked out.
        put(run, self, "_modules", name, module)
        return None
    if module is not None and not is_module(module):
        raise run.error("TypeError", "the value is not a Module subclass")
    check_name(run, "module", name)
    if isinstance(name, str) and name not in stored(self, "_modules") and run.find(self, name) is not MISSING:
        raise run.error("KeyError", f"attribute '{name}' already exists")
    put(run, self, "_modules", name, module)
    return None
