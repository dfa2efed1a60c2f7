"""LightningModule and LightningDataModule: modules with the parts of a training step, and what a trainer gives them."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.autograd.backward import backward_of
from flake8_cnnmem.frameworks.torch.hyperparameters import HPARAMS, held_as, saved_arguments
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE, owned, weights_of
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.frameworks.torch.optim import parameters_of
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.packages.lightning.arguments import add_arguments, from_arguments, nothing
from flake8_cnnmem.packages.lightning.hooks import names_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Property, Value, native

# Hyperparameters, which modules and data modules have alike


def save_hyperparameters(
    run: Runtime, self: Instance, *args: Value, ignore: Value = None, frame: Value = None, logger: Value = True
) -> Value:
    """`self.hparams` holds the constructor's arguments, or those that are named, or what is handed over."""
    given = saved_arguments(run)
    names = {name for name in args if isinstance(name, str)}
    if names:
        given = {word: value for word, value in given.items() if word in names}
    whole = [each for each in args if not isinstance(each, str)]
    for each in whole:
        if isinstance(each, Unknown):
            return set_hparams(run, self, each)
        inner = each.attributes if isinstance(each, Instance) and each.payload is None else each
        inner = inner.payload if isinstance(inner, Instance) else inner
        given = dict(inner) if isinstance(inner, dict) else given
    skipped = [ignore] if isinstance(ignore, str) else ignore if isinstance(ignore, (list, tuple)) else []
    found = get_hparams(run, self)
    if isinstance(found, Instance) and isinstance(found.payload, dict):
        run.changed(found.payload)
        found.payload.update({word: value for word, value in given.items() if word not in skipped})
    return None


def init_args(run: Runtime, frame: Value) -> Value:
    """`get_init_args(inspect.currentframe())`: the arguments of the constructor that is running."""
    return saved_arguments(run)


def get_hparams(run: Runtime, self: Instance) -> Value:
    if "_hparams" not in self.attributes:
        run.changed(self)
        self.attributes["_hparams"] = held_as(HPARAMS, {})
    return self.attributes["_hparams"]


def set_hparams(run: Runtime, self: Instance, value: Value) -> Value:
    run.changed(self)
    self.attributes["_hparams"] = value
    return None


def load_from_checkpoint(
    run: Runtime, cls: Value, checkpoint_path: Value = None, *args: Value, **kwargs: Value
) -> Value:
    """The values come from a file, the sizes from the arguments that are given beside it; arguments that the
    constructor needs and that are not given are in the file as well."""
    for word in ("map_location", "hparams_file", "strict", "weights_only"):
        kwargs.pop(word, None)
    maker = cls.find("__init__") if isinstance(cls, Class) else None
    named = names_of(maker)
    needed = named[: len(named) - len(getattr(maker, "defaults", ()))]
    saved = {word: run.unknown(f"{word} is in the checkpoint") for word in needed if word not in kwargs}
    return run.call(cls, **kwargs, **saved)


SHARED: dict[str, Value] = {
    "save_hyperparameters": native("save_hyperparameters", save_hyperparameters),
    "hparams": Property(native("hparams", get_hparams), native("hparams", set_hparams)),
    "hparams_initial": Property(native("hparams", get_hparams)),
    "load_from_checkpoint": ClassMethod(native("load_from_checkpoint", load_from_checkpoint)),
    **{
        name: native(name, nothing)
        for name in (
            "prepare_data", "setup", "teardown", "on_fit_start", "on_train_start", "on_train_epoch_start",
            "on_train_batch_start", "on_train_batch_end", "on_train_epoch_end", "on_validation_epoch_end",
            "on_validation_epoch_start", "on_test_epoch_end", "on_save_checkpoint", "on_load_checkpoint",
        )
    },
}  # fmt: skip

HYPERPARAMETERS_MIXIN = Class(
    "HyperparametersMixin",
    namespace=Members({name: SHARED[name] for name in ("save_hyperparameters", "hparams", "hparams_initial")}),
    module="lightning.pytorch.core.mixins",
)
"""What a plain module takes over to keep its constructor's arguments."""

# LightningModule

MEMBERS = Members(SHARED)
LIGHTNING_MODULE = Class("LightningModule", (MODULE,), MEMBERS, module="lightning.pytorch")

for _name in (
    "log", "log_dict", "print", "clip_gradients", "configure_optimizers", "configure_callbacks", "configure_model",
    "configure_sharded_model", "lr_scheduler_step", "to_onnx", "configure_gradient_clipping", "train_dataloader",
    "val_dataloader", "test_dataloader", "validation_step", "test_step", "on_after_backward", "on_before_backward",
    "on_before_optimizer_step", "on_before_zero_grad",
):  # fmt: skip
    MEMBERS[_name] = native(_name, nothing)
