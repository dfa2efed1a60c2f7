"""Calls that may fail, take too long or go unseen: what they leave in progress is put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.budget import Budget, Exhausted
from flake8_cnnmem.evaluate.invoke import invoke
from flake8_cnnmem.evaluate.top_level import describe
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


def attempt(run: Interpreter, function: Value, *args: Value, **kwargs: Value) -> Value:
    """Call a function; where it raises or takes too long, what was in progress is as before and the result an
    unknown."""
    saved = (run.frame, run.site, run.invocation, run.budget.depth)
    modes = run.modes
    try:
        return invoke(run, function, args, kwargs)
    except Raised as raised:
        frame = run.frame
        where = (frame.module.path, frame.line) if frame is not None else ("", 0)
        run.frame, run.site, run.invocation, run.budget.depth = saved
        run.modes = modes
        return Unknown(describe(raised), *where)


def within(run: Interpreter, steps: int, function: Value, *args: Value, **kwargs: Value) -> Value:
    """Call a function with no more than so many steps; an unknown where they do not suffice."""
    outer, given = run.budget, min(steps, run.budget.steps)
    saved = (run.frame, run.site, run.invocation, run.modes)
    run.budget = Budget(given, outer.depth)
    try:
        return run.attempt(function, *args, **kwargs)
    except Exhausted as error:
        run.frame, run.site, run.invocation, run.modes = saved
        return run.unknown(describe(error))
    finally:
        outer.steps -= given - max(run.budget.steps, 0)
        run.budget = outer


def aside(run: Interpreter, function: Value, *args: Value) -> tuple[int, Value]:
    """Call a function without gradients and without noting its calls: (the first number that its tensors may have,
    result)."""
    before = run.grad_enabled, run.log, run.stop_at_problem
    run.grad_enabled, run.log, run.stop_at_problem = False, None, False
    recording, run.trace.recording = run.trace.recording, False
    first = run.numbered + 1
    try:
        return first, None if function is MISSING else run.attempt(function, *args)
    finally:
        run.trace.recording = recording
        run.grad_enabled, run.log, run.stop_at_problem = before


def refuse_made(run: Interpreter, made: Instance, kind: str, text: str) -> None:
    """A framework's constructor refuses what the program gives it. As with wrong sizes, that is raised where a handler
    of the program takes it, and else noted: a layer is there, so that its calls show what does not fit."""
    error = run.error(kind, text)
    if any(guard(error.value) for guard in reversed(run.guards)):
        raise error
    if not run.trace.doubts:
        cause = run.unknown(f"the code raises {kind}: {text}")
        for each in (made, *run.trace.making):
            run.trace.refused.setdefault(id(each), (each, cause))


def make_data(run: Interpreter, function: Value, *args: Value) -> Value:
    """Call a function that makes data: what it computes is no part of a model."""
    outer, run.making_data = run.making_data, True
    try:
        return run.attempt(function, *args)
    finally:
        run.making_data = outer
