"""Where values are stored: names, attributes, subscripts, unpacking; augmented assignment and `del`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.expressions import compile_key
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Code
from flake8_cnnmem.evaluate.private import as_stored, is_private, spelled_out
from flake8_cnnmem.graph import Problem, Tensor
from flake8_cnnmem.ops import Chunk, Split
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

Store = Callable[[Frame, Value], None]


def compile_target(compiler: Compiler, node: Any) -> Store:
    """A function that stores a value where this expression says."""
    if isinstance(node, cst.Name):
        word = node.value
        if is_private(word):
            return lambda frame, value: frame.store(as_stored(frame, word), value)
        return lambda frame, value: frame.store(word, value)
    if isinstance(node, cst.Attribute):
        return attribute_target(compiler, node)
    if isinstance(node, cst.Subscript):
        return subscript_target(compiler, node)
    if isinstance(node, (cst.Tuple, cst.List)):
        return unpacking_target(compiler, node)
    if isinstance(node, cst.StarredElement):
        return compile_target(compiler, node.value)
    return lambda frame, value: None


def attribute_target(compiler: Compiler, node: cst.Attribute) -> Store:
    """Code that stores a value as an attribute."""
    base = compiler.expression(node.value)
    word = node.attr.value
    if is_private(word):
        return lambda frame, value: frame.run.set(base(frame), spelled_out(frame, word), value)
    if isinstance(node.value, cst.Attribute) and not is_private(node.value.attr.value):
        return on_attribute(compiler.expression(node.value.value), node.value.attr.value, word)
    return lambda frame, value: frame.run.set(base(frame), word, value)


def on_attribute(owner: Code, through: str, word: str) -> Store:
    """Code that stores `owner.through.word`: nothing where each `through` of a tensor is a tensor of its own."""

    def store(frame: Frame, value: Value) -> None:
        held = owner(frame)
        if not isinstance(held, Tensor) or through not in frameworks.of(held).made_anew:
            frame.run.set(frame.run.get(held, through), word, value)

    return store


def subscript_target(compiler: Compiler, node: cst.Subscript) -> Store:
    """Code that stores a value as an item."""
    base = compiler.expression(node.value)
    key = compile_key(compiler, node.slice)
    rebind = rebinding(compiler, node.value)

    def store(frame: Frame, value: Value) -> None:
        container = base(frame)
        result = frame.run.set_index(container, key(frame), value)
        if isinstance(container, Tensor) and rebind is not None and result is not container:
            rebind(frame, result)

    return store


def rebinding(compiler: Compiler, node: cst.BaseExpression) -> Store | None:
    """How `x[...] = y` and `x.add_(y)` give the name x the new tensor: tensors themselves never change."""
    if isinstance(node, cst.Name):
        word = node.value
        return lambda frame, value: frame.store(word, value)
    if isinstance(node, cst.Attribute) and isinstance(node.value, cst.Name):
        owner, word = node.value.value, node.attr.value
        private = is_private(word)

        def store(frame: Frame, value: Value) -> None:
            holder = frame.variables.get(owner)
            if holder is not None and not isinstance(holder, (Tensor, Unknown)):
                frame.run.set(holder, spelled_out(frame, word) if private else word, value)

        return store
    return None


def is_taken_apart(items: list[Value]) -> bool:
    """Whether these are all parts of one tensor, along an axis of known size."""
    calls = {id(each.call) if isinstance(each, Tensor) else 0 for each in items}
    first = items[0].call if items and isinstance(items[0], Tensor) else None
    parts = first is not None and isinstance(first.op, (Chunk, Split)) and len(first.outputs) == len(items)
    return parts and calls == {id(first)}


def is_taken(items: list[Value] | Unknown) -> bool:
    """Whether they are parts of one tensor, which are told of more closely."""
    return not isinstance(items, Unknown) and is_taken_apart(items)


def has_parts(tensor: Tensor, count: int) -> bool:
    """Whether a tensor may have so many parts along its first axis, whatever the batch size is."""
    first = tensor.shape[0] if isinstance(tensor.shape, tuple) and tensor.shape else None
    if isinstance(first, Batch):
        return count % first.multiple == 0
    return not isinstance(first, int) or first == count


def show_first(tensor: Tensor) -> str:
    """The first size of a tensor, for a message."""
    return str(tensor.shape[0]) if isinstance(tensor.shape, tuple) else ""


def refused_parts(frame: Frame, items: list[Value], parts: str, count: int) -> list[Value]:
    """As many parts as are asked for, of a tensor that has another number of them: that is said of its sizes."""
    first = items[0]
    assert isinstance(first, Tensor)
    what = f"gives {parts} parts, but is unpacked to {count}"
    problem = Problem("CNM201", what, error="ValueError")
    name, framework = (first.call.function or first.call.op.kind) if first.call is not None else "", first.framework
    part = frame.run.apply(Refused(problem), first, function=name, framework=framework)
    return [part, *items[1:count], *[part] * (count - len(items))]


def unpacking_target(compiler: Compiler, node: cst.Tuple | cst.List) -> Store:
    """Code that shares the items of a value out to several targets, a starred one among them or not."""
    stores = [compile_target(compiler, element.value) for element in node.elements]
    star = next((at for at, element in enumerate(node.elements) if isinstance(element, cst.StarredElement)), None)
    count = len(stores)

    def store(frame: Frame, value: Value) -> None:
        run = frame.run
        items = run.items(value)
        if star is None and isinstance(value, Tensor) and not has_parts(value, count) and not is_taken(items):
            items = refused_parts(frame, [value], show_first(value), count)
        if isinstance(items, Unknown):
            for each in stores:
                each(frame, items)
            return
        if star is None:
            if len(items) != count and is_taken_apart(items):
                items = refused_parts(frame, items, str(len(items)), count)
            if len(items) != count:
                few = "not enough" if len(items) < count else "too many"
                raise run.error("ValueError", f"{few} values to unpack (expected {count})")
            for each, item in zip(stores, items, strict=True):
                each(frame, item)
            return
        after = count - star - 1
        if len(items) < count - 1:
            raise run.error("ValueError", f"not enough values to unpack (expected at least {count - 1})")
        for each, item in zip(stores[:star], items[:star], strict=True):
            each(frame, item)
        stores[star](frame, items[star : len(items) - after])
        for each, item in zip(stores[star + 1 :], items[len(items) - after :], strict=True):
            each(frame, item)

    return store


def compile_augmented(compiler: Compiler, node: cst.AugAssign) -> Code:
    """Code for `target op= value`: the target is evaluated once, and written to in place where it can be."""
    target: Any = node.target
    symbol = AUGMENTED[type(node.operator)]
    value = compiler.expression(node.value)
    if isinstance(target, cst.Name):
        load = compiler.expression(target)
        word = target.value

        def to_name(frame: Frame) -> None:
            frame.store(as_stored(frame, word), in_place(frame, symbol, load(frame), value(frame)))

        return to_name
    if isinstance(target, cst.Attribute):
        base = compiler.expression(target.value)
        written = target.attr.value
        private = is_private(written)

        def to_attribute(frame: Frame) -> None:
            run = frame.run
            owner = base(frame)
            attribute = spelled_out(frame, written) if private else written
            run.set(owner, attribute, in_place(frame, symbol, run.get(owner, attribute), value(frame)))

        return to_attribute
    container = compiler.expression(target.value)
    key = compile_key(compiler, target.slice)
    rebind = rebinding(compiler, target.value)

    def to_item(frame: Frame) -> None:
        run = frame.run
        owner, at = container(frame), key(frame)
        result = run.set_index(owner, at, in_place(frame, symbol, run.index(owner, at), value(frame)))
        if isinstance(owner, Tensor) and rebind is not None:
            rebind(frame, result)

    return to_item


def in_place(frame: Frame, symbol: str, old: Value, value: Value) -> Value:
    """`a += b` and its like. In Python 2 dividing whole numbers gives a whole number."""
    floors = symbol == "/" and type(old) is int and type(value) is int and frame.module.source.floors
    return frame.run.operate_in_place("//" if floors else symbol, old, value)


AUGMENTED: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//", cst.ModuloAssign: "%", cst.PowerAssign: "**", cst.MatrixMultiplyAssign: "@",
    cst.BitAndAssign: "&", cst.BitOrAssign: "|", cst.BitXorAssign: "^", cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
}  # fmt: skip


def compile_deletion(compiler: Compiler, node: Any) -> Code:
    """Code for `del` of a name, an attribute, an item, or several of them."""
    if isinstance(node, cst.Name):
        word = node.value
        return lambda frame: frame.discard(as_stored(frame, word))
    if isinstance(node, cst.Attribute):
        base = compiler.expression(node.value)
        attribute = node.attr.value
        if is_private(attribute):
            return lambda frame: frame.run.delete(base(frame), spelled_out(frame, attribute))
        return lambda frame: frame.run.delete(base(frame), attribute)
    if isinstance(node, cst.Subscript):
        container = compiler.expression(node.value)
        key = compile_key(compiler, node.slice)
        return lambda frame: frame.run.delete_index(container(frame), key(frame))
    parts = [compile_deletion(compiler, element.value) for element in getattr(node, "elements", ())]

    def several(frame: Frame) -> None:
        for part in parts:
            part(frame)

    return several
