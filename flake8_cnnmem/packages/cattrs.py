"""cattrs: objects of dicts by the types of their fields, and back. https://catt.rs"""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.dataclasses import names as dataclass_names
from flake8_cnnmem.packages._settings_classes import fitted, is_dataclass, made
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value, native


def structure(run: Runtime, obj: Value, cl: Value) -> Value:
    """`structure(raw, Config)`, `structure(raw, list[Config])`"""
    return fitted(run, obj, cl, is_dataclass, made)


NAMES: dict[str, Value] = {
    **{word: native(word, structure) for word in ("structure", "structure_attrs_fromdict")},
    **dict.fromkeys(("unstructure", "unstructure_attrs_asdict"), dataclass_names["asdict"]),
}
MODULES = {"cattrs": NAMES, "cattr": NAMES}
