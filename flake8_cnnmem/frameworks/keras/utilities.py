"""keras.utils.*, keras.saving.*, keras.mixed_precision.*, keras.config.*: what of it building a model touches."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras import data, loading
from flake8_cnnmem.frameworks.keras.cloning import CLONE_MODEL
from flake8_cnnmem.frameworks.keras.ops.backend import NAME_SCOPE, image_data_format, standardize_data_format
from flake8_cnnmem.frameworks.keras.saving import save_model
from flake8_cnnmem.frameworks.keras.session import session_of, tensors_in
from flake8_cnnmem.frameworks.keras.strategies import multi_gpu_model
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Value


def get_source_inputs(run: Runtime, tensor: Value, *args: Value, **kwargs: Value) -> Value:
    """The Inputs that a tensor is computed from."""
    session = session_of(run)
    found: list[Tensor] = []
    seen: set[int] = set()
    waiting = tensors_in(tensor)
    if isinstance(tensor, Unknown):
        return tensor
    while waiting:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        node = session.node_of(at)
        if node is None or node[0].is_input:
            if node is not None or not found:
                found.append(at)
            continue
        waiting.extend(reversed(node[0].inputs))
    return found


def nothing(run: Runtime, *args: Value, **kwargs: Value) -> None:
    """Changes no shape."""


def identity_decorator(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`@register_keras_serializable()` and its like, with or without arguments."""
    if len(args) == 1 and not kwargs and not isinstance(args[0], str) and args[0] is not None:
        return args[0]
    return Native("decorate", lambda run, function: function, propagate_unknown=False)


