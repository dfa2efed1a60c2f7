"""The whole pipeline, from a file's text to its models with their estimates: read this first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem import package_sources
from flake8_cnnmem.agreement import agreed
from flake8_cnnmem.evaluate.native_state import natives_changed, natives_put_back
from flake8_cnnmem.results import (
    LEAST_GROWTH,
    AlsoInMemory,
    Drop,
    EvaluationReport,
    FileReport,
    Growth,
    LayerProblem,
    ModelReport,
    Part,
    Remedy,
    Row,
)
from flake8_cnnmem.running.frame_stack import with_room_below
from flake8_cnnmem.running.gc_tuning import seldom_collected
from flake8_cnnmem.settings import environments
from flake8_cnnmem.settings.options import Limit, Settings
from flake8_cnnmem.source import Source, SourceError
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.training import Fact, Training
from flake8_cnnmem.unknown import STRICT, Unknown

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.noting import Notes
    from flake8_cnnmem.evidence import Phase
    from flake8_cnnmem.graph import Model, Weight
    from flake8_cnnmem.memory.estimate import Estimate
    from flake8_cnnmem.models import Built, Evaluated, Root, Whole
    from flake8_cnnmem.settings.directives import Facts

__all__ = ["Drop", "FileReport", "LayerProblem", "ModelReport", "Row", "TargetError", "analyse"]


class TargetError(Exception):
    """`target` names nothing that can be built; the message is one plain sentence that says so."""


@seldom_collected
@with_room_below
def analyse(
    source: Source, settings: Settings, target: str | None = None, files: Files = DISK, notes: Notes | None = None
) -> FileReport:
    """The models of a file, in the order of their lines, each distinct one once.

    `target` is None for every model that the file defines, or the name of a class or factory of the file, or any
    expression in its scope (`ResNet(Bottleneck, [3, 4, 6, 3])`); TargetError if it is no expression or names nothing.
    Models that a `# cnnmem: skip` is meant for are left out, unless `target` asks for them. What the file imports is
    read from `files`. What the file's expressions give goes into `notes`, if there are any: of a `Source` that is new.

    Raises nothing else: what cannot be read, parsed or followed is the report's `failure` or a model's causes.
    """
    from flake8_cnnmem.evaluate.unordered import sets_in_order

    with sets_in_order(0) as order:
        first = in_one_order(source, settings, target, files, notes)
    if order.cause is None or not any(report.estimate is not None or report.problems for report in first.reports):
        return first
    others = []
    for number in order.others:
        with sets_in_order(number):
            others.append(in_one_order(source, settings, target, files))
    return agreed(first, others, order.cause)


@natives_put_back()
def in_one_order(
    source: Source, settings: Settings, target: str | None, files: Files, notes: Notes | None = None
) -> FileReport:
    """The models of a file, where its sets are gone through in one order."""
    from flake8_cnnmem import models
    from flake8_cnnmem.evaluate.noting import noting

    strict = bool(os.environ.get(STRICT))
    folders = search_folders(settings, files)
    try:
        directives = source.directives
        missing: tuple[Unknown, ...] = ()
        with noting(notes):
            if target is None:
                devices, stubs = settings.devices_for(source.path), settings.stubs or ""
                roots, missing = models.evaluate_file(source, folders, strict, files, devices, stubs)
            else:
                roots = models.evaluate_target(source, target, folders, strict, files, settings.stubs or "")
            reports = [report_model(root, source, settings, target is not None) for root in roots]
    except models.TargetError as error:
        raise TargetError(str(error)) from None
    except SourceError as error:
        return FileReport(source.path, failure=Unknown(error.reason, source.path, error.line))
    found = tuple(report for report in reports if report is not None)
    told = {cause.reason for report in found for cause in report.causes}
    missing = tuple(each for each in missing if each.reason not in told)
    return FileReport(source.path, found, directives, missing=missing)


def search_folders(settings: Settings, files: Files = DISK) -> Sequence[str]:
    """Where imports are looked up: the option's folders, the project's root and its `src`, then the packages of the
    project's environments, those of the running interpreter, and at last the sources that were added without installing
    anything."""
    root = os.getcwd()
    # Who names a package's folder does not mean to lose the project's own.
    own = [*(settings.search_path or ()), root, os.path.join(root, "src")]
    installed = environments.search_folders(own, root, files)
    return [
        *installed,
        *(each for each in package_sources.code_folders(settings.cache_dir, files) if files.is_folder(each)),
    ]


def report_model(root: Root, source: Source, settings: Settings, wanted: bool) -> ModelReport | None:
    """One model, evaluated, fed and counted; None where a directive says to skip it."""
    from flake8_cnnmem import models, precedence

    facts = facts_for(root, source)
    if facts.skip and not wanted:
        return None
    limit = facts.gpu_limit or settings.limit_for(source.path)
    built, training = feed_model(root, facts, settings, source.path)
    if built is None:
        return unresolved(root, training, limit)
    if root.value is None:
        return of_its_batch(root, built, training, settings, limit)
    others = [part for part in root.parts if part is not root]
    parts = [(part, *feed_model(part, facts_for(part, source), settings, source.path)) for part in others]
    devices = settings.devices_for(source.path)
    if facts.gpu_limit is not None and facts.gpu_limit.count > 1 and settings.devices is None:
        devices = facts.gpu_limit.count
    whole = models.arranged(models.joined(root, built, training, parts), [root, *others], devices)
    training = precedence.share_of(models.as_the_outermost(root, training, whole.parts), whole.model.arrangement)
    builds = [built, *(its for _, its, _ in parts if its is not None)]
    report = account_for(root, builds, whole, training, settings, limit)
    # What a program has changed about natives is put back when its analysis ends: nothing is left for later then.
    return replace(report) if natives_changed() else report


def suggest(
    root: Root, whole: Whole, training: Training, estimate: Estimate, certain: bool, settings: Settings, limit: Limit
) -> tuple[Remedy, ...]:
    """What would make a model fit."""
    from flake8_cnnmem import models
    from flake8_cnnmem.remedies import Case, remedies

    @natives_put_back()
    def feed(shape: tuple[int | None, ...]) -> Built | None:
        built = models.build_model(root, models.Wanted(shape))
        return built if built is not None and built.input_shape == shape else None

    gpu, overhead = limit.gpu, settings.overhead
    return remedies(Case(whole, training, estimate, settings.accounting, overhead, gpu, limit.bytes, certain, feed))


def feed_model(root: Root, facts: Facts, settings: Settings, path: str) -> tuple[Built | None, Training]:
    """A model called on its inputs, and the facts of its training."""
    from flake8_cnnmem import models, precedence
    from flake8_cnnmem.evidence import gathered, of_unknown_model, written_at

    option = settings.input_shape.value if settings.input_shape is not None else None
    if root.value is None:
        evidence = of_unknown_model(root.run, root.phases, root.fit)
    else:
        evidence = gathered(root.run, root.value, root.phases, root.fit)
    built = models.build_model(root, models.Wanted(facts.input_shape, option), evidence) or models.only_fed(root)
    if built is not None and evidence.trained is not None:
        built = models.stated_by_step(built, evidence.trained)
    training = precedence.training_for(facts, settings, built, evidence, path)
    stated = evidence.batch_size[0] if evidence.batch_size and facts.batch_size is None else None
    if stated is None:
        return built, training

    def find() -> str:
        place = written_at(stated.site, stated.value, root.run)
        return precedence.shown_place(place, path) if place is not None else ""

    return built, training.with_batch_found_by(find)


def facts_for(root: Root, source: Source) -> Facts:
    """What directives say at the model's construction, else at its definition, else for the file."""
    lines = [site.line for site in (root.site, root.definition) if site.path == source.path]
    return source.directives.for_lines(*lines)


