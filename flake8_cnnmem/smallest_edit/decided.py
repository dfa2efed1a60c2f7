"""The lines in which the sizes that do not fit were decided: what a message names beside the place that it stands at.

Of two sizes that meet either one may be the wrong one, and often no text says which. Each is followed back: through the
ops that keep it to the layer, the op or the tensor that gave it, and from there through the arguments of the blocks
around to the line in which its number is written. Who reads the message then has all lines before them that decide.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from flake8_cnnmem.dims import show
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.graph import Call, Site, Tensor, Weight, calls_behind
from flake8_cnnmem.line_to_change.case import decider, declares, differing, halved, sizes_of, unviewed
from flake8_cnnmem.line_to_change.operands import summed_axes
from flake8_cnnmem.ops import Flatten, Loss, Matmul, Reshape
from flake8_cnnmem.ops.merge import Broadcast, Concatenate, Stack
from flake8_cnnmem.ops.products import Einsum
from flake8_cnnmem.results import LayerProblem
from flake8_cnnmem.smallest_edit.data import prepared
from flake8_cnnmem.smallest_edit.handed_on import given_to, lines_written
from flake8_cnnmem.smallest_edit.numbers import SIZED
from flake8_cnnmem.smallest_edit.scene import Scene, called, inside
from flake8_cnnmem.text.lines import in_words
from flake8_cnnmem.values import Instance

MOST_LINES = 3
"""Lines that one message names."""

Said = tuple[str, int]
"""A size, and the line that decides it."""


def in_a_sentence(scene: Scene, problem: LayerProblem) -> str:
    """`128 comes from line 42, 96 from line 44 and line 51`: the lines that decide the sizes of a problem, without
    those that its message names already."""
    message, place = problem.message, problem.place.line
    by_size: dict[str, list[str]] = {}
    for said, line in Decisions(scene, problem).found():
        words = in_words(line)
        if line == place or re.search(rf"\b{re.escape(words)}\b", message):
            continue
        if sum(map(len, by_size.values())) < MOST_LINES:
            by_size.setdefault(said, []).append(words)
    parts: list[str] = []
    for said, lines in by_size.items():
        verb = MADE.get(said, "" if any(" comes from " in each for each in parts) else "comes from")
        parts.append(" ".join(filter(None, (said, verb or "from", " and ".join(lines)))))
    return ", ".join(parts)


BLOCK, INPUT, DATA = "its block", "the input", "what it is given"
MADE = {BLOCK: "is built in", INPUT: "is made in", DATA: "is made in"}
"""What is said of what is no size."""


class Decisions:
    """Of one problem the sizes that meet, and the lines that decide them."""

    def __init__(self, scene: Scene, problem: LayerProblem) -> None:
        assert problem.call is not None
        self.scene = scene
        self.call = problem.call
        self.problem = problem.problem
        self.of_input = "input of line" in problem.context

    def found(self) -> list[Said]:
        """What decides each of the sizes that do not fit: of each first one line, then another."""
        found: dict[int, str] = {}
        sides = [list(dict.fromkeys(side)) for side in self.sides()]
        for at in range(max(map(len, sides), default=0)):
            for said, line in (side[at] for side in sides if at < len(side)):
                found.setdefault(line, said)
        for said, line in (*self.block_around(), *(self.of_data() if self.of_input else ())):
            found.setdefault(line, said)
        return [(said, line) for line, said in found.items() if line]

    def sides(self) -> Iterator[Iterator[Said]]:
        """For each of the sizes that meet the lines that decide it."""
        call, problem = self.call, self.problem
        given = [each for each in call.inputs if sizes_of(each)]
        handed = list(prepared(self.scene, problem)) if problem.what.startswith("takes samples") else []
        if handed:
            yield iter([(DATA, each.lineno) for each in handed[:2]])
        if len(given) > 1 and (isinstance(call.op, MEETING) or not (call.weights and problem.declared is not None)):
            one, other = self.pair_of(given)
            axes = self.axes_of(one, other)
            for each, axis in zip((one, other), axes, strict=True):
                yield self.of_tensor(each, axis)
            yield self.way_without_stride(one, other, axes[0])
        else:
            for each in given[:1]:
                axis = self.side_of(each) if problem.code == "CNM202" else axis_of(each, problem.given)
                yield self.of_values(each) if isinstance(call.op, Reshape) else self.of_tensor(each, axis)
            numbers = [each for each in (problem.declared, problem.given) if each]
            if call.weights or call.within is not None:
                yield self.of_construction(call, numbers[:1] or [0])
            if isinstance(call.op, Reshape):
                yield self.of_numbers()

    def axes_of(self, one: Tensor, other: Tensor) -> tuple[int | None, int | None]:
        """The axis of each of two tensors along which they do not go together, counted from the last; None where they
        differ in their number of axes."""
        mine, its = sizes_of(one), sizes_of(other)
        summed = summed_axes(self.call) if isinstance(self.call.op, (Matmul, Einsum)) else None
        if summed is not None:
            return summed
        if len(mine) == len(its):
            axes = self.apart(one, other)
            return (axes[0], axes[0]) if axes else (None, None)
        if isinstance(self.call.op, Loss) and len(mine) == len(its) + 1:
            # The classes stand along an axis of their own.
            at = len(mine) - 1 if self.scene.channels_last else 1
            rest = (*mine[:at], *mine[at + 1 :])
            apart = [n for n, (a, b) in enumerate(zip(rest, its, strict=True)) if a != b]
            if apart:
                n = apart[0]
                return (n + (n >= at) - len(mine), n - len(its))
        return None, None

    def pair_of(self, given: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """The two operands that do not go together: of several the one that is unlike the first."""
        first = given[0]
        for each in given[1:]:
            if len(sizes_of(each)) != len(sizes_of(first)) or self.apart(first, each):
                return first, each
        return first, given[1]

    def apart(self, one: Tensor, other: Tensor) -> list[int]:
        """The axes, counted from the last, in which two tensors differ: not the one along which they are joined."""
        op, rank = self.call.op, len(sizes_of(one))
        joined = op.axis if isinstance(op, Concatenate) and isinstance(op.axis, int) else None
        return [each for each in differing(one, other) if joined is None or each % rank != joined % rank]

    def of_tensor(self, tensor: Tensor, axis: int | None) -> Iterator[Said]:
        """The lines that gave an axis of a tensor its size; without an axis, those that gave it its axes."""
        if axis is None:
            said = shown(tensor)
            lines = [*call_lines(self.scene, tensor.call), *self.named(self.call, tensor)]
            lines += [*call_lines(self.scene, last_change(tensor, len)), *forward_lines(self.scene, tensor.call)]
            lines += call_lines(self.scene, last_change(tensor, tuple))
            yield from ((said, line) for line in lines)
            if tensor.call is None or unviewed(tensor).call is None:
                yield from self.of_leaf(unviewed(tensor), None, self.call)
            return
        size = sizes_of(tensor)[axis]
        maker = decider(tensor, axis)
        if maker is None:
            yield from ((str(size), line) for line in self.named(self.call, tensor))
            leaf = leaf_behind(tensor, size)
            readers = [each for each in calls_behind((tensor,)) if any(one is leaf for one in each.inputs)]
            yield from self.of_leaf(leaf, size, readers[0] if readers else self.call)
        elif declares(maker, size) and isinstance(size, int):
            yield from self.of_construction(maker, [size])
            yield from ((str(size), line) for line in forward_lines(self.scene, maker))
        elif isinstance(maker.op, (Flatten, Reshape)) and maker.inputs:
            yield from self.before_flattening(maker)
        else:
            for each in maker.inputs:
                if each.call is None and isinstance(each, Weight) and size in sizes_of(each):
                    yield from self.of_leaf(each, size, maker)
            lines = [*call_lines(self.scene, maker), *layer_lines(self.scene, maker), *forward_lines(self.scene, maker)]
            for each in maker.inputs[:1]:
                lines += self.named(maker, each)
            yield from ((str(size), line) for line in lines)
            if isinstance(maker.op, Concatenate):
                for each in maker.inputs[:2]:
                    if len(sizes_of(each)) >= -axis:
                        yield from self.of_tensor(each, axis)

    def way_without_stride(self, one: Tensor, other: Tensor, axis: int | None) -> Iterator[Said]:
        """Of two ways that part and meet again, with sides of which one is half of the other: the first layer of the
        one that has not halved its sides."""
        alike = axis is not None and len(sizes_of(one)) == len(sizes_of(other))
        sizes = [sizes_of(each)[axis] for each in (one, other)] if alike and axis is not None else [None, None]
        if not halved(*sizes):
            return
        ways = (one, other) if sizes[0] > sizes[1] else (other, one)  # type: ignore[operator]
        apart = {id(each) for each in calls_behind((ways[1],))}
        own = [each for each in calls_behind((ways[0],)) if id(each) not in apart and each.weights]
        for each in own[:1]:
            yield from ((str(max(sizes)), node.lineno) for node, _ in constructions(self.scene, each)[:2])  # type: ignore[type-var]

    def side_of(self, tensor: Tensor) -> int | None:
        """The last side of maps of which a window leaves nothing."""
        return (-2 if self.scene.channels_last else -1) if len(sizes_of(tensor)) > SIDES else None

    def of_values(self, tensor: Tensor) -> Iterator[Said]:
        """What gave a tensor that is reshaped its features, and its sides."""
        shape = sizes_of(tensor)
        for axis in range(-1, -len(shape), -1):
            if shape[axis] != 1:
                yield from list(self.of_tensor(tensor, axis))[:2]
        yield from ((shown(tensor), line) for line in call_lines(self.scene, tensor.call))

    def before_flattening(self, call: Call) -> Iterator[Said]:
        """What gave the maps their channels and sides that a call has made one row of features of."""
        tensor, declared = call.inputs[0], self.problem.declared
        shape = sizes_of(tensor)
        at = -1 if self.scene.channels_last else 1 - len(shape)
        channels = shape[at] if len(shape) > 1 else None
        by_sides = isinstance(channels, int) and bool(declared and channels) and (declared or 0) % channels == 0
        sides = -2 if self.scene.channels_last else -1
        for axis in (sides, at) if by_sides else (at, sides):
            if len(shape) >= -axis:
                yield from self.of_tensor(tensor, axis)
        yield from ((shown(tensor), line) for line in call_lines(self.scene, call))
        yield from ((shown(tensor), line) for line in call_lines(self.scene, tensor.call))

    def of_construction(self, call: Call, sizes: Sequence[int]) -> Iterator[Said]:
        """Where the numbers are written that a layer is built with, seen from the layer outwards."""
        around = constructions(self.scene, call)
        for size in sizes:
            for at, (node, _) in enumerate(around):
                given = [each for each in given_to(node) if size in self.scene.every_number(each)]
                if given:
                    yield str(size), node.lineno
                    for each in given[:2]:
                        yield from (
                            (str(size), line) for line in lines_written(self.scene, each, size, around[at + 1 :])
                        )
                    break
            else:
                yield from ((str(size or "its size"), line) for line in layer_lines(self.scene, call))

    def of_leaf(self, leaf: Tensor, size: object, call: Call) -> Iterator[Said]:
        """Where a tensor is made that no op gave and that a call reads: a parameter, a target, the data that the model
        is fed with."""
        said = str(size) if size is not None else shown(leaf)
        site = leaf.site
        if not isinstance(site, StatementSite) or site.path != self.scene.path:
            yield from self.of_data(said, [leaf])
            return
        yield said, site.line
        for each in inside(site.node) if isinstance(size, int) else ():
            if isinstance(each, SIZED) and size in self.scene.every_number(each):
                lines = lines_written(self.scene, each, size, self.modules_around(call))
                yield from ((said, line) for line in lines)
                return

    def modules_around(self, call: Call) -> Sequence[tuple[ast.Call, Instance]]:
        """The constructions of the code's own modules around a call."""
        return [(node, layer) for node, layer in constructions(self.scene, call) if layer.cls.site is not None]

    def of_data(self, said: str = INPUT, leaves: Sequence[Tensor] = ()) -> Iterator[Said]:
        """The calls that make data of the shape that the model is fed with, its samples at least."""
        calls = [*calls_behind(self.call.inputs), self.call]
        fed = leaves or [each for call in calls for each in call.inputs if each.call is None]
        wanted = {sizes_of(each)[1:] for each in fed if len(sizes_of(each)) > 1}
        for place in self.scene.places:
            if place.role in ("data", "leaf") and isinstance(place.node, ast.Call):
                shape = self.scene.shape(place.node)
                if shape is not None and shape[1:] in wanted:
                    yield said, place.node.lineno

    def of_numbers(self) -> Iterator[Said]:
        """Where the sizes are written that a reshape is told."""
        site = self.call.site
        node = site.node if isinstance(site, StatementSite) and site.path == self.scene.path else None
        for each in inside(node) if node is not None else ():
            number = self.scene.number(each) if isinstance(each, (ast.Name, ast.Attribute)) else None
            if number is not None and number > 1:
                for line in lines_written(self.scene, each, number, self.modules_around(self.call)):
                    yield str(number), line

    def named(self, call: Call, tensor: Tensor) -> Iterator[int]:
        """The line that gives the name by which a call reads an operand, where that is given once."""
        scene = self.scene
        nodes = [call.site, *(each.site for each in call.ancestry())]
        node = next((each.node for each in nodes if isinstance(each, StatementSite) and each.path == scene.path), None)
        for each in inside(node) if node is not None else ():
            if isinstance(each, ast.Name) and scene.shape(each) == sizes_of(tensor):
                values = scene.index.values_of(each.id, scene.function_of(each))
                yield from (value.lineno for value in values if len(values) == 1)

    def block_around(self) -> Iterator[Said]:
        """Where the block is built that the call stands in."""
        for node, layer in constructions(self.scene, self.call)[:-1]:
            if layer.cls.site is not None:
                yield BLOCK, node.lineno
                return


