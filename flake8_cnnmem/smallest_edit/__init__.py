"""Which line has to change for wrong sizes to agree, where one small edit of the text makes everything consistent.

A framework stops where sizes meet; what is wrong often stands elsewhere. Of the edits that people's mistakes call for
(another axis, a switch that was forgotten, a name in the place of another one, what the layers beside it are told), the
few that may touch these sizes are tried, the most plausible first: the text with the edit is evaluated, and where no
size is wrong any more, its line is the one that has to change. Where none of them mends it, nothing is said here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.budget import STEPS
from flake8_cnnmem.evaluate.noting import Notes, RefusedAgain, ending_where_refused
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.step_reads import is_reserved
from flake8_cnnmem.ops import Einsum
from flake8_cnnmem.results import FileReport, LayerProblem
from flake8_cnnmem.smallest_edit import axes, blocks, calls, data, derived, lacking, numbers, options, windows
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.edits import applied

MOST_TRIALS = 20
"""Edits of one file that are tried."""
SOON_ENDED = 0.4
"""As much of a trial counts one that comes to the same wrong size again, and goes no further."""
FEWEST_TRIALS = 4
STEPS_OF_TRIALS = 160_000
"""Steps of evaluation that all of them together may take; a program of a few hundred lines takes 5,000 to 15,000."""

TOLD = 3
"""How much more plausible an edit is in the line that the graph alone speaks for."""

KINDS: tuple[Callable[[Scene], Iterator[Candidate]], ...] = (
    calls.layer_not_called,
    lacking.result_unread,
    lacking.other_item,
    lacking.sizes_of_reshape,
    lacking.axis_of_target,
    lacking.axis_put_in,
    lacking.part_taken,
    lacking.joined_otherwise,
    lacking.end_of_part,
    calls.axis_behind,
    calls.axes_of_data,
    blocks.heads_not_dividing,
    blocks.other_direction,
    blocks.test_of_sizes,
    blocks.moved_on,
    options.widths_of_keys,
    blocks.part_as_beside,
    data.other_axis,
    data.other_size,
    numbers.other_name,
    numbers.factors,
    options.switches,
    axes.other_axis,
    axes.other_size,
    axes.other_order,
    axes.order_lacking,
    axes.exchanged,
    numbers.squared,
    derived.lines_before,
    numbers.parts_of_products,
    windows.other_number,
    windows.size_of_data,
    options.as_its_siblings,
    options.strides,
    options.factors,
    calls.other_tensor,
    calls.one_more_joined,
    calls.axes_not_taken_away,
    calls.test_of_branch,
    numbers.number_itself,
    numbers.number_handed_over,
)

SOLVED = (numbers.number_itself, numbers.number_handed_over)
"""The kinds that write the very number which fits: one is found for every place that has one."""


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A place that is known by its numbers alone."""

    path: str
    line: int
    column: int


Evaluate = Callable[[Source], FileReport]


def with_lines_to_change(report: FileReport, source: Source, evaluate: Evaluate, notes: Notes) -> FileReport:
    """The report with its wrong sizes at the line of the edit that mends them, where one of those that are tried does.
    `notes`: what the expressions of the file gave when it was made; `evaluate` gives the report of another text of the
    file."""
    if not problems_of(report):
        return report
    found = mending(report, source, evaluate, notes)
    if found is None:
        return report
    place = NumberedLine(source.path, found.line, found.column)
    reports = []
    for each in report.reports:
        moved = tuple(
            problem
            if problem.site.path != source.path
            else problem.standing_at(place)
            if place.line != problem.site.line
            else replace(problem, at=None)
            for problem in each.problems
        )
        reports.append(replace(each, problems=moved) if moved else each)
    return replace(report, reports=tuple(reports))


def framework_of(report: FileReport) -> Framework:
    """The framework of the models that have wrong sizes."""
    return frameworks.named(next((each.framework for each in report.reports if each.problems), ""))


def problems_of(report: FileReport) -> list[LayerProblem]:
    return [problem for each in report.reports for problem in each.problems if problem.call is not None]


def mending(report: FileReport, source: Source, evaluate: Evaluate, notes: Notes) -> Candidate | None:
    """The most plausible edit after which no size is wrong."""
    spoken_for, tried = any(each.at is not None for each in problems_of(report)), 0.0
    sites = [each.call.site for each in problems_of(report) if each.call is not None and each.call.site is not None]
    found = candidates(report, source, notes)
    tolerated = frozenset(notes.refused - {(site.path, site.line) for site in sites})
    most = affordable(notes)
    for candidate in found:
        if tried >= most:
            break
        if spoken_for and candidate.solved and not candidate.told:
            # Another number at the line that the graph speaks for has to be of no help before.
            continue
        tried += 1
        spoken_for = spoken_for and not (candidate.told and candidate.solved)
        text = applied(source.text, candidate.edits)
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        edited = Source(source.path, text)
        edited.before = source
        try:
            with ending_where_refused(tolerated):
                after = evaluate(edited)
        except RefusedAgain:
            tried += SOON_ENDED - 1
            continue
        if mends(after, report, {each.line for each in candidate.edits}):
            return candidate
    return None


def affordable(notes: Notes) -> int:
    """How many edits are tried of a program: the fewer, the longer an evaluation of it is."""
    used = STEPS - notes.found[0].run.budget.steps if notes.found else 0
    return min(MOST_TRIALS, max(FEWEST_TRIALS, STEPS_OF_TRIALS // max(used, 1)))


def candidates(report: FileReport, source: Source, notes: Notes) -> list[Candidate]:
    """The edits that may mend the first wrong size, the most plausible first."""
    problems = problems_of(report)
    first = min(problems, key=lambda each: each.call.number if each.call is not None else 0)
    assert first.call is not None
    what = first.problem.what
    if what.startswith("has ") or what.endswith("order in memory") or isinstance(first.call.op, Einsum):
        return []
    scene = Scene(source, first, first.call, notes, source.path, framework_of(report))
    found: dict[tuple[object, ...], Candidate] = {}
    solving = () if writes_batch(report, first) else SOLVED
    for kind in (kind for kind in KINDS if kind in solving or kind not in SOLVED):
        for each in kind(scene):
            if each.line == first.place.line:
                each = replace(each, rank=each.rank - TOLD, told=True)
            if kind in SOLVED:
                each = replace(each, solved=True)
            known = found.get(each.edits)
            if known is None or each.rank < known.rank:
                found[each.edits] = each
    return sorted(found.values(), key=lambda each: each.rank)


def writes_batch(report: FileReport, first: LayerProblem) -> bool:
    """Whether a batch is written into a part that has none (`y[0] = x[:, 0]`): that a layer's width could be as large
    as the batch mends nothing."""
    values = first.call.inputs[-1].shape if first.call is not None and first.call.inputs else ()
    batches = {each.training.batch_size.value for each in report.reports}
    return (
        first.problem.what.startswith("writes ")
        and isinstance(values, tuple)
        and values[:1] != ()
        and (isinstance(values[0], Batch) or values[0] in batches)
    )


def mends(after: FileReport, before: FileReport, lines: set[int]) -> bool:
    """Whether no size is wrong any more, and nothing else is lost."""
    if after.failure is not None or any(each.problems for each in after.reports):
        return False
    causes = [cause for each in after.reports for cause in each.causes if not is_reserved(cause)]
    if any(cause.line in lines or cause.reason.startswith("the code raises") for cause in causes):
        return False
    return unresolved(after) <= unresolved(before) and len(after.reports) >= len(before.reports)


def unresolved(report: FileReport) -> int:
    return sum(each.status == "unresolved" and not each.problems for each in report.reports)
