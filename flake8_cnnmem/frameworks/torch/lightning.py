"""Lightning (`lightning`, `pytorch_lightning`): its modules, data modules, and what `Trainer.fit` does with them.

By Lightning's documentation of the order of its hooks: data module, `configure_optimizers`, then for each batch
`training_step`, `zero_grad`, backward and the optimizer's step. One batch stands for all.
"""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.frameworks.torch.gradients import backward as backward_pass
from flake8_cnnmem.frameworks.torch.holding import HPARAMS, held_as, saved_arguments
from flake8_cnnmem.frameworks.torch.launching import FABRIC
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.module import MODULE, owned
from flake8_cnnmem.frameworks.torch.module import init as init_module
from flake8_cnnmem.frameworks.torch.optim import OPTIMIZER
from flake8_cnnmem.frameworks.torch.optim.unfollowed import UNFOLLOWED
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Property, Run, Value


def native(name: str, function: Value) -> Native:
    return Native(name, function, absorb=False)


def nothing(run: Run, self: Value = None, *args: Value, **kwargs: Value) -> Value:
    return None


# Hyperparameters, which modules and data modules have alike


def save_hyperparameters(
    run: Run, self: Instance, *args: Value, ignore: Value = None, frame: Value = None, logger: Value = True
) -> Value:
    """`self.hparams` holds the constructor's arguments, or those that are named, or what is handed over."""
    given = saved_arguments(run)
    names = {name for name in args if isinstance(name, str)}
    if names:
        given = {word: value for word, value in given.items() if word in names}
    whole = [each for each in args if not isinstance(each, str)]
    for each in whole:
        inner = each.attributes if isinstance(each, Instance) and each.payload is None else each
        inner = inner.payload if isinstance(inner, Instance) else inner
        given = dict(inner) if isinstance(inner, dict) else given
    skipped = [ignore] if isinstance(ignore, str) else ignore if isinstance(ignore, (list, tuple)) else []
    found = get_hparams(run, self)
    if isinstance(found, Instance) and isinstance(found.payload, dict):
        run.changed(found.payload)
        found.payload.update({word: value for word, value in given.items() if word not in skipped})
    return None


def get_hparams(run: Run, self: Instance) -> Value:
    if "_hparams" not in self.attributes:
        run.changed(self)
        self.attributes["_hparams"] = held_as(HPARAMS, {})
    return self.attributes["_hparams"]


def set_hparams(run: Run, self: Instance, value: Value) -> Value:
    run.changed(self)
    self.attributes["_hparams"] = value
    return None


def load_from_checkpoint(run: Run, cls: Value, checkpoint_path: Value = None, *args: Value, **kwargs: Value) -> Value:
    """The values come from a file, the sizes from the arguments that are given beside it."""
    for word in ("map_location", "hparams_file", "strict", "weights_only"):
        kwargs.pop(word, None)
    return run.call(cls, **kwargs)


def signature_of(cls: Value) -> dict[str, Value] | None:
    """The constructor's parameters with their defaults (None where there is none); None for one of ours."""
    initialiser = cls.find("__init__") if isinstance(cls, Class) else None
    parameters = getattr(initialiser, "parameters", None)
    if initialiser is None or parameters is None:
        return None
    names = parameters.positional[1:]
    defaults = (None,) * (len(names) - len(initialiser.defaults)) + tuple(initialiser.defaults)[-len(names) or None :]
    found = dict(zip(names, defaults, strict=False))
    return {**found, **{name: initialiser.keyword_defaults.get(name) for name in parameters.keywords}}


def from_arguments(run: Run, cls: Value, args: Value = None, **kwargs: Value) -> Value:
    """`from_argparse_args(args)`: those of the arguments that the constructor takes."""
    given = args.attributes if isinstance(args, Instance) else {}
    own = signature_of(cls)
    taken = {word: value for word, value in given.items() if own is None or word in own}
    return run.construct(cls, **{**taken, **kwargs})


def add_arguments(run: Run, cls: Value, parser: Value = None, **kwargs: Value) -> Value:
    """`add_argparse_args(parser)`: an option for each parameter of the constructor."""
    own = signature_of(cls)
    for name, default in (TRAINER_OPTIONS if own is None else own).items():
        run.call(run.get(parser, "add_argument"), f"--{name}", default=default)
    return parser


