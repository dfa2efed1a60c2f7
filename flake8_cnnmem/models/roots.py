"""The models of a file: those built when it runs, factories without arguments, classes that nothing else uses."""

from __future__ import annotations

import ast
import os
from collections.abc import Container, Iterator, Sequence
from functools import cache

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.imports import MISSING_PACKAGES, package_of
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.joins import alike
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.program_runs import Ways
from flake8_cnnmem.evaluate.trace import MadeLayer
from flake8_cnnmem.evaluate.training_state import within_reach
from flake8_cnnmem.evaluate.user_stubs import Stubs
from flake8_cnnmem.evidence import Phase, phases_of, seen_through
from flake8_cnnmem.graph import Site
from flake8_cnnmem.models.called_by_nobody import (
    attempt,
    call_handed,
    call_starts,
    missing_arguments,
    missing_for_construction,
    names_used_inside,
    needs_arguments,
    returns_value,
)
from flake8_cnnmem.models.nesting import Nesting
from flake8_cnnmem.models.root import Root, assigned_name, has_weights, known_weights, only_buffers
from flake8_cnnmem.models.trainings import trained_models, trainings
from flake8_cnnmem.source import Source
from flake8_cnnmem.supported import TRAINING
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Value

ALIKE_DEPTH = 40


MAIN = "__main__"
"""The name of the module that is run."""


def start(
    source: Source, search_path: Sequence[str], lazy: bool, strict: bool, files: Files = DISK, stubs: str = ""
) -> tuple[Interpreter, Module]:
    """An interpreter with the analysed file as its first module; what it imports is read from `files`. `stubs` is the
    folder of the project's own stubs, if it has one."""
    folder, dotted, package = package_of(source.path, files)
    own_folder = os.path.dirname(os.path.abspath(source.path))
    run = Interpreter(list(dict.fromkeys([own_folder, folder, *search_path])), strict)
    run.importer.files = files
    run.importer.stubs = Stubs(stubs, files)
    run.importer.script_folder = folder
    run.trace.path = source.path
    module = Module(dotted, source, package, lazy)
    if not lazy:
        module.variables["__name__"] = MAIN
        run.importer.modules[MAIN] = module
    run.importer.adopt(module)
    return run, module


def evaluate_way(
    source: Source,
    ways: Ways,
    search_path: Sequence[str] = (),
    strict: bool = False,
    files: Files = DISK,
    stubs: str = "",
) -> tuple[Interpreter, list[Root], tuple[Unknown, ...]]:
    """One run of a file: the evaluation, every distinct model that it leads to, and why there may be more: packages on
    top of a framework that were not found, and where there is none, statements that were not followed to their end."""
    run, module = start(source, search_path, False, strict, files, stubs)
    run.ways = ways
    run.passed_over = ways.passed_over
    run.run_module(module)
    call_handed(run)
    found = list(built_by_module(run, module))
    idle, used = not run.trace.layers, set(run.trace.used)
    for root in [*never_made(run, module), *factories(run, module)]:
        if not any(same(root, other) for other in found):
            found.append(root)
    if idle and call_starts(run, module):
        found = with_started(found, list(built_by_module(run, module)))
    for root in classes(run, module, used, alone=not found):
        if not any(same(root, other) for other in found):
            found.append(root)
    for root in found:
        root.causes = tuple(dict.fromkeys((*root.causes, *run.gone_on)))
    missing = (*run.data(MISSING_PACKAGES).values(), *(() if found else (*run.cut_off, *ended_by(run))))
    return run, found, missing


def with_started(found: list[Root], started: Sequence[Root]) -> list[Root]:
    """The models of a file, and those of the functions that it is started with: a training stands for its model."""
    for root in started:
        twin = next((other for other in found if same(root, other)), None)
        if root.is_training:
            found = [other for other in found if other.is_training or not same(root, other)]
        elif twin is not None:
            twin.calls.extend(root.calls)
            continue
        found.append(root)
    return found


def ended_by(run: Interpreter) -> Iterator[Unknown]:
    """The error that ends the program, at the line of the file's own statement that it comes out of; `sys.exit` is
    none."""
    for statement, cause in run.raised[:1]:
        if not cause.reason.startswith("the code raises SystemExit"):
            yield Unknown(cause.reason, run.trace.path, statement.lineno)


