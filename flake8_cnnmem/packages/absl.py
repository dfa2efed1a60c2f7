"""absl: flags that modules define for all of a program, and the function that it runs."""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Instance, Native, Value, native

FLAGS = "command line flags"


def define(
    run: Runtime, name: Value, default: Value = None, help: Value = None, *args: Value, **kwargs: Value
) -> Value:
    flags = run.data(FLAGS)
    word = payload(name)
    if not isinstance(word, str):
        return run.unknown("the name of a flag is not known")
    run.changed(flags)
    flags[word] = default
    return Instance(HOLDER, {"name": word, "default": default})


HOLDER = native_class("FlagHolder", {}, module="absl.flags")


def holder_value(run: Runtime, self: Instance, name: Value) -> Value:
    if name == "value":
        return run.data(FLAGS).get(self.attributes["name"])
    raise run.error("AttributeError", str(name))


HOLDER.namespace["__getattr__"] = native("__getattr__", holder_value)


def flag_value(run: Runtime, self: Instance, name: Value) -> Value:
    found = run.data(FLAGS).get(name, MISSING)
    if found is MISSING:
        if isinstance(name, str) and name.startswith("__"):
            raise run.error("AttributeError", name)
        return run.unknown(f"the flag {name} is defined elsewhere")
    return found


def set_flag(run: Runtime, self: Instance, name: Value, value: Value) -> None:
    flags = run.data(FLAGS)
    run.changed(flags)
    flags[name] = value


VALUES = Instance(
    native_class(
        "FlagValues",
        {
            "__getattr__": native("__getattr__", flag_value),
            "__setattr__": native("__setattr__", set_flag),
            "__getitem__": native("__getitem__", flag_value),
            "__call__": native("__call__", lambda run, self, argv=(), **kwargs: ["script"]),
            "__contains__": Native("__contains__", lambda run, self, name: name in run.data(FLAGS)),
            "flag_values_dict": native("flag_values_dict", lambda run, self: dict(run.data(FLAGS))),
        },
        module="absl.flags",
    )
)
flags: dict[str, Value] = {
    "FLAGS": VALUES,
    **{
        f"DEFINE_{kind}": native(f"DEFINE_{kind}", define)
        for kind in ("integer", "float", "string", "bool", "boolean", "list", "enum", "enum_class", "multi_integer",
                     "multi_float", "multi_string", "multi_enum", "spaceseplist", "alias")
    },
    **{name: ignored(name) for name in ("mark_flag_as_required", "mark_flags_as_required", "declare_key_flag",
                                        "adopt_module_key_flags", "register_validator")},
}  # fmt: skip


def run_app(run: Runtime, main: Value, argv: Value = None, **kwargs: Value) -> Value:
    return run.call(main, ["script"])


MODULES: dict[str, dict[str, Value]] = {
    "absl": {},
    "absl.flags": flags,
    "absl.app": {"run": native("run", run_app)},
    "absl.logging": {
        name: ignored(name) for name in ("info", "warning", "error", "debug", "fatal", "set_verbosity", "vlog", "log")
    },
}
