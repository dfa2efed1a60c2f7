"""LightningCLI: module, data and trainer made from their own defaults, and fitted. Nobody gives any argument."""

from __future__ import annotations

from flake8_cnnmem.packages.lightning.arguments import REQUIRED, nothing, signature_of
from flake8_cnnmem.packages.lightning.callbacks import CALLBACK
from flake8_cnnmem.packages.lightning.hooks import is_own, optional, stepped
from flake8_cnnmem.packages.lightning.trainer import TRAINER
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Value, native


def set_defaults(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """`parser.set_defaults({"trainer.precision": 16, "model.width": 64})`"""
    run.changed(self)
    found = self.attributes.setdefault("defaults", {})
    for given in (*args, kwargs):
        found.update(given if isinstance(given, dict) else {})
    return None


def add_argument(run: Runtime, self: Instance, /, *names: Value, default: Value = None, **kwargs: Value) -> Value:
    name = next((each.lstrip("-") for each in names if isinstance(each, str)), None)
    if name is not None and default is not None:
        set_defaults(run, self, {name: default})
    return None


def link_arguments(
    run: Runtime, self: Instance, /, source: Value, target: Value = None, compute_fn: Value = None, **kwargs: Value
) -> Value:
    """What one group is given another one gets as well. What is computed, or read off an object, is not followed."""
    run.changed(self)
    if isinstance(source, str) and isinstance(target, str):
        self.attributes.setdefault("links", []).append((source, target, compute_fn))
    return None


def add_class(run: Runtime, self: Instance, /, cls: Value = None, nested_key: Value = None, **kwargs: Value) -> Value:
    run.changed(self)
    if isinstance(cls, Class) and isinstance(nested_key, str):
        self.attributes.setdefault("classes", {})[nested_key] = cls
    return None


PARSER = Class(
    "LightningArgumentParser",
    namespace={
        "set_defaults": native("set_defaults", set_defaults),
        "add_argument": native("add_argument", add_argument),
        "link_arguments": native("link_arguments", link_arguments),
        "add_lightning_class_args": native("add_lightning_class_args", add_class),
        **{
            name: native(name, nothing)
            for name in ("add_optimizer_args", "add_lr_scheduler_args", "add_class_arguments", "add_subclass_arguments",
                         "add_function_arguments")
        },
    },
    module="lightning.pytorch.cli",
)  # fmt: skip


def made(run: Runtime, cls: Value, defaults: dict[str, Value]) -> Value:
    """An object of a class from the defaults of its constructor; what has none is what the command line would give."""
    own = signature_of(cls) or {}
    missing = {word: run.unknown(f"the command line gives {word}")
               for word, default in own.items() if default is REQUIRED and word not in defaults}  # fmt: skip
    return run.attempt(cls, **{**defaults, **missing})


def of_group(defaults: dict[Value, Value], group: str) -> dict[str, Value]:
    """`{"model.width": 64}` and `{"model": {"width": 64}}` for the group "model"."""
    found = {key.partition(".")[2]: value for key, value in defaults.items()
             if isinstance(key, str) and key.startswith(f"{group}.") and key.count(".") == 1}  # fmt: skip
    nested = defaults.get(group)
    return {**(nested if isinstance(nested, dict) else {}), **found}


def linked(
    run: Runtime,
    groups: dict[str, dict[str, Value]],
    classes: dict[str, Value],
    source: str,
    target: str,
    computed: Value,
) -> None:
    """Give an argument of one group the value that one of another group has."""
    group, _, word = source.partition(".")
    taker, _, name = target.partition(".")
    if group not in groups or taker not in groups or "." in word or "." in name:
        return
    value = groups[group].get(word, (signature_of(classes[group]) or {}).get(word, REQUIRED))
    if value is not REQUIRED:
        groups[taker][name] = value if computed is None else run.attempt(computed, value)


def command_line(
    run: Runtime, self: Instance, /, model_class: Value = None, datamodule_class: Value = None,
    save_config_callback: Value = None, save_config_kwargs: Value = None, trainer_class: Value = None,
    trainer_defaults: Value = None, *args: Value, **kwargs: Value,
) -> Value:  # fmt: skip
    parser = Instance(PARSER)
    for name in ("add_default_arguments_to_parser", "add_arguments_to_parser"):
        if is_own(self, name):
            stepped(run, self, name, parser)
    own = parser.attributes
    defaults = own.get("defaults", {})
    added: dict[str, Class] = own.get("classes", {})
    classes = {"model": model_class, "data": datamodule_class, **added}
    groups = {name: of_group(defaults, name) for name in classes}
    for source, target, computed in own.get("links", []):
        linked(run, groups, classes, source, target, computed)
    found = {name: None if cls is None else made(run, cls, groups[name]) for name, cls in classes.items()}
    model, data = found["model"], found["data"]
    options = {**(trainer_defaults if isinstance(trainer_defaults, dict) else {}), **of_group(defaults, "trainer")}
    callbacks = [found[name] for name, cls in added.items() if cls.derives_from(CALLBACK)]
    options["callbacks"] = [*callbacks, *optional(options.get("callbacks"))]
    words = {word: value for word, value in options.items() if isinstance(word, str)}
    trainer = run.construct(trainer_class if isinstance(trainer_class, Class) else TRAINER, **words)
    run.changed(self)
    self.attributes.update(model=model, datamodule=data, trainer=trainer, parser=parser)
    if kwargs.get("run") is not False:
        if is_own(self, "before_fit"):
            stepped(run, self, "before_fit")
        run.call(run.get(trainer, "fit"), model, datamodule=data)
    return None


COMMAND_LINE = Class(
    "LightningCLI",
    namespace={
        "__init__": native("__init__", command_line),
        "add_arguments_to_parser": native("add_arguments_to_parser", nothing),
    },
    module="lightning.pytorch.cli",
)
