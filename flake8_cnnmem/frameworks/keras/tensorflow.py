"""TensorFlow's objects and modules, as far as Keras code uses them. Its functions are stubs in `signatures/`."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.frameworks.arranging import arrange
from flake8_cnnmem.frameworks.framework import GPUS_COUNTED
from flake8_cnnmem.frameworks.keras import strategies
from flake8_cnnmem.frameworks.keras.arrays import TENSOR_ARRAY
from flake8_cnnmem.frameworks.keras.constants import plain
from flake8_cnnmem.frameworks.keras.dtypes import DTYPE, DTYPES
from flake8_cnnmem.frameworks.keras.inputs import input_for
from flake8_cnnmem.frameworks.keras.ops.backend import NAME_SCOPE
from flake8_cnnmem.frameworks.keras.ops.control import flatten_structure, map_structure
from flake8_cnnmem.frameworks.keras.ops.creation import filled, like, random
from flake8_cnnmem.frameworks.keras.ops.elementwise import unary
from flake8_cnnmem.frameworks.keras.ops.losses import TENSORFLOW as TENSORFLOW_LOSSES
from flake8_cnnmem.frameworks.keras.ops.operations import TENSORFLOW
from flake8_cnnmem.frameworks.keras.pipelines import DATASET, OF_FILES, cardinality, sampled
from flake8_cnnmem.frameworks.keras.records import DECODERS, FILES
from flake8_cnnmem.frameworks.keras.session import BY_XLA, session_of
from flake8_cnnmem.frameworks.keras.session import map_structure as nested_map
from flake8_cnnmem.frameworks.keras.shapes import TENSOR_SHAPE
from flake8_cnnmem.frameworks.keras.stubs import LAYERS
from flake8_cnnmem.frameworks.keras.tensor_spec import TENSOR_SPEC
from flake8_cnnmem.frameworks.keras.tensors import TENSOR
from flake8_cnnmem.frameworks.keras.utilities import decorator_factory, nothing
from flake8_cnnmem.frameworks.keras.variables import tf_variable, variable
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Class, Instance, Namespace, Native, Stream, Value


def by_xla(run: Runtime, enabled: Value = None, *args: Value, **kwargs: Value) -> None:
    """`tf.config.optimizer.set_jit(True)`: XLA compiles what it can."""
    if enabled is not False and enabled is not None:
        arrange(run, None, Arrangement("XLA", causes=(run.unknown(BY_XLA),)))


def function_decorator(
    run: Runtime, func: Value = None, *args: Value, jit_compile: Value = None, **kwargs: Value
) -> Value:
    """`@tf.function`, with or without arguments. What XLA compiles (`jit_compile=True`) is counted as it is without."""
    session_of(run).graphed = True
    by_xla(run, kwargs.get("experimental_compile") if jit_compile is None else jit_compile)
    if func is None:
        return Native("decorate", lambda run, function: function, propagate_unknown=False)
    return func


def custom_gradient(run: Runtime, function: Value) -> Value:
    """The function gives its result and its gradient; callers get the result."""

    def call(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        result = run.call(function, *args, **kwargs)
        return result[0] if isinstance(result, (tuple, list)) and len(result) == 2 else result

    return Native("custom_gradient", call, propagate_unknown=False)


def get_variable(
    run: Runtime, name: Value, shape: Value = None, dtype: Value = None, *args: Value, **options: Value
) -> Value:
    """`tf.get_variable(name, shape)`: a variable, of its initializer where no shape is said."""
    return variable(run, random(run, shape, dtype) if shape is not None else options.get("initializer"), name=name)


def placeholder(run: Runtime, dtype: Value, shape: Value = None, name: Value = None) -> Value:
    """`tf.placeholder(dtype, shape)`: an input."""
    return run.unknown("a placeholder has no shape") if shape is None else input_for(run, shape, name, dtype)


def is_tensor(run: Runtime, x: Value) -> Value:
    """`tf.is_tensor(x)`: whether it is a tensor, a variable among them."""
    return isinstance(x, Tensor)


def map_fn(run: Runtime, fn: Value, elems: Value, *args: Value, **kwargs: Value) -> Value:
    """`tf.map_fn`, which is not followed."""
    return run.unknown("a function mapped over a tensor's items is not followed")


def static_value(run: Runtime, tensor: Value, *args: Value, **kwargs: Value) -> Value:
    """`tf.get_static_value(tensor)`: the values of a constant."""
    return plain(tensor)


def same_image(run: Runtime, image: Value, *args: Value, **kwargs: Value) -> Value:
    """An augmentation that keeps the image's shape."""
    return unary(run, image, kind="augment")