def unresolved(root: Root, training: Training, limit: Limit | None) -> ModelReport:
    from flake8_cnnmem import models

    site = root.site
    return ModelReport(
        root.target, root.name, site.path, site.line, site.column, "", "unresolved", root.causes,
        training, None, None, None, limit.bytes if limit else None, None,
        kind="training" if root.is_training else "model", place=root.place, trained_at=root.trained_at,
        defined_at=models.defined_at(root), made_of=lambda: models.made_of(root),
    )  # fmt: skip


def of_its_batch(root: Root, built: Built, training: Training, settings: Settings, limit: Limit | None) -> ModelReport:
    """A training whose model is not known: its batch is in memory, and that is a bound."""
    from flake8_cnnmem.memory import account

    def replay(how: Training, gpu: str) -> Estimate:
        return account(built.model, how, settings.accounting, settings.overhead, gpu)

    estimate = replay(training, limit.gpu if limit is not None else "")
    exceeds = limit is not None and estimate.total > limit.bytes
    return replace(
        unresolved(root, training, limit), framework=built.model.framework, status="lower-bound",
        causes=built.model.causes, estimate=estimate, fits=False if exceeds else None, replay=replay,
    )  # fmt: skip


def account_for(
    root: Root, builds: Sequence[Built], whole: Whole, training: Training, settings: Settings, limit: Limit | None
) -> ModelReport:
    """The model's figures; where one step trains several, `builds` are the graphs of each, and `whole` joins them."""
    from flake8_cnnmem import models
    from flake8_cnnmem.layer_rows import drops, rows_of, with_kept
    from flake8_cnnmem.memory import account, cs231n
    from flake8_cnnmem.mismatches import problems_of, unfit

    model, path = whole.model, root.site.path
    problems = problems_of(root, builds, path)
    if problems or any(call.problem is not None for call in model.calls):
        return unfit(unresolved(root, training, limit), model, training, problems, path)
    gpu = limit.gpu if limit is not None else ""

    def replay(how: Training, gpu: str) -> Estimate:
        parts = [(each, own if how is training else own.as_part(training, how)) for _, each, own in whole.parts]
        return account(model, how, settings.accounting, settings.overhead, gpu, whole.step, parts)

    estimate = trained_alone = replay(training, gpu)
    evaluation: EvaluationReport | None = None
    deciding: Evaluated | None = None
    growths = growths_of(root, root.phases[0], trained_alone) if root.phases else []
    for each in whole.evaluated(root) if settings.accounting == "framework" else ():
        how = replace(training, batch_size=Fact(-(-each.batch_size.value // training.devices), "code"))
        needed = account(each.model, how, settings.accounting, settings.overhead, gpu, each.step)
        growths += growths_of(root, each.phase, needed)
        if needed.total > estimate.total and each.decides:
            site, estimate, deciding = each.batch_size.site or root.site, as_evaluation(needed), each
            most = needed.largest_batch(limit.bytes) if limit is not None else None
            loop = each.phase.loop.site if each.phase.loop is not None else None
            place = (loop.path, loop.line) if loop is not None else ("", 0)
            evaluation = EvaluationReport(
                needed.batch_size, needed.total, site.path, site.line, most, trained_alone.total, *place
            )
    model.settle()
    parameters = [dims_total(weight.shape) for weight in model.weights if not weight.buffer]
    trainable = [dims_total(weight.shape) for weight in model.weights if is_trained(weight, model)]
    causes = tuple(
        dict.fromkeys((*model.causes, *estimate.left_out, *unsaid(root, training), *lost_batch(model, training)))
    )
    useful = bool(parameters) or bool(model.calls)
    if causes and not useful:
        return replace(unresolved(root, training, limit), framework=model.framework, causes=causes)
    status = "exact" if not causes else "upper-bound" if all(each.upper for each in causes) else "lower-bound"
    bytes_limit = limit.bytes if limit is not None else None
    fits = estimate.total <= bytes_limit if bytes_limit is not None else None
    if fits and status == "lower-bound":
        # At least so much: whether the whole fits is not known.
        fits = None

    def largest() -> int | None:
        return trained_alone.largest_batch(bytes_limit) * training.devices if bytes_limit is not None else None

    def remedies() -> tuple[Remedy, ...]:
        if fits is not False or limit is None:
            return ()
        if evaluation is not None and deciding is not None:
            # A smaller training step makes no room for it.
            how = replace(training, batch_size=Fact(evaluation.largest_batch_size or 0, "code"))
            if how.batch_size.value < 1 or trained_alone.total > limit.bytes:
                return ()
            less = account(deciding.model, how, settings.accounting, settings.overhead, gpu, deciding.step)
            return (Remedy(f"evaluation at batch {how.batch_size.value}", less.total, less.total <= limit.bytes),)
        return suggest(root, whole, training, estimate, status == "exact", settings, limit)

    return ModelReport(
        root.target,
        model.name,
        path,
        root.site.line,
        root.site.column,
        model.framework,
        status,
        causes,
        training,
        sum(parameters),
        sum(trainable),
        estimate,
        bytes_limit,
        fits,
        activations=lambda: cs231n.activations(model),
        rows=lambda: with_kept(rows_of(model, training), estimate),
        rows_at=lambda depth: with_kept(rows_of(model, training, depth, nested=True), estimate),
        largest_batch_size=largest,
        drops=lambda: tuple(drops(model, path)),
        model=model,
        remedies=remedies,
        parts=tuple(part_of(part, each, how) for part, each, how in whole.parts),
        kind="training" if root.phases or root.place is not None else "model",
        place=root.place,
        trained_at=root.trained_at,
        times=root.times,
        also_in_memory=beside_of(root, model, training),
        evaluation=evaluation,
        growths=tuple(dict.fromkeys(growths)),
        defined_at=models.defined_at(root),
        made_of=lambda: models.made_of(root),
        replay=replay,
    )


def unsaid(root: Root, training: Training) -> Iterator[Unknown]:
    """What a program says of its training where nobody could follow it: a default stands in its place, which may be
    anything but what the program does."""
    yield from root.beyond
    if not root.is_training:
        return
    site = root.trained_at or root.site
    for name, fact in (("batch size", training.batch_size), ("optimizer", training.optimizer)):
        if fact.source == "default":
            cause = f"the training's {name} is not known: {fact.value}, the default, was counted"
            yield Unknown(cause, site.path, site.line)


def lost_batch(model: Model, training: Training) -> Iterator[Unknown]:
    """Calls of `squeeze()` that take a batch of one away as well: the batch is followed as a size that is open."""
    from flake8_cnnmem.dims import Batch
    from flake8_cnnmem.ops import Squeeze

    for call in model.calls if training.batch_size.value == 1 else ():
        shape = call.inputs[0].shape if call.inputs else None
        if isinstance(call.op, Squeeze) and call.op.axes is None and isinstance(shape, tuple) and Batch(1) in shape:
            where = (call.site.path, call.site.line) if call.site is not None else ("", 0)
            yield Unknown("squeeze() takes a batch of one away as well", *where)


def as_evaluation(estimate: Estimate) -> Estimate:
    """The estimate of an evaluation: its peak is no moment of a training step."""
    moment = estimate.peak_at
    return replace(estimate, peak_at=replace(moment, phase="evaluation") if moment is not None else None)


def growths_of(root: Root, phase: Phase, estimate: Estimate) -> list[Growth]:
    """What of a loop keeps memory growing with its graph, as far as the loop was replayed."""
    from flake8_cnnmem.evidence import is_learned_from, is_over_loader, keepers_of

    found: list[Growth] = []
    loop = phase.loop.site if phase.loop is not None else None
    if phase.loop is None or loop is None or not any(estimate.keepers):
        return found
    trains = any(event.kind in ("step", "backward") for event in phase.events)
    draws = is_over_loader(root.run.trace, phase.loop)
    for keeper, size in zip(keepers_of(phase), estimate.keepers, strict=True):
        site, learned = keeper.site, is_learned_from(root.run.trace, keeper)
        use = "backward" if learned else "training" if trains else "evaluation"
        where = site.path, site.line, site.column, loop.path, loop.line
        # A sum over the parts of one sample (its time steps, its scales) is learned from as a whole.
        if size >= LEAST_GROWTH and (not learned or draws):
            found.append(Growth(keeper.what, size, *where, keeper.gathers, keeper.single, use))
    return found


def is_trained(weight: Weight, model: Model) -> bool:
    """Whether a weight asks for a gradient and an optimizer updates it."""
    return id(weight) in model.trained and (model.updated is None or id(weight) in model.updated)


def beside_of(root: Root, model: Model, training: Training) -> tuple[AlsoInMemory, ...]:
    """What is in memory beside the training, the largest first."""
    from flake8_cnnmem.memory import bytes_beside

    rows = [
        AlsoInMemory(each.what, size, *((each.site.path, each.site.line) if each.site is not None else ("", 0)))
        for each, size in zip(model.beside, bytes_beside(model, training.dtype.value), strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: -row.bytes))


def part_of(root: Root, model: Model, training: Training) -> Part:
    weights = [weight for weight in model.weights if not weight.buffer]
    return Part(
        root.name,
        root.site.path,
        root.site.line,
        root.site.column,
        sum(dims_total(weight.shape) for weight in weights),
        sum(dims_total(weight.shape) for weight in weights if is_trained(weight, model)),
        training.input_shape.value if training.input_shape is not None else None,
    )


def dims_total(shape: object) -> int:
    """The values of a weight; 0 where its shape is not known."""
    from flake8_cnnmem import dims

    total = dims.product(shape) if isinstance(shape, tuple) else 0
    return total if isinstance(total, int) else 0
