"""Attention layers (keras/src/layers/attention)."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Shape, Size, multiply, product, same, show
from flake8_cnnmem.frameworks.keras.layer import build_shapes
from flake8_cnnmem.frameworks.keras.layers.attention_parts import (
    PROJECTIONS,
    Heads,
    applied,
    build_attention,
    call_by_parts,
    has_own_parts,
    make_projection,
    private_names,
    project,
)
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.frameworks.keras.tracking import make_weight, state_of
from flake8_cnnmem.graph import Problem, Tensor, Weight
from flake8_cnnmem.ops import (
    Broadcast,
    Elementwise,
    Matmul,
    Reduce,
    RepeatInterleave,
    Reshape,
    ScaledDotProduct,
    Transpose,
    Unsqueeze,
)
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def last(shape: Shape | Unknown) -> Size:
    """The last size of a shape, or why it is not known."""
    return shape if isinstance(shape, Unknown) else shape[-1]


# --- MultiHeadAttention -----------------------------------------------------------------------------------------------


def value_width(self: Instance) -> Any:
    """The features of each head's values: `value_dim`, else `key_dim`."""
    width: Any = self.attributes.get("value_dim")
    return self.attributes.get("key_dim") if width is None else width


def output_sizes(self: Instance, query: Shape | Unknown) -> tuple[Size, ...]:
    """The last axes of the result: `output_shape`, else those of the query."""
    shape = self.attributes.get("output_shape")
    if shape is None:
        return (last(query),)
    return tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)


def build_multi_head(
    run: Runtime, self: Instance, query_shape: Value = None, value_shape: Value = None, key_shape: Value = None
) -> None:
    """Make the projections of query, key and value (features, heads, width) and of the output."""
    heads, width, value_dim = self.attributes["num_heads"], self.attributes["key_dim"], value_width(self)
    given = query_shape, value_shape, key_shape
    build_projections(run, self, given, (heads, width), (heads, width), (heads, value_dim))


def build_grouped(
    run: Runtime, self: Instance, query_shape: Value = None, value_shape: Value = None, key_shape: Value = None
) -> None:
    """Make the projections of GroupedQueryAttention, of keys and values with fewer heads."""
    width, shared = self.attributes["head_dim"], self.attributes["num_key_value_heads"]
    given = query_shape, value_shape, key_shape
    build_projections(run, self, given, (self.attributes["num_query_heads"], width), (shared, width), (shared, width))


def build_projections(
    run: Runtime,
    self: Instance,
    given: tuple[Value, Value, Value],
    query_heads: tuple[Size, Size],
    key_heads: tuple[Size, Size],
    value_heads: tuple[Size, Size],
) -> None:
    """The weights of the projections, each of so many heads and features a head, for queries, values and keys of the
    shapes `given` (a key's None for the value's): of a gate and of the output too."""
    if PROJECTIONS["query"] in self.attributes or given[1] is None:
        return
    state_of(run, self).built = True
    query, value = build_shapes(given[0]), build_shapes(given[1])
    key = value if given[2] is None else build_shapes(given[2])
    joined = query_heads[0], value_heads[1]
    rank, shared = (len(shape) if isinstance(shape, tuple) else 3 for shape in (query, value))
    make_projection(run, self, "query", rank, (last(query), *query_heads), query_heads)
    make_projection(run, self, "key", shared, (last(key), *key_heads), key_heads)
    if self.attributes.get("use_gate") is True:
        make_projection(run, self, "gate", rank, (last(query), *joined), joined)
    make_projection(run, self, "value", shared, (last(value), *value_heads), value_heads)
    build_attention(run, self, rank + 1)
    outputs = output_sizes(self, query)
    make_projection(run, self, "output", rank, (*joined, *outputs), outputs)


AttentionAxes = tuple[tuple[int, ...], tuple[int, ...]]

OF_A_SEQUENCE: AttentionAxes = ((), (1,))
"""None is free, and the steps are attended over."""


def attention_axes(self: Instance, rank: int) -> AttentionAxes:
    """The axes between the batch and the features that stay apart, and those that are attended over, in order."""
    axes = self.attributes.get("attention_axes")
    given = (axes,) if isinstance(axes, int) else axes
    inner = tuple(range(1, rank - 1))
    if not isinstance(given, (list, tuple)) or not given:
        return (), inner
    attended = {axis + rank if isinstance(axis, int) and axis < 0 else axis for axis in given}
    return tuple(axis for axis in inner if axis not in attended), tuple(axis for axis in inner if axis in attended)