def random_crop(run: Runtime, value: Value, size: Value, *args: Value, **kwargs: Value) -> Value:
    """`tf.image.random_crop(value, size)`: a tensor of this size."""
    return (
        like(run, filled(run, size))
        if isinstance(size, (list, tuple))
        else run.unknown("the size of a crop is not known")
    )


def module_init(run: Runtime, self: Instance, name: Value = None, **kwargs: Value) -> None:
    """`tf.Module(name)`: keeps the name."""
    self.attributes["_name"] = name


def absorbing(name: str, **members: Value) -> Class:
    """A class of which only a few members matter; the rest is Unknown."""

    def attribute(run: Runtime, self: Instance, word: str) -> Value:
        return MISSING if word.startswith("__") else run.unknown(f"{name}.{word} is not followed")

    return Class(
        name,
        namespace={
            "__init__": Native("__init__", lambda run, self, *args, **kwargs: None, propagate_unknown=False),
            "__getattr__": Native("__getattr__", attribute, propagate_unknown=False),
            **members,
        },
        module="tensorflow",
    )


def enter_self(run: Runtime, self: Instance) -> Instance:
    """`__enter__` of what gives itself to a `with` block."""
    return self


def leave(run: Runtime, self: Instance, *args: Value) -> None:
    """`__exit__` of what lets every exception through."""


