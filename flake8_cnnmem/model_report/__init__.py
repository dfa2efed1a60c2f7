"""The report of one model: it is fed, replayed, counted, and told with what is not known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.native_state import natives_changed
from flake8_cnnmem.evaluate.noting import only_sizes_asked
from flake8_cnnmem.model_report.feeding import facts_for, feed_model
from flake8_cnnmem.results import ModelReport

if TYPE_CHECKING:
    from flake8_cnnmem.memory.estimate import Estimate
    from flake8_cnnmem.models import Built, Root, Whole
    from flake8_cnnmem.settings.options import Limit, Settings
    from flake8_cnnmem.source import Source
    from flake8_cnnmem.training import Training


def report_model(
    root: Root, source: Source, settings: Settings, wanted: bool, figures: bool = True
) -> ModelReport | None:
    """One model, evaluated, fed and counted; None where a directive says to skip it. Without `figures` the bytes of a
    model that nothing trains are counted only against a limit."""
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
    if only_sizes_asked():
        return of_its_sizes(root, [built, *(its for _, its, _ in parts if its is not None)], training, limit)
    devices = settings.devices_for(source.path)
    if facts.gpu_limit is not None and facts.gpu_limit.count > 1 and settings.devices is None:
        devices = facts.gpu_limit.count
    whole = models.arranged(models.joined(root, built, training, parts), [root, *others], devices)
    training = precedence.share_of(models.as_the_outermost(root, training, whole.parts), whole.model.arrangement)
    builds = [built, *(its for _, its, _ in parts if its is not None)]
    counted = figures or limit is not None or root.is_training
    report = account_for(root, builds, whole, training, settings, limit, counted)
    # What a program has changed about natives is put back when its analysis ends: nothing is left for later then.
    return replace(report) if natives_changed() else report


def unresolved(root: Root, training: Training, limit: Limit | None) -> ModelReport:
    """Nothing but where the model stands, and why there are no figures."""
    from flake8_cnnmem import models

    return ModelReport(
        target=root.target,
        name=root.name,
        path=root.site.path,
        line=root.site.line,
        column=root.site.column,
        framework="",
        status="unresolved",
        causes=root.causes,
        training=training,
        parameters=None,
        trainable=None,
        estimate=None,
        limit=limit.bytes if limit is not None else None,
        fits=None,
        kind="training" if root.is_training else "model",
        place=root.place,
        trained_at=root.trained_at,
        defined_at=models.defined_at(root),
        made_of=lambda: models.made_of(root),
    )


def of_its_sizes(root: Root, builds: Sequence[Built], training: Training, limit: Limit | None) -> ModelReport:
    """What is wrong with a model's sizes, and what is not known of it; no figures."""
    from flake8_cnnmem.mismatches import problems_of
    from flake8_cnnmem.model_report.bounds import status_of, unsaid

    causes = tuple(dict.fromkeys((*(each for built in builds for each in built.model.causes), *unsaid(root, training))))
    model = builds[0].model
    found = problems_of(root, builds, root.site.path)
    known = model.calls or any(not weight.buffer for weight in model.weights)
    status = status_of(causes) if known or not causes else "unresolved"
    report = replace(unresolved(root, training, limit), framework=model.framework, status=status, causes=causes)
    if not found and not any(call.problem is not None for built in builds for call in built.model.calls):
        return report
    return replace(report, status="unresolved", problems=tuple(found))


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
    root: Root,
    builds: Sequence[Built],
    whole: Whole,
    training: Training,
    settings: Settings,
    limit: Limit | None,
    counted: bool = True,
) -> ModelReport:
    """The model's figures; where one step trains several, `builds` are the graphs of each, and `whole` joins them.
    Unless they are `counted`, what is wrong with its sizes alone."""
    from flake8_cnnmem import models
    from flake8_cnnmem.layer_rows import drops, rows_of, with_kept
    from flake8_cnnmem.memory import cs231n
    from flake8_cnnmem.mismatches import problems_of, unfit
    from flake8_cnnmem.model_report.bounds import causes_of, status_of, unsaid
    from flake8_cnnmem.model_report.needs import needs_of
    from flake8_cnnmem.model_report.sums import beside_of, parameters_of, part_of
    from flake8_cnnmem.ops.loss import Loss

    model, path = whole.model, root.site.path
    problems = problems_of(root, builds, path)
    wrong = {call for call in model.calls if call.problem is not None} | {each.call for each in problems if each.call}
    if problems or wrong:
        report = unfit(unresolved(root, training, limit), model, training, problems, path)
        if not wrong or not all(isinstance(call.op, Loss) for call in wrong):
            return report
        # A wrong target leaves the network what it is.
        parameters, trainable = parameters_of(model)
        return replace(report, parameters=parameters, trainable=trainable)
    if not counted:
        causes = (*model.causes, *unsaid(root, training))
        return replace(unresolved(root, training, limit), framework=model.framework, causes=causes)
    needs = needs_of(root, whole, training, settings, limit)
    estimate = needs.estimate
    parameters, trainable = parameters_of(model)
    causes = causes_of(root, model, training, estimate)
    useful = model.calls or any(not weight.buffer for weight in model.weights)
    if causes and not useful:
        return replace(unresolved(root, training, limit), framework=model.framework, causes=causes)
    status = status_of(causes)
    return ModelReport(
        target=root.target,
        name=model.name,
        path=path,
        line=root.site.line,
        column=root.site.column,
        framework=model.framework,
        version=model.version,
        status=status,
        causes=causes,
        training=training,
        parameters=parameters,
        trainable=trainable,
        estimate=estimate,
        limit=limit.bytes if limit is not None else None,
        fits=needs.fits(status),
        activations=lambda: cs231n.activations(model),
        rows=lambda: with_kept(rows_of(model, training), estimate),
        rows_at=lambda depth: with_kept(rows_of(model, training, depth, nested=True), estimate),
        largest_batch_size=needs.largest_batch,
        drops=lambda: tuple(drops(model, path)),
        model=model,
        remedies=lambda: tuple(needs.remedies(status)),
        first_fit=lambda: needs.first_fit(status),
        parts=tuple(part_of(part, each, how) for part, each, how in whole.parts),
        kind="training" if root.phases or root.place is not None else "model",
        place=root.place,
        trained_at=root.trained_at,
        times=root.times,
        also_in_memory=beside_of(model, training),
        evaluation=needs.evaluation,
        growths=needs.growths,
        defined_at=models.defined_at(root),
        made_of=lambda: models.made_of(root),
        replay=needs.replay,
    )
