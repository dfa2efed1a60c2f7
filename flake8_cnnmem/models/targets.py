"""The model that a target names: a class or factory of the file, a name that its program assigns, or an expression.

Of a class or factory only what it needs is evaluated. A name that the program assigns is what it stands for when the
program has run: what comes between its statements (data that are loaded, made smaller, told apart) counts for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.blocks import pair
from flake8_cnnmem.evaluate.budget import TARGET_STEPS, Budget
from flake8_cnnmem.evaluate.compiler import Compiler, StatementSite
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.outlines import DEFINITIONS, IMPORTS
from flake8_cnnmem.evaluate.program_runs import MOST_WAYS, Ways
from flake8_cnnmem.evaluate.top_level import deep_recursion
from flake8_cnnmem.graph import Site
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.models.called_by_nobody import call_plainly
from flake8_cnnmem.models.root import Root, assigned_name
from flake8_cnnmem.models.roots import built_by_module, is_candidate, root_of, start
from flake8_cnnmem.source import Source, SourceError
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Value


class TargetError(Exception):
    """A target that names nothing; the message is one plain sentence that says so."""


@dataclass(frozen=True, slots=True)
class Target:
    """An expression in the scope of a file. `callee` is the name that it begins with."""

    source: Source
    expression: str
    asked: Source
    callee: str | None

    @property
    def node(self) -> ast.expr:
        """The expression's syntax tree."""
        statement = self.asked.tree.body[0]
        assert isinstance(statement, ast.Expr)
        return statement.value

    @property
    def text(self) -> str:
        """The target as it is written on the command line: "path::expression"."""
        return f"{self.source.path}::{self.expression}"

    def name_of(self, value: Value) -> str:
        """What the model that it gives is called: as what is called, a part by the whole expression."""
        node = self.node
        if self.callee is None or not isinstance(node, (ast.Name, ast.Call)):
            return self.expression
        called = node.func if isinstance(node, ast.Call) else node
        if isinstance(value, Instance) and value.cls.name != self.callee and isinstance(called, ast.Attribute):
            return called.attr if is_dotted(called) else self.expression
        return self.callee

    @property
    def is_name(self) -> bool:
        """Whether the expression is a plain name."""
        return isinstance(self.node, ast.Name)


@dataclass(frozen=True, slots=True)
class TargetScope:
    """Where the files that a target needs are looked up."""

    search_path: Sequence[str]
    strict: bool
    files: Files
    stubs: str


def evaluate_target(
    source: Source,
    expression: str,
    search_path: Sequence[str] = (),
    strict: bool = False,
    files: Files = DISK,
    stubs: str = "",
) -> list[Root]:
    """The model that an expression gives in the scope of a file: a name of a class or factory, or any expression.

    TargetError where the expression does not parse or names nothing.
    """
    target, scope = parsed(source, expression), TargetScope(search_path, strict, files, stubs)
    defined = is_defined(source, target.callee)
    if target.is_name and not defined:
        found = of_program(target, scope)
        if found is not None:
            return [found]
    try:
        alone = by_itself(target, scope)
    except TargetError:
        found = of_program(target, scope) if not target.is_name else None
        if found is None:
            raise
        return [found]
    if alone.value is None and not target.is_name:
        # What it needs may be there only when the program has run: data, a global that another function sets.
        found = of_program(target, scope)
        if found is not None and found.value is not None:
            return [found]
    return [alone]


def parsed(source: Source, expression: str) -> Target:
    """A target of a file's expression. Raises a usage error for one that does not parse."""
    asked = Source(f"{source.path}::{expression}", f"({expression}\n)")
    asked.path = source.path
    try:
        twins = asked.tree.body
        asked.cst  # noqa: B018  what does not parse is refused here
    except SourceError as error:
        raise TargetError(f"'{expression}' is not an expression") from error
    if len(twins) != 1 or not isinstance(twins[0], ast.Expr):
        raise TargetError(f"'{expression}' is not an expression")
    return Target(source, expression, asked, base_name(twins[0].value))


def base_name(node: ast.expr) -> str | None:
    """The name that attributes, items and calls lead back to ("net" of `net.body[0]()`); None without one."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def is_dotted(node: ast.expr) -> bool:
    """Whether an expression is a name with names behind it (`models.resnet18`)."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def is_defined(source: Source, name: str | None) -> bool:
    """Whether a file defines or imports a name at its top, and assigns it nowhere there."""
    statements = [each for each in source.tree.body if any(word == name for word in bound(each))]
    return bool(statements) and all(isinstance(each, (*DEFINITIONS, *IMPORTS)) for each in statements)