def never_made(run: Interpreter, module: Module) -> Iterator[Root]:
    """Models of a framework's own class whose construction raises: `model = Sequential([...])` with a bad layer; and
    those that a library makes from a file that is not there."""
    for name, site, cause in run.data("not made").values():
        if site is not None and site.path == module.path:
            yield Root(name, f"{module.path}::{name}", None, site, site, run, [], (cause,))
    for statement, cause in run.raised:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        if isinstance(target, ast.Name) and isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            cls = named_value(run, module, statement.value.func)
            if isinstance(cls, Class) and cls.site is None and is_model_class(cls):
                site = StatementSite(module.path, statement)
                yield Root(target.id, f"{module.path}::{target.id}", None, site, site, run, [], (cause,))


def named_value(run: Interpreter, module: Module, node: ast.expr) -> Value:
    """What a dotted name stands for at the end of a file; MISSING where it is none."""
    if isinstance(node, ast.Name):
        return module.global_name(run, node.id)
    inner = named_value(run, module, node.value) if isinstance(node, ast.Attribute) else MISSING
    return run.find(inner, node.attr) if isinstance(node, ast.Attribute) and inner is not MISSING else MISSING


def same(root: Root, other: Root) -> bool:
    """Whether two roots are one model: the same class, built with arguments and weights alike."""
    if root.value is None or other.value is None:
        return root.value is other.value and root.name == other.name
    return root.value.cls is other.value.cls and alike(root.value, other.value, ALIKE_DEPTH)


def root_of(run: Interpreter, name: str, target: str, value: Value, definition: Site) -> Root:
    """The root for a value that a program gives under a name; its cause says why it is no model."""
    instance = single_model(value)
    causes: tuple[Unknown, ...] = ()
    if isinstance(value, Unknown):
        causes = (value,)
    elif instance is None:
        causes = (Unknown("it does not give a model", definition.path, definition.line),)
    calls = [call for call in run.trace.root_calls if call.instance is instance]
    return Root(name, target, instance, definition, definition, run, calls, causes)


def single_model(value: Value) -> Instance | None:
    """The model in what a factory gives: itself, or the only one in a tuple, list or dict."""
    if frameworks.is_layer(value):
        return value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    models = [item for item in items if frameworks.is_layer(item)]
    return models[0] if len(models) == 1 else None


def built_by_module(run: Interpreter, module: Module) -> Iterator[Root]:
    """Models that were built while the module ran, parts of larger ones left out, alike ones once.

    Of those that other files build, those that are trained while this one runs: the call that leads there builds them.
    """
    made = [each for each in run.trace.layers.values() if is_candidate(each.instance)]
    phases = phases_of(run.trace)
    trained = trained_models(run, phases)
    nesting = Nesting()
    holders = nesting.highest_inside((each.instance for each in made), dict.fromkeys(trained, 1))
    shells = {id(each.instance) for each in made if holders[id(each.instance)] > 0 and is_shell(each.instance)}
    made = [each for each in made if id(each.instance) not in shells]
    inner = parts_of_others(run, made, nesting, trained) - trained_before(run, made, nesting, phases)
    parts = kept_parts(run, module, made, nesting)
    called = {id(call.instance) for call in run.trace.root_calls}
    found: list[Root] = []
    for each in made:
        if id(each.instance) in inner or not has_weights(each.instance):
            continue
        if id(each.instance) in run.trace.put_away and id(each.instance) not in {*trained, *called}:
            # A new head of a model that is not known is fed by that.
            continue
        idle = not known_weights(each.instance) or only_buffers(each.instance)
        if id(each.instance) not in trained and run.data("optimizers") and idle:
            # Nothing that is known of it trains, and what trains is known: a transform of parts that are not found, or
            # one that holds windows and filters.
            continue
        if id(each.instance) in parts and id(each.instance) not in trained:
            found += [kept_part(run, module, name, part, each) for name, part in parts[id(each.instance)]]
            continue
        own = wrapped(each, made, module)
        site = own.site
        if site is None or site.path != module.path:
            site = each.entered if id(each.instance) in trained else None
        if site is None:
            continue
        cls = own.instance.cls
        name = model_name(module, own.instance, site)
        definition = cls.site if cls.site is not None and cls.site.path == module.path else site
        calls = [call for call in run.trace.root_calls if seen_through(call.instance) is each.instance]
        cut_short = tuple(cause for held, cause in run.trace.cut_short.values() if held is each.instance)
        root = Root(name, f"{module.path}::{name}", each.instance, site, definition, run, calls, cut_short)
        twin = next((other for other in found if same(root, other)), None)
        if twin is None or id(each.instance) in trained:
            found.append(root)
        else:
            twin.calls.extend(calls)
    for root in trainings(run, found, phases):
        if not root.is_training and any(word in module.source.text for word in TRAINING):
            # It may be trained beyond the place where the program ends in an error, or could no longer be followed.
            root.beyond += (*run.unfinished, *ended_by(run))
        else:
            last = max((phase.stepped for phase in root.phases), default=0)
            asked = root.is_training or bool(root.phases)
            root.beyond += tuple(cause for number, cause in run.raised_at[:1] if number < last or not asked)
        yield root


