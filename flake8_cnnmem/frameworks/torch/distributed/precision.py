"""`precision=` of Lightning's Trainer and of Fabric, in every spelling.

By lightning/fabric/plugins/precision/precision.py: numbers and short names stand for "64-true", "32-true", "16-mixed"
and "bf16-mixed".
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value


@dataclass(frozen=True, slots=True)
class Precision:
    """`autocast`: the dtype of the region around each step; `cast`: the model's method that casts it, if any."""

    autocast: str | None = None
    cast: str | None = None
    unsure: bool = False
    """Whether it is one whose memory is not known: Transformer Engine's, bitsandbytes'."""


SHORT = {"64": "64-true", "32": "32-true", "16": "16-mixed", "bf16": "bf16-mixed", "None": "32-true"}

KNOWN = {
    "32-true": Precision(),
    "64-true": Precision(cast="double"),
    "16-true": Precision(cast="half"),
    "bf16-true": Precision(cast="bfloat16"),
    "16-mixed": Precision(autocast="float16"),
    "bf16-mixed": Precision(autocast="bfloat16"),
    # accelerate's words.
    "no": Precision(),
    "fp16": Precision(autocast="float16"),
}

PLUGINS = {
    "MixedPrecision": "16-mixed", "MixedPrecisionPlugin": "16-mixed", "NativeMixedPrecisionPlugin": "16-mixed",
    "HalfPrecision": "16-true", "DoublePrecision": "64-true", "DoublePrecisionPlugin": "64-true",
    "FSDPPrecision": "32-true", "DeepSpeedPrecision": "32-true", "Precision": "32-true",
}  # fmt: skip
"""Plugins that stand for a precision, by the one that they have when they are told none."""


def plugin_init(run: Runtime, /, self: Instance, precision: Value = None, *args: Value, **kwargs: Value) -> Value:
    """A precision plugin, with the precision that it stands for."""
    self.attributes["precision"] = PLUGINS[self.cls.name] if precision is None else precision
    return None


def declared(name: str, init: Value) -> Class:
    """A class of precision plugins."""
    return Class(name, namespace={"__init__": init}, module="lightning.pytorch.plugins.precision")


def precision_of(value: Value, plugins: Value = None) -> Precision:
    """What `precision=` and `plugins=` together say."""
    for plugin in plugins if isinstance(plugins, (list, tuple)) else [plugins]:
        if isinstance(plugin, Instance) and plugin.cls.name in PLUGINS:
            value = plugin.attributes.get("precision")
        elif isinstance(plugin, Instance) and "recision" in plugin.cls.name:
            return Precision(unsure=True)
    if isinstance(value, Unknown):
        return Precision(unsure=True)
    word = str(value)
    return KNOWN.get(SHORT.get(word, word), Precision(unsure=True))


def cast_model(run: Runtime, model: Value, precision: Precision, shown: Value) -> None:
    """The model in the dtype that it trains in."""
    if precision.unsure:
        note_cause(run, model, "precision", f"the memory of precision {shown!r} is not known"
                   if isinstance(shown, str) else "the precision is not known")  # fmt: skip
    if precision.cast is not None:
        run.call(run.get(model, precision.cast))
