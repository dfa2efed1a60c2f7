"""keras.ops.*: the functions of Keras 3, as a table."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.activations import KINDS
from flake8_cnnmem.frameworks.keras.ops.control import conditional
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
)
from flake8_cnnmem.frameworks.keras.ops.elementwise import (
    activation,
    binary,
    cast,
    clip,
    dropout,
    identity,
    normalize,
    same,
    stop_gradient,
    unary,
    where,
)
from flake8_cnnmem.frameworks.keras.ops.images import crop_images, depth_to_space, patches, resize, space_to_depth
from flake8_cnnmem.frameworks.keras.ops.matrices import dot, einsum, matmul, outer, tensordot
from flake8_cnnmem.frameworks.keras.ops.picking import gather
from flake8_cnnmem.frameworks.keras.ops.reductions import moments, reduce, sort, top_k
from flake8_cnnmem.frameworks.keras.ops.shaping import (
    broadcast_to,
    concatenate,
    expand_dims,
    flatten,
    flip,
    joined,
    moveaxis,
    ndim,
    ops_shape,
    pad,
    repeat,
    reshape,
    roll,
    size,
    split_at,
    squeeze,
    stack,
    strided_slice,
    swapaxes,
    take_along,
    tile,
    transpose,
    unstack,
)
from flake8_cnnmem.frameworks.keras.ops.tables import Entry, Table
from flake8_cnnmem.frameworks.keras.ops.windows import (
    batch_normalization,
    conv,
    conv_transpose,
    depthwise_conv,
    dot_product_attention,
    layer_normalization,
    pool,
    separable_conv,
    to_grayscale,
)
from flake8_cnnmem.graph import Tensor

UNARY = {
    "abs": "abs", "absolute": "abs", "fabs": "abs", "arccosh": "acosh", "arcsinh": "asinh", "cbrt": "pow",
    "conjugate": "conj", "deg2rad": "scale", "rad2deg": "scale", "erfc": "erf", "exp2": "exp", "sinc": "sin",
    "trunc": "floor", "isneginf": "isinf", "isposinf": "isinf", "isreal": "isnan", "signbit": "sign", "angle": "angle",
    "i0": "exp", "exp": "exp", "expm1": "exp", "log": "log", "log10": "log", "log1p": "log", "log2": "log",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "square": "square", "negative": "neg", "sign": "sign", "sin": "sin",
    "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh",
    "arctanh": "atanh", "floor": "floor", "ceil": "ceil", "reciprocal": "reciprocal", "erf": "erf", "erfinv": "erfinv",
    "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite", "logical_not": "logical_not", "conj": "conj",
    "real": "real", "imag": "imag",
}  # fmt: skip

BINARY = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide", "true_divide": "divide",
    "divide_no_nan": "divide", "floor_divide": "floor_divide", "mod": "remainder", "fmod": "remainder",
    "logaddexp": "logaddexp", "fmax": "maximum", "fmin": "minimum", "power": "power",
    "maximum": "maximum", "minimum": "minimum", "less": "less", "less_equal": "less_equal", "greater": "greater",
    "greater_equal": "greater_equal", "equal": "equal", "not_equal": "not_equal", "logical_and": "logical",
    "logical_or": "logical", "logical_xor": "logical", "arctan2": "atan2", "hypot": "hypot",
}  # fmt: skip

REDUCTIONS = {
    "mean": "mean", "sum": "sum", "max": "max", "amax": "max", "min": "min", "amin": "min",
    "var": "var", "std": "std", "any": "any", "all": "all", "argmax": "argmax", "argmin": "argmin",
    "median": "median", "nanmax": "max", "nanmin": "min", "nanmean": "mean", "nansum": "sum", "nanstd": "std",
    "nanvar": "var", "nanprod": "prod",
}  # fmt: skip

ENTRIES: dict[str, Entry] = {
    **{name: ("x", unary, {"kind": kind, "name": name}) for name, kind in UNARY.items()},
    **{name: ("x1>x x2>y", binary, {"kind": kind, "name": name}) for name, kind in BINARY.items()},
    **{
        name: ("x axis keepdims * initial> ord> dtype>", reduce, {"kind": kind, "name": name})
        for name, kind in REDUCTIONS.items()
    },
    **{
        name: ("x *", activation, {"kind": kind, "name": name})
        for name, kind in KINDS.items()
        if name not in ("linear", "identity")
    },
    "logsumexp": ("x axis keepdims", reduce, {"kind": "logsumexp"}),
    "count_nonzero": ("x axis", reduce, {"kind": "sum"}),
    "average": ("x axis weights>", reduce, {"kind": "mean"}),
    "triu": ("x k>", unary, {"kind": "copy"}),
    "tril": ("x k>", unary, {"kind": "copy"}),
    "saturate_cast": ("x dtype", cast),
    "outer": ("x1>x x2>y", outer),
    "hstack": ("xs>tensors", joined, {"axis": 1}),
    "vstack": ("xs>tensors", joined, {"axis": 0}),
    "dstack": ("xs>tensors", joined, {"axis": 2}),
    "meshgrid": ("*x indexing", meshgrid),
    "take_along_axis": ("x indices axis", take_along),
    "cond": ("pred true_fn false_fn", conditional),
    "slice_update": ("inputs>x start_indices> updates>", unary, {"kind": "copy"}),
    "scatter_update": ("inputs>x indices> updates> reduction>", unary, {"kind": "copy"}),
    "fliplr": ("x", flip, {"axis": 1}),
    "flipud": ("x", flip, {"axis": 0}),
    "dtype": ("x", lambda run, x: run.get(x, "dtype")),
    "depth_to_space": ("x block_size data_format", depth_to_space),
    "space_to_depth": ("x block_size data_format", space_to_depth),
    "rms_normalization": ("x scale> axis> epsilon>", layer_normalization),
    "softmax": ("x axis>", unary, {"kind": "softmax"}),
    "log_softmax": ("x axis>", unary, {"kind": "log_softmax"}),
    "leaky_relu": ("x negative_slope>", unary, {"kind": "leaky_relu"}),
    "elu": ("x alpha>", unary, {"kind": "elu"}),
    "celu": ("x alpha>", unary, {"kind": "celu"}),
    "gelu": ("x approximate>", unary, {"kind": "gelu"}),
    "round": ("x decimals>", unary, {"kind": "round"}),
    "nan_to_num": ("x nan> posinf> neginf>", unary, {"kind": "nan_to_num"}),
    "prod": ("x axis keepdims dtype>", reduce, {"kind": "prod"}),
    "norm": ("x ord> axis keepdims", reduce, {"kind": "norm"}),
    "hard_shrink": ("x threshold>", unary, {"kind": "hardshrink"}),
    "soft_shrink": ("x threshold>", unary, {"kind": "softshrink"}),
    "sparsemax": ("x axis>", unary, {"kind": "sparsemax"}),
    "squareplus": ("x b>", unary, {"kind": "squareplus"}),
    "threshold": ("x threshold> default_value>", unary, {"kind": "threshold"}),
    "cumsum": ("x axis dtype>", reduce, {"kind": "cumsum"}),
    "cumprod": ("x axis dtype>", reduce, {"kind": "cumprod"}),
    "argsort": ("x axis", reduce, {"kind": "argsort"}),
    "isclose": ("x1>x x2>y rtol> atol> equal_nan>", binary, {"kind": "equal", "name": "isclose"}),
    "clip": ("x x_min>low x_max>high", clip),
    "cast": ("x dtype", cast),
    "where": ("condition x1>x x2>y", where),
    "normalize": ("x axis order epsilon>", normalize),
    "top_k": ("x k sorted", top_k),
    "sort": ("x axis", sort),
    "moments": ("x axes keepdims synchronized>", moments),
    "stop_gradient": ("variable>x", stop_gradient),
    "identity_op": ("x", identity),
    "convert_to_tensor": ("x>value dtype sparse> ragged>", to_tensor),
    "array": ("x>value dtype", to_tensor),
    "convert_to_numpy": ("x", same),
    "copy": ("x", same),
    "is_tensor": ("x", lambda run, x: isinstance(x, Tensor)),
    "shape": ("x", ops_shape),
    "ndim": ("x", ndim),
    "size": ("x", size),
    "reshape": ("x newshape>shape", reshape),
    "ravel": ("x", flatten),
    "transpose": ("x axes", transpose),
    "swapaxes": ("x axis1 axis2", swapaxes),
    "moveaxis": ("x source destination", moveaxis),
    "expand_dims": ("x axis", expand_dims),
    "squeeze": ("x axis", squeeze),
    "concatenate": ("xs>tensors axis", concatenate),
    "stack": ("x>tensors axis", stack),
    "unstack": ("x num axis", unstack),
    "split": ("x indices_or_sections axis", split_at),
    "tile": ("x repeats>multiples", tile),
    "repeat": ("x repeats axis", repeat),
    "broadcast_to": ("x shape", broadcast_to),
    "roll": ("x shift axis", roll),
    "flip": ("x axis", flip),
    "pad": ("x pad_width>paddings mode constant_values", pad),
    "take": ("x indices axis", gather),
    "slice": ("inputs>x start_indices>begin shape>size", strided_slice),
    "matmul": ("x1>x x2>y", matmul),
    "dot": ("x1>x x2>y", dot),
    "tensordot": ("x1>x x2>y axes", tensordot),
    "einsum": ("subscripts *operands", einsum),
    "zeros": ("shape dtype", filled),
    "ones": ("shape dtype", filled, {"value": 1}),
    "full": ("shape fill_value>value dtype", filled),
    "empty": ("shape dtype", filled),
    "zeros_like": ("x dtype", like),
    "ones_like": ("x dtype", like),
    "full_like": ("x fill_value> dtype", like),
    "arange": ("start stop step dtype", arange),
    "linspace": ("start stop num endpoint> retstep> dtype> axis>", linspace),
    "eye": ("N>n M>m k> dtype>", eye),
    "identity": ("n dtype>", eye),
    "one_hot": ("x num_classes>depth axis dtype sparse>", one_hot),
    "conv": ("inputs>x kernel strides padding data_format dilation_rate", conv),
    "conv_transpose": (
        "inputs>x kernel strides padding output_padding data_format dilation_rate", conv_transpose
    ),
    "depthwise_conv": ("inputs>x kernel strides padding data_format dilation_rate", depthwise_conv),
    "separable_conv": (
        "inputs>x depthwise_kernel pointwise_kernel strides padding data_format dilation_rate", separable_conv
    ),
    "max_pool": ("inputs>x pool_size strides padding data_format", pool, {"mode": "max"}),
    "average_pool": ("inputs>x pool_size strides padding data_format", pool, {"mode": "average"}),
    "batch_normalization": ("x mean> variance> axis offset scale epsilon>", batch_normalization),
    "layer_normalization": ("x gamma> beta> axis> epsilon>", layer_normalization),
    "dot_product_attention": (
        "query key value bias> mask> scale> is_causal flash_attention> attn_logits_soft_cap>", dot_product_attention
    ),
}  # fmt: skip

OPS = Table(ENTRIES)

RANDOM = Table(
    {
        "normal": ("shape mean> stddev> dtype seed>", random),
        "uniform": ("shape minval> maxval> dtype seed>", random),
        "truncated_normal": ("shape mean> stddev> dtype seed>", random),
        "randint": ("shape minval> maxval> dtype seed>", random),
        "dropout": ("inputs>x rate noise_shape seed>", dropout),
        "shuffle": ("x axis> seed>", identity),
    }
)

RESIZE = (
    "images size interpolation>method antialias> crop_to_aspect_ratio> pad_to_aspect_ratio> fill_mode> fill_value> "
    "data_format"
)

IMAGE = Table(
    {
        "resize": (
            RESIZE,
            resize,
        ),
        "rgb_to_grayscale": ("images>x data_format", to_grayscale),
        "rgb_to_hsv": ("images>x data_format>", unary, {"kind": "augment"}),
        "hsv_to_rgb": ("images>x data_format>", unary, {"kind": "augment"}),
        "gaussian_blur": ("images>x kernel_size> sigma> data_format>", unary, {"kind": "augment"}),
        "extract_patches": ("images size strides dilation_rate padding data_format", patches),
        "crop_images": (
            "images top_cropping left_cropping bottom_cropping right_cropping target_height target_width data_format",
            crop_images,
        ),
    }
)