def split_heads(
    run: Runtime, x: Value, heads: Size, width: Size, axes: tuple[tuple[int, ...], tuple[int, ...]]
) -> Value:
    """(N, ..., heads * width) -> (N * free, heads, attended, width), of the axes that stay free and are attended."""
    if not isinstance(x, Tensor) or isinstance(x.shape, Unknown):
        return x
    free, attended = axes
    x = in_order(run, x, (0, *free, *attended, len(x.shape) - 1))
    assert isinstance(x, Tensor)
    assert isinstance(x.shape, tuple)
    rows, length = (product(x.shape[: 1 + len(free)]), product(x.shape[1 + len(free) : -1]))
    x = applied(run, Reshape((rows, length, heads, width)), x, function="reshape")
    return applied(run, Heads((0, 2, 1, 3)), x, function="einsum")


def in_order(run: Runtime, x: Value, order: tuple[int, ...]) -> Value:
    """Its axes in this order."""
    return x if order == tuple(range(len(order))) else applied(run, Heads(order), x, function="einsum")


def checked_mask(run: Runtime, query: Value, keys: Value, mask: Value) -> Value:
    """The query, if the mask is one of its steps and the keys' (..., T, S), or is spread to that."""
    shapes = [each.shape if isinstance(each, Tensor) else each for each in (query, mask)]
    if not all(isinstance(each, tuple) and len(each) > 1 for each in (*shapes, keys)) or len(keys) != 3:  # type: ignore[arg-type]
        return query
    steps, given = (shapes[0][1], keys[1]), shapes[1][-2:]  # type: ignore[index]
    if any(same(own, asked) is False and own != 1 for own, asked in zip(given, steps, strict=True)):
        what = f"masks {show(steps)} with a mask of {show(shapes[1])}"  # type: ignore[arg-type]
        return applied(run, Refused(Problem("CNM201", what)), query, mask, function="attention_mask")
    return query


def call_multi_head(
    run: Runtime, self: Instance, query: Value = None, value: Value = None, key: Value = None, query_mask: Value = None,
    value_mask: Value = None, key_mask: Value = None, attention_mask: Value = None,
    return_attention_scores: Value = False, training: Value = None, use_causal_mask: Value = False, **options: Value,
) -> Value:  # fmt: skip
    """A call of MultiHeadAttention: query (N, T, E), value and key (N, S, E) to (N, T, output), and the weights where
    they are asked for."""
    key = value if key is None else key
    shapes = [part.shape if isinstance(part, Tensor) else part for part in (query, value, key)]
    build_multi_head(run, self, *shapes)
    query = checked_mask(run, query, shapes[2], attention_mask)
    if has_own_parts(self):
        return call_by_parts(run, self, query, value, key, attention_mask, return_attention_scores)
    heads, width, value_dim = self.attributes["num_heads"], self.attributes["key_dim"], value_width(self)
    gate = None
    if self.attributes.get("use_gate") is True:
        gate = project(run, self, "gate", query, multiply(heads, value_dim))
        gate = applied(run, Elementwise("sigmoid"), gate)
    parts = (
        project(run, self, "query", query, multiply(heads, width)),
        project(run, self, "key", key, multiply(heads, width)),
        project(run, self, "value", value, multiply(heads, value_dim)),
    )
    shape = shapes[0]
    axes = free, attended = attention_axes(self, len(shape) if isinstance(shape, tuple) else 3)
    q, k, v = (
        split_heads(run, part, heads, size, axes) for part, size in zip(parts, (width, width, value_dim), strict=True)
    )
    rate = self.attributes.get("dropout") if session_of(run).training[-1] is not False else 0.0
    op = ScaledDotProduct(
        rate if isinstance(rate, (int, float, Unknown)) else 0.0, use_causal_mask is True, fused=False
    )
    result = applied(run, op, q, k, v, function="attention")
    outputs = output_sizes(self, shape if isinstance(shape, tuple) else Unknown("the query's width is not known"))
    if isinstance(shape, tuple):
        order = (0, *free, *attended, len(shape) - 1)
        sizes = (*(shape[axis] for axis in order[:-1]), multiply(heads, value_dim))
        result = applied(run, Reshape(sizes), result, function="reshape")
        result = in_order(run, result, tuple(order.index(axis) for axis in range(len(order))))
    if gate is not None:
        result = applied(run, Broadcast("multiply"), result, gate)
    result = project(run, self, "output", result, product(outputs), axes=2)
    if len(outputs) > 1 and isinstance(shape, tuple):
        result = applied(run, Reshape((*shape[:-1], *outputs)), result, function="reshape")
    if return_attention_scores is True:
        if isinstance(shape, tuple) and isinstance(shapes[2], tuple):
            apart = tuple(shape[axis] for axis in free)
            steps = (each[axis] for each in (shape, shapes[2]) for axis in attended)
            scores = (shape[0], *apart, heads, *steps)
            return result, Tensor(scores, framework="keras")
        return result, run.unknown("the attention scores are not known")
    return result


