"""The interpreter's state, and the `Runtime` protocol that natives see. The work is in the rooms beside this one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import BatchTest
from flake8_cnnmem.evaluate import (
    attempts,
    attribute_changes,
    attributes,
    branches,
    builtins,
    changes,
    classes,
    grammar,
    iteration,
    joins,
    lengths,
    operators,
    perhaps,
    pins,
    subscripts,
    top_level,
    training_notes,
)
from flake8_cnnmem.evaluate.application import InvocationContext, apply_op
from flake8_cnnmem.evaluate.budget import FORWARDS_STEPS, LENGTH, STATEMENT_STEPS, YIELDS, Budget, Exhausted
from flake8_cnnmem.evaluate.builtins.files import text
from flake8_cnnmem.evaluate.contexts import Guard
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.generators import GeneratorFull
from flake8_cnnmem.evaluate.host_errors import of_host_error
from flake8_cnnmem.evaluate.imports import MISSING_PACKAGES, Importer
from flake8_cnnmem.evaluate.in_place import in_place
from flake8_cnnmem.evaluate.invoke import call_function, call_with_unknown, class_base, construct, invoke
from flake8_cnnmem.evaluate.lifetimes import let_go
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.program_runs import Ways
from flake8_cnnmem.evaluate.top_level import describe
from flake8_cnnmem.evaluate.trace import Trace
from flake8_cnnmem.graph import Call, Invocation, Op, Site, Tensor, Weight
from flake8_cnnmem.source import mentions_framework
from flake8_cnnmem.supported import FIRST
from flake8_cnnmem.unknown import Leaving, Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Raised, Value


class Interpreter:
    """One evaluation: of a file, or of an expression in it."""

    compile_statement = staticmethod(grammar.compile_statement)

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
        self.settled: list[tuple[dict[str, Value], str, Value]] = []
        """What imported modules have defined since the journal began: their variables, a name, its value."""
        self.births: dict[int, Value] | None = None
        """Objects that were made since the journal began, by id."""
        self.havocked: dict[int, tuple[Value, Unknown]] = {}
        """Containers whose items cannot be known, with the cause. Held, so that an id stays theirs."""
        self.samples: dict[int, tuple[Value, Value]] = {}
        """Of lists and dicts among them, by id, what all that was put in under an unknown condition has in common."""
        self.lengths: dict[int, tuple[Value, int, Unknown]] = {}
        """Of lists among them, by id: how many items each had then, of those that it holds, and its length."""
        self.assumed: list[tuple[Unknown, float, float]] = []
        """What the tests around say of numbers that are not known: the least and the most."""
        self.registries: dict[int, tuple[Value, Module]] = {}
        """Dicts and empty lists made while a lazy module's statements run: what later imports may fill."""
        self.made_empty: set[int] = set()
        """Those of them, by id, that were empty then."""
        self.guards: list[Guard] = []
        """What stands around the code that is running and may take an exception, the innermost last."""
        self.import_guards = 0
        """`try` blocks around the code that is running which expect an import to fail."""
        self.importing: Module | None = None
        self.batch: int | None = None
        """The batch size in force while a model is called for its graph, which is open in its shapes."""
        self.called_at: int | None = None
        self.batch_tests: list[BatchTest] = []
        """What has been decided by it."""
        self.numbered = 0
        self.scratch: dict[str, dict[Any, Any]] = {}
        self.trace = Trace()
        self.log: list[Call] | None = None
        """Every call since somebody asked, for models whose outputs are lost on the way."""
        self.stop_at_problem = False
        """Whether the first size that cannot be right ends the evaluation (the search for an input size)."""
        self.noting = True
        """Whether who asks for what expressions give is told of it: a trial that is undone is none of theirs."""
        self.layers_made = 0
        self.cut_off: list[Unknown] = []
        """Why statements of the analysed file were given up for what they cost, each with its line."""
        self.ended = False
        """Whether the program has ended: what follows in its text never runs."""
        self.raised: list[tuple[ast.stmt, Unknown]] = []
        """Statements of the analysed file that raise, with the cause."""
        self.raised_at: list[tuple[int, Unknown]] = []
        """Those that say so themselves: the number of the last op before, and the cause."""
        self.passed_over: frozenset[str] = frozenset()
        """The statements ("train.py:12") whose exceptions do not stop the program."""
        self.stops: list[str] = []
        """Those at which exceptions have stopped it, in order."""
        self.gone_on: list[Unknown] = []
        """What those raise that were passed over."""
        self.failures: list[Unknown] = []
        """Why top-level statements could not be followed to their end."""
        self.unfinished: list[Unknown] = []
        """Why statements of the analysed file were not followed to their end, those that raise left out."""
        self.making_data = False
        """Whether a sample is being made: a blur or a resizing that is written as a layer is no part of a step."""
        self.ways: Ways | None = None
        """What the user of the program is taken to choose; None where the program as a whole is not run."""

    # What is noted of a training

    note = training_notes.note
    joins_step = training_notes.joins_step
    repeated = training_notes.repeated
    drawn_again = training_notes.drawn_again

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

    def error(self, kind: str, message: Value, **attributes: Value) -> Raised:
        """An exception of the program, of a builtin kind ("ValueError"), to be raised."""
        cls = builtins.BUILTINS[kind]
        return Raised(Instance(cls, {"args": (message,), **attributes}, site=self.site))

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
            raise self.error("ModuleNotFoundError", f"No module named '{dotted}'", name=dotted)
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
        found = self.scratch.get(key)
        if found is None:
            found = self.scratch[key] = {}
        return found

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

    # Changes

    note_registry = changes.note_registry
    read_whole = changes.read_whole
    changed = changes.changed
    fills = changes.fills

    def havoc(self, container: Value, cause: Unknown) -> None:
        """From now on what a container holds is not known, for this cause."""
        self.havocked.setdefault(id(container), (container, cause))

    length_of = lengths.length_of
    either_length = lengths.either
    lengthened = lengths.lengthened
    note_sample = changes.note_sample
    sample = changes.sample

    # Attributes

    find = attributes.find

    def get(self, value: Value, name: str) -> Value:
        """An attribute, or MISSING."""
        found = attributes.find(self, value, name)
        if found is MISSING and isinstance(value, Module):
            found = self.importer.elsewhere(value, name)
        if found is MISSING and isinstance(value, Tensor) and isinstance(value.shape, Unknown):
            # Made of what nobody knows, or given by nobody: it may be another object altogether.
            return value.shape.loose()
        if found is MISSING:
            raise self.error("AttributeError", f"{self.type_name(value)} has no attribute '{name}'")
        return found

    set = attribute_changes.assign
    get_plainly = attributes.of_instance_plainly
    set_plainly = attribute_changes.assign_plainly
    delete_plainly = attribute_changes.remove_plainly
    delete = attribute_changes.remove

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
        return self.guarded(in_place, operator, left, right)

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

    attempt = attempts.attempt
    within = attempts.within
    aside = attempts.aside
    make_data = attempts.make_data
    refuse_made = attempts.refuse_made
    made_of = joins.made_of
    perhaps_done = perhaps.perhaps_done
    pinned = pins.pinned

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

    call_with_unknown = call_with_unknown

    def construct(self, cls: Class, *args: Value, **kwargs: Value) -> Value:
        """An instance of a class, as a call of it gives."""
        return construct(self, cls, args, kwargs)

    def call_function(self, function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """Call a function of the program."""
        return call_function(self, function, args, kwargs)

    def class_base(self, value: Value) -> Value:
        """What a value is as a base of a class: a Class, or why it is none."""
        return class_base(self, value)

    type_of = classes.type_of
    type_name = classes.type_name
    is_instance = classes.is_instance

    # Iteration

    iterate = iteration.iterate
    items = iteration.items
    make_set = iteration.make_set
    mapping = iteration.mapping

    # Branches, contexts, generators

    branch = branches.branch
    meet = branches.meet
    may_raise = branches.may_raise
    either = branches.either
    evaluate_aside = branches.aside
    join = joins.join
    one_of = joins.one_of

    def yield_value(self, frame: Frame, value: Value) -> None:
        """Give a value to the generator that a frame belongs to."""
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

    @property
    def in_forward_of_turn(self) -> bool:
        """Whether a model is called in a turn of a training loop, or has just been, so that a loss is computed."""
        return self.trace.turn is not None and (self.invocation is not None or self.trace.after_call())

    def left_behind(self, value: Value) -> None:
        """A name is given another value: the tensors that it led to may be freed from here on."""
        if isinstance(value, Tensor) and not isinstance(value, Weight):
            value.held = self.numbered
        elif self.invocation is None and self.trace.turn is not None:
            # So may those in an object that is no layer: a distribution, the outputs of a model by name.
            if isinstance(value, (list, tuple, dict)) or (type(value) is Instance and not frameworks.is_layer(value)):
                let_go((value,), self.numbered)

    def let_go(self, *values: Value) -> None:
        """The program holds these values no longer: their storage may be used again."""
        let_go(values, self.numbered)

    def enter(
        self, layer: Instance | None, checkpoint: bool = False, reentrant: Sequence[Value] | None = None
    ) -> InvocationContext:
        """A region of the graph: the call of a layer, or a checkpoint that is computed again in the backward pass."""
        return InvocationContext(self, layer, checkpoint, reentrant)
