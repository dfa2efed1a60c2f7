"""Top-level statements, one after the other: whatever ends one early is noted, and the next one runs."""

from __future__ import annotations

import ast
import os
import sys
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.budget import IMPORT_STEPS, Exhausted
from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.builtins.keys import lose
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.outlines import touched
from flake8_cnnmem.evaluate.own_errors import is_own_error
from flake8_cnnmem.evaluate.program_ends import ends_program, is_definition
from flake8_cnnmem.finding import in_short
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.running.stopping import go_on
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Raised

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

HOST_RECURSION = 12_000
"""Frames of our own that the deepest interpreted recursion needs, with room to spare."""


DEFAULT_MODES = (True, None, 0, True, False, None)
"""The `modes` in which a module that is imported runs."""


def run_module(run: Interpreter, module: Module) -> None:
    """Run the analysed file from top to bottom."""
    module.source.parse_whole()
    with deep_recursion():
        for at, names in enumerate(module.outline().names):
            code, twin = module.code(run, at)
            if run.ended and not is_definition(twin):
                continue
            run.importer.defining.append(names)
            cause = run_top_level(run, module, twin, code)
            if cause is not None and not isinstance(twin, (ast.Import, ast.ImportFrom)):
                run.unfinished.append(cause)
            run.importer.defining.remove(names)


def run_top_level(run: Interpreter, module: Module, twin: ast.stmt, code: Code) -> Unknown | None:
    """Run one top-level statement; whatever ends it early leaves its names Unknown, and goes no further. Why it could
    not be followed to its end, where it does not raise."""
    go_on()
    saved, modes = (run.frame, run.site, run.invocation, run.importing), run.modes
    depth, guards, journal = run.budget.depth, run.import_guards, run.journal
    run.invocation = None
    run.import_guards = 0
    outer_guards, run.guards = run.guards, []
    turn, doubts = run.trace.turn, len(run.trace.doubts)
    if module.lazy:
        run.modes = DEFAULT_MODES
        # What an import defines stays defined, also when the branch that asked for it is undone.
        run.importing, run.journal = module, None
    made = run.layers_made
    before = run.budget.steps
    allot(run, module.lazy)
    try:
        code(Frame(run, module, "module", module.variables, None, twin.lineno))
        if not module.lazy:
            # `torch.set_grad_enabled(False)` on a line of its own holds for those after it.
            modes = run.modes
    except (Raised, Exhausted, RecursionError) as error:
        give_up(run, module, twin, error)
        if not isinstance(error, Raised):
            cut_off(run, module, twin)
        if run.layers_made != made and (not isinstance(error, Raised) or is_method_call(twin)):
            doubt(run, module, twin)
        return None if isinstance(error, Raised) else run.failures[-1]
    else:
        return None
    finally:
        given_back(run, before)
        run.trace.leave(turn, run.numbered)
        del run.trace.doubts[doubts:]
        run.budget.depth, run.import_guards, run.journal = depth, guards, journal
        run.guards = outer_guards
        run.frame, run.site, run.invocation, run.importing = saved
        run.modes = modes


def allot(run: Interpreter, imported: bool) -> None:
    """Put what a statement may take into the budget. One of an imported module has its own: what it takes is the file's
    to give, and not lost to the statement that imports it."""
    budget = run.budget
    left = budget.steps + budget.reserve if imported else budget.steps
    steps = min(left, max(IMPORT_STEPS, run.statement_steps) if imported else run.statement_steps)
    budget.reserve += budget.steps - steps
    budget.steps = steps


def given_back(run: Interpreter, before: int) -> None:
    """A statement has ended: the one around it, or the file, goes on with what it had, as far as that is left."""
    budget = run.budget
    left = budget.steps + budget.reserve
    budget.steps = min(before, left)
    budget.reserve = left - budget.steps


def stops_at(run: Interpreter) -> str:
    """The statement at which the program has stopped, as `passed_over` names it: the innermost of the project's own
    code, by its file and line; empty where that is a library's."""
    frame = run.frame
    while frame is not None:
        path = os.path.abspath(frame.module.path)
        if path.startswith(run.importer.script_folder + os.sep) and "site-packages" not in path and frame.line:
            return f"{frame.module.path}:{frame.line}"
        frame = frame.called_from or frame.caller or frame.parent
    return ""


