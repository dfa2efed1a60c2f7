"""Registries that build objects from settings: mmengine's (and mmcv's before it), with parents, scopes and `build`.

https://mmengine.readthedocs.io/en/latest/advanced_tutorials/registry.html, and mmengine 0.10's registry.py. What a
registry holds is filled by modules that are imported for their effect: the interpreter looks for what registers a key
when it is asked for (`evaluate/registries.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.registries import registered_elsewhere
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Property, StaticMethod, Value

SCOPE = "default scope"
"""The key of `Runtime.data` for the scope that `init_default_scope` sets."""

HELD = "_module_dict"


def native(name: str, function: Callable[..., Value]) -> Native:
    """A function of registries and settings. What it is handed in their place has not their attributes: a TypeError of
    the program, as where a function of the host is handed it."""

    def of_these(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
        try:
            return function(run, *args, **kwargs)
        except (AttributeError, KeyError) as error:
            raise TypeError(str(error)) from None

    return Native(name, of_these, propagate_unknown=False)


def init(
    run: Any, self: Instance, name: Value, build_func: Value = None, parent: Value = None, scope: Value = None,
    locations: Value = (), *args: Value, **kwargs: Value,
) -> None:  # fmt: skip
    held: dict[Value, Value] = {}
    module = run.importing or (run.frame.module if run.frame is not None else None)
    if module is not None:
        run.registries[id(held)] = (held, module)
    inferred = module.name.partition(".")[0] if module is not None else "mmengine"
    above = parent if isinstance(parent, Instance) else None
    if build_func is None and above is not None:
        build_func = above.attributes["build_func"]
    run.changed(self)
    self.attributes.update({
        "_name": name, "name": name, "_scope": scope or inferred, "scope": scope or inferred, "parent": above,
        "_children": {}, "children": {}, "build_func": build_func, HELD: held, "module_dict": held,
        "_locations": locations,
    })  # fmt: skip
    if above is not None:
        run.changed(above.attributes["_children"])
        above.attributes["_children"][scope or inferred] = self


def root(name: str) -> Instance:
    """A registry without a parent, of which the source is not read: modules that the program imports fill it."""
    held: dict[Value, Value] = {}
    return Instance(REGISTRY, {
        "_name": name, "name": name, "_scope": "mmengine", "scope": "mmengine", "parent": None, "_children": {},
        "children": {}, "build_func": None, HELD: held, "module_dict": held, "_locations": (),
    })  # fmt: skip


def root_of(registry: Instance) -> Instance:
    while isinstance(registry.attributes.get("parent"), Instance):
        registry = registry.attributes["parent"]
    return registry


def below(registry: Instance) -> Iterator[Instance]:
    """A registry and all that have it as their parent, or their parent's."""
    yield registry
    for child in registry.attributes["_children"].values():
        yield from below(child)


def scoped(run: Any, registry: Instance, scope: Value) -> Instance | None:
    """The registry of a scope among those of one root; that of a package is made when the package's `registry` is
    imported."""
    root = root_of(registry)
    found = next((each for each in below(root) if each.attributes["_scope"] == scope), None)
    if found is None and isinstance(scope, str) and scope.isidentifier():
        module = run.importer.find(f"{scope}.registry")
        # Those of a package's registries that hang below this root are known when they are asked for.
        for word in module.names(run) if hasattr(module, "names") else ():
            made = run.find(module, word)
            if isinstance(made, Instance) and HELD in made.attributes and root_of(made) is root:
                return made
    return found


def own(run: Any, registry: Instance, key: str) -> Value:
    """What a registry itself holds under a key, once what registers it has been found; or MISSING."""
    held = registry.attributes[HELD]
    if key not in held:
        if id(held) in run.registries:
            run.importer.registered(held, key)
        else:
            registered_elsewhere(run.importer, os.devnull, held, ("register_module",), key)
    found: Value = held.get(key, MISSING)
    return found


def get(run: Any, self: Instance, key: Value) -> Value:
    """By `scope.key` from that scope's registry; else from the registry itself, its parents, and those of other scopes.
    None where it is nowhere."""
    word = payload(key)
    if not isinstance(word, str):
        return key if isinstance(key, Unknown) else None
    scope, divided, real = word.partition(".")
    if divided:
        registry = scoped(run, self, scope)
        if registry is not None:
            found = own(run, registry, real)
            if found is not MISSING:
                return found
        module, _, last = word.rpartition(".")
        source = run.importer.find(module)
        found = run.find(source, last) if source is not None else MISSING
        return None if found is MISSING else found
    at: Value = self
    while isinstance(at, Instance):
        found = own(run, at, word)
        if found is not MISSING:
            return found
        at = at.attributes.get("parent")
    return None


def in_force(run: Any, self: Instance, scope: Value = None) -> Instance:
    """The registry of a scope, of the default scope unless one is given; the registry itself where there is none."""
    wanted = scope if isinstance(scope, str) else run.data(SCOPE).get("scope")
    found = scoped(run, self, wanted) if wanted is not None else None
    return found if found is not None else self


