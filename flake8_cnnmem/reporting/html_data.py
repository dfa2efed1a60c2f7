"""What the page knows of a model: the report's own figures and words, in the form in which its scripts read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from flake8_cnnmem import frameworks, units
from flake8_cnnmem.dims import product
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.frameworks.versions import named
from flake8_cnnmem.graph import Site
from flake8_cnnmem.layer_rows import groups_of, name_of
from flake8_cnnmem.memory.dtypes import is_floating, resolve, size_of
from flake8_cnnmem.memory.estimate import PHASES, Estimate, Moment
from flake8_cnnmem.reporting import phrases
from flake8_cnnmem.reporting.summary import SummaryRow, state
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.text.lines import CellLine

MOST = 3000
"""Moments in a chart. Of a longer step neighbours of the same phase are drawn as one, by the higher of them."""

LIVE = ("parameters", "optimizer", "gradients", "input", "kept", "temporaries")


def index_entry(line: SummaryRow, report: ModelReport) -> dict[str, Any]:
    """A model in the overview: what a summary says of it."""
    return {
        **head(report),
        "bytes": line.needs,
        "limit": line.limit,
        "largest": None if line.fits is None and line.bound else line.largest,
        "state": one_line(f"part of {line.part_of}" if line.part_of else state(line)),
        "over": line.over,
        "part": bool(line.part_of),
        "batch": one_line(line.batch[0]),
        "input": one_line(line.input[0]),
    }


def head(report: ModelReport) -> dict[str, Any]:
    """What a model is known by."""
    return {
        "name": one_line(report.name),
        "place": one_line(f"{inside(report.path)}:{report.line}"),
        "training": one_line(phrases.trained(report)),
        "figure": phrases.total(report),
        "fits": report.fits,
    }


def inside(path: str) -> str:
    """A path from the working folder on, where it leads nowhere above; of a package's from there."""
    return phrases.short_path(path, "")


def model_data(report: ModelReport, settings: Settings) -> dict[str, Any]:
    """Everything about one model."""
    estimate = report.estimate
    limit = None
    if report.limit is not None:
        size = report.limit if estimate is None else estimate.total
        name = settings.gpu_named(report.limit, report.path)
        shown = units.show_apart(size, report.limit)[1]
        limit = {"bytes": report.limit, "text": f"{shown} ({name})" if name else shown}
    return {
        **head(report),
        "framework": named(report.framework, report.version),
        "status": report.status,
        "statusText": phrases.status(report),
        "verdict": one_line(sentence(phrases.verdict(report, settings))),
        "bytes": None if estimate is None else estimate.total,
        "limit": limit,
        "accounting": None if estimate is None else one_line(phrases.accounting(estimate)),
        "terms": None if estimate is None else terms(estimate),
        "causes": [one_line(cause.at(report.path)) for cause in report.causes],
        "facts": [
            {
                "name": fact.name,
                "value": one_line(fact.value),
                "source": one_line(fact.source),
                "passedOver": [[one_line(value), one_line(source)] for value, source in fact.passed_over],
            }
            for fact in phrases.facts(report)
        ],
        "parts": [
            {
                "name": one_line(part.name),
                "place": one_line(f"{inside(part.path)}:{part.line}"),
                "parameters": part.parameters,
                "input": None if part.input_shape is None else list(part.input_shape),
            }
            for part in report.parts
        ],
        "also": [
            {"what": one_line(what), "place": one_line(where), "bytes": size}
            for what, where, size in phrases.beside(report)
        ],
        "more": [one_line(line) for line in said(report) if line],
        "remedies": [
            {"change": one_line(remedy.change), "total": remedy.total, "fits": remedy.fits}
            for remedy in report.remedies
        ],
        "step": None if estimate is None else step(estimate, report.path),
        "holds": holds(report),
        "layers": layers(report),
    }


def layers(report: ModelReport) -> list[list[Any]]:
    """[name, type, line, shape, values, parameters, bytes written, bytes kept or None] a row."""
    return [
        [
            one_line(row.name),
            one_line(row.type),
            one_line(phrases.line_of(row.line, row.path, report)),
            list(row.output_shape),
            row.activations,
            row.parameters,
            row.bytes,
            row.kept,
        ]
        for row in report.rows
    ]


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def said(report: ModelReport) -> list[str]:
    """What stands below the terms: what grows, what is not counted, an evaluation that needs more."""
    return [*phrases.growth(report), *phrases.not_counted(report), phrases.evaluated(report)]


def terms(estimate: Estimate) -> list[tuple[str, str, int]]:
    """(which colour, name, bytes) of what adds up to the total; at the peak's own moment where it is known."""
    found: list[tuple[str, str, int]]
    if estimate.peak_at is not None:
        live = estimate.peak_at.live
        names = {"optimizer": "optimizer state", "kept": "kept activations"}
        found = [(use, names.get(use, use), getattr(live, use)) for use in LIVE]
    else:
        found = [
            ("parameters", "parameters", estimate.parameters),
            ("optimizer", "optimizer state", estimate.optimizer),
            ("gradients", "gradients", estimate.gradients),
            ("input", "input", estimate.input),
            ("kept", "activations", estimate.activations),
        ]
    return [("overhead", "overhead", estimate.overhead), *found] if estimate.overhead else found