def shown(tensor: Tensor) -> str:
    return show(tensor.shape) if isinstance(tensor.shape, tuple) else "it"


def axis_of(tensor: Tensor, size: int | None) -> int | None:
    """The one axis, counted from the last, that has a size."""
    shape = sizes_of(tensor)
    return shape.index(size) - len(shape) if shape.count(size) == 1 else None


def constructions(scene: Scene, call: Call) -> list[tuple[ast.Call, Instance]]:
    """The calls that made the layer which an op runs in and the modules around it, the innermost first."""
    found = []
    for layer in (each.layer for each in call.ancestry() if isinstance(each.layer, Instance)):
        site = layer.site
        if isinstance(site, StatementSite) and site.path == scene.path and isinstance(site.node, ast.Call):
            found.append((site.node, layer))
    return found


def layer_lines(scene: Scene, call: Call) -> Iterator[int]:
    """The line in which a layer is made, those of the names that it is told, the call of the function that makes it,
    and the nearest block around it that is told a number."""
    around = constructions(scene, call)
    if around and around[0][1].cls.site is not None:
        # A function that the code of a module calls: nothing but a number that the module is told can matter to it.
        around = [each for each in around if is_told_a_number(each[0])]
    for at, (node, layer) in enumerate(around):
        yield node.lineno
        for each in given_to(node):
            if isinstance(each, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)):
                for number in sorted(scene.every_number(each))[:1]:
                    yield from list(lines_written(scene, each, number, around[at + 1 :]))[-1:]
        yield from callers(scene, node, layer)
        if is_told_a_number(node):
            return


