"""flax.linen.Module: fields, `setup` and `nn.compact`, parameters and variables, `init` and `apply`.

A module holds no parameters of its own in Flax: they are a tree of names that `init` makes and `apply` is given. Here
each name's parameter is made when the code first asks for it, and found again in every later call.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, TypeGuard

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.flax.arrays import as_array
from flake8_cnnmem.frameworks.flax.fields import bound_fields, fields_of
from flake8_cnnmem.frameworks.flax.jax.random import KEY
from flake8_cnnmem.frameworks.flax.scopes import Scope, adopt, modules_in, running, scope_of
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Property, Value, native

MODULE = Class("Module", module="flax.linen")

COMPACT = "compact"
NOWRAP = "nowrap"
CHECKPOINT = "computed again on the way back"
"""A fact of classes that `nn.remat` has made."""

OWN_FIELDS = ("parent", "name")
"""What every module takes by name."""

FLAGS = {"train": True, "training": True, "is_training": True, "deterministic": False, "eval": False, "test": False}
"""What the arguments of models that switch dropout and statistics are called, with their values in training."""


def is_module(value: Value) -> TypeGuard[Instance]:
    """Whether a value is an instance of flax.linen.Module."""
    return isinstance(value, Instance) and value.cls.derives_from(MODULE)


# --- classes ----------------------------------------------------------------------------------------------------------


def subclassed(run: Runtime, cls: Class, **options: Value) -> Value:
    """Each method of a module's class runs within the module, as `Module.__init_subclass__` sees to."""
    run.changed(cls.namespace)
    for word, value in list(cls.namespace.items()):
        plain = not word.startswith("__") or word == "__call__"
        if plain and type(value).__name__ == "Function" and NOWRAP not in value.attributes and word != "setup":
            cls.namespace[word] = within(word, value)
    return None


def within(word: str, function: Any) -> Native:
    """A method of a module as the module's own scope runs it."""
    compact = COMPACT in function.attributes

    def method(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        if not is_module(self):
            return run.call(function, self, *args, **kwargs)
        return run_method(run, self, Bound(function, self), args, kwargs, compact)

    method.__wrapped__ = function  # type: ignore[attr-defined]
    return Native(word, method, propagate_unknown=False)


def compact(run: Runtime, fun: Value) -> Value:
    """`@nn.compact`."""
    if not isinstance(fun, Unknown):
        run.set(fun, COMPACT, True)
    return fun


def nowrap(run: Runtime, fun: Value) -> Value:
    """`@nn.nowrap`: a method that is run as it is."""
    run.set(fun, NOWRAP, True)
    return fun


def run_method(
    run: Runtime, self: Instance, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value], compact: bool
) -> Value:
    """Call a method of a module: modules that it makes are the module's own."""
    stack = running(run)
    prepare(run, self)
    scope = scope_of(self)
    outermost = not any(each is self for each in stack)
    if outermost and compact:
        run.changed(scope.counters)
        scope.counters.clear()
    stack.append(self)
    try:
        with ExitStack() as contexts:
            if outermost:
                if self.cls.facts.get(CHECKPOINT):
                    contexts.enter_context(run.enter(None, checkpoint=True))
                contexts.enter_context(run.enter(self))
            return run.call(function, *args, **kwargs)
    finally:
        stack.pop()


def prepare(run: Runtime, self: Instance) -> None:
    """Run a module's `setup` before the first of its methods."""
    progress = scope_of(self).progress
    if progress.get("ready"):
        return
    run.changed(progress)
    progress["ready"] = True
    for name in fields_of(self.cls):
        own_modules(run, self, name, self.attributes.get(name))
    setup = self.cls.find("setup")
    if setup is MISSING:
        return
    progress["in setup"] = True
    stack = running(run)
    stack.append(self)
    try:
        run.call(Bound(setup, self))
    finally:
        stack.pop()
        progress["in setup"] = False


def own_modules(run: Runtime, self: Instance, name: str, value: Value) -> None:
    """Give modules that an attribute holds, and that stand nowhere yet, their place under its name."""
    for rest, found in modules_in(value):
        if is_module(found) and found is not self and scope_of(found).parent is None:
            adopt(run, self, name + rest, found)


