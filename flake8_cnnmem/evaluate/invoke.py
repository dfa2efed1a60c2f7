"""Calls: of functions, natives, classes and instances."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.alternatives import among, call_one
from flake8_cnnmem.evaluate.attributes import INHERITED_FROM_UNKNOWN
from flake8_cnnmem.evaluate.binding import bind
from flake8_cnnmem.evaluate.budget import DEPTH, Exhausted
from flake8_cnnmem.evaluate.classes import refuse_abstract
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.generators import generate
from flake8_cnnmem.evaluate.host_errors import of_host_error
from flake8_cnnmem.evaluate.joins import for_layers
from flake8_cnnmem.evaluate.lifetimes import let_go
from flake8_cnnmem.evaluate.signals import Returned
from flake8_cnnmem.evaluate.training_notes import called_layer, finished_layer, made_layer, note_batch, outside_layers
from flake8_cnnmem.parameter_values import VALUES_READ, given_back, leaves_no_graph, owners
from flake8_cnnmem.unknown import Leaving, Unknown
from flake8_cnnmem.values import (
    MISSING,
    Bound,
    Class,
    ClassMethod,
    Instance,
    Namespace,
    Native,
    Raised,
    StaticMethod,
    Value,
)

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


def invoke(run: Interpreter, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Call any value with these arguments: function, native, class, bound method, instance with `__call__`."""
    kind = type(function)
    if type(function) is Bound:
        receiver = function.receiver
        if run.invocation is None and id(receiver) in run.trace.layers:
            forward = receiver.cls.find("forward") if isinstance(receiver, Instance) else MISSING
            note_forward(run, function, forward, args, kwargs)
            if isinstance(receiver, Instance) and function.function is forward:
                # What it runs is the layer's own, as it is where the layer itself is called.
                with run.enter(receiver):
                    result = invoke(run, function, args, kwargs)
                run.let_go(*args, *kwargs.values())
                return result
        function, args = function.function, (receiver, *args)
        kind = type(function)
        if kind is Bound:
            return invoke(run, function, args, kwargs)
    if type(function) is Function:
        return call_function(run, function, args, kwargs)
    if type(function) is Native:
        return call_native(run, function, args, kwargs)
    if type(function) is Class:
        return construct(run, function, args, kwargs)
    if type(function) is Unknown:
        note_handed(run, args, kwargs)
        inherited_call(run, function)
        size = told_batch(run, args, kwargs)
        if size is not MISSING:
            note_batch(run, size)
        note_unfollowed(run, function, args, kwargs)
        if function.among:
            return among(function.loose(), call_one(run, function, args, kwargs))
        if function.items is not None:
            # A method of so many rows that gives as many.
            return function
        return frameworks.made_by_unfollowed(run, function.loose(), args, kwargs)
    if type(function) is Instance:
        method = function.cls.find("__call__")
        if outside_layers(run) and (id(function) in run.trace.layers or may_be_copied(function)):
            called_layer(run, function, args, kwargs)
        if method is not MISSING:
            return invoke_special(run, method, function, args, kwargs)
        unknown_base = function.cls.any_unknown_base()
        if unknown_base is not None:
            note_unfollowed(run, unknown_base, args, kwargs)
            return unknown_base
    elif isinstance(function, (StaticMethod, ClassMethod)):
        return invoke(run, function.function, args, kwargs)
    elif type(function) is Namespace:
        return run.unknown(f"{function.name} is not followed")
    raise run.error("TypeError", f"{run.type_name(function)} is not callable")


