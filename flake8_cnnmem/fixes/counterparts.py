"""What has to agree with something that is written elsewhere: a map with its indices, a parameter with what it scales,
a mask with its scores, a shortcut with its block, a loss with its targets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import prod

from flake8_cnnmem import frameworks
from flake8_cnnmem.fixes.axes import CREATED, axis_read
from flake8_cnnmem.fixes.expressions import Offer
from flake8_cnnmem.fixes.handed_sizes import around, classes, layer_before
from flake8_cnnmem.fixes.literals import arguments, number
from flake8_cnnmem.fixes.operands import Place, keyword, sizes_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.line_to_change import maker_of
from flake8_cnnmem.ops import Broadcast, Convolution, GroupNorm, LayerNorm, Loss, MaxUnpool, Reshape

CATEGORICAL, SPARSE = "categorical_crossentropy", "sparse_categorical_crossentropy"
MOST_AXES = 3


def width_of_unpooled(place: Place) -> Iterator[Offer]:
    """The layer before an unpooling as wide as the indices: those come from a pool that is not changed."""
    if not isinstance(place.call.op, MaxUnpool) or len(place.call.inputs) != 2:
        return
    values, indices = (sizes_of(each.shape) for each in place.call.inputs)
    if len(values) == len(indices) > 1 and values[2:] == indices[2:] and isinstance(indices[1], int):
        made = layer_before(place, place.call.inputs[0])
        for literal in arguments(made) if made is not None else ():
            if number(literal) == values[1]:
                yield resized(place, literal, indices[1])


def width_of_reshaped(place: Place) -> Iterator[Offer]:
    """A reshape to sizes that are all written as numbers: the layer before it with their product, or one of the sizes
    such that they hold what there is. Where more than one of these mends, nothing says which is meant."""
    problem, node = place.problem.problem, place.node(place.call.site) or place.layer(place.call)
    if not isinstance(place.call.op, Reshape) or node is None or problem.fitting is not None:
        return
    if not problem.declared or not problem.given:
        return
    sizes = [each for each in arguments(node) if number(each) is not None]
    if prod(number(each) or 1 for each in sizes) != problem.declared:
        return
    made = layer_before(place, place.call.inputs[0])
    widths = [each for each in arguments(made) if number(each) == problem.given] if made is not None else []
    yield from (resized(place, each, problem.declared) for each in widths)
    for each in sizes if widths else ():
        rest = problem.declared // (number(each) or 1)
        if rest and problem.given % rest == 0:
            yield resized(place, each, problem.given // rest)


def weight_of_norm(place: Place) -> Iterator[Offer]:
    """The parameter that a normalization scales by, made as wide as what it normalizes."""
    node = place.node(place.call.site)
    if not isinstance(place.call.op, (LayerNorm, GroupNorm)) or node is None or place.layer(place.call) is not None:
        return
    shape = sizes_of(place.call.inputs[0].shape)
    width = shape[-1] if isinstance(place.call.op, LayerNorm) else shape[1] if len(shape) > 1 else None
    if not isinstance(width, int):
        return
    for given in (*node.args[1:], *(word.value for word in node.keywords)):
        for made in made_for(place, given):
            sizes = [each for each in made.args if number(each) is not None]
            if len(sizes) == len(made.args) == 1 and number(sizes[0]) != width:
                yield resized(place, sizes[0], width)


def made_for(place: Place, read: ast.expr) -> Iterator[ast.Call]:
    """The one call that makes the tensor under a name or attribute: `torch.zeros(10)` in
    `self.w = nn.Parameter(torch.zeros(10))`."""
    text = place.text(read) if isinstance(read, (ast.Name, ast.Attribute)) else ""
    values = [
        each.value
        for each in ast.walk(place.source.tree)
        if isinstance(each, ast.Assign) and [place.text(target) for target in each.targets] == [text]
    ]
    if not text or len(values) != 1:
        return
    for each in ast.walk(values[0]):
        if isinstance(each, ast.Call) and getattr(each.func, "attr", "") in CREATED:
            yield each


def shortcut_with_stride(place: Place) -> Iterator[Offer]:
    """A block whose shortcut has a stride, but is only made where the widths differ: `stride != 1 or` before that."""
    line = place.call.site.line if place.call.site is not None else 0
    block = next((each for each in classes(place) if each.lineno <= line <= (each.end_lineno or 0)), None)
    if not isinstance(place.call.op, Broadcast) or block is None:
        return
    for each in ast.walk(block):
        if not isinstance(each, ast.If) or not isinstance(each.test, ast.Compare):
            continue
        if len(each.test.ops) != 1 or not isinstance(each.test.ops[0], ast.NotEq):
            continue
        strides = {
            place.text(word.value)
            for inner in each.body
            for call in ast.walk(inner)
            if isinstance(call, ast.Call)
            for word in call.keywords
            if word.arg in ("stride", "strides") and isinstance(word.value, ast.Name)
        }
        test = place.text(each.test)
        if len(strides) == 1 and test:
            text = f"{strides.pop()} != 1 or {test}"
            yield f"write {text}", (place.instead(each.test, text),)


def cut_mask(place: Place) -> Iterator[Offer]:
    """A triangular mask for the longest sequence, cut to the scores that it is for."""
    node = place.node(place.call.site)
    if place.call.op.kind != "masked_fill" or len(place.call.inputs) != 2 or node is None or not node.args:
        return
    scores, mask = (sizes_of(each.shape)[-2:] for each in place.call.inputs)
    larger = [isinstance(a, int) and isinstance(b, int) and a < b for a, b in zip(scores, mask, strict=False)]
    score = node.func.value if isinstance(node.func, ast.Attribute) else None
    if larger != [True, True] or not isinstance(score, ast.Name):
        return
    for each in ast.walk(node.args[0]):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and is_triangular(place, each.attr):
            edit = place.behind(each, f"[:{score.id}.size(-2), :{score.id}.size(-1)]")
            if edit is not None:
                yield f"write {edit.text}", (edit,)


def is_triangular(place: Place, name: str) -> bool:
    """Whether an attribute of this name is made by `tril` or `triu`, in the one place that makes it."""
    found: list[ast.expr] = []
    for each in ast.walk(place.source.tree):
        if isinstance(each, ast.Assign) and any(getattr(target, "attr", "") == name for target in each.targets):
            found.append(each.value)
        elif isinstance(each, ast.Call) and getattr(each.func, "attr", "") == "register_buffer" and len(each.args) > 1:
            found += [each.args[1]] if getattr(each.args[0], "value", None) == name else []
    calls = [
        getattr(each.func, "attr", "") for value in found for each in ast.walk(value) if isinstance(each, ast.Call)
    ]
    return len(found) == 1 and any(call in ("tril", "triu") for call in calls)


def length_of_mask(place: Place) -> Iterator[Offer]:
    """A mask of attention that is made in the size of another axis: `n = x.size(1)` for `x.size(0)`."""
    node = place.node(place.call.site)
    mask = keyword(node, "attn_mask", "mask") if node is not None else None
    function = around(place, node) if node is not None else None
    if function is None or not isinstance(mask, ast.Name) or not isinstance(place.call.op, Broadcast):
        return
    wanted = {mask.id}
    for each in reversed([one for one in ast.walk(function) if isinstance(one, ast.Assign)]):
        if not any(isinstance(target, ast.Name) and target.id in wanted for target in each.targets):
            continue
        at = axis_read(each.value)
        for axis in range(MOST_AXES) if at is not None else ():
            if at is not None and axis != number(at):
                yield f"read axis {axis} instead of {number(at)}", (place.instead(at, str(axis)),)
        wanted |= {one.id for one in ast.walk(each.value) if isinstance(one, ast.Name)}


def loss_of_targets(place: Place) -> Iterator[Offer]:
    """The loss for numbers of classes where the targets are such, and the one for a row of each sample's where they are
    rows; it is named once in the file."""
    kind = place.call.op.kind
    if kind not in (CATEGORICAL, SPARSE) or len(place.call.inputs) != 2:
        return
    scores, targets = (tuple(sizes_of(each.shape)) for each in place.call.inputs)
    rows = targets == scores
    other = CATEGORICAL if kind == SPARSE and rows else SPARSE if kind == CATEGORICAL and not rows else None
    named = [each for each in ast.walk(place.source.tree) if isinstance(each, ast.Constant) and each.value == kind]
    if other is None or len(named) != 1 or (other == SPARSE and targets not in (scores[:-1], (*scores[:-1], 1))):
        return
    text = place.text(named[0])
    yield f"write {other} instead of {kind}", (place.instead(named[0], text.replace(kind, other)),)


def padded(place: Place) -> Iterator[Offer]:
    """`padding="same"` for a convolution on the way to a loss whose targets have the size of the model's input."""
    if not isinstance(place.call.op, Loss) or len(place.call.inputs) != 2 or methods(place):
        return
    targets = sizes_of(place.call.inputs[1].shape)
    call, seen = maker_of(place.call.inputs[0]), []
    while call is not None:
        seen.append(call)
        tensor: Tensor | None = call.inputs[0] if len(call.inputs) == 1 else None
        if tensor is not None and tensor.call is None and sizes_of(tensor.shape)[1:-1] == targets[1:-1]:
            break
        call = tensor.call if tensor is not None else None
    for each in seen if call is not None else ():
        node = place.layer(each)
        if isinstance(each.op, Convolution) and node is not None and any(side != 1 for side in each.op.kernel):
            yield 'write padding="same"', (place.with_keyword(node, "padding", '"same"'),)


def resized(place: Place, literal: ast.expr, size: int) -> Offer:
    return f"write {size} instead of {place.text(literal)}", (place.instead(literal, str(size)),)


def methods(place: Place) -> bool:
    return frameworks.named(place.model.framework).tensor_methods
