"""TensorFlow's functions (`tf.*`, `tf.nn.*`, `tf.image.*`, ...) as tables."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.functions.control import checkpointed, conditional
from flake8_cnnmem.frameworks.keras.functions.creation import (
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
from flake8_cnnmem.frameworks.keras.functions.elementwise import (
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
from flake8_cnnmem.frameworks.keras.functions.images import (
    crop,
    depth_to_space,
    extract_patches,
    fit,
    more_channels,
    resize,
    space_to_depth,
)
from flake8_cnnmem.frameworks.keras.functions.matrices import einsum, matmul, tensordot
from flake8_cnnmem.frameworks.keras.functions.reductions import moments, reduce, sort, top_k
from flake8_cnnmem.frameworks.keras.functions.shaping import (
    broadcast_to,
    concatenate,
    crelu,
    expand_dims,
    flip,
    gather,
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
    swapaxes,
    tile,
    transpose,
    unstack,
)
from flake8_cnnmem.frameworks.keras.functions.tables import Entry, Table
from flake8_cnnmem.frameworks.keras.functions.windows import (
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
    to_grayscale,
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
    **{name: ("x name>", unary, {"kind": kind, "name": name}) for name, kind in UNARY.items()},
    **{name: ("x y name>", binary, {"kind": kind, "name": name}) for name, kind in BINARY.items()},
    **{name: (REDUCE, reduce, {"kind": kind, "name": name}) for name, kind in REDUCTIONS.items()},
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
    "crelu": ("features>x axis name>", crelu),
    "log_sigmoid": ("x name>", unary, {"kind": "log_sigmoid"}),
    "embedding_lookup": ("params>x ids>indices max_norm> name>", gather),
}  # fmt: skip


RESIZE = "images size method preserve_aspect_ratio> antialias> name> align_corners> half_pixel_centers>"


IMAGE: dict[str, Entry] = {
    "resize": (RESIZE, resize),
    "resize_images": (RESIZE, resize),
    "resize_bilinear": ("images size align_corners> name> half_pixel_centers>", resize, {"method": "bilinear"}),
    "resize_nearest_neighbor": ("images size align_corners> name> half_pixel_centers>", resize, {"method": "nearest"}),
    "resize_bicubic": ("images size align_corners> name> half_pixel_centers>", resize, {"method": "bicubic"}),
    "resize_area": ("images size align_corners> name>", resize, {"method": "area"}),
    "crop_to_bounding_box": ("image offset_height offset_width target_height target_width", crop),
    "resize_with_crop_or_pad": ("image target_height target_width", fit),
    "resize_image_with_crop_or_pad": ("image target_height target_width", fit),
    "resize_with_pad": ("image target_height target_width method> antialias>", fit),
    "extract_patches": ("images sizes strides rates padding name>", extract_patches),
    "extract_image_patches": ("images ksizes strides rates padding name> sizes", extract_patches),
    "grayscale_to_rgb": ("images>x name>", more_channels),
    **{
        name: ("images>x name>", unary, {"kind": "augment"})
        for name in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yuv", "yuv_to_rgb")
    },
    "flip_left_right": ("image>x", flip, {"axis": -2}),
    "flip_up_down": ("image>x", flip, {"axis": -3}),
    "rgb_to_grayscale": ("images>x name>", to_grayscale),
    "per_image_standardization": ("image>x", unary, {"kind": "scale"}),
}


RANDOM: dict[str, Entry] = {
    "normal": ("shape mean> stddev> dtype seed> name>", random),
    "uniform": ("shape minval> maxval> dtype seed> name>", random),
    "truncated_normal": ("shape mean> stddev> dtype seed> name>", random),
    "shuffle": ("value>x seed> name>", identity),
}


LINALG: dict[str, Entry] = {
    "matmul": CORE["matmul"],
    "einsum": CORE["einsum"],
    "norm": MATH["norm"],
    "l2_normalize": MATH["l2_normalize"],
    "tensordot": CORE["tensordot"],
    "eye": CORE["eye"],
    "band_part": ("input>x num_lower> num_upper> name>", unary, {"kind": "copy"}),
    "matrix_transpose": ("a>x name> conjugate>", swapaxes, {"axis1": -1, "axis2": -2}),
}


TABLES: dict[str, Table] = {
    "": Table(CORE),
    "math": Table({**MATH, "sigmoid": NN["sigmoid"], "softmax": NN["softmax"], "softplus": NN["softplus"]}),
    "nn": Table(NN),
    "image": Table(IMAGE),
    "random": Table(RANDOM),
    "linalg": Table(LINALG),
}
