"""Lightning's Trainer: what `fit` does with a module, its data and its callbacks.

By Lightning's documentation of the order of its hooks: data module, `configure_optimizers`, then for each batch
`training_step`, `zero_grad`, backward and the optimizer's step. One batch stands for all.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.distributed.precision import cast_model, precision_of
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.modules.module import weights_of
from flake8_cnnmem.frameworks.torch.optim.unfollowed import made_by_unfollowed
from flake8_cnnmem.packages.lightning.arguments import add_arguments, from_arguments, nothing
from flake8_cnnmem.packages.lightning.callbacks import CALLBACK
from flake8_cnnmem.packages.lightning.hooks import optional, stepped
from flake8_cnnmem.packages.lightning.modules import DATA_MODULE, LIGHTNING_MODULE
from flake8_cnnmem.packages.lightning.steps import FitCall, optimizers_in
from flake8_cnnmem.packages.lightning.strategies import arranged_by, devices_in, strategy_for
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Value, native

MEMBERS = Members()
TRAINER = Class("Trainer", namespace=MEMBERS, module="lightning.pytorch")

ORDER = ("logger", "checkpoint_callback", "enable_checkpointing", "callbacks")


@MEMBERS.method("__init__")
def trainer_init(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    run.changed(self)
    options = {"max_epochs": 1000, "precision": "32-true", "accumulate_grad_batches": 1, "devices": "auto", **kwargs}
    callbacks = options.get("callbacks")
    options["callbacks"] = list(callbacks) if isinstance(callbacks, (list, tuple)) else optional(callbacks)
    self.attributes.update(options)
    devices = devices_in(options)
    self.attributes.update(
        current_epoch=0, global_step=0, world_size=devices or 1, num_devices=devices or 1, global_rank=0, local_rank=0,
        _native_strategy=options.get("strategy"), strategy=strategy_for(options.get("strategy"), devices),
        is_global_zero=True, optimizers=[], training=False, sanity_checking=False,
    )  # fmt: skip
    return None


@MEMBERS.method("__getattr__")
def other(run: Runtime, self: Instance, name: Value) -> Value:
    """Loggers, callbacks, states: what nobody builds a model from."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of a trainer is not known")


for _name in ("validate", "test", "predict", "tune", "save_checkpoint", "print"):
    MEMBERS[_name] = native(_name, nothing)

MEMBERS["from_argparse_args"] = ClassMethod(native("from_argparse_args", from_arguments))
MEMBERS["add_argparse_args"] = ClassMethod(native("add_argparse_args", add_arguments))


@MEMBERS.method("fit")
def fit(
    run: Runtime, self: Instance, model: Value, train_dataloaders: Value = None, val_dataloaders: Value = None,
    datamodule: Value = None, ckpt_path: Value = None, train_dataloader: Value = None, **kwargs: Value,
) -> Value:  # fmt: skip
    """A step of training on one batch, again wherever a callback lets other parameters train."""
    if not isinstance(model, Instance) or LIGHTNING_MODULE not in model.cls.mro:
        return None
    data = train_dataloaders if train_dataloaders is not None else train_dataloader
    if isinstance(data, Instance) and DATA_MODULE in data.cls.mro:
        datamodule, data = data, None
    options = self.attributes
    attach(run, self, model, datamodule)
    stepped(run, datamodule, "prepare_data")
    stepped(run, model, "prepare_data")
    stepped(run, datamodule, "setup", "fit")
    callbacks = [each for each in options["callbacks"] if isinstance(each, Instance) and CALLBACK in each.cls.mro]
    callbacks += [each for each in optional(stepped(run, model, "configure_callbacks")) if isinstance(each, Instance)]
    for callback in callbacks:
        stepped(run, callback, "setup", self, model, "fit")
    stepped(run, model, "setup", "fit")
    stepped(run, model, "configure_model")
    stepped(run, model, "configure_sharded_model")
    source = datamodule if isinstance(datamodule, Instance) else model
    if data is None:
        data = stepped(run, source, "train_dataloader")
    precision = precision_of(options.get("precision"), options.get("plugins"))
    cast_model(run, model, precision, options.get("precision"))
    arranged_by(run, model, options["_native_strategy"], devices_in(options))
    configured = stepped(run, model, "configure_optimizers")
    made = optimizers_in(configured)
    if isinstance(configured, Unknown):
        own: Value = [weight for weight in weights_of(model) if not weight.buffer]
        made = optimizers_in(made_by_unfollowed(run, configured, (own,), {}))
    run.changed(model)
    model.attributes["_optimizers"] = options["optimizers"] = made
    accumulated = options.get("accumulate_grad_batches")
    FitCall(run, self, model, made, callbacks, precision.autocast, data, accumulated).run_all()
    return None


def attach(run: Runtime, trainer: Instance, model: Instance, datamodule: Value) -> None:
    """The module, its data and the trainer know of each other."""
    run.changed(model)
    run.changed(trainer)
    model.attributes["trainer"] = trainer
    trainer.attributes["model"] = trainer.attributes["lightning_module"] = model
    if isinstance(datamodule, Instance):
        run.changed(datamodule)
        datamodule.attributes["trainer"] = trainer
        trainer.attributes["datamodule"] = datamodule


def tuned(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """`Tuner(trainer).scale_batch_size(model)` finds the batch by trying: it is not known from then on."""
    model = next((each for each in (*args, *kwargs.values()) if isinstance(each, Instance)), None)
    data = kwargs.get("datamodule")
    for owner in (model, data):
        if isinstance(owner, Instance):
            word = kwargs.get("batch_arg_name", "batch_size")
            if isinstance(word, str) and run.find(owner, word) is not None:
                run.set(owner, word, run.unknown("the batch size is what a tuner finds by trying"))
    found: Unknown = run.unknown("what a tuner finds is not known")
    return found


TUNER = Class(
    "Tuner",
    namespace={
        "__init__": native("__init__", nothing),
        "scale_batch_size": native("scale_batch_size", tuned),
        "lr_find": native("lr_find", lambda run, self, *args, **kwargs: run.unknown("what a tuner finds is not known")),
    },
    module="lightning.pytorch.tuner",
)
