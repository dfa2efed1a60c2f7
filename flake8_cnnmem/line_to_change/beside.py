"""What other layers and calls show of a size that does not fit: most of them agree, and one stands alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import permutations

from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evidence.written import Function, name_of, parameters, worked_out, written_at
from flake8_cnnmem.graph import Call, Site, Tensor, calls_behind
from flake8_cnnmem.line_to_change.case import WIDTHS, Case, NumberedLine, decider, differing, has, sizes_of
from flake8_cnnmem.ops import (
    BatchNorm,
    Broadcast,
    Convolution,
    DepthwiseConvolution,
    Einsum,
    Heads,
    Matmul,
    Repeat,
    Reshape,
    Stack,
)
from flake8_cnnmem.ops.merge import Concatenate
from flake8_cnnmem.values import Instance


def layer_before_several(case: Case) -> Site | None:
    """The layer behind which two others ask for the same size, which it does not give."""
    maker = layer_before(case.call)
    if maker is None:
        return None
    problem = case.problem.problem
    others = [
        each
        for each in case.built.model.calls
        if each is not case.call
        and each.problem is not None
        and (each.problem.declared, each.problem.given) == (problem.declared, problem.given)
        and layer_before(each) is maker
        and layer_of(each) is not layer_of(case.call)
        and block_of(each) is block_of(case.call) is block_of(maker)
    ]
    return case.layer_of(maker) if others else None


def layer_of(call: Call) -> object:
    """The layer that a call belongs to, None for a function's."""
    return call.within.layer if call.within is not None else None


def block_of(call: Call) -> object:
    """The module that a layer is called in."""
    around = call.within.parent if call.within is not None else None
    return around.layer if around is not None else None


def layer_before(call: Call) -> Call | None:
    """The layer that decides the width which another one refuses."""
    problem = call.problem
    if problem is None or problem.declared is None or len(call.inputs) != 1 or problem.elsewhere is not None:
        return None
    shape = sizes_of(call.inputs[0])
    by_channels = isinstance(call.op, (Convolution, DepthwiseConvolution, BatchNorm))
    axis = 1 - len(shape) if by_channels and not getattr(call.op, "channels_last", False) else -1
    maker = decider(call.inputs[0], axis) if has(call.inputs[0], axis, problem.given) else None
    return maker if maker is not None and isinstance(maker.op, WIDTHS) else None


def inputs_swapped(case: Case) -> Site | None:
    """The call of a model on two inputs of which each has the size that is asked of the other."""
    problem, tensor = case.problem.problem, case.call.inputs[0]
    if problem.declared is None or tensor.call is not None:
        return None
    for each in case.built.model.calls:
        other = each.problem
        if other is not None and (other.declared, other.given) == (problem.given, problem.declared):
            return case.here(case.built.stated_by) if each.inputs and each.inputs[0].call is None else None
    return None


def reshape_among_others(case: Case) -> Site | None:
    """Of reshapes of one shape the one that gives another one than the rest."""
    if not isinstance(case.call.op, (Matmul, Einsum, Broadcast)):
        return None
    viewed = [each for each in map(reshape_before, case.call.inputs) if each is not None]
    for call in viewed:
        given, result = sizes_of(call.inputs[0]), sizes_of(call.outputs[0])
        others = [
            sizes_of(each.outputs[0])
            for each in case.built.model.calls
            if isinstance(each.op, Reshape) and each.within is call.within and sizes_of(each.inputs[0]) == given
        ]
        rest = [each for each in others if each != result]
        if others.count(result) == 1 and len(rest) > 1 and len(set(rest)) == 1 and same_sizes(rest[0], result):
            return case.called_at(call)
    return None


def same_sizes(left: tuple[object, ...], right: tuple[object, ...]) -> bool:
    """Whether two shapes have the same sizes in another order."""
    return sorted(map(str, left)) == sorted(map(str, right))


