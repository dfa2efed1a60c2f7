"""Hugging Face's transformers: its Trainer is ours, its models are read from its source."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.distributed.prepared import nothing
from flake8_cnnmem.packages.transformers.arguments import ARGUMENTS, PARSER
from flake8_cnnmem.packages.transformers.pretrained import AUTOMATIC, CONFIGURATIONS, MODELS, PREPARING
from flake8_cnnmem.packages.transformers.tokenizers import COLLATORS, TOKENIZERS
from flake8_cnnmem.packages.transformers.trainer import COLLATE, TRAINER
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Value, native


def given_back(run: Runtime, /, cls: Value, *args: Value, **kwargs: Value) -> Value:
    return cls


def documented(run: Runtime, obj: Value = None, **kwargs: Value) -> Value:
    """`@auto_docstring`, with arguments or without."""
    return obj if obj is not None else native("auto_docstring", given_back)


WRITES_DOCSTRINGS: dict[str, Value] = {"auto_docstring": native("auto_docstring", documented)}

SEQ2SEQ_TRAINER = Class("Seq2SeqTrainer", (TRAINER,), {}, module="transformers.trainer_seq2seq")
SEQ2SEQ_ARGUMENTS = Class("Seq2SeqTrainingArguments", (ARGUMENTS,), {}, module="transformers.training_args_seq2seq")

NAMES: dict[str, Value] = {
    "Trainer": TRAINER,
    "Seq2SeqTrainer": SEQ2SEQ_TRAINER,
    "TrainingArguments": ARGUMENTS,
    "Seq2SeqTrainingArguments": SEQ2SEQ_ARGUMENTS,
    "HfArgumentParser": PARSER,
    "default_data_collator": COLLATE,
    "DefaultDataCollator": native("DefaultDataCollator", lambda run, *args, **kwargs: COLLATE),
    "set_seed": native("set_seed", nothing),
    **PREPARING,
    **TOKENIZERS,
    **COLLATORS,
}

PLACED: dict[str, dict[str, Value]] = {
    "transformers": NAMES,
    "transformers.trainer": {"Trainer": TRAINER},
    "transformers.trainer_seq2seq": {"Seq2SeqTrainer": SEQ2SEQ_TRAINER},
    "transformers.training_args": {"TrainingArguments": ARGUMENTS},
    "transformers.training_args_seq2seq": {"Seq2SeqTrainingArguments": SEQ2SEQ_ARGUMENTS},
    "transformers.hf_argparser": {"HfArgumentParser": PARSER},
    # What they write anew are docstrings.
    "transformers.utils": WRITES_DOCSTRINGS,
    "transformers.utils.auto_docstring": WRITES_DOCSTRINGS,
    "transformers.models.auto.auto_factory": {"auto_class_update": native("auto_class_update", given_back)},
    "transformers.modeling_utils.PreTrainedModel": MODELS,
    "transformers.configuration_utils.PreTrainedConfig": CONFIGURATIONS,
    "transformers.configuration_utils.PretrainedConfig": CONFIGURATIONS,
    "transformers.models.auto.auto_factory._BaseAutoModelClass": AUTOMATIC,
}
"""By module, and by class, what stands in the place of its own names, where its source is read: a trainer runs its loop
for the program, and a step of it is all that is followed; a model is made from its configuration, not from a file."""


STAND_INS = {"transformers": NAMES}
"""The package without its source: its models are not known."""
