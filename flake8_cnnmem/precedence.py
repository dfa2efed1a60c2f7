"""Which evidence decides a fact of training: a directive, the code, the option, the default, in this order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from flake8_cnnmem.training import Fact, Training

if TYPE_CHECKING:
    from flake8_cnnmem.arrangement import Arrangement
    from flake8_cnnmem.evidence import Evidence, Statement
    from flake8_cnnmem.graph import Site
    from flake8_cnnmem.models import Built
    from flake8_cnnmem.settings.directives import DirectiveFacts
    from flake8_cnnmem.settings.options import Settings

T = TypeVar("T")


def training_for(
    facts: DirectiveFacts, settings: Settings, built: Built | None, evidence: Evidence, path: str
) -> Training:
    """Each fact by the order of precedence: a directive, the code, the option, the default."""
    shape: Fact[tuple[int | None, ...]] | None = None
    if built is not None and built.input_shape is not None:
        shape = Fact(built.input_shape, placed(built.input_source, path), tuple(
            (sizes_of(value), placed(source, path)) for value, source in built.passed_over
        ))  # fmt: skip
    loss = [Fact(said.value, place_of(said.site, path)) for said in evidence.loss]
    # Who names an optimizer by option knows more than code in which it is not to be found.
    optimizers = [said for said in evidence.optimizer if said.value.known or settings.optimizer.source == "default"]
    training = Training(
        decided(facts.batch_size, evidence.batch_size, settings.batch_size, path),
        decided(facts.dtype, evidence.dtype, settings.dtype, path),
        decided(facts.optimizer, optimizers, settings.optimizer, path),
        shape,
        loss=loss[0] if loss else Fact("cross_entropy", "default"),
        losses=evidence.losses,
    )
    return training.over(evidence.devices) if training.batch_size.source not in ("directive", "option") else training


def batch_in_force(facts: DirectiveFacts, settings: Settings, evidence: Evidence, path: str) -> int | None:
    """The batch size that a model is called with, before its graph is known; None where devices divide it."""
    fact = decided(facts.batch_size, evidence.batch_size, settings.batch_size, path)
    return fact.value if evidence.devices == 1 or fact.source in ("directive", "option") else None


def share_of(training: Training, arrangement: Arrangement | None) -> Training:
    """The training with one device's share of the batch, where what trains divides it."""
    if arrangement is None or not arrangement.divides_batch:
        return training
    return training.over(arrangement.devices or 1)


def decided(directive: T | None, said: Sequence[Statement[T]], setting: Fact[T], path: str) -> Fact[T]:
    """The strongest of what is known, and what was passed over for it: other values, each once, but no defaults."""
    known = [Fact(each.value, place_of(each.site, path)) for each in said]
    if directive is not None:
        known.insert(0, Fact(directive, "directive"))
    known.append(setting)
    taken = known[0]
    others = [(str(fact.value), fact.source) for fact in known[1:]
              if str(fact.value) != str(taken.value) and fact.source != "default"]  # fmt: skip
    return Fact(taken.value, taken.source, tuple(dict.fromkeys(others)))


def place_of(site: Site | None, path: str) -> str:
    """`train.py:41`, the path as the report gives its own: from the working folder, unless that is no folder above."""
    return "code" if site is None else f"{shown_path(site.path, path)}:{site.line}"


def shown_place(place: tuple[str, int], path: str) -> str:
    """The same of a file and a line."""
    return f"{shown_path(place[0], path)}:{place[1]}"


def shown_path(path: str, report: str) -> str:
    if path == report or os.path.isabs(report) or not os.path.isabs(path):
        return path.removeprefix(f"{os.curdir}{os.sep}")
    inside = os.path.relpath(path)
    return path if inside.startswith(os.pardir) else inside


def placed(source: str, path: str) -> str:
    """A source that may begin with a path."""
    where, colon, line = source.rpartition(":")
    return f"{shown_path(where, path)}:{line}" if colon and line.isdigit() else source


def sizes_of(shape: tuple[int | None, ...]) -> str:
    return "x".join("?" if size is None else str(size) for size in shape)