TRAINER_OPTIONS: dict[str, Value] = {
    "max_epochs": None, "min_epochs": None, "max_steps": -1, "gpus": None, "devices": None, "accelerator": None,
    "strategy": None, "precision": 32, "num_nodes": 1, "accumulate_grad_batches": None, "default_root_dir": None,
    "fast_dev_run": False, "logger": True, "check_val_every_n_epoch": 1, "resume_from_checkpoint": None,
    "limit_train_batches": None, "limit_val_batches": None, "gradient_clip_val": None, "deterministic": False,
}  # fmt: skip
"""What a trainer's options are by default, of the many it has those that scripts read."""

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

# LightningModule

MEMBERS = Members(SHARED)
LIGHTNING_MODULE = Class("LightningModule", (MODULE,), MEMBERS, module="lightning.pytorch")

for _name in (
    "log", "log_dict", "print", "toggle_optimizer", "untoggle_optimizer", "clip_gradients", "configure_optimizers",
    "configure_callbacks", "configure_model", "lr_scheduler_step", "to_onnx", "configure_gradient_clipping",
    "train_dataloader", "val_dataloader", "test_dataloader", "validation_step", "test_step",
):  # fmt: skip
    MEMBERS[_name] = native(_name, nothing)
MEMBERS.update({
    "automatic_optimization": True, "current_epoch": 0, "global_step": 0, "global_rank": 0, "local_rank": 0,
    "example_input_array": None, "logger": Unknown("a logger is not followed"), "on_gpu": True,
    "device": Unknown("which device it is is not known"), "loggers": (), "trainer": Unknown("no trainer fits it"),
})  # fmt: skip


@MEMBERS.method("manual_backward")
def manual_backward(run: Run, self: Instance, loss: Value, *args: Value, **kwargs: Value) -> Value:
    if isinstance(loss, Tensor):
        backward_pass(run, loss)
    return None


@MEMBERS.method("optimizers")
def optimizers(run: Run, self: Instance, use_pl_optimizer: Value = True) -> Value:
    found = self.attributes.get("_optimizers", [])
    return found[0] if len(found) == 1 else list(found)


@MEMBERS.method("lr_schedulers")
def lr_schedulers(run: Run, self: Instance) -> Value:
    return run.unknown("learning rate schedulers are not followed")


def train_parameters(self: Instance, trainable: bool) -> None:
    for _, value in owned(self, "_parameters"):
        if isinstance(value, Weight):
            value.trainable = trainable


@MEMBERS.method("freeze")
def freeze(run: Run, self: Instance) -> Value:
    train_parameters(self, False)
    run.call(run.get(self, "eval"))
    return None


@MEMBERS.method("unfreeze")
def unfreeze(run: Run, self: Instance) -> Value:
    train_parameters(self, True)
    run.call(run.get(self, "train"))
    return None


@MEMBERS.method("all_gather", "to_torchscript")
def all_gather(run: Run, self: Instance, data: Value = None, *args: Value, **kwargs: Value) -> Value:
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

# Trainer

TRAINER_MEMBERS = Members()
TRAINER = Class("Trainer", namespace=TRAINER_MEMBERS, module="lightning.pytorch")

MIXED = {
    "16": "float16", "16-mixed": "float16", "bf16": "bfloat16", "bf16-mixed": "bfloat16", "transformer-engine": None,
}  # fmt: skip
"""What `precision` says of the autocast region that each step runs in."""

CAST = {"16-true": "half", "bf16-true": "bfloat16", "64": "double", "64-true": "double"}
"""Values of `precision` for which the model itself is cast, by the method that does it."""