def decorator_factory(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`@keras_export("keras.layers.Dense")` and its like: a decorator that gives what it decorates."""
    return Native("decorate", lambda run, function: function, propagate_unknown=False)


def get_custom_objects(run: Runtime) -> Value:
    """`get_custom_objects()`: the program's own classes by name."""
    return run.data("keras").setdefault("custom_objects", {})


def get_file(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`get_file(...)`: a path, which is not known."""
    return run.unknown("a downloaded file's path is not known")


def not_followed(name: str) -> Native:
    """A utility that gives an unknown."""

    def answer(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        return run.unknown(f"what {name} gives is not followed")

    return Native(name, answer, propagate_unknown=False)


def normalize_tuple(run: Runtime, value: Value, n: int, name: Value = None, *args: Value, **kwargs: Value) -> Value:
    """A number as n of them; a tuple as it is."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,) * n


def normalize_padding(run: Runtime, value: Value) -> Value:
    """A padding's word in small letters."""
    return value.lower() if isinstance(value, str) else value


def conv_output_length(
    run: Runtime,
    input_length: Value,
    filter_size: Value,
    padding: Value,
    stride: Value = 1,
    dilation: Value = 1,
    **old: Value,
) -> Value:
    """The length that a convolution leaves of one."""
    if input_length is None:
        return None
    span = run.operate("+", run.operate("*", run.operate("-", filter_size, 1), dilation), 1)
    length = input_length
    if padding == "valid":
        length = run.operate("+", run.operate("-", input_length, span), 1)
    elif padding == "full":
        length = run.operate("-", run.operate("+", input_length, span), 1)
    return run.operate("//", run.operate("-", run.operate("+", length, stride), 1), stride)


def deconv_length(
    run: Runtime, dim_size: Value, stride_size: Value, kernel_size: Value, padding: Value, *args: Value, **kwargs: Value
) -> Value:
    """The length that a transposed convolution makes of one."""
    if dim_size is None:
        return None
    size = run.operate("*", dim_size, stride_size)
    if padding == "valid" and isinstance(kernel_size, int) and isinstance(stride_size, int):
        return run.operate("+", size, max(kernel_size - stride_size, 0))
    return size


def count_weights(run: Runtime, weights: Value) -> Value:
    """How many values weights have."""
    total: Value = 0
    for weight in weights if isinstance(weights, (list, tuple)) else ():
        size = run.get(weight, "shape")
        for side in size if isinstance(size, tuple) else ():
            total = total + side if isinstance(total, int) and isinstance(side, int) else total
    return total


def set_policy(run: Runtime, policy: Value = None, *args: Value, **kwargs: Value) -> None:
    """`keras.mixed_precision.set_global_policy("mixed_float16")`: kept in `run.data("keras")["policy"]` too."""
    name = policy.attributes.get("name") if isinstance(policy, Instance) else policy
    session_of(run).policy, session_of(run).policy_site = name, run.here()
    run.data("keras").update({"policy": name, "policy site": run.here()})


def global_policy(run: Runtime) -> Value:
    """`mixed_precision.global_policy()`: the policy that layers get which are not told one."""
    return run.construct(POLICY, session_of(run).policy)


def policy_init(run: Runtime, self: Instance, name: Value = None, *args: Value, **kwargs: Value) -> None:
    """`mixed_precision.Policy(name)`: the dtypes of computation and of variables; those of "mixed_float16" differ."""
    self.attributes["name"] = name
    mixed = isinstance(name, str) and name.startswith("mixed_")
    self.attributes["compute_dtype"] = name.removeprefix("mixed_") if isinstance(name, str) else name
    self.attributes["variable_dtype"] = "float32" if mixed else name


POLICY = Class(
    "DTypePolicy", namespace={"__init__": Native("__init__", policy_init, propagate_unknown=False)}, module="keras"
)


def exists(run: Runtime, path: Value) -> Value:
    """Whether a file exists, which is not known."""
    return run.unknown("whether a file exists is not known")


def progress(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """A progress bar's method: it prints, and gives None."""


def any_attribute(run: Runtime, self: Instance, name: str) -> Value:
    """Any other attribute, which is not followed; MISSING for names with two underscores."""
    return MISSING if name.startswith("__") else run.unknown(f"{self.cls.name}.{name} is not followed")


PROGBAR = Class(
    "Progbar",
    namespace={
        "__init__": Native("__init__", progress, propagate_unknown=False),
        "update": Native("update", progress, propagate_unknown=False),
        "add": Native("add", progress, propagate_unknown=False),
    },
)

FUNCTIONS = (
    get_source_inputs, get_custom_objects, get_file, normalize_tuple, normalize_padding, conv_output_length,
    deconv_length, image_data_format, standardize_data_format, exists,
)  # fmt: skip

MEMBERS: dict[str, Value] = {
    **{function.__name__: Native(function.__name__, function, propagate_unknown=False) for function in FUNCTIONS},
    "normalize_data_format": Native("normalize_data_format", standardize_data_format, propagate_unknown=False),
    "deconv_output_length": Native("deconv_output_length", deconv_length, propagate_unknown=False),
    "register_keras_serializable": Native("register_keras_serializable", decorator_factory, propagate_unknown=False),
    "keras_export": Native("keras_export", decorator_factory, propagate_unknown=False),
    "tf_export": Native("tf_export", decorator_factory, propagate_unknown=False),
    "generate_legacy_interface": Native("generate_legacy_interface", decorator_factory, propagate_unknown=False),
    "no_automatic_dependency_tracking": Native("no_automatic_dependency_tracking", identity_decorator,
                                               propagate_unknown=False),
    "multi_gpu_model": Native("multi_gpu_model", multi_gpu_model, propagate_unknown=False),
    "custom_object_scope": NAME_SCOPE,
    "CustomObjectScope": NAME_SCOPE,
    "Progbar": PROGBAR,
    "clone_model": CLONE_MODEL,
    **loading.MEMBERS,
    "save_model": Native("save_model", save_model, propagate_unknown=False),
    "count_params": Native("count_params", count_weights, propagate_unknown=False),
    "set_global_policy": Native("set_global_policy", set_policy, propagate_unknown=False),
    "set_policy": Native("set_policy", set_policy, propagate_unknown=False),
    "set_dtype_policy": Native("set_dtype_policy", set_policy, propagate_unknown=False),
    "global_policy": Native("global_policy", global_policy, propagate_unknown=False),
    "dtype_policy": Native("dtype_policy", global_policy, propagate_unknown=False),
    "Policy": POLICY,
    "DTypePolicy": POLICY,
    **{
        name: Native(name, nothing, propagate_unknown=False)
        for name in (
            "plot_model", "print_summary", "set_random_seed", "enable_interactive_logging",
            "disable_interactive_logging", "convert_all_kernels_in_model", "print_msg",
            "enable_unsafe_deserialization", "save_img", "array_to_img", "enable_traceback_filtering",
            "disable_traceback_filtering", "save_weights",
        )
    },
    **{
        name: not_followed(name)
        for name in (
            "model_from_yaml", "model_from_config", "model_to_dot",
            "deserialize_keras_object", "serialize_keras_object", "deserialize", "serialize",
            "normalize", "get_registered_object", "get_registered_name",
            "convert_dense_weights_data_format", "validate_file", "path_to_string", "load_weights",
        )
    },
}  # fmt: skip


def find(name: str) -> Value:
    """A member of `keras.utils` and of the modules like it."""
    found = MEMBERS.get(name, MISSING)
    return data.find(name) if found is MISSING else found