def reshape_before(tensor: Tensor) -> Call | None:
    """The reshape that an operand comes from, through what only rearranges or works value by value."""
    call = tensor.call
    while call is not None and not isinstance(call.op, Reshape) and len(call.inputs) == 1:
        call = call.inputs[0].call
    return call if call is not None and isinstance(call.op, Reshape) else None


def argument_not_used(case: Case) -> Site | None:
    """The call of a layer in a function that leaves one of its inputs out, where the layer asks for more features."""
    problem, site, index = case.problem.problem, case.called_at(case.call), case.index()
    if index is None or site is None or problem.declared is None or problem.given is None:
        return None
    if problem.given >= problem.declared or not isinstance(case.call.op, WIDTHS):
        return None
    function = next(iter(index.around(site.line)), None)
    left_out = function is not None and function.name in ("forward", "call") and any(unused(function))
    return site if left_out else None


def unused(function: Function) -> Iterator[str]:
    """The parameters without a default that a function never reads."""
    own = function.args
    needed = own.args[1 : len(own.args) - len(own.defaults)]
    read = {each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    yield from (each.arg for each in needed if each.arg not in read and not each.arg.startswith("_"))


def joined_before(case: Case) -> Site | None:
    """What stacks the parts that a layer asks for side by side; what repeats a leaf along the wrong axis."""
    call = case.call
    tensor = call.inputs[0]
    if isinstance(call.op, WIDTHS) and tensor.call is not None and case.problem.problem.given:
        maker = decider(tensor, -1) if sizes_of(tensor) else None
        stacked = through_values(tensor)
        if stacked is not None and maker is not None and isinstance(stacked.op, Stack):
            several = len(stacked.inputs) * case.problem.problem.given == case.problem.problem.declared
            return case.called_at(stacked) if several else None
    if isinstance(call.op, (Concatenate, Broadcast)):
        repeated = [each.call for each in call.inputs if each.call is not None and isinstance(each.call.op, Repeat)]
        sizes = [sizes_of(each) for each in call.inputs]
        same = len({len(each) for each in sizes}) == 1
        return case.called_at(repeated[0]) if len(repeated) == 1 and same else None
    return None


def through_values(tensor: Tensor) -> Call | None:
    """The op behind what works value by value on a tensor of the same shape."""
    call = tensor.call
    while call is not None and len(call.inputs) == 1 and call.inputs[0].shape == call.outputs[0].shape:
        call = call.inputs[0].call
    return call


def block_built_with(case: Case) -> Site | None:
    """Where a block is built with a number that does not fit what it is given: a window, a length."""
    call, index = case.call, case.index()
    if index is None or not call.inputs:
        return None
    wrong: set[object]
    right: set[object]
    if isinstance(call.op, Reshape):
        wrong = set(call.op.target) if isinstance(call.op.target, tuple) else set()
        right = set(sizes_of(call.inputs[0]))
    elif isinstance(call.op, Broadcast) and len(call.inputs) > 1:
        left, right_sizes = sizes_of(call.inputs[0]), sizes_of(call.inputs[1])
        if len(left) != len(right_sizes) and left[:1] == right_sizes[:1] == (BATCH,):
            return None
        at = differing(call.inputs[0], call.inputs[1])[:1]
        wrong = {size for axis in at for size in (left[axis], right_sizes[axis])}
        right = set()
    else:
        return None
    for inner in call.ancestry():
        layer = inner.layer
        if not isinstance(layer, Instance) or layer.cls.site is None or layer is case.built.model.root:
            continue
        node = layer.site.node if isinstance(layer.site, StatementSite) and layer.site.path == case.path else None
        if isinstance(node, ast.Call):
            given = [worked_out(each) for each in (*node.args, *(word.value for word in node.keywords))]
            numbers = [each for each in given if isinstance(each, int) and each in wrong and each not in right]
            return StatementSite(case.path, node) if len(numbers) == 1 and numbers[0] > 1 else None
    return None


def call_of_function(case: Case) -> Site | None:
    """The one call of a function, among several in other lines, in which a branch does not fit what it goes around, as
    it has in those before."""
    call, site, index = case.call, case.called_at(case.call), case.index()
    if not isinstance(call.op, Broadcast) or not any(goes_around(*pair) for pair in permutations(call.inputs, 2)):
        return None
    if index is None or site is None or call.called_from is None or call.called_from[0] != case.path:
        return None
    function = next(iter(index.around(site.line)), None)
    layer = case.layer_of(call)
    if function is None or (layer is not None and function not in index.around(layer.line)):
        return None
    lines = {each.lineno for each in index.calls if name_of(each.func) == function.name}
    alike = [each for each in case.built.model.calls if each.site == call.site and each.function == call.function]
    before = [each for each in alike if each.number < call.number]
    fitted = bool(before) and all(each.problem is None for each in before)
    return NumberedLine(*call.called_from) if fitted and len(lines) > 1 else None


def goes_around(tensor: Tensor, other: Tensor) -> bool:
    """Whether another tensor is computed from this one."""
    return tensor.call is not None and tensor.call in calls_behind((other,))


def in_other_order(calls: Sequence[Call]) -> bool:
    """Whether layers that are called one after another are given the sizes that they are declared for, all of them, in
    another order."""
    problems = [each.problem for each in calls if each.problem is not None]
    declared = [each.declared for each in problems if each.declared is not None]
    given = [each.given for each in problems if each.given is not None]
    return len(declared) == len(given) == len(problems) > 1 and sorted(declared) == sorted(given)


def values_set(case: Case) -> Site | None:
    """Where a layer is given values of another shape than its weights have."""
    return case.here(case.call.site) if case.call.function == "set_weights" else None


def heads_given(case: Case) -> Site | None:
    """Where the number of heads is written that do not divide the features of an attention."""
    if not isinstance(case.call.op, Heads) or not isinstance(case.call.op.heads, int):
        return None
    return written_for_layers(case, case.call.op.heads)


def written_for_layers(case: Case, size: int) -> Site | None:
    """The one other line in which a number is written that a layer, or a block around it, is built with."""
    for each in case.call.ancestry():
        site = each.layer.site if isinstance(each.layer, Instance) else None
        place = written_at(site, size, case.root.run)
        if place is not None and place[0] == case.path:
            return NumberedLine(*place)
    return None


def sizes_looped_over(case: Case) -> Site | None:
    """The sizes that layers are made for in one line, where none of them fits: what the function that makes them is
    handed, or its default."""
    site, index = case.problem.site, case.index()
    function = next(iter(index.around(site.line)), None) if index is not None else None
    if index is None or function is None or not isinstance(site, StatementSite) or not isinstance(site.node, ast.Call):
        return None
    used = {each.id for each in ast.walk(site.node) if isinstance(each, ast.Name)}
    loops = [
        each.iter
        for each in ast.walk(function)
        if isinstance(each, (ast.comprehension, ast.For))
        and used & {inner.id for inner in ast.walk(each.target) if isinstance(inner, ast.Name)}
    ]
    if any(isinstance(each, ast.Call) and name_of(each.func) == "range" for each in loops):
        return None
    names = {each.id for loop in loops for each in ast.walk(loop) if isinstance(each, ast.Name)}
    names &= set(parameters(function))
    alike = [
        each
        for each in case.built.model.calls
        if each.within is not None and getattr(each.within.layer, "site", None) == site
    ]
    if len(names) != 1 or len(alike) < 2 or not (all(each.problem for each in alike) or in_other_order(alike)):
        return None
    [name] = names
    called = next((each.name for each in index.classes if function in each.body), function.name)
    for call in index.calls:
        if name_of(call.func) == called:
            handed = next((word.value for word in call.keywords if word.arg == name), None)
            at = parameters(function).index(name) - (parameters(function)[0] == "self")
            handed = call.args[at] if handed is None and 0 <= at < len(call.args) else handed
            if handed is not None:
                return StatementSite(case.path, handed)
    own = function.args
    defaults = dict(zip(reversed([each.arg for each in own.args]), reversed(own.defaults), strict=False))
    return StatementSite(case.path, defaults[name]) if name in defaults else None
