"""The TensorFlow functions that Keras code uses (`tf.*`, `tf.nn.*`, `tf.image.*`, ...), as tables."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras import functions as f
from flake8_cnnmem.frameworks.keras import windows as w
from flake8_cnnmem.frameworks.keras.backend import NAME_SCOPE, in_train_phase, variable
from flake8_cnnmem.frameworks.keras.data import DATASET
from flake8_cnnmem.frameworks.keras.dtypes import DTYPE, DTYPES
from flake8_cnnmem.frameworks.keras.inputs import input_for
from flake8_cnnmem.frameworks.keras.shapes import TENSOR_SHAPE
from flake8_cnnmem.frameworks.keras.stubs import LAYERS
from flake8_cnnmem.frameworks.keras.tables import Entry, Table
from flake8_cnnmem.frameworks.keras.tensors import TENSOR, VARIABLE
from flake8_cnnmem.frameworks.keras.utilities import decorator_factory, identity_decorator, nothing
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Property, Run, Value

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
    "div": "divide", "div_no_nan": "divide", "divide_no_nan": "divide", "multiply_no_nan": "multiply", "sub": "subtract",
    "mul": "multiply", "floordiv": "floor_divide", "floor_div": "floor_divide", "mod": "mod", "floormod": "mod",
    "pow": "power", "maximum": "maximum", "minimum": "minimum", "squared_difference": "subtract", "less": "less",
    "less_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal", "equal": "equal",
    "not_equal": "not_equal", "logical_and": "logical", "logical_or": "logical", "logical_xor": "logical",
    "xlogy": "multiply",
}  # fmt: skip

REDUCTIONS = {
    "reduce_mean": "mean", "reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min", "reduce_prod": "prod",
    "reduce_variance": "var", "reduce_std": "std", "reduce_any": "any", "reduce_all": "all",
    "reduce_logsumexp": "logsumexp", "reduce_euclidean_norm": "norm",
}  # fmt: skip

REDUCE = "input_tensor>x axis keepdims name> reduction_indices>axis keep_dims>keepdims"

MATH: dict[str, Entry] = {
    **{name: ("x name>", f.unary, {"kind": kind, "name": name}) for name, kind in UNARY.items()},
    **{name: ("x y name>", f.binary, {"kind": kind, "name": name}) for name, kind in BINARY.items()},
    **{name: (REDUCE, f.reduce, {"kind": kind, "name": name}) for name, kind in REDUCTIONS.items()},
    **{name: ("input>x name>", f.unary, {"kind": name}) for name in ("angle", "real", "imag")},
    "softsign": ("features>x name> x", f.unary, {"kind": "softsign"}),
    "atan2": ("y x name>", f.binary, {"kind": "atan2"}),
    "argmax": ("input>x axis output_type> name> dimension>axis", f.reduce, {"kind": "argmax", "axis": 0}),
    "argmin": ("input>x axis output_type> name> dimension>axis", f.reduce, {"kind": "argmin", "axis": 0}),
    "cumsum": ("x axis exclusive> reverse> name>", f.reduce, {"kind": "cumsum"}),
    "cumprod": ("x axis exclusive> reverse> name>", f.reduce, {"kind": "cumprod"}),
    "add_n": ("inputs name>", f.variadic, {"kind": "add"}),
    "accumulate_n": ("inputs shape> tensor_dtype> name>", f.variadic, {"kind": "add"}),
    "l2_normalize": ("x axis epsilon> name> dim>axis", f.normalize),
    "top_k": ("input>x k sorted index_type> name>", f.top_k),
    "norm": ("tensor>x ord> axis keepdims name>", f.reduce, {"kind": "norm"}),
}  # fmt: skip

CORE: dict[str, Entry] = {
    **MATH,
    "clip_by_value": ("t>x clip_value_min>low clip_value_max>high name>", f.clip),
    "clip_by_norm": ("t>x clip_norm>low axes>high name>", f.clip),
    "cast": ("x dtype name>", f.cast),
    "to_float": ("x name>", f.cast, {"dtype": "float32"}),
    "to_int32": ("x name>", f.cast, {"dtype": "int32"}),
    "saturate_cast": ("value>x dtype name>", f.cast),
    "where": ("condition x y name>", f.where),
    "identity": ("input>x name>", f.identity),
    "stop_gradient": ("input>x name>", f.stop_gradient),
    "shape": ("input>x out_type> name>", f.shape),
    "rank": ("input>x name>", f.ndim),
    "size": ("input>x out_type> name>", f.size),
    "reshape": ("tensor>x shape name>", f.reshape),
    "transpose": ("a>x perm>axes conjugate name>", f.transpose),
    "expand_dims": ("input>x axis name> dim>axis", f.expand_dims),
    "squeeze": ("input>x axis name> squeeze_dims>axis", f.squeeze),
    "concat": ("values>tensors axis name> concat_dim>axis", f.concatenate),
    "stack": ("values>tensors axis name>", f.stack),
    "unstack": ("value>x num axis name>", f.unstack),
    "split": ("value>x num_or_size_splits>parts_or_sizes axis num> name>", f.split),
    "tile": ("input>x multiples name>", f.tile),
    "repeat": ("input>x repeats axis name>", f.repeat),
    "broadcast_to": ("input>x shape name>", f.broadcast_to),
    "roll": ("input>x shift axis name>", f.roll),
    "reverse": ("tensor>x axis name>", f.flip),
    "pad": ("tensor>x paddings mode constant_values name>", f.pad),
    "gather": ("params>x indices validate_indices> axis batch_dims name>", f.gather),
    "slice": ("input_>x begin size name>", f.strided_slice),
    "matmul": ("a>x b>y transpose_a transpose_b adjoint_a> adjoint_b> a_is_sparse> b_is_sparse> output_type> grad_a> grad_b> name>", f.matmul),
    "tensordot": ("a>x b>y axes name>", f.tensordot),
    "einsum": ("equation *inputs", f.einsum),
    "zeros": ("shape dtype name> layout>", f.filled),
    "ones": ("shape dtype name> layout>", f.filled, {"value": 1}),
    "fill": ("dims>shape value name> layout>", f.filled),
    "zeros_like": ("input>x dtype name> layout> tensor>x", f.like),
    "ones_like": ("input>x dtype name> layout> tensor>x", f.like),
    "range": ("start limit>stop delta>step dtype name>", f.arange),
    "linspace": ("start stop num name> axis>", f.linspace),
    "eye": ("num_rows>n num_columns>m batch_shape> dtype> name>", f.eye),
    "one_hot": ("indices>x depth on_value> off_value> axis dtype name>", f.one_hot),
    "constant": ("value dtype shape> name> verify_shape>", f.to_tensor),
    "convert_to_tensor": ("value dtype dtype_hint> name> preferred_dtype>", f.to_tensor),
    "ensure_shape": ("x shape name>", f.with_shape),
    "sort": ("values>x axis direction> name>", f.sort),
    "argsort": ("values>x axis direction> stable> name>", f.reduce, {"kind": "argsort"}),
    "space_to_depth": ("input>x block_size data_format name>", f.space_to_depth),
    "depth_to_space": ("input>x block_size data_format name>", f.depth_to_space),
    "random_normal": ("shape mean> stddev> dtype seed> name>", f.random),
    "random_uniform": ("shape minval> maxval> dtype seed> name>", f.random),
    "truncated_normal": ("shape mean> stddev> dtype seed> name>", f.random),
}  # fmt: skip

CONV = "input>x filters>kernel strides padding data_format dilations>dilation_rate name> filter>kernel use_cudnn_on_gpu> rate>dilation_rate"
POOL = "input>x ksize>pool_size strides padding data_format name> value>x"

NN: dict[str, Entry] = {
    **{
        name: ("features>x name> x", f.unary, {"kind": kind})
        for name, kind in {
            "relu": "relu", "relu6": "relu6", "elu": "elu", "selu": "selu", "softplus": "softplus",
            "softsign": "softsign",
        }.items()
    },
    "silu": ("features>x beta> name> x", f.unary, {"kind": "silu"}),
    "swish": ("features>x beta> name> x", f.unary, {"kind": "silu"}),
    "leaky_relu": ("features>x alpha> name>", f.unary, {"kind": "leaky_relu"}),
    "gelu": ("features>x approximate> name>", f.unary, {"kind": "gelu"}),
    "sigmoid": ("x name>", f.unary, {"kind": "sigmoid"}),
    "tanh": ("x name>", f.unary, {"kind": "tanh"}),
    "softmax": ("logits>x axis> name> dim>", f.unary, {"kind": "softmax"}),
    "log_softmax": ("logits>x axis> name>", f.unary, {"kind": "log_softmax"}),
    "l2_normalize": ("x axis epsilon> name> dim>axis", f.normalize),
    "dropout": ("x rate noise_shape seed> name> keep_prob", f.dropout),
    "moments": ("x axes shift keepdims name> keep_dims>keepdims", f.moments),
    "bias_add": ("value>x bias data_format name>", w.bias_add),
    "conv1d": ("input>x filters>kernel stride>strides padding data_format dilations>dilation_rate name> filter>kernel value>x", w.conv),
    "conv2d": (CONV, w.conv),
    "conv3d": (CONV, w.conv),
    "convolution": ("input>x filters>kernel strides padding data_format dilations>dilation_rate name> filter>kernel dilation_rate", w.conv),
    "atrous_conv2d": ("value>x filters>kernel rate>dilation_rate padding name>", w.conv),
    "conv2d_transpose": (
        "input>x filters>kernel output_shape strides padding data_format dilations>dilation_rate name> filter>kernel value>x",
        w.conv_transpose,
    ),
    "depthwise_conv2d": (
        "input>x filter>kernel strides padding data_format dilations>dilation_rate name> rate>dilation_rate", w.depthwise_conv
    ),
    "separable_conv2d": (
        "input>x depthwise_filter>depthwise_kernel pointwise_filter>pointwise_kernel strides padding data_format "
        "dilations>dilation_rate name>",
        w.separable_conv,
    ),
    "max_pool": (POOL, w.pool, {"mode": "max"}),
    "max_pool1d": (POOL, w.pool, {"mode": "max"}),
    "max_pool2d": (POOL, w.pool, {"mode": "max"}),
    "max_pool3d": (POOL, w.pool, {"mode": "max"}),
    "avg_pool": (POOL, w.pool, {"mode": "average"}),
    "avg_pool1d": (POOL, w.pool, {"mode": "average"}),
    "avg_pool2d": (POOL, w.pool, {"mode": "average"}),
    "avg_pool3d": (POOL, w.pool, {"mode": "average"}),
    "pool": ("input>x window_shape>pool_size pooling_type>pool_mode strides padding data_format dilations> name>", w.pool_by_name),
    "batch_normalization": ("x mean> variance> offset scale variance_epsilon> name>", w.batch_normalization),
    "fused_batch_norm": ("x scale offset mean> variance> epsilon> data_format> is_training> name> exponential_avg_factor>", w.fused_batch_norm),
    "local_response_normalization": ("input>x depth_radius bias> alpha> beta> name>", w.local_response),
    "lrn": ("input>x depth_radius bias> alpha> beta> name>", w.local_response),
    "space_to_depth": ("input>x block_size data_format name>", f.space_to_depth),
    "depth_to_space": ("input>x block_size data_format name>", f.depth_to_space),
    "top_k": ("input>x k sorted index_type> name>", f.top_k),
    "embedding_lookup": ("params>x ids>indices max_norm> name>", f.gather),
}  # fmt: skip

RESIZE = "images size method preserve_aspect_ratio> antialias> name> align_corners> half_pixel_centers>"

IMAGE: dict[str, Entry] = {
    "resize": (RESIZE, f.resize),
    "resize_images": (RESIZE, f.resize),
    "resize_bilinear": ("images size align_corners> name> half_pixel_centers>", f.resize, {"method": "bilinear"}),
    "resize_nearest_neighbor": ("images size align_corners> name> half_pixel_centers>", f.resize, {"method": "nearest"}),
    "resize_bicubic": ("images size align_corners> name> half_pixel_centers>", f.resize, {"method": "bicubic"}),
    "resize_area": ("images size align_corners> name>", f.resize, {"method": "area"}),
    "flip_left_right": ("image>x", f.flip, {"axis": -2}),
    "flip_up_down": ("image>x", f.flip, {"axis": -3}),
    "rgb_to_grayscale": ("images>x name>", w.to_grayscale),
    "per_image_standardization": ("image>x", f.unary, {"kind": "scale"}),
}

RANDOM: dict[str, Entry] = {
    "normal": ("shape mean> stddev> dtype seed> name>", f.random),
    "uniform": ("shape minval> maxval> dtype seed> name>", f.random),
    "truncated_normal": ("shape mean> stddev> dtype seed> name>", f.random),
    "shuffle": ("value>x seed> name>", f.identity),
}

LINALG: dict[str, Entry] = {
    "matmul": CORE["matmul"],
    "einsum": CORE["einsum"],
    "norm": MATH["norm"],
    "l2_normalize": MATH["l2_normalize"],
    "tensordot": CORE["tensordot"],
    "eye": CORE["eye"],
    "matrix_transpose": ("a>x name> conjugate>", f.swapaxes, {"axis1": -1, "axis2": -2}),
}

TABLES: dict[str, Table] = {
    "": Table(CORE),
    "math": Table({**MATH, "sigmoid": NN["sigmoid"], "softmax": NN["softmax"], "softplus": NN["softplus"]}),
    "nn": Table(NN),
    "image": Table(IMAGE),
    "random": Table(RANDOM),
    "linalg": Table(LINALG),
}

NN_ACTIVATION_ARGUMENT = "x"


# --- objects ------------------------------------------------------------------------------------------------------------


def function_decorator(run: Run, func: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`@tf.function`, with or without arguments."""
    if func is None:
        return Native("decorate", lambda run, function: function, absorb=False)
    return func


