"""`with`: contexts are entered and left, and say whether an exception goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, TypeAlias

from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code, Function
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Raised, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.assignment import Store
    from flake8_cnnmem.evaluate.interpreter import Interpreter

Guard: TypeAlias = "Callable[[Instance], bool]"
"""A `try` with handlers, or a context manager: whether it may take an exception."""


def enter_context(run: Interpreter, manager: Value) -> Value:
    """`manager.__enter__()`; an unknown manager gives itself."""
    if isinstance(manager, Unknown):
        return manager
    if manager is None or type(manager) in (int, float, str, list, tuple, dict):
        kind = type(manager).__name__
        raise run.error("TypeError", f"'{kind}' object does not support the context manager protocol")
    method = run.find(manager, "__enter__")
    return run.unknown("a context manager is not followed") if method is MISSING else run.call(method)


def enter_all(frame: Frame, items: Sequence[tuple[Code, Store | None]]) -> list[Value]:
    """Enter the contexts of a `with` in order, each bound to its name where it has one: the managers."""
    run = frame.run
    entered: list[Value] = []
    for context, store in items:
        manager = context(frame)
        value = enter_context(run, manager)
        entered.append(manager)
        if store is not None:
            store(frame, value)
    return entered


def within_contexts(run: Interpreter, managers: list[Value], body: Code, frame: Frame) -> Value:
    """Run a `with` block and leave its contexts, innermost first; one whose `__exit__` says so swallows."""
    try:
        with guarded_by(run, *managers):
            signal = body(frame)
    except Raised as raised:
        if leave_contexts(run, managers, (raised.value.cls, raised.value, None)):
            run.trace.was_refused(raised.value, run.invocation)
            return None
        raise
    leave_contexts(run, managers, (None, None, None))
    return signal


@contextmanager
def guarded_by(run: Interpreter, *managers: Value) -> Iterator[None]:
    """Around what runs inside of contexts: those whose `__exit__` decides about exceptions are guards."""
    known = [each.cls for each in managers if isinstance(each, Instance)]
    deciding = any(type(cls.find("__exit__")) is Function or cls.module == "contextlib" for cls in known)
    with guarding(run, lambda error: True) if deciding else nullcontext():
        yield


@contextmanager
def guarding(run: Interpreter, guard: Guard) -> Iterator[None]:
    """Within it, a guard stands around what runs: it is asked before an error of a framework is raised."""
    run.guards.append(guard)
    try:
        yield
    finally:
        # A generator that waits in a `try` block may be closed at any time, after the run as well.
        if guard in run.guards:
            run.guards.remove(guard)


def leave_contexts(run: Interpreter, managers: list[Value], why: tuple[Value, ...]) -> bool:
    """`__exit__` of managers, the last one first: whether one of them swallowed the exception."""
    swallowed = False
    for manager in reversed(managers):
        method = run.find(manager, "__exit__") if not isinstance(manager, Unknown) else MISSING
        if method is not MISSING and not isinstance(method, Unknown):
            swallowed = run.truth(run.call(method, *why)) is True or swallowed
    return swallowed