def is_shell(instance: Instance) -> bool:
    """Whether a model that holds those which train only holds them: its own training step calls them, and it has no way
    from input to output."""
    framework = frameworks.of_layer(instance)
    assert framework is not None
    if framework.declares_inputs or framework.own_inputs(instance) is not None:
        return False
    return not isinstance(instance.cls.find("call"), Function)


def wrapped(outer: MadeLayer, made: Sequence[MadeLayer], module: Module) -> MadeLayer:
    """The model of this file that a wrapper of another file holds, with nothing beside it; else what is given."""
    if outer.site is not None and outer.site.path == module.path:
        return outer
    framework = frameworks.of_layer(outer.instance)
    assert framework is not None
    inside, weights = framework.paths(outer.instance), len(framework.weights(outer.instance))
    for each in made:
        if each is outer or id(each.instance) not in inside or each.site is None or each.site.path != module.path:
            continue
        if len(framework.weights(each.instance)) == weights:
            return each
    return outer


def parts_of_others(run: Interpreter, made: Sequence[MadeLayer], nesting: Nesting, trained: Container[int]) -> set[int]:
    """Models, by id, that are parts of larger ones, or were made on the way to another. What is trained for itself is
    none for a layer that it shares with one that was made later."""
    instances = [each.instance for each in made]
    inner = nesting.inner(instances)
    holders = nesting.last_holder(instances, {id(each.instance): each.number for each in made})
    latest = nesting.highest_inside(instances, holders)
    called = {id(call.instance) for call in run.trace.root_calls}
    finished = 0
    for each in sorted(made, key=lambda each: each.number):
        # What was made while a model was constructed is a part of it, also where it is dropped on the way.
        if each.number <= finished and id(each.instance) not in called:
            inner.add(id(each.instance))
        finished = max(finished, each.last)
        # A network taken apart for its layers is a part of what they went into.
        used = id(each.instance) in called or id(each.instance) in trained
        later = not used and id(each.instance) not in inner and latest[id(each.instance)] > max(each.number, each.last)
        if later and goes_into(each, made, nesting):
            inner.add(id(each.instance))
    return inner


def goes_into(model: MadeLayer, made: Sequence[MadeLayer], nesting: Nesting) -> bool:
    """Whether a layer inside a model lies in one that was made later and is no part of it, as a new head of it is."""
    own = {id(layer) for layer in nesting.below([model.instance], set())}
    later = [each.instance for each in made if each.number > max(model.number, model.last)]
    return any(id(layer) in own for layer in nesting.below([each for each in later if id(each) not in own], set()))


def trained_before(run: Interpreter, made: Sequence[MadeLayer], nesting: Nesting, phases: Sequence[Phase]) -> set[int]:
    """Models, by id, whose training was over before there was anything that they are a part of: an encoder that is put
    into a classifier when it has learned."""
    instances = [each.instance for each in made]
    first = nesting.last_holder(instances, {id(each.instance): -each.began for each in made})
    ended = {
        id(seen_through(call.instance)): phase.passes[-1].last for phase in reversed(phases) for call in phase.calls
    }
    return {model for model, end in ended.items() if -first.get(model, 0) >= end}


def kept_parts(
    run: Interpreter, module: Module, made: Sequence[MadeLayer], nesting: Nesting
) -> dict[int, list[tuple[str, Instance]]]:
    """Of models that nothing leads to any more when the file has run, by their ids, the parts that its variables hold,
    outermost ones alone: `encoder = Autoencoder().encoder`. One that the file calls is a model of its own."""
    variables = [(name, value) for name, value in module.variables.items() if not name.startswith("__")]
    reached = [value for _, value, _ in within_reach(variables) if frameworks.is_layer(value)]
    there = {id(layer) for layer in (*reached, *nesting.below(reached, set()))}
    called = {id(call.instance) for call in run.trace.root_calls}
    named = [(name, value) for name, value in variables if frameworks.is_layer(value)]
    outermost = {id(value) for _, value in named} - nesting.inner([value for _, value in named])
    found: dict[int, list[tuple[str, Instance]]] = {}
    for each in made if named else ():
        if id(each.instance) in there or id(each.instance) in called:
            continue
        inside = {id(layer) for layer in nesting.below([each.instance], set())}
        held = {id(value): (name, value) for name, value in reversed(named)
                if id(value) in inside & outermost and has_weights(value)}  # fmt: skip
        if held:
            found[id(each.instance)] = list(reversed(held.values()))
    return found


