"""`try` and `raise`."""

from __future__ import annotations

import ast
from contextlib import nullcontext
from typing import Any

from flake8_cnnmem.evaluate.blocks import compile_block, statement
from flake8_cnnmem.evaluate.branches import RAISED
from flake8_cnnmem.evaluate.budget import Exhausted
from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.contexts import guarding
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.unordered import note_caught, note_raised
from flake8_cnnmem.graph import Call
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Raised, Value


@statement(cst.Raise)
def raise_(compiler: Compiler, node: cst.Raise, twin: ast.Raise) -> Code:
    """Code for `raise`: an exception, a class of which one is made, or alone the exception in progress."""
    value = compiler.expression(node.exc) if node.exc is not None else None
    cause = compiler.expression(node.cause.item) if node.cause is not None else None

    def code(frame: Frame) -> None:
        run = frame.run
        if value is None:
            current = frame.handling
            if isinstance(current, Instance):
                raise Raised(current)
            raise run.error("RuntimeError", "No active exception to reraise")
        exception = value(frame)
        if isinstance(exception, Class):
            exception = run.call(exception)
        if isinstance(exception, Instance):
            if cause is not None:
                before = cause(frame)
                exception.attributes["__cause__"] = run.call(before) if isinstance(before, Class) else before
                exception.attributes["__suppress_context__"] = True
            note_raised(frame, exception)
            raise Raised(exception)
        raise run.error("Exception", "an exception that is not known")

    return code


@statement(cst.Try, cst.TryStar)
def try_(compiler: Compiler, node: Any, twin: Any) -> Code:
    """Code for `try` with its handlers, `else` and `finally`."""
    path = compiler.path
    body = compile_block(path, node.body, twin.body)
    handlers: list[tuple[Code | None, str | None, Code]] = []
    for handler, handler_twin in zip(node.handlers, twin.handlers, strict=True):
        kind = Compiler(path, handler_twin).expression(handler.type) if handler.type is not None else None
        word = handler.name.name.value if handler.name is not None else None
        handlers.append((kind, word, compile_block(path, handler.body, handler_twin.body)))
    orelse = compile_block(path, node.orelse.body, twin.orelse) if node.orelse is not None else None
    finalbody = compile_block(path, node.finalbody.body, twin.finalbody) if node.finalbody is not None else None
    grouped = isinstance(node, cst.TryStar)
    guards_imports = any(deals_with_imports(handler) for handler in twin.handlers)

    def guarded(frame: Frame) -> Value:
        run = frame.run
        depth, invocation = run.budget.depth, run.invocation

        def takes(exception: Instance) -> bool:
            return any(catches(frame, kind, exception) for kind, _, _ in handlers)

        run.import_guards += guards_imports
        around, frame.raises = frame.raises, None
        parted = len(frame.parted or ())
        try:
            with guarding(run, takes) if handlers else nullcontext():
                signal = body(frame)
        except Raised as raised:
            run.budget.depth, run.invocation, run.frame = depth, invocation, frame
            if grouped:
                raise Exhausted("except* is not followed") from raised
            for kind, word, code in handlers:
                if catches(frame, kind, raised.value):
                    if word is not None:
                        note_caught(frame, raised.value)
                        frame.store(word, raised.value)
                    outer, frame.handling = frame.handling, raised.value
                    try:
                        signal = code(frame)
                    finally:
                        frame.handling = outer
                        if word is not None and not frame.module.source.floors:
                            # Python 2 kept it.
                            frame.discard(word)
                    run.trace.was_refused(raised.value, run.invocation)
                    return signal
            raise
        finally:
            run.import_guards -= guards_imports
            perhaps, frame.raises = frame.raises, around
            if frame.parted:
                run.meet(frame, parted, (RAISED,))
        if perhaps is not None and handlers:
            handled(frame, *perhaps)
        if signal is None and orelse is not None:
            if perhaps is not None:
                return frame.run.branch(perhaps[1], frame, orelse, lambda frame: None)
            return orelse(frame)
        return signal

    def handled(frame: Frame, exception: Instance, cause: Unknown) -> None:
        """The handler of what may have been raised, as a branch that may not be taken."""
        for kind, word, code in handlers:
            if catches(frame, kind, exception):

                def handling(frame: Frame, word: str | None = word, code: Code = code) -> Value:
                    if word is not None:
                        note_caught(frame, exception)
                        frame.store(word, exception)
                    return code(frame)

                frame.run.branch(cause, frame, handling, lambda frame: None)
                return
        frame.raises = (exception, cause)

    if finalbody is None:
        return guarded

    def code(frame: Frame) -> Value:
        try:
            signal = guarded(frame)
        except Raised:
            ending = finalbody(frame)
            if ending is not None:
                return ending
            raise
        ending = finalbody(frame)
        return signal if ending is None else ending

    return code


def deals_with_imports(handler: ast.ExceptHandler) -> bool:
    """Whether the program goes on without a module that cannot be imported. One that is told to install it first is
    taken to have it."""
    if handler.type is not None and not mentions_import_error(handler.type):
        return False
    return not isinstance(handler.body[-1], ast.Raise)


def mentions_import_error(node: ast.expr) -> bool:
    """Whether a handler's expression names an error that a failed import raises."""
    names = {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)}
    return bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


def catches(frame: Frame, kind: Code | None, exception: Instance) -> bool:
    """Whether an `except` clause takes this exception. One that names an unknown class does, but for a wrong size: a
    framework raises Python's own classes for those, and its classes are for other things (memory that ran out)."""
    if kind is None:
        return True
    wanted, refusal = kind(frame), isinstance(exception.native, Call)
    for cls in wanted if isinstance(wanted, tuple) else (wanted,):
        if (isinstance(cls, Unknown) and not refusal) or (isinstance(cls, Class) and exception.cls.derives_from(cls)):
            return True
    return False
