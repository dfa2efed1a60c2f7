"""Hugging Face's `Trainer`: one step of it on one batch, whether or not the source of transformers is found.

By transformers/trainer.py (5.23): batches of `per_device_train_batch_size` samples through the data collator, the model
called by keywords in autocast with `fp16` or `bf16`, backward for each micro-batch, then the optimizer's step, and the
gradients cleared after it.
"""

from __future__ import annotations

from flake8_cnnmem.arrangement import Arrangement
from flake8_cnnmem.frameworks.arranging import arrange, note_cause
from flake8_cnnmem.frameworks.framework import UNKNOWN_STEPS
from flake8_cnnmem.frameworks.torch.devices import all_to_device
from flake8_cnnmem.frameworks.torch.distributed.fsdp import fully_sharded
from flake8_cnnmem.frameworks.torch.distributed.noting import world_size
from flake8_cnnmem.frameworks.torch.distributed.prepared import nothing, other
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.optim import OPTIMIZER
from flake8_cnnmem.frameworks.torch.optim.unfollowed import UNFOLLOWED
from flake8_cnnmem.frameworks.torch.scripting import note_compiled
from flake8_cnnmem.frameworks.torch.utils_data.collate import batch_size_of, collate
from flake8_cnnmem.frameworks.torch.utils_data.dataloader import DATA_LOADER
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages import deepspeed
from flake8_cnnmem.packages.datasets.samples import Columns
from flake8_cnnmem.packages.transformers.arguments import ARGUMENTS
from flake8_cnnmem.packages.transformers.tokenizers import padded
from flake8_cnnmem.packages.transformers.updates import made_optimizer
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Value, native

MOST_BATCHES = 4
"""Micro-batches of a step that are followed: all of them are on the device from its beginning to its end."""

MEMBERS = Members({"__getattr__": native("__getattr__", other)})
TRAINER = Class("Trainer", namespace=MEMBERS, module="transformers.trainer")
for _name in (
    "evaluate", "predict", "save_model", "push_to_hub", "log_metrics", "save_metrics", "save_state", "add_callback",
    "remove_callback", "log", "create_model_card", "create_scheduler",
):  # fmt: skip
    MEMBERS[_name] = native(_name, nothing)


@MEMBERS.method("__init__")
def init(
    run: Runtime, self: Instance, model: Value = None, args: Value = None, data_collator: Value = None,
    train_dataset: Value = None, eval_dataset: Value = None, processing_class: Value = None, model_init: Value = None,
    compute_loss_func: Value = None, compute_metrics: Value = None, callbacks: Value = None,
    optimizers: Value = (None, None), optimizer_cls_and_kwargs: Value = None, **kwargs: Value,
) -> Value:  # fmt: skip
    if model is None and model_init is not None:
        model = run.call(model_init)
    run.changed(self)
    given = optimizers if isinstance(optimizers, (list, tuple)) else (None, None)
    self.attributes.update(
        model=model, args=run.construct(ARGUMENTS, "out") if args is None else args, data_collator=data_collator,
        train_dataset=train_dataset, eval_dataset=eval_dataset, optimizer=given[0] if given else None,
        lr_scheduler=None, compute_loss_func=compute_loss_func, model_wrapped=model, tokenizer=processing_class,
        processing_class=processing_class, optimizer_cls_and_kwargs=optimizer_cls_and_kwargs,
    )  # fmt: skip
    return None


@MEMBERS.method("get_train_dataloader")
def train_loader(run: Runtime, self: Instance) -> Value:
    own = self.attributes
    collator = own["data_collator"] if own["data_collator"] is not None else COLLATE
    loader = run.construct(
        DATA_LOADER, own["train_dataset"], batch_size=run.get(own["args"], "train_batch_size"), shuffle=True,
        collate_fn=collator,
    )  # fmt: skip
    if isinstance(loader, Instance) and isinstance(own["args"], Instance):
        loader.native["site"] = own["args"].site
    return loader


def default_collator(run: Runtime, /, features: Value, return_tensors: Value = "pt") -> Value:
    """Samples in dicts are stacked; their label goes by the name that models take."""
    items = run.items(features)
    if isinstance(items, Unknown) or not items:
        return items if isinstance(items, Unknown) else run.unknown("a batch has no samples")
    if isinstance(items[0], (dict, Instance)):
        return padded(run, items, {})
    return collate(run, items[0], batch_size_of(len(items)))


COLLATE = native("default_data_collator", default_collator)


@MEMBERS.method("compute_loss")
def compute_loss(
    run: Runtime, self: Instance, model: Value, inputs: Value, return_outputs: Value = False, **kwargs: Value
) -> Value:
    inputs = inputs.payload if isinstance(inputs, Instance) and isinstance(inputs.payload, dict) else inputs
    inputs = with_labels(self, model, inputs)
    # A batch that is not known is given to the model all the same: it trains, and in which precision is known.
    outputs = run.call(model, **inputs) if isinstance(inputs, dict) else run.call(model, inputs)
    own = self.attributes.get("compute_loss_func")
    if own is not None and isinstance(inputs, dict):
        loss = run.call(own, outputs, inputs.get("labels"))
    else:
        loss = loss_in(run, outputs)
    return (loss, outputs) if return_outputs is True else loss