def kept_part(run: Interpreter, module: Module, name: str, part: Instance, whole: MadeLayer) -> Root:
    """The root of a part that a variable holds, at the line that makes the whole."""
    site = whole.site if whole.site is not None and whole.site.path == module.path else part.site
    assert site is not None
    calls = [call for call in run.trace.root_calls if seen_through(call.instance) is part]
    return Root(name, f"{module.path}::{name}", part, site, site, run, calls)


def is_candidate(instance: Instance) -> bool:
    """Whether an instance may be a model of its own: not a framework's single layer."""
    framework = frameworks.of_layer(instance)
    return framework is not None and framework.is_model(instance)


def model_name(module: Module, instance: Instance, site: Site) -> str:
    """The class's name, or that of a function which tells the variant (`resnet50` for `ResNet`); for a framework's
    own container the variable that holds it."""
    cls = instance.cls
    if cls.site is not None:
        called = called_name(site)
        return called if plain(called).startswith(plain(cls.name)) else cls.name
    named = instance.attributes.get("name") or getattr(instance.native, "name", None)
    held = next((word for word, value in module.variables.items() if value is instance), None)
    return held or assigned_name(site) or (named if isinstance(named, str) else instance.cls.name)


def plain(name: str) -> str:
    """A name without case and underscores."""
    return name.replace("_", "").lower()


def called_name(site: Site) -> str:
    """The name of what a call calls: `resnet50` of `models.resnet50(pretrained=True)`."""
    node = site.node.func if isinstance(site, StatementSite) and isinstance(site.node, ast.Call) else None
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def factories(run: Interpreter, module: Module) -> Iterator[Root]:
    """Top-level functions that need no argument and give a model. One that a program which trains calls with arguments
    is shown by what it gives there."""
    trains = any(event.kind in ("step", "fit") for event in run.trace.events)
    shown = run.trace.used | run.trace.called if trains else run.trace.used
    for statement in module.source.tree.body:
        if not isinstance(statement, ast.FunctionDef) or statement.name.startswith("_"):
            continue
        function = module.variables.get(statement.name)
        if not isinstance(function, Function) or id(function) in shown:
            continue
        # A decorator may have put a wrapper of another module in its place.
        if function.module is not module and not statement.decorator_list:
            continue
        if needs_arguments(statement.args) or missing_arguments(function, 0).every or not returns_value(statement):
            continue
        value = attempt(run, module, statement, function)
        instance = single_model(value)
        if instance is not None and is_candidate(instance):
            site = StatementSite(module.path, statement)
            calls = [call for call in run.trace.root_calls if call.instance is instance]
            yield Root(statement.name, f"{module.path}::{statement.name}", instance, site, site, run, calls)


def classes(run: Interpreter, module: Module, used: set[int], alone: bool) -> Iterator[Root]:
    """Model classes that nothing else in the file uses as a part. `alone`: where the file has no other model; then a
    function that nobody calls uses none."""
    inside = (ast.ClassDef,) if alone else (ast.FunctionDef, ast.ClassDef)
    referenced = cache(lambda: names_used_inside(module.source.tree, inside))
    for statement in module.source.tree.body:
        if not isinstance(statement, ast.ClassDef):
            continue
        cls = module.variables.get(statement.name)
        if not isinstance(cls, Class) or not frameworks.is_layer(Instance(cls)):
            continue
        if id(cls) in used or id(cls) in run.trace.used:
            continue
        if any(made.instance.cls is cls for made in run.trace.layers.values()):
            continue
        if not is_model_class(cls) or statement.name in referenced():
            continue
        value = attempt(run, module, statement, cls)
        site = StatementSite(module.path, statement)
        root = root_of(run, statement.name, f"{module.path}::{statement.name}", value, site)
        root.causes += missing_for_construction(cls).every
        yield root


def is_model_class(cls: Class) -> bool:
    """Whether instances of a class can be models of their own. A Keras layer class is a part, a Module may be one."""
    framework = frameworks.of_layer(Instance(cls))
    return framework is not None and framework.is_model(Instance(cls))
