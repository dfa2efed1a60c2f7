"""wandb: a tracker of experiments. What it is told goes elsewhere and shapes nothing; but scripts keep their settings
in its `config`, and read them back for the model.

A setting that the program gives nowhere comes from a sweep or from a file, and is not known.
"""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class
from flake8_cnnmem.packages._config_objects import fields_of, load_yaml, plain
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Property, Value

STORE = "wandb settings"
DEFAULTS = "config-defaults.yaml"
"""The file beside a script that wandb takes settings from (docs.wandb.ai, "Configure experiments")."""

config = Names()


def settings(run: Runtime) -> dict[Value, Value]:
    """The settings of the program, those of the file beside it to begin with."""
    store = run.data(STORE)
    if "settings" not in store:
        store["settings"] = described(load_yaml(run, DEFAULTS))
    found: dict[Value, Value] = store["settings"]
    return found


def described(found: Value) -> dict[Value, Value]:
    """`{"width": {"desc": "...", "value": 64}}`, as its files say it; plain values too."""
    if not isinstance(found, dict):
        return {}
    return {word: each["value"] if isinstance(each, dict) and "value" in each else each for word, each in found.items()}


def take(run: Runtime, given: Value, only_new: bool = False) -> None:
    """Take over a dict, the options of a command line, or a file's."""
    if given is None:
        return
    kept = settings(run)
    if isinstance(payload(given), str):
        given = described(load_yaml(run, given))
    fields = given if isinstance(given, Unknown) else plain(fields_of(given))
    if not isinstance(fields, dict):
        run.havoc(kept, fields if isinstance(fields, Unknown) else run.unknown("settings are not followed"))
        return
    run.changed(kept)
    kept.update({word: each for word, each in fields.items() if not only_new or word not in kept})


@config.function("__getattr__", propagate_unknown=False)
def get(run: Runtime, self: Instance, name: Value) -> Value:
    kept = settings(run)
    if isinstance(name, Unknown):
        return name
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    havocked = run.havocked.get(id(kept))
    outside = run.unknown(f"the setting '{name}' is given from outside") if havocked is None else havocked[1]
    return kept.get(name, outside)


@config.function("get", propagate_unknown=False)
def get_or(run: Runtime, self: Instance, name: Value, default: Value = None) -> Value:
    found = get(run, self, name)
    return default if isinstance(found, Unknown) and name not in settings(run) else found


@config.function("__setattr__", propagate_unknown=False)
def assign(run: Runtime, self: Instance, name: Value, value: Value) -> None:
    kept = settings(run)
    run.changed(kept)
    kept[name] = value


@config.function("update", propagate_unknown=False)
def update(run: Runtime, self: Instance, given: Value = None, allow_val_change: Value = None) -> None:
    take(run, given)


@config.function("setdefaults", propagate_unknown=False)
def set_defaults(run: Runtime, self: Instance, given: Value = None) -> None:
    take(run, given, only_new=True)


@config.function("as_dict", propagate_unknown=False)
def as_dict(run: Runtime, self: Instance) -> Value:
    return dict(settings(run))


config["keys"] = Native("keys", lambda run, self: list(settings(run)), propagate_unknown=False)
config["items"] = Native("items", lambda run, self: list(settings(run).items()), propagate_unknown=False)
config["__contains__"] = Native("__contains__", lambda run, self, name: name in settings(run), propagate_unknown=False)
config["__getitem__"], config["__setitem__"] = config["__getattr__"], config["__setattr__"]
config["persist"] = ignored("persist")
CONFIG = Instance(native_class("Config", dict(config), module="wandb"))


# A run, and what it is told

SAID = (
    "log", "watch", "unwatch", "finish", "save", "join", "alert", "define_metric", "log_artifact", "log_code",
    "mark_preempting",
)  # fmt: skip


def told(run: Runtime, self: Instance, name: Value) -> Value:
    """Whatever else it has: names, folders, tables of results."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of a tracker is not known")


RUN = Instance(native_class(
    "Run",
    {
        "config": CONFIG,
        "__getattr__": Native("__getattr__", told, propagate_unknown=False),
        "__setattr__": ignored("__setattr__"),
        "__enter__": Native("__enter__", lambda run, self: self, propagate_unknown=False),
        "__exit__": ignored("__exit__"),
        "summary": Property(Native("summary", lambda run, self: run.unknown("a summary of results is not known"))),
        **{name: ignored(name) for name in SAID},
    },
    module="wandb",
))  # fmt: skip


def init(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`wandb.init(project=..., config={...})`; in its first versions the settings were set afterwards alone."""
    take(run, kwargs.get("config"))
    return RUN


def agent(run: Runtime, sweep_id: Value = None, function: Value = None, *args: Value, **kwargs: Value) -> None:
    """Calls the function with settings that a sweep has chosen."""
    if function is not None:
        run.havoc(settings(run), run.unknown("settings are chosen by a sweep"))
        run.call(function)


CALLBACK = native_class("WandbCallback", {"__init__": ignored("__init__")}, module="wandb.keras")
CALLBACKS = ("WandbCallback", "WandbMetricsLogger", "WandbModelCheckpoint", "WandbEvalCallback")
callbacks: dict[str, Value] = dict.fromkeys(CALLBACKS, CALLBACK)

MODULES: dict[str, dict[str, Value]] = {
    "wandb": {
        "init": Native("init", init, propagate_unknown=False), "config": CONFIG, "run": RUN,
        "agent": Native("agent", agent, propagate_unknown=False), "Config": native_class("Config", {}, module="wandb"),
        **{name: ignored(name) for name in (*SAID, "login", "setup", "termlog", "termwarn")},
    },
    **dict.fromkeys(("wandb.keras", "wandb.integration.keras"), callbacks),
    "wandb.integration": {},
}  # fmt: skip
