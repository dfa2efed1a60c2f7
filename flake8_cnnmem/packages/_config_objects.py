"""Settings as objects whose items are attributes: OmegaConf and hydra, EasyDict, Munch, addict, Box, yacs and others.

All are dicts. They differ in what a missing attribute is, and in how files and other settings are taken in.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.files import text
from flake8_cnnmem.evaluate.builtins.keys import lose
from flake8_cnnmem.evaluate.builtins.mappings import DICT, fill
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.data import read_yaml
from flake8_cnnmem.evaluate.stdlib.modules import identity, ignored, native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, StaticMethod, Value, native


def held(cls: Class, value: Value) -> Value:
    """Plain containers with every dict in them as an object of this class."""
    if isinstance(value, dict):
        return Instance(cls, payload={key: held(cls, item) for key, item in value.items()})
    if type(value) is list or type(value) is tuple:
        return type(value)([held(cls, item) for item in value])
    return value


def plain(value: Value) -> Value:
    """The reverse of `held`: dicts, lists and tuples."""
    inner = payload(value)
    if isinstance(inner, dict):
        return {key: plain(item) for key, item in inner.items()}
    return type(inner)([plain(item) for item in inner]) if type(inner) in (list, tuple) else value


def without_tuples(value: Value) -> Value:
    """As `plain`, with a list for each tuple: OmegaConf has no others."""
    inner = payload(value)
    if isinstance(inner, dict):
        return {key: without_tuples(item) for key, item in inner.items()}
    return [without_tuples(item) for item in inner] if isinstance(inner, (list, tuple)) else value


def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    if not isinstance(self.payload, dict):
        self.payload = {}
    given = [arg for arg in args if arg is not None and not isinstance(arg, bool)]
    fill(run, self.payload, tuple(given[:1]), kwargs)
    for key, item in list(self.payload.items()):
        self.payload[key] = held(self.cls, item) if isinstance(item, (dict, list, tuple)) else item


def get(run: Runtime, self: Instance, name: Value) -> Value:
    items = self.payload
    if isinstance(items, dict) and name in items:
        return items[name]
    cause = run.havocked.get(id(items))
    if cause is not None:
        return cause[1]
    if isinstance(name, str) and not name.startswith("__"):
        missing = self.cls.facts.get("missing")
        if missing == "new":
            made = Instance(self.cls, payload={})
            run.changed(items)
            items[name] = made
            return made
        if missing == "none":
            return None
    raise run.error("AttributeError", str(name))


def assign(run: Runtime, self: Instance, name: Value, value: Value) -> None:
    run.changed(self.payload)
    self.payload[name] = held(self.cls, value) if isinstance(value, (dict, list, tuple)) else value


def remove(run: Runtime, self: Instance, name: Value) -> None:
    if name not in self.payload:
        raise run.error("AttributeError", str(name))
    run.changed(self.payload)
    del self.payload[name]


def copy(run: Runtime, self: Instance) -> Value:
    return held(self.cls, plain(self))


def merge_into(target: Instance, source: Value) -> None:
    """Take over another's items, inner dicts item by item."""
    for key, item in payload(source).items():
        now = target.payload.get(key)
        if isinstance(now, Instance) and isinstance(payload(item), dict) and isinstance(now.payload, dict):
            merge_into(now, item)
        else:
            target.payload[key] = held(target.cls, plain(item))


def lose_settings(run: Runtime, node: Instance, cause: Unknown) -> None:
    """Settings that are not known have been merged into these: each may be another one now. The nodes stay."""
    inner = {key: item for key, item in node.payload.items()
             if isinstance(item, Instance) and isinstance(item.payload, dict)}  # fmt: skip
    for each in inner.values():
        lose_settings(run, each, cause)
    lose(run, node.payload, cause)
    node.payload.update(inner)


def merge_other(run: Runtime, self: Instance, other: Value) -> None:
    lost = run.havocked.get(id(payload(other)))
    if isinstance(other, Unknown):
        lose_settings(run, self, other)
    elif lost is not None:
        lose_settings(run, self, lost[1])
    elif isinstance(payload(other), dict):
        run.changed(self.payload)
        merge_into(self, other)


def merge_file(run: Runtime, self: Instance, path: Value, **kwargs: Value) -> None:
    """yacs's `merge_from_file`: whatever a file that is not there says is not known."""
    merge_other(run, self, load_yaml(run, path))