def is_told_a_number(node: ast.Call) -> bool:
    return any(isinstance(each, ast.Constant) and type(each.value) is int for each in ast.walk(node))


def callers(scene: Scene, node: ast.Call, layer: Instance) -> Iterator[int]:
    """The calls of the function that has made a layer, those that gave this one."""
    function = scene.function_of(node)
    if function is None or function.name in ("__init__", "forward", "call", "build"):
        return
    for each in scene.index.calls:
        if called(each) == function.name and any(holds(value, layer) for value in scene.values.get(id(each), ())):
            yield each.lineno


def holds(value: object, layer: Instance, depth: int = 0) -> bool:
    """Whether a value is a layer, or a container of layers that has it."""
    if value is layer:
        return True
    if depth > MOST_DEEP:
        return False
    inner: Sequence[object] = ()
    if isinstance(value, Instance):
        inner = list(value.attributes.values())
    elif isinstance(value, (list, tuple)):
        inner = value
    elif isinstance(value, dict):
        inner = list(value.values())
    return any(holds(each, layer, depth + 1) for each in inner)


MOST_DEEP = 3
"""How far inside of a container a layer is looked for."""

MEETING = (Broadcast, Concatenate, Stack, Loss, Matmul, Einsum)
"""The ops in which tensors meet whose sizes have to go together."""