def not_followed(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A method whose result is not followed."""
    return run.unknown(f"what {self.cls.name} gives is not followed")


CONTEXT = {
    "__enter__": Native("__enter__", enter_self, propagate_unknown=False),
    "__exit__": Native("__exit__", leave, propagate_unknown=False),
}


def gradient(
    run: Runtime, self: Instance, target: Value, sources: Value = None, *args: Value, **kwargs: Value
) -> Value:
    """One for each source, as they are nested; their values are not computed."""
    run.note("backward", target)
    if sources is None:
        return run.unknown("what gradients are asked for is not known")

    def of(source: Value) -> Value:
        if not isinstance(source, Tensor):
            return run.unknown("no gradient is known")
        return Tensor(source.shape, source.dtype, framework="keras")

    return nested_map(of, sources)


def enter_tape(run: Runtime, self: Instance) -> Instance:
    """`with tf.GradientTape() as tape`: a training step by hand."""
    session_of(run).taped = True
    return self


TAPE = absorbing(
    "GradientTape",
    **{**CONTEXT, "__enter__": Native("__enter__", enter_tape, propagate_unknown=False)},
    gradient=Native("gradient", gradient, propagate_unknown=False),
    watch=Native("watch", lambda run, self, *args: None, propagate_unknown=False),
)


MODULE = Class(
    "Module", namespace={"__init__": Native("__init__", module_init, propagate_unknown=False)}, module="tensorflow"
)


SESSION = absorbing("Session", **CONTEXT)


def devices(run: Runtime, device_type: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`tf.config.list_physical_devices(kind)`: the memory that is asked about is a GPU's, so that there is one, and no
    TPU; how many there are is not known."""
    if device_type == "TPU":
        return []
    return Instance(GPUS) if device_type == "GPU" else run.unknown("the machine's devices are not known")


def a_device(run: Runtime, *args: Value) -> Value:
    """One of the machine's GPUs."""
    return run.unknown("a GPU's name and kind are not known")


def count_devices(run: Runtime, self: Instance) -> int:
    """How many GPUs are counted: one, which is noted."""
    site = run.here()
    run.data(GPUS_COUNTED)[id(site)] = site
    return 1


GPUS = Class(
    "list",
    namespace={
        "__bool__": Native("__bool__", lambda run, self: True, propagate_unknown=False),
        "__len__": Native("__len__", count_devices, propagate_unknown=False),
        "__getitem__": Native("__getitem__", a_device, propagate_unknown=False),
        "__iter__": Native("__iter__", lambda run, self: Stream(lambda: a_device(run)), propagate_unknown=False),
    },
)
"""The GPUs that TensorFlow finds: at least one."""


def there_is_one(run: Runtime, *args: Value, **kwargs: Value) -> bool:
    """`tf.test.is_gpu_available()` and `is_built_with_cuda()`."""
    return True


def layer_function(name: str) -> Native:
    """TensorFlow 1's `tf.layers.conv2d(inputs, filters, ...)`: the layer made and called at once."""
    cls_name = TF_LAYERS[name]

    def call(run: Runtime, inputs: Value, *args: Value, **kwargs: Value) -> Value:
        training = (
            {"training": kwargs.pop("training")}
            if "training" in kwargs and name in ("dropout", "batch_normalization")
            else {}
        )
        kwargs.pop("reuse", None)
        if name == "dropout" and not args and "rate" not in kwargs:
            kwargs["rate"] = 0.5
        return run.call(run.construct(LAYERS[cls_name], *args, **kwargs), inputs, **training)

    return Native(name, call, propagate_unknown=False)


TF_LAYERS = {
    "conv1d": "Conv1D", "conv2d": "Conv2D", "conv3d": "Conv3D", "conv2d_transpose": "Conv2DTranspose",
    "conv3d_transpose": "Conv3DTranspose", "separable_conv2d": "SeparableConv2D", "dense": "Dense",
    "dropout": "Dropout", "flatten": "Flatten", "max_pooling1d": "MaxPooling1D", "max_pooling2d": "MaxPooling2D",
    "max_pooling3d": "MaxPooling3D", "average_pooling2d": "AveragePooling2D", "average_pooling1d": "AveragePooling1D",
    "batch_normalization": "BatchNormalization",
}  # fmt: skip


def native(function: Callable[..., Value]) -> Native:
    """A native of the function's own name that sees unknowns."""
    return Native(function.__name__, function, propagate_unknown=False)


OPTIMIZER_CONFIG: dict[str, Value] = {
    "set_jit": native(by_xla), "get_jit": native(nothing), "set_experimental_options": native(nothing)
}  # fmt: skip
EXPERIMENTAL_CONFIG: dict[str, Value] = {
    "list_physical_devices": native(devices),
    "list_logical_devices": native(devices),
    "get_visible_devices": native(devices),
    "set_memory_growth": native(nothing),
    "set_visible_devices": native(nothing),
    "set_virtual_device_configuration": native(nothing),
}


MEMBERS: dict[str, Value] = {
    **DTYPES,
    "function": Native("function", function_decorator, propagate_unknown=False),
    "custom_gradient": native(custom_gradient),
    "Variable": Native("Variable", tf_variable, propagate_unknown=False),
    "get_variable": native(get_variable),
    "placeholder": native(placeholder),
    "is_tensor": native(is_tensor),
    "get_static_value": native(static_value),
    "numpy_function": native(map_fn),
    "py_function": native(map_fn),
    "Tensor": TENSOR,
    "Module": MODULE,
    "TensorShape": TENSOR_SHAPE,
    "TensorSpec": TENSOR_SPEC,
    "TensorArray": TENSOR_ARRAY,
    "DType": DTYPE,
    "GradientTape": TAPE,
    "Session": SESSION,
    "InteractiveSession": SESSION,
    "Graph": absorbing("Graph", **CONTEXT, as_default=Native("as_default", enter_self, propagate_unknown=False)),
    "name_scope": NAME_SCOPE,
    "variable_scope": NAME_SCOPE,
    "device": NAME_SCOPE,
    "control_dependencies": NAME_SCOPE,
    "init_scope": NAME_SCOPE,
    "newaxis": None,
    **{name: native(nothing) for name in ("Assert", "assert_equal", "assert_greater", "assert_less", "assert_rank")},
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
    "executing_eagerly": Native("executing_eagerly", lambda run: False, propagate_unknown=False),
    "tf_export": native(decorator_factory),
    "autograph": None,
    "VERSION": "2.16.0",
    "__version__": "2.16.0",
}


EXPERIMENTAL_DATA: dict[str, Value] = {
    "AUTOTUNE": -1,
    "cardinality": Native("cardinality", cardinality, propagate_unknown=False),
    **{
        name: Native(name, sampled, propagate_unknown=False)
        for name in ("sample_from_datasets", "choose_from_datasets")
    },
}

CHECKS: dict[str, Value] = {
    "check_numerics": Native("check_numerics", lambda run, tensor, *args, **kwargs: tensor, propagate_unknown=False),
    **{
        f"assert_{word}": native(nothing)
        for word in (
            "equal", "greater", "greater_equal", "integer", "less", "less_equal", "near", "negative", "non_negative",
            "non_positive", "none_equal", "positive", "rank", "rank_at_least", "rank_in", "same_float_dtype", "scalar",
            "shapes", "type", "all_finite", "proper_iterable",
        )
    },
    "Assert": native(nothing),
}  # fmt: skip
"""Checks of a running program's values: they give nothing that shapes a model."""

SUBMODULES: dict[str, dict[str, Value]] = {
    "math": {},
    "nn": {
        "fixed_unigram_candidate_sampler": MISSING,
        **TENSORFLOW_LOSSES,
    },
    "image": {
        "random_crop": native(random_crop),
        "stateless_random_crop": native(random_crop),
        **DECODERS,
        **{
            name: native(same_image)
            for name in (
                "random_flip_left_right", "random_flip_up_down", "random_brightness", "random_contrast", "random_hue",
                "random_saturation", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "rot90",
                "adjust_saturation", "convert_image_dtype", "adjust_jpeg_quality", "random_jpeg_quality",
                "stateless_random_brightness", "stateless_random_contrast", "stateless_random_flip_left_right",
                "stateless_random_flip_up_down", "stateless_random_hue", "stateless_random_jpeg_quality",
                "stateless_random_saturation",
            )
        },
        "ResizeMethod": absorbing(
            "ResizeMethod", BILINEAR="bilinear", NEAREST_NEIGHBOR="nearest", BICUBIC="bicubic", AREA="area",
            LANCZOS3="lanczos3", LANCZOS5="lanczos5", GAUSSIAN="gaussian", MITCHELLCUBIC="mitchellcubic",
        ),
    },
    "random": {"set_seed": native(nothing), "Generator": absorbing("Generator")},
    "linalg": {},
    "signal": {},
    "data": {
        "Dataset": DATASET,
        "TFRecordDataset": OF_FILES,
        "TextLineDataset": OF_FILES,
        "experimental": Namespace("tensorflow.data.experimental", lambda word: EXPERIMENTAL_DATA.get(word, MISSING)),
        "AUTOTUNE": -1,
        "Options": absorbing("Options"),
    },
    "distribute": {
        **strategies.MEMBERS,
        "experimental": Namespace(
            "tensorflow.distribute.experimental", lambda word: strategies.MEMBERS.get(word, MISSING)
        ),
    },
    "config": {
        "list_physical_devices": native(devices),
        "list_logical_devices": native(devices),
        "run_functions_eagerly": native(nothing),
        "set_visible_devices": native(nothing),
        "set_soft_device_placement": native(nothing),
        "optimizer": Namespace("tensorflow.config.optimizer", lambda word: OPTIMIZER_CONFIG.get(word, MISSING)),
        "experimental": Namespace(
            "tensorflow.config.experimental", lambda word: EXPERIMENTAL_CONFIG.get(word, MISSING)
        ),
    },
    "layers": {
        **{name: layer_function(name) for name in TF_LAYERS},
        "Layer": MISSING,
    },
    "dtypes": dict(DTYPES),
    "bitwise": {},
    "train": {"Checkpoint": absorbing("Checkpoint"), "CheckpointManager": absorbing("CheckpointManager")},
    "logging": {},
    "summary": {},
    "io": FILES,
    "debugging": CHECKS,
    "experimental": {},
    "nest": {
        "map_structure": Native("map_structure", map_structure, propagate_unknown=False),
        "flatten": Native("flatten", flatten_structure, propagate_unknown=False),
    },
    "autograph": {},
    "errors": {},
    "strings": {},
    "saved_model": {},
    "lite": {},
    "initializers": {},
    "types": {},
    "sets": {},
    "test": {
        "is_gpu_available": native(there_is_one),
        "is_built_with_cuda": native(there_is_one),
        "gpu_device_name": Native("gpu_device_name", lambda run: "/device:GPU:0", propagate_unknown=False),
    },
    "tpu": {},
    "contrib": {},
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
    functions = TENSORFLOW.get(module)
    if functions is None:
        return MISSING
    found = functions.find(name)
    # tf.math has all that stands at the top.
    return TENSORFLOW[""].find(name) if found is MISSING and module == "math" else found
