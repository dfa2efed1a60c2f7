"""The models of a file over all the runs that its user may start: one for each subcommand, a program of its own."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.budget import STEPS
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.program_runs import MOST_WAYS, Ways
from flake8_cnnmem.evaluate.trace import RootCall
from flake8_cnnmem.evidence import Phase, seen_through
from flake8_cnnmem.frameworks.framework import NUMBER_OF_GPUS
from flake8_cnnmem.graph import Site
from flake8_cnnmem.models.root import Root, inside_of
from flake8_cnnmem.models.roots import evaluate_way, is_candidate
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance


def evaluate_file(
    source: Source,
    search_path: Sequence[str] = (),
    strict: bool = False,
    files: Files = DISK,
    devices: int | None = None,
    stubs: str = "",
) -> tuple[list[Root], tuple[Unknown, ...]]:
    """Every distinct model of a file, in the order of their lines, and why there may be more: packages on top of a
    framework that were not found, statements that were not followed to their end. `devices` is how many GPUs there are,
    where somebody says so, `stubs` the folder of the project's own stubs. SourceError for a file that does not
    parse."""
    first = Ways({NUMBER_OF_GPUS: str(devices)} if devices is not None else {})
    waiting: list[tuple[Ways, int | None]] = [(first, None)]
    found: list[list[Root]] = []
    missing: dict[str, Unknown] = {}
    answered: set[int | None] = set()
    while waiting and len(found) < MOST_WAYS:
        ways, stopped = waiting.pop(0)
        if ways.passed_over and stopped in answered:
            continue
        run, roots, lost = evaluate_way(source, ways, search_path, strict, files, stubs)
        missing.update({each.reason: each for each in lost})
        learns = trains(run) or any(root.is_training for root in roots)
        if stopped is not None and learns:
            # It leads on where the run that it was tried for has stopped.
            found[stopped] = []
            if not run.raised and not ways.passed_over:
                # Nothing has to be passed over where another answer leads to the program's end.
                answered.add(stopped)
        waiting += [(Ways(taken), None) for taken in ways.open]
        if run.raised or not trains(run):
            # The program stopped, or waits for what its user has to give: another answer may lead on.
            waiting += [(Ways(taken), len(found)) for taken in ways.otherwise]
        if run.raised and not learns and cheap(run) and (beyond := ways.beyond(run.stops)) is not None:
            waiting.append((beyond, len(found) if stopped is None else stopped))
        # What stands beyond the place where the program stops counts for the trainings there alone.
        found.append(roots if learns or not ways.passed_over else [])
    distinct = found[0] if len(found) == 1 else each_once([root for roots in found for root in roots])
    distinct = without_uses(distinct)
    number_trainings(distinct)
    ordered = sorted(distinct, key=lambda root: (root.site.line, root.site.column, root.place or (0, 0)))
    return ordered, tuple(missing.values())


def cheap(run: Interpreter) -> bool:
    """Whether a run has left most of what an evaluation may take: another one of the program costs no more."""
    return run.budget.steps > STEPS // 2


def without_uses(roots: list[Root]) -> list[Root]:
    """Those without the models that the file makes once more to use them (a generator that only predicts), where it
    trains the same as a part of something larger: no training is seen of what such a one is given."""
    inner = {made_as(part) for root in roots if root.is_training for part in parts_inside(root)}
    if not inner:
        return roots
    return [root for root in roots if root.is_training or root.value is None or made_as(root.value) not in inner]


def made_as(model: Instance) -> Hashable:
    """What two models share that one statement has made with the same arguments."""
    framework = frameworks.of_layer(model)
    weights = framework.weights(model) if framework is not None else []
    site = model.site
    made = (site.path, site.line, site.column) if site is not None else id(model)
    return made, model.cls.name, tuple(str(weight.shape) for weight in weights)


def parts_inside(root: Root) -> list[Instance]:
    """The models inside of what a root trains."""
    found: list[Instance] = []
    for each in root.parts or (root,):
        inside = inside_of(each) - {id(each.value)}
        made = [made.instance for made in each.run.trace.layers.values() if id(made.instance) in inside]
        found += [part for part in made if is_candidate(part)]
    return found


def number_trainings(roots: Sequence[Root]) -> None:
    """Which of the file's trainings each is, in the order in which they run."""
    trained = [root for root in roots if root.is_training]
    for at, root in enumerate(trained):
        root.place = (at + 1, len(trained))


def trains(run: Interpreter) -> bool:
    """Whether an evaluation has come to a training, or to data that it could train on."""
    made = run.trace.layers.values()
    fitted = (framework.fits(each.instance) for each in made if (framework := frameworks.of_layer(each.instance)))
    return any(event.kind == "step" for event in run.trace.events) or any(fitted)


def each_once(roots: Sequence[Root]) -> list[Root]:
    """The models of several runs: those that are trained, once for each training, and other ones where no run trains
    what is made in the same place, or the same model for a command that only uses it."""
    kept: dict[Hashable, Root] = {}
    for root in roots:
        if is_trained(root):
            kept.setdefault((place(root), training(root)), root)
    places = {place(root) for root in kept.values()}
    names = {part.name for root in kept.values() for part in (root, *root.parts)}
    runs = {id(root.run): root.run for root in kept.values()}
    made = {definition(each.instance.cls) for run in runs.values() for each in run.trace.layers.values()}
    for root in roots:
        # A class that one run makes nothing of may be what another one trains with (the features in a loss).
        unused = root.value is not None and place_at(root.site) == definition(root.value.cls) in made
        if place(root) not in places and root.name not in names and not unused:
            kept[place(root)] = root
            places.add(place(root))
    return [root for root in roots if any(root is other for other in kept.values())]


def place(root: Root) -> Hashable:
    """What a root is told apart by: its name, and its path, line and column."""
    return root.name, root.site.path, root.site.line, root.site.column


def definition(cls: Class) -> Hashable:
    """Where a class is defined: path, line and column; None of a framework's own."""
    return place_at(cls.site) if cls.site is not None else None


def place_at(site: Site) -> Hashable:
    """Path, line and column."""
    return site.path, site.line, site.column


def is_trained(root: Root) -> bool:
    """Whether the code trains a root: in a loop of its own, or by a call of `fit`."""
    framework = frameworks.of_layer(root.value)
    return bool(root.phases) or (framework is not None and root.value is not None and bool(framework.fits(root.value)))


def training(root: Root) -> Hashable:
    """What tells one training of a model from another: its weights, and which loop trains it on what."""
    if root.value is None:
        return ()
    framework = frameworks.of_layer(root.value)
    shapes = [] if framework is None or root.value is None else [str(w.shape) for w in framework.weights(root.value)]
    loops = [(loop_of(phase), str([loader.native for loader in phase.loaders]), called(phase.calls))
             for phase in root.phases]  # fmt: skip
    whole = called(call for call in root.run.trace.root_calls if seen_through(call.instance) is root.value)
    return tuple(shapes), frozenset(loops), whole if not root.phases else frozenset()


def loop_of(phase: Phase) -> Hashable:
    """Path and line of the loop of a phase; None where no loop is around it."""
    site = phase.loop.site if phase.loop is not None else None
    return (site.path, site.line) if site is not None else None


def called(calls: Iterable[RootCall]) -> frozenset[str]:
    """The shapes of the arguments of calls, as one text each."""
    return frozenset(str([getattr(value, "shape", None) for value in call.args]) for call in calls)
