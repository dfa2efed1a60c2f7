"""mmengine: settings that registries build models from. The rest of it is read from its source."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.builtins.mappings import DICT
from flake8_cnnmem.evaluate.stdlib.modules import Fresh, ignored, native_class
from flake8_cnnmem.frameworks.torch.nn.modules.container import MODULE_LIST, SEQUENTIAL
from flake8_cnnmem.frameworks.torch.nn.modules.module import MODULE
from flake8_cnnmem.frameworks.torch.nn.modules.module_dict import MODULE_DICT
from flake8_cnnmem.packages._config_objects import get, held, holder, lose_settings, members, plain
from flake8_cnnmem.packages._python_settings import merged, settings_of
from flake8_cnnmem.packages._registries import BUILDERS, REGISTRY, init_default_scope, native, root
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, StaticMethod, Value

CONFIG_DICT = holder("ConfigDict", "mmengine.config.config")

FILE_NAME = "filename"


def init(run: Runtime, self: Instance, cfg_dict: Value = None, cfg_text: Value = None, filename: Value = None,
         *args: Value, **kwargs: Value) -> None:  # fmt: skip
    self.payload = {}
    self.attributes[FILE_NAME] = filename
    if isinstance(cfg_dict, Unknown):
        run.havoc(self.payload, cfg_dict)
    elif cfg_dict is not None:
        self.payload = {key: held(CONFIG_DICT, plain(value)) for key, value in payload(cfg_dict).items()}


def attribute(run: Runtime, self: Instance, name: Value) -> Value:
    if name == "_cfg_dict":
        return Instance(CONFIG_DICT, payload=self.payload)
    if name in ("text", "pretty_text"):
        return run.unknown("the text of settings is not known")
    return get(run, self, name)


def assign(run: Runtime, self: Instance, name: Value, value: Value) -> None:
    run.changed(self.payload)
    self.payload[name] = held(CONFIG_DICT, value) if isinstance(value, (dict, list, tuple)) else value


def from_file(run: Any, filename: Value, *args: Value, **kwargs: Value) -> Value:
    """The settings of a Python, YAML or JSON file. The modules that they want imported are looked for, so that
    what they register is found."""
    path = payload(filename)
    if isinstance(path, Unknown):
        return path
    found = settings_of(run, str(path), CONFIG_DICT)
    if isinstance(found, Unknown):
        return found
    wanted = payload(found.get("custom_imports"))
    listed = payload(wanted.get("imports")) if isinstance(wanted, dict) else None
    for name in [listed] if isinstance(listed, str) else listed or ():
        if run.importer.find(name) is None and wanted.get("allow_failed_imports") is not True:
            return run.import_failure(name)
    return run.construct(CONFIG, found, None, str(path))


def merge_from_dict(run: Runtime, self: Instance, options: Value, allow_list_keys: Value = True) -> None:
    """`{"model.backbone.depth": 50}`: the value that each path of names leads to."""
    if isinstance(options, Unknown):
        lose_settings(run, self, options)
        return
    run.changed(self.payload)
    for path, value in payload(options).items():
        *above, last = str(payload(path)).split(".")
        at: Any = self.payload
        for part in above:
            inner = at[int(part)] if isinstance(at, list) and part.isdigit() else at.get(part, MISSING)
            if inner is MISSING:
                inner = at[part] = Instance(CONFIG_DICT, payload={})
            at = payload(inner)
        if isinstance(at, list) and last.isdigit():
            at[int(last)] = held(CONFIG_DICT, value)
        else:
            at.update(merged(run, {last: value}, at, CONFIG_DICT))


CONFIG = native_class(
    "Config",
    {
        **members,
        "__init__": native("__init__", init),
        "__getattr__": native("__getattr__", attribute),
        "__setattr__": native("__setattr__", assign),
        "__setitem__": native("__setitem__", assign),
        "merge_from_dict": native("merge_from_dict", merge_from_dict),
        "fromfile": StaticMethod(native("fromfile", from_file)),
        "dump": ignored("dump"),
    },
    DICT,
    module="mmengine.config.config",
)

READ_BASE = native_class(
    "read_base", {name: ignored(name) for name in ("__init__", "__enter__", "__exit__")}, module="mmengine.config"
)

REGISTRIES: dict[str, Value] = {
    "Registry": REGISTRY,
    "init_default_scope": native("init_default_scope", init_default_scope),
    **BUILDERS,
}
SETTINGS: dict[str, Value] = {"Config": CONFIG, "ConfigDict": CONFIG_DICT, "read_base": READ_BASE}

PLACED: dict[str, dict[str, Value]] = {
    "mmengine": dict(SETTINGS),
    "mmengine.config": dict(SETTINGS),
    "mmengine.config.config": dict(SETTINGS),
    "mmengine.registry": dict(REGISTRIES),
    "mmengine.registry.registry": dict(REGISTRIES),
    "mmengine.registry.build_functions": dict(BUILDERS),
    "mmengine.registry.utils": dict(REGISTRIES),
}


def base_module(run: Runtime, self: Instance, init_cfg: Value = None) -> None:
    """`BaseModule(init_cfg)`: how weights are filled says nothing of their sizes."""
    run.call(run.get(MODULE, "__init__"), self)
    run.set(self, "init_cfg", init_cfg)


def listed(run: Runtime, self: Instance, *args: Value, init_cfg: Value = None) -> None:
    """`Sequential(*modules, init_cfg=...)` and its like."""
    run.call(run.get(self.cls.bases[-1], "__init__"), self, *args)


def own_class(name: str, base: Class, init: Callable[..., Value]) -> Class:
    return native_class(
        name,
        {"__init__": native("__init__", init), "init_weights": ignored("init_weights")},
        base,
        module="mmengine.model",
    )


BASE_MODULE = own_class("BaseModule", MODULE, base_module)

ROOTS = ("MODELS", "MODEL_WRAPPERS", "TASK_UTILS", "TRANSFORMS", "DATASETS", "HOOKS", "LOOPS", "RUNNERS", "OPTIMIZERS")

STAND_INS: dict[str, dict[str, Value]] = {
    "mmengine": dict(SETTINGS),
    "mmengine.config": dict(SETTINGS),
    "mmengine.registry": {**REGISTRIES, **{name: Fresh(partial(root, name.lower())) for name in ROOTS}},
    "mmengine.model": {
        "BaseModule": BASE_MODULE,
        **{each.name: own_class(each.name, each, listed) for each in (SEQUENTIAL, MODULE_LIST, MODULE_DICT)},
    },
}
"""What is known of it where its source is not found: projects that build on it have their models themselves."""
