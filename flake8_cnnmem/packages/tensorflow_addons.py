"""tensorflow_addons, where its source is not found: optimizers that keep what Keras' own of the same rule keep, the
normalisations that are Keras' today, losses, metrics and callbacks as objects that carry their arguments.

By tensorflow_addons 0.23 (optimizers/weight_decay_optimizers.py, optimizers/lamb.py, layers/normalizations.py). All
else that it has is not known, with its name.
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.frameworks.keras import activations
from flake8_cnnmem.frameworks.keras.config_objects import making, member
from flake8_cnnmem.frameworks.keras.stubs import LAYERS
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Namespace, Native, Value

ADAM = "learning_rate=0.001, beta_1=0.9, beta_2=0.999"
LEFT_OUT = "exclude_from_weight_decay=None"
OPTIMIZERS = {
    "AdamW": ("AdamW", f"weight_decay=None, {ADAM}, epsilon=1e-07, amsgrad=False, name='AdamW', {LEFT_OUT}"),
    "SGDW": ("SGD", f"weight_decay=None, learning_rate=0.001, momentum=0.0, nesterov=False, name='SGDW', {LEFT_OUT}"),
    "LAMB": (
        "Lamb",
        f"{ADAM}, epsilon=1e-06, weight_decay=0.0, {LEFT_OUT}, exclude_from_layer_adaptation=None, name='LAMB'",
    ),
}
"""By name Keras' optimizer with the same state, and the signature."""


def optimizer(name: str) -> Value:
    """A class of `tfa.optimizers`; MISSING for one whose state is none of Keras'."""
    if name not in OPTIMIZERS:
        return MISSING
    like, signature = OPTIMIZERS[name]
    base = member("optimizers", like)
    assert isinstance(base, Class)
    return Class(name, (base,), {"__init__": making(signature)}, module="tensorflow_addons.optimizers")


def instance_normalization(run: Runtime, **options: Value) -> Value:
    """`tfa.layers.InstanceNormalization(...)`: a group for each channel."""
    return run.construct(LAYERS["GroupNormalization"], groups=-1, **options)


def normalization(name: str) -> Value:
    """A layer of `tfa.layers` that Keras has today."""
    if name == "InstanceNormalization":
        return Native(name, instance_normalization, propagate_unknown=False)
    return LAYERS[name] if name == "GroupNormalization" else MISSING


def of(module: str) -> Callable[[str], Value]:
    """The classes of a module that only carry their arguments."""
    return lambda name: member(module, name) if name[:1].isupper() else MISSING


PARTS: dict[str, Callable[[str], Value]] = {
    "optimizers": optimizer, "layers": normalization, "activations": activations.find,
    **{module: of(module) for module in ("losses", "metrics", "callbacks")},
}  # fmt: skip


def found_in(part: str) -> Callable[[str], Value]:
    """A module of it as a function from a name to a value."""

    def find(name: str) -> Value:
        found = MISSING if name.startswith("_") else PARTS[part](name)
        return not_known(f"{part}.{name}") if found is MISSING and not name.startswith("__") else found

    return find


def not_known(name: str) -> Unknown:
    """What is not followed, by its name."""
    return Unknown(f"the source of 'tensorflow_addons' is not found: {name} is not known")


def find_part(name: str) -> Value:
    """What stands at the top: its modules."""
    if name in PARTS:
        return Namespace(f"tensorflow_addons.{name}", found_in(name))
    return MISSING if name.startswith("__") else not_known(name)


STAND_INS = {"tensorflow_addons": find_part, **{f"tensorflow_addons.{part}": found_in(part) for part in PARTS}}
