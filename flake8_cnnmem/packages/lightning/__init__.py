"""Lightning (`lightning`, `pytorch_lightning`): its modules, data modules, callbacks, trainer and command line."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.distributed.precision import PLUGINS, declared, plugin_init
from flake8_cnnmem.packages.lightning.callbacks import CALLBACKS
from flake8_cnnmem.packages.lightning.commands import COMMAND_LINE
from flake8_cnnmem.packages.lightning.fabric import FABRIC
from flake8_cnnmem.packages.lightning.modules import DATA_MODULE, HYPERPARAMETERS_MIXIN, LIGHTNING_MODULE, init_args
from flake8_cnnmem.packages.lightning.strategies import CLASSES as STRATEGIES
from flake8_cnnmem.packages.lightning.trainer import TRAINER, TUNER
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value, native

__all__ = ["DATA_MODULE", "LIGHTNING_MODULE", "MODULES", "STAND_INS"]


def seed_everything(run: Runtime, /, seed: Value = None, workers: Value = False, **kwargs: Value) -> Value:
    return seed


NAMES: dict[str, Value] = {
    "LightningModule": LIGHTNING_MODULE,
    "LightningDataModule": DATA_MODULE,
    "Trainer": TRAINER,
    "Callback": CALLBACKS["Callback"],
    "seed_everything": native("seed_everything", seed_everything),
    "cli_lightning_logo": native("cli_lightning_logo", lambda run: None),
    "__version__": "2.6.6",
}

PRECISIONS: dict[str, Value] = {name: declared(name, native("__init__", plugin_init)) for name in PLUGINS}
PLUGIN_CLASSES = {**PRECISIONS, **STRATEGIES}

PACKAGES = ("lightning", "pytorch_lightning", "lightning.pytorch")
"""The names under which Lightning is imported."""

MODULES: dict[str, dict[str, Value]] = {
    **{package: {**NAMES, "Fabric": FABRIC} for package in PACKAGES},
    **{
        f"{package}.{name}": NAMES
        for package in PACKAGES
        for name in ("core", "core.module", "core.lightning", "core.datamodule", "trainer", "trainer.trainer")
    },
    **{
        f"{package}.core.{name}": {"HyperparametersMixin": HYPERPARAMETERS_MIXIN}
        for package in PACKAGES
        for name in ("mixins", "mixins.hparams_mixin")
    },
    **{f"{package}.callbacks": CALLBACKS for package in PACKAGES},
    **{
        f"{package}.callbacks.{name}": CALLBACKS
        for package in PACKAGES
        for name in ("callback", "base", "finetuning", "gradient_accumulation_scheduler")
    },
    **{f"{package}.cli": {"LightningCLI": COMMAND_LINE} for package in PACKAGES},
    **{f"{package}.utilities.cli": {"LightningCLI": COMMAND_LINE} for package in PACKAGES},
    **{f"{package}.strategies": STRATEGIES for package in PACKAGES},
    **{f"{package}.plugins": PLUGIN_CLASSES for package in PACKAGES},
    **{f"{package}.plugins.{name}": PLUGIN_CLASSES for package in PACKAGES for name in ("precision", "training_type")},
    **{f"{package}.tuner": {"Tuner": TUNER} for package in PACKAGES},
    **{f"{package}.tuner.tuning": {"Tuner": TUNER} for package in PACKAGES},
    **{f"{package}.{name}": {} for package in PACKAGES for name in ("loggers", "profilers", "utilities",
                                                                    "utilities.types", "utilities.seed")},
    **{f"{package}.utilities.parsing": {"get_init_args": native("get_init_args", init_args)} for package in PACKAGES},
    "lightning.fabric": {"Fabric": FABRIC},
    "lightning_fabric": {"Fabric": FABRIC},
    "lightning.fabric.strategies": STRATEGIES,
    "lightning_fabric.strategies": STRATEGIES,
    "lightning_utilities": {},
    "lightning_utilities.core.imports": {
        name: native(name, lambda run, *args, **kwargs: True)
        for name in ("module_available", "package_available", "compare_version", "RequirementCache")
    },
}  # fmt: skip
"""By dotted name. What else Lightning has is looked on at."""

STAND_INS = {
    f"{package}.{name}.*": MODULES[f"{package}.{name}"]
    for package in PACKAGES
    for name in ("callbacks", "loggers", "plugins", "profilers", "strategies", "utilities")
}
"""What these modules hold is also found in their files (`callbacks.model_checkpoint`, `strategies.ddp`)."""
