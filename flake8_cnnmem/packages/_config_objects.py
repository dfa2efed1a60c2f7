"""Settings as objects whose items are attributes: EasyDict, Munch, addict, Box, yacs; OmegaConf has much of it.

All are dicts. They differ in what a missing attribute is, and in how files and other settings are taken in.
"""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.files import text
from flake8_cnnmem.evaluate.builtins.keys import lose
from flake8_cnnmem.evaluate.builtins.mappings import DICT, fill
from flake8_cnnmem.evaluate.stdlib.data import read_yaml
from flake8_cnnmem.evaluate.stdlib.modules import identity, ignored, native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Instance, Value, native


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
MUNCH.namespace["fromDict"] = ClassMethod(native("fromDict", lambda run, cls, d: held(MUNCH, plain(d))))


def fields_of(value: Value) -> Value:
    """A dataclass's object as the dict of its fields."""
    if isinstance(value, Instance) and value.payload is None:
        return {word: fields_of(item) for word, item in value.attributes.items()}
    if isinstance(value, dict):
        return {key: fields_of(item) for key, item in value.items()}
    return [fields_of(item) for item in value] if isinstance(value, list) else value


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


yacs: dict[str, Value] = {"CfgNode": NODE}
collections: dict[str, Value] = {
    "ConfigDict": CONFIG_DICT,
    "FrozenConfigDict": CONFIG_DICT,
    "FieldReference": identity("FieldReference"),
    "placeholder": native("placeholder", lambda run, *args: run.unknown("a setting is given from outside")),
    "create": native("create", lambda run, **kwargs: held(CONFIG_DICT, kwargs)),
}

MUNCHES: dict[str, Value] = {"Munch": MUNCH, "munchify": native("munchify", lambda run, x: held(MUNCH, plain(x)))}