def step(estimate: Estimate, path: str) -> dict[str, Any] | None:
    """The step in columns: phase, name and place of each moment as numbers of the lists beside them, and the bytes, of
    which most moments change little: each column holds its first figure and then the changes."""
    every = estimate.moments()
    if not every:
        return None
    moments = thinned(every)
    phases = list(PHASES)
    names = numbered(one_line(moment.name) for moment in moments)
    sites = numbered(one_line(place(moment.site, path)) for moment in moments)
    totals = [moment.live.total for moment in moments]
    return {
        "phases": phases,
        "words": list(PHASES.values()),
        "names": list(names),
        "sites": list(sites),
        "phase": [phases.index(moment.phase) for moment in moments],
        "name": [names[one_line(moment.name)] for moment in moments],
        "site": [sites[one_line(place(moment.site, path))] for moment in moments],
        "peak": totals.index(max(totals)),
        "live": {
            **{use: changes([getattr(moment.live, use) for moment in moments]) for use in LIVE},
            "overhead": changes([estimate.overhead] * len(moments)),
        },
    }


def changes(column: Sequence[int]) -> list[int]:
    """The first figure, then by how much each differs from the one before."""
    return [*column[:1], *(after - before for before, after in pairwise(column))]


def thinned(moments: Sequence[Moment], most: int = MOST) -> Sequence[Moment]:
    """At most about `most` of the moments: of neighbours in the same phase the highest, so that the peak stays."""
    together = -(-len(moments) // most)
    if together == 1:
        return moments
    kept: list[Moment] = []
    run = 0
    for moment in moments:
        if kept and run < together and kept[-1].phase == moment.phase:
            run += 1
            if moment.live.total > kept[-1].live.total:
                kept[-1] = moment
        else:
            kept.append(moment)
            run = 1
    return kept


def shown(line: int) -> int | str:
    """A file's line is a number, a notebook's the place in its cell."""
    return str(line) if isinstance(line, CellLine) else line


def numbered(texts: Iterable[str]) -> dict[str, int]:
    """Each distinct text with its number, in order."""
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}


def place(site: Site | None, path: str) -> str:
    """`vgg.py:14`, or nothing."""
    if site is None:
        return ""
    return f"{inside(site.path or path)}:{site.line}"


def holds(report: ModelReport) -> dict[str, Any]:
    """[path, line, type, bytes of the weights with their gradients, bytes of what is kept] of each layer, in order."""
    weights = weights_of(report)
    rows = {row.name: row for row in reversed(report.rows)}
    estimate = report.estimate
    if estimate is not None and estimate.kept_by:
        kept = dict(estimate.kept_by)
        begins = "the backward pass that most is kept for begins" if several(estimate) else "the backward pass begins"
        title = f"What each module's layers hold when {begins}. The optimizer's state comes on top."
        words = "kept activations"
    else:
        kept = {}
        for row in report.rows:
            kept[row.name] = kept.get(row.name, 0) + row.bytes
        title = (
            "What each module's layers write and own. Gradients of activations and the optimizer's state come on top."
        )
        words = "activations"
    modules = [
        [
            one_line(name),
            shown(rows[name].line) if name in rows else 0,
            one_line(rows[name].type) if name in rows else "",
            weights.get(name, 0),
            kept.get(name, 0),
        ]
        for name in dict.fromkeys((*weights, *kept))
        if weights.get(name) or kept.get(name)
    ]
    return {"title": title, "kept": words, "weights": "parameters with gradients", "modules": modules}


def several(estimate: Estimate) -> bool:
    """Whether the step has more than one backward pass."""
    phases = [moment.phase for moment in estimate.moments()]
    return sum(before in ("forward", "loss") and after == "backward" for before, after in pairwise(phases)) > 1


def weights_of(report: ModelReport) -> dict[str, int]:
    """Bytes of each layer's weights, with a gradient for those that are trained; shared weights once."""
    model, dtype = report.model, report.training.dtype.value
    if model is None:
        return {}
    framework = frameworks.named(model.framework)
    counted: set[int] = set()
    found: dict[str, int] = {}
    for group in groups_of(model):
        if group.layer is None:
            continue
        weights = framework.weights(group.layer)
        asking = {id(weight) for weight in model.asking(weights)}
        for weight in weights:
            values = product(weight.shape) if isinstance(weight.shape, tuple) else 0
            if id(weight) in counted or not isinstance(values, int):
                continue
            counted.add(id(weight))
            resolved = resolve(weight.dtype, dtype)
            trained = id(weight) in asking and is_floating(resolved)
            name = name_of(model, group.calls[-1])
            found[name] = found.get(name, 0) + values * size_of(resolved) * (2 if trained else 1)
    return found
