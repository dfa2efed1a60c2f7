"""Of two operands that do not agree the one whose line has to change."""

from __future__ import annotations

import ast

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evidence.written import written_at
from flake8_cnnmem.graph import Call, Site, Tensor, Weight, calls_behind
from flake8_cnnmem.line_to_change.case import (
    WIDTHS,
    Case,
    NumberedLine,
    changes,
    decider,
    declares,
    differing,
    halved,
    later,
    maker_of,
    sizes_of,
    unviewed,
)
from flake8_cnnmem.line_to_change.worked_out import size_worked_out
from flake8_cnnmem.ops import (
    Convolution,
    DepthwiseConvolution,
    Linear,
    Loss,
    Matmul,
    Recurrent,
    RecurrentCell,
    Reshape,
    Resize,
)
from flake8_cnnmem.ops.merge import Broadcast, Concatenate, Stack
from flake8_cnnmem.ops.products import Dot, Einsum


def batch_mixed(case: Case) -> Site | None:
    """The last reshape that has changed the number of samples of one of two results: `reshape(x, (-1, steps, part))`
    where each position has more values than that."""
    call = case.call
    if not isinstance(call.op, (Broadcast, Concatenate)) or len(call.inputs) != 2:
        return None
    one, other = (sizes_of(each) for each in call.inputs)
    if len(one) != len(other) or one[1:] != other[1:] or one[:1] == other[:1]:
        return None
    found = []
    for tensor, wanted in zip(call.inputs, (other[:1], one[:1]), strict=True):
        before = [each for each in calls_behind((tensor,)) if isinstance(each.op, Reshape) and each.outputs]
        mixed = [each for each in before if sizes_of(each.inputs[0])[:1] == wanted != sizes_of(each.outputs[0])[:1]]
        undone = [each for each in before if sizes_of(each.inputs[0])[:1] != wanted == sizes_of(each.outputs[0])[:1]]
        if len(mixed) > len(undone):
            found.append(mixed[-1])
    return case.called_at(found[0]) if len(found) == 1 else None


def leaf_beside_result(case: Case) -> Site | None:
    """A parameter, buffer or mask that meets a result: where it is made. A larger mask of which a part would fit, and
    one whose axis stands elsewhere, are the call's to mend."""
    call = case.call
    if len(call.inputs) < 2 or isinstance(call.op, (Loss, Recurrent, RecurrentCell, Concatenate, Stack)):
        return None
    if case.problem.problem.what.startswith("takes samples"):
        return None
    made = [(each, site) for each in call.inputs if (site := case.made_at(unviewed(each))) is not None]
    if len(made) != 1:
        return None
    leaf, site = made[0]
    other = next(each for each in call.inputs if each is not leaf)
    if isinstance(call.op, Broadcast):
        axes = differing(leaf, other)
        mine, its = sizes_of(leaf), sizes_of(other)
        more = [mine[a] - its[a] for a in axes if isinstance(mine[a], int) and isinstance(its[a], int)]  # type: ignore[operator]
        larger = [by for by in more if by > 0]
        if table_of_lengths(unviewed(leaf)) and len(larger) == len(axes) > 0 and 1 not in larger:
            return case.problem.site
        if any(mine[a] in sizes_of(each) for a in axes for each in own_weights(case, leaf)):
            # It is as wide as what the result was computed with: what is wrong is how.
            return case.problem.site
        if len(larger) == len(axes) > 1 or (len(mine) < len(its) and any(mine[a] in its for a in axes)):
            return None
    elif 1 in sizes_of(leaf) or "axes from" in case.problem.problem.what:
        return None
    return sizes_behind(case, site) or site


def sizes_behind(case: Case, site: Site) -> Site | None:
    """The line that works out the one size that a leaf is made with: `patches = size // 16`."""
    node, index = site.node if isinstance(site, StatementSite) else None, case.index()
    function = next(iter(index.around(site.line)), None) if index is not None else None
    return size_worked_out(case, node, function) if isinstance(node, ast.Call) and function is not None else None


def own_weights(case: Case, leaf: Tensor) -> list[Tensor]:
    """The other parameters that the code itself multiplies by in the module that a leaf meets a result in."""
    found: list[Tensor] = []
    for each in calls_behind(case.call.inputs):
        if isinstance(each.op, Matmul) and each.within is case.call.within:
            found += [one for one in each.inputs if isinstance(one, Weight) and one is not leaf]
    return found


def table_of_lengths(leaf: Tensor) -> bool:
    """Whether a leaf is a buffer: a table for sequences of any length, of which the code takes as much as it needs."""
    return isinstance(leaf, Weight) and leaf.buffer


