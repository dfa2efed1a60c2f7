"""What a layer is given: where it was chosen, reshaped or stated, if it has the size there that the layer asks for."""

from __future__ import annotations

import ast
from math import prod

from flake8_cnnmem.dims import show
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evidence.written import name_of, worked_out
from flake8_cnnmem.graph import Site, Tensor, Weight
from flake8_cnnmem.line_to_change.case import (
    PARTS,
    WIDTHS,
    Case,
    decider,
    declares,
    differing,
    maker_of,
    sizes_of,
    unviewed,
)
from flake8_cnnmem.ops import (
    AttentionInputs,
    BatchNorm,
    Convolution,
    DepthwiseConvolution,
    Flatten,
    GlobalPool,
    GroupNorm,
    LayerNorm,
    Loss,
    MaxUnpool,
    Permute,
    Recurrent,
    RecurrentCell,
    Reduce,
    Reshape,
    Squeeze,
    Transpose,
)
from flake8_cnnmem.ops.merge import Concatenate
from flake8_cnnmem.values import Instance

CONVOLUTIONS = (Convolution, DepthwiseConvolution)
NORMS = (BatchNorm, GroupNorm, LayerNorm)
LOWERING = (Flatten, Reshape, Reduce, GlobalPool, Squeeze)
"""What gives fewer axes than it is given."""


def other_result(case: Case) -> Site | None:
    """The call of a layer on one result of several, where its first has the features that it asks for: the last state
    of a recurrent layer for its outputs."""
    size = case.problem.problem.declared
    tensor = unviewed(case.call.inputs[0])
    if size is None or tensor.call is None or not isinstance(tensor.call.op, Recurrent):
        return None
    first = tensor.call.outputs[0]
    taken = case.called_at(case.call.inputs[0].call)
    return (taken or case.called_at(case.call)) if tensor is not first and sizes_of(first)[-1:] == (size,) else None


def axis_taken_away(case: Case) -> Site | None:
    """The maximum or mean over the axis that has the features which the layer behind it asks for; the reshape or
    permutation that brings another axis into them, the flattening that leaves one out; the layer of which a part is
    taken that has as many itself."""
    size, maker = case.problem.problem.declared, maker_of(case.call.inputs[0])
    if size is None or maker is None or not maker.inputs or not isinstance(case.call.op, (*WIDTHS, *NORMS)):
        return None
    before, after = sizes_of(maker.inputs[0]), sizes_of(maker.outputs[0])
    if isinstance(maker.op, Reduce):
        return case.called_at(maker) if size in before and size not in after else None
    if isinstance(maker.op, PARTS):
        layer = case.layer_of(decider(maker.inputs[0], -1))
        return layer if before[-1:] == (size,) and not made_for_parts(layer) else None
    if isinstance(maker.op, Reshape) and isinstance(case.call.op, CONVOLUTIONS):
        # Frames are folded into the channels that stood beside them.
        return case.called_at(maker) if size in before[1:] and len(before) > len(after) else None
    if isinstance(maker.op, (Reshape, Permute, Transpose)):
        return case.called_at(maker) if before[-1:] == (size,) or case.problem.problem.elsewhere is not None else None
    sizes = [each for each in after[1:] if isinstance(each, int)]
    left = isinstance(maker.op, Flatten) and len(after) > FLAT and len(sizes) == len(after) - 1
    return case.called_at(maker) if left and prod(sizes) == size else None


def made_for_parts(layer: Site | None) -> bool:
    """Whether a layer's width is written as a multiple of a number: `2 * width`."""
    node = layer.node if isinstance(layer, StatementSite) else layer
    products = [each for each in ast.walk(node) if isinstance(each, ast.BinOp)] if isinstance(node, ast.AST) else []
    return any(isinstance(side, ast.Constant) for each in products for side in (each.left, each.right))


FLAT = 2
"""The axes of samples of features."""