def invoke_special(
    run: Interpreter, method: Value, receiver: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """A special method as it was found on an object's class: a descriptor (`partialmethod`) gives what is called, and
    what is neither function nor descriptor is called without the object."""
    if type(method) in (Function, Native, Unknown):
        return invoke(run, method, (receiver, *args), kwargs)
    return invoke(run, bind(run, method, receiver, receiver.cls), args, kwargs)


def may_be_copied(value: Instance) -> bool:
    """Whether a layer that was not made as layers are is one all the same: a deep copy of a module."""
    framework = frameworks.of_layer(value)
    return framework is not None and framework.declares_inputs


def call_with_unknown(run: Interpreter, function: Value, cause: Unknown) -> Value:
    """A call some of whose arguments are not known, not even how many. What a function makes may be anything."""
    inner = function.function if isinstance(function, Bound) else function
    if isinstance(function, Bound) and isinstance(inner, Native) and inner.spread:
        inner.spread(run, function.receiver, cause)
    if type(inner) is Function:
        return replace(cause, of_layers=True)
    return function if isinstance(function, Unknown) else for_layers(cause, (function,))


def note_unfollowed(run: Interpreter, cause: Unknown, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """A call, in a loop and outside of all layers, of what nobody can follow: a model, perhaps."""
    if run.invocation is None and run.trace.turn is not None and (args or kwargs):
        run.trace.not_followed(cause, args[0] if args else next(iter(kwargs.values())), run.site)


def note_handed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """Functions of the analysed file that are handed to what nobody can follow, which may call them: what a search
    tries, what a launcher starts. And models, of which it may make others."""
    for value in (*args, *kwargs.values()):
        if type(value) is Instance and id(value) in run.trace.layers:
            run.data(HANDED_LAYERS)[id(value)] = value
        if type(value) is Function and value.module.path == run.trace.path:
            run.data(HANDED).setdefault(id(value), value)


def inherited_call(run: Interpreter, function: Unknown) -> None:
    """A method that an object has of a base class nobody knows may fill the lists, dicts and sets that it holds."""
    instance = run.data(INHERITED_FROM_UNKNOWN).pop(id(function), None)
    if type(instance) is not Instance or frameworks.of_layer(instance) is not None:
        return
    for value in instance.attributes.values():
        if isinstance(value, (list, dict, set)):
            run.havoc(value, function)


HANDED = "functions handed to what is not followed"
"""The scratch dict of functions by id."""

HANDED_LAYERS = "layers handed to what is not followed"
"""The scratch dict of layers by id."""

BATCH_WORDS = frozenset({"batch_size", "train_batch_size", "per_device_train_batch_size", "bs"})


def told_batch(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The batch size that a call which nobody can follow is told, by the name that an argument has; else MISSING."""
    for word, value in kwargs.items():
        if word in BATCH_WORDS:
            return value
    counts = any(type(value) is int for value in args)
    node = run.site.node if counts and isinstance(run.site, StatementSite) else None
    if not isinstance(node, ast.Call) or len(node.args) != len(args):
        return MISSING
    for part, value in zip(node.args, args, strict=True):
        name = part.attr if isinstance(part, ast.Attribute) else part.id if isinstance(part, ast.Name) else ""
        if name in BATCH_WORDS:
            return value
    return MISSING


def note_forward(
    run: Interpreter, method: Bound, forward: Value, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> None:
    """`net.forward(x)` and `net.build(shape)` say what the net is fed with, as `net(x)` does. `forward` is what its
    class has under that name."""
    layer, function = method.receiver, method.function
    if not isinstance(layer, Instance):
        return
    cls = layer.cls
    if function is forward or function is cls.find("call"):
        called_layer(run, layer, args, kwargs)
    elif function is cls.find("build"):
        # `model.build((None, 28, 28, 1))` states the input, with the batch in front.
        shape = next(iter((*args, *kwargs.values())), None)
        sizes = tuple(shape[1:]) if isinstance(shape, (tuple, list)) else ()
        if sizes and all(isinstance(size, int) for size in sizes):
            run.data("stated inputs").setdefault(id(method.receiver), ([sizes], run.site))


def call_native(run: Interpreter, native: Native, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Call a native; what it raises of the host's exceptions is raised in the program."""
    budget = run.budget
    budget.steps -= 1
    if budget.steps < 0:
        run.spend(0)
    if native.propagate_unknown:
        for value in args:
            if type(value) is Unknown:
                return value.loose()
        for value in kwargs.values():
            if type(value) is Unknown:
                return value.loose()
    if budget.depth > DEPTH:
        raise Exhausted("calls are nested too deeply to be followed")
    budget.depth += 1
    depth = budget.depth
    given, of_values = args, False
    if VALUES_READ in run.scratch:
        of_values = run.grad_enabled and leaves_no_graph((*args, *kwargs.values()))
        run.grad_enabled = run.grad_enabled and not of_values
        args, kwargs = owners(native, args, kwargs)
    try:
        result = native.function(run, *args, **kwargs)
    except (Leaving, RecursionError):
        raise
    except Exception as error:
        result = of_host_error(run, error, args, kwargs, native)
    finally:
        run.grad_enabled = run.grad_enabled or of_values
    if type(result) is Unknown and result.number and not makes_numbers(native, args):
        # What a function, or a container's class, hands on of its argument is the cause, not the number.
        if any(result is value for value in args) or any(result is value for value in kwargs.values()):
            result = result.loose()
    budget.depth = depth - 1
    return result if given is args else given_back(result, given)


NUMBERS = (int, float, bool, complex)


def makes_numbers(native: Native, args: tuple[Value, ...]) -> bool:
    """Whether a native is the class of numbers: what it makes of one that is not known is such a number."""
    return native.name == "__new__" and bool(args) and isinstance(args[0], Class) and args[0].host in NUMBERS


def call_function(run: Interpreter, function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Call a function of the program: its result, a generator, or why it is not known."""
    try:
        variables = function.bind(args, kwargs)
    except TypeError as error:
        raise run.error("TypeError", str(error)) from None
    if function.coroutine:
        return run.unknown("async code is not followed")
    frame = Frame(run, function.module, "function", variables, function.frame, function_line(run))
    frame.function = function
    if args and function.cell is not None:
        frame.receiver = args[0]
    elif function.cell is not None and function.parameters.positional:
        frame.receiver = variables[function.parameters.positional[0]]
    if function.generator:
        return generate(run, function, frame)
    return run_body(run, function, frame, bool(args or kwargs))


def function_line(run: Interpreter) -> int:
    """The line that is being run, 0 outside of any."""
    return run.frame.line if run.frame is not None else 0


RECURRING = 6
"""Calls of a function within itself, each on a branch that nobody knows to be taken, before no more are followed."""


def endless(run: Interpreter, function: Function) -> Unknown | None:
    """The test that decides how often a function calls itself, where nobody knows what it gives: each call is made on a
    branch that may be taken, or behind a return that may be, so that there is always one more."""
    doubts, frame = run.trace.doubts, run.frame
    caller = frame.caller if frame is not None and frame.caller is not None else frame
    may_have_returned = caller is not None and bool(caller.pending)
    if len(doubts) < RECURRING and not may_have_returned:
        return None
    active: list[Frame] = []
    while frame is not None and len(active) < RECURRING:
        if frame.function is function:
            active.append(frame)
        frame = frame.called_from or frame.caller
    if len(active) < RECURRING:
        return None
    if all(each.pending for each in active):
        return active[0].pending[-1][1]
    return doubts[-1] if len(doubts) >= RECURRING else None


def run_body(run: Interpreter, function: Function, frame: Frame, given: bool) -> Value:
    """Run a function in its frame. `given` says whether the call has arguments."""
    budget = run.budget
    if budget.depth > DEPTH:
        raise Exhausted("calls are nested too deeply to be followed")
    cause = endless(run, function)
    if cause is not None:
        for value in frame.variables.values():
            if isinstance(value, (dict, list, set)):
                run.havoc(value, cause)
        return cause
    caller = frame.called_from = run.frame
    if caller is not None:
        used = caller.kind != "module" or not given
        (run.trace.used if used else run.trace.called).add(id(function))
    trace, entered = run.trace, run.trace.entered
    if run.site is not None and run.site.path == trace.path:
        trace.entered = run.site
    budget.depth += 1
    budget.steps -= 2
    if budget.steps < 0:
        run.spend(0)
    body = function.body()
    site, depth, invocation = run.site, budget.depth, run.invocation
    frame.parted = []
    try:
        signal = body(frame)
    except Raised:
        if not frame.pending:
            raise
        # It may have returned before: as on a branch whose one side raises, the side that goes on is taken.
        budget.depth, run.invocation = depth, invocation
        signal = Returned(frame.pending.pop()[0])
    finally:
        if frame.parted:
            run.meet(frame, 0)
    if frame.raises is not None and caller is not None:
        run.may_raise(caller, *frame.raises)
    budget.depth -= 1
    # A native that calls several stands where it was called itself.
    run.frame, run.site, trace.entered = caller, site, entered
    if invocation is not None or trace.turn is not None:
        let_go(frame.variables.values(), run.numbered)
    if function.name == "<lambda>":
        return signal
    result = signal.value if isinstance(signal, Returned) else None
    for earlier, cause, number in reversed(frame.pending):
        run.doubt_calls(number)
        # Whoever returns earlier does less: that is what the least of the model does.
        result = run.join(earlier, result, cause, cause.upper)
    return result


def construct(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """`cls(*args, **kwargs)`."""
    metaclass = cls.facts.get("metaclass")
    if isinstance(metaclass, Class):
        method = metaclass.find("__call__")
        if method is not MISSING:
            calls = run.data("metaclass calls")
            if calls.pop(id(cls), None) is None:
                return guard_metaclass(run, cls, method, args, kwargs)
            # What is made of the same class meanwhile goes through the metaclass again.
            try:
                return make(run, cls, args, kwargs)
            finally:
                calls[id(cls)] = cls
    return make(run, cls, args, kwargs)


def make(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What `type.__call__` does: `__new__`, and `__init__` of what that gives."""
    site = run.site
    if cls.site is not None:
        refuse_abstract(run, cls)
    maker = cls.find("__new__")
    instance: Value
    if maker is not MISSING:
        maker = maker.function if isinstance(maker, StaticMethod) else maker
        instance = invoke(run, maker, (cls, *args), kwargs)
        if not isinstance(instance, Instance) or not instance.cls.derives_from(cls):
            if isinstance(instance, dict):
                run.note_registry(instance)
            return instance
        instance.site = instance.site or site
        if isinstance(instance.payload, dict):
            run.note_registry(instance.payload)
    else:
        instance = Instance(cls, site=site)
    if run.births is not None:
        run.births[id(instance)] = instance
    is_layer = frameworks.is_layer(instance)
    if is_layer:
        made_layer(run, instance)
    if run.frame is not None and run.frame.kind != "module":
        run.trace.used.add(id(cls))
    initialiser = cls.find("__init__")
    if initialiser is not MISSING:
        making = run.trace.making
        if is_layer:
            making.append(instance)
        try:
            result = invoke_special(run, initialiser, instance, args, kwargs)
        except Leaving as left:
            run.left_unfinished(instance, left)
            raise
        finally:
            if is_layer:
                making.pop()
        if isinstance(result, Unknown) and type(initialiser) is Native:
            return result
    finished_layer(run, instance)
    if isinstance(instance.native, dict) and "batch_size" in instance.native:
        run.data("loaders")[id(instance)] = instance
    return instance


def guard_metaclass(
    run: Interpreter, cls: Class, method: Value, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """A metaclass's `__call__` (singletons and the like) ends in `super().__call__`, which makes the instance."""
    calls = run.data("metaclass calls")
    calls[id(cls)] = cls
    try:
        return invoke(run, method, (cls, *args), kwargs)
    finally:
        calls.pop(id(cls), None)


def class_base(run: Interpreter, value: Value) -> Value:
    """What a base in a class statement stands for: `Generic[T]` and functions that make classes included."""
    if isinstance(value, (Class, Unknown)):
        return value
    hook = run.find(value, "__mro_entries__")
    if hook is not MISSING and not isinstance(hook, Unknown):
        entries = run.call(hook, (value,))
        if isinstance(entries, tuple) and entries:
            return entries[0]
    return value
