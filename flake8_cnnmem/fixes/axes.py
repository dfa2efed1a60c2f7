"""Axes that are in another order, are missing, or are the wrong ones: what is written behind a tensor, or beside it.

Of the frameworks whose tensors have methods for it, unless it is an argument of the call itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from flake8_cnnmem import frameworks
from flake8_cnnmem.fixes.expressions import Offer
from flake8_cnnmem.fixes.literals import number
from flake8_cnnmem.fixes.operands import Place, keyword, sizes_of
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops import AttentionInputs, Broadcast, Concatenate, Loss, Matmul, Recurrent, RecurrentCell, Resize

AXIS = ("dim", "axis")


def joined_axis(place: Place) -> Iterator[Offer]:
    """A concatenation along another axis than the one in which its tensors differ."""
    op = place.call.op
    shapes = [sizes_of(tensor.shape) for tensor in place.call.inputs]
    if not isinstance(op, Concatenate) or len({len(shape) for shape in shapes}) != 1:
        return
    differing = [at for at, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    node = place.layer(place.call) or place.node(place.call.site)
    if len(differing) != 1 or node is None:
        return
    last = frameworks.named(place.model.framework).channels_last and differing[0] == len(shapes[0]) - 1
    axis = "-1" if last else str(differing[0])
    written = keyword(node, *AXIS) or next(
        (each for each in node.args[1:2] if isinstance(each, (ast.Constant, ast.UnaryOp))), None
    )
    edit = place.instead(written, axis) if written is not None else None
    if edit is None and not last and len(node.args) == 1:
        edit = place.with_keyword(node, "dim", axis)
    if edit is not None:
        yield f"join along axis {axis}", (edit,)


def other_order(place: Place) -> Iterator[Offer]:
    """Where another axis of the input has the declared size: that one in the place of the one that is read."""
    at, operands = place.problem.problem.elsewhere, place.operands()
    if at is None or len(operands) != 1 or not with_methods(place):
        return
    shape = sizes_of(place.call.inputs[0].shape)
    if len(shape) == 3:
        orders = [".transpose(1, 2)"]
    elif len(shape) == 4:
        orders = [".permute(0, 2, 3, 1)"] if at == 1 else [".permute(0, 3, 1, 2)"] if at == 3 else []
    else:
        orders = []
    yield from written_behind(place, operands[0], orders)


def transposed_factor(place: Place) -> Iterator[Offer]:
    """A matrix product one of whose factors is to be transposed."""
    operands = place.operands()
    if not isinstance(place.call.op, Matmul) or len(operands) != 2 or not with_methods(place):
        return
    for operand, tensor in zip(operands, place.call.inputs, strict=True):
        rank = len(sizes_of(tensor.shape))
        yield from written_behind(place, operand, [".t()"] if rank == 2 else [".transpose(-2, -1)"] if rank > 2 else [])


def broadcast_axes(place: Place) -> Iterator[Offer]:
    """A vector for each sample that scales or shifts a map: `s[:, :, None, None]`."""
    operands = place.operands()
    if not isinstance(place.call.op, Broadcast) or len(operands) != 2 or not with_methods(place):
        return
    shapes = [sizes_of(tensor.shape) for tensor in place.call.inputs]
    for at in (0, 1):
        vector, whole = shapes[at], shapes[1 - at]
        if len(vector) == 2 < len(whole) and tuple(vector) == tuple(whole[:2]):
            more = ", None" * (len(whole) - 2)
            yield from written_behind(place, operands[at], [f"[:, :{more}]"])


def one_for_each(place: Place) -> Iterator[Offer]:
    """A parameter for one sample that meets a batch: `token.expand(x.size(0), -1, -1)`."""
    if not isinstance(place.call.op, (Concatenate, Matmul, AttentionInputs, RecurrentCell)) or not with_methods(place):
        return
    operands, inputs = place.operands(), place.call.inputs
    if len(operands) != len(inputs):
        return
    for operand, tensor in zip(operands, inputs, strict=True):
        shape = sizes_of(tensor.shape)
        if not is_parameter(tensor) or not shape or shape[0] != 1:
            continue
        for other, beside in zip(operands, inputs, strict=True):
            sizes = sizes_of(beside.shape)
            if isinstance(other, ast.Name) and sizes and sizes[0] != 1 and not is_parameter(beside):
                rest = ", -1" * (len(shape) - 1)
                yield from written_behind(place, operand, [f".expand({other.id}.size(0){rest})"])
                break


def is_parameter(tensor: Tensor) -> bool:
    return isinstance(tensor, Weight) or (tensor.call is None and tensor.requires_grad)


def target_axes(place: Place) -> Iterator[Offer]:
    """Targets with an axis of one too many or too few, and scores whose classes are the last axis."""
    op, operands = place.call.op, place.operands()
    if not isinstance(op, Loss) or len(operands) < 2 or not with_methods(place):
        return
    scores, target = (sizes_of(tensor.shape) for tensor in place.call.inputs[:2])
    classes = op.kind in ("cross_entropy", "nll")
    if classes and len(target) > 1 and target[-1] == 1 and tuple(target[:-1]) == (scores[0], *scores[2:]):
        yield from written_behind(place, operands[1], [f".squeeze({len(target) - 1})"])
    if not classes and tuple(scores) == (*target, 1):
        yield from written_behind(place, operands[1], [f".unsqueeze({len(target)})"])
    if classes and len(scores) > 2 and tuple(target) == tuple(scores[:-1]):
        order = ", ".join(map(str, (0, len(scores) - 1, *range(1, len(scores) - 1))))
        more = ".transpose(1, 2)" if len(scores) == 3 else f".permute({order})"
        yield from written_behind(place, operands[0], [more])


def resized_to(place: Place) -> Iterator[Offer]:
    """A map that is resized by a factor beside one of an odd size: `size=a.shape[-2:]`."""
    operands = place.operands()
    if not isinstance(place.call.op, (Broadcast, Concatenate)) or len(operands) != 2 or not with_methods(place):
        return
    for at in (0, 1):
        resized, other = place.call.inputs[at].call, operands[1 - at]
        node = operands[at]
        if resized is None or not isinstance(resized.op, Resize) or not isinstance(node, ast.Call):
            continue
        word = next((each for each in node.keywords if each.arg == "scale_factor"), None)
        if word is not None and isinstance(other, ast.Name) and word.lineno == word.end_lineno:
            rank = len(sizes_of(place.call.inputs[at].shape)) - 2
            value = place.instead(word.value, f"{other.id}.shape[-{rank}:]")
            begin = value.column - len("scale_factor=")
            if place.lines[value.line - 1][begin - 1 : value.column - 1] == "scale_factor=":
                edit = type(value)(value.line, begin, value.end_line, value.end_column, f"size={value.text}")
                yield f"resize to the size of {other.id}", (edit,)


CREATED = ("zeros", "ones", "randn", "rand", "empty", "new_zeros", "new_ones", "full")
MOST_AXES = 3


def state_sizes(place: Place) -> Iterator[Offer]:
    """A first state of another size: in the call that makes it two sizes in the other order, another number, or the
    size of another axis."""
    node = place.node(place.call.site)
    if not isinstance(place.call.op, (Recurrent, RecurrentCell)) or node is None:
        return
    expected = next((sizes_of(each.shape) for each in place.call.inputs[:1]), ())
    names = {each.id for argument in node.args[1:] for each in ast.walk(argument) if isinstance(each, ast.Name)}
    made = [
        each.value
        for each in ast.walk(place.source.tree)
        if isinstance(each, ast.Assign)
        and isinstance(each.value, ast.Call)
        and getattr(each.value.func, "attr", "") in CREATED
        and any(isinstance(target, ast.Name) and target.id in names for target in each.targets)
    ]
    if len(made) != 1 or not expected:
        return
    sizes = [each for each in made[0].args if not isinstance(each, ast.Starred)]
    for left, right in pairwise(sizes):
        texts = place.text(left), place.text(right)
        if all(texts) and texts[0] != texts[1]:
            edits = place.instead(left, texts[1]), place.instead(right, texts[0])
            yield f"write {texts[1]}, {texts[0]} instead of {texts[0]}, {texts[1]}", edits
    for each in sizes:
        size = number(each)
        if size in (1, 2):
            yield f"write {3 - size} instead of {size}", (place.instead(each, str(3 - size)),)
        at = axis_read(each)
        for axis in range(MOST_AXES) if at is not None else ():
            if at is not None and axis != number(at):
                yield f"read axis {axis} instead of {number(at)}", (place.instead(at, str(axis)),)


def axis_read(node: ast.expr) -> ast.expr | None:
    """The axis in `x.size(1)` and `x.shape[1]`."""
    at: ast.expr | None = None
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "size" and len(node.args) == 1:
        at = node.args[0]
    elif isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape":
        at = node.slice
    return at if at is not None and number(at) is not None else None


def with_methods(place: Place) -> bool:
    return frameworks.named(place.model.framework).tensor_methods


def written_behind(place: Place, operand: ast.expr, endings: list[str]) -> Iterator[Offer]:
    for ending in endings:
        edit = place.behind(operand, ending)
        if edit is not None:
            yield f"write {edit.text}", (edit,)