def custom_gradient(run: Run, function: Value) -> Value:
    """The function gives its result and its gradient; callers get the result."""

    def call(run: Run, *args: Value, **kwargs: Value) -> Value:
        result = run.call(function, *args, **kwargs)
        return result[0] if isinstance(result, (tuple, list)) and len(result) == 2 else result

    return Native("custom_gradient", call, absorb=False)


def tf_variable(run: Run, initial_value: Value = None, trainable: Value = None, *args: Value, **options: Value) -> Value:
    value = initial_value
    if not isinstance(value, (Tensor, Unknown, int, float, list, tuple, bool)) and value is not None:
        value = run.call(value)
    weight = variable(run, value, name=options.get("name"))
    if trainable is False:
        weight.trainable = False
        weight.buffer = True
    shape = options.get("shape")
    if isinstance(shape, (list, tuple)) and value is None:
        weight.shape = tuple(shape)
    if (isinstance(value, (int, float)) and not isinstance(value, bool)) or isinstance(value, (list, tuple)):
        weight.shape = f.shape_of(value)
    return weight


def get_variable(run: Run, name: Value, shape: Value = None, dtype: Value = None, *args: Value, **options: Value) -> Value:
    made = variable(run, f.random(run, shape, dtype) if shape is not None else options.get("initializer"), name=name)
    return made


