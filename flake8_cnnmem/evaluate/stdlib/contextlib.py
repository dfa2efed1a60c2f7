"""`contextlib`."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from flake8_cnnmem.evaluate.builtins.declare import Names
from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Raised, Value, native

names = Names()

# A generator function as a context

managers = Names()


@managers.function("__enter__")
def enter(run: Runtime, self: Instance) -> Value:
    """The value that the generator yields."""
    own = self.attributes
    generator = run.call(own["func"], *own["args"], **own["kwds"])
    if isinstance(generator, Unknown):
        return generator
    run.changed(self)
    own["gen"] = generator
    if isinstance(generator, Iterator):
        for value in generator:
            return value
        raise run.error("RuntimeError", "generator didn't yield")
    return run.unknown("a context manager's generator is not followed")


@managers.function("__exit__", propagate_unknown=False)
def leave(run: Runtime, self: Instance, *exception: Value) -> bool:
    """Lets the generator go on after its `yield`; what the block raised is raised there, where it may be caught."""
    generator = self.attributes.get("gen")
    if isinstance(generator, Generator) and len(exception) > 1 and isinstance(exception[1], Instance):
        try:
            generator.throw(Raised(exception[1]))
        except StopIteration:
            return True
        except Raised as raised:
            if raised.value is not exception[1]:
                raise
            return False
    elif isinstance(generator, Iterator):
        for _ in generator:
            break
    return False


@managers.function("__call__", propagate_unknown=False)
def decorate(run: Runtime, self: Instance, function: Value) -> Value:
    """As a decorator, each call of the function runs within a new context of this kind."""

    def within(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        own = self.attributes
        context = Instance(self.cls, {**own})
        run.call(run.get(context, "__enter__"))
        try:
            return run.call(function, *args, **kwargs)
        finally:
            run.call(run.get(context, "__exit__"), None, None, None)

    return Native("within a context", within, propagate_unknown=False)


MANAGER = native_class("_GeneratorContextManager", dict(managers), module="contextlib")


@names.function("contextmanager")
def contextmanager(run: Runtime, func: Value) -> Native:
    """`@contextmanager`: a function that gives a context manager of the generator."""

    def make(run: Runtime, *args: Value, **kwds: Value) -> Instance:
        return Instance(MANAGER, {"func": func, "args": args, "kwds": kwds})

    return Native("contextmanager", make, propagate_unknown=False)


# Ready-made contexts


def context(name: str, namespace: dict[str, Value]) -> Class:
    """A class of context managers that give themselves and swallow nothing, with these members besides."""
    made: dict[str, Value] = {
        "__enter__": Native("__enter__", lambda run, self: self),
        "__exit__": Native("__exit__", lambda run, self, *exception: False, propagate_unknown=False),
        **namespace,
    }
    cls = names[name] = native_class(name, made, module="contextlib")
    return cls


def keep(*fields: str) -> Native:
    """An `__init__` that keeps its arguments under these names."""

    def init(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> None:
        self.attributes.update({**dict.fromkeys(fields), **dict(zip(fields, args, strict=False)), **kwargs})

    return Native("__init__", init, propagate_unknown=False)


def given(field: str) -> Native:
    """An `__enter__` that gives one of the manager's attributes."""
    return Native("__enter__", lambda run, self: self.attributes[field])


context("nullcontext", {"__init__": keep("enter_result"), "__enter__": given("enter_result")})


def close(run: Runtime, self: Instance, *exception: Value) -> bool:
    """`closing.__exit__`: closes what it was made for."""
    run.call(run.get(self.attributes["thing"], "close"))
    return False


context("closing", {
    "__init__": keep("thing"), "__enter__": given("thing"), "__exit__": native("__exit__", close),
})  # fmt: skip
context("redirect_stdout", {"__init__": keep("target"), "__enter__": given("target")})
context("redirect_stderr", {"__init__": keep("target"), "__enter__": given("target")})
context("chdir", {"__init__": keep("path")})
context("AbstractContextManager", {})
context("AbstractAsyncContextManager", {})
context("ContextDecorator", {"__call__": Native("__call__", decorate, propagate_unknown=False)})


def suppress_init(run: Runtime, self: Instance, *exceptions: Value) -> None:
    """`suppress(*exceptions)`"""
    self.attributes["exceptions"] = exceptions


def suppressed(run: Runtime, self: Instance, kind: Value = None, *rest: Value) -> bool:
    """Whether the exception is one of those that are suppressed."""
    if not isinstance(kind, Class):
        return False
    return any(isinstance(each, Class) and kind.derives_from(each) for each in self.attributes["exceptions"])


context("suppress", {
    "__init__": Native("__init__", suppress_init, propagate_unknown=False), "__exit__": Native("__exit__", suppressed,
    propagate_unknown=False),
})  # fmt: skip

stacks = Names()


@stacks.function("__init__")
def stack_init(run: Runtime, self: Instance) -> None:
    """`ExitStack()`"""
    self.attributes["_exits"] = []


@stacks.function("enter_context")
def enter_context(run: Runtime, self: Instance, cm: Value) -> Value:
    """`stack.enter_context(manager)`: what the manager gives; it is left with the stack."""
    found = run.find(cm, "__exit__")
    if found is not MISSING and not isinstance(found, Unknown):
        run.changed(self.attributes["_exits"])
        self.attributes["_exits"].append(found)
    return run.call(run.get(cm, "__enter__"))


@stacks.function("callback", propagate_unknown=False)
def callback(run: Runtime, self: Instance, function: Value, /, *args: Value, **kwargs: Value) -> Value:
    """`stack.callback(function, ...)`: called when the stack is left."""
    exits = self.attributes["_exits"]
    run.changed(exits)
    exits.append(
        Native("callback", lambda run, *exception: run.call(function, *args, **kwargs), propagate_unknown=False)
    )
    return function


@stacks.function("push")
def push(run: Runtime, self: Instance, exit: Value) -> Value:
    """`stack.push(exit)`: a manager that is left with the stack, or a function."""
    found = run.find(exit, "__exit__")
    run.changed(self.attributes["_exits"])
    self.attributes["_exits"].append(exit if found is MISSING else found)
    return exit


@stacks.function("__exit__", propagate_unknown=False)
def stack_exit(run: Runtime, self: Instance, *exception: Value) -> bool:
    """Leave all managers of a stack, the last one first: whether one of them swallowed the exception."""
    exits, swallowed = self.attributes["_exits"], False
    while exits:
        run.changed(exits)
        result = run.call(exits.pop(), *(exception or (None, None, None)))
        swallowed = swallowed or result is True
    return swallowed


@stacks.function("pop_all")
def pop_all(run: Runtime, self: Instance) -> Value:
    """`stack.pop_all()`: a new stack, with all that was to be left with this one."""
    other = run.call(self.cls)
    if isinstance(other, Instance):
        run.changed(self.attributes["_exits"])
        other.attributes["_exits"], self.attributes["_exits"] = self.attributes["_exits"], []
    return other


stacks["close"] = Native("close", lambda run, self: stack_exit(run, self))
context("ExitStack", dict(stacks))
names["asynccontextmanager"] = Native(
    "asynccontextmanager",
    lambda run, func: Native("async", lambda run, *a, **k: run.unknown("async code is not followed")),
)
names["AsyncExitStack"] = names["ExitStack"]

MODULES: dict[str, dict[str, Value]] = {"contextlib": names}