MEMBERS.update({
    "automatic_optimization": True, "current_epoch": 0, "global_step": 0, "global_rank": 0, "local_rank": 0,
    "example_input_array": None, "logger": Unknown("a logger is not followed"), "on_gpu": True,
    "device": Unknown("which device it is is not known"), "loggers": (), "trainer": Unknown("no trainer fits it"),
})  # fmt: skip


@MEMBERS.method("manual_backward", "backward")
def backward(run: Runtime, self: Instance, loss: Value, *args: Value, **kwargs: Value) -> Value:
    """The backward pass, by the loss's own method: it tells what it starts from."""
    return backward_of(run, loss, *args, **kwargs)


@MEMBERS.method("optimizers")
def optimizers(run: Runtime, self: Instance, use_pl_optimizer: Value = True) -> Value:
    found = self.attributes.get("_optimizers", [])
    return found[0] if len(found) == 1 else list(found)


@MEMBERS.method("optimizer_step")
def optimizer_step(
    run: Runtime, self: Instance, epoch: Value = None, batch_idx: Value = None, optimizer: Value = None,
    optimizer_closure: Value = None, *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    """What a module that overrides it goes back to. Version 1 told an optimizer's number before the closure."""
    closure = kwargs.get("optimizer_closure", optimizer_closure)
    closure = args[0] if isinstance(closure, int) and args else closure
    return run.call(run.get(optimizer, "step"), closure)


@MEMBERS.method("optimizer_zero_grad")
def optimizer_zero_grad(
    run: Runtime, self: Instance, epoch: Value = None, batch_idx: Value = None, optimizer: Value = None, *args: Value
) -> Value:
    optimizer = next((each for each in (*args, optimizer) if isinstance(each, Instance)), optimizer)
    return run.call(run.get(optimizer, "zero_grad"))


TOGGLED = "_native_toggled"


@MEMBERS.method("toggle_optimizer")
def toggle_optimizer(run: Runtime, self: Instance, optimizer: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Until `untoggle_optimizer` no parameter of the module's other optimizers asks for a gradient."""
    held = {id(each): each for each in weights_of(self)}
    own = {id(weight) for weight in parameters_of(optimizer) or ()} if isinstance(optimizer, Instance) else set()
    others = [each for each in self.attributes.get("_optimizers", []) if each is not optimizer]
    before = {}
    for weight in (weight for each in others for weight in parameters_of(each) or ()):
        if id(weight) not in own and id(weight) in held and weight.trainable:
            before[id(weight)] = weight
            weight.trainable = False
    run.changed(self)
    self.attributes[TOGGLED] = list(before.values())
    return None


@MEMBERS.method("untoggle_optimizer")
def untoggle_optimizer(run: Runtime, self: Instance, optimizer: Value = None, *args: Value, **kwargs: Value) -> Value:
    for weight in self.attributes.pop(TOGGLED, []):
        weight.trainable = True
    return None


@MEMBERS.method("lr_schedulers")
def lr_schedulers(run: Runtime, self: Instance) -> Value:
    return run.unknown("learning rate schedulers are not followed")


def train_parameters(run: Runtime, self: Instance, trainable: bool) -> None:
    for _, value in owned(run, self, "_parameters"):
        if isinstance(value, Weight):
            value.trainable = trainable


@MEMBERS.method("freeze")
def freeze(run: Runtime, self: Instance) -> Value:
    train_parameters(run, self, False)
    run.call(run.get(self, "eval"))
    return None


@MEMBERS.method("unfreeze")
def unfreeze(run: Runtime, self: Instance) -> Value:
    train_parameters(run, self, True)
    run.call(run.get(self, "train"))
    return None


@MEMBERS.method("all_gather", "to_torchscript")
def all_gather(run: Runtime, self: Instance, data: Value = None, *args: Value, **kwargs: Value) -> Value:
    return data


MEMBERS["__init__"] = native("__init__", init_module)

# LightningDataModule

DATA_MODULE = Class(
    "LightningDataModule",
    namespace={
        **SHARED,
        "from_argparse_args": ClassMethod(native("from_argparse_args", from_arguments)),
        "add_argparse_args": ClassMethod(native("add_argparse_args", add_arguments)),
        "__init__": native("__init__", nothing),
        "trainer": None,
    },
    module="lightning.pytorch",
)
for _name in ("train_dataloader", "val_dataloader", "test_dataloader", "predict_dataloader"):
    DATA_MODULE.namespace[_name] = native(_name, nothing)
