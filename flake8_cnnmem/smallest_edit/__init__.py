"""Which line has to change for wrong sizes to agree, where one small edit of the text makes everything consistent.

A framework stops where sizes meet; what is wrong often stands elsewhere. Of the edits that people's mistakes call for
(another axis, a switch that was forgotten, a name in the place of another one, what the layers beside it are told), the
few that may touch these sizes are tried, the most plausible first: the text with the edit is evaluated, and where no
size is wrong any more, its line is the one that has to change. Where none of them mends it, nothing is said here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from heapq import heappop, heappush
from math import inf

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.budget import STEPS
from flake8_cnnmem.evaluate.noting import Notes, RefusedAgain, ending_where_refused
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Site
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.step_reads import is_reserved
from flake8_cnnmem.results import FileReport, LayerProblem
from flake8_cnnmem.smallest_edit import (
    axes,
    blocks,
    calls,
    data,
    derived,
    forgotten,
    lacking,
    likeness,
    numbers,
    options,
    patterns,
    proportions,
    relations,
    remainders,
    siblings,
    windows,
)
from flake8_cnnmem.smallest_edit.decided import in_a_sentence
from flake8_cnnmem.smallest_edit.reach import comes_after, waiting_calls
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene
from flake8_cnnmem.smallest_edit.trials import Trials
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.edits import Edit

MOST_TRIALS = 10
"""Edits of one file that are tried."""
SOON_ENDED = 0.5
"""As much of a trial counts one that comes to the same wrong size again, and goes no further."""
FEWEST_TRIALS = 4
STEPS_OF_TRIALS = 160_000
"""Steps of evaluation that all of them together may take; a program of a few hundred lines takes 5,000 to 15,000."""

TOLD = 3
"""How much more plausible an edit is in the line that the graph alone speaks for."""

KINDS: tuple[tuple[Callable[[Scene], Iterator[Candidate]], float], ...] = (
    (calls.layer_not_called, 2),
    (forgotten.number_kept, 3),
    (forgotten.name_alone, 4),
    (lacking.result_unread, 4),
    (forgotten.batch_flattened, 4),
    (options.switches, 4.5),
    (forgotten.flattening_lacking, 5),
    (remainders.parts_not_dividing, 5),
    (patterns.names_exchanged, 5),
    (likeness.ones_of_reshape, 5),
    (relations.expression_beside, 4.5),
    (relations.method_as_beside, 5),
    (relations.width_of_parts, 6),
    (relations.size_not_divided, 6),
    (relations.related_numbers, 6),
    (relations.widths_exchanged, 7),
    (numbers.other_name, 6),
    (options.factors, 6),
    (lacking.sizes_of_reshape, 7),
    (blocks.part_as_beside, 7),
    (forgotten.axis_of_loss, 7),
    (likeness.name_in_reshape, 7),
    (lacking.axis_of_target, 7),
    (forgotten.factor_of_padding, 8),
    (likeness.axis_of_broadcast, 8),
    (likeness.order_undone, 8),
    (axes.axis_untold, 8),
    (relations.squares_of_data, 8),
    (data.other_axis, 7),
    (lacking.other_item, 8),
    (siblings.argument_of_sibling, 8),
    (options.widths_of_keys, 8),
    (data.other_size, 8),
    (calls.one_more_joined, 8),
    (likeness.wrapped_as_beside, 9),
    (likeness.item_as_beside, 9),
    (calls.axis_behind, 9),
    (calls.axes_of_data, 9),
    (blocks.test_of_sizes, 9),
    (blocks.moved_on, 9),
    (axes.exchanged, 9),
    (blocks.list_turned_round, 9),
    (options.strides, 9),
    (numbers.squared, 9),
    (relations.sum_beside, 9),
    (numbers.parts_of_products, 9),
    (relations.end_of_list, 9),
    (siblings.other_index, 10),
    (siblings.other_tensor_of_list, 10),
    (blocks.other_end, 10),
    (numbers.factors, 10),
    (axes.other_axis, 10),
    (axes.other_size, 10.5),
    (lacking.end_of_part, 11),
    (proportions.in_proportion, 11),
    (axes.other_order, 11),
    (axes.order_lacking, 11),
    (lacking.axis_put_in, 12),
    (blocks.other_direction, 12),
    (options.own_switches, 12),
    (derived.lines_before, 12),
    (derived.one_too_few, 12),
    (windows.other_number, 13),
    (forgotten.sizes_of_data_exchanged, 13),
    (windows.size_of_data, 13),
    (options.as_its_siblings, 13),
    (calls.other_tensor, 13),
    (lacking.joined_otherwise, 14),
    (calls.axes_not_taken_away, 16),
    (numbers.number_itself, 16),
    (lacking.part_taken, 20),
    (numbers.number_handed_over, 20),
    (calls.test_of_branch, 21),
)
"""The kinds of edits, each with the rank of the most plausible one that it may give: those of which none is plausible
enough yet are not looked for."""

SOLVED = (numbers.number_itself, numbers.number_handed_over)
"""The kinds that write the very number which fits: one is found for every place that has one."""

SELDOM = (
    lacking.axis_put_in,
    blocks.other_direction,
    lacking.joined_otherwise,
    lacking.part_taken,
    calls.axes_not_taken_away,
    calls.test_of_branch,
)
"""The kinds of which 2 edits of 348 mended one of 444 programs, where of the others every tenth did: theirs are tried
when those have been."""

LATER = 8
"""How much less plausible that makes them."""


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
    scene = scene_of(report, source, notes)
    found = mending(report, scene, evaluate, notes)
    if found is None:
        return with_what_decides(of_one_line(report), scene)
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
    return with_what_decides(replace(report, reports=tuple(reports)), scene)


def with_what_decides(report: FileReport, scene: Scene) -> FileReport:
    """The report whose wrong sizes name the lines that decide them, as far as a message does not yet."""

    def named(problem: LayerProblem) -> LayerProblem:
        if problem.call is None or problem.site.path != scene.path:
            return problem
        return replace(problem, decided=in_a_sentence(scene, problem))

    return replace(
        report, reports=tuple(replace(each, problems=tuple(map(named, each.problems))) for each in report.reports)
    )


def of_one_line(report: FileReport) -> FileReport:
    """The report in which the wrong sizes of one call, which instances of a class run, all stand where the graph speaks
    for one and the same line to change."""
    lines: dict[tuple[str, int, int], list[Site]] = {}
    for problem in problems_of(report):
        if problem.at is not None:
            lines.setdefault(numbered(problem.site), []).append(problem.at)

    def moved(problem: LayerProblem) -> LayerProblem:
        found = lines.get(numbered(problem.site), [])
        alone = problem.at is None and len({(place.path, place.line) for place in found}) == 1
        return problem.standing_at(found[0]) if alone else problem

    return replace(
        report, reports=tuple(replace(each, problems=tuple(map(moved, each.problems))) for each in report.reports)
    )


def numbered(site: Site) -> tuple[str, int, int]:
    """A place by its path, line and column."""
    return site.path, site.line, site.column


def framework_of(report: FileReport) -> Framework:
    """The framework of the models that have wrong sizes."""
    return frameworks.named(next((each.framework for each in report.reports if each.problems), ""))


def problems_of(report: FileReport) -> list[LayerProblem]:
    return [problem for each in report.reports for problem in each.problems if problem.call is not None]


def mending(report: FileReport, scene: Scene, evaluate: Evaluate, notes: Notes) -> Candidate | None:
    """The most plausible edit after which no size is wrong."""
    spoken_for, tried = any(each.at is not None for each in problems_of(report)), 0.0
    sites = [each.call.site for each in problems_of(report) if each.call is not None and each.call.site is not None]
    found = candidates(report, scene)
    tolerated = frozenset(notes.refused - {(site.path, site.line) for site in sites})
    most, trials = affordable(notes), Trials(scene.source)
    for candidate in found:
        if tried >= most:
            break
        if spoken_for and candidate.solved and not candidate.told:
            # Another number at the line that the graph speaks for has to be of no help before.
            continue
        tried += 1
        spoken_for = spoken_for and not (candidate.told and candidate.solved)
        with trials.edited(candidate.edits) as edited:
            if edited is None:
                tried -= 1
                continue
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


def scene_of(report: FileReport, source: Source, notes: Notes) -> Scene:
    """The first wrong size, in its text."""
    first = min(problems_of(report), key=lambda each: each.call.number if each.call is not None else 0)
    assert first.call is not None
    return Scene(source, first, first.call, notes, source.path, framework_of(report))


def candidates(report: FileReport, scene: Scene) -> Iterator[Candidate]:
    """The edits that may mend the first wrong size, the most plausible first, each looked for when its turn comes."""
    first, what = scene.problem, scene.problem.problem.what
    if what.startswith(("has ", *OF_NUMBERS)) or what.endswith("order in memory"):
        return
    solving = () if writes_batch(report, first) else SOLVED
    queue: list[tuple[float, int, Candidate]] = []
    waiting = waiting_calls(scene)
    given: set[tuple[Edit, ...]] = set()

    def those_before(rank: float) -> Iterator[Candidate]:
        while queue and queue[0][0] <= rank:
            _, _, candidate = heappop(queue)
            if candidate.edits not in given:
                given.add(candidate.edits)
                yield candidate

    number = 0
    for kind, least in KINDS:
        later = LATER * (kind in SELDOM)
        yield from those_before(least - TOLD)
        if kind in SOLVED and kind not in solving:
            continue
        for each in kind(scene):
            if comes_after(waiting, each):
                continue
            if each.line == first.place.line:
                each = replace(each, rank=each.rank - TOLD, told=True)
            if kind in SOLVED:
                each = replace(each, solved=True)
            number += 1
            heappush(queue, (each.rank + later, number, each))
    yield from those_before(inf)


OF_NUMBERS = ("takes indices below ", "takes classes below ")
"""How problems begin in which no sizes meet, but numbers and what they name."""


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


LOST = ("is called on what is not a tensor", "not known before its first call")
"""How the causes end that say that an edit has taken a layer's input away."""


def mends(after: FileReport, before: FileReport, lines: set[int]) -> bool:
    """Whether no size is wrong any more, and nothing else is lost."""
    if after.failure is not None or any(each.problems for each in after.reports):
        return False
    causes = [cause for each in after.reports for cause in each.causes if not is_reserved(cause)]
    known = {cause.reason for each in before.reports if each.model is not None for cause in each.model.causes}
    if any(
        cause.line in lines
        or cause.reason.startswith("the code raises")
        or (cause.reason.endswith(LOST) and cause.reason not in known)
        for cause in causes
    ):
        return False
    return unresolved(after) <= unresolved(before) and len(after.reports) >= len(before.reports)


def unresolved(report: FileReport) -> int:
    return sum(each.status == "unresolved" and not each.problems for each in report.reports)
