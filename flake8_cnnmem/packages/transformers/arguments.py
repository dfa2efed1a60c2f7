"""Hugging Face's TrainingArguments: what code reads of them, and what a step depends on."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.builtins.files import text
from flake8_cnnmem.evaluate.stdlib.data import read_json, read_yaml
from flake8_cnnmem.evaluate.stdlib.dataclasses import OPEN, DataclassField
from flake8_cnnmem.evaluate.stdlib.dataclasses import entries_of as dataclass_fields
from flake8_cnnmem.frameworks.torch.distributed.prepared import other
from flake8_cnnmem.frameworks.torch.dtypes import GPU
from flake8_cnnmem.packages._settings_classes import made
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value, native

DEFAULTS: dict[str, Value] = {
    "per_device_train_batch_size": 8, "per_device_eval_batch_size": 8, "gradient_accumulation_steps": 1,
    "learning_rate": 5e-5, "weight_decay": 0.0, "num_train_epochs": 3.0, "max_steps": -1, "fp16": False, "bf16": False,
    "optim": "adamw_torch_fused", "seed": 42, "gradient_checkpointing": False, "remove_unused_columns": True,
    "max_grad_norm": 1.0, "adam_beta1": 0.9, "adam_beta2": 0.999, "adam_epsilon": 1e-8, "torch_compile": False,
    "torch_compile_backend": None, "torch_compile_mode": None, "deepspeed": None, "fsdp": None, "fsdp_config": None,
    "label_smoothing_factor": 0.0, "auto_find_batch_size": False, "local_rank": -1, "world_size": 1, "n_gpu": 1,
    "process_index": 0, "device": GPU, "do_train": False, "do_eval": False, "label_names": None,
    "gradient_checkpointing_kwargs": None, "use_cpu": False, "report_to": None, "should_save": True,
}  # fmt: skip
"""By transformers/training_args.py (5.23)."""

OLDER = {"per_gpu_train_batch_size": "per_device_train_batch_size"}


def init(run: Runtime, self: Instance, /, output_dir: Value = None, *args: Value, **kwargs: Value) -> Value:
    given = {OLDER.get(word, word): value for word, value in kwargs.items()}
    run.changed(self)
    self.attributes.update({**DEFAULTS, "output_dir": output_dir, **given})
    self.attributes["train_batch_size"] = self.attributes["per_device_train_batch_size"]
    self.attributes["eval_batch_size"] = self.attributes["per_device_eval_batch_size"]
    return None


ARGUMENTS = Class(
    "TrainingArguments",
    namespace={
        "__init__": native("__init__", init),
        "__getattr__": native("__getattr__", other),
        "main_process_first": native("main_process_first", lambda run, self, *args, **kwargs: None),
        "get_warmup_steps": native("get_warmup_steps", lambda run, self, *args: 0),
    },
    module="transformers.training_args",
    facts={OPEN: True, "dataclass fields": (DataclassField("output_dir", None),)},
)


def parser_init(run: Runtime, self: Instance, /, dataclass_types: Value = (), **kwargs: Value) -> Value:
    given = dataclass_types if isinstance(dataclass_types, (list, tuple)) else [dataclass_types]
    self.attributes["types"] = list(given)
    return None


def parsed(run: Runtime, self: Instance, /, *args: Value, **kwargs: Value) -> Value:
    """Each class from its own defaults: nobody gives any argument."""
    return tuple(made(run, cls, {}) for cls in self.attributes.get("types", []))


def of_dict(run: Runtime, self: Instance, /, args: Value, *more: Value, **kwargs: Value) -> Value:
    """Each class from those of its fields that a dict has: all that no other class has are the TrainingArguments'."""
    types = self.attributes.get("types", [])
    found = payload(args)
    if not isinstance(found, dict):
        return tuple(found if isinstance(found, Unknown) else run.unknown("settings are not followed") for _ in types)
    fields = [{each.name for each in dataclass_fields(cls) or () if each.init} for cls in types]
    others = found.keys() - set().union(*fields)
    takers = zip(types, fields, strict=True)
    return tuple(
        made(run, cls, {word: found[word] for word in found if word in own or (word in others and is_open(cls))})
        for cls, own in takers
    )


def is_open(cls: Value) -> bool:
    return isinstance(cls, Class) and any(OPEN in base.facts for base in cls.mro)


def of_file(read: Callable[[Runtime, Value], Value]) -> Native:
    def parse(run: Runtime, self: Instance, /, path: Value, *more: Value, **kwargs: Value) -> Value:
        content = text(run, path)
        return of_dict(run, self, content if isinstance(content, Unknown) else read(run, content))

    return native("parse_file", parse)


PARSER = Class(
    "HfArgumentParser",
    namespace={
        "__init__": native("__init__", parser_init),
        "parse_args_into_dataclasses": native("parse_args_into_dataclasses", parsed),
        "parse_dict": native("parse_dict", of_dict),
        "parse_json_file": of_file(read_json),
        "parse_yaml_file": of_file(read_yaml),
    },
    module="transformers",
)
