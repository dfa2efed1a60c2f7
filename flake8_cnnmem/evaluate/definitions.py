"""`def` and `class`: what they make when the statement runs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from flake8_cnnmem import frameworks, packages
from flake8_cnnmem.evaluate.annotations import WRITTEN_IN
from flake8_cnnmem.evaluate.attributes import LOOKED_UP, SLOTS
from flake8_cnnmem.evaluate.blocks import compile_block
from flake8_cnnmem.evaluate.budget import Exhausted
from flake8_cnnmem.evaluate.classes import class_made
from flake8_cnnmem.evaluate.compiler import Compiler, StatementSite
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code, Function
from flake8_cnnmem.evaluate.generators import compile_steps
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.parameters import compile_parameters
from flake8_cnnmem.evaluate.private import as_stored
from flake8_cnnmem.source import SourceError, parse_body
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.text.deferred_bodies import DeferredBody, docstring, yields
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, StaticMethod, Value, is_object


def compile_function(compiler: Compiler, node: cst.FunctionDef, twin: ast.FunctionDef | ast.AsyncFunctionDef) -> Code:
    """Code for a `def`: decorators, defaults, and the function, whose body is compiled when it is first called."""
    decorators = [compiler.expression(decorator.decorator) for decorator in node.decorators]
    parameters, defaults = compile_parameters(compiler, node.params)
    path = compiler.path
    word = node.name.value
    site = StatementSite(path, twin)
    compiled: list[Code] = []
    # Its syntax is not kept when it has been compiled.
    waiting = [node]
    generator = yields(twin.body)

    def body() -> Code:
        if not compiled:
            block, statements = written_out(path, waiting[0], twin)
            compiled.append((compile_steps if generator else compile_block)(path, block, statements))
            waiting.clear()
        return compiled[0]

    coroutine = node.asynchronous is not None

    def code(frame: Frame) -> None:
        around = [decorator(frame) for decorator in decorators]
        values, keyword_values = defaults(frame)
        made = Function(
            word, parameters, values, keyword_values, body, frame.closure(), frame.module, site, generator, coroutine
        )
        made.doc = docstring(twin.body)
        made.cell = frame.cell
        if frame.kind == "class":
            made.owner = str(frame.variables["__qualname__"])
        stored: Value = made
        for decorator in reversed(around):
            stored = decorate(frame, decorator, stored)
        frame.store(as_stored(frame, word), stored)

    return code


def written_out(
    path: str, node: cst.FunctionDef, twin: ast.FunctionDef | ast.AsyncFunctionDef
) -> tuple[cst.BaseSuite, list[ast.stmt]]:
    """The body of a function, also where it has been put off."""
    if not isinstance(twin.body[0], DeferredBody):
        return node.body, twin.body
    try:
        return parse_body(twin.body[0], path)
    except SourceError as error:
        raise Exhausted(error.reason) from None


def decorate(frame: Frame, decorator: Value, made: Value) -> Value:
    """A decorator that is not known is taken to keep what it decorates: nearly all do (registries, caches, docs)."""
    if isinstance(decorator, Unknown):
        return made
    result = frame.run.call(decorator, made)
    return made if isinstance(result, Unknown) else result


def compile_class(compiler: Compiler, node: cst.ClassDef, twin: ast.ClassDef) -> Code:
    """Code for a `class`: bases, keywords, the body in a frame of its own, metaclass and decorators."""
    decorators = [compiler.expression(decorator.decorator) for decorator in node.decorators]
    bases = [(arg.star, compiler.expression(arg.value)) for arg in node.bases]
    keywords = [(arg.keyword.value, compiler.expression(arg.value)) for arg in node.keywords if arg.keyword is not None]
    path = compiler.path
    body = compile_block(path, node.body, twin.body)
    word = node.name.value
    site = StatementSite(path, twin)
    annotations = {
        statement.target.id: statement.annotation
        for statement in twin.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    }

    def code(frame: Frame) -> None:
        run = frame.run
        around = [decorator(frame) for decorator in decorators]
        parents: list[Value] = []
        for star, base in bases:
            value = base(frame)
            spread = run.items(value) if star == "*" else [value]
            parents.extend(spread if isinstance(spread, list) else [spread])
        options = {key: value(frame) for key, value in keywords}
        module = frame.module
        namespace: dict[str, Value] = {"__module__": module.name, "__qualname__": word, "__doc__": docstring(twin.body)}
        namespace.update(prepared(run, word, parents, options))
        inner = Frame(run, module, "class", namespace, frame.closure(), frame.line)
        inner.cell = cell = []
        inner.body = twin
        body(inner)
        namespace.update(packages.placed_in(f"{module.name}.{word}"))
        if annotations:
            namespace["__annotations__"] = {key: ast.unparse(value) for key, value in annotations.items()}
        if "forward" in namespace:
            parents += assumed_bases(run, parents, module)
        made: Value = make_class(run, word, parents, namespace, module.name, site, options)
        if isinstance(made, Class):
            cell.append(made)
            if annotations:
                made.facts[WRITTEN_IN] = module
            lookup = made.find("__getattribute__")
            if isinstance(lookup, Function):
                made.facts[LOOKED_UP] = lookup
        for decorator in reversed(around):
            made = decorate(frame, decorator, made)
        frame.store(as_stored(frame, word), made)

    return code


def prepared(run: Any, word: str, parents: Sequence[Value], options: dict[str, Value]) -> dict[str, Value]:
    """The names that the body of a class begins with, where its metaclass has a `__prepare__` of its own."""
    inherited = (parent.facts.get("metaclass") for parent in parents if isinstance(parent, Class))
    metaclass = options.get("metaclass") or next((each for each in inherited if each is not None), None)
    own = metaclass.find("__prepare__") if isinstance(metaclass, Class) else MISSING
    if not isinstance(getattr(own, "function", own), Function):
        return {}
    further = {key: value for key, value in options.items() if key != "metaclass"}
    given = run.call(run.get(metaclass, "__prepare__"), word, tuple(parents), **further)
    return dict(given) if isinstance(given, dict) else {}


def make_class(
    run: Any,
    word: str,
    parents: list[Value],
    namespace: dict[str, Value],
    module: str,
    site: Any,
    options: dict[str, Value],
) -> Value:
    """The class that a `class` statement or `type(name, bases, namespace)` makes."""
    bases: list[Class] = []
    unknown_base: Unknown | None = None
    for parent in parents:
        parent = run.class_base(parent)
        if isinstance(parent, Class):
            if parent not in bases:
                bases.append(parent)
        elif unknown_base is None:
            lost = isinstance(parent, Unknown)
            unknown_base = parent if lost else run.unknown(f"a base class of {word} is not a class")
    bases = without_generic(bases) or [run.builtin("object")]
    try:
        plain = Class(word, tuple(bases), namespace, None, module, (), site, unknown_base)
    except TypeError as error:
        return run.unknown(str(error))
    slots = slots_of(namespace, bases)
    if slots is not None and unknown_base is None:
        plain.facts[SLOTS] = slots
    made = class_made(run, plain, dict(options))
    metaclass = made.facts.get("metaclass") if isinstance(made, Class) else None
    if isinstance(metaclass, Class) and made is plain:
        made = customise(run, metaclass, plain, options)
    item = namespace.get("__class_getitem__")
    if isinstance(item, Function):
        # A class method without saying so.
        namespace["__class_getitem__"] = ClassMethod(item)
    for name, value in list(namespace.items()):
        hook = value.cls.find("__set_name__") if isinstance(value, Instance) else MISSING
        if hook is not MISSING:
            run.call(hook, value, made, name)
    return made


def without_generic(bases: Sequence[Class]) -> list[Class]:
    """The bases without a `Generic[T]` that a later one derives from: beside a generic base it only names the variables
    (`typing._GenericAlias.__mro_entries__`)."""
    return [
        base
        for at, base in enumerate(bases)
        if (base.name, base.module) != ("Generic", "typing")
        or not any(later.derives_from(base) for later in bases[at + 1 :])
    ]


def slots_of(namespace: dict[str, Value], bases: Sequence[Class]) -> frozenset[str] | None:
    """The attributes that instances of a class can have whose bases all have `__slots__`; None where there are any."""
    own = namespace.get("__slots__", MISSING)
    own = (own,) if isinstance(own, str) else own
    words = list(own) if isinstance(own, (list, tuple, set, dict)) else []
    known = own is not MISSING and not isinstance(own, Unknown) and all(isinstance(word, str) for word in words)
    if not known or "__dict__" in words or not all(is_object(base) or SLOTS in base.facts for base in bases):
        return None
    return frozenset(words).union(*(base.facts.get(SLOTS, ()) for base in bases))


def assumed_bases(run: Any, parents: Sequence[Value], module: Module) -> list[Class]:
    """What a class with a `forward` method derives from besides, where a base of it is not known and its module
    imports a framework: that one's module. The model is then a lower bound, since nobody can say what the base adds."""
    if not any(isinstance(parent, Unknown) for parent in parents):
        return []
    imported = (*module.outline().tops, *module.outline().taken_from)
    assumed = [found for found in frameworks.assumed_bases(run, imported) if isinstance(found, Class)]
    known = [parent for parent in parents if isinstance(parent, Class)]
    return [base for base in assumed if not any(parent.derives_from(base) for parent in known)]


def customise(run: Any, metaclass: Class, plain: Class, options: dict[str, Value]) -> Value:
    """What a metaclass's own `__new__` and `__init__`, written in Python, make of a class."""
    options = {key: value for key, value in options.items() if key != "metaclass"}
    arguments = (plain.name, plain.bases, plain.namespace)
    made: Value = plain
    maker = metaclass.find("__new__")
    maker = maker.function if isinstance(maker, StaticMethod) else maker
    if isinstance(maker, Function) and plain.unknown_base is None:
        made = run.invoke(maker, (metaclass, *arguments), options)
        if not isinstance(made, Class):
            return plain
    initialiser = metaclass.find("__init__")
    if isinstance(initialiser, Function):
        # The body's dict, which is not the class's own: what is set on the class is not found there.
        run.invoke(initialiser, (made, *arguments[:2], dict(plain.namespace)), options)
    return made
