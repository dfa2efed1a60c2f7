"""NVIDIA's apex, as far as training programs use it: mixed precision as it was before torch.cuda.amp, and its wrappers.

Level O1 runs each op in the precision that autocast runs it in; O3 makes the models half precision. O2 keeps a master
copy of each weight beside the half one: what that holds is not followed.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch import parallel
from flake8_cnnmem.frameworks.torch.regions import QUIET
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Run, Value


def native(name: str, function: Value) -> Native:
    return Native(name, function, absorb=False)


def initialize(
    run: Run, models: Value, optimizers: Value = None, enabled: Value = True, opt_level: Value = "O1", *args: Value,
    **kwargs: Value,
) -> Value:  # fmt: skip
    """`models, optimizers = amp.initialize(models, optimizers, opt_level="O1")`."""
    if run.truth(enabled) is not False and opt_level != "O0":
        if opt_level == "O1":
            run.autocast = "float16"
        elif opt_level == "O3":
            for model in models if isinstance(models, (list, tuple)) else [models]:
                run.call(run.get(model, "half"))
        else:
            cause = opt_level if isinstance(opt_level, Unknown) else None
            models = cause or run.unknown(f"level {opt_level} of apex.amp is not followed")
    return models if optimizers is None else (models, optimizers)


def enter(run: Run, self: Instance) -> Value:
    return self.attributes.get("loss")


SCALED = Class(
    "scale_loss",
    (QUIET,),
    {
        "__init__": native("__init__", lambda run, self, loss, *args, **kwargs: self.attributes.update({"loss": loss})),
        "__enter__": native("__enter__", enter),
        "__exit__": native("__exit__", lambda run, self, *args: None),
    },
    module="apex.amp",
)


def parameters_of(run: Run, optimizer: Value) -> Value:
    """`amp.master_params(optimizer)`: at O1 the parameters themselves."""
    groups = run.items(run.get(optimizer, "param_groups"))
    if isinstance(groups, Unknown):
        return groups
    lists = [run.items(run.index(group, "params")) for group in groups]
    return [item for each in lists if not isinstance(each, Unknown) for item in each]


def nothing(run: Run, *args: Value, **kwargs: Value) -> Value:
    return None


AMP: dict[str, Value] = {
    "initialize": native("initialize", initialize),
    "scale_loss": SCALED,
    "master_params": native("master_params", parameters_of),
    "state_dict": native("state_dict", lambda run, *args, **kwargs: {}),
    **{name: native(name, lambda run, function, *args: function)
       for name in ("half_function", "float_function", "promote_function")},
    **{name: native(name, nothing) for name in ("load_state_dict", "register_half_function", "register_float_function",
                                                "init", "lists")},
    "disable_casts": QUIET,
}  # fmt: skip

CONTENTS: dict[str, dict[str, Value]] = {
    "apex.amp": AMP,
    "apex.parallel": {
        "DistributedDataParallel": parallel.DistributedDataParallel,
        "convert_syncbn_model": native("convert_syncbn_model", lambda run, module, *args, **kwargs: module),
    },
}
"""By dotted name. What else a project's own apex has is read from its source."""