# --- instances --------------------------------------------------------------------------------------------------------


def needed_fields(cls: Class) -> tuple[str, ...]:
    """The fields of a module's class that have no default."""
    return tuple(name for name, default in fields_of(cls).items() if default is MISSING and name not in OWN_FIELDS)


def module_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """The constructor of a module: its fields, name and parent."""
    bound = bound_fields(run, self.cls, args, kwargs, OWN_FIELDS)
    name, parent = bound.pop("name", None), bound.pop("parent", MISSING)
    run.changed(self)
    self.attributes.update(bound)
    self.native = Scope(name if isinstance(name, str) else "")
    stack = running(run)
    holder: Instance | None = parent if is_module(parent) else None
    if holder is None and stack and parent is MISSING:
        holder = stack[-1]
    if holder is not None:
        scope = scope_of(holder)
        if isinstance(name, str):
            adopt(run, holder, name, self)
        elif not scope.progress.get("in setup"):
            adopt(run, holder, next_name(run, scope, self.cls.name), self)
    hook = self.cls.find("__post_init__")
    if hook is not MISSING:
        run.call(Bound(hook, self))


def next_name(run: Runtime, scope: Scope, prefix: str) -> str:
    """`Dense_0`, `Dense_1`, ...: the name of a module that is made without one."""
    run.changed(scope.counters)
    number = scope.counters.get(prefix, 0)
    scope.counters[prefix] = number + 1
    return f"{prefix}_{number}"


def set_attribute(run: Runtime, self: Instance, name: str, value: Value) -> None:
    """`self.name = value` in `setup`: modules become submodules of that name."""
    scope = scope_of(self)
    if not scope.progress.get("in setup"):
        run.set_plainly(self, name, value)
        return
    run.changed(scope.made)
    scope.made[name] = value
    own_modules(run, self, name, value)


def get_attribute(run: Runtime, self: Instance, name: str) -> Value:
    """What `setup` has set."""
    made = scope_of(self).made
    if name not in made:
        raise run.error("AttributeError", f"'{self.cls.name}' object has no attribute '{name}'")
    return made[name]


def copied(run: Runtime, self: Instance, parent: Value = None, **updates: Value) -> Value:
    """`module.clone()` and `module.copy()`: the same with other fields, which stands nowhere yet."""
    fields = {name: self.attributes[name] for name in fields_of(self.cls) if name in self.attributes}
    return run.construct(self.cls, **{**fields, **updates, "parent": parent})


# --- parameters -------------------------------------------------------------------------------------------------------


def make_weight(
    run: Runtime, self: Instance, name: str, shape: Shape | Unknown, dtype: str = "float", buffer: bool = False
) -> Weight:  # fmt: skip
    """The parameter (or variable) of this name, made when it is first asked for. An unknown size in its shape, or an
    unknown shape, is a cause."""
    scope = scope_of(self)
    found = scope.weights.get(name)
    if found is None:
        path = "/".join([*path_of(self), name])
        found = Weight(shape, dtype, framework="flax", name=path, trainable=not buffer, buffer=buffer, site=run.here())
        run.changed(scope.weights)
        scope.weights[name] = found
    return found


def path_of(module: Instance) -> list[str]:
    """The names that lead to a module from the outermost one."""
    names: list[str] = []
    at: Instance | None = module
    while at is not None and len(names) < 100:
        scope = scope_of(at)
        if scope.parent is not None:
            names.insert(0, scope.name)
        at = scope.parent
    return names


def param(run: Runtime, self: Instance, name: Value, init_fn: Value, *init_args: Value, **options: Value) -> Value:
    """`self.param(name, init_fn, *init_args)`: what the initialiser gives, for the key that comes first."""
    options.pop("unbox", None)
    return from_initialiser(run, self, name, init_fn, (Instance(KEY), *init_args), options, False)


