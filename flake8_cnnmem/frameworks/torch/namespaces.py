"""The modules of torch by their dotted names. What they hold is looked up when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module

from flake8_cnnmem.frameworks.torch import (
    dtypes,
    memory_formats,
    optim,
    scripting,
    state,
    tensorboard,
    tensors,
)
from flake8_cnnmem.frameworks.torch.arguments import ntuple
from flake8_cnnmem.frameworks.torch.autograd import regions
from flake8_cnnmem.frameworks.torch.autograd.transforms import TRANSFORMS
from flake8_cnnmem.frameworks.torch.distributed import wrappers
from flake8_cnnmem.frameworks.torch.functions import (
    complex,
    creation,
    deprecated_orders,
    foreach,
    joining,
    linalg,
    products,
    ranges,
    repetition,
    shapes,
)
from flake8_cnnmem.frameworks.torch.names import NAMES
from flake8_cnnmem.frameworks.torch.nn import init
from flake8_cnnmem.frameworks.torch.nn.functional import convolution as functional_convolution
from flake8_cnnmem.frameworks.torch.nn.functional import loss, spectra
from flake8_cnnmem.frameworks.torch.nn.functional import pooling as functional_pooling
from flake8_cnnmem.frameworks.torch.nn.layer import LAYERS
from flake8_cnnmem.frameworks.torch.nn.modules import (
    activation,
    adaptive,
    conv,
    hooks,
    lazy,
    normalization,
    pooling,
    rnn,
    shape,
)
from flake8_cnnmem.frameworks.torch.nn.modules import linear as linear_layers
from flake8_cnnmem.frameworks.torch.nn.modules import transformer as attention_layers
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE
from flake8_cnnmem.frameworks.torch.nn.modules.module_calls import functional_call
from flake8_cnnmem.frameworks.torch.nn.parameter import (
    BUFFER,
    CARD_TENSORS,
    LEGACY_TENSORS,
    PARAMETER,
    TENSOR,
    UNINITIALIZED_PARAMETER,
    swap_tensors,
)
from flake8_cnnmem.frameworks.torch.nn.utils import rnn as packing
from flake8_cnnmem.frameworks.torch.registry import FUNCTIONAL, TORCH
from flake8_cnnmem.frameworks.torch.utils_data import dataset
from flake8_cnnmem.frameworks.torch.vmapped import VMAP
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Class, Namespace, Native, Value, native

DECLARING = (
    complex, functional_convolution, creation, ranges, joining, linalg, products, functional_pooling, repetition,
    shapes, tensors, attention_layers, linear_layers, adaptive, foreach, deprecated_orders, state, spectra,
)  # fmt: skip
"""Modules that fill the registries when they are imported."""

Contents = Mapping[str, Value] | Callable[[str], Value]


class LazyTable(Mapping[str, Value]):
    """A table of a file of this folder that few programs ask for: loaded with the first question."""

    def __init__(self, file: str, table: str) -> None:
        self.file = file
        self.name = table

    @cached_property
    def table(self) -> Mapping[str, Value]:
        """The names of the module, whose file is imported for the first of them."""
        found: Mapping[str, Value] = getattr(import_module(f"flake8_cnnmem.frameworks.torch.{self.file}"), self.name)
        return found

    def __getitem__(self, name: str) -> Value:
        return self.table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)


CLASSES: dict[str, Value] = {
    **{name: cls for table in (
        conv.BASES, normalization.BASES, pooling.BASES, activation.BASES, rnn.BASES, shape.BASES,
        loss.BASES,
    ) for name, cls in table.items()},
    "Module": MODULE,
    "LazyModuleMixin": lazy.LAZY_MIXIN,
    "Container": MODULE,
}  # fmt: skip
"""Classes of torch.nn.modules that torch.nn itself does not export."""


def _tuple_of(count: int) -> Native:
    return Native(f"ntuple{count}", lambda run, x: ntuple(x, count), propagate_unknown=False)


def _ntuple(run: Runtime, n: Value, name: Value = "parse") -> Value:
    return _tuple_of(n) if isinstance(n, int) else n


def _reverse_repeat(run: Runtime, t: Sequence[Value], n: int) -> Value:
    return tuple(x for x in reversed(t) for _ in range(n))


UTILITIES_OF_MODULES: dict[str, Value] = {
    "_single": _tuple_of(1),
    "_pair": _tuple_of(2),
    "_triple": _tuple_of(3),
    "_quadruple": _tuple_of(4),
    "_ntuple": Native("_ntuple", _ntuple),
    "_reverse_repeat_tuple": Native("_reverse_repeat_tuple", _reverse_repeat),
    "consume_prefix_in_state_dict_if_present": Native(
        "consume_prefix_in_state_dict_if_present", lambda run, state_dict, prefix: None, propagate_unknown=False
    ),
}


def modules_member(name: str) -> Value:
    """Whatever lives in one of the files of torch.nn.modules."""
    for table in (LAYERS, CLASSES, MODULES_EXTRA, init.INIT):
        if name in table:
            return table[name]
    return MISSING


MODULES_EXTRA: dict[str, Value] = {
    "_get_activation_fn": Native(
        "_get_activation_fn", lambda run, activation: attention_layers.activation_of(run, activation)
    ),
    "_get_clones": Native(
        "_get_clones", lambda run, module, N: attention_layers.clones(run, module, N), propagate_unknown=False
    ),
    "Parameter": PARAMETER,
    "Tensor": TENSOR,
    **hooks.REGISTERING_FOR_ALL,
}


def nn_member(name: str) -> Value:
    """A name of torch.nn, or MISSING."""
    return LAYERS[name] if name in LAYERS else NN.get(name, MISSING)


NN: dict[str, Value] = {
    "Module": MODULE,
    "Container": MODULE,
    "Parameter": PARAMETER,
    "Buffer": BUFFER,
    "UninitializedParameter": UNINITIALIZED_PARAMETER,
    "UninitializedBuffer": BUFFER,
    "factory_kwargs": Native("factory_kwargs", lambda run, kwargs: kwargs or {}, propagate_unknown=False),
}

REGIONS: dict[str, Value] = {
    "no_grad": regions.NO_GRAD,
    "enable_grad": regions.ENABLE_GRAD,
    "inference_mode": regions.INFERENCE_MODE,
    "set_grad_enabled": regions.SET_GRAD_ENABLED,
    "is_grad_enabled": Native("is_grad_enabled", regions.is_grad_enabled),
}
AUTOCAST_STATE: dict[str, Value] = {
    **{
        name: Native(name, regions.is_autocast_enabled, propagate_unknown=False)
        for name in ("is_autocast_enabled", "is_autocast_cache_enabled")
    },
    "is_autocast_cpu_enabled": scripting.answer("is_autocast_cpu_enabled", False),
    **{
        name: Native(name, regions.autocast_dtype, propagate_unknown=False)
        for name in ("get_autocast_dtype", "get_autocast_gpu_dtype", "get_autocast_cpu_dtype")
    },
}


def torch_member(name: str) -> Value:
    """A name of torch: a function, a dtype, a memory format, a class; or MISSING."""
    found = TORCH.get(name, MISSING)
    if found is not MISSING:
        return found
    dtype = dtypes.dtype_named(name)
    if dtype is not None and name != "float_":
        return dtype
    return TOP.get(name, MISSING)


TOP: dict[str, Value] = {
    **memory_formats.FORMATS,
    "Tensor": TENSOR,
    **LEGACY_TENSORS,
    **dtypes.LAYOUTS,
    "layout": dtypes.LAYOUT,
    "dtype": dtypes.DTYPE,
    "device": dtypes.DEVICE,
    "finfo": dtypes.FINFO,
    "iinfo": dtypes.IINFO,
    "Generator": dtypes.GENERATOR,
    "autocast": regions.AUTOCAST,
    **REGIONS,
    **AUTOCAST_STATE,
    **scripting.MISCELLANEOUS,
}

AMP: dict[str, Value] = {
    "autocast": regions.AUTOCAST,
    "GradScaler": scripting.GRAD_SCALER,
    "custom_fwd": Native("custom_fwd", regions.custom_fwd, propagate_unknown=False),
    "custom_bwd": Native("custom_bwd", regions.custom_fwd, propagate_unknown=False),
}
CHECKPOINT: dict[str, Value] = {
    "checkpoint": Native("checkpoint", regions.checkpoint, propagate_unknown=False),
    "checkpoint_sequential": Native("checkpoint_sequential", regions.checkpoint_sequential, propagate_unknown=False),
}
VARIABLE = native("Variable", scripting.variable)


def of_distributions(name: str) -> Value:
    """A name of `torch.distributions`, MISSING where it has none."""
    from flake8_cnnmem.frameworks.torch import distributions

    return distributions.member(name)


def utilities_of_distributions(name: str) -> Value:
    """A name of `torch.distributions.utils`; of most what they give is unknown."""
    from flake8_cnnmem.frameworks.torch import distributions

    return distributions.UTILITIES.get(name, distributions.not_followed(name))


DISTRIBUTION_FILES = (
    "bernoulli", "beta", "binomial", "categorical", "cauchy", "chi2", "dirichlet", "distribution", "exponential",
    "gamma", "geometric", "gumbel", "half_cauchy", "half_normal", "independent", "kl", "laplace", "log_normal",
    "lowrank_multivariate_normal", "mixture_same_family", "multinomial", "multivariate_normal", "negative_binomial",
    "normal", "one_hot_categorical", "poisson", "relaxed_bernoulli", "relaxed_categorical", "studentT",
    "transformed_distribution", "transforms", "uniform", "von_mises", "weibull",
)  # fmt: skip
"""Files of torch/distributions that code imports classes from. What each has is what the package has."""

CONTENTS: dict[str, Contents] = {
    "torch": torch_member,
    "torch.nn": nn_member,
    "torch.nn.modules": modules_member,
    "torch.nn.modules.utils": UTILITIES_OF_MODULES,
    "torch.nn.functional": lambda name: FUNCTIONAL.get(name, {"Tensor": TENSOR}.get(name, MISSING)),
    "torch.nn.init": LazyTable("nn.init", "INIT"),
    "torch.nn.parameter": {
        "Parameter": PARAMETER, "Buffer": BUFFER, "UninitializedParameter": UNINITIALIZED_PARAMETER},
    "torch.nn.parallel": {
        "DataParallel": wrappers.DataParallel, "DistributedDataParallel": wrappers.DistributedDataParallel},
    "torch.nn.parallel.data_parallel": {"DataParallel": wrappers.DataParallel},
    "torch.nn.parallel.distributed": {"DistributedDataParallel": wrappers.DistributedDataParallel},
    "torch.nn.utils": LazyTable("nn.utils.weight_norm", "UTILITIES"),
    "torch.nn.utils.weight_norm": LazyTable("nn.utils.weight_norm", "UTILITIES"),
    "torch.nn.utils.spectral_norm": LazyTable("nn.utils.weight_norm", "UTILITIES"),
    "torch.nn.utils.clip_grad": LazyTable("nn.utils.weight_norm", "UTILITIES"),
    "torch.nn.utils.fusion": LazyTable("nn.utils.weight_norm", "UTILITIES"),
    "torch.nn.utils.parametrizations": LazyTable("nn.utils.parametrizations", "PARAMETRIZATIONS"),
    "torch.nn.utils.parametrize": LazyTable("nn.utils.parametrizations", "PARAMETRIZE"),
    "torch.nn.utils.prune": LazyTable("nn.utils.prune", "PRUNE"),
    "torch.nn.utils.rnn": packing.RNN_UTILITIES,
    "torch.nn.attention": LazyTable("kernels", "ATTENTION"),
    "torch.linalg": linalg.LINALG,
    "torch.special": TORCH,
    "torch.fft": complex.FFT,
    "torch.optim": optim.OPTIMIZERS,
    "torch.optim.optimizer": {**optim.OPTIMIZERS, **optim.PRIVATES},
    **{f"torch.optim.{name.lower()}": {**optim.OPTIMIZERS, **optim.PRIVATES} for name in optim.OPTIONS},
    "torch.optim.lr_scheduler": optim.scheduler,
    "torch.optim.swa_utils": LazyTable("optim.swa_utils", "SWA_UTILS"),
    "torch.utils": {"swap_tensors": Native("swap_tensors", swap_tensors, propagate_unknown=False)},
    "torch.utils._foreach_utils": optim.FOREACH_UTILITIES,
    "torch.utils.data": dataset.DATA,
    "torch.utils.data.dataset": dataset.DATA,
    "torch.utils.data.dataloader": dataset.DATA,
    "torch.utils.data._utils.collate": dataset.DATA,
    "torch.utils.data.sampler": dataset.DATA,
    "torch.utils.data.distributed": dataset.DATA,
    "torch.utils._pytree": LazyTable("trees", "TREES"),
    "torch.utils.checkpoint": CHECKPOINT,
    "torch.multiprocessing": LazyTable("distributed.processes", "MULTIPROCESSING"),
    "torch.distributed.algorithms._checkpoint.checkpoint_wrapper": LazyTable("distributed.checkpointing", "CONTENTS"),
    **tensorboard.CONTENTS,
    "torch.jit": scripting.JIT,
    "torch.func": {
        "functional_call": Native("functional_call", functional_call, propagate_unknown=False), **TRANSFORMS,
        "vmap": VMAP,
    },
    "torch.nn.utils.stateless": {
        "functional_call": Native("functional_call", functional_call, propagate_unknown=False),
    },
    "torch.fx": {"wrap": native("wrap", scripting.wrap), "Proxy": Class("Proxy", module="torch.fx")},
    "torch.cuda": {**CARD_TENSORS, **scripting.CUDA, "stream": regions.NO_OP, "device": regions.NO_OP},
    **dict.fromkeys(("torch.xpu", "torch.mps", "torch.mtia"), scripting.OTHER_ACCELERATORS),
    "torch.accelerator": {
        **scripting.CUDA,
        "current_accelerator": scripting.answer("current_accelerator", dtypes.GPU),
        "current_device_index": scripting.answer("current_device_index", 0),
        "set_device_index": native("set_device_index", scripting.nothing),
    },
    "torch.cuda.amp": {**AMP, "autocast": regions.DEVICE_AUTOCAST},
    "torch.amp": AMP,
    "torch.amp.autocast_mode": AMP,
    "torch.cuda.amp.autocast_mode": {**AMP, "autocast": regions.DEVICE_AUTOCAST},
    "torch.autograd": {**scripting.AUTOGRAD, **REGIONS, "Variable": VARIABLE, "set_detect_anomaly": regions.NO_OP,
                       "detect_anomaly": regions.NO_OP},
    "torch.autograd.graph": {
        "save_on_cpu": regions.SAVE_ON_CPU,
        "saved_tensors_hooks": regions.SAVED_TENSORS_HOOKS,
        **dict.fromkeys(("disable_saved_tensors_hooks", "allow_mutation_on_saved_tensors"), regions.NO_OP),
    },
    "torch.autograd.function": scripting.AUTOGRAD,
    "torch.autograd.variable": {"Variable": VARIABLE},
    "torch.autograd.profiler": {"profile": regions.NO_OP, "record_function": regions.NO_OP},
    "torch.profiler": {"record_function": regions.NO_OP},
    "torch.hub": LazyTable("hub", "HUB"),
    "torch.utils.model_zoo": {"load_url": native("load_url", scripting.load)},
    "torch.compiler": {
        "is_compiling": scripting.answer("is_compiling", False),
        "is_exporting": scripting.answer("is_exporting", False),
        "is_dynamo_compiling": scripting.answer("is_dynamo_compiling", False),
        "disable": native("disable", scripting.given_back),
        "allow_in_graph": native("allow_in_graph", scripting.given_back),
    },
    "torch._subclasses": {"FakeTensor": Class("FakeTensor", module="torch._subclasses.fake_tensor")},
    "torch._subclasses.fake_tensor": {"FakeTensor": Class("FakeTensor", module="torch._subclasses.fake_tensor")},
    "torch._dynamo": {
        "disable": native("disable", scripting.given_back),
        "allow_in_graph": native("allow_in_graph", scripting.given_back),
        "is_compiling": scripting.answer("is_compiling", False),
    },
    "torch.backends": {},
    "torch.backends.mps": {"is_available": scripting.answer("is_available", False)},
    "torch.backends.cudnn": {"is_available": scripting.answer("is_available", True)},
    "torch.backends.cuda": LazyTable("kernels", "CUDA"),
    "torch.backends.mha": LazyTable("nn.modules.fast_path", "BACKEND"),
    "torch.distributions": of_distributions,
    "torch.distributions.utils": utilities_of_distributions,
    **{f"torch.distributions.{name}": of_distributions for name in DISTRIBUTION_FILES},
    "torch.distributed": LazyTable("distributed.processes", "GROUPS"),
    "torch.distributed.device_mesh": LazyTable("distributed.processes", "GROUPS"),
    "torch.distributed.tensor": LazyTable("distributed.tensor_parallel", "SHARDED"),
    "torch.distributed.tensor.parallel": LazyTable("distributed.tensor_parallel", "PARALLEL"),
    "torch.distributed.fsdp": LazyTable("distributed.fsdp", "FSDP"),
    "torch.distributed.fsdp.fully_sharded_data_parallel": LazyTable("distributed.fsdp", "FSDP"),
    "torch.distributed._composable.fsdp": LazyTable("distributed.fsdp", "FSDP"),
    "torch.distributed.fsdp.wrap": LazyTable("distributed.fsdp", "WRAP"),
    "torch._C": {"_get_tracing_state": scripting.answer("_get_tracing_state", None),
                 "_is_tracing": scripting.answer("_is_tracing", False),
                 "_log_api_usage_once": native("_log_api_usage_once", scripting.nothing)},
    "torch.onnx": {"is_in_onnx_export": scripting.answer("is_in_onnx_export", False)},
    "torch.random": scripting.MISCELLANEOUS,
    "torch.version": {"__version__": str(scripting.VERSION), "cuda": "13.0",
                      "debug": False, **dict.fromkeys(("hip", "rocm", "xpu"))},
    "torch.overrides": {
        "has_torch_function": scripting.answer("has_torch_function", False),
        "has_torch_function_unary": scripting.answer("has_torch_function_unary", False),
        "has_torch_function_variadic": scripting.answer("has_torch_function_variadic", False),
    },
    "torch.ao.nn.quantized": LazyTable("quantization", "QUANTIZED"),
    "torch.nn.quantized": LazyTable("quantization", "QUANTIZED"),
    "torch.ao.quantization": LazyTable("quantization", "QUANTIZATION"),
    "torch.quantization": LazyTable("quantization", "QUANTIZATION"),
}  # fmt: skip
"""By dotted name. Files of torch.nn.modules and packages that only hold others need no entry."""

IN_MODULES = "torch.nn.modules."


@cache
def find_module(dotted: str) -> Namespace | None:
    """The module of this name; None for one that we do not provide."""
    if not is_module(dotted):
        return None
    contents: Contents = CONTENTS.get(dotted, modules_member if dotted.startswith(IN_MODULES) else {})

    known: dict[str, Value] = {}
    holds = NAMES.among(dotted)

    def look_up(name: str) -> Value:
        found = known.get(name, MISSING)
        if found is MISSING:
            if holds is None or holds(name):
                found = contents(name) if callable(contents) else contents.get(name, MISSING)
            if found is MISSING:
                found = find_module(f"{dotted}.{name}") or MISSING
            if found is not MISSING:
                known[name] = found
        return found

    return Namespace(dotted, look_up, holds, names=NAMES.listed(dotted))


def is_module(dotted: str) -> bool:
    """Whether this is a module that we know, or a package that holds one."""
    if dotted in CONTENTS or any(known.startswith(f"{dotted}.") for known in CONTENTS):
        return True
    return dotted.startswith(IN_MODULES) and dotted.removeprefix(IN_MODULES) in FILES


FILES = frozenset(
    (
        "activation", "adaptive", "batchnorm", "channelshuffle", "container", "conv", "distance", "dropout",
        "flatten", "fold", "instancenorm", "lazy", "linear", "loss", "module", "normalization", "padding",
        "pixelshuffle", "pooling", "rnn", "sparse", "transformer", "upsampling", "utils",
    )
)  # fmt: skip
"""The files of torch/nn/modules."""
