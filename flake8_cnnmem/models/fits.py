"""The fits of a model: which of its calls of `fit` are one training, and which are given other data in every turn."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from dataclasses import replace

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.loop_turns import around
from flake8_cnnmem.evaluate.trace import Event, Trace
from flake8_cnnmem.evidence import Phase
from flake8_cnnmem.evidence.batches import first_input
from flake8_cnnmem.frameworks.framework import Fit
from flake8_cnnmem.graph import Site, Tensor
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.unknown import Unknown


def fits_of(root: Root) -> list[Fit]:
    """The calls of `fit` on a root's model, as its framework noted them."""
    framework = frameworks.of_layer(root.value)
    return framework.fits(root.value) if framework is not None and root.value is not None else []


def by_fit(root: Root) -> list[Root]:
    """A model that trains itself, once for each training: what it was compiled with, what of it trained, and what it
    was given are the same in all epochs of one."""
    fits = fits_of(root) if not root.parts else []
    known: dict[Hashable, Fit] = {}
    for fit in fits:
        key = (
            fit.trainable,
            id(fit.optimizer),
            repr(fit.batch_size),
            repr(getattr(first_input(fit.batch), "shape", None)),
            fit.weights,
        )
        known[key] = fit
    sized = {called_in(fit) for fit in known.values() if has_size(fit)}
    # The call that gives a batch of a known size in one turn of its loop gives such a one in all of them.
    told = [fit for fit in known.values() if has_size(fit) or called_in(fit) not in sized]
    return [replace(root, fit=fit) for fit in told] or [root]


def fit_around(trace: Trace, phase: Phase) -> Event | None:
    """The call of `fit` whose turns are a phase: its step is one that the code writes."""
    if phase.loop is None:
        return None
    fits = (event for event in reversed(trace.events[: phase.loop.started]) if event.kind == "fit")
    return next((event for event in fits if event.site is phase.loop.site), None)


def called_in(fit: Fit) -> Hashable:
    """The call that a fit is, and what it trains."""
    return id(fit.site), fit.trainable, id(fit.optimizer)


def has_size(fit: Fit) -> bool:
    """Whether it is known how many samples a fit trains on in a step."""
    shape = getattr(first_input(fit.batch), "shape", None)
    known = isinstance(shape, tuple) and bool(shape) and not isinstance(shape[0], Unknown)
    return known or isinstance(fit.batch_size, int)


def given_by_turns(trace: Trace, root: Root) -> Iterator[Unknown]:
    """Why a step may take fewer samples than `fit` does by itself: the same model is fitted in every turn of a loop, on
    arrays that differ from turn to turn and are perhaps a sample each (experience replay)."""
    fit = root.fit
    if fit is None or fit.batch_size is not None or fit.usual is None or not is_of_unknown_length(fit.data):
        return
    calls = [event for event in trace.events
             if event.kind == "fit" and event.subject is root.value and event.site is fit.site]  # fmt: skip
    names = names_given(fit.site)
    made = trace.layers.get(id(root.value))
    given: dict[int, set[int]] = {}
    loops: dict[int, Site | None] = {}
    for event in calls:
        for turn in around(event.turn):
            # A loop that makes the model anew in every turn (folds) gives each of them all of its data.
            if made is None or not is_inside(made.site, turn.loop.site):
                loops[id(turn.loop)] = turn.loop.site
                given.setdefault(id(turn.loop), set()).add(id(event.options.get("data")))
    if any(len(arrays) > 1 for arrays in given.values()) or any(names & names_set(site) for site in loops.values()):
        path, line = (fit.site.path, fit.site.line) if fit.site is not None else ("", 0)
        reason = f"how many samples each turn gives to fit() is not known: {fit.usual} were counted"
        yield Unknown(reason, path, line, upper=True)


def is_inside(site: Site | None, loop: Site | None) -> bool:
    """Whether a place lies within a loop's statement."""
    if site is None or not isinstance(loop, StatementSite) or site.path != loop.path:
        return False
    statement = loop.statement
    return isinstance(statement, ast.stmt) and statement.lineno <= site.line <= (statement.end_lineno or 0)


def names_given(site: Site | None) -> set[str]:
    """The variables in what a call of `fit` trains on."""
    call = site.node if isinstance(site, StatementSite) else None
    if not isinstance(call, ast.Call):
        return set()
    data = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "x")]
    return {node.id for each in data for node in ast.walk(each) if isinstance(node, ast.Name)}


def names_set(site: Site | None) -> set[str]:
    """The variables that a statement and those inside of it set."""
    inside = ast.walk(site.statement) if isinstance(site, StatementSite) else ()
    return {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def is_of_unknown_length(data: object) -> bool:
    """Whether it is not known how many samples there are."""
    if isinstance(data, (list, tuple)) and data:
        return is_of_unknown_length(data[0])
    if isinstance(data, Tensor):
        return not isinstance(data.shape, tuple) or not data.shape or not isinstance(data.shape[0], int)
    return isinstance(data, Unknown)