def register(run: Any, self: Instance, name: Value = None, force: Value = False, module: Value = None) -> Value:
    """`@R.register_module()`, `@R.register_module("x")`, `R.register_module("x", module=X)`, `@R.register_module`."""
    if isinstance(name, (Class, Function)):
        name, module = None, name
    if module is not None:
        keep(run, self, name, module)
        return module

    def decorate(run: Any, value: Value) -> Value:
        keep(run, self, name, value)
        return value

    return native("register_module", decorate)


def keep(run: Any, self: Instance, name: Value, value: Value) -> None:
    held = self.attributes[HELD]
    plain = payload(name)
    words = plain if isinstance(plain, (list, tuple)) else [plain]
    run.changed(held)
    for word in words:
        if isinstance(word, Unknown):
            run.havoc(held, word)
        else:
            held[word if word is not None else name_of(value)] = value


def name_of(value: Value) -> Value:
    return getattr(value, "name", None)


def build(run: Any, self: Instance, cfg: Value, *args: Value, **kwargs: Value) -> Value:
    function = self.attributes.get("build_func")
    if isinstance(function, (Function, Bound)):
        return run.call(function, cfg, *args, **kwargs, registry=self)
    return build_model(run, cfg, self, *args, **kwargs)


def build_model(
    run: Any, cfg: Value, registry: Value, default_args: Value = None, *args: Value, **kwargs: Value
) -> Value:
    """One object; of a list of settings a torch Sequential of them."""
    items = payload(cfg)
    if isinstance(items, list):
        made = [build_one(run, each, registry, default_args) for each in items]
        return run.call(run.importer.member("torch.nn", "Sequential"), *made)
    return build_one(run, cfg, registry, default_args)


def build_one(run: Any, cfg: Value, registry: Any, default_args: Value = None) -> Value:
    """What `type` names, called with the other settings. Raises KeyError for a type that nothing registers."""
    if isinstance(cfg, Unknown):
        return cfg
    items, defaults = payload(cfg), payload(default_args)
    if not isinstance(items, dict):
        raise run.error("TypeError", "cfg should be a dict, ConfigDict or Config")
    cause = run.havocked.get(id(items))
    if cause is not None:
        return cause[1]
    given = {**(defaults if isinstance(defaults, dict) else {}), **items}
    scope = given.pop("_scope_", None)
    kind = given.pop("type", MISSING)
    if kind is MISSING:
        raise run.error("KeyError", '`cfg` or `default_args` must contain the key "type"')
    if isinstance(kind, Unknown):
        return kind
    seen = run.data(SCOPE)
    before = seen.get("scope")
    if isinstance(scope, str):
        run.changed(seen)
        seen["scope"] = scope
    try:
        if isinstance(payload(kind), str):
            word = payload(kind)
            at = in_force(run, registry) if isinstance(registry, Instance) else registry
            kind = get(run, at, word)
            if kind is None and at is not registry:
                kind = get(run, registry, word)
            if kind is None:
                # What registers it is not among what can be read: an operator in C++, a package that is not found.
                return run.unknown(f"nothing that is found registers {word}")
        return run.call(kind, **{str(payload(key)): value for key, value in given.items()})
    finally:
        if isinstance(scope, str):
            run.changed(seen)
            seen["scope"] = before


SWITCH = native_class(
    "switch_scope_and_registry",
    {
        "__enter__": native("__enter__", lambda run, self: self.attributes["registry"]),
        "__exit__": ignored("__exit__"),
    },
)


def switched(run: Any, self: Instance, scope: Value = None) -> Value:
    return Instance(SWITCH, {"registry": in_force(run, self, scope)})


def contains(run: Any, self: Instance, key: Value) -> Value:
    return key if isinstance(key, Unknown) else get(run, self, key) is not None


REGISTRY = native_class(
    "Registry",
    {
        "__init__": native("__init__", init), "get": native("get", get), "build": native("build", build),
        "register_module": native("register_module", register), "__contains__": native("__contains__", contains),
        "switch_scope_and_registry": native("switch_scope_and_registry", switched),
        "import_from_location": ignored("import_from_location"),
        "_add_child": ignored("_add_child"),
        "root": Property(native("root", lambda run, self: root_of(self))),
        "_get_root_registry": native("root", lambda run, self: root_of(self)),
        "_register_module": native("register", lambda run, self, module, module_name=None, force=False:
                                   keep(run, self, module_name, module)),
        "split_scope_key": StaticMethod(native("split_scope_key", lambda run, key:
                                               tuple(key.split(".", 1)) if "." in key else (None, key))),
    },
    module="mmengine.registry.registry",
)  # fmt: skip


def init_default_scope(run: Runtime, scope: Value) -> None:
    seen = run.data(SCOPE)
    run.changed(seen)
    seen["scope"] = payload(scope)


BUILDERS: dict[str, Value] = {
    "build_from_cfg": native("build_from_cfg", build_one),
    "build_model_from_cfg": native("build_model_from_cfg", build_model),
}
