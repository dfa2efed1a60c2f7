"""Random cases for `check_ops.py` of ops that move, reshape and join, in the form of `check_ops_torch.py`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from flake8_cnnmem import ops


def shapes_of(result: Any) -> tuple[tuple[int, ...], ...]:
    """The shapes of a tensor or of nested tuples of them."""
    if hasattr(result, "shape"):
        return (tuple(result.shape),)
    return tuple(shape for part in result if part is not None for shape in shapes_of(part))


def random_shape(rng: random.Random, least: int = 1, most: int = 4) -> tuple[int, ...]:
    return tuple(rng.choice([1, 1, 2, 3, 4, 6]) for _ in range(rng.randint(least, most)))


def shape_cases(rng: random.Random, zeros: Any, run: Any) -> Iterator[tuple[Any, ...]]:
    """Reshaping, indexing, splitting, padding, resizing."""
    import torch
    from torch.nn import functional as F

    pick = rng.choice
    shape = random_shape(rng)
    rank = len(shape)
    axis = rng.randint(-rank - 1, rank)
    other = rng.randint(-rank, rank - 1)

    target = list(random_shape(rng))
    if rng.random() < 0.7:
        # A target with the same number of values: the shape's own factors dealt out anew.
        target = [1] * rng.randint(1, 4)
        for size in shape:
            target[rng.randrange(len(target))] *= size
    if rng.random() < 0.6:
        target[rng.randrange(len(target))] = -1
    aim = tuple(target)
    yield ops.Reshape(aim), (shape,), run(lambda x: x.view(aim), shape), None, True
    start, end = rng.randint(-rank, rank), rng.randint(-rank, rank)
    yield ops.Flatten(start, end), (shape,), run(lambda x: x.flatten(start, end), shape), None, True
    yield ops.Unflatten(other, aim), (shape,), run(lambda x: x.unflatten(other, aim), shape), None, True
    order = list(range(rank))
    rng.shuffle(order)
    order = [at - rank if rng.random() < 0.3 else at for at in order]
    if rng.random() < 0.1:
        order[0] = 0
    yield ops.Permute(tuple(order)), (shape,), run(lambda x: x.permute(order), shape), None, True
    yield ops.Transpose(axis, other), (shape,), run(lambda x: x.transpose(axis, other), shape), None, True
    yield ops.Squeeze(axis), (shape,), run(lambda x: x.squeeze(axis), shape), None, True
    yield ops.Squeeze(), (shape,), run(lambda x: x.squeeze(), shape), None, True
    some_axes = tuple(sorted({rng.randrange(rank) for _ in range(2)}))
    yield ops.Squeeze(some_axes), (shape,), run(lambda x: x.squeeze(some_axes), shape), None, True
    yield ops.Unsqueeze(axis), (shape,), run(lambda x: x.unsqueeze(axis), shape), None, True
    wide = [pick([size, -1]) if size > 1 else pick([1, 3, -1]) for size in shape]
    wide = [*random_shape(rng, 0, 2), *wide]
    if rng.random() < 0.1:
        wide[-1] = 7
    yield ops.Expand(tuple(wide)), (shape,), run(lambda x: x.expand(wide), shape), None, True
    times = random_shape(rng, max(1, rank - 1), rank + 1)
    yield ops.Repeat(times), (shape,), run(lambda x: x.repeat(times), shape), None, True
    yield (
        ops.RepeatInterleave(3, axis),
        (shape,),
        run(lambda x: torch.repeat_interleave(x, 3, axis), shape),
        None,
        True,
    )
    yield ops.Flip(some_axes), (shape,), run(lambda x: x.flip(some_axes), shape), None, True
    yield ops.Roll(other), (shape,), run(lambda x: x.roll(1, other), shape), None, True

    each = rng.randint(1, 4)
    yield ops.Split(each, axis), (shape,), run(lambda x: x.split(each, axis), shape), None, True
    parts = random_shape(rng, 1, 3)
    yield ops.Split(parts, axis), (shape,), run(lambda x: x.split(parts, axis), shape), None, True
    yield ops.Chunk(each, axis), (shape,), run(lambda x: x.chunk(each, axis), shape), None, True
    yield ops.Unbind(axis), (shape,), run(lambda x: x.unbind(axis), shape), None, True

    from flake8_cnnmem.graph import Tensor

    ours: list[Any] = []
    theirs: list[Any] = []
    for _ in range(rng.randint(1, rank + 1)):
        kind = pick(["int", "slice", "slice", "none", "dots", "tensor", "mask", "list"])
        if kind == "dots" and Ellipsis in ours:
            kind = "slice"
        if kind == "int":
            item: Any = rng.randint(-3, 2)
        elif kind == "slice":
            bound = [None, None, 0, 1, 2, 3, -1, -2, 9]
            item = slice(pick(bound), pick(bound), pick([None, None, 1, 2, 3]))
        else:
            item = {"none": None, "dots": Ellipsis, "list": [0, 0]}.get(kind)
        if kind == "tensor":
            sizes = pick([(), (2,), (2, 3), (1,)])
            ours.append(Tensor(sizes, "int64"))
            theirs.append(torch.zeros(sizes, dtype=torch.int64))
        elif kind == "mask":
            continue  # the number of values that it selects is not a matter of shapes
        else:
            ours.append(item)
            theirs.append(item)
    items = tuple(theirs)
    # The meta device does not check positions: a real tensor does.
    yield ops.Index(tuple(ours)), (shape,), lambda: shapes_of(torch.zeros(shape)[items]), None, True

    pads = [(rng.randint(-1, 3), rng.randint(0, 3)) for _ in range(rank)]
    flat = [side for pair in reversed(pads) for side in pair]
    yield ops.Pad(tuple(pads)), (shape,), run(lambda x: F.pad(x, flat), shape), None, True
    picture = (2, 3, rng.randint(1, 5), rng.randint(1, 5))
    mode = pick(["reflect", "replicate", "circular"])
    sides = [(rng.randint(0, 4), rng.randint(0, 4)) for _ in range(2)]
    around = [side for pair in reversed(sides) for side in pair]
    full = ((0, 0), (0, 0), *sides)
    yield ops.Pad(full, mode), (picture,), lambda: shapes_of(F.pad(torch.zeros(picture), around, mode)), None, True
    scale = tuple(pick([0.5, 2, 1.5, 0.3, 2.7, 3.0]) for _ in range(2))
    yield (
        ops.Resize(None, scale, "bilinear"),
        (picture,),
        lambda: shapes_of(F.interpolate(torch.zeros(picture), scale_factor=scale, mode="bilinear")),
        None,
        True,
    )
    new = (rng.randint(1, 9), rng.randint(1, 9))
    yield (
        ops.Resize(new, None, "nearest"),
        (picture,),
        run(lambda x: F.interpolate(x, size=new), picture),
        None,
        True,
    )
    factor = rng.randint(1, 3)
    stacked = (*random_shape(rng, 0, 2), rng.randint(1, 12), rng.randint(1, 6), rng.randint(1, 6))
    yield (
        ops.PixelShuffle(factor),
        (stacked,),
        run(lambda x: F.pixel_shuffle(x, factor), stacked),
        None,
        len(stacked) > 3,
    )
    yield (
        ops.PixelShuffle(factor, inverse=True),
        (stacked,),
        run(lambda x: F.pixel_unshuffle(x, factor), stacked),
        None,
        len(stacked) > 3,
    )
    groups = rng.randint(1, 3)
    channels = (2, rng.randint(1, 6), 3, 3)
    yield (
        ops.ChannelShuffle(groups),
        (channels,),
        lambda: shapes_of(F.channel_shuffle(torch.zeros(channels), groups)),
        None,
        True,
    )
    kernel, stride, dilation = ((rng.randint(1, 3), rng.randint(1, 3)) for _ in range(3))
    padding = (rng.randint(0, 2), rng.randint(0, 2))
    yield (
        ops.Unfold(kernel, dilation, padding, stride),
        (picture,),
        run(lambda x: F.unfold(x, kernel, dilation, padding, stride), picture),
        None,
        True,
    )
    folded = run(lambda x: F.unfold(x, kernel, dilation, padding, stride), picture)
    try:
        columns = folded()[0]
    except RuntimeError:
        columns = (2, 12, 4)
    if rng.random() < 0.2:
        columns = (*columns[:2], columns[2] + 1)
    yield (
        ops.Fold(picture[2:], kernel, dilation, padding, stride),
        (columns,),
        run(lambda x: F.fold(x, picture[2:], kernel, dilation, padding, stride), columns),
        None,
        True,
    )
    window, step = rng.randint(1, 3), rng.randint(1, 3)
    yield ops.Windows(axis, window, step), (shape,), run(lambda x: x.unfold(axis, window, step), shape), None, True


def merge_cases(rng: random.Random, zeros: Any, run: Any) -> Iterator[tuple[Any, ...]]:
    """Broadcasting, joining, products, reductions, attention, losses."""
    import torch
    from torch.nn import functional as F

    pick = rng.choice

    def like(shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that often broadcasts with the given one."""
        sizes = tuple(pick([size, size, 1]) if rng.random() < 0.95 else 5 for size in shape)
        return sizes[rng.choice([0, 0, 0, 1]) :]

    left = random_shape(rng)
    right = like(left)
    yield ops.Broadcast("add"), (left, right), run(lambda x, y: x + y, left, right), None, len(left) == len(right)
    third = like(left)
    yield (
        ops.Broadcast("where"),
        (left, right, third),
        lambda: shapes_of(torch.where(zeros(left, torch.bool), zeros(right), zeros(third))),
        None,
        len(left) == len(right) == len(third),
    )
    yield (
        ops.Broadcast("add", in_place=True),
        (left, right),
        run(lambda x, y: x.add_(y), left, right),
        None,
        len(left) == len(right),
    )
    axis = rng.randint(-len(left) - 1, len(left))
    joined = [left]
    for _ in range(rng.randint(0, 2)):
        sizes = list(left)
        sizes[axis % len(sizes)] = rng.randint(1, 4)
        if rng.random() < 0.1:
            sizes[-1] += 1
        if rng.random() < 0.05:
            sizes.append(1)
        joined.append(tuple(sizes))
    yield ops.Concatenate(axis), tuple(joined), run(lambda *x: torch.cat(x, axis), *joined), None, True
    same = [left] * rng.randint(1, 3)
    if rng.random() < 0.1:
        same.append((*left[:-1], left[-1] + 1))
    yield ops.Stack(axis), tuple(same), run(lambda *x: torch.stack(x, axis), *same), None, True

    a, b, c = (rng.randint(1, 4) for _ in range(3))
    batch = random_shape(rng, 0, 2)
    first: tuple[int, ...] = pick([(b,), (a, b), (*batch, a, b), (*batch, a, b)])
    second: tuple[int, ...] = pick([(b,), (b, c), (*like(batch), b, c), (*like(batch), b, c)])
    if rng.random() < 0.1:
        second = (*second[:-1], 5)
    yield ops.Matmul(), (first, second), run(torch.matmul, first, second), None, first[:1] == batch[:1]

    letters = "abcde"
    sizes = {letter: rng.randint(1, 4) for letter in letters}
    dots = random_shape(rng, 1, 2)
    terms, shapes = [], []
    for _ in range(rng.randint(1, 3)):
        term = "".join(rng.sample(letters, rng.randint(1, 3)))
        shape = tuple(sizes[letter] for letter in term)
        if rng.random() < 0.4:
            at = rng.randint(0, len(term))
            mine = like(dots)
            shape = (*shape[:at], *mine, *shape[at:])
            term = term[:at] + "..." + term[at:]
        if rng.random() < 0.05:
            shape = (*shape[:-1], 7)
        terms.append(term)
        shapes.append(shape)
    equation = " , ".join(terms)
    if rng.random() < 0.7:
        used = sorted(set(equation) & set(letters))
        equation += "->" + ("..." if "..." in equation else "") + "".join(rng.sample(used, rng.randint(0, len(used))))
    yield ops.Einsum(equation), tuple(shapes), run(lambda *x: torch.einsum(equation, *x), *shapes), None, False

    axes = tuple({rng.randrange(len(left)) - pick([0, len(left)]) for _ in range(rng.randint(1, 2))})
    keep = rng.random() < 0.5
    yield ops.Reduce("mean", axes, keep), (left,), run(lambda x: x.mean(axes, keepdim=keep), left), None, True
    yield ops.Reduce("sum"), (left,), run(torch.sum, left), None, True
    yield ops.Reduce("max", axis, keep, 2), (left,), run(lambda x: x.max(axis, keepdim=keep), left), None, True
    yield ops.Reduce("argmax", axis, keep), (left,), run(lambda x: x.argmax(axis, keepdim=keep), left), None, True
    yield ops.Reduce("cumsum", axis), (left,), run(lambda x: x.cumsum(axis), left), None, True
    k = rng.randint(1, 4)
    yield ops.TopK(k, axis), (left,), run(lambda x: x.topk(k, axis), left), None, True
    yield ops.Sort(axis), (left,), lambda: shapes_of(torch.zeros(left).sort(axis)), None, True
    yield ops.GLU(axis), (left,), run(lambda x: F.glu(x, axis), left), None, True

    heads = (2, pick([1, 2, 4]))
    q, k_, v = (*heads, a, b), (*like(heads), c, b), (*heads, c, 5)
    if rng.random() < 0.1:
        v = (*heads, c + 1, 5)
    yield (
        ops.ScaledDotProduct(),
        (q, k_, v),
        run(F.scaled_dot_product_attention, q, k_, v),
        None,
        True,
    )
    logits = (3, 4, *random_shape(rng, 0, 2))
    yield (
        ops.Loss("cross_entropy", "none"),
        (logits, (3, *logits[2:])),
        lambda: shapes_of(F.cross_entropy(zeros(logits), zeros((3, *logits[2:]), torch.int64), reduction="none")),
        None,
        True,
    )
    yield (
        ops.Loss("mse", "none"),
        (left, right),
        run(lambda x, y: F.mse_loss(x, y, reduction="none"), left, right),
        None,
        len(left) == len(right),
    )