def merge_list(run: Runtime, self: Instance, pairs: Value) -> None:
    """`["MODEL.NAME", "x", ...]`; without arguments on the command line there are none."""
    items = run.items(pairs) if pairs is not None else []
    if isinstance(items, Unknown):
        return
    for word, value in zip(items[::2], items[1::2], strict=False):
        *path, last = str(payload(word)).split(".")
        at: Value = self
        for part in path:
            at = payload(at).get(part)
        if isinstance(at, Instance) and isinstance(at.payload, dict):
            run.changed(at.payload)
            at.payload[last] = read_yaml(run, value) if isinstance(value, str) else value


def load_yaml(run: Runtime, path: Value) -> Value:
    found = text(run, path)
    return found if isinstance(found, Unknown) else read_yaml(run, found)


members = Names({
    "__init__": native("__init__", init), "__getattr__": native("__getattr__", get),
    "__setattr__": native("__setattr__", assign), "__delattr__": native("__delattr__", remove),
    "__setitem__": native("__setitem__", assign), "copy": native("copy", copy), "clone": native("clone", copy),
    "deepcopy": native("deepcopy", copy), "copy_and_resolve_references": native("copy", copy),
    "merge_from_other_cfg": native("merge", merge_other), "merge_update": native("merge", merge_other),
    "merge_from_file": native("merge_from_file", merge_file), "merge_from_list": native("merge_from_list", merge_list),
    "load_cfg": native("load_cfg", load_yaml),
    "to_dict": native("to_dict", lambda run, self: plain(self)),
    "toDict": native("toDict", lambda run, self: plain(self)),
    **{name: ignored(name) for name in ("freeze", "defrost", "lock", "unlock", "set_new_allowed", "dump", "to_yaml",
                                        "register_deprecated_key", "register_renamed_key")},
    "is_frozen": ignored("is_frozen", False),
})  # fmt: skip


def holder(name: str, module: str, **facts: Any) -> Class:
    """`missing` says what an attribute is that was never set: "new" an empty object, "none" None, else an error."""
    return native_class(name, dict(members), DICT, module=module, **facts)


EASY = holder("EasyDict", "easydict")
MUNCH = holder("Munch", "munch")
ADDICT = holder("Dict", "addict", missing="new")
BOX = holder("Box", "box")
NODE = holder("CfgNode", "yacs.config")
CONFIG_DICT = holder("ConfigDict", "ml_collections")
CONFIG = holder("DictConfig", "omegaconf")
MUNCH.namespace["fromDict"] = ClassMethod(native("fromDict", lambda run, cls, d: held(MUNCH, plain(d))))

# OmegaConf


