"""Which line has to change for two sizes to agree, where the code shows more than the line that refuses them.

A layer, a sum or a loss is where a framework stops; what is wrong often stands before it: a state that was made with
another batch, the narrower of two branches, the number that a block is built with. Each rule says a line only where the
rest of the code speaks for it; where none does, the finding stays where the framework stops.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from flake8_cnnmem.evidence.written import name_of
from flake8_cnnmem.graph import Site
from flake8_cnnmem.line_to_change.before import (
    channels_first,
    input_as_stated,
    layer_before_reshape,
    order_of_axes,
    parts_of_layer,
    sequence_before,
    sizes_written,
    state_at_its_making,
    target_at_its_making,
)
from flake8_cnnmem.line_to_change.beside import (
    argument_not_used,
    block_built_with,
    call_of_function,
    heads_given,
    inputs_swapped,
    joined_before,
    layer_before_several,
    reshape_among_others,
    sizes_looped_over,
    values_set,
)
from flake8_cnnmem.line_to_change.case import Case, maker_of
from flake8_cnnmem.line_to_change.fed import (
    axes_before_loss,
    classes_behind,
    classes_of_labels,
    data_of_another_order,
    mask_given,
    numbers_too_large,
    order_too_many,
    samples_fed,
)
from flake8_cnnmem.line_to_change.given import (
    axes_taken_away,
    axis_taken_away,
    norm_among_others,
    norm_behind_layer,
    other_result,
    parameter_of_function,
    stated_by_inner_model,
    where_made,
)
from flake8_cnnmem.line_to_change.handed import number_handed_over
from flake8_cnnmem.line_to_change.operands import batch_mixed, factor_of_product, leaf_beside_result, narrower_branch
from flake8_cnnmem.models import Built, Root
from flake8_cnnmem.results import LayerProblem

__all__ = ["line_to_change", "maker_of"]


def line_to_change(problem: LayerProblem, built: Built, root: Root) -> LayerProblem:
    """The problem at the line that has to change, where another one than that of the call or layer is known."""
    call = problem.call
    if call is None or call.problem is not problem.problem or not call.inputs:
        return problem
    case = Case(problem, call, built, root)
    place = next((site for rule in RULES if (site := rule(case)) is not None), None)
    if place is not None and is_input(place):
        place = sizes_written(case, place)
    return problem.standing_at(place) if place is not None and place.line != problem.site.line else problem


def is_input(site: Site) -> bool:
    """Whether a line states the input of a model."""
    node = getattr(site, "node", None)
    return isinstance(node, ast.Call) and name_of(node.func) in ("Input", "InputLayer")


RULES: tuple[Callable[[Case], Site | None], ...] = (
    numbers_too_large,
    values_set,
    parts_of_layer,
    norm_behind_layer,
    sequence_before,
    inputs_swapped,
    layer_before_several,
    argument_not_used,
    joined_before,
    heads_given,
    sizes_looped_over,
    reshape_among_others,
    block_built_with,
    samples_fed,
    axes_before_loss,
    classes_of_labels,
    classes_behind,
    order_too_many,
    data_of_another_order,
    mask_given,
    state_at_its_making,
    target_at_its_making,
    batch_mixed,
    factor_of_product,
    leaf_beside_result,
    call_of_function,
    narrower_branch,
    layer_before_reshape,
    parameter_of_function,
    where_made,
    axes_taken_away,
    other_result,
    norm_among_others,
    axis_taken_away,
    stated_by_inner_model,
    input_as_stated,
    order_of_axes,
    channels_first,
    number_handed_over,
)
