"""TensorFlow's functions (`tf.*`, `tf.math.*`, `tf.nn.*`) as tables."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.ops.control import checkpointed, conditional, folded, mapped, scanned
from flake8_cnnmem.frameworks.keras.ops.creation import (
    arange,
    eye,
    filled,
    like,
    linspace,
    meshgrid,
    one_hot,
    random,
    to_tensor,
    with_shape,
)
from flake8_cnnmem.frameworks.keras.ops.elementwise import (
    binary,
    cast,
    clip,
    dropout,
    identity,
    normalize,
    stop_gradient,
    unary,
    variadic,
    where,
)
from flake8_cnnmem.frameworks.keras.ops.images import depth_to_space, space_to_depth
from flake8_cnnmem.frameworks.keras.ops.matrices import einsum, matmul, tensordot
from flake8_cnnmem.frameworks.keras.ops.picking import (
    boolean_mask,
    gather,
    gather_nd,
    max_pool_with_argmax,
    put_into,
    scatter_nd,
)
from flake8_cnnmem.frameworks.keras.ops.reductions import moments, reduce, sort, top_k
from flake8_cnnmem.frameworks.keras.ops.shaping import (
    broadcast_to,
    concatenate,
    crelu,
    expand_dims,
    flip,
    ndim,
    pad,
    repeat,
    reshape,
    roll,
    shape,
    size,
    split,
    squeeze,
    stack,
    strided_slice,
    tile,
    transpose,
    unstack,
)
from flake8_cnnmem.frameworks.keras.ops.tables import Entry
from flake8_cnnmem.frameworks.keras.ops.windows import (
    batch_normalization,
    bias_add,
    conv,
    conv_transpose,
    depthwise_conv,
    fused_batch_norm,
    local_response,
    pool,
    pool_by_name,
    separable_conv,
)

UNARY = {
    "abs": "abs", "exp": "exp", "log": "log", "log1p": "log", "sqrt": "sqrt", "rsqrt": "rsqrt", "square": "square",
    "negative": "neg", "sign": "sign", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "sinh": "sinh", "cosh": "cosh", "floor": "floor", "ceil": "ceil", "round": "round",
    "reciprocal": "reciprocal", "erf": "erf", "sigmoid": "sigmoid", "tanh": "tanh", "softplus": "softplus",
    "is_nan": "isnan", "is_finite": "isfinite", "is_inf": "isinf", "logical_not": "logical_not", "conj": "conj",
    "expm1": "exp",
}  # fmt: skip


BINARY = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "truediv": "divide",
    "div": "divide", "div_no_nan": "divide", "divide_no_nan": "divide", "multiply_no_nan": "multiply",
    "sub": "subtract", "mul": "multiply", "floordiv": "floor_divide", "floor_div": "floor_divide", "mod": "remainder",
    "floormod": "remainder", "pow": "power", "maximum": "maximum", "minimum": "minimum",
    "squared_difference": "subtract", "less": "less", "less_equal": "less_equal", "greater": "greater",
    "greater_equal": "greater_equal", "equal": "equal", "not_equal": "not_equal", "logical_and": "logical",
    "logical_or": "logical", "logical_xor": "logical", "xlogy": "multiply",
}  # fmt: skip


REDUCTIONS = {
    "reduce_mean": "mean", "reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod",
    "reduce_variance": "var", "reduce_std": "std", "reduce_any": "any", "reduce_all": "all",
    "reduce_logsumexp": "logsumexp", "reduce_euclidean_norm": "norm",
}  # fmt: skip


REDUCE = "input_tensor>x axis keepdims name> reduction_indices>axis keep_dims>keepdims"


MATH: dict[str, Entry] = {
    **{name: ("x name>", unary, {"kind": kind, "function": name}) for name, kind in UNARY.items()},
    **{name: ("x y name>", binary, {"kind": kind, "function": name}) for name, kind in BINARY.items()},
    **{name: (REDUCE, reduce, {"kind": kind, "function": name}) for name, kind in REDUCTIONS.items()},
    **{name: ("input>x name>", unary, {"kind": name}) for name in ("angle", "real", "imag")},
    "softsign": ("features>x name> x", unary, {"kind": "softsign"}),
    "atan2": ("y x name>", binary, {"kind": "atan2"}),
    "argmax": ("input>x axis output_type> name> dimension>axis", reduce, {"kind": "argmax", "axis": 0}),
    "argmin": ("input>x axis output_type> name> dimension>axis", reduce, {"kind": "argmin", "axis": 0}),
    "cumsum": ("x axis exclusive> reverse> name>", reduce, {"kind": "cumsum"}),
    "cumprod": ("x axis exclusive> reverse> name>", reduce, {"kind": "cumprod"}),
    "add_n": ("inputs name>", variadic, {"kind": "add"}),
    "accumulate_n": ("inputs shape> tensor_dtype> name>", variadic, {"kind": "add"}),
    "l2_normalize": ("x axis epsilon> name> dim>axis", normalize),
    "top_k": ("input>x k sorted index_type> name>", top_k),
    "norm": ("tensor>x ord> axis keepdims name>", reduce, {"kind": "norm"}),
}  # fmt: skip


PUTTING = (
    "tensor_scatter_nd_update", "tensor_scatter_nd_add", "tensor_scatter_nd_sub", "tensor_scatter_nd_max",
    "tensor_scatter_nd_min",
)  # fmt: skip
"""Functions that put values into a tensor at places."""


CORE: dict[str, Entry] = {
    **MATH,
    "scalar_mul": ("scalar>y x name>", binary, {"kind": "multiply"}),
    "realdiv": ("x y name>", binary, {"kind": "divide"}),
    "cond": ("pred true_fn false_fn name> strict>", conditional),
    "recompute_grad": ("f>function", checkpointed),
    "meshgrid": ("*args indexing", meshgrid),
    "clip_by_value": ("t>x clip_value_min>low clip_value_max>high name>", clip),
    "clip_by_norm": ("t>x clip_norm>low axes>high name>", clip),
    "cast": ("x dtype name>", cast),
    "to_float": ("x name>", cast, {"dtype": "float32"}),
    "to_int32": ("x name>", cast, {"dtype": "int32"}),
    "saturate_cast": ("value>x dtype name>", cast),
    "where": ("condition x y name>", where),
    "identity": ("input>x name>", identity),
    "stop_gradient": ("input>x name>", stop_gradient),
    "shape": ("input>x out_type> name>", shape),
    "rank": ("input>x name>", ndim),
    "size": ("input>x out_type> name>", size),
    "reshape": ("tensor>x shape name>", reshape),
    "transpose": ("a>x perm>axes conjugate name>", transpose),
    "expand_dims": ("input>x axis name> dim>axis", expand_dims),
    "squeeze": ("input>x axis name> squeeze_dims>axis", squeeze),
    "concat": ("values>tensors axis name> concat_dim>axis", concatenate),
    "stack": ("values>tensors axis name>", stack),
    "unstack": ("value>x num axis name>", unstack),
    "split": ("value>x num_or_size_splits>parts_or_sizes axis num> name>", split),
    "tile": ("input>x multiples name>", tile),
    "repeat": ("input>x repeats axis name>", repeat),
    "broadcast_to": ("input>x shape name>", broadcast_to),
    "roll": ("input>x shift axis name>", roll),
    "reverse": ("tensor>x axis name>", flip),
    "pad": ("tensor>x paddings mode constant_values name>", pad),
    "gather": ("params>x indices validate_indices> axis batch_dims name>", gather),
    "slice": ("input_>x begin size name>", strided_slice),
    "matmul": (
        (
            "a>x b>y transpose_a transpose_b adjoint_a> adjoint_b> a_is_sparse> b_is_sparse> output_type> "
            "grad_a> grad_b> name>"
        ),
        matmul,
    ),
    "tensordot": ("a>x b>y axes name>", tensordot),
    "einsum": ("equation *inputs", einsum),
    "zeros": ("shape dtype name> layout>", filled),
    "ones": ("shape dtype name> layout>", filled, {"value": 1}),
    "fill": ("dims>shape value name> layout>", filled),
    "zeros_like": ("input>x dtype name> layout> tensor>x", like),
    "ones_like": ("input>x dtype name> layout> tensor>x", like),
    "range": ("start limit>stop delta>step dtype name>", arange),
    "linspace": ("start stop num name> axis>", linspace),
    "eye": ("num_rows>n num_columns>m batch_shape> dtype> name>", eye),
    "one_hot": ("indices>x depth on_value> off_value> axis dtype name>", one_hot),
    "constant": ("value dtype shape> name> verify_shape>", to_tensor),
    "convert_to_tensor": ("value dtype dtype_hint> name> preferred_dtype>", to_tensor),
    "ensure_shape": ("x shape name>", with_shape),
    "sort": ("values>x axis direction> name>", sort),
    "argsort": ("values>x axis direction> stable> name>", reduce, {"kind": "argsort"}),
    "space_to_depth": ("input>x block_size data_format name>", space_to_depth),
    "depth_to_space": ("input>x block_size data_format name>", depth_to_space),
    "gather_nd": ("params>x indices batch_dims name> bad_indices_policy>", gather_nd),
    "boolean_mask": ("tensor>x mask axis name>", boolean_mask),
    "scatter_nd": ("indices updates shape name> bad_indices_policy>", scatter_nd),
    **dict.fromkeys(PUTTING, ("tensor indices updates name> bad_indices_policy>", put_into)),
    "map_fn": ("fn elems dtype> parallel_iterations> back_prop> swap_memory> infer_shape> name> fn_output_signature>",
               mapped),
    "vectorized_map": ("fn elems fallback_to_while_loop> warn>", mapped),
    "scan": ("fn elems initializer parallel_iterations> back_prop> swap_memory> infer_shape> reverse> name>", scanned),
    **dict.fromkeys(
        ("foldl", "foldr"),
        ("fn elems initializer parallel_iterations> back_prop> swap_memory> name>", folded),
    ),
    "random_normal": ("shape mean> stddev> dtype seed> name>", random),
    "random_uniform": ("shape minval> maxval> dtype seed> name>", random),
    "truncated_normal": ("shape mean> stddev> dtype seed> name>", random),
}  # fmt: skip


CONV = (
    "input>x filters>kernel strides padding data_format dilations>dilation_rate name> filter>kernel "
    "use_cudnn_on_gpu> rate>dilation_rate"
)


POOL = "input>x ksize>pool_size strides padding data_format name> value>x"


SEPARABLE = (
    "input>x depthwise_filter>depthwise_kernel pointwise_filter>pointwise_kernel strides padding data_format "
    "dilations>dilation_rate name>"
)

NN: dict[str, Entry] = {
    **{
        name: ("features>x name> x", unary, {"kind": kind})
        for name, kind in {
            "relu": "relu", "relu6": "relu6", "elu": "elu", "selu": "selu", "softplus": "softplus",
            "softsign": "softsign",
        }.items()
    },
    "silu": ("features>x beta> name> x", unary, {"kind": "silu"}),
    "swish": ("features>x beta> name> x", unary, {"kind": "silu"}),
    "leaky_relu": ("features>x alpha> name>", unary, {"kind": "leaky_relu"}),
    "gelu": ("features>x approximate> name>", unary, {"kind": "gelu"}),
    "sigmoid": ("x name>", unary, {"kind": "sigmoid"}),
    "tanh": ("x name>", unary, {"kind": "tanh"}),
    "softmax": ("logits>x axis> name> dim>", unary, {"kind": "softmax"}),
    "log_softmax": ("logits>x axis> name>", unary, {"kind": "log_softmax"}),
    "l2_normalize": ("x axis epsilon> name> dim>axis", normalize),
    "dropout": ("x rate noise_shape seed> name> keep_prob", dropout),
    "moments": ("x axes shift keepdims name> keep_dims>keepdims", moments),
    "bias_add": ("value>x bias data_format name>", bias_add),
    "conv1d": (
        (
            "input>x filters>kernel stride>strides padding data_format dilations>dilation_rate name> "
            "filter>kernel value>x"
        ),
        conv,
    ),
    "conv2d": (CONV, conv),
    "conv3d": (CONV, conv),
    "convolution": (
        (
            "input>x filters>kernel strides padding data_format dilations>dilation_rate name> filter>kernel "
            "dilation_rate"
        ),
        conv,
    ),
    "atrous_conv2d": ("value>x filters>kernel rate>dilation_rate padding name>", conv),
    "conv2d_transpose": (

        (
            "input>x filters>kernel output_shape strides padding data_format dilations>dilation_rate name> "
            "filter>kernel value>x"
        ),
        conv_transpose,
        {"padding": "SAME"},
    ),
    "depthwise_conv2d": (
        (
            "input>x filter>kernel strides padding data_format dilations>dilation_rate name> "
            "rate>dilation_rate"
        ),
        depthwise_conv,
    ),
    "separable_conv2d": (
        SEPARABLE,
        separable_conv,
    ),
    "max_pool": (POOL, pool, {"mode": "max"}),
    "max_pool1d": (POOL, pool, {"mode": "max"}),
    "max_pool2d": (POOL, pool, {"mode": "max"}),
    "max_pool3d": (POOL, pool, {"mode": "max"}),
    "avg_pool": (POOL, pool, {"mode": "average"}),
    "avg_pool1d": (POOL, pool, {"mode": "average"}),
    "avg_pool2d": (POOL, pool, {"mode": "average"}),
    "avg_pool3d": (POOL, pool, {"mode": "average"}),
    "pool": (
        (
            "input>x window_shape>pool_size pooling_type>pool_mode strides padding data_format dilations> "
            "name>"
        ),
        pool_by_name,
    ),
    "batch_normalization": ("x mean> variance> offset scale variance_epsilon> name>", batch_normalization),
    "fused_batch_norm": (
        (
            "x scale offset mean> variance> epsilon> data_format> is_training> name> "
            "exponential_avg_factor>"
        ),
        fused_batch_norm,
    ),
    "local_response_normalization": ("input>x depth_radius bias> alpha> beta> name>", local_response),
    "lrn": ("input>x depth_radius bias> alpha> beta> name>", local_response),
    "space_to_depth": ("input>x block_size data_format name>", space_to_depth),
    "depth_to_space": ("input>x block_size data_format name>", depth_to_space),
    "top_k": ("input>x k sorted index_type> name>", top_k),
    "max_pool_with_argmax": (
        "input>x ksize>pool_size strides padding data_format output_dtype> include_batch_in_index> name> Targmax>",
        max_pool_with_argmax,
    ),
    "crelu": ("features>x axis name>", crelu),
    "log_sigmoid": ("x name>", unary, {"kind": "log_sigmoid"}),
    "embedding_lookup": ("params>x ids>indices max_norm> name>", gather),
}  # fmt: skip