def axes_taken_away(case: Case) -> Site | None:
    """What gives fewer axes than the layer behind it asks for, or leaves it more of them."""
    maker = maker_of(case.call.inputs[0])
    what = case.problem.problem.what
    if isinstance(case.call.op, Concatenate) and what.endswith("which differ in their number of axes"):
        return every_step(case)
    if maker is None or not maker.inputs or not what.startswith("takes an input of "):
        return None
    before, after = len(sizes_of(maker.inputs[0])), len(sizes_of(maker.outputs[0]))
    if not case.channels_last:
        averaged = isinstance(maker.op, Reduce) and after < before and what.startswith(f"takes an input of {before} ")
        return case.called_at(maker) if averaged else None
    return case.line_of(maker) if (after < before and isinstance(maker.op, LOWERING)) or after > MOST_STEPS else None


def every_step(case: Case) -> Site | None:
    """The recurrent layer that hands on every step where the others that it is joined with are samples of features."""
    flat = [len(sizes_of(each)) == FLAT for each in case.call.inputs]
    makers = [maker_of(each) for each, one in zip(case.call.inputs, flat, strict=True) if not one]
    steps = [each for each in makers if each is not None and isinstance(each.op, Recurrent)]
    return case.layer_of(steps[0]) if any(flat) and len(makers) == len(steps) == 1 else None


MOST_STEPS = 4
"""The axes of images: what has more of them is a sequence of images."""


def norm_among_others(case: Case) -> Site | None:
    """A normalisation of another size than those beside it, which have the size that it is given."""
    call, given = case.call, case.problem.problem.given
    if not isinstance(call.op, NORMS) or given is None or call.within is None or call.within.parent is None:
        return None
    block = call.within.parent.layer
    beside = [
        each
        for each in case.built.model.calls
        if type(each.op) is type(call.op) and each.within is not None and each.within.parent is not None
        if each.within.parent.layer is block and each.within.layer is not call.within.layer
    ]
    return case.layer_of(call) if any(declares(each, given) for each in beside) else None


def norm_behind_layer(case: Case) -> Site | None:
    """A normalisation right behind a layer of the same block, where what follows has the layer's size and not its."""
    call, given, declared = case.call, case.problem.problem.given, case.problem.problem.declared
    maker = maker_of(call.inputs[0])
    if not isinstance(call.op, BatchNorm) or maker is None or not isinstance(maker.op, WIDTHS) or given is None:
        return None
    blocks = [each.within.parent if each.within is not None else None for each in (call, maker)]
    if blocks[0] is None or blocks[0] is not blocks[1]:
        return None
    axis = -1 if case.channels_last else 1
    reached = {id(each) for each in call.outputs}
    later = [each for each in case.built.model.calls if each.number > call.number]
    for each in later[:NEAR]:
        if not reached & set(map(id, each.inputs)):
            continue
        other = next((sizes_of(one) for one in each.inputs if id(one) not in reached), ())
        widths = sizes_of(each.weights[0])[1:2] if isinstance(each.op, WIDTHS) and each.weights else other[axis:][:1]
        if widths:
            return case.layer_of(call) if widths == (given,) != (declared,) else None
        reached |= set(map(id, each.outputs))
    return None


NEAR = 12
"""Calls behind a layer among which the next one that has sizes of its own is looked for."""


def stated_by_inner_model(case: Case) -> Site | None:
    """The `Input` of a model inside another one, which states another size than it is given."""
    inner, index = list(case.call.ancestry())[1:2], case.index()
    layer = inner[0].layer if inner else None
    if not case.channels_last or index is None or not isinstance(layer, Instance) or layer.cls.site is not None:
        return None
    node = layer.site.node if isinstance(layer.site, StatementSite) and layer.site.path == case.path else None
    if not isinstance(node, ast.Call) or name_of(node.func) not in ("Model", "Functional", "Sequential"):
        return None
    first = next((each.value for each in node.keywords if each.arg in ("inputs", "layers")), None)
    first = node.args[0] if first is None and node.args else first
    if isinstance(first, (ast.List, ast.Tuple)) and first.elts:
        first = first.elts[0]
    if isinstance(first, ast.Name):
        scope = next(iter(index.around(node.lineno)), None)
        values = index.values_of(first.id, scope)
        [first] = values if len(values) == 1 else [first]
    if first is None:
        return shape_of_first_layer(case, node)
    if not isinstance(first, ast.Call) or name_of(first.func) not in ("Input", "InputLayer"):
        return None
    entered = next((each for each in case.built.model.calls if inner[0] in list(each.ancestry())), case.call)
    sizes = next((each.value for each in first.keywords if each.arg == "shape"), None)
    sizes = first.args[0] if sizes is None and first.args else sizes
    stated = [worked_out(each) for each in sizes.elts] if isinstance(sizes, ast.Tuple) else []
    given = sizes_of(entered.inputs[0])[1:] if entered.inputs else ()
    differ = len(stated) != len(given) or any(
        a != b for a, b in zip(stated, given, strict=True) if isinstance(a, int) and isinstance(b, int)
    )
    return StatementSite(case.path, first) if stated and differ else None


