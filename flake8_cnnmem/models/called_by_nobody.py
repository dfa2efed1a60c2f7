"""Functions of a file that nobody calls: those that the program hands to what cannot be followed, those that a file
without a program of its own is started with from outside, and what a call of them lacks."""

from __future__ import annotations

import ast
from typing import NamedTuple

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.budget import STATEMENT_STEPS, Exhausted
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.invoke import HANDED
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.top_level import deep_recursion, describe
from flake8_cnnmem.supported import TRAINING
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Raised, Value


def call_handed(run: Interpreter) -> None:
    """Where nothing trains, the functions of the program that it hands to what nobody can follow are called, as that
    would (a search for settings, a launcher), with arguments that are not known."""
    for function in list(run.data(HANDED).values()):
        if any(event.kind in ("step", "fit") for event in run.trace.events):
            return
        turn = run.trace.turn
        missing = missing_arguments(function, 0)
        with deep_recursion():
            run.within(STATEMENT_STEPS, function, *missing.positional, **missing.by_name)
        run.trace.leave(turn, run.numbered)


STARTED_WITH = "started with"
"""The question of a run of a file without a program of its own: which of its functions it is started with."""


def call_starts(run: Interpreter, module: Module) -> bool:
    """Call one of the functions that a file may be started with from outside; whether there is one. Each is a run of
    its own: what one of them changes (a configuration, a default dtype) the others do not find."""
    starts = {statement.name: (statement, function) for statement, function in starts_of(run, module)}
    if not starts or run.ways is None:
        return False
    # There are no more runs than some: those that train come first.
    names = sorted(starts, key=lambda name: not trains_by_its_words(starts[name][0]))
    attempt(run, module, *starts[run.ways.choose(STARTED_WITH, names)])
    return True


def starts_of(run: Interpreter, module: Module) -> list[tuple[ast.FunctionDef, Value]]:
    """Functions that a file may be started with (an entry point of the package, a test, what a notebook calls):
    top-level ones that need no argument, give no value unless they train, and are mentioned nowhere else in the
    file."""
    tree = module.source.tree
    found: list[tuple[ast.FunctionDef, Value]] = []
    for statement in tree.body:
        if not isinstance(statement, ast.FunctionDef):
            continue
        function = module.variables.get(statement.name)
        if not is_start(function, statement, module) or id(function) in run.trace.used:
            continue
        if not returns_value(statement) or trains_by_its_words(statement):
            found.append((statement, function))
    # Hardly a file has any, and to look through all of it takes long.
    mentioned = names_used_inside(tree, (ast.FunctionDef, ast.ClassDef)) if found else set()
    return [(statement, function) for statement, function in found if statement.name not in mentioned]


def trains_by_its_words(statement: ast.FunctionDef) -> bool:
    """Whether the text of a function has a call that trains a model in some framework."""
    return any(word in ast.unparse(statement) for word in TRAINING)


def is_start(value: Value, statement: ast.FunctionDef, module: Module) -> bool:
    """Whether what a definition gives can be called without arguments: a function, or the command that a decorator has
    made of one, which takes them from its options (click, hydra)."""
    if isinstance(value, Function):
        # Whoever takes any arguments (`**settings`) reads some of them.
        takes_any = statement.args.vararg is not None or statement.args.kwarg is not None
        return value.module is module and not takes_any and not needs_arguments(statement.args)
    return bool(statement.decorator_list) and (isinstance(value, Native) or is_command(value))


def is_command(value: Value) -> bool:
    """Whether a value is an object of a library, no layer, that can be called."""
    if not isinstance(value, Instance) or value.cls.site is not None or frameworks.is_layer(value):
        return False
    return value.cls.find("__call__") is not MISSING


class MissingArguments(NamedTuple):
    """An Unknown for each parameter of a function that has no default."""

    positional: tuple[Unknown, ...]
    by_name: dict[str, Unknown]
    """Those that a call has to name."""

    @property
    def every(self) -> tuple[Unknown, ...]:
        """All of them, those by position first."""
        return (*self.positional, *self.by_name.values())


def missing_arguments(function: Function, skip: int) -> MissingArguments:
    """What a call of a function lacks that gives no arguments but the first `skip`."""

    def missing(word: str) -> Unknown:
        return Unknown(f"nobody gives {function.name} its argument {word}", function.module.path, function.site.line)

    names, named = function.parameters.positional, function.parameters.keywords
    needed = names[skip : len(names) - len(function.defaults)]
    return MissingArguments(
        tuple(map(missing, needed)), {word: missing(word) for word in named if word not in function.keyword_defaults}
    )


def attempt(run: Interpreter, module: Module, statement: ast.stmt, function: Value) -> Value:
    """Call a function or class on behalf of nobody, as a top-level statement would."""
    kept: list[Value] = []

    def code(frame: Frame) -> None:
        run.frame = frame
        run.site = StatementSite(module.path, statement)
        kept.append(call_plainly(run, function))

    failures = len(run.failures)
    with deep_recursion():
        try:
            run.run_top_level(module, statement, code)
        except (Raised, Exhausted) as error:
            return Unknown(describe(error), module.path, statement.lineno)
    if kept:
        return kept[0]
    return run.failures[-1] if len(run.failures) > failures else Unknown("it was not evaluated")


def call_plainly(run: Interpreter, value: Value) -> Value:
    """A class, factory or command named alone is called without arguments; what nobody gives is Unknown."""
    if isinstance(value, Class) and frameworks.is_layer(Instance(value)):
        return construct_bare(run, value)
    if isinstance(value, Function):
        missing = missing_arguments(value, 0)
        return run.call(value, *missing.positional, **missing.by_name)
    return run.call(value) if isinstance(value, Native) or is_command(value) else value


def construct_bare(run: Interpreter, cls: Class) -> Value:
    """An instance of a class of which nobody says the arguments: those without a default are unknown."""
    missing = missing_for_construction(cls)
    return run.call(cls, *missing.positional, **missing.by_name)


def missing_for_construction(cls: Class) -> MissingArguments:
    """What the construction of a class lacks that gives no arguments. An `__init__` in a wrapper that tells what it
    wraps (`functools.wraps`) lacks what it lacks without; one made of fields lacks those without a default."""
    initialiser = cls.find("__init__")
    while isinstance(initialiser, Function) and "__wrapped__" in initialiser.attributes:
        initialiser = initialiser.attributes["__wrapped__"]
    if isinstance(initialiser, Native) and initialiser.lacks is not None:
        path, line = (cls.site.path, cls.site.line) if cls.site is not None else ("", 0)
        return MissingArguments(
            (),
            {name: Unknown(f"nobody gives {cls.name} its field {name}", path, line) for name in initialiser.lacks(cls)},
        )
    return missing_arguments(initialiser, 1) if isinstance(initialiser, Function) else MissingArguments((), {})


def needs_arguments(arguments: ast.arguments) -> bool:
    """Whether a call without arguments would be refused."""
    positional = len(arguments.posonlyargs) + len(arguments.args)
    return positional > len(arguments.defaults) or None in arguments.kw_defaults


def returns_value(statement: ast.FunctionDef) -> bool:
    """Whether a function has a `return` with a value anywhere."""
    return any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(statement))


def names_used_inside(tree: ast.Module, kinds: tuple[type[ast.stmt], ...]) -> set[str]:
    """Names that statements of these kinds, functions and classes, mention: what they name is a part of them."""
    found: set[str] = set()
    for statement in tree.body:
        if not isinstance(statement, kinds):
            continue
        own = getattr(statement, "name", None)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != own:
                found.add(node.id)
    return found
