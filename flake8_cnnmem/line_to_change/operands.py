"""Of two operands that do not agree the one whose line has to change."""

from __future__ import annotations

from flake8_cnnmem.graph import Call, Site, calls_behind
from flake8_cnnmem.line_to_change.case import (
    Case,
    changes,
    declares,
    differing,
    halved,
    later,
    maker_of,
    maker_of_size,
    sizes_of,
    unviewed,
)
from flake8_cnnmem.ops import Linear, Loss, Matmul, Recurrent, RecurrentCell
from flake8_cnnmem.ops.merge import Broadcast, Concatenate, Dot, Stack


def leaf_beside_result(case: Case) -> Site | None:
    """A parameter, buffer or mask that meets a result: where it is made. A larger mask of which a part would fit, and
    one whose axis stands elsewhere, are the call's to mend."""
    call = case.call
    if len(call.inputs) < 2 or isinstance(call.op, (Loss, Recurrent, RecurrentCell, Concatenate, Stack)):
        return None
    if case.problem.problem.what.startswith("takes samples"):
        return None
    made = [(each, site) for each in call.inputs if (site := case.made_at(each)) is not None]
    if len(made) != 1:
        return None
    leaf, site = made[0]
    other = next(each for each in call.inputs if each is not leaf)
    if isinstance(call.op, Broadcast):
        axes = differing(leaf, other)
        mine, its = sizes_of(leaf), sizes_of(other)
        larger = [a for a in axes if isinstance(mine[a], int) and isinstance(its[a], int) and mine[a] > its[a]]  # type: ignore[operator]
        if len(larger) == len(axes) > 1 or (len(mine) < len(its) and any(mine[a] in its for a in axes)):
            return None
    elif 1 in sizes_of(leaf) or "axes from" in case.problem.problem.what:
        return None
    return site


def factor_of_product(case: Case) -> Site | None:
    """Of the factors of a matrix product the parameter, or the layer that is written later; the call where another axis
    of the second would fit."""
    call = case.call
    if not isinstance(call.op, Matmul) or len(call.inputs) != 2 or any(not sizes_of(each) for each in call.inputs):
        return None
    left, right = call.inputs
    columns = sizes_of(left)[-1]
    if columns in sizes_of(right) or len(sizes_of(right)) < 2:
        return None
    made = [case.made_at(unviewed(each)) for each in (left, right)]
    if sum(each is not None for each in made) == 1:
        return next(each for each in made if each is not None)
    makers = maker_of_size(left, -1), maker_of_size(right, -2)
    own = declares(makers[0], columns) and declares(makers[1], sizes_of(right)[-2])
    return later(case.layer_of(makers[0]), case.layer_of(makers[1])) if own else None


def narrower_branch(case: Case) -> Site | None:
    """Of two branches that meet: the one on which what follows does not count, else the one that is written later.
    Where one goes around the other, the layer inside that changes the sides."""
    call = case.call
    if len(call.inputs) < 2 or not isinstance(call.op, (Broadcast, Concatenate, Dot)):
        return None
    left, right = call.inputs[:2]
    axes = differing(left, right)
    if len(sizes_of(left)) != len(sizes_of(right)) or not axes:
        return None
    makers = maker_of_size(left, axes[0]), maker_of_size(right, axes[0])
    lines = case.layer_of(makers[0]), case.layer_of(makers[1])
    features = [declares(maker, sizes_of(each)[axes[0]]) for maker, each in zip(makers, (left, right), strict=True)]
    around = [makers[0] in list(calls_behind((right,))), makers[1] in list(calls_behind((left,)))]
    leaves = [each.call is None for each in (left, right)]
    if any(leaves):
        noise = (left, right)[leaves.index(True)]
        alike = len(axes) == 1 and isinstance(call.op, Broadcast) and features[leaves.index(True) ^ 1]
        if alike and not noise.symbolic and noise.site is None:
            # A tensor that is made like another one, of which the size is right.
            return lines[leaves.index(True) ^ 1]
        around = leaves
    if isinstance(call.op, Concatenate):
        return one_of_several(case) or transposed_beside(makers, lines, axes[0]) if len(axes) > 1 else None
    if len(axes) == 1 and all(features):
        if any(around):
            # A way around convolutions may lack its own; what follows in a sequence is as wide as what it is added to.
            branch = makers[around.index(True) ^ 1]
            return case.layer_of(branch) if branch is not None and isinstance(branch.op, Linear) else None
        if None in lines:
            return None
        sizes = sizes_of(left)[axes[0]], sizes_of(right)[axes[0]]
        wanted = size_taken_after(case, sizes)
        matching = [size == wanted for size in sizes]
        return lines[matching.index(False)] if sum(matching) == 1 else later(*lines)
    if any(features):
        return None
    changing = [changes(maker, axes[0]) for maker in makers]
    if halved(sizes_of(left)[axes[0]], sizes_of(right)[axes[0]]):
        # The projection beside a block with a stride.
        return lines[changing.index(False)] if sum(changing) == 1 and not any(around) and None not in lines else None
    if any(around):
        return lines[around.index(True) ^ 1]
    return lines[changing.index(True)] if sum(changing) == 1 else later(*lines)


def transposed_beside(makers: tuple[Call | None, ...], lines: tuple[Site | None, ...], axis: int) -> Site | None:
    """The transposed convolution that does not give the sides of what it is joined with, if nothing has cut those."""
    transposed = [maker is not None and "transpose" in maker.function.lower() for maker in makers]
    cut = any(changes(maker, axis) for maker, own in zip(makers, transposed, strict=True) if not own)
    return lines[transposed.index(True)] if sum(transposed) == 1 and not cut else None


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
