"""draccus: command lines and files of settings from dataclasses, and classes of settings that are chosen by a name
(draccus 0.11, choice_types.py)."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.stdlib.modules import native_class
from flake8_cnnmem.packages._settings_classes import FILES
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, ClassMethod, Value, native

KEPT = "_choice_registry"


def choices(run: Runtime, cls: Class) -> dict[Value, Value]:
    """The classes by name of a registry, which the first class below `ChoiceRegistry` holds for all below it."""
    held = next((base for base in cls.mro if KEPT in base.namespace), None)
    if held is None:
        held = [base for base in cls.mro if base.derives_from(CHOICES) and base is not CHOICES][-1]
        run.changed(held.namespace)
        held.namespace[KEPT] = {}
    found: dict[Value, Value] = held.namespace[KEPT]
    return found


def register(run: Runtime, cls: Class, name: Value, choice_type: Value = None) -> Value:
    """`@Settings.register_subclass("name")`, or with the class."""
    if choice_type is None:
        return native("register_subclass", lambda run, made: register(run, cls, name, made))
    known = choices(run, cls)
    run.changed(known)
    if isinstance(name, Unknown):
        run.havoc(known, name)
    else:
        known[name] = choice_type
    return choice_type


def chosen(run: Runtime, cls: Class, name: Value) -> Value:
    """The class of a name. KeyError where there is none."""
    return name if isinstance(name, Unknown) else choices(run, cls)[name]


def name_of(run: Runtime, cls: Class, subcls: Value) -> Value:
    """The name of a class."""
    found: Any = next((word for word, each in choices(run, cls).items() if each is subcls), None)
    if found is None:
        raise ValueError(f"Cannot find choice name for {getattr(subcls, 'name', subcls)}")
    return found


CHOICES = native_class(
    "ChoiceRegistry",
    {
        "register_subclass": ClassMethod(native("register_subclass", register)),
        "get_choice_class": ClassMethod(native("get_choice_class", chosen)),
        "get_choice_name": ClassMethod(native("get_choice_name", name_of)),
        "get_known_choices": ClassMethod(native("get_known_choices", choices)),
        "default_choice_name": ClassMethod(native("default_choice_name", lambda run, cls: None)),
    },
    module="draccus.choice_types",
)

MODULES = {
    "draccus": {**FILES, "ChoiceRegistry": CHOICES},
    "draccus.choice_types": {"ChoiceRegistry": CHOICES},
}