SIDES = 2
"""The axes of a map beside its sides: samples and channels."""


def call_lines(scene: Scene, call: Call | None) -> list[int]:
    """The line in which an op or layer is called: the nearest one of this file."""
    sites: list[Site | None] = [] if call is None else [call.site, *(each.site for each in call.ancestry())]
    return [site.line for site in sites if site is not None and site.path == scene.path][:1]


def forward_lines(scene: Scene, call: Call | None) -> list[int]:
    """The line of the model's own `forward` in which the block is called that an op runs in."""
    around = [] if call is None else list(call.ancestry())
    sites = [call.site if call is not None else None, *(each.site for each in around[:-1])]
    found = [site.line for site in sites if site is not None and site.path == scene.path]
    return found[-1:]


def last_change(tensor: Tensor, what: Callable[[tuple[object, ...]], object]) -> Call | None:
    """The last op before a tensor that has changed a shape (`what`: `tuple`), or its number of axes (`len`): of those
    that change a shape one without weights."""
    at = tensor.call
    while at is not None and at.inputs:
        if what is len or not at.weights:
            if at.outputs and what(sizes_of(at.outputs[0])) != what(sizes_of(at.inputs[0])):
                return at
        at = at.inputs[0].call
    return None


def leaf_behind(tensor: Tensor, size: object) -> Tensor:
    """The tensor without an op that another one is computed from: the one that has a size, if one does."""
    while tensor.call is not None and tensor.call.inputs:
        inputs = tensor.call.inputs
        tensor = next((each for each in inputs if size in sizes_of(each)), inputs[0])
    return tensor
