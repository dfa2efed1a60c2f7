"""pydantic: settings as classes whose fields are annotated. A model within is made of a dict; what a validator of the
project's own makes of a field is not followed.
"""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins.classes import HOSTED
from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.stdlib.copy import Copier
from flake8_cnnmem.evaluate.stdlib.dataclasses import names as dataclass_names
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class
from flake8_cnnmem.packages._settings_classes import fitted, hints_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Value, native

FIELD = native_class("FieldInfo", {}, module="pydantic.fields")
VALIDATOR = native_class("Validator", {}, module="pydantic")


def field(run: Runtime, default: Value = ..., **kwargs: Value) -> Value:
    """`Field(64, gt=0)`, `Field(default_factory=list)`"""
    return Instance(FIELD, {"default": default, "default_factory": kwargs.get("default_factory")})


def init(run: Runtime, self: Instance, /, **given: Value) -> None:
    run.changed(self)
    hints = hints_of(run, self.cls)
    lost: set[str] = set()
    for cls in reversed(self.cls.mro):
        for word in cls.namespace.get("__annotations__", {}):
            if isinstance(word, str) and not word.startswith("_") and word != "model_config":
                default = cls.namespace.get(word, ...)
                value = value_of(run, word, default, given.get(word, MISSING))
                self.attributes[word] = fitted(run, value, hints.get(word), is_model, of_dict)
        for each in cls.namespace.values():
            if isinstance(each, Instance) and each.cls is VALIDATOR:
                lost |= set(each.attributes["fields"] or self.attributes)
    for word in lost & self.attributes.keys():
        self.attributes[word] = run.unknown(f"what a validator makes of {word} is not followed")


def value_of(run: Runtime, word: str, default: Value, given: Value) -> Value:
    """A field of what is given for it: of the kind that its default has, a model of a dict."""
    factory = default.attributes["default_factory"] if isinstance(default, Instance) and default.cls is FIELD else None
    if isinstance(default, Instance) and default.cls is FIELD:
        default = default.attributes["default"]
    if given is MISSING:
        if factory is not None:
            return run.call(factory)
        return run.unknown(f"the setting {word} is not given") if default is ... else Copier(run, {}).copy(default)
    if isinstance(given, dict):
        kind = default.cls if isinstance(default, Instance) else factory
        return run.call(kind, **given) if isinstance(kind, Class) and kind.derives_from(MODEL) else given
    if isinstance(given, str) and type(default) in (int, float):
        return run.call(HOSTED[type(default)], given)
    return given


def is_model(value: Value) -> bool:
    """Whether a value is a model's class."""
    return isinstance(value, Class) and value.derives_from(MODEL)


def dumped(run: Runtime, self: Instance, **kwargs: Value) -> Value:
    """The fields as a dict, those of models within as well."""
    return {
        word: dumped(run, value) if isinstance(value, Instance) and value.cls.derives_from(MODEL) else value
        for word, value in self.attributes.items()
    }


def changed(run: Runtime, self: Instance, *, update: Value = None, **kwargs: Value) -> Value:
    made = Instance(self.cls, dict(self.attributes), site=run.here())
    made.attributes.update(payload(update) if isinstance(payload(update), dict) else {})
    return made


def of_dict(run: Runtime, cls: Value, obj: Value, **kwargs: Value) -> Value:
    found = payload(obj)
    return run.call(cls, **found) if isinstance(found, dict) else run.unknown("settings are not followed")


def validating(of_fields: bool) -> Native:
    """A decorator of validators: of some fields, or of all together."""

    def declare(run: Runtime, *fields: Value, **kwargs: Value) -> Value:
        own = fields if of_fields and "*" not in fields else ()
        made = Instance(VALIDATOR, {"fields": own})
        return made if fields and not isinstance(fields[0], str) else native("validator", lambda run, function: made)

    return native("validator", declare)


MODEL = native_class(
    "BaseModel",
    {
        "__init__": native("__init__", init),
        **{word: native(word, dumped) for word in ("model_dump", "dict")},
        **{word: native(word, changed) for word in ("model_copy", "copy")},
        **{word: ClassMethod(native(word, of_dict)) for word in ("model_validate", "parse_obj")},
        **{word: ignored(word) for word in ("model_dump_json", "json")},
    },
    module="pydantic",
)

NAMES: dict[str, Value] = {
    "BaseModel": MODEL, "BaseSettings": MODEL, "Field": native("Field", field),
    "ConfigDict": native("ConfigDict", lambda run, **kwargs: kwargs),
    **{word: validating(True) for word in ("validator", "field_validator")},
    **{word: validating(False) for word in ("root_validator", "model_validator")},
}  # fmt: skip

MODULES = {"pydantic": NAMES, "pydantic.dataclasses": {"dataclass": dataclass_names["dataclass"]}}
