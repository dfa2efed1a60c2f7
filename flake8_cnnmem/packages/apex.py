"""NVIDIA's apex: mixed precision by `amp.initialize`, its wrapper of models, its optimizers.

By apex/amp/frontend.py: level O1 runs functions in half precision as autocast does, O2 casts all but batch norm and
keeps float32 copies for the optimizer, O3 casts everything.
"""

from __future__ import annotations

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.frameworks.arranging import arrange
from flake8_cnnmem.frameworks.torch import trees
from flake8_cnnmem.frameworks.torch.autograd.regions import NO_OP
from flake8_cnnmem.frameworks.torch.distributed.wrappers import wrapper
from flake8_cnnmem.frameworks.torch.dtypes import is_floating
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module, set_attribute, stored, walk
from flake8_cnnmem.frameworks.torch.nn.modules.normalization import BASES
from flake8_cnnmem.frameworks.torch.optim import parameters_of
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.packages._fused_optimizers import APEX
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value, native


def nothing(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
    return None


def models_in(value: Value) -> list[Instance]:
    given = value if isinstance(value, (list, tuple)) else [value]
    return [each for each in given if is_module(each)]


def halved(model: Instance, keep_norms: bool) -> None:
    """Parameters and buffers in half precision, those of batch norm perhaps left as they are."""
    for _, module in walk(model):
        if keep_norms and module.cls.derives_from(BASES["_BatchNorm"]):
            continue
        for store in ("_parameters", "_buffers"):
            for weight in stored(module, store).values():
                if isinstance(weight, Weight) and weight.dtype in ("float", "float32"):
                    weight.dtype = "float16"


def cast_around(run: Runtime, model: Instance) -> None:
    """The model casts what it is given to half precision and its outputs to float32 (apex/amp/_initialize.py)."""
    forward = run.get(model, "forward")

    def cast(value: Value, dtype: str) -> Value:
        floating = isinstance(value, Tensor) and is_floating(value.dtype)
        return run.call(run.get(value, dtype)) if floating else value

    def patched(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
        given = [cast(value, "half") for value in args]
        output = run.call(forward, *given, **{name: cast(value, "half") for name, value in kwargs.items()})
        return trees.tree_map(run, in_single, output)

    in_single = native("float", lambda run, value: cast(value, "float"))
    set_attribute(run, model, "forward", Native("forward", patched, propagate_unknown=False))


def initialize(
    run: Runtime, /, models: Value, optimizers: Value = None, enabled: Value = True, opt_level: Value = "O1",
    cast_model_type: Value = None, patch_torch_functions: Value = None, keep_batchnorm_fp32: Value = None,
    master_weights: Value = None, loss_scale: Value = None, *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    """The models and optimizers that were given, in the precision of the level."""
    given = models if optimizers is None else (models, optimizers)
    if run.truth(enabled) is False:
        return given
    if isinstance(opt_level, Unknown):
        for model in models_in(models):
            arrange(run, model, Arrangement("apex", causes=(opt_level,)))
    if opt_level == "O1":
        run.autocast, run.cast_region = "float16", run.next_number()
    if opt_level in ("O2", "O3"):
        norms = (
            keep_batchnorm_fp32 not in (False, "False") if opt_level == "O2" else keep_batchnorm_fp32 in (True, "True")
        )
        for model in models_in(models):
            run.data("casts")[id(model)] = run.here()
            halved(model, norms)
            cast_around(run, model)
            if master_weights is not False and opt_level == "O2":
                reason = "the float32 gradients of apex's level O2 are not counted"
                arrange(run, model, Arrangement("apex", master=True, causes=(run.unknown(reason),)))
    return given


SCALED = Members()
SCALE_LOSS = Class("scale_loss", namespace=SCALED, module="apex.amp")


@SCALED.method("__init__")
def scale_init(
    run: Runtime, self: Instance, loss: Value = None, optimizers: Value = None, *args: Value, **kwargs: Value
) -> Value:
    self.attributes["loss"] = loss
    return None


SCALED["__enter__"] = native("__enter__", lambda run, self: self.attributes.get("loss"))


@SCALED.method("__exit__")
def scale_exit(run: Runtime, self: Instance, *exception: Value) -> Value:
    """The casts that level O1 has cached are let go of here, behind the backward pass (apex/amp/handle.py)."""
    if run.cast_region:
        run.cast_region = run.next_number()
    return False


def parallel_init(run: Runtime, self: Instance, module: Value, *args: Value, **kwargs: Value) -> None:
    """Gradients are flattened into buckets to be sent: as much again as all of them."""
    set_attribute(run, self, "module", module)
    arrange(run, module, Arrangement("apex's DistributedDataParallel", buckets="copies"))


def master_parameters(run: Runtime, /, optimizer: Value) -> Value:
    """`amp.master_params(optimizer)`: at O1 the parameters themselves."""
    return iter(parameters_of(optimizer) or ()) if isinstance(optimizer, Instance) else optimizer


AMP: dict[str, Value] = {
    "initialize": native("initialize", initialize),
    "scale_loss": SCALE_LOSS,
    "master_params": native("master_params", master_parameters),
    "disable_casts": NO_OP,
    "state_dict": native("state_dict", lambda run: {}),
    "load_state_dict": native("load_state_dict", nothing),
    **{name: native(name, lambda run, function, *args: function)
       for name in ("half_function", "float_function", "promote_function")},
    **{name: native(name, nothing) for name in ("register_half_function", "register_float_function",
                                               "register_promote_function")},
}  # fmt: skip
MODULES: dict[str, dict[str, Value]] = {
    "apex": {},
    "apex.amp": AMP,
    "apex.optimizers": {**APEX},
    "apex.parallel": {
        "DistributedDataParallel": wrapper("DistributedDataParallel", "apex.parallel", parallel_init),
        "convert_syncbn_model": native("convert_syncbn_model", lambda run, module, *args, **kwargs: module),
    },
}  # fmt: skip
