"""Calls of a model to see what it does: each can be undone, and costs no more than a budget of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from flake8_cnnmem.evaluate.application import Halted
from flake8_cnnmem.evaluate.budget import FORWARD_STEPS, TRIAL_STEPS, Budget, Exhausted
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.snapshots import restore
from flake8_cnnmem.evaluate.top_level import describe
from flake8_cnnmem.evidence import seen_through
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Call, Problem, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.models.inputs import Reading, leaves_size_open
from flake8_cnnmem.models.outcome import tensors_in, unknown_in
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.models.stated import StatedCall
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Raised, Value


@dataclass(slots=True)
class TrialCall:
    """One call of a model: what it gave, and every call on the way."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    calls: list[Call]
    causes: list[Unknown]


class Telling(list[Call]):
    """The calls of a model up to those that tell what each of its inputs is."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        super().__init__()
        self.inputs = inputs
        self.readings = [Reading(each) for each in inputs]
        self.read = 0
        """How many calls the readings have seen."""

    def append(self, call: Call) -> None:
        """Note a call. Halted as soon as the layers have said of every input what they expect, or that nobody will."""
        super().append(call)
        new = self[self.read :]
        if len(new) != 1:
            # Calls were taken away again.
            self.readings, new = [Reading(each) for each in self.inputs], self
        for each in new:
            for reading in self.readings:
                if not reading.over:
                    reading.ends_with(each)
        self.read = len(self)
        if all(reading.over for reading in self.readings):
            raise Halted(call)


class OfAnySize(list[Call]):
    """The calls of a model on maps of an open size, as long as each of them takes any size."""

    def append(self, call: Call) -> None:
        """Note a call. Halted where it asks for one size."""
        super().append(call)
        if not leaves_size_open(call):
            raise Halted(call)


class Trials:
    """The calls of one model from outside any layer."""

    def __init__(self, root: Root, instance: Instance, framework: Framework) -> None:
        self.root = root
        self.run: Interpreter = root.run
        self.instance = instance
        self.framework = framework

    def first_problem(self, values: Sequence[Value]) -> tuple[TrialCall, Problem | None]:
        """The call of the model on these inputs, as far as it comes, and the first size in it that cannot be right."""
        with self.stopping_at_problems():
            forward = self.try_out(values)
        return forward, problem_of(forward)

    @contextmanager
    def stopping_at_problems(self) -> Iterator[None]:
        """Within it, the first size that does not fit ends an evaluation."""
        self.run.stop_at_problem = True
        try:
            yield
        finally:
            self.run.stop_at_problem = False

    def try_out(self, values: Sequence[Value], log: list[Call] | None = None) -> TrialCall:
        """Call the model and undo what the call changes: models keep what they computed for their first input."""
        if self.root.exhausted is not None:
            return TrialCall((), (), [], [self.root.exhausted])
        noting, self.run.noting = self.run.noting, False
        try:
            forward, undo = self.on_trial(values, TRIAL_STEPS, log)
        finally:
            self.run.noting = noting
        undo()
        return forward

    def on_trial(
        self, values: Sequence[Value], steps: int, log: list[Call] | None = None
    ) -> tuple[TrialCall, Callable[[], None]]:
        """Call the model. The second result undoes what the call has changed."""
        run = self.run
        outer, run.journal = run.journal, {}
        havocked = dict(run.havocked)
        try:
            forward = self.call(values, steps, log)
        finally:
            journal, run.journal = run.journal, outer

        def undo() -> None:
            run.havocked = havocked
            for container, before in journal.values():
                restore(container, before)

        return forward, undo

    def call(self, values: Sequence[Value], steps: int = FORWARD_STEPS, log: list[Call] | None = None) -> TrialCall:
        """Call the model once, from outside any layer, with a budget of its own."""
        run = self.run
        saved = (run.invocation, run.modes, run.site, run.frame, run.budget, run.log)
        guards, run.guards = run.guards, []
        recording, run.trace.recording = run.trace.recording, False
        on_trial, run.trace.on_trial = run.trace.on_trial, True
        run.invocation, run.grad_enabled, run.autocast, run.cast_region = None, True, None, 0
        run.site, run.frame = self.root.site, None
        given = min(steps, run.forward_steps)
        run.budget, run.log = Budget(given), [] if log is None else log
        calls_before, events_before = len(run.trace.root_calls), len(run.trace.events)
        causes: list[Unknown] = []
        inputs = tuple(tensors_in(list(values)))
        result: Value = None
        try:
            if isinstance(values, StatedCall):
                run.called_at = values.batch
                result = run.call(self.instance, *as_given(values.positional), **values.named)
            else:
                result = self.called(values)
        except Halted as halted:
            list.append(run.log, halted.call)
        except (Raised, Exhausted, RecursionError) as error:
            frame: Any = run.frame
            where = (frame.module.path, frame.line) if frame is not None else ("", 0)
            causes.append(Unknown(describe(error), *where))
            if isinstance(error, Raised) and isinstance(error.value.native, Call):
                # What was raised in the program because it might have dealt with it.
                list.append(run.log, error.value.native)
            if isinstance(error, Exhausted):
                self.root.exhausted = causes[-1]
        finally:
            log = run.log or []
            run.forward_steps -= given - max(run.budget.steps, 0)
            run.trace.recording, run.trace.on_trial, run.called_at = recording, on_trial, None
            del run.trace.root_calls[calls_before:]
            del run.trace.events[events_before:]
            run.guards = guards
            run.invocation, run.modes, run.site, run.frame, run.budget, run.log = saved
        outputs = tuple(tensors_in(result))
        causes += [result] if isinstance(result, Unknown) else unknown_in(result)
        return TrialCall(inputs, outputs, log, causes)

    def called(self, values: Sequence[Value]) -> Value:
        """What the model gives for these inputs. Where the code raises for what it is not given, the call of the
        training may give more: once more, with that as not known."""
        run = self.run
        depth, noted = run.budget.depth, len(run.log or ())
        try:
            return self.framework.call_root(run, self.instance, values)
        except Raised as raised:
            further = {} if isinstance(raised.value.native, Call) else self.further_arguments(len(values))
            if not further:
                raise
        run.budget.depth, run.invocation, run.frame = depth, None, None
        if run.log is not None:
            del run.log[noted:]
        return run.call(self.instance, *values, **further)

    def further_arguments(self, given: int) -> dict[str, Value]:
        """What `forward` takes beside the first `given` inputs and is told by the code's calls of the model, by name;
        where no call is known, whatever is None unless it is told."""
        function = next((f for word in ("forward", "call") if (f := self.instance.cls.find(word)) is not MISSING), None)
        if not isinstance(function, Function):
            return {}
        names = function.parameters.positional[1:]
        defaults = dict(zip(reversed(names), reversed(function.defaults), strict=False)) | function.keyword_defaults
        open_names = [name for name in (*names[given:], *function.parameters.keywords) if name in defaults]
        calls = [call for call in self.root.calls if seen_through(call.instance) is self.instance]
        told = {name for call in calls for name in (*call.kwargs, *names[: len(call.args)])}
        words = [name for name in open_names if (name in told if calls else defaults[name] is None)]
        site = calls[0].site if calls else self.root.site
        where = (site.path, site.line) if site is not None else ("", 0)
        return {name: Unknown(f"what the model is given as {name!r} is not known", *where) for name in words}


def as_given(values: Sequence[Value]) -> list[Value]:
    """The values with a copy of each list: a model may put its results in the place of what it is given."""
    return [list(value) if type(value) is list else value for value in values]


def problem_of(forward: TrialCall) -> Problem | None:
    """The first size that cannot be right in a call of a model."""
    problem = next((call.problem for call in forward.calls if call.problem is not None), None)
    if problem is None and forward.causes and not forward.outputs:
        return Problem("CNM202", "the model cannot be followed at this size")
    return problem