def give_up(run: Interpreter, module: Module, twin: ast.stmt, error: Exception) -> None:
    """A statement of a module cannot be followed: the names that it would bind are unknown, with this cause."""
    frame = run.frame
    path, line = (frame.module.path, frame.line) if frame is not None else (module.path, twin.lineno)
    cause = Unknown(describe(error), path, line)
    if isinstance(error, Raised) and not module.lazy:
        run.raised.append((twin, cause))
        sure = says_so(frame.module if frame is not None else module, line, error)
        if sure or (frame is not None and is_own_error(frame, error)):
            run.raised_at.append((run.numbered, Unknown(cause.reason, path, line)))
        run.stops.append(stops_at(run))
        # Whoever steps through a notebook may go on with its next cell.
        run.ended = run.ended or (module.source.notebook is None and ends_program(frame, twin, error))
    if isinstance(error, Raised) and isinstance(twin, ast.Expr):
        run.failures.append(cause)
    else:
        module.lose(run, touched(twin), cause)
        if isinstance(error, Raised) and not module.lazy and not is_definition(twin):
            bind_no_longer(run, module, twin, cause)


def says_so(module: Module, line: int, error: Raised) -> bool:
    """Whether a program that is run as its text has it ends with what a statement raises because its own `raise` or
    `assert` in this line says so; whatever else raises may be a fault of ours."""
    if module.source.notebook is not None or error.value.cls.name == "SystemExit":
        return False
    lines = module.source.text.splitlines()
    return 0 < line <= len(lines) and lines[line - 1].lstrip().startswith(("raise ", "assert "))


def bind_no_longer(run: Interpreter, module: Module, twin: ast.stmt, cause: Unknown) -> None:
    """A statement that raises leaves no earlier tensor under the names that it would bind: what is computed of
    `x = layer(x)` afterwards is nothing that the code computes of the x before."""
    for node in ast.walk(twin):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if isinstance(module.variables.get(node.id), Tensor):
                run.changed(module.variables)
                module.variables[node.id] = cause


def cut_off(run: Interpreter, module: Module, twin: ast.stmt) -> None:
    """A statement that could not be followed to its end: the containers and settings that it changes may hold anything
    (`cfg.merge_from_file(path)`)."""
    if not module.lazy:
        run.cut_off.append(Unknown(run.failures[-1].reason, module.path, twin.lineno))
    for word in touched(twin):
        held = payload(module.variables.get(word))
        if isinstance(held, (dict, list)):
            lose(run, held, run.failures[-1])


def doubt(run: Interpreter, module: Module, twin: ast.stmt) -> None:
    """A statement that made layers was cut short: whoever takes what it fills gets less than the code makes."""
    cause = run.failures[-1]
    for word in touched(twin):
        held = module.variables.get(word)
        if isinstance(held, Instance):
            run.trace.cut_short[id(held)] = (held, cause)
        elif isinstance(held, (list, dict, set, tuple)):
            run.changed(module.variables)
            module.variables[word] = cause


def is_method_call(statement: ast.stmt) -> bool:
    """Whether a statement calls a method of a name and does nothing else: `model.add(layer)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)


SAID = 160
"""Letters of what an exception says that a cause repeats."""


def describe(error: Exception) -> str:
    """Why a statement ended early, for a cause."""
    if isinstance(error, Raised):
        refused = error.value.native
        if isinstance(refused, Call) and refused.problem is not None:
            return refused.problem.what
        args = error.value.attributes.get("args", ())
        text = args[0] if isinstance(args, tuple) and args and isinstance(args[0], str) else ""
        return f"the code raises {error.value.cls.name}{': ' + in_short(text, SAID) if text else ''}"
    if isinstance(error, Exhausted):
        return error.reason
    return "the code is nested too deeply to be followed"


class deep_recursion:
    """Let our own recursion go as deep as the interpreted program's bounded depth needs."""

    def __enter__(self) -> None:
        self.before = sys.getrecursionlimit()
        if self.before < HOST_RECURSION:
            sys.setrecursionlimit(HOST_RECURSION)

    def __exit__(self, *exception: object) -> None:
        sys.setrecursionlimit(self.before)