def bound(statement: ast.stmt) -> Iterator[str]:
    """The names that a top-level statement binds, at whatever depth of its own."""
    if isinstance(statement, DEFINITIONS):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, DEFINITIONS):
            yield node.name
        elif isinstance(node, IMPORTS):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)


def by_itself(target: Target, scope: TargetScope) -> Root:
    """The model of an expression in the scope of the file as an import leaves it."""
    run, module = as_imported(target.source, scope)
    if target.callee is not None and module.global_name(run, target.callee) is MISSING:
        known = {name for each in target.source.tree.body for name in bound(each)}
        near = get_close_matches(target.callee, sorted(known), 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise TargetError(f"there is no '{target.callee}' in {target.source.path}{meant}")
    value = value_of(run, module, target)
    return root_of(run, target.name_of(value), target.text, value, definition_site(module, target))


def as_imported(source: Source, scope: TargetScope) -> tuple[Interpreter, Module]:
    """The file as a module that was imported, run to its end: what later statements change of a name is a part of it.

    A file that takes longer than there is time for is read on demand instead: as far as a name needs.
    """
    run, module = start(source, scope.search_path, False, scope.strict, scope.files, scope.stubs)
    module.variables["__name__"] = module.name
    try:
        run.run_module(module)
    except SourceError:
        run.budget.steps = 0
    if run.budget.steps > 0:
        return run, module
    return start(source, scope.search_path, True, scope.strict, scope.files, scope.stubs)


def value_of(run: Interpreter, module: Module, target: Target) -> Value:
    """What the expression gives in the module's scope; a class or factory is called."""
    node, twin = pair(target.asked.cst.body, target.asked.tree.body)[0]
    kept: list[Value] = []

    def keep(frame: Frame) -> None:
        kept.append(call_plainly(run, Compiler(module.path, twin).expression(node.value)(frame)))

    run.statement_steps, run.budget = TARGET_STEPS, Budget(TARGET_STEPS)
    with deep_recursion():
        run.run_top_level(module, twin, keep)
    return kept[0] if kept else run.failures[-1] if run.failures else Unknown("the expression was not evaluated")


def of_program(target: Target, scope: TargetScope) -> Root | None:
    """The model of an expression when the whole program has run; None where its name stands for nothing then."""
    waiting = [Ways()]
    tried = 0
    while waiting and tried < MOST_WAYS:
        ways, tried = waiting.pop(0), tried + 1
        run, module = start(target.source, scope.search_path, False, scope.strict, scope.files, scope.stubs)
        run.ways = ways
        run.run_module(module)
        found = after_program(run, module, target)
        if found is not None:
            return found
        waiting += [Ways(taken) for taken in (*ways.open, *ways.otherwise)]
    return None


def after_program(run: Interpreter, module: Module, target: Target) -> Root | None:
    """The root of a target as it is when the program has run; None where the program does not build it."""
    name = target.callee
    if name is None or module.global_name(run, name) is MISSING:
        return assigned_inside(run, module, name) if target.is_name and name is not None else None
    roots = list(built_by_module(run, module)) if target.is_name else []
    value = module.global_name(run, name) if target.is_name else value_of(run, module, target)
    own = [root for root in roots if root.value is value]
    if own:
        # Of several trainings of it the last: what is frozen by then stays so.
        return own[-1]
    if target.is_name and not frameworks.is_layer(value):
        value = value_of(run, module, target)
    return root_of(run, target.name_of(value), target.text, value, definition_site(module, target))


def assigned_inside(run: Interpreter, module: Module, name: str) -> Root | None:
    """The last model that a function of the program gives this name."""
    roots = list(built_by_module(run, module))
    own = [root for root in roots if root.name == name]
    if own:
        return own[-1]
    for made in reversed(run.trace.layers.values()):
        site = made.site
        if (
            site is not None
            and site.path == module.path
            and is_candidate(made.instance)
            and assigned_name(site) == name
        ):
            return root_of(run, name, f"{module.path}::{name}", made.instance, site)
    return None


def definition_site(module: Module, target: Target) -> Site:
    """Where the name of a target is defined or assigned at the top of its module; else the module's first line."""
    statements, name = module.source.tree.body, target.callee
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and statement.name == name:
            return StatementSite(module.path, statement)
    for statement in statements:
        if isinstance(statement, ast.Assign) and name is not None and any(
            isinstance(each, ast.Name) and each.id == name for each in statement.targets
        ):  # fmt: skip
            return StatementSite(module.path, statement)
    return StatementSite(module.path, ast.Pass(lineno=1, col_offset=0))