@TRAINER_MEMBERS.method("__init__")
def trainer_init(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    run.changed(self)
    options = {"max_epochs": 1000, "precision": "32-true", "accumulate_grad_batches": 1, "devices": "auto", **kwargs}
    self.attributes.update(options)
    self.attributes.update({"current_epoch": 0, "global_step": 0, "world_size": 1, "num_devices": 1})
    return None


@TRAINER_MEMBERS.method("__getattr__")
def other(run: Run, self: Instance, name: Value) -> Value:
    """Loggers, callbacks, states: what nobody builds a model from."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of a trainer is not known")


for _name in ("validate", "test", "predict", "tune", "save_checkpoint", "print"):
    TRAINER_MEMBERS[_name] = native(_name, nothing)


TRAINER_MEMBERS["from_argparse_args"] = ClassMethod(native("from_argparse_args", from_arguments))
TRAINER_MEMBERS["add_argparse_args"] = ClassMethod(native("add_argparse_args", add_arguments))


@TRAINER_MEMBERS.method("fit")
def fit(
    run: Run, self: Instance, model: Value, train_dataloaders: Value = None, val_dataloaders: Value = None,
    datamodule: Value = None, ckpt_path: Value = None, train_dataloader: Value = None, **kwargs: Value,
) -> Value:  # fmt: skip
    """One step of training on one batch."""
    if not isinstance(model, Instance) or LIGHTNING_MODULE not in model.cls.mro:
        return None
    data = train_dataloaders if train_dataloaders is not None else train_dataloader
    if isinstance(data, Instance) and DATA_MODULE in data.cls.mro:
        datamodule, data = data, None
    run.changed(model)
    model.attributes["trainer"] = self
    self.attributes["model"] = self.attributes["lightning_module"] = model
    if isinstance(datamodule, Instance):
        run.changed(datamodule)
        datamodule.attributes["trainer"] = self
        self.attributes["datamodule"] = datamodule
    stepped(run, datamodule, "prepare_data")
    stepped(run, datamodule, "setup", "fit")
    stepped(run, model, "prepare_data")
    stepped(run, model, "setup", "fit")
    stepped(run, model, "configure_model")
    if data is None:
        data = stepped(run, datamodule if datamodule is not None else model, "train_dataloader")
    made = optimizers_in(stepped(run, model, "configure_optimizers"))
    model.attributes["_optimizers"] = made
    train_on(run, self, model, data, made)
    return None


def stepped(run: Run, owner: Value, name: str, *args: Value) -> Value:
    """Call a hook; what it raises goes no further than the hook."""
    if not isinstance(owner, Instance):
        return None
    method = run.find(owner, name)
    if method is MISSING or method is None:
        return None
    result = run.attempt(method, *args)
    if isinstance(result, Unknown) and args and name == "setup":
        # Hooks of older versions take no stage.
        return run.attempt(method) if parameters_of(method) == 0 else result
    return result


def parameters_of(method: Value) -> int | None:
    """How many arguments a method of the user's takes; None for one of ours."""
    function = getattr(method, "function", method)
    parameters = getattr(function, "parameters", None)
    return None if parameters is None else len(parameters.positional) - 1


def optimizers_in(value: Value, depth: int = 4) -> list[Instance]:
    """The optimizers in what `configure_optimizers` gives: alone, in lists, in dicts."""
    if isinstance(value, Instance) and (OPTIMIZER in value.cls.mro or value.cls is UNFOLLOWED):
        return [value]
    if depth == 0:
        return []
    if isinstance(value, dict):
        return optimizers_in(value.get("optimizer"), depth - 1)
    if isinstance(value, (tuple, list)):
        return [found for item in value for found in optimizers_in(item, depth - 1)]
    return []


def train_on(run: Run, trainer: Instance, model: Instance, data: Value, made: list[Instance]) -> None:
    precision = str(trainer.attributes.get("precision"))
    if precision in CAST:
        run.call(run.get(model, CAST[precision]))
    run.call(run.get(model, "train"))
    outer = run.autocast
    for hook in ("on_fit_start", "on_train_start", "on_train_epoch_start"):
        stepped(run, model, hook)
    batch = first_batch(run, data)
    for hook in ("on_before_batch_transfer", "on_after_batch_transfer"):
        if run.find(model, hook) is not MISSING:
            batch = stepped(run, model, hook, batch, 0)
    run.autocast = MIXED.get(precision, outer)
    try:
        steps(run, model, batch, made)
    finally:
        run.autocast = outer


def first_batch(run: Run, data: Value) -> Value:
    """One batch of a loader; of several loaders, one of each in the same structure."""
    if isinstance(data, dict):
        return {word: first_batch(run, each) for word, each in data.items()}
    if isinstance(data, (list, tuple)):
        return [first_batch(run, each) for each in data]
    if data is None:
        return run.unknown("what a trainer is given to train on is not known")
    items = run.iterate(data)
    if isinstance(items, Unknown):
        return items
    return next((item for item in items), run.unknown("a data loader gives no batches"))


def steps(run: Run, model: Instance, batch: Value, made: list[Instance]) -> None:
    method = run.find(model, "training_step")
    if method is MISSING:
        return
    takes = parameters_of(method)
    if run.truth(run.get(model, "automatic_optimization")) is False:
        run.attempt(method, *(batch, 0)[: takes or 2])
        return
    # Until version 2, a step was taken for each optimizer, which was told which one.
    rounds: list[Any] = [(at, [each]) for at, each in enumerate(made)] if takes == 3 else [(0, made)]
    for at, stepping in rounds or [(0, [])]:
        loss = run.attempt(method, *(batch, 0, at)[: takes or 2])
        if isinstance(loss, dict):
            loss = loss.get("loss")
        for optimizer in stepping:
            run.call(run.get(optimizer, "zero_grad"))
        if isinstance(loss, Tensor):
            backward_pass(run, loss)
        for optimizer in stepping:
            run.call(run.get(optimizer, "step"))


# The command line


def command_line(run: Run, self: Instance, model_class: Value = None, datamodule_class: Value = None, *args: Value,
                 trainer_class: Value = None, trainer_defaults: Value = None, run_: Value = True, **kwargs: Value,
                 ) -> Value:  # fmt: skip
    """LightningCLI: everything is made with its own defaults, and fitted."""
    model = run.attempt(model_class)
    data = None if datamodule_class is None else run.attempt(datamodule_class)
    options = trainer_defaults if isinstance(trainer_defaults, dict) else {}
    trainer = run.construct(TRAINER, **{word: value for word, value in options.items() if isinstance(word, str)})
    run.changed(self)
    self.attributes.update(model=model, datamodule=data, trainer=trainer)
    if kwargs.get("run", run_) is not False:
        fit(run, trainer, model, datamodule=data)
    return None


COMMAND_LINE = Class("LightningCLI", namespace={"__init__": native("__init__", command_line)}, module="lightning")

CALLBACK = Class("Callback", namespace={"__init__": native("__init__", nothing)}, module="lightning.pytorch.callbacks")


def seed_everything(run: Run, seed: Value = None, workers: Value = False, **kwargs: Value) -> Value:
    return seed


NAMES: dict[str, Value] = {
    "LightningModule": LIGHTNING_MODULE,
    "LightningDataModule": DATA_MODULE,
    "Trainer": TRAINER,
    "Callback": CALLBACK,
    "seed_everything": native("seed_everything", seed_everything),
    "__version__": "2.5.0",
}

PACKAGES = ("lightning", "pytorch_lightning", "lightning.pytorch")
"""The names under which Lightning is imported."""

CONTENTS: dict[str, dict[str, Value]] = {
    **{package: {**NAMES, "Fabric": FABRIC} for package in PACKAGES},
    **{
        f"{package}.{name}": NAMES
        for package in PACKAGES
        for name in ("core", "core.module", "core.lightning", "core.datamodule", "trainer", "trainer.trainer")
    },
    **{f"{package}.callbacks": {"Callback": CALLBACK} for package in PACKAGES},
    **{f"{package}.cli": {"LightningCLI": COMMAND_LINE} for package in PACKAGES},
    **{f"{package}.utilities.cli": {"LightningCLI": COMMAND_LINE} for package in PACKAGES},
    **{f"{package}.loggers": {} for package in PACKAGES},
    **{f"{package}.{name}": {} for package in PACKAGES for name in ("strategies", "plugins", "profilers", "tuner",
                                                                 "utilities", "utilities.types", "utilities.seed")},
    "lightning.fabric": {"Fabric": FABRIC},
    "lightning_fabric": {"Fabric": FABRIC},
    "lightning_utilities": {},
    "lightning_utilities.core.imports": {
        name: native(name, lambda run, *args, **kwargs: True)
        for name in ("module_available", "package_available", "compare_version", "RequirementCache")
    },
}  # fmt: skip
"""By dotted name. What else Lightning has is looked on at."""
