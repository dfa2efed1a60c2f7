"""What a layer is to be told, or is to have in front of it: `return_sequences=True`, `batch_first=True`, a stride, a
flattened input, an axis for the channels."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flake8_cnnmem import frameworks
from flake8_cnnmem.fixes.expressions import Offer
from flake8_cnnmem.fixes.operands import Place, keyword, sizes_of
from flake8_cnnmem.graph import Call
from flake8_cnnmem.line_to_change import maker_of
from flake8_cnnmem.ops import AttentionInputs, Broadcast, Concatenate, Convolution, Loss, Recurrent
from flake8_cnnmem.text.edits import Edit

SEQUENCES = "return_sequences"
STRIDES = ("strides", "stride")


def every_step(place: Place) -> Iterator[Offer]:
    """`return_sequences=True` for the recurrent layer before one that wants a value for each step. Where the second one
    gives sequences itself, it may be a decoder that is to get the one code at each step."""
    own = place.layer(place.call)
    if SEQUENCES not in place.problem.problem.advice or own is None or is_true(keyword(own, SEQUENCES)):
        return
    at = place.call.inputs[0].call
    while at is not None and not isinstance(at.op, Recurrent):
        at = at.inputs[0].call if at.inputs else None
    for invocation in at.ancestry() if at is not None else ():
        node = place.node(getattr(invocation.layer, "site", None))
        inner = inner_layer(node)
        if inner is not None:
            yield f"add {SEQUENCES}=True", (place.with_keyword(inner, SEQUENCES, "True"),)
            return


def inner_layer(node: ast.Call | None) -> ast.Call | None:
    """The layer's own construction in that of a wrapper around it."""
    while node is not None and node.args and isinstance(node.args[0], ast.Call):
        node = node.args[0]
    return node


def is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def batch_first(place: Place) -> Iterator[Offer]:
    """`batch_first=True` for a layer that is given the batch in front."""
    node, op = place.layer(place.call), place.call.op
    if isinstance(op, (AttentionInputs, Recurrent)) and op.batch_first is False and node is not None:
        yield "add batch_first=True", (place.with_keyword(node, "batch_first", "True"),)


def flattened(place: Place) -> Iterator[Offer]:
    """The input of a layer as one axis: in a container a layer for it, in a `forward` a method."""
    if "flattened first" not in place.problem.problem.advice:
        return
    node = place.layer(place.call)
    container = holder(place, node) if node is not None else None
    if node is not None and container is not None and isinstance(node.func, ast.Attribute):
        whole = place.instead(node, "")
        before = place.lines[whole.line - 1][: whole.column - 1]
        gap = f",\n{before}" if not before.strip() else ", "
        text = f"{ast.unparse(node.func.value)}.Flatten(){gap}"
        yield "flatten before it", (Edit(whole.line, whole.column, whole.line, whole.column, text),)
        return
    operands = place.operands()
    if len(operands) == 1 and frameworks.named(place.model.framework).tensor_methods:
        edit = place.behind(operands[0], ".flatten(1)")
        if edit is not None:
            yield f"write {edit.text}", (edit,)


def holder(place: Place, node: ast.Call) -> ast.AST | None:
    """The call that a layer's construction is an argument of, on its own or in a list: a container."""
    for each in ast.walk(place.source.tree):
        if isinstance(each, ast.Call):
            listed = [one for one in each.args if isinstance(one, (ast.List, ast.Tuple))]
            if any(one is node for one in each.args) or any(one is node for held in listed for one in held.elts):
                return each
    return None


def channel_axis(place: Place) -> Iterator[Offer]:
    """`(28, 28, 1)` for an `Input` of `(28, 28)`, where a layer wants an axis for the channels."""
    tensor = place.call.inputs[0] if place.call.inputs else None
    if "with a channel axis" not in place.problem.problem.advice or tensor is None or tensor.call is not None:
        return
    sizes = list(sizes_of(tensor.shape)[1:])
    found = [
        shape
        for each in ast.walk(place.source.tree)
        if isinstance(each, ast.Call)
        for shape in (*each.args, *(word.value for word in each.keywords if word.arg in ("shape", "input_shape")))
        if isinstance(shape, ast.Tuple) and [getattr(size, "value", None) for size in shape.elts] == sizes
    ]
    if len(found) == 1 and place.text(found[0]):
        inner = place.text(found[0]).rstrip(") ").rstrip(", ")
        edit = place.instead(found[0], f"{inner}, 1)")
        yield f"write {edit.text} instead of {place.text(found[0])}", (edit,)


def stride_of_shortcut(place: Place) -> Iterator[Offer]:
    """The stride of the other branch for a 1x1 convolution that brings a block's input to its output's width."""
    if not isinstance(place.call.op, Broadcast) or len(place.call.inputs) != 2:
        return
    for at in (0, 1):
        shortcut, main = place.call.inputs[at].call, place.call.inputs[1 - at].call
        node = place.layer(shortcut) if shortcut is not None else None
        if shortcut is None or node is None or not is_pointwise(shortcut) or keyword(node, *STRIDES) is not None:
            continue
        name = STRIDES[0] if frameworks.named(place.model.framework).channels_last else STRIDES[1]
        for stride in strides_on_the_way(place, main):
            text = place.text(stride)
            if text:
                yield f"add {name}={text}", (place.with_keyword(node, name, text),)
                return


def is_pointwise(call: Call) -> bool:
    op = call.op
    return isinstance(op, Convolution) and all(side == 1 for side in op.kernel) and all(step == 1 for step in op.stride)


def strides_on_the_way(place: Place, call: Call | None) -> Iterator[ast.expr]:
    """The strides that convolutions behind a call are given, the last one first."""
    while call is not None and call.inputs:
        node, op = place.layer(call), call.op
        if node is not None and isinstance(op, Convolution) and any(step != 1 for step in op.stride):
            written = keyword(node, *STRIDES)
            positional = 2 if frameworks.named(place.model.framework).channels_last else 3
            if written is None and len(node.args) > positional:
                written = node.args[positional]
            if written is not None:
                yield written
        call = call.inputs[0].call if len(call.inputs) == 1 else None


def output_padding(place: Place) -> Iterator[Offer]:
    """`output_padding` for a transposed convolution whose map lacks less than a stride of the one that it meets: from
    two sizes a strided convolution makes the same one, and this says which of them is to come back."""
    if not isinstance(place.call.op, (Broadcast, Concatenate, Loss)) or len(place.call.inputs) != 2:
        return
    for at in (0, 1):
        maker = maker_of(place.call.inputs[at])
        own, other = (sizes_of(place.call.inputs[each].shape) for each in (at, 1 - at))
        if maker is None or not isinstance(maker.op, Convolution) or not maker.op.transposed or len(own) != len(other):
            continue
        node, sides = place.layer(maker), len(maker.op.stride)
        first = 1 if frameworks.named(place.model.framework).channels_last else len(own) - sides
        lacking = {
            wanted - size
            for size, wanted in zip(own[first : first + sides], other[first : first + sides], strict=True)
            if isinstance(size, int) and isinstance(wanted, int)
        }
        if node is None or keyword(node, "output_padding") is not None or len(lacking) != 1:
            continue
        [rest] = lacking
        if all(isinstance(stride, int) and 0 < rest < stride for stride in maker.op.stride):
            yield f"add output_padding={rest}", (place.with_keyword(node, "output_padding", str(rest)),)
