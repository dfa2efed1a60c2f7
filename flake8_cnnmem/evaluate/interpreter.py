"""The interpreter's state, and the `Run` protocol that natives see. The work is in the rooms beside this one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager, nullcontext
from itertools import islice
from typing import Any, TypeAlias

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate import (
    attribute_changes,
    attributes,
    branches,
    builtins,
    iteration,
    joins,
    operators,
    subscripts,
    top_level,
)
from flake8_cnnmem.evaluate.application import InvocationContext, apply_op
from flake8_cnnmem.evaluate.budget import (
    FORWARDS_STEPS,
    LAYER_STEPS,
    LENGTH,
    STATEMENT_STEPS,
    YIELDS,
    Budget,
    Exhausted,
)
from flake8_cnnmem.evaluate.builtins.files import text
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code, Function
from flake8_cnnmem.evaluate.host_errors import of_host_error
from flake8_cnnmem.evaluate.imports import Importer
from flake8_cnnmem.evaluate.invoke import call_function, class_base, construct, invoke
from flake8_cnnmem.evaluate.lifetimes import let_go
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.native_state import about_to_change
from flake8_cnnmem.evaluate.program_runs import Ways
from flake8_cnnmem.evaluate.top_level import describe
from flake8_cnnmem.evaluate.trace import MOST_EVENTS, Event, Filled, Made, RootCall, Trace, around
from flake8_cnnmem.evaluate.training_state import RepeatedTurns, asking, held_by, held_now, learns, reached_from
from flake8_cnnmem.graph import Call, Invocation, Op, Site, Tensor
from flake8_cnnmem.source import mentions_framework
from flake8_cnnmem.supported import FIRST
from flake8_cnnmem.unknown import Leaving, Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, ClassMethod, Instance, Namespace, Native, Raised, Value

Guard: TypeAlias = "Callable[[Instance], bool]"
"""A `try` with handlers, or a context manager: whether it may take an exception."""

CONTAINERS = (list, dict)
"""What tensors are gathered in."""

MANY_MICRO_STEPS = 16
"""Turns that gather gradients before the loop is given up waiting for an optimizer's step."""

MISSING_PACKAGES = "missing packages"
"""Where a run keeps the imports from packages on top of a framework whose source it did not find, by name."""