def created(run: Runtime, obj: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Of a dict, a list, a YAML text, a dataclass or an object of one."""
    value = {} if obj is None else obj
    if isinstance(value, str):
        value = read_yaml(run, value)
    if isinstance(value, Class):
        value = run.attempt(value)
    return resolved(run, held(CONFIG, without_tuples(fields_of(value))))


def fields_of(value: Value) -> Value:
    """A dataclass's object as the dict of its fields."""
    if isinstance(value, Instance) and value.payload is None:
        return {word: fields_of(item) for word, item in value.attributes.items()}
    if isinstance(value, dict):
        return {key: fields_of(item) for key, item in value.items()}
    return [fields_of(item) for item in value] if isinstance(value, list) else value


def loaded(run: Runtime, file_: Value) -> Value:
    found = load_yaml(run, file_)
    return found if isinstance(found, Unknown) else resolved(run, held(CONFIG, found))


def merged(run: Runtime, *configs: Value) -> Value:
    result = Instance(CONFIG, payload={})
    for config in configs:
        if isinstance(config, (Class, Instance)) and not isinstance(payload(config), dict):
            config = created(run, config)
        merge_other(run, result, config)
    return resolved(run, result)


REFERENCE = re.compile(r"\$\{([\w.]+)\}")


def resolved(run: Runtime, config: Value) -> Value:
    """`${a.b}` stands for another setting; one that is not there, or a resolver's, is not known."""
    if isinstance(config, Instance):
        walk(run, config, config)
    return config


def walk(run: Runtime, root: Instance, at: Value) -> None:
    items = payload(at)
    entries = list(items.items()) if isinstance(items, dict) else list(enumerate(items))
    for key, item in entries:
        run.spend(1)
        if isinstance(item, str) and "${" in item:
            items[key] = referred(run, root, item, 0)
        elif isinstance(payload(item), (dict, list)):
            walk(run, root, item)


def referred(run: Runtime, root: Instance, value: str, depth: int) -> Value:
    whole = REFERENCE.fullmatch(value)
    if depth > 8:
        return run.unknown("settings refer to each other")
    if whole is None:
        return run.unknown("a setting is made of others")
    at: Value = root
    for part in whole[1].split("."):
        inner = payload(at)
        at = inner.get(part, MISSING) if isinstance(inner, dict) else MISSING
    if at is MISSING:
        return run.unknown(f"the setting {whole[1]} is not known")
    return referred(run, root, at, depth + 1) if isinstance(at, str) and "${" in at else at


def select(run: Runtime, cfg: Value, key: Value, default: Value = None, **kwargs: Value) -> Value:
    at: Value = cfg
    for part in str(payload(key)).split("."):
        inner = payload(at)
        at = inner.get(part, MISSING) if isinstance(inner, dict) else MISSING
    return default if at is MISSING else at


OMEGA = native_class(
    "OmegaConf",
    {
        **{name: StaticMethod(native(name, created)) for name in ("create", "structured")},
        "load": StaticMethod(native("load", loaded)),
        "merge": StaticMethod(native("merge", merged)),
        "unsafe_merge": StaticMethod(native("merge", merged)),
        "to_container": StaticMethod(native("to_container", lambda run, cfg, **kwargs: without_tuples(cfg))),
        "to_object": StaticMethod(native("to_object", lambda run, cfg, **kwargs: without_tuples(cfg))),
        "from_cli": StaticMethod(native("from_cli", lambda run, args=None: created(run))),
        "select": StaticMethod(native("select", select)),
        "is_config": StaticMethod(native("is_config", lambda run, obj: getattr(obj, "cls", None) is CONFIG)),
        **{
            name: StaticMethod(ignored(name))
            for name in ("set_struct", "set_readonly", "register_new_resolver", "register_resolver", "save", "to_yaml",
                         "resolve", "update")
        },
    },
    module="omegaconf",
)  # fmt: skip

# hydra

STORE = "hydra configs"


def main(run: Runtime, version_base: Value = None, config_path: Value = None, config_name: Value = None,
         **kwargs: Value) -> Value:  # fmt: skip
    """`@hydra.main(config_path="conf", config_name="config")`: the function is called with those settings."""
    if isinstance(version_base, str) and config_path is None and "." not in version_base:
        # Before version 1.1 the path came first.
        config_path = version_base

    def decorate(run: Runtime, function: Value) -> Value:
        def call(run: Runtime, *args: Value, **more: Value) -> Value:
            if args or more:
                return run.call(function, *args, **more)
            folder = posixpath.dirname(function.module.path) if isinstance(function, Function) else ""
            return run.call(function, composed(run, folder, config_path, config_name))

        return native("main", call)

    return native("hydra.main", decorate)


def composed(run: Runtime, folder: str, config_path: Value, config_name: Value) -> Value:
    """A configuration with the groups that its defaults list names."""
    name = payload(config_name)
    stored = run.data(STORE).get(name)
    if stored is not None:
        return created(run, stored)
    path = payload(config_path)
    if name is None and isinstance(path, str) and path.endswith((".yaml", ".yml")):
        # Before version 1.0 the path named the file.
        path, name = posixpath.split(path)
    if not isinstance(name, str):
        return run.unknown("which settings hydra loads is not known")
    if isinstance(path, Unknown):
        return path
    base = posixpath.join(folder, str(path)) if path is not None else folder
    found = group_of(run, base, name, 0)
    return found if isinstance(found, Unknown) else resolved(run, held(CONFIG, found))


DEEPEST = 6


def group_of(run: Runtime, base: str, name: str, depth: int) -> Value:
    """One file, over those that its `defaults` name: `- model: resnet` is model/resnet.yaml under the key `model`."""
    own = load_yaml(run, posixpath.join(base, name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"))
    if not isinstance(own, dict) or depth > DEEPEST:
        return own if isinstance(own, Unknown) else {}
    result = Instance(CONFIG, payload={})
    listed = own.pop("defaults", [])
    for entry in listed if isinstance(listed, list) else []:
        if entry == "_self_":
            merge_into(result, held(CONFIG, own))
            continue
        parts: Any = {None: entry} if isinstance(entry, str) else entry if isinstance(entry, dict) else {}
        for key, choice in parts.items():
            if not isinstance(choice, str) or (isinstance(key, str) and key.startswith(("override ", "hydra"))):
                continue
            folder = base if key is None else posixpath.join(base, key.removeprefix("optional "))
            stored = run.data(STORE).get((key, choice))
            inner = fields_of(run.attempt(stored)) if stored is not None else group_of(run, folder, choice, depth + 1)
            where = None if key is None else key.removeprefix("optional ").split("@")[0]
            merge_other(run, result, inner if where is None else {where: inner})
    if "_self_" not in (listed if isinstance(listed, list) else []):
        merge_into(result, held(CONFIG, own))
    return plain(result)


def store(run: Runtime, self: Value = None, name: Value = None, node: Value = None, group: Value = None,
          **kwargs: Value) -> None:  # fmt: skip
    run.data(STORE)[name if group is None else (group, name)] = node


CONFIG_STORE = native_class("ConfigStore", {"store": native("store", store)}, module="hydra.core.config_store")
CONFIG_STORE.namespace["instance"] = StaticMethod(native("instance", lambda run: Instance(CONFIG_STORE)))


def instantiate(run: Runtime, config: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Call what `_target_` names with the other items, inner ones with targets of their own first."""
    if isinstance(config, Unknown):
        return config
    items = payload(config)
    if isinstance(items, list):
        return [instantiate(run, item) for item in items]
    if not isinstance(items, dict):
        return config
    if "_target_" not in items:
        return config
    partial = items.get("_partial_") is True
    given = {key: instantiate(run, item) for key, item in items.items() if not str(key).startswith("_")}
    given.update({key: item for key, item in kwargs.items() if not key.startswith("_")})
    target = located(run, items["_target_"])
    if isinstance(target, Unknown):
        return target
    if partial:
        return native("partial", lambda run, *more, **last: run.call(target, *args, *more, **{**given, **last}))
    return run.call(target, *args, **given)


def located(run: Runtime, name: Value) -> Value:
    """`package.module.Class`."""
    importer: Any = getattr(run, "importer", None)
    if importer is None or not isinstance(payload(name), str):
        return run.unknown("what a target names is not known")
    dotted, _, word = payload(name).rpartition(".")
    words = [word]
    while dotted:
        found = importer.find(dotted)
        if found is not None:
            for each in words:
                found = importer.member(dotted, each) if each is words[0] else run.get(found, each)
            return found
        dotted, _, word = dotted.rpartition(".")
        words.insert(0, word)
    return run.unknown(f"the source of '{payload(name)}' is not found")


hydra_utils: dict[str, Value] = {
    "instantiate": native("instantiate", instantiate), "call": native("call", instantiate),
    "get_class": native("get_class", located), "get_method": native("get_method", located),
    "get_object": native("get_object", located), "get_original_cwd": native("get_original_cwd", lambda run: ""),
    "to_absolute_path": identity("to_absolute_path"),
}  # fmt: skip

yacs: dict[str, Value] = {"CfgNode": NODE}
collections: dict[str, Value] = {
    "ConfigDict": CONFIG_DICT,
    "FrozenConfigDict": CONFIG_DICT,
    "FieldReference": identity("FieldReference"),
    "placeholder": native("placeholder", lambda run, *args: run.unknown("a setting is given from outside")),
    "create": native("create", lambda run, **kwargs: held(CONFIG_DICT, kwargs)),
}

OMEGACONF: dict[str, Value] = {
    "OmegaConf": OMEGA, "DictConfig": CONFIG, "ListConfig": native_class("ListConfig", {}, module="omegaconf"),
    "MISSING": "???", "open_dict": native_class("open_dict", {
        "__init__": ignored("__init__"), "__enter__": ignored("__enter__"), "__exit__": ignored("__exit__")}),
}  # fmt: skip
HYDRA: dict[str, dict[str, Value]] = {
    "hydra": {"main": native("main", main)},
    "hydra.utils": hydra_utils,
    "hydra.core": {},
    "hydra.core.config_store": {"ConfigStore": CONFIG_STORE},
}
MUNCHES: dict[str, Value] = {"Munch": MUNCH, "munchify": native("munchify", lambda run, x: held(MUNCH, plain(x)))}
