"""CNM201: the size that the message names, written where the wrong one stands; `//` for a `/` of sizes; and what people
write who have met the error before, each in a room of what it is about."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.fixes import axes, counterparts, expressions, handed_sizes, layer_arguments
from flake8_cnnmem.fixes.expressions import Offer
from flake8_cnnmem.fixes.literals import arguments, handed, number, where_written, written
from flake8_cnnmem.fixes.operands import Place
from flake8_cnnmem.graph import Call
from flake8_cnnmem.results import FileReport, LayerProblem, ModelReport
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.edits import Edit, instead_of

CODE = "CNM201"


def candidates(source: Source, report: FileReport) -> Iterator[tuple[Finding, str, tuple[Edit, ...]]]:
    lines = source.text.split("\n")
    for model in report.reports:
        if called_otherwise(model):
            continue
        for problem in model.problems:
            site = problem.site
            if problem.problem.code != CODE or site.path != source.path:
                continue
            at = problem.place
            finding = Finding(at.path, at.line, at.column, CODE, problem.message)
            for title, edit in (*sizes(source, model, problem, lines), *divisions(problem, lines)):
                yield finding, title, (edit,)
            if problem.call is not None:
                place = Place(source, lines, model, problem, problem.call)
                for repair in REPAIRS:
                    for title, edits in repair(place):
                        yield finding, title, edits


REPAIRS: tuple[Callable[[Place], Iterator[Offer]], ...] = (
    expressions.parts_of_the_size,
    expressions.sums_of_joined,
    expressions.other_names,
    expressions.widths_before,
    expressions.shared_out,
    axes.joined_axis,
    axes.other_order,
    axes.transposed_factor,
    axes.broadcast_axes,
    axes.one_for_each,
    axes.target_axes,
    axes.resized_to,
    axes.state_sizes,
    layer_arguments.every_step,
    layer_arguments.batch_first,
    layer_arguments.flattened,
    layer_arguments.channel_axis,
    layer_arguments.stride_of_shortcut,
    layer_arguments.output_padding,
    handed_sizes.handed_over,
    handed_sizes.as_the_one_before,
    handed_sizes.other_end,
    counterparts.width_of_unpooled,
    counterparts.width_of_reshaped,
    counterparts.weight_of_norm,
    counterparts.shortcut_with_stride,
    counterparts.cut_mask,
    counterparts.length_of_mask,
    counterparts.loss_of_targets,
    counterparts.padded,
)
"""What people write where two sizes do not agree. Each offers what it takes for possible: what mends is for a trial to
say, and where two of them would, neither is made."""


def called_otherwise(model: ModelReport) -> bool:
    """Whether the code calls the model on inputs of another size as well, for which what is written may be right."""
    stated = model.training.input_shape
    return stated is not None and any(source not in ("option", "default") for _, source in stated.passed_over)


def sizes(source: Source, model: ModelReport, problem: LayerProblem, lines: list[str]) -> Iterator[tuple[str, Edit]]:
    """Each argument of the layer (of the reshape) that has the declared size, with the size that would fit."""
    declared, fitting = problem.problem.declared, problem.problem.fitting
    if declared is None or fitting is None:
        return
    site = model.model.site if model.model is not None else None
    built = site.node if isinstance(site, StatementSite) and site.path == source.path else None
    for argument in arguments_at(problem):
        place = where_written(argument, source.tree) or handed(argument, source.tree, built)
        if place is not None and number(place) == declared and place.lineno == place.end_lineno:
            edit = instead_of(place, lines, written(place, fitting, shapes_before(model, problem)))
            yield f"write {edit.text} instead of {old(edit, lines)}", edit


def divisions(problem: LayerProblem, lines: list[str]) -> Iterator[tuple[str, Edit]]:
    """The one `/` among the arguments of a layer that takes whole numbers, as `//`."""
    if "'//'" not in problem.problem.advice:
        return
    for argument in arguments_at(problem):
        if isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Div):
            left, right = argument.left, argument.right
            if (left.end_lineno, argument.lineno) != (right.lineno, argument.end_lineno):
                continue
            whole = instead_of(argument, lines, "")
            first, last = instead_of(left, lines, ""), instead_of(right, lines, "")
            between = lines[whole.line - 1][first.end_column - 1 : last.column - 1]
            if between.count("/") == 1 and "//" not in between:
                at = first.end_column + between.index("/")
                yield "divide with //", Edit(whole.line, at, whole.line, at + 1, "//")


def arguments_at(problem: LayerProblem) -> list[ast.expr]:
    site = problem.site
    node = site.node if isinstance(site, StatementSite) else None
    return list(arguments(node)) if isinstance(node, ast.Call) else []


def shapes_before(model: ModelReport, problem: LayerProblem) -> list[tuple[int, ...]]:
    """What the input of the call with this problem was before it was flattened, without the batch."""
    calls = model.model.calls if model.model is not None else ()
    found = []
    for call in calls:
        if call.problem is problem.problem:
            found += [*own_shape(call), *(shape for made in before(call) for shape in own_shape(made))]
    return found


def before(call: Call) -> Sequence[Call]:
    made = call.inputs[0].call if call.inputs else None
    chain = []
    while made is not None and made.inputs and made.op.kind in ("view", "identity"):
        chain.append(made)
        made = made.inputs[0].call
    return chain


def own_shape(call: Call) -> Iterator[tuple[int, ...]]:
    shape = call.inputs[0].shape if call.inputs else ()
    if isinstance(shape, tuple) and shape:
        sizes = tuple(size for size in shape[1:] if isinstance(size, int))
        if len(sizes) == len(shape) - 1:
            yield sizes


def old(edit: Edit, lines: list[str]) -> str:
    return lines[edit.line - 1][edit.column - 1 : edit.end_column - 1]