def placeholder(run: Run, dtype: Value, shape: Value = None, name: Value = None) -> Value:
    return run.unknown("a placeholder has no shape") if shape is None else input_for(run, shape, name, dtype)


def cond(run: Run, pred: Value, true_fn: Value = None, false_fn: Value = None, name: Value = None, **options: Value) -> Value:
    """Both branches of a condition on tensors have outputs of one shape: the first stands for both."""
    truth = run.truth(pred) if isinstance(pred, (bool, int)) else True
    return run.call(false_fn if truth is False else true_fn)


def is_tensor(run: Run, x: Value) -> Value:
    return isinstance(x, Tensor)


def map_fn(run: Run, fn: Value, elems: Value, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("a function mapped over a tensor's items is not followed")


def static_value(run: Run, tensor: Value, *args: Value, **kwargs: Value) -> Value:
    return f.plain(tensor)


def tensor_scatter(run: Run, tensor: Value, *args: Value, **kwargs: Value) -> Value:
    return f.unary(run, tensor, kind="copy")


def crop(run: Run, image: Value, offset_height: Value, offset_width: Value, target_height: Value, target_width: Value) -> Value:
    """`tf.image.crop_to_bounding_box`."""
    from flake8_cnnmem.ops import Index

    rows = slice(offset_height, run.operate("+", offset_height, target_height))
    columns = slice(offset_width, run.operate("+", offset_width, target_width))
    return f.apply(run, Index((Ellipsis, rows, columns, slice(None))), image, function="crop")


def crop_or_pad(run: Run, image: Value, target_height: Value, target_width: Value) -> Value:
    return f.resize(run, image, (target_height, target_width), "nearest")


def same_image(run: Run, image: Value, *args: Value, **kwargs: Value) -> Value:
    return f.unary(run, image, kind="augment")


def random_crop(run: Run, value: Value, size: Value, *args: Value, **kwargs: Value) -> Value:
    return f.like(run, f.filled(run, size)) if isinstance(size, (list, tuple)) else run.unknown("the size of a crop is not known")


def extract_patches(run: Run, images: Value, sizes: Value = None, strides: Value = None, rates: Value = None, padding: Value = "VALID", **options: Value) -> Value:
    """(N, H, W, C) -> (N, rows, columns, sizes * C): `tf.image.extract_patches`."""
    from flake8_cnnmem.dims import multiply, product
    from flake8_cnnmem.ops import Pool

    sizes = options.get("ksizes", sizes)
    shape = f.shape_of(images)
    if isinstance(shape, Unknown) or not isinstance(sizes, (list, tuple)):
        return run.unknown("the patches of an image are not known")
    kernel, stride = tuple(sizes[1:3]), tuple(strides[1:3])
    grid = Pool("average", kernel, stride, w.named_padding(padding, True), channels_last=True)
    rows = f.apply(run, grid, images, function="extract_patches")
    return Tensor((*rows.shape[:3], multiply(product(kernel), shape[3])), rows.dtype, rows.call, 0, None, "keras")


def module_init(run: Run, self: Instance, name: Value = None, **kwargs: Value) -> None:
    self.attributes["_name"] = name


def absorbing(name: str, **members: Value) -> Class:
    """A class of which only a few members matter; the rest is Unknown."""

    def attribute(run: Run, self: Instance, word: str) -> Value:
        return MISSING if word.startswith("__") else run.unknown(f"{name}.{word} is not followed")

    return Class(
        name,
        namespace={
            "__init__": Native("__init__", lambda run, self, *args, **kwargs: None, absorb=False),
            "__getattr__": Native("__getattr__", attribute, absorb=False),
            **members,
        },
        module="tensorflow",
    )


def enter_self(run: Run, self: Instance) -> Instance:
    return self


def leave(run: Run, self: Instance, *args: Value) -> None:
    """Swallows nothing."""


def not_followed(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return run.unknown(f"what {self.cls.name} gives is not followed")


CONTEXT = {
    "__enter__": Native("__enter__", enter_self, absorb=False),
    "__exit__": Native("__exit__", leave, absorb=False),
}

TAPE = absorbing(
    "GradientTape",
    **CONTEXT,
    gradient=Native("gradient", not_followed, absorb=False),
    watch=Native("watch", lambda run, self, *args: None, absorb=False),
)


def scope(run: Run, self: Instance) -> Value:
    return run.construct(NAME_SCOPE)


def run_function(run: Run, self: Instance, fn: Value, args: Value = (), kwargs: Value = None, **options: Value) -> Value:
    return run.call(fn, *args, **(kwargs or {}))


STRATEGY = absorbing(
    "Strategy",
    scope=Native("scope", scope, absorb=False),
    run=Native("run", run_function, absorb=False),
    # the estimate is of one device: what the code multiplies by the number of devices is one device's share
    num_replicas_in_sync=1,
    experimental_distribute_dataset=Native("experimental_distribute_dataset", lambda run, self, dataset, *args: dataset, absorb=False),
)

MODULE = Class("Module", namespace={"__init__": Native("__init__", module_init, absorb=False)}, module="tensorflow")
TENSOR_SPEC = absorbing("TensorSpec")
SESSION = absorbing("Session", **CONTEXT)


def no_devices(run: Run, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("the machine's devices are not known")


def layer_function(name: str) -> Native:
    """TensorFlow 1's `tf.layers.conv2d(inputs, filters, ...)`: the layer made and called at once."""
    cls_name = TF_LAYERS[name]

    def call(run: Run, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        training = {"training": kwargs.pop("training")} if "training" in kwargs and name in ("dropout", "batch_normalization") else {}
        kwargs.pop("reuse", None)
        if name == "dropout" and not args and "rate" not in kwargs:
            kwargs["rate"] = 0.5
        return run.call(run.construct(LAYERS[cls_name], *args, **kwargs), inputs, **training)

    return Native(name, call, absorb=False)


TF_LAYERS = {
    "conv1d": "Conv1D", "conv2d": "Conv2D", "conv3d": "Conv3D", "conv2d_transpose": "Conv2DTranspose",
    "conv3d_transpose": "Conv3DTranspose", "separable_conv2d": "SeparableConv2D", "dense": "Dense",
    "dropout": "Dropout", "flatten": "Flatten", "max_pooling1d": "MaxPooling1D", "max_pooling2d": "MaxPooling2D",
    "max_pooling3d": "MaxPooling3D", "average_pooling2d": "AveragePooling2D", "average_pooling1d": "AveragePooling1D",
    "batch_normalization": "BatchNormalization",
}  # fmt: skip


def native(function: Value) -> Native:
    return Native(function.__name__, function, absorb=False)


MEMBERS: dict[str, Value] = {
    **DTYPES,
    "function": Native("function", function_decorator, absorb=False),
    "custom_gradient": native(custom_gradient),
    "Variable": Native("Variable", tf_variable, absorb=False),
    "get_variable": native(get_variable),
    "placeholder": native(placeholder),
    "cond": native(cond),
    "is_tensor": native(is_tensor),
    "map_fn": native(map_fn),
    "vectorized_map": native(map_fn),
    "while_loop": native(map_fn),
    "scan": native(map_fn),
    "get_static_value": native(static_value),
    "tensor_scatter_nd_update": native(tensor_scatter),
    "tensor_scatter_nd_add": native(tensor_scatter),
    "numpy_function": native(map_fn),
    "py_function": native(map_fn),
    "gather_nd": native(map_fn),
    "boolean_mask": native(map_fn),
    "Tensor": TENSOR,
    "Module": MODULE,
    "TensorShape": TENSOR_SHAPE,
    "TensorSpec": TENSOR_SPEC,
    "DType": DTYPE,
    "GradientTape": TAPE,
    "Session": SESSION,
    "InteractiveSession": SESSION,
    "Graph": absorbing("Graph", **CONTEXT, as_default=Native("as_default", enter_self, absorb=False)),
    "name_scope": NAME_SCOPE,
    "variable_scope": NAME_SCOPE,
    "device": NAME_SCOPE,
    "control_dependencies": NAME_SCOPE,
    "init_scope": NAME_SCOPE,
    "newaxis": None,
    "AUTO_REUSE": True,
    "AUTOTUNE": -1,
    "print": native(nothing),
    "no_op": native(nothing),
    "set_random_seed": native(nothing),
    "disable_eager_execution": native(nothing),
    "disable_v2_behavior": native(nothing),
    "enable_eager_execution": native(nothing),
    "reset_default_graph": native(nothing),
    "global_variables_initializer": native(nothing),
    "add_to_collection": native(nothing),
    "group": native(nothing),
    "executing_eagerly": Native("executing_eagerly", lambda run: False, absorb=False),
    "tf_export": native(decorator_factory),
    "autograph": None,
    "VERSION": "2.16.0",
    "__version__": "2.16.0",
}


def identity_member(name: str) -> Native:
    return Native(name, identity_decorator, absorb=False)


SUBMODULES: dict[str, dict[str, Value]] = {
    "math": {},
    "nn": {
        "fixed_unigram_candidate_sampler": MISSING,
    },
    "image": {
        "crop_to_bounding_box": native(crop),
        "central_crop": native(map_fn),
        "resize_with_crop_or_pad": native(crop_or_pad),
        "resize_image_with_crop_or_pad": native(crop_or_pad),
        "resize_with_pad": native(crop_or_pad),
        "extract_patches": native(extract_patches),
        "extract_image_patches": native(extract_patches),
        "random_crop": native(random_crop),
        **{
            name: native(same_image)
            for name in (
                "random_flip_left_right", "random_flip_up_down", "random_brightness", "random_contrast", "random_hue",
                "random_saturation", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "rot90",
                "adjust_saturation", "convert_image_dtype",
            )
        },
        "ResizeMethod": absorbing(
            "ResizeMethod", BILINEAR="bilinear", NEAREST_NEIGHBOR="nearest", BICUBIC="bicubic", AREA="area",
            LANCZOS3="lanczos3", LANCZOS5="lanczos5", GAUSSIAN="gaussian", MITCHELLCUBIC="mitchellcubic",
        ),
    },
    "random": {"set_seed": native(nothing), "Generator": absorbing("Generator")},
    "linalg": {},
    "data": {"Dataset": DATASET, "TFRecordDataset": DATASET, "TextLineDataset": DATASET, "AUTOTUNE": -1, "Options": absorbing("Options")},
    "distribute": dict.fromkeys(("Strategy", "MirroredStrategy", "OneDeviceStrategy", "MultiWorkerMirroredStrategy", "TPUStrategy", "CentralStorageStrategy"), STRATEGY) | {"get_strategy": Native("get_strategy", lambda run: run.construct(STRATEGY), absorb=False)},
    "config": {
        "list_physical_devices": native(no_devices),
        "list_logical_devices": native(no_devices),
        "run_functions_eagerly": native(nothing),
        "set_visible_devices": native(nothing),
        "set_soft_device_placement": native(nothing),
    },
    "layers": {
        **{name: layer_function(name) for name in TF_LAYERS},
        "Layer": MISSING,
    },
    "dtypes": dict(DTYPES) | {"cast": MISSING},
    "train": {"Checkpoint": absorbing("Checkpoint"), "CheckpointManager": absorbing("CheckpointManager")},
    "logging": {},
    "summary": {},
    "io": {},
    "debugging": {},
    "experimental": {},
    "autograph": {},
    "errors": {},
    "strings": {},
    "saved_model": {},
    "lite": {},
    "initializers": {},
    "types": {},
    "sets": {},
    "test": {"is_gpu_available": native(no_devices), "is_built_with_cuda": native(no_devices)},
    "tpu": {},
    "contrib": {},
    "flags": {},
    "app": {},
    "gfile": {},
    "python": {},
}  # fmt: skip
"""Modules of TensorFlow with what they have beside their table. `tf.logging.info(...)` and the like are Unknown."""


def find(module: str, name: str) -> Value:
    """A member of `tf` (module ""), `tf.nn`, `tf.image`, ..."""
    own = MEMBERS if module == "" else SUBMODULES.get(module, {})
    found = own.get(name, MISSING)
    if found is not MISSING:
        return found
    table = TABLES.get(module)
    if table is not None:
        found = table.find(name)
        if found is not MISSING:
            return found
    if module in ("math", "linalg", "image", "random", "nn"):
        return TABLES[""].find(name) if module == "math" else MISSING
    return MISSING


__all__ = ["VARIABLE", "Bound", "Property", "Weight", "find", "in_train_phase"]
