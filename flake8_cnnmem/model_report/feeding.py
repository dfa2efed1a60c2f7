"""A model called on its inputs, and the facts of its training: what directives, the code and options say of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flake8_cnnmem.evidence import Evidence
    from flake8_cnnmem.models import Built, Root
    from flake8_cnnmem.settings.directives import DirectiveFacts
    from flake8_cnnmem.settings.options import Settings
    from flake8_cnnmem.source import Source
    from flake8_cnnmem.training import Training


def facts_for(root: Root, source: Source) -> DirectiveFacts:
    """What directives say at the model's construction, else at its definition, else for the file."""
    lines = [site.line for site in (root.site, root.definition) if site.path == source.path]
    return source.directives.for_lines(*lines)


def feed_model(root: Root, facts: DirectiveFacts, settings: Settings, path: str) -> tuple[Built | None, Training]:
    """A model called on its inputs, and the facts of its training."""
    from flake8_cnnmem import models, precedence
    from flake8_cnnmem.evidence import gathered, of_unknown_model

    option = settings.input_shape.value if settings.input_shape is not None else None
    if root.value is None:
        evidence = of_unknown_model(root.run, root.phases, root.fit)
    else:
        evidence = gathered(root.run, root.value, root.phases, root.fit)
    batch = precedence.batch_in_force(facts, settings, evidence, path)
    built = models.build_model(root, models.Wanted(facts.input_shape, option), evidence, batch) or models.only_fed(root)
    if built is not None and evidence.trained is not None:
        drawn = evidence.batch_size[0].value if evidence.batch_size else None
        built = models.stated_by_step(built, evidence.trained, drawn)
    training = precedence.training_for(facts, settings, built, evidence, path)
    return built, written(training, facts, evidence, built, root, path)


def written(
    training: Training, facts: DirectiveFacts, evidence: Evidence, built: Built | None, root: Root, path: str
) -> Training:
    """The training with what looks for where the facts are written that the code states."""
    from flake8_cnnmem import precedence
    from flake8_cnnmem.evidence import batch_written_at, dtype_written_at, input_written_at, optimizer_written_at

    def find(look: Callable[[], tuple[str, int] | None]) -> Callable[[], str]:
        def found() -> str:
            place = look()
            return precedence.shown_place(place, path) if place is not None else ""

        return found

    run = root.run
    batch = evidence.batch_size[0] if evidence.batch_size and facts.batch_size is None else None
    optimizer = evidence.optimizer[0] if evidence.optimizer and training.optimizer.in_code else None
    dtype = evidence.dtype[0] if evidence.dtype and training.dtype.in_code else None
    given = training.input_shape
    shape = built.input_shape if built is not None and given is not None and given.in_code else None
    return training.found_by(
        find(lambda: batch_written_at(batch.site, batch.value, run)) if batch is not None else None,
        find(lambda: input_written_at(built.stated_by, shape, evidence.loaders, run)) if built and shape else None,
        find(lambda: optimizer_written_at(optimizer.site, optimizer.value, run)) if optimizer is not None else None,
        find(lambda: dtype_written_at(dtype.site, dtype.value, run)) if dtype is not None else None,
    )