class Interpreter:
    """One evaluation: of a file, or of an expression in it."""

    def __init__(self, search_path: Sequence[str] = (), strict: bool = False) -> None:
        self.strict = strict
        self.budget = Budget()
        self.statement_steps = STATEMENT_STEPS
        self.forward_steps = FORWARDS_STEPS
        """What is left for the forward passes of all the file's models."""
        self.importer = Importer(self, search_path)
        self.builtins: dict[str, Value] = dict(builtins.BUILTINS)
        """As the program sees them: it may put others in their place."""
        self.frame: Frame | None = None
        self.site: Site | None = None
        self.invocation: Invocation | None = None
        self.grad_enabled = True
        self.autocast: str | None = None
        self.cast_region = 0
        self.caches_casts = True
        self.offloading = False
        self.attention: tuple[str, ...] | Unknown | None = None
        self.journal: branches.Journal | None = None
        self.births: dict[int, Value] | None = None
        """Objects that were made since the journal began, by id."""
        self.havocked: dict[int, tuple[Value, Unknown]] = {}
        """Containers whose items cannot be known, with the cause. Held, so that an id stays theirs."""
        self.samples: dict[int, tuple[Value, Value]] = {}
        """Of lists and dicts among them, by id, what all that was put in under an unknown condition has in common."""
        self.registries: dict[int, tuple[Value, Module]] = {}
        """Dicts made while a lazy module's statements run: what later imports may fill."""
        self.guards: list[Guard] = []
        """What stands around the code that is running and may take an exception, the innermost last."""
        self.import_guards = 0
        """`try` blocks around the code that is running which expect an import to fail."""
        self.importing: Module | None = None
        self.numbered = 0
        self.scratch: dict[str, dict[Any, Any]] = {}
        self.trace = Trace()
        self.log: list[Call] | None = None
        """Every call since somebody asked, for models whose outputs are lost on the way."""
        self.stop_at_problem = False
        """Whether the first size that cannot be right ends the evaluation (the search for an input size)."""
        self.layers_made = 0
        self.raised: list[tuple[ast.stmt, Unknown]] = []
        """Statements of the analysed file that raise, with the cause."""
        self.passed_over: frozenset[str] = frozenset()
        """The statements ("train.py:12") whose exceptions do not stop the program."""
        self.stops: list[str] = []
        """Those at which exceptions have stopped it, in order."""
        self.gone_on: list[Unknown] = []
        """What those raise that were passed over."""
        self.failures: list[Unknown] = []
        """Why top-level statements could not be followed to their end."""
        self.making_data = False
        """Whether a sample is being made: a blur or a resizing that is written as a layer is no part of a step."""
        self.ways: Ways | None = None
        """What the user of the program is taken to choose; None where the program as a whole is not run."""

    # What is watched for the search for models

    def made_layer(self, instance: Instance) -> None:
        """A layer's construction begins."""
        self.spend(LAYER_STEPS)
        self.layers_made += 1
        self.trace.layers[id(instance)] = Made(instance, self.layers_made, self.site, self.trace.entered)

    def finished_layer(self, instance: Instance) -> None:
        """A layer's construction has ended."""
        made = self.trace.layers.get(id(instance))
        if made is not None:
            made.last = self.layers_made

    def note(self, kind: str, subject: Value, **options: Value) -> None:
        """Note an event of the training (a step, a backward pass, a loop's start) with its site."""
        # Counted among the ops: what the code lets go of before it is gone by then.
        event = Event(kind, subject, self.site, self.next_number(), options=options)
        if kind == "step":
            event.trainable = held_by(subject)
            self.look_around()
        elif kind == "backward" and isinstance(subject, Tensor):
            event.trainable = reached_from(subject)
        self.add_event(event)

    def joins_step(self, optimizer: Instance) -> None:
        """What an optimizer updates now belongs to the step that it last made."""
        last = next((event for event in reversed(self.trace.events) if event.subject is optimizer), None)
        if last is not None:
            last.trainable = held_by(optimizer)

    def look_around(self, innermost: bool = False) -> None:
        """What the program holds at the first call of a model or optimizer step of each loop that is running."""
        running = around(self.trace.turn)
        waiting = [turn.loop for turn in (islice(running, 1) if innermost else running) if turn.loop.held is None]
        if waiting:
            found = held_now(self)
            for loop in waiting:
                loop.held = found

    def note_batch(self, size: Value) -> None:
        """A function that nobody can follow is told a batch size."""
        self.data("told batches").setdefault(id(self.site), (size, self.site))

    def called_layer(self, layer: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        """A layer is called from outside any layer."""
        if self.making_data or self.is_probe(layer):
            return
        call = RootCall(layer, args, kwargs, self.site, self.grad_enabled, self.autocast)
        self.trace.root_calls.append(call)
        event = Event("call", layer, self.site, self.numbered, call)
        if self.grad_enabled:
            event.trainable = asking(layer)
        self.add_event(event)
        self.look_around(innermost=True)

    def outside_layers(self) -> bool:
        """Whether no layer is running: a stretch that is checkpointed is none."""
        inside = self.invocation
        return inside is None or all(each.layer is None and each.checkpoint for each in inside.ancestry())

    def is_probe(self, layer: Instance) -> bool:
        """Whether a layer is called while it is being constructed, to see what its parts give: such a call is made with
        whatever is at hand and says nothing of what the finished model is fed with. Keras builds layers that way."""
        made, framework = self.trace.layers.get(id(layer)), frameworks.of_layer(layer)
        return made is not None and not made.last and framework is not None and framework.declares_inputs

    def add_event(self, event: Event) -> None:
        """Put an event into the trace, with the turn of the loop that it is in; no more than MOST_EVENTS."""
        trace = self.trace
        if len(trace.events) < MOST_EVENTS:
            event.turn, event.doubt = trace.turn, trace.doubt()
            trace.events.append(event)

    def repeated(self, site: Site | None = None) -> RepeatedTurns:
        """The turns of a loop that stand for many, for natives that loop themselves."""
        return RepeatedTurns(self, site or self.site)

    def drawn_again(self) -> Callable[[], bool]:
        """A test for streams: whether what has happened since then is a turn of a loop that learns, or that keeps what
        its models give with their graphs. Its second turn finds in memory what the first one has left."""
        started = len(self.trace.events)

        drawn = 0

        def again() -> bool:
            nonlocal drawn
            if self.trace.skipping:
                return True
            drawn += 1
            new = self.trace.events[started:]
            if self.trace.repeating or not any(learns(event) for event in new):
                return False
            gathers = any(event.kind == "backward" for event in new) and all(event.kind != "step" for event in new)
            return drawn == 1 or (gathers and drawn < MANY_MICRO_STEPS)

        return again

    # Running modules

    run_module = top_level.run_module
    run_top_level = top_level.run_top_level

    def left_unfinished(self, instance: Instance, why: Leaving) -> None:
        """A layer whose construction was left: what it holds by now is not all."""
        if frameworks.is_layer(instance):
            self.trace.cut_short.setdefault(id(instance), (instance, self.unknown(describe(why))))

    # Budget

    def spend(self, steps: int) -> None:
        """Draw steps from the budget. Exhausted when it has none left."""
        self.budget.steps -= steps
        if self.budget.steps < 0:
            raise Exhausted("the code runs for too long to be followed")

    def check_size(self, length: int) -> None:
        """Exhausted for a text or container of more than LENGTH items."""
        if length > LENGTH:
            raise Exhausted("a value grows too large to be followed")

    # Causes and places

    def unknown(self, reason: str) -> Unknown:
        """An unknown with this reason, at the line that is being run."""
        frame = self.frame
        return Unknown(reason) if frame is None else Unknown(reason, frame.module.path, frame.line)

    def here(self) -> Site | None:
        """The site of the call that is being run; None outside of any."""
        return self.site

    def error(self, kind: str, message: Value) -> Raised:
        """An exception of the program, of a builtin kind ("ValueError"), to be raised."""
        cls = builtins.BUILTINS[kind]
        return Raised(Instance(cls, {"args": (message,)}, site=self.site))

    def refuse(self, call: Call, kind: str) -> None:
        """A framework refuses the sizes of a call. Where the program may deal with that, it is raised in the program,
        which goes on as it says; else the code goes on behind the call, so that one wrong size hides no other."""
        if self.guards and call.problem is not None:
            error = self.error(call.problem.error or kind, call.problem.what)
            error.value.attributes["args"] = (self.unknown("the text of a framework's error is not known"),)
            error.value.native = call
            if any(guard(error.value) for guard in reversed(self.guards)):
                raise error

    def import_failure(self, dotted: str) -> Unknown:
        """An import whose source is not found. Code that expects that it may fail is told so."""
        if self.import_guards:
            raise self.error("ImportError", f"No module named '{dotted}'")
        return self.not_found(dotted)

    def not_found(self, dotted: str) -> Unknown:
        """What comes from a module whose source is not found."""
        reason = f"the source of '{dotted}' is not found"
        if mentions_framework(dotted):
            # Models come from such a package. A hook's own environment does not have it; the project's has.
            found = self.unknown(f"{reason}: name the folder that has it with cnnmem-search-path")
            self.data(MISSING_PACKAGES).setdefault(dotted, found)
            return found
        return self.unknown(reason)

    def choose(self, question: str, answers: Sequence[str], only_if_stopped: bool = False) -> str | None:
        """One of several answers to a question that the code leaves open, where a caller tries them all; else None."""
        return None if self.ways is None else self.ways.choose(question, answers, only_if_stopped)

    def data(self, key: str) -> dict[Any, Any]:
        """What natives keep for this run under a key: a dict, empty at first."""
        return self.scratch.setdefault(key, {})

    def builtin(self, name: str) -> Any:
        """The builtin of this name."""
        return builtins.BUILTINS[name]

    def doubt_calls(self, number: int) -> None:
        """The calls after this number may not run at all."""
        for call in reversed(self.log or ()):
            if call.number <= number:
                break
            call.doubtful = True

    def next_number(self) -> int:
        """The next number of the run, by which tensors and events are ordered."""
        self.numbered += 1
        return self.numbered

    def note_registry(self, container: dict[Value, Value]) -> None:
        """A dict that is made while a module is imported may be filled by other modules."""
        if self.importing is not None:
            self.registries[id(container)] = (container, self.importing)

    # Changes

    def changed(self, container: Value) -> None:
        """A container or instance is about to change: what a branch or loop must put back is kept."""
        journal = self.journal
        if type(container) in CONTAINERS:
            self.fills(id(container))
        turn = self.trace.turn
        if isinstance(container, list) and turn is not None and self.invocation is None:
            turn.lengths.setdefault(id(container), (container, len(container)))
        if type(container) is Instance and container.site is None:
            about_to_change(container)
        if journal is not None and id(container) not in journal:
            self.spend(len(container) // 16 if isinstance(container, Sized) else 0)
            journal[id(container)] = (container, branches.snapshot(container))

    def fills(self, what: Filled) -> None:
        """Something is put into a container, or an attribute of an object is set."""
        if self.trace.turn is not None and self.invocation is None:
            self.trace.fills(what, self.numbered, self.site)

    def havoc(self, container: Value, cause: Unknown) -> None:
        """From now on what a container holds is not known, for this cause."""
        self.havocked.setdefault(id(container), (container, cause))

    def note_sample(self, container: Value, items: Sequence[Value]) -> None:
        """These were, perhaps, put into a container of unknown items."""
        held, before = self.samples.get(id(container), (None, MISSING))
        known = [before] if held is container else []
        if known or items:
            common = joins.one_of(self, [*known, *items], self.havocked[id(container)][1])
            self.samples[id(container)] = (container, common)

    def sample(self, container: Value) -> Value:
        """What stands for the items of a container of which it is not known how many it has; or MISSING."""
        held, found = self.samples.get(id(container), (None, MISSING)) if self.samples else (None, MISSING)
        if held is not container or found is MISSING or id(container) not in self.havocked:
            return MISSING
        inside = container.values() if isinstance(container, dict) else container
        certain: list[Value] = list(inside) if isinstance(inside, Iterable) else []
        common = joins.one_of(self, [found, *certain], self.havocked[id(container)][1])
        return MISSING if isinstance(common, Unknown) else common

    # Attributes

    find = attributes.find

    def get(self, value: Value, name: str) -> Value:
        """An attribute, or MISSING."""
        found = attributes.find(self, value, name)
        if found is MISSING and isinstance(value, Module):
            found = self.importer.elsewhere(value, name)
        if found is MISSING:
            raise self.error("AttributeError", f"{self.type_name(value)} has no attribute '{name}'")
        return found

    def set(self, value: Value, name: str, new: Value) -> None:
        """Set an attribute, as the class of the value does it."""
        attribute_changes.assign(self, value, name, new)

    def get_plainly(self, value: Instance, name: str) -> Value:
        """An attribute as `object.__getattribute__` finds it, or MISSING."""
        return attributes.of_instance_plainly(self, value, name)

    def set_plainly(self, value: Instance, name: str, new: Value) -> None:
        """Set an attribute as `object.__setattr__` does."""
        attribute_changes.assign_plainly(self, value, name, new)

    def delete_plainly(self, value: Instance, name: str) -> None:
        """Delete an attribute as `object.__delattr__` does."""
        attribute_changes.remove_plainly(self, value, name)

    def delete(self, value: Value, name: str) -> None:
        """Delete an attribute, as the class of the value does it."""
        attribute_changes.remove(self, value, name)

    def quietly(self, kind: str, function: Value, *args: Value) -> Value:
        """Call a fallback (`__getattr__`) that raises `kind` for what is absent: MISSING then."""
        depth = self.budget.depth
        try:
            if isinstance(args[0], Instance):
                return self.invoke(Bound(function, args[0]), args[1:], {})
            return self.invoke(function, args, {})
        except Raised as raised:
            if any(cls.name == kind for cls in raised.value.cls.mro):
                self.budget.depth = depth
                return MISSING
            raise

    # Operators

    truth = operators.truth
    equal = operators.equal

    def operate(self, operator: str, left: Value, right: Value) -> Value:
        """`left operator right`. What goes wrong in the host is an exception of the program, or an unknown."""
        try:
            return operators.binary(self, operator, left, right)
        except (Leaving, RecursionError):
            raise
        except Exception as error:
            return of_host_error(self, error, (left, right))

    def operate_unary(self, operator: str, value: Value) -> Value:
        """`operator value`, guarded as `operate`."""
        return self.guarded(operators.unary, operator, value)

    def operate_in_place(self, operator: str, left: Value, right: Value) -> Value:
        """`left operator= right`, guarded as `operate`; the value that the target gets."""
        return self.guarded(operators.in_place, operator, left, right)

    def index(self, value: Value, key: Value) -> Value:
        """`value[key]`, guarded as `operate`."""
        try:
            return subscripts.subscript(self, value, key)
        except (Leaving, RecursionError):
            raise
        except Exception as error:
            return of_host_error(self, error, (value, key))

    def set_index(self, value: Value, key: Value, new: Value) -> Value:
        """`value[key] = new`, guarded as `operate`."""
        return self.guarded(subscripts.store_item, value, key, new)

    def delete_index(self, value: Value, key: Value) -> None:
        """`del value[key]`, guarded as `operate`."""
        self.guarded(subscripts.remove_item, value, key)

    def key(self, value: Value) -> Value:
        """A value as a dict may hold it as a key; Unknown where equality of keys is undecided."""
        return builtins.key(self, value)

    def guarded(self, rule: Callable[..., Value], *args: Value) -> Value:
        """Run one of our rules; what Python itself raises on plain values is raised in the program."""
        try:
            return rule(self, *args)
        except (Leaving, RecursionError):
            raise
        except Exception as error:
            return of_host_error(self, error, args)

    @property
    def modes(self) -> tuple[Any, ...]:
        """The switches that decide how a call is noted: gradients, autocast, offloading, attention kernels."""
        switches = (self.grad_enabled, self.autocast, self.cast_region, self.caches_casts, self.offloading)
        return (*switches, self.attention)

    @modes.setter
    def modes(self, modes: tuple[Any, ...]) -> None:
        """The switches that decide how a call is noted: gradients, autocast, offloading, attention kernels."""
        self.grad_enabled, self.autocast, self.cast_region, self.caches_casts, self.offloading, self.attention = modes

    # Calls

    invoke = invoke

    def call(self, function: Value, *args: Value, **kwargs: Value) -> Value:
        """Call a value of the program."""
        return invoke(self, function, args, kwargs)

    def attempt(self, function: Value, *args: Value, **kwargs: Value) -> Value:
        """Call a function; where it raises or takes too long, what was in progress is as before and the result an
        unknown."""
        saved = (self.frame, self.site, self.invocation, self.budget.depth)
        modes = self.modes
        try:
            return invoke(self, function, args, kwargs)
        except Raised as raised:
            frame = self.frame
            where = (frame.module.path, frame.line) if frame is not None else ("", 0)
            self.frame, self.site, self.invocation, self.budget.depth = saved
            self.modes = modes
            return Unknown(describe(raised), *where)

    def within(self, steps: int, function: Value, *args: Value) -> Value:
        """Call a function with no more than so many steps; an unknown where they do not suffice."""
        outer, given = self.budget, min(steps, self.budget.steps)
        saved = (self.frame, self.site, self.invocation, self.modes)
        self.budget = Budget(given, outer.depth)
        try:
            return self.attempt(function, *args)
        except Exhausted as error:
            self.frame, self.site, self.invocation, self.modes = saved
            return self.unknown(describe(error))
        finally:
            outer.steps -= given - max(self.budget.steps, 0)
            self.budget = outer

    def aside(self, function: Value, *args: Value) -> tuple[int, Value]:
        """Call a function without gradients and without noting its calls: (the first number that its tensors may have,
        result)."""
        before = self.grad_enabled, self.log, self.stop_at_problem
        self.grad_enabled, self.log, self.stop_at_problem = False, None, False
        recording, self.trace.recording = self.trace.recording, False
        first = self.numbered + 1
        try:
            return first, None if function is MISSING else self.attempt(function, *args)
        finally:
            self.trace.recording = recording
            self.grad_enabled, self.log, self.stop_at_problem = before

    def make_data(self, function: Value, *args: Value) -> Value:
        """Call a function that makes data: what it computes is no part of a model."""
        outer, self.making_data = self.making_data, True
        try:
            return self.attempt(function, *args)
        finally:
            self.making_data = outer

    def text_of(self, path: Value, also: Sequence[str] = ()) -> str | Unknown:
        """The content of a text file of the project, or why it is not read."""
        return text(self, path, also)

    def environment_variable(self, name: str) -> str | None:
        """A variable of this process's environment, where files lie by it; None where it is not set."""
        return self.importer.files.variable(name)

    def arguments(self) -> dict[str, Value] | Unknown:
        """The arguments of the function that the program was started with, by name."""
        frame = self.frame
        while frame is not None and frame.caller is not None:
            frame = frame.caller
        if frame is None or frame.function is None:
            return self.unknown("there is no function whose arguments could be asked for")
        parameters = frame.function.parameters
        names = (*parameters.positional, *parameters.keywords)
        found = {name: frame.variables[name] for name in names if name in frame.variables}
        more = frame.variables.get(parameters.double_star) if parameters.double_star is not None else None
        return {**found, **more} if isinstance(more, dict) else found

    def call_with_unknown(self, function: Value, cause: Unknown) -> Value:
        """A call some of whose arguments are not known, not even how many."""
        if isinstance(function, Bound) and isinstance(function.function, Native) and function.function.spread:
            function.function.spread(self, function.receiver, cause)
        return function if isinstance(function, Unknown) else cause

    def construct(self, cls: Class, *args: Value, **kwargs: Value) -> Value:
        """An instance of a class, as a call of it gives."""
        return construct(self, cls, args, kwargs)

    def call_function(self, function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """Call a function of the program."""
        return call_function(self, function, args, kwargs)

    def class_base(self, value: Value) -> Value:
        """What a value is as a base of a class: a Class, or why it is none."""
        return class_base(self, value)

    def class_made(self, cls: Class, options: dict[str, Value]) -> Value:
        """A new class: `__init_subclass__` and `__set_name__` as far as natives and users define them."""
        self.spend(len(cls.mro))
        metaclass = options.pop("metaclass", None)
        if isinstance(metaclass, Class):
            cls.facts["metaclass"] = metaclass
        else:
            inherited = next((base.facts["metaclass"] for base in cls.mro[1:] if "metaclass" in base.facts), None)
            if inherited is not None:
                cls.facts["metaclass"] = inherited
        for base in cls.mro[1:]:
            hook = base.namespace.get("__init_subclass__", MISSING)
            if hook is not MISSING:
                function = hook.function if isinstance(hook, ClassMethod) else hook
                result = self.invoke(function, (cls,), options)
                return result if isinstance(result, Class) else cls
        return cls

    def type_of(self, value: Value) -> Class | Unknown:
        """The class of a value, an unknown's cause."""
        if isinstance(value, Unknown):
            return value
        if isinstance(value, Instance):
            return value.cls
        if isinstance(value, Tensor):
            return frameworks.of(value).type_of(value)
        if isinstance(value, Batch):
            whole: Class = builtins.BUILTINS["int"]
            return whole
        return builtins.class_of(value) or self.unknown("the type of a value is not followed")

    def type_name(self, value: Value) -> str:
        """What the class of a value is called, for messages."""
        if isinstance(value, (Module, Namespace)):
            return f"module '{value.name}'"
        if isinstance(value, Class):
            return f"type object '{value.name}'"
        cls = self.type_of(value)
        return f"'{cls.name}' object" if isinstance(cls, Class) else "value"

    def is_instance(self, value: Value, cls: Value) -> bool | Unknown:
        """`isinstance(value, cls)`, also for a tuple of classes."""
        if isinstance(cls, (tuple, list)):
            results = [self.is_instance(value, each) for each in cls]
            if any(result is True for result in results):
                return True
            return next((result for result in results if isinstance(result, Unknown)), False)
        if isinstance(cls, Unknown):
            return cls
        own = self.type_of(value)
        if isinstance(own, Unknown):
            return own
        if cls is None:
            return value is None
        if not isinstance(cls, Class):
            return self.unknown("isinstance() of something that is not a class")
        if own.derives_from(cls) or cls.name == "object":
            return True
        hook = cls.find("__instancecheck__")
        if hook is not MISSING:
            return self.truth(self.invoke(Bound(hook, cls), (value,), {}))
        unknown_base = own.any_unknown_base()
        return False if unknown_base is None else unknown_base

    # Iteration

    def iterate(self, value: Value) -> Iterator[Value] | Unknown:
        """An iterator over a value's items, or why there is none. TypeError for what is not iterable."""
        return iteration.iterate(self, value)

    def items(self, value: Value) -> list[Value] | Unknown:
        """All items of a value as a list, or why they are not known."""
        found = self.iterate(value)
        if isinstance(found, Unknown):
            return found
        result: list[Value] = []
        for item in found:
            self.spend(1)
            result.append(item)
            if len(result) > LENGTH:
                raise Exhausted("a container grows too large to be followed")
        return result

    def make_set(self, items: Iterable[Value] | Unknown) -> Value:
        """A set of these items, or the first of them that cannot be a key."""
        if isinstance(items, Unknown):
            return items
        keys = [self.key(item) for item in items]
        cause = next((key for key in keys if isinstance(key, Unknown)), None)
        return set(keys) if cause is None else cause

    def mapping(self, value: Value) -> dict[Value, Value] | Unknown:
        """What `**value` spreads."""
        if isinstance(value, Unknown):
            return value
        if self.havocked and id(value) in self.havocked:
            return self.havocked[id(value)][1]
        if isinstance(value, Instance) and isinstance(value.payload, dict):
            return value.payload
        if isinstance(value, dict):
            return value
        keys = self.find(value, "keys")
        if keys is MISSING:
            raise self.error("TypeError", "argument after ** must be a mapping")
        names = self.items(self.call(keys))
        return names if isinstance(names, Unknown) else {name: self.index(value, name) for name in names}

    # Branches, contexts, generators

    def branch(self, cause: Unknown, frame: Frame, body: Code, orelse: Code) -> Value:
        """Run both sides of an `if` whose test is not known, and join what they leave."""
        return branches.branch(self, cause, frame, body, orelse)

    def either(self, cause: Unknown, frame: Frame, body: Code, orelse: Code) -> Value:
        """The value of `body if test else orelse` where the test is not known: both, joined."""
        return branches.either(self, cause, frame, body, orelse)

    def evaluate_aside(self, code: Code, frame: Frame) -> Value:
        """The value of an expression, with what it changes undone."""
        return branches.aside(self, code, frame)

    def join(self, left: Value, right: Value, cause: Unknown) -> Value:
        """One value for two that a branch leaves: the value where they are equal, else an unknown."""
        return joins.join(self, left, right, cause)

    def one_of(self, items: Sequence[Value], cause: Unknown) -> Value:
        """One value that stands for any of several."""
        return joins.one_of(self, items, cause)

    def enter_context(self, manager: Value) -> Value:
        """`manager.__enter__()`; an unknown manager gives itself."""
        if isinstance(manager, Unknown):
            return manager
        method = self.find(manager, "__enter__")
        return self.unknown("a context manager is not followed") if method is MISSING else self.call(method)

    def within_contexts(self, managers: list[Value], body: Code, frame: Frame) -> Value:
        """Run a `with` block and leave its contexts, innermost first; one whose `__exit__` says so swallows."""
        try:
            with self.guarded_by(*managers):
                signal = body(frame)
        except Raised as raised:
            if self.leave_contexts(managers, (raised.value.cls, raised.value, None)):
                self.trace.was_refused(raised.value, self.invocation)
                return None
            raise
        self.leave_contexts(managers, (None, None, None))
        return signal

    @contextmanager
    def guarded_by(self, *managers: Value) -> Iterator[None]:
        """Around what runs inside of contexts: those whose `__exit__` decides about exceptions are guards."""
        known = [each.cls for each in managers if isinstance(each, Instance)]
        deciding = any(type(cls.find("__exit__")) is Function or cls.module == "contextlib" for cls in known)
        with self.guarding(lambda error: True) if deciding else nullcontext():
            yield

    @contextmanager
    def guarding(self, guard: Guard) -> Iterator[None]:
        """Within it, a guard is asked before a value is changed."""
        self.guards.append(guard)
        try:
            yield
        finally:
            # A generator that waits in a `try` block may be closed at any time, after the run as well.
            if guard in self.guards:
                self.guards.remove(guard)

    def leave_contexts(self, managers: list[Value], why: tuple[Value, ...]) -> bool:
        """`__exit__` of managers, the last one first: whether one of them swallowed the exception."""
        swallowed = False
        for manager in reversed(managers):
            method = self.find(manager, "__exit__") if not isinstance(manager, Unknown) else MISSING
            if method is not MISSING and not isinstance(method, Unknown):
                swallowed = self.truth(self.call(method, *why)) is True or swallowed
        return swallowed

    def yield_value(self, frame: Frame, value: Value) -> None:
        """Give a value to the generator that a frame belongs to."""
        from flake8_cnnmem.evaluate.generators import GeneratorFull

        owner = frame.outside_comprehension()
        if owner.yielded is None:
            owner.yielded = []
        owner.yielded.append(value)
        if len(owner.yielded) >= YIELDS:
            raise GeneratorFull

    # The graph

    def apply(
        self,
        op: Op,
        *inputs: Value,
        weights: Sequence[Value] = (),
        function: str = "",
        dtypes: Sequence[str] | None = None,
        framework: str = FIRST,
    ) -> Value:
        """One call of an op in the graph: `dtypes` are those of its outputs, the first input's where they are
        not said."""
        return apply_op(self, op, inputs, weights, function, dtypes, framework)

    def left_behind(self, value: Value) -> None:
        """A name is given another value: the tensors that it led to may be freed from here on."""
        if type(value) is Tensor:
            value.held = self.numbered
        elif self.invocation is None and self.trace.turn is not None:
            # A dict of a class of its own, as models give their outputs in, is as good as one.
            own = value.payload if type(value) is Instance else value
            if isinstance(own, (list, tuple, dict)):
                let_go((value,), self.numbered)

    def let_go(self, *values: Value) -> None:
        """The program holds these values no longer: their storage may be used again."""
        let_go(values, self.numbered)

    def enter(
        self, layer: Instance | None, checkpoint: bool = False, reentrant: Sequence[Value] | None = None
    ) -> InvocationContext:
        """A region of the graph: the call of a layer, or a checkpoint that is computed again in the backward pass."""
        return InvocationContext(self, layer, checkpoint, reentrant)
