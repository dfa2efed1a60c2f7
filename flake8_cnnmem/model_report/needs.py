"""What a model's training takes: its estimate, evaluations that need more, what grows, what would make it fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.native_state import natives_put_back
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.results import LEAST_GROWTH, EvaluationReport, Growth, Remedy
from flake8_cnnmem.training import Fact, Training

if TYPE_CHECKING:
    from flake8_cnnmem.evidence import Phase
    from flake8_cnnmem.memory.estimate import Estimate
    from flake8_cnnmem.models import Built, Evaluated, Root, Whole
    from flake8_cnnmem.remedies import StepOverLimit
    from flake8_cnnmem.settings.options import Limit, Settings


@dataclass(frozen=True, slots=True, eq=False)
class StepEstimates:
    """The estimate of a step, with other facts of its training and on other GPUs."""

    whole: Whole
    training: Training
    settings: Settings

    def __call__(self, how: Training, gpu: str) -> Estimate:
        """`gpu`: what a GPU of this name adds; "" for none."""
        from flake8_cnnmem.memory import account

        whole, settings = self.whole, self.settings
        parts = [
            (each, own if how is self.training else own.as_part(self.training, how)) for _, each, own in whole.parts
        ]
        return account(whole.model, how, settings.accounting, settings.overhead, gpu, whole.step, parts)


@dataclass(frozen=True, slots=True, eq=False)
class Needs:
    """What a program takes that trains a model and evaluates it."""

    root: Root
    whole: Whole
    training: Training
    settings: Settings
    limit: Limit | None
    replay: StepEstimates
    trained: Estimate
    """The training alone."""
    estimate: Estimate
    """The training, or the evaluation where that needs more."""
    growths: tuple[Growth, ...] = ()
    evaluation: EvaluationReport | None = None
    deciding: Evaluated | None = None
    """What is evaluated, where that needs more."""

    def fits(self, status: str) -> bool | None:
        """Whether it is within the limit; None where there is none, or where that is not known of a bound."""
        if self.limit is None:
            return None
        within = self.estimate.total <= self.limit.bytes
        # At least so much: whether the whole fits is not known.
        return None if within and status == "lower-bound" else within

    def largest_batch(self) -> int | None:
        """The largest batch that is trained within the limit, of all devices together; None where there is no limit,
        and where the model may compute something else at that batch."""
        if self.limit is None:
            return None
        found = self.trained.largest_batch(self.limit.bytes)
        return found * self.training.devices if self.whole.model.same_at(found) else None

    def remedies(self, status: str) -> Iterable[Remedy]:
        """What would make it fit, worked out one by one; none where it does."""
        from flake8_cnnmem.remedies import remedies

        limit = self.limit
        if limit is None or self.fits(status) is not False:
            return ()
        if self.evaluation is not None and self.deciding is not None:
            return self.smaller_evaluation(self.evaluation, self.deciding, limit)
        return remedies(self.case(status, limit))

    def first_fit(self, status: str) -> Remedy | None:
        """The first of them with which it may fit: totals of those that are not enough are not worked out."""
        from flake8_cnnmem.remedies import first_that_fits

        limit = self.limit
        if limit is None or self.fits(status) is not False:
            return None
        if self.evaluation is not None and self.deciding is not None:
            smaller = self.smaller_evaluation(self.evaluation, self.deciding, limit)
            return next((each for each in smaller if each.fits is not False), None)
        return first_that_fits(self.case(status, limit))

    def case(self, status: str, limit: Limit) -> StepOverLimit:
        """What remedies are looked for."""
        from flake8_cnnmem.remedies import StepOverLimit

        certain = status == "exact" and not self.whole.model.batch_tests
        accounting, overhead, gpu = self.settings.accounting, self.settings.overhead, limit.gpu
        return StepOverLimit(
            self.whole,
            self.training,
            self.estimate,
            accounting,
            overhead,
            gpu,
            limit.bytes,
            certain,
            feeding(self.root),
        )

    def smaller_evaluation(self, evaluation: EvaluationReport, deciding: Evaluated, limit: Limit) -> tuple[Remedy, ...]:
        """A smaller training step makes no room for it."""
        how = replace(self.training, batch_size=Fact(evaluation.largest_batch_size or 0, "code"))
        if how.batch_size.value < 1 or self.trained.total > limit.bytes:
            return ()
        less = evaluated(deciding, how, self.settings, limit.gpu)
        return (Remedy(f"evaluation at batch {how.batch_size.value}", less.total, less.total <= limit.bytes),)


def needs_of(root: Root, whole: Whole, training: Training, settings: Settings, limit: Limit | None) -> Needs:
    """Replay the training's step, and each evaluation of the program."""
    gpu = limit.gpu if limit is not None else ""
    replay = StepEstimates(whole, training, settings)
    estimate = trained = replay(training, gpu)
    evaluation: EvaluationReport | None = None
    deciding: Evaluated | None = None
    growths = growths_of(root, root.phases[0], trained) if root.phases else []
    for each in whole.evaluated(root, training) if settings.accounting == "framework" else ():
        how = replace(training, batch_size=Fact(-(-each.batch_size.value // training.devices), "code"))
        needed = evaluated(each, how, settings, gpu)
        growths += growths_of(root, each.phase, needed) if each.phase is not None else []
        if needed.total > estimate.total and each.decides:
            estimate, deciding = as_evaluation(needed), each
            evaluation = report_of(root, each, needed, trained, limit)
    found = tuple(dict.fromkeys(growths))
    return Needs(root, whole, training, settings, limit, replay, trained, estimate, found, evaluation, deciding)


def evaluated(each: Evaluated, how: Training, settings: Settings, gpu: str) -> Estimate:
    """What an evaluation takes."""
    from flake8_cnnmem.memory import account

    return account(each.model, how, settings.accounting, settings.overhead, gpu, each.step)


def report_of(
    root: Root, each: Evaluated, needed: Estimate, trained: Estimate, limit: Limit | None
) -> EvaluationReport:
    """An evaluation, where its batch is written, and the largest that fits."""
    from flake8_cnnmem.evidence import written_at

    site = each.batch_size.site or root.site
    most = needed.largest_batch(limit.bytes) if limit is not None else None
    loop = each.phase.loop.site if each.phase is not None and each.phase.loop is not None else None
    place = (loop.path, loop.line) if loop is not None else ("", 0)
    at = written_at(site, each.batch_size.value, root.run) or (site.path, site.line)
    return EvaluationReport(needed.batch_size, needed.total, *at, most, trained.total, *place)


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


def feeding(root: Root) -> Callable[[tuple[int | None, ...]], Built | None]:
    """What builds a model for another input shape; None where that is not the one that it is then called on."""
    from flake8_cnnmem import models

    @natives_put_back()
    def feed(shape: tuple[int | None, ...]) -> Built | None:
        built = models.build_model(root, models.Wanted(shape))
        return built if built is not None and built.input_shape == shape else None

    return feed
