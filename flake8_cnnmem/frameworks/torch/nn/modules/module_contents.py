"""torch.nn.Module: the methods that tell what a module holds: children, parameters, buffers, by dotted names."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from flake8_cnnmem.frameworks.torch.nn.modules.module import (
    MEMBERS,
    NOT_STORED,
    STORES,
    children_of,
    owned,
    put,
    stored,
    visited,
    walk_often,
)
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.parameter_values import values_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def prefix_of(run: Runtime, prefix: Value) -> str:
    """What a program puts before names. Its TypeError where that is no text."""
    if not isinstance(prefix, str):
        raise run.error("TypeError", "names are put behind a prefix that is no text")
    return prefix


def named(run: Runtime, prefix: Value, pairs: Iterable[tuple[str, Value]]) -> Value:
    """Pairs of a name and a value, the program's prefix in front; none of the names is known where it is not."""
    if isinstance(prefix, Unknown):
        return iter([(prefix, value) for _, value in pairs])
    before = prefix_of(run, prefix)
    return iter([(f"{before}.{name}" if before and name else before or name, value) for name, value in pairs])


def own_pairs(run: Runtime, self: Instance, word: str, *args: Value) -> list[Value] | Unknown | None:
    """The second of each pair that a method of the program's own gives (`named_parameters` of a subclass), which
    torch's methods ask as well; None where the class has torch's."""
    if self.cls.find(word) is MEMBERS[word]:
        return None
    pairs = run.items(run.call(run.get(self, word), *args))
    return pairs if isinstance(pairs, Unknown) else [run.index(pair, 1) for pair in pairs]


def unchanged(run: Runtime, self: Instance) -> Iterator[tuple[str, Instance]]:
    """The children of a module by name. Its RuntimeError where a program puts one in, or takes one out, meanwhile."""
    held = stored(self, "_modules")
    size = len(held)
    for pair in children_of(self):
        if len(held) != size:
            raise run.error("RuntimeError", "dictionary changed size during iteration")
        yield pair
    if len(held) != size:
        raise run.error("RuntimeError", "dictionary changed size during iteration")


@MEMBERS.method("children")
def children(run: Runtime, self: Instance) -> Value:
    """An iterator over the modules that a module holds directly."""
    own = own_pairs(run, self, "named_children")
    if own is not None:
        return own if isinstance(own, Unknown) else iter(own)
    return (child for _, child in unchanged(run, self))


def own_children(run: Runtime, self: Instance) -> list[Value] | Unknown:
    """What `module.children()` gives, whoever has written it."""
    if (
        self.cls.find("children") is MEMBERS["children"]
        and self.cls.find("named_children") is MEMBERS["named_children"]
    ):
        return [child for _, child in children_of(self)]
    return run.items(run.call(run.get(self, "children")))


@MEMBERS.method("named_children")
def named_children(run: Runtime, self: Instance) -> Value:
    """An iterator over pairs of name and module of those that a module holds directly."""
    return unchanged(run, self)


@MEMBERS.method("modules")
def modules(run: Runtime, self: Instance, remove_duplicate: Value = True) -> Value:
    """An iterator over a module and all below it, each once."""
    own = own_pairs(run, self, "named_modules")
    if own is not None:
        return own if isinstance(own, Unknown) else iter(own)
    return iter([module for _, module in visited(run, self)])


@MEMBERS.method("named_modules")
def named_modules(
    run: Runtime, self: Instance, memo: Value = None, prefix: Value = "", remove_duplicate: Value = True
) -> Value:
    """An iterator over pairs of dotted name and module, of a module and all below it."""
    return named(run, prefix, walk_often(run, self) if remove_duplicate is False else visited(run, self))


@MEMBERS.method("parameters")
def parameters(run: Runtime, self: Instance, recurse: Value = True) -> Value:
    """An iterator over the parameters of a module, and with `recurse` of all below it."""
    own = own_pairs(run, self, "named_parameters")
    if own is not None:
        return own if isinstance(own, Unknown) else iter(own)
    return iter([value for _, value in owned(run, self, "_parameters", recurse=recurse is not False)])


@MEMBERS.method("named_parameters")
def named_parameters(
    run: Runtime, self: Instance, prefix: Value = "", recurse: Value = True, remove_duplicate: Value = True
) -> Value:
    """`module.named_parameters()`: pairs of path and parameter, a shared one once unless it says otherwise."""
    pairs = owned(run, self, "_parameters", recurse=recurse is not False, unique=remove_duplicate is not False)
    return named(run, prefix, pairs)


@MEMBERS.method("buffers")
def buffers(run: Runtime, self: Instance, recurse: Value = True) -> Value:
    """An iterator over the buffers of a module, and with `recurse` of all below it."""
    return iter([value for _, value in owned(run, self, "_buffers", recurse=recurse is not False)])