def factor_of_product(case: Case) -> Site | None:
    """Of the factors of a matrix product the parameter, or the layer that is written later; the call where another axis
    of the second would fit."""
    call = case.call
    if not isinstance(call.op, (Matmul, Einsum)) or len(call.inputs) != 2:
        return None
    left, right = call.inputs
    if not sizes_of(left) or not sizes_of(right):
        return None
    summed = summed_axes(call)
    if summed is None:
        return None
    columns, rows = sizes_of(left)[summed[0]], sizes_of(right)[summed[1]]
    if isinstance(call.op, Matmul) and columns in sizes_of(right):
        return None
    made = [case.made_at(unviewed(each)) for each in (left, right)]
    if sum(each is not None for each in made) == 1:
        return next(each for each in made if each is not None)
    if None not in made:
        return made[1] if same_line(*made) else None
    makers = decider(left, summed[0]), decider(right, summed[1])
    own = declares(makers[0], columns) and declares(makers[1], rows)
    return later(case.layer_of(makers[0]), case.layer_of(makers[1])) if own else None


def summed_axes(call: Call) -> tuple[int, int] | None:
    """The axis of each factor, from the last, along which a product is summed; of an einsum one whose sizes differ."""
    left, right = (sizes_of(each) for each in call.inputs)
    if isinstance(call.op, Matmul):
        return (-1, -2) if len(right) > 1 else None
    letters, _, result = str(getattr(call.op, "equation", "")).replace(" ", "").partition("->")
    names = letters.split(",")
    if [len(each) for each in names] != [len(left), len(right)]:
        return None
    for at, letter in enumerate(names[0]):
        other = names[1].find(letter)
        if other >= 0 and letter not in result and left[at] != right[other]:
            return at - len(left), other - len(right)
    return None


def narrower_branch(case: Case) -> Site | None:
    """Of two branches that meet: the one on which what follows does not count, else the one that is written later.
    Where one goes around the other, the layer inside that changes the sides."""
    call = case.call
    if len(call.inputs) < 2 or not isinstance(call.op, (Broadcast, Concatenate, Dot)):
        return None
    left = call.inputs[0]
    right = next((each for each in call.inputs[1:] if differing(left, each)), call.inputs[1])
    axes = differing(left, right)
    if len(sizes_of(left)) != len(sizes_of(right)) or not axes:
        return None
    both = (left, right)
    makers = decider(left, axes[0]), decider(right, axes[0])
    lines = case.layer_of(makers[0]), case.layer_of(makers[1])
    if same_place(*lines) and makers[0] is not makers[1]:
        # Two layers that one function makes: it is called with other numbers.
        return None
    widths = [is_width(case, maker, each, axes[0]) for maker, each in zip(makers, both, strict=True)]
    around = [is_around(makers[at], both[at], both[at ^ 1]) for at in (0, 1)]
    leaves = [each.call is None for each in both]
    if any(leaves):
        noise = both[leaves.index(True)]
        alike = len(axes) == 1 and isinstance(call.op, Broadcast) and widths[leaves.index(True) ^ 1]
        if alike and not noise.symbolic and noise.site is None:
            # A tensor that is made like another one, of which the size is right.
            return lines[leaves.index(True) ^ 1]
        around = leaves
    if isinstance(call.op, Concatenate):
        return one_of_several(case) or side_at_fault(case, both, axes[0]) if len(axes) > 1 else None
    if len(axes) == 1 and any(widths):
        return wrong_width(case, both, makers, widths, around)
    if all(widths):
        return None
    if halved(sizes_of(left)[axes[0]], sizes_of(right)[axes[0]]):
        return missing_stride(case, both, axes[0])
    if any(around):
        return lines[around.index(True) ^ 1]
    return side_at_fault(case, both, axes[0]) or later(*lines)


def is_width(case: Case, maker: Call | None, tensor: Tensor, axis: int) -> bool:
    """Whether the size of an axis is the number of features that a layer is built with, or that of their parts."""
    if maker is None or not isinstance(maker.op, WIDTHS):
        return False
    return declares(maker, sizes_of(tensor)[axis]) or not any(
        sizes_of(tensor)[axis] in sizes_of(each) for each in maker.outputs
    )


def is_around(maker: Call | None, tensor: Tensor, other: Tensor) -> bool:
    """Whether an operand goes around the other: what decides its size stands before that as well."""
    return tensor.call is None or maker is None or maker in list(calls_behind((other,)))


def wrong_width(
    case: Case,
    both: tuple[Tensor, Tensor],
    makers: tuple[Call | None, ...],
    widths: list[bool],
    around: list[bool],
) -> Site | None:
    """Of two widths that do not agree the one whose layer has to change. A way around convolutions may lack its own;
    what follows in a sequence is as wide as what it is added to."""
    lines = case.layer_of(makers[0]), case.layer_of(makers[1])
    if any(around):
        branch = makers[around.index(True) ^ 1]
        return case.layer_of(branch) if branch is not None and isinstance(branch.op, Linear) else None
    if not all(widths):
        # The number of what is stacked or split up is as it is: the layer's is written.
        return lines[widths.index(True)] if None not in makers else None
    if None in lines:
        return None
    axis = differing(*both)[0]
    sizes = sizes_of(both[0])[axis], sizes_of(both[1])[axis]
    parts = [not declares(maker, size) for maker, size in zip(makers, sizes, strict=True)]
    if sum(parts) == 1:
        return lines[parts.index(True)]
    wanted = size_taken_after(case, sizes)
    matching = [size == wanted for size in sizes]
    return lines[matching.index(False)] if sum(matching) == 1 else later(*lines)


