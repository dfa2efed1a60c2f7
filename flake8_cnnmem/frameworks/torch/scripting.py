"""torch's surroundings that change no shape: jit, fx, compile, devices, files, random state, autograd."""

from __future__ import annotations

from dataclasses import replace

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.changed_weights import PLACED
from flake8_cnnmem.frameworks.framework import GPUS_COUNTED, NUMBER_OF_GPUS, UNKNOWN_STEPS
from flake8_cnnmem.frameworks.torch.applying import tensor_of
from flake8_cnnmem.frameworks.torch.autograd import backward
from flake8_cnnmem.frameworks.torch.autograd.function import FUNCTION
from flake8_cnnmem.frameworks.torch.devices import is_host, names_device
from flake8_cnnmem.frameworks.torch.dtypes import DTYPES, GPU, dtype_of, is_dtype, promote
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.modules.module import MEMBERS as MODULE_MEMBERS
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE
from flake8_cnnmem.frameworks.torch.sizes import SIZE
from flake8_cnnmem.frameworks.torch.vmapped import VMAP
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.text.versions import VersionText
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Bound, Class, Instance, Native, Value, native

VERSION = VersionText("2.13.0")
"""`torch.__version__`: whose rules these are."""


def nothing(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """A function that gives None."""
    return None


def answer(name: str, value: Value) -> Native:
    """A function that always gives the same."""
    return native(name, lambda run, *args, **kwargs: value)


def unknown(name: str, reason: str) -> Native:
    """A native that gives an unknown with this reason."""
    return native(name, lambda run, *args, **kwargs: run.unknown(reason))


def given_back(run: Runtime, obj: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`script(module)` is the module; `@ignore` and `@ignore(drop=True)` give the function back."""
    if obj is None or isinstance(obj, bool):
        return native("decorator", lambda run, function: function)
    return obj


def traced(run: Runtime, func: Value, example_inputs: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`torch.jit.trace(func)`: what is traced is what is given."""
    return func


COMPILED = "torch.compile fuses operations: eager figures are an upper estimate"


def note_compiled(run: Runtime, what: Value) -> None:
    """A model that is compiled may keep less than it does step by step. A function may be the step of any model."""
    receiver = what.receiver if isinstance(what, Bound) else what
    is_model = isinstance(receiver, Instance) and MODULE in receiver.cls.mro
    note_cause(run, receiver if is_model else None, "torch.compile", COMPILED, upper=True)


def compiled(run: Runtime, /, model: Value = None, **options: Value) -> Value:
    """`torch.compile(model)`, `@torch.compile`, `@torch.compile(mode=...)`: what is compiled is what is given."""
    if options.get("disable") is True:
        return given_back(run, model)
    if model is None:
        return native("decorator", lambda run, function: compiled(run, function))
    note_compiled(run, model)
    return model


def compile_module(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """`module.compile()`: that it is compiled is noted; None."""
    note_compiled(run, self)
    return None


MODULE_MEMBERS["compile"] = native("compile", compile_module)


def wrap(run: Runtime, fn_or_name: Value) -> Value:
    """`torch.fx.wrap`: what is given."""
    return fn_or_name


JIT: dict[str, Value] = {
    **{
        name: native(name, given_back)
        for name in ("script", "ignore", "unused", "export", "freeze", "script_if_tracing", "_script_if_tracing",
                     "interface", "optimize_for_inference", "_overload_method", "_overload")
    },
    "trace": native("trace", traced),
    "trace_module": native("trace_module", traced),
    "is_scripting": answer("is_scripting", False),
    "is_tracing": answer("is_tracing", False),
    "annotate": native("annotate", lambda run, the_type, the_value: the_value),
    "isinstance": native("isinstance", lambda run, obj, target: run.is_instance(obj, target)),
    "load": unknown("load", "a model is loaded from a file"),
    "save": native("save", nothing),
    "wait": native("wait", lambda run, future: future),
    "fork": native("fork", lambda run, func, *args, **kwargs: run.call(func, *args, **kwargs)),
    "ScriptModule": MODULE,
    "Final": Class("Final", module="torch.jit"),
}  # fmt: skip


def device_count(run: Runtime) -> Value:
    """What the option says; else one, which is noted. A program that stops there is run once more on a machine of
    eight: what is estimated is one of them."""
    site = run.here()
    run.data(GPUS_COUNTED)[id(site)] = site
    return int(run.choose(NUMBER_OF_GPUS, ("1", "8"), only_if_stopped=True) or "1")


CUDA: dict[str, Value] = {
    # What is estimated is the memory of one GPU: there is one.
    "is_available": answer("is_available", True),
    "device_count": native("device_count", device_count),
    "current_device": answer("current_device", 0),
    "is_initialized": answer("is_initialized", True),
    "is_bf16_supported": answer("is_bf16_supported", True),
    "is_current_stream_capturing": answer("is_current_stream_capturing", False),
    **{
        name: native(name, nothing)
        for name in ("set_device", "synchronize", "empty_cache", "manual_seed", "manual_seed_all", "init",
                     "reset_peak_memory_stats", "reset_max_memory_allocated", "set_per_process_memory_fraction",
                     "ipc_collect")
    },
    **{
        name: unknown(name, "what a device tells of itself is not known")
        for name in ("get_device_name", "get_device_properties", "get_device_capability", "memory_allocated",
                     "max_memory_allocated", "memory_reserved", "max_memory_reserved", "memory_summary",
                     "mem_get_info", "get_rng_state")
    },
}  # fmt: skip


def not_built(run: Runtime) -> Value:
    """What a build for CUDA has a placeholder for: programs ask within a `try`."""
    raise run.error("RuntimeError", "Tried to instantiate a dummy base class")


OTHER_ACCELERATORS: dict[str, Value] = {
    # `torch.xpu`, `torch.mps`, `torch.mtia`: there is none.
    "is_current_stream_capturing": native("is_current_stream_capturing", not_built),
    "is_available": answer("is_available", False),
    "is_initialized": answer("is_initialized", False),
    "is_bf16_supported": answer("is_bf16_supported", False),
    "device_count": answer("device_count", 0),
}


def scaler_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`GradScaler(enabled=...)`: keeps whether it is on."""
    self.attributes["enabled"] = kwargs.get("enabled", True)
    return None


SCALER_MEMBERS = Members()
GRAD_SCALER = Class("GradScaler", namespace=SCALER_MEMBERS, module="torch.amp")
SCALER_MEMBERS["__init__"] = native("__init__", scaler_init)
SCALER_MEMBERS["scale"] = native("scale", lambda run, self, outputs: outputs)
SCALER_MEMBERS["is_enabled"] = native("is_enabled", lambda run, self: self.attributes.get("enabled"))
SCALER_MEMBERS["state_dict"] = native("state_dict", lambda run, self: {})


def scaled_step(run: Runtime, self: Instance, optimizer: Value, *args: Value, **kwargs: Value) -> Value:
    """`scaler.step(optimizer)`: the optimizer's step, of one that is not known as well."""
    if isinstance(optimizer, Unknown):
        site = run.here()
        run.data(UNKNOWN_STEPS).setdefault(id(site), (optimizer, site))
    return run.call(run.get(optimizer, "step"), *args, **kwargs)


SCALER_MEMBERS["step"] = native("step", scaled_step)
for _name in ("update", "unscale_", "load_state_dict"):
    SCALER_MEMBERS[_name] = native(_name, nothing)


def variable(run: Runtime, data: Value = None, requires_grad: Value = False, volatile: Value = False) -> Value:
    """torch.autograd.Variable is the tensor itself since torch 0.4."""
    tensor = tensor_of(data)
    if isinstance(tensor, Tensor) and requires_grad is True:
        tensor.requires_grad = True
    return tensor


def new_variable(run: Runtime, cls: Class, *args: Value, **kwargs: Value) -> Value:
    """`Variable(tensor)`: the tensor."""
    return variable(run, *args, **kwargs)


def backward_of_several(
    run: Runtime, tensors: Value, grad_tensors: Value = None, retain_graph: Value = None, create_graph: Value = False,
    grad_variables: Value = None, inputs: Value = None,
) -> Value:  # fmt: skip
    """torch.autograd.backward: of each in turn, which leaves what the sum of them would."""
    found = run.items([tensors] if isinstance(tensors, (Tensor, Unknown)) else tensors)
    each = [] if isinstance(found, Unknown) else found
    for tensor in each:
        last = tensor is each[-1]
        backward.backward(run, tensor, None, retain_graph if last else True, create_graph)
    return None


AUTOGRAD: dict[str, Value] = {
    "Function": FUNCTION,
    "grad": native("grad", backward.grad),
    "backward": native("backward", backward_of_several),
    "gradcheck": answer("gradcheck", True),
}


def load(run: Runtime, f: Value, map_location: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`torch.load(path)`: what a file holds is not known. Its tensors lie where they were when they were saved, or
    where `map_location` says: a function or a table of the program's is taken for one that leaves them on the host."""
    found = run.unknown("what a file holds is not known")
    there = map_location is None or (names_device(map_location) and not is_host(map_location))
    return replace(found, loaded="file" if there else "")


def assertion(run: Runtime, condition: Value, message: Value = "") -> Value:
    """`torch._assert`: AssertionError where the condition is false for certain."""
    if condition is False:
        raise run.error("AssertionError", message if isinstance(message, str) else "")
    return None


def is_tensor(run: Runtime, obj: Value) -> Value:
    """`torch.is_tensor(obj)`: whether it is a tensor, a parameter among them."""
    return obj if isinstance(obj, Unknown) else isinstance(obj, Tensor)


def typename(run: Runtime, obj: Value) -> Value:
    """`torch.typename(obj)`: the name of its class."""
    return obj.cls.name if isinstance(obj, Instance) else type(obj).__name__


def default_dtype(run: Runtime) -> Value:
    """`torch.get_default_dtype()`: the dtype of tensors that are made without one."""
    found = run.data("default dtype").get("dtype", "float")
    return DTYPES[found] if isinstance(found, str) else found


def set_default_dtype(run: Runtime, /, d: Value = None) -> Value:
    """`torch.set_default_dtype(torch.bfloat16)`, `set_default_tensor_type("torch.cuda.HalfTensor")`: the dtype of what
    is made without one from now on."""
    if "cuda" in str(d.module if isinstance(d, Class) else d):
        run.data(PLACED)["type"] = True
    if isinstance(d, str):
        d = next((DTYPES[dtype] for word, dtype in TENSOR_TYPES.items() if d.endswith(word)), None)
    elif isinstance(d, Class):
        d = next((DTYPES[dtype] for word, dtype in TENSOR_TYPES.items() if d.name == word), None)
    if is_dtype(d):
        found = run.data("default dtype")
        run.changed(found)
        dtype = dtype_of(d)
        found["dtype"] = "float" if dtype == "float32" else dtype
    return None


def set_default_device(run: Runtime, /, device: Value = None) -> None:
    """`torch.set_default_device("cuda")`: where everything is made from now on."""
    run.data(PLACED)["default"] = True


TENSOR_TYPES = {
    "HalfTensor": "float16", "BFloat16Tensor": "bfloat16", "DoubleTensor": "float64", "FloatTensor": "float32",
}  # fmt: skip


def promoted(run: Runtime, *values: Value) -> Value:
    """`torch.result_type(...)`: the dtype of an operation on these."""
    from flake8_cnnmem.frameworks.torch.applying import common_dtype

    return DTYPES[common_dtype(values)]


def promoted_types(run: Runtime, type1: Value, type2: Value) -> Value:
    """`torch.promote_types(float32, int64)`: the dtype of an operation on tensors of two dtypes."""
    unknown = next((each for each in (type1, type2) if isinstance(each, Unknown)), None)
    return unknown or DTYPES[promote(dtype_of(type1), dtype_of(type2))]


def broadcast_shapes(run: Runtime, *shapes: Value) -> Value:
    """`torch.broadcast_shapes(...)`. RuntimeError where they do not fit."""
    from flake8_cnnmem.frameworks.torch.arguments import sizes
    from flake8_cnnmem.graph import Mismatch
    from flake8_cnnmem.ops import Broadcast

    found = [sizes((shape,)) for shape in shapes]
    unknown = next((shape for shape in found if isinstance(shape, Unknown)), None)
    if unknown is not None:
        return unknown
    try:
        return Broadcast("add").outputs(*found)[0]  # type: ignore[arg-type]
    except Mismatch as mismatch:
        raise run.error("RuntimeError", mismatch.problem.what) from None


MISCELLANEOUS: dict[str, Value] = {
    "Size": SIZE,
    "load": native("load", load),
    "save": native("save", nothing),
    "compile": native("compile", compiled),
    "is_tensor": native("is_tensor", is_tensor),
    "is_storage": answer("is_storage", False),
    "typename": native("typename", typename),
    "vmap": VMAP,
    "_assert": native("_assert", assertion),
    "_assert_async": native("_assert_async", nothing),
    "_check": native("_check", nothing),
    "_shape_as_tensor": unknown("_shape_as_tensor", "a shape as a tensor is not followed"),
    "get_default_dtype": native("get_default_dtype", default_dtype),
    "set_default_dtype": native("set_default_dtype", set_default_dtype),
    "set_default_tensor_type": native("set_default_tensor_type", set_default_dtype),
    "set_default_device": native("set_default_device", set_default_device),
    "get_default_device": answer("get_default_device", GPU),
    "result_type": native("result_type", promoted),
    "promote_types": native("promote_types", promoted_types),
    "broadcast_shapes": native("broadcast_shapes", broadcast_shapes),
    "are_deterministic_algorithms_enabled": answer("are_deterministic_algorithms_enabled", False),
    "is_deterministic_algorithms_warn_only_enabled": answer("is_deterministic_algorithms_warn_only_enabled", False),
    "is_inference_mode_enabled": answer("is_inference_mode_enabled", False),
    "initial_seed": answer("initial_seed", 0),
    "get_num_threads": unknown("get_num_threads", "how many threads there are is not known"),
    "seed": answer("seed", 0),
    **{
        name: native(name, nothing)
        for name in ("manual_seed", "set_printoptions", "set_num_threads", "set_num_interop_threads", "set_rng_state",
                     "use_deterministic_algorithms", "set_float32_matmul_precision", "set_flush_denormal",
                     "set_anomaly_enabled")
    },
    "get_rng_state": unknown("get_rng_state", "the random state is not known"),
    "pi": 3.141592653589793,
    "e": 2.718281828459045,
    "inf": float("inf"),
    "nan": float("nan"),
    "newaxis": None,
    "__version__": VERSION,
}  # fmt: skip