def with_labels(self: Instance, model: Value, inputs: Value) -> Value:
    """The batch with the labels of a hub's data set, one number for each sample, where the model takes them: the
    trainer hands over the columns that `forward` names (`remove_unused_columns`)."""
    data = self.attributes.get("train_dataset")
    columns = data.native if isinstance(data, Instance) else None
    tokens = next(iter(inputs.values()), None) if isinstance(inputs, dict) and "labels" not in inputs else None
    forward = model.cls.find("forward") if isinstance(model, Instance) else None
    named = getattr(forward, "parameters", None)
    # What stands around it, as a decorator's function does, hands on whatever it is given.
    takes = named is None or named.double_star is not None or "labels" in (*named.positional, *named.keywords)
    if not isinstance(columns, Columns) or columns.alone or not isinstance(tokens, Tensor) or not takes:
        return inputs
    count = tokens.shape[0] if isinstance(tokens.shape, tuple) else tokens.shape
    return {**inputs, "labels": Tensor((count,), "int64")} if isinstance(inputs, dict) else inputs


def loss_in(run: Runtime, outputs: Value) -> Value:
    """The loss that a model gives: by its name, else the first of what it gives."""
    if isinstance(outputs, Unknown):
        return outputs
    loss = outputs.get("loss", MISSING) if isinstance(outputs, dict) else MISSING
    if loss is MISSING:
        loss = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else run.find(outputs, "loss")
    return run.unknown("the loss of a model is not known") if loss is MISSING else loss


@MEMBERS.method("create_optimizer")
def create_optimizer(run: Runtime, self: Instance, *args: Value) -> Value:
    """The one that is handed over, else the one that `optim` names."""
    own = self.attributes
    given = own["optimizer"]
    if not (isinstance(given, Instance) and (OPTIMIZER in given.cls.mro or given.cls is UNFOLLOWED)):
        run.changed(self)
        made = own["optimizer"] = made_optimizer(run, own["model"], own["args"], own["optimizer_cls_and_kwargs"])
        if isinstance(made, Unknown):
            run.data(UNKNOWN_STEPS)[id(self)] = (made, self.site)
    return own["optimizer"]


@MEMBERS.method("create_optimizer_and_scheduler")
def create_both(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    run.call(run.get(self, "create_optimizer"))
    return None


@MEMBERS.method("train")
def train(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """One step: as many micro-batches as show what gathered gradients do."""
    own, options = self.attributes, self.attributes["args"]
    prepared(run, own["model"], options)
    run.call(run.get(self, "create_optimizer"))
    gathered = run.get(options, "gradient_accumulation_steps")
    count = gathered if isinstance(gathered, int) and not isinstance(gathered, bool) and gathered > 0 else 1
    if count > MOST_BATCHES:
        reason = (
            f"of the {count} batches that a step gathers, and has on the device at once, {MOST_BATCHES} are counted"
        )
        note_cause(run, own["model"], "Trainer", reason)
    with run.repeated():
        batches = [drawn(run, self) for _ in range(min(count, MOST_BATCHES))]
        for batch in batches:
            micro_step(run, self, batch)
        optimizer = own["optimizer"]
        if isinstance(optimizer, Instance):
            run.call(run.get(optimizer, "step"))
            run.call(run.get(own["model"], "zero_grad"))
        run.let_go(*batches)
    return run.unknown("what training gives is not followed")


def is_set(run: Runtime, options: Value, word: str) -> bool:
    return run.truth(run.get(options, word)) is True


def prepared(run: Runtime, model: Value, options: Value) -> None:
    """What the arguments make of the model before it trains."""
    if not isinstance(model, Instance):
        return
    if is_set(run, options, "gradient_checkpointing"):
        enable = run.find(model, "gradient_checkpointing_enable")
        if enable is not MISSING:
            run.attempt(enable)
    if is_set(run, options, "torch_compile") or run.get(options, "torch_compile_backend") is not None:
        note_compiled(run, model)
    count = world_size(run)
    config, sharding = run.get(options, "deepspeed"), run.get(options, "fsdp")
    if config is not None and not isinstance(config, Unknown):
        deepspeed.arranged(run, model, config, count)
    elif sharding not in (None, "", False, []) and not isinstance(sharding, Unknown):
        words = sharding.split() if isinstance(sharding, str) else [str(word) for word in run_items(run, sharding)]
        stage = 2 if "shard_grad_op" in words else 3
        arrange(run, model, fully_sharded(run, model, count, "offload" in words, stage))
    else:
        arrange(run, model, Arrangement("Trainer", count, buckets="copies", optional=True))


def run_items(run: Runtime, value: Value) -> list[Value]:
    items = run.items(value)
    return [] if isinstance(items, Unknown) else items


def drawn(run: Runtime, self: Instance) -> Value:
    batches = run.iterate(run.call(run.get(self, "get_train_dataloader")))
    batch = batches if isinstance(batches, Unknown) else next((item for item in batches), None)
    return all_to_device(run, batch)


def micro_step(run: Runtime, self: Instance, batch: Value) -> None:
    own, options = self.attributes, self.attributes["args"]
    outer = run.autocast
    run.autocast = "float16" if is_set(run, options, "fp16") else "bfloat16" if is_set(run, options, "bf16") else outer
    try:
        train_mode = run.find(own["model"], "train")
        if train_mode is not MISSING:
            run.call(train_mode)
        loss = run.attempt(run.get(self, "compute_loss"), own["model"], batch)
    finally:
        run.autocast = outer
    if isinstance(loss, Unknown):
        run.note("backward", loss)
    if isinstance(loss, Tensor):
        run.call(run.get(loss, "backward"))
