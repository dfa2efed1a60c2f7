"""Graphs: the features of nodes, and the pairs of nodes that edges join."""

from __future__ import annotations

from collections.abc import Iterable

from flake8_cnnmem.graph import Tensor

PAIR = 2
"""An edge joins two nodes: (2, edges)."""

WHOLE = ("int64", "int32")


def is_graph(tensors: Iterable[Tensor]) -> bool:
    """Whether a call is given one graph: features (nodes, features), and whole numbers (2, edges), which name nodes. No
    axis of them is the batch: as many rows as there are nodes belong to one sample, and the edges do not grow with
    them."""
    given = list(tensors)
    shapes = [each.shape if isinstance(each.shape, tuple) else () for each in given]
    if not given or given[0].dtype in WHOLE or len(shapes[0]) != PAIR:
        return False
    nodes = shapes[0][0]
    return isinstance(nodes, int) and any(
        each.dtype in WHOLE and len(shape) == PAIR and shape[0] == PAIR != nodes
        for each, shape in zip(given[1:], shapes[1:], strict=True)
    )