@MEMBERS.method("named_buffers")
def named_buffers(
    run: Runtime, self: Instance, prefix: Value = "", recurse: Value = True, remove_duplicate: Value = True
) -> Value:
    """`module.named_buffers()`: pairs of path and buffer."""
    pairs = owned(run, self, "_buffers", recurse=recurse is not False, unique=remove_duplicate is not False)
    return named(run, prefix, pairs)


OWN_STATE = "_state_dict_hooks"
"""The attribute of a module whose hooks may change what it stores: why that is not known."""


@MEMBERS.method("state_dict")
def state_dict(
    run: Runtime, self: Instance, *args: Value, destination: Value = None, prefix: Value = "", keep_vars: Value = False
) -> Value:
    """An OrderedDict of the values of parameters and buffers by dotted name; with `keep_vars` of themselves."""
    if isinstance(prefix, Unknown):
        return prefix
    before = prefix_of(run, prefix)
    entries: OrderedDict[str, Value] = OrderedDict()
    for path, module in walk_often(run, self):
        not_stored = module.attributes.get(NOT_STORED, ())
        for store in ("_parameters", "_buffers"):
            for name, value in stored(module, store).items():
                if value is not None and not (store == "_buffers" and name in not_stored):
                    key = f"{before}{path}.{name}" if path else f"{before}{name}"
                    entries[key] = values_of(run, value) if type(value) is Weight and keep_vars is False else value
        if OWN_STATE in module.attributes:
            run.havoc(entries, module.attributes[OWN_STATE])
    return entries


def dotted(run: Runtime, target: Value) -> str:
    """Where a module stands, as a program says it. Its AttributeError, as in torch, where that is no text."""
    if not isinstance(target, str):
        raise run.error("AttributeError", "what is no text has no attribute 'split'")
    return target


def find_submodule(run: Runtime, self: Instance, target: str) -> Value:
    """A module below another one by its dotted name. AttributeError for one that is not there."""
    at: Value = self
    for word in target.split(".") if target else []:
        at = run.get(at, word)
        if isinstance(at, Unknown):
            return at
    return at


@MEMBERS.method("get_submodule")
def get_submodule(run: Runtime, self: Instance, target: Value) -> Value:
    """`module.get_submodule(target)`: the one of this dotted name, itself for "". AttributeError where there is
    none."""
    if isinstance(target, Unknown):
        return run.one_of([module for _, module in visited(run, self)], target)
    return find_submodule(run, self, dotted(run, target))


@MEMBERS.method("get_parameter", "get_buffer")
def get_parameter(run: Runtime, self: Instance, target: Value) -> Value:
    """`module.get_parameter(target)`, `get_buffer`: the one of this dotted name. AttributeError where there is none."""
    if isinstance(target, Unknown):
        return run.one_of([value for _, value in owned(run, self, "_parameters", recurse=True)], target)
    return find_submodule(run, self, dotted(run, target))


@MEMBERS.method("set_submodule")
def set_submodule(run: Runtime, self: Instance, target: Value, module: Value, strict: Value = False) -> Value:
    """`module.set_submodule(target, module)`: put in the place of this dotted name; None."""
    if isinstance(target, Unknown):
        # Any of the modules may be another one now.
        held = stored(self, "_modules")
        run.changed(held)
        held.update(dict.fromkeys(held, target))
        return None
    path, _, name = dotted(run, target).rpartition(".")
    parent = find_submodule(run, self, path)
    if isinstance(parent, Instance):
        put(run, parent, "_modules", name, module)
    return None


@MEMBERS.method("extra_repr")
def extra_repr(run: Runtime, self: Instance) -> Value:
    """What a module says of itself in its `repr`: nothing."""
    return ""


@MEMBERS.method("_get_name")
def get_name(run: Runtime, self: Instance) -> Value:
    """`module._get_name()`: the name of its class."""
    return self.cls.name


@MEMBERS.method("__repr__", "__str__")
def representation(run: Runtime, self: Instance) -> Value:
    """`repr(module)`: its class, and what that says of itself. What a layer of the framework tells of its arguments,
    and how the modules inside are set, is not followed."""
    if stored(self, "_modules") or any("signature" in cls.facts for cls in self.cls.mro):
        return run.unknown(f"the text of a {self.cls.name} is not known")
    return run.operate("+", f"{self.cls.name}(", run.operate("+", run.call(run.get(self, "extra_repr")), ")"))


@MEMBERS.method("__dir__")
def directory(run: Runtime, self: Instance) -> Value:
    """`dir(module)`: names of its class, attributes, parameters, buffers and modules."""
    names = {name for cls in self.cls.mro for name in cls.namespace} | set(self.attributes)
    return sorted(names | {str(name) for store in STORES for name in stored(self, store)})