@layer(call=call_multi_head, build=build_multi_head)
def MultiHeadAttention(
    num_heads: Value, key_dim: Value, value_dim: Value = None, dropout: Value = 0.0, use_bias: Value = True,
    output_shape: Value = None, attention_axes: Value = None, sliding_window: Value = None,
    flash_attention: Value = None, kernel_initializer: Value = "glorot_uniform", bias_initializer: Value = "zeros",
    kernel_regularizer: Value = None, bias_regularizer: Value = None, activity_regularizer: Value = None,
    kernel_constraint: Value = None, bias_constraint: Value = None, use_gate: Value = False, seed: Value = None,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """Attention with so many heads of `key_dim` features."""
    return ()


private_names(
    MultiHeadAttention,
    ("num_heads", "key_dim", "value_dim", "dropout", "use_bias", "use_gate", "output_shape", "attention_axes",
     "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer", "activity_regularizer",
     "kernel_constraint", "bias_constraint", "sliding_window", "flash_attention"),
)  # fmt: skip


# --- GroupQueryAttention ----------------------------------------------------------------------------------------------


def call_grouped(
    run: Runtime, self: Instance, query: Value = None, value: Value = None, key: Value = None, query_mask: Value = None,
    value_mask: Value = None, key_mask: Value = None, attention_mask: Value = None,
    return_attention_scores: Value = False, training: Value = None, use_causal_mask: Value = False, **options: Value,
) -> Value:  # fmt: skip
    """A call of GroupedQueryAttention: query (N, T, E), value and key (N, S, E) to (N, T, E)."""
    key = value if key is None else key
    shapes = [part.shape if isinstance(part, Tensor) else part for part in (query, value, key)]
    build_grouped(run, self, *shapes)
    if has_own_parts(self):
        return run.unknown("a GroupedQueryAttention whose parts were replaced is not followed")
    width, heads = self.attributes["head_dim"], self.attributes["num_query_heads"]
    shared = self.attributes["num_key_value_heads"]
    gate = None
    if self.attributes.get("use_gate") is True:
        gate = applied(run, Elementwise("sigmoid"), project(run, self, "gate", query, multiply(heads, width)))
    q = split_heads(run, project(run, self, "query", query, multiply(heads, width)), heads, width, OF_A_SEQUENCE)
    k = split_heads(run, project(run, self, "key", key, multiply(shared, width)), shared, width, OF_A_SEQUENCE)
    v = split_heads(run, project(run, self, "value", value, multiply(shared, width)), shared, width, OF_A_SEQUENCE)
    if isinstance(heads, int) and isinstance(shared, int) and shared and heads != shared:
        # Keras repeats the heads of k and v before the product
        k, v = (applied(run, RepeatInterleave(heads // shared, 1), part, function="repeat") for part in (k, v))
    result = applied(run, ScaledDotProduct(causal=use_causal_mask is True, fused=False), q, k, v, function="attention")
    shape = shapes[0]
    if isinstance(shape, tuple):
        result = applied(run, Reshape((*shape[:-1], multiply(heads, width))), result, function="reshape")
    if gate is not None:
        result = applied(run, Broadcast("multiply"), result, gate)
    width = last(shape) if isinstance(shape, tuple) else Unknown("the query's width is not known")
    result = project(run, self, "output", result, width, axes=2)
    if return_attention_scores is True:
        return result, run.unknown("the attention scores are not followed")
    return result


@layer("GroupQueryAttention", call=call_grouped, build=build_grouped)
def GroupedQueryAttention(
    head_dim: Value, num_query_heads: Value, num_key_value_heads: Value, dropout: Value = 0.0, use_bias: Value = True,
    sliding_window: Value = None, flash_attention: Value = None, kernel_initializer: Value = "glorot_uniform",
    bias_initializer: Value = "zeros", kernel_regularizer: Value = None, bias_regularizer: Value = None,
    activity_regularizer: Value = None, kernel_constraint: Value = None, bias_constraint: Value = None,
    use_gate: Value = False, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Attention in which several heads of the query share one of key and value."""
    return ()


private_names(GroupedQueryAttention, ())


# --- dot product and additive attention on [query, value, key] --------------------------------------------------------


def three(run: Runtime, inputs: Value) -> tuple[Value, Value, Value]:
    """Query, value and key of a layer's inputs; the value stands for a key that is not given."""
    items = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    query = items[0] if items else None
    value = items[1] if len(items) > 1 else query
    return query, value, items[2] if len(items) > 2 else value


def build_dot(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Make the scale of Attention, where it learns one."""
    state_of(run, self).built = True
    if self.attributes.get("use_scale") is True:
        self.attributes["scale"] = make_weight(run, self, "scale", ())
    if self.attributes.get("score_mode") == "concat":
        self.attributes["concat_score_weight"] = make_weight(run, self, "concat_score_weight", ())


def weighted(run: Runtime, self: Instance, scores: Value, value: Value, with_scores: Value) -> Value:
    """The values weighted by the softmax of the scores; with the weights where they are asked for."""
    scores = applied(run, Elementwise("softmax"), scores)
    result = applied(run, Matmul(), scores, value)
    return (result, scores) if with_scores is True else result


def pairwise(run: Runtime, query: Value, key: Value) -> Value:
    """tanh(q + k) for every pair of positions: (N, Tq, Tv, width)."""
    q = applied(run, Unsqueeze(-2), query, function="expand_dims")
    k = applied(run, Unsqueeze(-3), key, function="expand_dims")
    return applied(run, Elementwise("tanh"), applied(run, Broadcast("add"), q, k))


def call_dot(
    run: Runtime, self: Instance, inputs: Value = None, mask: Value = None, training: Value = None,
    return_attention_scores: Value = False, use_causal_mask: Value = False, **options: Value,
) -> Value:  # fmt: skip
    """A call of Attention: query (N, T, E), value and key (N, S, E) to (N, T, E)."""
    query, value, key = three(run, inputs)
    if self.attributes.get("score_mode") == "concat":
        scores = applied(run, Reduce("sum", -1), pairwise(run, query, key))
        return weighted(run, self, scores, value, return_attention_scores)
    if return_attention_scores is True:
        scores = applied(run, Matmul(), query, applied(run, Transpose(-1, -2), key, function="transpose"))
        return weighted(run, self, scores, value, True)
    rate = self.attributes.get("dropout")
    op = ScaledDotProduct(
        rate if isinstance(rate, (int, float, Unknown)) else 0.0, use_causal_mask is True, fused=False
    )
    return applied(run, op, query, key, value, function=self.cls.name)


@layer(call=call_dot, build=build_dot)
def Attention(
    use_scale: Value = False, score_mode: Value = "dot", dropout: Value = 0.0, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Attention without projections."""
    return ()


def build_additive(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Make the scale of AdditiveAttention (E,), where it learns one."""
    state_of(run, self).built = True
    if self.attributes.get("use_scale") is not False:
        shapes = build_shapes(input_shape)
        first = shapes[0] if isinstance(shapes, list) and shapes else shapes
        self.attributes["scale"] = make_weight(run, self, "scale", (last(first),))


def call_additive(
    run: Runtime, self: Instance, inputs: Value = None, mask: Value = None, training: Value = None,
    return_attention_scores: Value = False, **options: Value,
) -> Value:  # fmt: skip
    """A call of AdditiveAttention: query (N, T, E), value and key (N, S, E) to (N, T, E)."""
    query, value, key = three(run, inputs)
    pairs = pairwise(run, query, key)
    scale = self.attributes.get("scale")
    if isinstance(scale, Weight):
        pairs = applied(run, Broadcast("multiply"), pairs, scale)
    return weighted(run, self, applied(run, Reduce("sum", -1), pairs), value, return_attention_scores)


@layer(bases=(Attention,), call=call_additive, build=build_additive)
def AdditiveAttention(use_scale: Value = True, dropout: Value = 0.0, **kwargs: Value) -> Ops:
    """Attention whose scores are sums of tanh(query + key)."""
    return ()