def from_initialiser(
    run: Runtime, self: Instance, name: Value, init_fn: Value, args: tuple[Value, ...], options: dict[str, Value],
    buffer: bool,
) -> Value:  # fmt: skip
    """A weight that an initializer makes, under a name; the one that is there on later calls."""
    known = scope_of(self).weights.get(name) if isinstance(name, str) else None
    if known is not None:
        return known
    value = run.call(init_fn, *args, **options)
    if isinstance(value, (dict, list)) or not isinstance(name, str):
        value = run.unknown("a parameter that is more than one array is not followed")
    array = as_array(run, value)
    if isinstance(array, Unknown):
        return make_weight(run, self, str(name), array, buffer=buffer)
    dtype = array.dtype if array.dtype != "float32" else "float"
    return make_weight(run, self, str(name), array.shape, dtype, buffer)


VARIABLE = Class(
    "Variable",
    namespace={"value": Property(Native("value", lambda run, self: self.native),
                                 Native("value", lambda run, self, value: None, propagate_unknown=False))},
    module="flax.core.scope",
)  # fmt: skip
"""What `self.variable` gives: an array under `value`, which the code may change."""


def variable(
    run: Runtime, self: Instance, col: Value, name: Value, init_fn: Value = None, *init_args: Value, **options: Value
) -> Value:
    """`self.variable(col, name, init_fn)`."""
    options.pop("unbox", None)
    if init_fn is None:
        return Instance(VARIABLE, native=run.unknown(f"the variable {name} is not known"))
    found = from_initialiser(run, self, name, init_fn, init_args, options, col != "params")
    return Instance(VARIABLE, native=found)


def has_variable(run: Runtime, self: Instance, col: Value, name: Value) -> Value:
    """`self.has_variable(col, name)`."""
    return name in scope_of(self).weights


def make_rng(run: Runtime, self: Instance, name: Value = "params") -> Value:
    """`self.make_rng(name)`: a key."""
    return Instance(KEY)


# --- init and apply ---------------------------------------------------------------------------------------------------


