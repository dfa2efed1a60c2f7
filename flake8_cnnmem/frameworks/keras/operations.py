"""keras.ops.*: the functions of Keras 3, as a table."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras import functions as f
from flake8_cnnmem.frameworks.keras import windows as w
from flake8_cnnmem.frameworks.keras.activations import KINDS
from flake8_cnnmem.frameworks.keras.tables import Entry, Table

UNARY = {
    "abs": "abs", "absolute": "abs", "exp": "exp", "expm1": "exp", "log": "log", "log10": "log", "log1p": "log",
    "log2": "log", "sqrt": "sqrt", "rsqrt": "rsqrt", "square": "square", "negative": "neg", "sign": "sign", "sin": "sin",
    "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh",
    "arctanh": "atanh", "floor": "floor", "ceil": "ceil", "reciprocal": "reciprocal", "erf": "erf",
    "erfinv": "erfinv", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "logical_not": "logical_not",
    "conj": "conj", "real": "real", "imag": "imag",
}  # fmt: skip

BINARY = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "true_divide": "divide",
    "divide_no_nan": "divide", "floor_divide": "floor_divide", "mod": "mod", "power": "power", "maximum": "maximum",
    "minimum": "minimum", "less": "less", "less_equal": "less_equal", "greater": "greater",
    "greater_equal": "greater_equal", "equal": "equal", "not_equal": "not_equal", "logical_and": "logical",
    "logical_or": "logical", "logical_xor": "logical", "arctan2": "atan2", "hypot": "hypot",
}  # fmt: skip

REDUCTIONS = {
    "mean": "mean", "sum": "sum", "max": "max", "amax": "max", "min": "min", "amin": "min",
    "var": "var", "std": "std", "any": "any", "all": "all", "argmax": "argmax", "argmin": "argmin",
    "logsumexp": "logsumexp", "median": "median", "count_nonzero": "sum",
}  # fmt: skip

ENTRIES: dict[str, Entry] = {
    **{name: ("x", f.unary, {"kind": kind, "name": name}) for name, kind in UNARY.items()},
    **{name: ("x1>x x2>y", f.binary, {"kind": kind, "name": name}) for name, kind in BINARY.items()},
    **{
        name: ("x axis keepdims * initial> ord> dtype>", f.reduce, {"kind": kind, "name": name})
        for name, kind in REDUCTIONS.items()
    },
    **{
        name: ("x *", f.activation, {"kind": kind, "name": name})
        for name, kind in KINDS.items()
        if name not in ("linear", "identity")
    },
    "softmax": ("x axis>", f.unary, {"kind": "softmax"}),
    "log_softmax": ("x axis>", f.unary, {"kind": "log_softmax"}),
    "leaky_relu": ("x negative_slope>", f.unary, {"kind": "leaky_relu"}),
    "elu": ("x alpha>", f.unary, {"kind": "elu"}),
    "celu": ("x alpha>", f.unary, {"kind": "celu"}),
    "gelu": ("x approximate>", f.unary, {"kind": "gelu"}),
    "round": ("x decimals>", f.unary, {"kind": "round"}),
    "nan_to_num": ("x nan> posinf> neginf>", f.unary, {"kind": "nan_to_num"}),
    "prod": ("x axis keepdims dtype>", f.reduce, {"kind": "prod"}),
    "norm": ("x ord> axis keepdims", f.reduce, {"kind": "norm"}),
    "hard_shrink": ("x threshold>", f.unary, {"kind": "hardshrink"}),
    "soft_shrink": ("x threshold>", f.unary, {"kind": "softshrink"}),
    "sparsemax": ("x axis>", f.unary, {"kind": "sparsemax"}),
    "squareplus": ("x b>", f.unary, {"kind": "squareplus"}),
    "threshold": ("x threshold> default_value>", f.unary, {"kind": "threshold"}),
    "cumsum": ("x axis dtype>", f.reduce, {"kind": "cumsum"}),
    "cumprod": ("x axis dtype>", f.reduce, {"kind": "cumprod"}),
    "argsort": ("x axis", f.reduce, {"kind": "argsort"}),
    "clip": ("x x_min>low x_max>high", f.clip),
    "cast": ("x dtype", f.cast),
    "where": ("condition x1>x x2>y", f.where),
    "normalize": ("x axis order epsilon>", f.normalize),
    "top_k": ("x k sorted", f.top_k),
    "sort": ("x axis", f.sort),
    "moments": ("x axes keepdims synchronized>", f.moments),
    "stop_gradient": ("variable>x", f.stop_gradient),
    "identity_op": ("x", f.identity),
    "convert_to_tensor": ("x>value dtype sparse> ragged>", f.to_tensor),
    "array": ("x>value dtype", f.to_tensor),
    "convert_to_numpy": ("x", f.same),
    "copy": ("x", f.same),
    "is_tensor": ("x", lambda run, x: isinstance(x, f.Tensor)),
    "shape": ("x", f.ops_shape),
    "ndim": ("x", f.ndim),
    "size": ("x", f.size),
    "reshape": ("x newshape>shape", f.reshape),
    "ravel": ("x", f.flatten),
    "transpose": ("x axes", f.transpose),
    "swapaxes": ("x axis1 axis2", f.swapaxes),
    "moveaxis": ("x source destination", f.moveaxis),
    "expand_dims": ("x axis", f.expand_dims),
    "squeeze": ("x axis", f.squeeze),
    "concatenate": ("xs>tensors axis", f.concatenate),
    "stack": ("x>tensors axis", f.stack),
    "unstack": ("x num axis", f.unstack),
    "split": ("x indices_or_sections axis", f.split_at),
    "tile": ("x repeats>multiples", f.tile),
    "repeat": ("x repeats axis", f.repeat),
    "broadcast_to": ("x shape", f.broadcast_to),
    "roll": ("x shift axis", f.roll),
    "flip": ("x axis", f.flip),
    "pad": ("x pad_width>paddings mode constant_values", f.pad),
    "take": ("x indices axis", f.gather),
    "slice": ("inputs>x start_indices>begin shape>size", f.strided_slice),
    "matmul": ("x1>x x2>y", f.matmul),
    "dot": ("x1>x x2>y", f.dot),
    "tensordot": ("x1>x x2>y axes", f.tensordot),
    "einsum": ("subscripts *operands", f.einsum),
    "zeros": ("shape dtype", f.filled),
    "ones": ("shape dtype", f.filled, {"value": 1}),
    "full": ("shape fill_value>value dtype", f.filled),
    "empty": ("shape dtype", f.filled),
    "zeros_like": ("x dtype", f.like),
    "ones_like": ("x dtype", f.like),
    "full_like": ("x fill_value> dtype", f.like),
    "arange": ("start stop step dtype", f.arange),
    "linspace": ("start stop num endpoint> retstep> dtype> axis>", f.linspace),
    "eye": ("N>n M>m k> dtype>", f.eye),
    "identity": ("n dtype>", f.eye),
    "one_hot": ("x num_classes>depth axis dtype sparse>", f.one_hot),
    "conv": ("inputs>x kernel strides padding data_format dilation_rate", w.conv),
    "conv_transpose": (
        "inputs>x kernel strides padding output_padding data_format dilation_rate", w.conv_transpose
    ),
    "depthwise_conv": ("inputs>x kernel strides padding data_format dilation_rate", w.depthwise_conv),
    "separable_conv": (
        "inputs>x depthwise_kernel pointwise_kernel strides padding data_format dilation_rate", w.separable_conv
    ),
    "max_pool": ("inputs>x pool_size strides padding data_format", w.pool, {"mode": "max"}),
    "average_pool": ("inputs>x pool_size strides padding data_format", w.pool, {"mode": "average"}),
    "batch_normalization": ("x mean> variance> axis offset scale epsilon>", w.batch_normalization),
    "layer_normalization": ("x gamma> beta> axis> epsilon>", w.layer_normalization),
    "dot_product_attention": (
        "query key value bias> mask> scale> is_causal flash_attention> attn_logits_soft_cap>", w.dot_product_attention
    ),
}  # fmt: skip

OPS = Table(ENTRIES)

RANDOM = Table(
    {
        "normal": ("shape mean> stddev> dtype seed>", f.random),
        "uniform": ("shape minval> maxval> dtype seed>", f.random),
        "truncated_normal": ("shape mean> stddev> dtype seed>", f.random),
        "randint": ("shape minval> maxval> dtype seed>", f.random),
        "dropout": ("inputs>x rate noise_shape seed>", f.dropout),
        "shuffle": ("x axis> seed>", f.identity),
    }
)

IMAGE = Table(
    {
        "resize": (
            "images size interpolation>method antialias> crop_to_aspect_ratio> pad_to_aspect_ratio> fill_mode> "
            "fill_value> data_format",
            f.resize,
        ),
        "rgb_to_grayscale": ("images>x data_format", w.to_grayscale),
    }
)
