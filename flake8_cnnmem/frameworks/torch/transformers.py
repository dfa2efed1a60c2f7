"""Hugging Face's `Trainer` and `TrainingArguments`, where the source of transformers is not found.

By its documentation: batches of `per_device_train_batch_size` samples through the data collator, the model called by
keywords, its loss, AdamW unless told otherwise, in autocast with `fp16` or `bf16`. One batch stands for all.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.framework import UNKNOWN_STEPS
from flake8_cnnmem.frameworks.torch.collating import batch_size_of, collate
from flake8_cnnmem.frameworks.torch.gradients import backward as backward_pass
from flake8_cnnmem.frameworks.torch.loading import DATA_LOADER
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.module import walk
from flake8_cnnmem.frameworks.torch.optim import OPTIMIZER, OPTIMIZERS, bitsandbytes, fused
from flake8_cnnmem.frameworks.torch.optim.unfollowed import UNFOLLOWED
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Namespace, Native, Run, Value

DEFAULTS: dict[str, Value] = {
    "per_device_train_batch_size": 8, "per_device_eval_batch_size": 8, "gradient_accumulation_steps": 1,
    "learning_rate": 5e-5, "weight_decay": 0.0, "num_train_epochs": 3.0, "max_steps": -1, "fp16": False, "bf16": False,
    "optim": "adamw_torch", "seed": 42, "gradient_checkpointing": False, "remove_unused_columns": True,
}  # fmt: skip
"""Of TrainingArguments, what code reads or a step depends on."""

UPDATES: dict[str, tuple[str, dict[str, Value]]] = {
    **{word: ("AdamW", {}) for word in ("adamw", "adamw_torch", "adamw_hf", "adamw_torch_xla")},
    "adamw_torch_fused": ("AdamW", {"fused": True}),
    "sgd": ("SGD", {}),
    "adafactor": ("Adafactor", {}),
    "adagrad": ("Adagrad", {}),
    "rmsprop": ("RMSprop", {}),
}
"""`optim` by the optimizer of torch that it stands for, and its options (transformers/training_args.py)."""

OF_BITSANDBYTES = {"adamw": "AdamW", "lion": "Lion", "ademamix": "AdEMAMix", "rmsprop": "RMSprop"}
"""The same for those of bitsandbytes: `adamw_bnb_8bit`, `paged_lion_8bit`, `rmsprop_bnb` (transformers' trainer)."""


def native(name: str, function: Value) -> Native:
    return Native(name, function, absorb=False)


def nothing(run: Run, *args: Value, **kwargs: Value) -> Value:
    return None


def arguments_init(run: Run, self: Instance, output_dir: Value = None, *args: Value, **kwargs: Value) -> Value:
    self.attributes.update({**DEFAULTS, "output_dir": output_dir, **kwargs})
    self.attributes["train_batch_size"] = self.attributes["per_device_train_batch_size"]
    return None


def other(run: Run, self: Instance, name: Value) -> Value:
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of {self.cls.name} is not known")


ARGUMENTS = Class(
    "TrainingArguments",
    namespace={"__init__": native("__init__", arguments_init), "__getattr__": native("__getattr__", other)},
    module="transformers",
)
MEMBERS = Members({"__getattr__": native("__getattr__", other)})
TRAINER = Class("Trainer", namespace=MEMBERS, module="transformers")
for _name in (
    "evaluate",
    "save_model",
    "push_to_hub",
    "log_metrics",
    "save_metrics",
    "save_state",
    "add_callback",
    "log",
):
    MEMBERS[_name] = native(_name, nothing)


@MEMBERS.method("__init__")
def init(
    run: Run, self: Instance, model: Value = None, args: Value = None, data_collator: Value = None,
    train_dataset: Value = None, eval_dataset: Value = None, tokenizer: Value = None, model_init: Value = None,
    compute_metrics: Value = None, callbacks: Value = None, optimizers: Value = (None, None), **kwargs: Value,
) -> Value:  # fmt: skip
    if model is None and model_init is not None:
        model = run.call(model_init)
    self.attributes.update(
        model=model, args=run.construct(ARGUMENTS) if args is None else args, data_collator=data_collator,
        train_dataset=train_dataset, eval_dataset=eval_dataset, optimizers=optimizers,
    )  # fmt: skip
    return None


@MEMBERS.method("get_train_dataloader")
def train_loader(run: Run, self: Instance) -> Value:
    own = self.attributes
    collator = own["data_collator"] if own["data_collator"] is not None else COLLATE
    loader = run.construct(
        DATA_LOADER, own["train_dataset"], batch_size=run.get(own["args"], "train_batch_size"), shuffle=True,
        collate_fn=collator,
    )  # fmt: skip
    if isinstance(loader, Instance) and isinstance(own["args"], Instance):
        loader.native["site"] = own["args"].site
    return loader


def default_collator(run: Run, features: Value, return_tensors: Value = "pt") -> Value:
    """Samples in dicts are stacked; their label goes by the name that models take."""
    items = run.items(features)
    if isinstance(items, Unknown) or not items:
        return items if isinstance(items, Unknown) else run.unknown("a batch has no samples")
    batch = collate(run, items[0], batch_size_of(len(items)))
    if isinstance(batch, dict) and "label" in batch:
        batch["labels"] = batch.pop("label")
    return batch


COLLATE = native("default_data_collator", default_collator)


@MEMBERS.method("compute_loss")
def compute_loss(
    run: Run, self: Instance, model: Value, inputs: Value, return_outputs: Value = False, **kwargs: Value
) -> Value:
    outputs = run.call(model, **inputs) if isinstance(inputs, dict) else inputs
    loss = outputs.get("loss", MISSING) if isinstance(outputs, dict) else MISSING
    if loss is MISSING:
        loss = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else run.find(outputs, "loss")
    return run.unknown("the loss of a model is not known") if loss is MISSING else loss


def named(word: str) -> tuple[Class | None, dict[str, Value]]:
    """The optimizer that `optim` names, and its options."""
    if word in UPDATES:
        name, settings = UPDATES[word]
        return OPTIMIZERS[name], settings
    if word == "adamw_apex_fused":
        return fused.APEX["FusedAdam"], {}
    parts = [part for part in word.split("_") if part not in ("paged", "bnb", "8bit", "32bit")]
    name = OF_BITSANDBYTES.get("_".join(parts), "")
    if not name or len(parts) == len(word.split("_")):
        return None, {}
    return bitsandbytes.OPTIM[name], {"optim_bits": 8 if "8bit" in word else 32, "is_paged": "paged" in word}


def without_embeddings(run: Run, model: Instance, parameters: Value) -> Value:
    """The trainer has bitsandbytes keep embeddings in 32 bits."""
    tables = {id(run.find(layer, "weight")) for _, layer in walk(model) if layer.cls.name == "Embedding"}
    weights = run.items(parameters)
    if isinstance(weights, Unknown):
        return weights
    large = [weight for weight in weights if id(weight) not in tables]
    wide = [weight for weight in weights if id(weight) in tables]
    return [{"params": large}, {"params": wide, "optim_bits": 32}] if wide else large


def optimizer_of(run: Run, self: Instance) -> Value:
    """The one that is handed over, else the one that `optim` names."""
    own, options = self.attributes, self.attributes["args"]
    given = own["optimizers"][0] if isinstance(own["optimizers"], (tuple, list)) and own["optimizers"] else None
    if isinstance(given, Instance) and (OPTIMIZER in given.cls.mro or given.cls is UNFOLLOWED):
        return given
    word = run.get(options, "optim")
    cls, settings = named(word) if isinstance(word, str) else (None, {})
    if cls is None or not isinstance(own["model"], Instance):
        unknown = run.unknown("the optimizer of a trainer is not known")
        run.data(UNKNOWN_STEPS)[id(self)] = (unknown, self.site)
        return unknown
    parameters = run.call(run.get(own["model"], "parameters"))
    if settings.get("optim_bits") == 8:
        parameters = without_embeddings(run, own["model"], parameters)
    made = run.construct(cls, parameters, lr=run.get(options, "learning_rate"), **settings)
    if isinstance(made, Instance) and isinstance(options, Instance):
        made.site = options.site
    return made


@MEMBERS.method("train")
def train(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """One step on one batch."""
    own, options = self.attributes, self.attributes["args"]
    optimizer = optimizer_of(run, self)
    batches = run.iterate(run.call(run.get(self, "get_train_dataloader")))
    batch = batches if isinstance(batches, Unknown) else next((item for item in batches), None)
    outer = run.autocast
    half = {word: run.truth(run.get(options, word)) is True for word in ("fp16", "bf16")}
    run.autocast = "float16" if half["fp16"] else "bfloat16" if half["bf16"] else outer
    try:
        loss = run.attempt(run.get(self, "compute_loss"), own["model"], batch)
    finally:
        run.autocast = outer
    if isinstance(loss, Tensor):
        backward_pass(run, loss)
    if isinstance(optimizer, Instance):
        run.call(run.get(optimizer, "step"))
        run.call(run.get(optimizer, "zero_grad"))
    return run.unknown("what training gives is not followed")


NAMES: dict[str, Value] = {
    "Trainer": TRAINER,
    "Seq2SeqTrainer": TRAINER,
    "TrainingArguments": ARGUMENTS,
    "Seq2SeqTrainingArguments": ARGUMENTS,
    "default_data_collator": COLLATE,
    "DefaultDataCollator": native("DefaultDataCollator", lambda run, *args, **kwargs: COLLATE),
    "set_seed": native("set_seed", nothing),
}


def stand_in(dotted: str) -> Namespace | None:
    """The package without its source: its models are not known."""
    return Namespace(dotted, lambda word: NAMES.get(word, MISSING)) if dotted == "transformers" else None