def missing_stride(case: Case, both: tuple[Tensor, Tensor], axis: int) -> Site | None:
    """The projection beside a block with a stride, on the way that keeps the sides; None where that has no layer."""
    sizes = [sizes_of(each)[axis] for each in both]
    kept = 0 if sizes[0] > sizes[1] else 1  # type: ignore[operator]
    other = {id(each) for each in calls_behind((both[kept ^ 1],))}
    own = [each for each in calls_behind((both[kept],)) if id(each) not in other]
    layers = [each for each in own if isinstance(each.op, (Convolution, DepthwiseConvolution))]
    return case.layer_of(layers[-1]) if len(layers) == 1 else None


def side_at_fault(case: Case, both: tuple[Tensor, Tensor], axis: int) -> Site | None:
    """Of two maps with other sides: the layer that enlarges one of them, if not by its stride; the input whose side is
    odd on the way; the layer that cuts the one that has not the input's sides."""
    makers = [decider(each, axis) for each in both]
    sizes = [sizes_of(each)[axis] for each in both]
    lines = [case.layer_of(each) for each in makers]
    up = [enlarged(maker, size) for maker, size in zip(makers, sizes, strict=True)]
    if sum(each is not None for each in up) == 1:
        at = 0 if up[0] is not None else 1
        before, maker = up[at], makers[at]
        assert before is not None
        whole = before * 2
        if sizes[at] == whole and sizes[at ^ 1] in (whole - 1, whole + 1):
            return side_of_input(case) or case.problem.site
        transposed = maker is not None and "transpose" in maker.function.lower()
        if transposed and (sizes[at] != whole == sizes[at ^ 1] or not changes(makers[at ^ 1], axis)):
            return lines[at]
    given = {size for each in case.built.model.calls[:1] for tensor in each.inputs for size in sizes_of(tensor)[2:]}
    whole_sides = [size in given for size in sizes]
    return lines[whole_sides.index(False)] if sum(whole_sides) == 1 else None


def enlarged(maker: Call | None, size: object) -> int | None:
    """The side that a transposed convolution or an upsampling was given, where it gives about twice as much."""
    if maker is None or not maker.inputs:
        return None
    before = [each for each in sizes_of(maker.inputs[0]) if isinstance(each, int) and isinstance(size, int)]
    up = isinstance(maker.op, Resize) or "transpose" in maker.function.lower()
    return next((each for each in before if abs(each * 2 - size) <= MOST_OFF), None) if up else None  # type: ignore[operator]


MOST_OFF = 2
"""By how much a kernel's edge makes twice a side larger or smaller."""


def side_of_input(case: Case) -> Site | None:
    """Where the side of the model's input is written, or the input is made."""
    stated, shape = case.built.stated_by, case.built.input_shape or ()
    sides = {side for side in shape[:-1] if case.channels_last} | {side for side in shape[1:] if not case.channels_last}
    side = sides.pop() if len(sides) == 1 else None
    place = written_at(stated, side, case.root.run) if isinstance(side, int) else None
    return NumberedLine(*place) if place is not None and place[0] == case.path else case.here(stated)


def same_place(left: Site | None, right: Site | None) -> bool:
    """Whether two places are one."""
    return same_line(left, right) and left is not None and right is not None and left.column == right.column


def same_line(left: Site | None, right: Site | None) -> bool:
    """Whether two places stand in one line."""
    return left is not None and right is not None and left.line == right.line


def one_of_several(case: Case) -> Site | None:
    """Of three branches or more the layer of the one whose sides are others than those of all the rest."""
    shapes = [sizes_of(each) for each in case.call.inputs]
    if len(shapes) < MOST_ALIKE or any(len(each) != len(shapes[0]) for each in shapes):
        return None
    sides = [each[-2:] for each in shapes]
    odd = [at for at, each in enumerate(sides) if sides.count(each) == 1]
    return case.layer_of(maker_of(case.call.inputs[odd[0]])) if len(odd) == 1 and len(set(sides)) == 2 else None


MOST_ALIKE = 3
"""As many operands show which of them is unlike the others."""


def size_taken_after(case: Case, sizes: tuple[object, object]) -> object:
    """The one of two sizes that the next layer behind a call has weights for; None where neither or both are."""
    behind = {id(each) for each in case.call.outputs}
    for call in case.built.model.calls:
        if call.number > case.call.number and any(id(each) in behind for each in call.inputs):
            if call.weights:
                fitting = [size for size in sizes if declares(call, size)]
                return fitting[0] if len(fitting) == 1 else None
            behind |= {id(each) for each in call.outputs}
    return None
