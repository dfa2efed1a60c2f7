"""The optimizers that `optim` of TrainingArguments names, by transformers/trainer_optimizer.py (5.23)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.nn.modules.module import walk
from flake8_cnnmem.frameworks.torch.optim import OPTIMIZERS
from flake8_cnnmem.graph import Weight
from flake8_cnnmem.packages import bitsandbytes
from flake8_cnnmem.packages._fused_optimizers import APEX
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value

UPDATES: dict[str, tuple[str, dict[str, Value]]] = {
    **{word: ("AdamW", {}) for word in ("adamw", "adamw_torch", "adamw_hf", "adamw_torch_xla")},
    "adamw_torch_fused": ("AdamW", {"fused": True}),
    "sgd": ("SGD", {}),
    # It keeps what torch's own keeps: a row and a column for each matrix, no momentum.
    "adafactor": ("Adafactor", {}),
    "adagrad": ("Adagrad", {}),
    "rmsprop": ("RMSprop", {}),
}
"""`optim` by the optimizer of torch that it stands for, and its options."""

OF_BITSANDBYTES = {"adamw": "AdamW", "lion": "Lion", "ademamix": "AdEMAMix", "rmsprop": "RMSprop"}
"""The same for those of bitsandbytes: `adamw_bnb_8bit`, `paged_lion_8bit`, `rmsprop_bnb`."""


def named(word: str) -> tuple[Class | None, dict[str, Value]]:
    """The optimizer that `optim` names, and its options."""
    if word in UPDATES:
        name, settings = UPDATES[word]
        return OPTIMIZERS[name], settings
    if word == "adamw_apex_fused":
        return APEX["FusedAdam"], {}
    parts = [part for part in word.split("_") if part not in ("paged", "bnb", "8bit", "32bit")]
    name = OF_BITSANDBYTES.get("_".join(parts), "")
    if not name or len(parts) == len(word.split("_")):
        return None, {}
    return bitsandbytes.OPTIM[name], {"optim_bits": 8 if "8bit" in word else 32, "is_paged": "paged" in word}


def without_embeddings(run: Runtime, model: Instance, weights: list[Weight]) -> Value:
    """The trainer has bitsandbytes keep embeddings in 32 bits."""
    tables = {id(run.find(layer, "weight")) for _, layer in walk(model) if layer.cls.name == "Embedding"}
    large = [weight for weight in weights if id(weight) not in tables]
    wide = [weight for weight in weights if id(weight) in tables]
    return [{"params": large}, {"params": wide, "optim_bits": 32}] if wide else large


def made_optimizer(run: Runtime, model: Value, options: Value, told: Value = None) -> Value:
    """The optimizer of a Trainer that is handed none: of what asks for a gradient."""
    if not isinstance(model, Instance):
        return model if isinstance(model, Unknown) else run.unknown("the model of a trainer is not known")
    items = run.items(run.call(run.get(model, "parameters")))
    if isinstance(items, Unknown):
        return items
    parameters = [each for each in items if isinstance(each, Weight) and each.trainable]
    word = run.get(options, "optim")
    word = word.attributes.get("value", word.payload) if isinstance(word, Instance) else word
    if isinstance(told, (list, tuple)) and len(told) == 2 and isinstance(told[0], Class):
        more: dict[str, Value] = told[1] if isinstance(told[1], dict) else {}
        made = run.construct(told[0], parameters, **more)
    else:
        cls, settings = named(word) if isinstance(word, str) else (None, {})
        if cls is None:
            shown = f"the optimizer {word!r} of a trainer" if isinstance(word, str) else "the optimizer of a trainer"
            return word if isinstance(word, Unknown) else run.unknown(f"{shown} is not known")
        given = without_embeddings(run, model, parameters) if settings.get("optim_bits") == 8 else parameters
        made = run.construct(cls, given, lr=run.get(options, "learning_rate"), **settings)
    if isinstance(made, Instance) and isinstance(options, Instance):
        made.site = options.site
    return made
