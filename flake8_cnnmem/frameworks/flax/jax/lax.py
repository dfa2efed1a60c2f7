"""jax.lax: primitives under their own names, and collectives, which leave shapes as they are."""

from __future__ import annotations

from flake8_cnnmem.frameworks.flax.arrays import apply, made, plain, shape_of, sizes
from flake8_cnnmem.frameworks.flax.jax import creation, reductions, shaping, transforms
from flake8_cnnmem.frameworks.flax.jax.elementwise import ACTIVATIONS, NUMPY, cast
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value


def stop_gradient(run: Runtime, x: Value) -> Value:
    """A tree of arrays through which no gradient flows."""
    from flake8_cnnmem.frameworks.flax import trees
    from flake8_cnnmem.graph import Tensor

    def stopped(leaf: Value) -> Value:
        return apply(run, Elementwise("detach"), leaf, function="stop_gradient") if isinstance(leaf, Tensor) else leaf

    return x if isinstance(x, Unknown) else trees.mapped(stopped, x)


def rsqrt(run: Runtime, x: Value, **options: Value) -> Value:
    """`lax.rsqrt(x)`."""
    return apply(run, Elementwise("rsqrt"), x, function="rsqrt")


def select(run: Runtime, pred: Value, on_true: Value, on_false: Value) -> Value:
    """`lax.select(pred, on_true, on_false)`."""
    return run.call(NUMPY["where"], pred, on_true, on_false)


def cond(run: Runtime, pred: Value, true_fun: Value, false_fun: Value, *operands: Value, **options: Value) -> Value:
    """One of two functions; where it is not known which one, what both give alike."""
    truth = run.truth(pred) if isinstance(plain(pred), (bool, int)) else None
    if isinstance(truth, bool):
        return run.call(true_fun if truth else false_fun, *operands)
    results = [run.call(each, *operands) for each in (true_fun, false_fun)]
    return run.one_of(results, run.unknown("which branch a condition takes is not known"))


def broadcasted_iota(run: Runtime, dtype: Value, shape: Value, dimension: Value, **options: Value) -> Value:
    """(shape), int32: counted along an axis."""
    return made(sizes(run, shape), "int32")


def axis_index(run: Runtime, axis_name: Value) -> Value:
    """`lax.axis_index(name)`: 0, the first device."""
    return 0


def causal_mask(run: Runtime, x: Value, extra_batch_dims: Value = 0, dtype: Value = None) -> Value:
    """`nn.make_causal_mask`: (batch, positions) -> (batch, 1, positions, positions)."""
    shape = shape_of(run, x)
    if isinstance(shape, Unknown) or not shape:
        return shape if isinstance(shape, Unknown) else run.unknown("a mask of no positions")
    return made((*shape[:-1], 1, shape[-1], shape[-1]), "float")


def attention_mask(run: Runtime, query_input: Value, key_input: Value, *args: Value, **options: Value) -> Value:
    """(N, 1, queries, keys) for masks (N, queries) and (N, keys)."""
    query, key = shape_of(run, query_input), shape_of(run, key_input)
    if isinstance(query, Unknown) or isinstance(key, Unknown) or not query or not key:
        return run.unknown("the shape of a mask is not known")
    return made((*query[:-1], 1, query[-1], key[-1]), "float")


def combined_masks(run: Runtime, *masks: Value, dtype: Value = None) -> Value:
    """Masks joined: the shape of the first that is given."""
    return next((mask for mask in masks if mask is not None), None)


SAME_AS_NUMPY = {
    "abs": "abs", "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "pow": "power", "rem": "mod",
    "max": "maximum", "min": "minimum", "exp": "exp", "log": "log", "log1p": "log1p", "expm1": "expm1", "sqrt": "sqrt",
    "square": "square", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "floor": "floor", "ceil": "ceil",
    "round": "round", "sign": "sign", "neg": "negative", "reciprocal": "reciprocal", "clamp": "clip", "eq": "equal",
    "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "dot": "dot",
    "reshape": "reshape", "transpose": "transpose", "squeeze": "squeeze", "expand_dims": "expand_dims",
    "concatenate": "concatenate", "cumsum": "cumsum", "sort": "sort", "rev": "flip", "integer_pow": "power",
}  # fmt: skip

FUNCTIONS: dict[str, Value] = {
    **{name: NUMPY[other] for name, other in SAME_AS_NUMPY.items() if name not in ("clamp", "concatenate")},
    "clamp": Native("clamp", lambda run, min, x, max: run.call(NUMPY["clip"], x), propagate_unknown=False),
    "concatenate": Native(
        "concatenate", lambda run, operands, dimension: run.call(NUMPY["concatenate"], operands, dimension),
        propagate_unknown=False,
    ),
    "logistic": ACTIVATIONS["sigmoid"],
    **{name: Native(name, transforms.collective, propagate_unknown=False)
       for name in ("pmean", "psum", "pmax", "pmin", "with_sharding_constraint", "optimization_barrier")},
    "stop_gradient": Native("stop_gradient", stop_gradient, propagate_unknown=False),
    "erf": Native("erf", lambda run, x: apply(run, Elementwise("erf"), x, function="erf"), propagate_unknown=False),
    "convert_element_type": Native(
        "convert_element_type", lambda run, operand, new_dtype: cast(run, operand, new_dtype), propagate_unknown=False
    ),
    "iota": Native("iota", lambda run, dtype, size: made(sizes(run, size), "int32"), propagate_unknown=False),
    "full": Native("full", creation.full, propagate_unknown=False),
    "argmax": Native("argmax", lambda run, operand, axis, index_dtype=None: run.call(NUMPY["argmax"], operand, axis),
                     propagate_unknown=False),
    "dynamic_slice": Native("dynamic_slice", shaping.dynamic_slice, propagate_unknown=False),
    "dynamic_slice_in_dim": Native("dynamic_slice_in_dim", shaping.dynamic_slice_in_dim, propagate_unknown=False),
    **{name: Native(name, shaping.dynamic_update, propagate_unknown=False)
       for name in ("dynamic_update_slice", "dynamic_update_slice_in_dim")},
    "rsqrt": Native("rsqrt", rsqrt, propagate_unknown=False),
    "select": Native("select", select, propagate_unknown=False),
    "cond": Native("cond", cond, propagate_unknown=False),
    "top_k": Native("top_k", reductions.top_k, propagate_unknown=False),
    "broadcasted_iota": Native("broadcasted_iota", broadcasted_iota, propagate_unknown=False),
    "axis_index": Native("axis_index", axis_index, propagate_unknown=False),
}  # fmt: skip
"""`jax.lax`, as far as it is followed."""
