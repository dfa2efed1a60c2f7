"""Lightning's Fabric: a loop of the user's own, its model, optimizers and loaders handed to `setup`."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.distributed.precision import cast_model, precision_of
from flake8_cnnmem.frameworks.torch.distributed.prepared import COMMON, in_autocast, models_in, move_batches, no_op
from flake8_cnnmem.packages.lightning.strategies import arranged_by, devices_in
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Value, native


def init(
    run: Runtime, self: Instance, /, accelerator: Value = "auto", strategy: Value = "auto", devices: Value = "auto",
    num_nodes: Value = 1, precision: Value = None, plugins: Value = None, callbacks: Value = None,
    loggers: Value = None,
) -> Value:  # fmt: skip
    found = devices_in({"devices": devices, "num_nodes": num_nodes})
    self.attributes.update(
        precision=precision, strategy=strategy, devices=devices, is_global_zero=True, global_rank=0, local_rank=0,
        node_rank=0, world_size=found or 1, _native_precision=precision_of(precision, plugins), _native_devices=found,
    )  # fmt: skip
    return None


def setup(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """Models are cast, arranged and given back with what came beside them."""
    own = self.attributes
    for model in models_in(args):
        cast_model(run, model, own["_native_precision"], own["precision"])
        arranged_by(run, model, own["strategy"], own["_native_devices"])
    if kwargs.get("move_to_device") is not False:
        move_batches(run, args)
    in_autocast(run, self)
    return args[0] if len(args) == 1 else args


FABRIC = Class(
    "Fabric",
    namespace={
        **COMMON,
        "__init__": native("__init__", init),
        **{name: native(name, setup) for name in ("setup", "setup_module", "setup_optimizers", "setup_dataloaders")},
        "init_module": native("init_module", no_op),
        "init_tensor": native("init_tensor", no_op),
        "sharded_model": native("sharded_model", no_op),
        "rank_zero_first": native("rank_zero_first", no_op),
    },
    module="lightning.fabric",
)