def in_training(
    self: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """The arguments of a model's call with its switches as in training: `init` is called with any of them, and says
    what the model is fed with when it trains."""
    function = inner_function(self.cls.find("__call__"))
    names = function.parameters.positional[1:] if function is not None else ()
    given = tuple(switched(names[at] if at < len(names) else "", value) for at, value in enumerate(args))
    return given, {word: switched(word, value) for word, value in kwargs.items()}


def switched(word: str, value: Value) -> Value:
    """The value that a flag of training has for what is asked (`train=True`)."""
    return FLAGS[word] if word in FLAGS and type(value) is bool else value


def inner_function(method: Value) -> Any:
    """The program's own function that a method of a module runs; None for a method of ours."""
    found = getattr(getattr(method, "function", None), "__wrapped__", None)
    return found if type(found).__name__ == "Function" else None


def called(run: Runtime, self: Instance, method: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Call a module from outside, or the method of it that is named."""
    if method is None or method == "__call__":
        return run.call(self, *args, **kwargs)
    if isinstance(method, str):
        return run.call(run.get(self, method), *args, **kwargs)
    if isinstance(method, Bound):
        return run.call(method, *args, **kwargs)
    if isinstance(method, Native) and self.cls.find(method.name) is method:
        return run.call(Bound(method, self), *args, **kwargs)
    if isinstance(method, Unknown):
        return method
    return run_method(run, self, Bound(method, self), args, kwargs, False)


def initialised(run: Runtime, self: Instance, rngs: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What a module gives for these inputs, its weights made."""
    method = kwargs.pop("method", None)
    kwargs.pop("mutable", None)
    kwargs.pop("capture_intermediates", None)
    if method is None and not running(run):
        args, kwargs = in_training(self, args, kwargs)
    return called(run, self, method, args, kwargs)


def init(run: Runtime, self: Instance, rngs: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`module.init(rngs, *args)`: the variables."""
    initialised(run, self, rngs, args, kwargs)
    return variables_of(self)


def init_with_output(run: Runtime, self: Instance, rngs: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`module.init_with_output(rngs, *args)`: the result and the variables."""
    return (initialised(run, self, rngs, args, kwargs), variables_of(self))


def apply(run: Runtime, self: Instance, variables: Value = None, *args: Value, **kwargs: Value) -> Value:
    """The result, and where collections may change what they have become."""
    method, mutable = kwargs.pop("method", None), kwargs.pop("mutable", False)
    for word in ("rngs", "capture_intermediates"):
        kwargs.pop(word, None)
    result = called(run, self, method, args, kwargs)
    if mutable is False or mutable is None or mutable == [] or mutable == ():
        return result
    wanted = (mutable,) if isinstance(mutable, str) else mutable if isinstance(mutable, (list, tuple)) else ()
    found = variables_of(self)
    names = wanted or tuple(found)
    return (result, {name: found.get(name, {}) for name in names if isinstance(name, str)})


def variables_of(module: Instance) -> dict[str, Value]:
    """The tree of a module's variables: by collection, by the names that lead there."""
    params: dict[str, Value] = {}
    stats: dict[str, Value] = {}
    fill(module, params, stats, 0)
    found: dict[str, Value] = {"params": params}
    if stats:
        found["batch_stats"] = stats
    return found


def fill(module: Instance, params: dict[str, Value], stats: dict[str, Value], depth: int) -> None:
    """Put the weights of a module and those below it into trees of parameters and statistics."""
    scope = scope_of(module)
    for name, weight in scope.weights.items():
        (stats if weight.buffer else params)[name] = weight
    for name, child in scope.children.items() if depth < 100 else ():
        inner_params: dict[str, Value] = {}
        inner_stats: dict[str, Value] = {}
        fill(child, inner_params, inner_stats, depth + 1)
        if inner_params:
            params[name] = inner_params
        if inner_stats:
            stats[name] = inner_stats


def bind(run: Runtime, self: Instance, variables: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`module.bind(variables)`: the module."""
    return self


def tabulate(run: Runtime, self: Instance, rngs: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`model.tabulate(key, x)` runs the model once, as `init` does."""
    known = {word: value for word, value in kwargs.items() if word not in TABLE_OPTIONS}
    initialised(run, self, rngs, args, known)
    return run.unknown("the text of a table is not known")


TABLE_OPTIONS = (
    "depth", "show_repeated", "mutable", "console_kwargs", "table_kwargs", "column_kwargs", "compute_flops",
    "compute_vjp_flops",
)  # fmt: skip


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A method that gives None."""
    return None


MODULE.namespace.update(
    {
        "__init__": Native("__init__", module_init, propagate_unknown=False, lacks=needed_fields),
        "__init_subclass__": native("__init_subclass__", subclassed),
        "__setattr__": native("__setattr__", set_attribute),
        "__getattr__": native("__getattr__", get_attribute),
        "__post_init__": native("__post_init__", nothing),
        "clone": native("clone", copied),
        "copy": native("copy", copied),
        "param": native("param", param),
        "variable": native("variable", variable),
        "has_variable": native("has_variable", has_variable),
        "get_variable": native("get_variable", lambda run, self, col, name, default=None: (
            scope_of(self).weights.get(name, default))),
        "put_variable": native("put_variable", nothing),
        "make_rng": native("make_rng", make_rng),
        "has_rng": native("has_rng", lambda run, self, name: True),
        "is_initializing": native("is_initializing", lambda run, self: False),
        "is_mutable_collection": native("is_mutable_collection", lambda run, self, col: col != "params"),
        "sow": native("sow", nothing),
        "perturb": native("perturb", lambda run, self, name, value, collection="perturbations": value),
        "init": native("init", init),
        "lazy_init": native("lazy_init", init),
        "init_with_output": native("init_with_output", init_with_output),
        "apply": native("apply", apply),
        "bind": native("bind", bind),
        "tabulate": native("tabulate", tabulate),
        "name": Property(Native("name", lambda run, self: scope_of(self).name or None),
                         native("name", lambda run, self, value: None)),
        "path": Property(Native("path", lambda run, self: tuple(path_of(self)))),
        "parent": Property(Native("parent", lambda run, self: scope_of(self).parent)),
        "variables": Property(Native("variables", lambda run, self: variables_of(self))),
    }
)  # fmt: skip
