"""The report for programs: one JSON document, in the form of the published schema. What is not known is null."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import flake8_cnnmem
from flake8_cnnmem.frameworks.versions import versions_of
from flake8_cnnmem.memory.estimate import Estimate, Moment
from flake8_cnnmem.precedence import shown_path
from flake8_cnnmem.reporting.phrases import is_close
from flake8_cnnmem.results import EvaluationReport, ModelReport, Part
from flake8_cnnmem.text.lines import position
from flake8_cnnmem.training import Fact

SCHEMA = 2
"""The version of the form: `flake8_cnnmem/manual/json-2.schema.json`. Keys may be added to it."""

TERMS = ("parameters", "gradients", "optimizer", "activations", "input", "overhead", "total", "saved", "tensor_peak")


def render(reports: Iterable[ModelReport]) -> str:
    return json.dumps(document(reports), indent=2)


def document(reports: Iterable[ModelReport]) -> dict[str, Any]:
    shown = list(reports)
    return {
        "cnnmem": flake8_cnnmem.__version__,
        "schema": SCHEMA,
        "versions": {
            name: version
            for framework in dict.fromkeys(report.framework for report in shown)
            for name, version in versions_of(framework).items()
        },
        "models": [model(report) for report in shown],
    }


def model(report: ModelReport) -> dict[str, Any]:
    training, estimate = report.training, report.estimate
    facts: dict[str, Fact[Any] | None] = {
        "batch_size": training.drawn,
        "dtype": training.dtype,
        "optimizer": training.optimizer,
        "input_shape": training.input_shape,
    }
    shape = training.input_shape
    return {
        "target": report.target,
        "name": report.name,
        "path": report.path,
        **position(report.line),
        "column": report.column,
        "kind": report.kind,
        "phase": None if report.place is None else {"index": report.place[0], "of": report.place[1]},
        "times": report.times,
        "framework": report.framework,
        **({"version": report.version} if report.version else {}),
        "status": report.status,
        "causes": [{"reason": cause.reason, "path": cause.path, **position(cause.line)} for cause in report.causes],
        "mismatches": [
            {
                "code": each.problem.code,
                "message": each.message,
                "layer": each.layer,
                "path": each.place.path,
                **position(each.place.line),
                "column": each.place.column,
            }
            for each in report.problems
        ],
        "input_shape": None if shape is None else list(shape.value),
        "training": {
            "batch_size": training.drawn.value,
            "batch_size_per_device": training.batch_size.value,
            "dtype": training.dtype.value,
            "optimizer": training.optimizer.value.name,
            "sources": {name: fact.source for name, fact in facts.items() if fact is not None},
            "written": {name: fact.place for name, fact in facts.items() if fact is not None},
            "passed_over": {
                name: [{"value": value, "source": source} for value, source in fact.passed_over]
                for name, fact in facts.items()
                if fact is not None and fact.passed_over
            },
        },
        "parameters": {"total": report.parameters, "trainable": report.trainable},
        "activations": report.activations,
        "layers": [
            {
                "name": row.name,
                "type": row.type,
                **position(row.line),
                "output_shape": list(row.output_shape),
                "parameters": row.parameters,
                "activations": row.activations,
                "kept": row.kept,
                "depth": row.depth,
            }
            for row in report.rows
        ],
        "memory": {
            "accounting": None if estimate is None else estimate.accounting,
            **{term: getattr(estimate, term, None) for term in TERMS},
            "peak_at": None if estimate is None else peak_at(estimate.peak_at, report.path),
            "growth": None if estimate is None else estimate.growth,
            "growth_turns": None if estimate is None or not estimate.turns else estimate.turns,
            "overhead_parts": None if estimate is None else dict(estimate.overhead_parts),
            "workspaces": None if estimate is None else workspaces(estimate),
            "allocated": None if estimate is None else estimate.allocated,
            "reserved": None if estimate is None else estimate.reserved,
            "convolution_workspaces": None
            if estimate is None or not estimate.overhead_parts
            else estimate.convolutions,
            "convolution_workspaces_usual": None
            if estimate is None or not estimate.overhead_parts
            else estimate.convolutions_usual,
        },
        "limit": report.limit,
        "fits": report.fits,
        "too_close_to_call": too_close(report),
        "largest_batch_size": report.largest_batch_size,
        "remedies": [
            {"change": remedy.change, "total": remedy.total, "fits": remedy.fits} for remedy in report.remedies
        ],
        "parts": [part_of(part) for part in report.parts],
        "models": [
            {"name": part.name, "parameters": part.parameters, "trainable": part.trainable} for part in report.parts
        ]
        or [{"name": report.name, "parameters": report.parameters, "trainable": report.trainable}],
        "also_in_memory": [
            {
                "what": row.what,
                "bytes": row.bytes,
                "path": shown_path(row.path, report.path) or None,
                **position(row.line),
            }
            for row in report.also_in_memory
        ],
        "growths": [
            {"what": each.what, "bytes": each.bytes, "path": shown_path(each.path, report.path), **position(each.line)}
            for each in report.growths
        ],
        "evaluation": None if report.evaluation is None else evaluation(report.evaluation, report.path),
    }


def too_close(report: ModelReport) -> bool | None:
    """Whether a card's own verdict is within what is not known of the card; None without a verdict, or a card."""
    estimate = report.estimate
    if estimate is None or report.limit is None or report.fits is None or not estimate.overhead_parts:
        return None
    return is_close(estimate.total, report.limit)


def workspaces(estimate: Estimate) -> int | None:
    """What libraries take for their own on the card that is the limit; None where none is named."""
    return dict(estimate.overhead_parts).get("cublas_workspace", 0) if estimate.overhead_parts else None


def evaluation(found: EvaluationReport, path: str) -> dict[str, Any]:
    """The evaluation that needs more than the training, of a report on the file at `path`."""
    return {
        "batch_size": found.batch_size,
        "total": found.total,
        "path": shown_path(found.path, path),
        **position(found.line),
        "training_total": found.training_total,
    }


def peak_at(moment: Moment | None, path: str) -> dict[str, Any] | None:
    """Where in the step the peak is, and how the activations of that moment divide."""
    if moment is None:
        return None
    site = moment.site
    return {
        "phase": moment.phase,
        "layer": moment.name,
        "path": None if site is None else shown_path(site.path, path),
        **({"line": None} if site is None else position(site.line)),
        "kept": moment.live.kept,
        "temporaries": moment.live.temporaries,
    }


def part_of(part: Part) -> dict[str, Any]:
    return {
        "name": part.name,
        "path": part.path,
        **position(part.line),
        "column": part.column,
        "parameters": {"total": part.parameters, "trainable": part.trainable},
        "input_shape": None if part.input_shape is None else list(part.input_shape),
    }
