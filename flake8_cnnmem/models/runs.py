"""The models of a file over all the runs that its user may start: one for each subcommand, a program of its own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.ways import MOST_WAYS, Ways
from flake8_cnnmem.evidence import seen_through
from flake8_cnnmem.files import DISK, Files
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.models.roots import evaluate_way
from flake8_cnnmem.models.together import trained_models
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown


def evaluate_file(
    source: Source, search_path: Sequence[str] = (), strict: bool = False, files: Files = DISK
) -> tuple[list[Root], tuple[Unknown, ...]]:
    """Every distinct model of a file, in the order of their lines, and the packages on top of a framework that were not
    found: models may come from them. SourceError for a file that does not parse."""
    waiting: list[tuple[Ways, int | None]] = [(Ways(), None)]
    found: list[list[Root]] = []
    missing: dict[str, Unknown] = {}
    while waiting and len(found) < MOST_WAYS:
        ways, stopped = waiting.pop(0)
        run, roots, lost = evaluate_way(source, ways, search_path, strict, files)
        missing.update({each.reason: each for each in lost})
        if stopped is not None and trains(run):
            # It leads on where the run that it was tried for has stopped.
            found[stopped] = []
        waiting += [(Ways(taken), None) for taken in ways.open]
        if run.raised or not trains(run):
            # The program stopped, or waits for what its user has to give: another answer may lead on.
            waiting += [(Ways(taken), len(found)) for taken in ways.otherwise]
        found.append(roots)
    distinct = found[0] if len(found) == 1 else each_once([root for roots in found for root in roots])
    return sorted(distinct, key=lambda root: (root.site.line, root.site.column)), tuple(missing.values())


def trains(run: Interpreter) -> bool:
    """Whether an evaluation has come to a training, or to data that it could train on."""
    made = run.watch.layers.values()
    fitted = (framework.fits(each.instance) for each in made if (framework := frameworks.of_layer(each.instance)))
    return any(event.kind == "step" for event in run.watch.events) or any(fitted)


def each_once(roots: Sequence[Root]) -> list[Root]:
    """The models of several runs: those that are trained, once for each training, and other ones where no run trains
    what is made in the same place, or the same model for a command that only uses it."""
    kept: dict[Hashable, Root] = {}
    for root in roots:
        if is_trained(root):
            kept.setdefault((place(root), training(root)), root)
    places = {place(root) for root in kept.values()}
    names = {part.name for root in kept.values() for part in (root, *root.parts)}
    for root in roots:
        if place(root) not in places and root.name not in names:
            kept[place(root)] = root
            places.add(place(root))
    return [root for root in roots if any(root is other for other in kept.values())]


def place(root: Root) -> Hashable:
    return root.name, root.site.path, root.site.line, root.site.column


def is_trained(root: Root) -> bool:
    return root.value is not None and bool({id(part.value) for part in (root, *root.parts)} & trained_models(root.run))


def training(root: Root) -> Hashable:
    """What tells one training of a model from another: its weights, and where steps are made on what."""
    framework = frameworks.of_layer(root.value)
    shapes = [] if framework is None or root.value is None else [str(w.shape) for w in framework.weights(root.value)]
    events = root.run.watch.events
    sizes = [event.subject.native.get("batch_size") for event in events
             if event.kind == "iterate" and isinstance(getattr(event.subject, "native", None), dict)]  # fmt: skip
    steps = {(event.kind, event.site.path, event.site.line) for event in events if event.kind == "step" and event.site}
    calls = [str([getattr(value, "shape", None) for value in call.args]) for call in root.run.watch.calls
             if seen_through(call.instance) is root.value]  # fmt: skip
    return tuple(shapes), frozenset(steps), frozenset(map(str, sizes)), frozenset(calls)
