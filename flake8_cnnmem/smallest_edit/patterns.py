"""Edits of the patterns that name axes in a text, `"b h n d -> b n (h d)"` or `"bhid,bhjd->bhij"`: two neighbouring
names the other way round."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence

from flake8_cnnmem.graph import Mismatch, Tensor
from flake8_cnnmem.ops import Einsum
from flake8_cnnmem.smallest_edit.axes import near_calls
from flake8_cnnmem.smallest_edit.scene import Candidate, Scene

ARROW = "->"
NAME = re.compile(r"[^\W\d]\w*")
LONGEST = 200
"""Characters of a pattern that is taken apart."""
MOST = 10
"""Edits of one pattern."""


def names_exchanged(scene: Scene) -> Iterator[Candidate]:
    """Two names that stand beside each other in a pattern, the other way round."""
    seen: set[int] = set()
    for place, call in near_calls(scene):
        for node in patterns_of(scene, call):
            if id(node) in seen or node.lineno != node.end_lineno:
                continue
            seen.add(id(node))
            written = scene.text(node)
            own = place.distance == 0 and isinstance(scene.call.op, Einsum)
            sizes = sizes_of_names(scene, call, written)
            texts = [
                text
                for text, one, other in exchanged(written)
                if (is_consistent(scene, text) if own else sizes.get(one, one) != sizes.get(other, other))
            ]
            for at, text in enumerate(texts[:MOST]):
                # What names the axes of the operands themselves decides before what was done with them earlier.
                yield scene.candidate((5 if own else 9) + place.distance / 4 + 0.05 * at, node, text)


def patterns_of(scene: Scene, call: ast.Call) -> Iterator[ast.Constant]:
    """The patterns that a call is given, in its own line or by a name."""
    for each in call.args:
        values = scene.index.values_of(each.id, scene.function_of(each)) if isinstance(each, ast.Name) else [each]
        for value in values if len(values) == 1 else ():
            text = value.value if isinstance(value, ast.Constant) else None
            if isinstance(value, ast.Constant) and isinstance(text, str) and ARROW in text and len(text) < LONGEST:
                yield value


def sizes_of_names(scene: Scene, call: ast.Call, written: str) -> dict[str, object]:
    """The sizes of the axes that stand alone in a pattern, by their names."""
    left, _, right = written.strip("\"'").partition(ARROW)
    given = next((shape for each in call.args if (shape := scene.shape(each)) is not None), None)
    found: dict[str, object] = {}
    for side, shape in ((left, given), (right, scene.shape(call))):
        axes = re.findall(r"\([^)]*\)|\S+", side)
        if shape is not None and len(axes) == len(shape) and "," not in side:
            found.update({name: size for name, size in zip(axes, shape, strict=True) if NAME.fullmatch(name)})
    return found


def exchanged(written: str) -> Iterator[tuple[str, str, str]]:
    """The texts of a pattern with two neighbours exchanged, of each operand, of each side; each with the two."""
    left, _, _ = written.partition(ARROW)
    by_letters = not re.search(r"\w\s+\w", written.strip("\"'"))
    ends = [len(left), len(written)]
    ends += [at for at, each in enumerate(left) if each == ","]
    spots = [match.span() for match in (re.finditer(r"[^\W\d]", written) if by_letters else NAME.finditer(written))]
    for (a, b), (c, d) in itertools.pairwise(spots):
        if not any(b <= end < c for end in ends) and written[a:b] != written[c:d]:
            text = written[:a] + written[c:d] + written[b:c] + written[a:b] + written[d:]
            yield text, written[a:b], written[c:d]


def is_consistent(scene: Scene, written: str) -> bool:
    """Whether each letter of an equation has one size on the operands of the call that refuses them."""
    op = scene.call.op
    shapes = [each.shape for each in scene.call.inputs if isinstance(each, Tensor) and isinstance(each.shape, tuple)]
    try:
        Einsum(by_one_letter(written.strip("\"'"))).outputs(*shapes)
    except Mismatch:
        return False
    return isinstance(op, Einsum) and len(shapes) == len(scene.call.inputs)


def by_one_letter(equation: str) -> str:
    """An equation whose axes have names, with a letter for each name."""
    names: Sequence[str] = list(dict.fromkeys(NAME.findall(equation)))
    if not re.search(r"\w\s+\w", equation) or len(names) > LETTERS:
        return equation
    letter = {name: chr(ord("a") + at) for at, name in enumerate(names)}
    return NAME.sub(lambda match: letter[match[0]], equation)


LETTERS = 26
