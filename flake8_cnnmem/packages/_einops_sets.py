"""einops on several tensors at once: `einsum` with axes that have names, `pack` and `unpack`.

By einops' documentation. Each is torch's own operation once the pattern is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.torch.functions.joining import cat
from flake8_cnnmem.frameworks.torch.functions.products import einsum as torch_einsum
from flake8_cnnmem.frameworks.torch.functions.splitting import split
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

PACKED = "*"


def einsum(run: Runtime, *tensors_and_pattern: Value) -> Value:
    """`einsum(q, k, "batch head i d, batch head j d -> batch head i j")`: torch's, with a letter for each name."""
    *tensors, pattern = tensors_and_pattern or (None,)
    if not isinstance(pattern, str):
        return run.unknown("the pattern of an einsum is not known")
    letters: dict[str, str] = {}

    def side(text: str) -> str:
        return "".join(
            word if word == "..." else letters.setdefault(word, ascii_letters[len(letters) % len(ascii_letters)])
            for word in text.split()
        )

    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise run.error("ValueError", "Einsum pattern must contain '->'.")
    equation = ",".join(side(operand) for operand in left.split(","))
    return torch_einsum(run, f"{equation}->{side(right)}", *tensors)


def around(run: Runtime, pattern: Value) -> tuple[int, int] | Unknown:
    """How many axes a pattern names before and behind the packed ones."""
    if not isinstance(pattern, str):
        return run.unknown("the pattern of packed tensors is not known")
    words = pattern.split()
    if words.count(PACKED) != 1:
        raise run.error("ValueError", f"one {PACKED} is expected in {pattern!r}")
    return words.index(PACKED), len(words) - words.index(PACKED) - 1


def pack(run: Runtime, tensors: Value, pattern: Value) -> Value:
    """`pack([a, b], "b * d")`: tensors whose middle axes are flattened and joined, with the shapes of what was."""
    edges = around(run, pattern)
    given = run.items(tensors)
    if isinstance(edges, Unknown) or isinstance(given, Unknown):
        return edges if isinstance(edges, Unknown) else given
    before, behind = edges
    flat: list[Value] = []
    shapes: list[Value] = []
    for tensor in given:
        if not isinstance(tensor, Tensor) or isinstance(tensor.shape, Unknown):
            return run.unknown("the shape of a packed tensor is not known")
        end = len(tensor.shape) - behind
        if end < before:
            raise run.error("ValueError", f"{pattern!r} asks for more axes than a tensor has")
        inner = tensor.shape[before:end]
        shapes.append(inner)
        sizes = (*tensor.shape[:before], dims.product(inner), *tensor.shape[end:])
        flat.append(run.call(run.get(tensor, "reshape"), *sizes))
    return (cat(run, flat, before), shapes)


def unpack(run: Runtime, tensor: Value, packed_shapes: Value, pattern: Value) -> Value:
    """`unpack(x, shapes, "b * d")`: the tensors that `pack` has joined."""
    edges = around(run, pattern)
    shapes = run.items(packed_shapes)
    if isinstance(edges, Unknown) or isinstance(shapes, Unknown):
        return edges if isinstance(edges, Unknown) else shapes
    if not isinstance(tensor, Tensor) or isinstance(tensor.shape, Unknown):
        return run.unknown("the shape of a packed tensor is not known")
    before, behind = edges
    inner = [tuple(shape) if isinstance(shape, (list, tuple)) else None for shape in shapes]
    if any(shape is None for shape in inner) or len(tensor.shape) != before + 1 + behind:
        return run.unknown("the shapes of packed tensors are not known")
    return unpacked(run, tensor, [shape or () for shape in inner], before)


def unpacked(run: Runtime, tensor: Tensor, inner: Sequence[Shape], axis: int) -> Value:
    assert isinstance(tensor.shape, tuple)
    lengths = [dims.product(shape) if -1 not in shape else -1 for shape in inner]
    if -1 in lengths:
        rest = tensor.shape[axis]
        for length in lengths:
            rest = rest if length == -1 else dims.subtract(rest, length)
        lengths = [rest if length == -1 else length for length in lengths]
    parts = run.items(split(run, tensor, lengths, axis))
    if isinstance(parts, Unknown):
        return parts
    outer = tensor.shape[:axis], tensor.shape[axis + 1 :]
    return [
        run.call(run.get(part, "reshape"), *outer[0], *shape, *outer[1])
        for part, shape in zip(parts, inner, strict=True)
    ]