def shape_of_first_layer(case: Case, made: ast.Call) -> Site | None:
    """The first layer that a model is given one by one (`model.add(...)`), where that states another input than the
    model is called on."""
    index = case.index()
    function = next(iter(index.around(made.lineno)), None) if index is not None else None
    stated = [
        word.value
        for each in (ast.walk(function) if function is not None else ())
        if isinstance(each, ast.Call) and each.lineno > made.lineno
        for word in each.keywords
        if word.arg == "input_shape" and isinstance(word.value, (ast.Tuple, ast.List))
    ]
    declared = case.problem.problem.declared
    fitting = [each for each in stated if declared in [worked_out(one) for one in each.elts]]
    return StatementSite(case.path, fitting[0]) if len(stated) == len(fitting) == 1 else None


def parameter_of_function(case: Case) -> Site | None:
    """The parameter that a function is called with, where it is made; the local name that it is given."""
    call, what = case.call, case.problem.problem.what
    if case.layer_of(call) is None and not isinstance(call.op, Loss):
        for weight in call.weights:
            if case.here(weight.site) is not None and call.inputs and all(each is not weight for each in call.inputs):
                given = show(weight.shape) if isinstance(weight.shape, tuple) else ""
                if what.endswith(f"is given {given}") or case.problem.problem.declared in sizes_of(weight):
                    return weight.site
    one_for_all = isinstance(call.op, (AttentionInputs, Recurrent, RecurrentCell)) or "of a leaf" in what
    leaf = next((each for each in call.inputs if isinstance(each, Weight)), None)
    return named_here(case, leaf) if one_for_all and leaf is not None else None


def named_here(case: Case, leaf: Weight) -> Site | None:
    """The line that gives a parameter its one local name: `q = self.slots`."""
    index, site = case.index(), case.called_at(case.call)
    function = next(iter(index.around(site.line)), None) if index is not None and site is not None else None
    own = leaf.name.rpartition(".")[2]
    named = [
        each.value
        for each in ([] if function is None else ast.walk(function))
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Attribute) and each.value.attr == own
        if all(isinstance(target, ast.Name) for target in each.targets)
    ]
    return StatementSite(case.path, named[0]) if own and len(named) == 1 else None


def where_made(case: Case) -> Site | None:
    """Where a further input is made: a mask whose shape is told; the maps that come with indices; what a function
    without weights is given by the reshape before it."""
    call, what = case.call, case.problem.problem.what
    if isinstance(call.op, MaxUnpool) and len(call.inputs) > 1:
        axes = differing(call.inputs[0], call.inputs[1])
        return case.layer_of(decider(call.inputs[0], axes[0])) if len(axes) == 1 else None
    if what.startswith("takes matrices ") and call.inputs:
        maker = maker_of(call.inputs[0])
        return case.called_at(maker) if maker is not None and isinstance(maker.op, Reshape) else None
    return None


def made_by_program(case: Case, tensor: Tensor) -> Site | None:
    """Where the program makes what it calls its model on, of the sizes of one of the model's inputs."""
    sizes = sizes_of(tensor)
    found: dict[int, Site] = {}
    for made in case.root.run.trace.root_calls:
        for value in made.args:
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, Tensor) and alike(sizes_of(each), sizes):
                    site = case.made_at(each)
                    if site is not None:
                        found.setdefault(site.line, site)
    return found[min(found)] if found and len(found) <= MOST_STATES else None


MOST_STATES = 2
"""A recurrent layer's states."""


def alike(sizes: tuple[object, ...], others: tuple[object, ...]) -> bool:
    """Whether two shapes agree where both are numbers."""
    pairs = list(zip(sizes, others, strict=False))
    return len(sizes) == len(others) and all(a == b for a, b in pairs if isinstance(a, int) and isinstance(b, int))
