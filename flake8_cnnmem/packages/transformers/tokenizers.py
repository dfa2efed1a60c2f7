"""Tokenizers: what they make of texts where the program itself says how long that is.

The vocabulary lies in a file that is not read, so how many tokens a text has is not known, nor how many words there
are. With `padding="max_length"`, `max_length` and truncation every text has that many (transformers 5.23,
tokenization_utils_base.py: `PreTrainedTokenizerBase.__call__`, `pad`, `_get_padding_truncation_strategies`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.devices import all_to_device
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime, so_many
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Value, native

WITH_TYPES = ("Bert", "Electra", "Deberta", "MobileBert", "ConvBert", "SqueezeBert")
WITHOUT_TYPES = (
    "Roberta", "DistilBert", "GPT2", "T5", "MT5", "Bart", "MBart", "Camembert", "XLMRoberta", "Llama", "CLIP", "Bloom",
    "OPT", "Marian", "Pegasus", "Longformer", "GPTNeoX", "Qwen2", "Gemma",
)  # fmt: skip
"""Families by whether `model_input_names` of their tokenizers has token_type_ids (transformers 4 and 5)."""

BY_VERSION = ("Albert", "XLNet", "Funnel")
"""Families whose tokenizers give them in transformers 4, and not in 5 (5.23)."""

OF_NAMES = (
    ("bert-", "Bert"), ("electra-", "Electra"), ("deberta-", "Deberta"),
    ("mobilebert-", "MobileBert"), ("roberta-", "Roberta"),
    ("distilroberta-", "Roberta"), ("distilbert-", "DistilBert"), ("xlm-roberta-", "XLMRoberta"),
    ("camembert-", "Camembert"), ("gpt2", "GPT2"), ("distilgpt2", "GPT2"), ("t5-", "T5"), ("flan-t5-", "T5"),
    ("mt5-", "MT5"), ("bart-", "Bart"), ("pegasus-", "Pegasus"), ("opus-mt-", "Marian"),
)  # fmt: skip
"""How the names begin of models that the docstrings of transformers 5.23 load a tokenizer or a model of that family
from."""

SIZES = frozenset(("", "base", "large", "xlarge", "xxlarge", "small", "medium", "xl", "3b", "11b"))
"""The word that follows in names without an owner; what else is named so may be a folder of the program's own."""

OWNERS = frozenset({
    "google-bert", "google", "google-t5", "microsoft", "FacebookAI", "distilbert",
    "almanach", "openai-community", "facebook", "Helsinki-NLP",
})  # fmt: skip
"""Who owns them, where that is said before the name."""

LONGEST = 1 << 16
"""Tokens of a text that are listed one by one."""

MEMBERS = Members()
TOKENIZER = Class("PreTrainedTokenizer", namespace=MEMBERS, module="transformers.tokenization_utils_base")

# What a tokenizer gives

ENCODING_MEMBERS = Members()
ENCODING = Class("BatchEncoding", namespace=ENCODING_MEMBERS, module="transformers.tokenization_utils_base")


def encoded(self: Instance) -> dict[Value, Value]:
    """The parts of an encoding by their names."""
    return self.payload if isinstance(self.payload, dict) else {}


@ENCODING_MEMBERS.method("__getattr__")
def encoding_attribute(run: Runtime, self: Instance, name: Value) -> Value:
    """`encoding.input_ids`"""
    found = encoded(self).get(name, MISSING) if isinstance(name, str) else MISSING
    if found is not MISSING:
        return found
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    return run.unknown(f"{name} of a tokenizer's result is not known")


@ENCODING_MEMBERS.method("__getitem__")
def encoding_item(run: Runtime, self: Instance, name: Value) -> Value:
    """`encoding["input_ids"]`"""
    return encoding_attribute(run, self, name)


@ENCODING_MEMBERS.method("to")
def encoding_to(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """Its tensors on a device."""
    moved = all_to_device(run, dict(encoded(self)))
    return Instance(ENCODING, payload=moved)


@ENCODING_MEMBERS.method("convert_to_tensors")
def encoding_itself(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """What has been asked for as tensors already."""
    return self


def of_dict(name: str) -> Native:
    """A method of a dict, on the parts of an encoding by their names."""

    def method(run: Runtime, self: Instance, *args: Value) -> Value:
        return run.call(run.get(encoded(self), name), *args)

    return native(name, method)


for method in ("keys", "values", "items", "get", "__contains__", "__iter__", "__len__"):
    ENCODING_MEMBERS[method] = of_dict(method)


# The tokenizer


def token(run: Runtime) -> Unknown:
    """One number of a token."""
    return run.unknown("which tokens a text has is not known").as_number("int")


def rows_of(run: Runtime, text: Value, single: bool) -> Size | None:
    """How many texts are handed over; None for one that stands alone, as a sample of a data set has it."""
    if single or isinstance(text, str) or (isinstance(text, Unknown) and text.known is not None):
        return None
    if isinstance(text, (list, tuple)):
        return run.havocked[id(text)][1] if id(text) in run.havocked else len(text)
    return text if isinstance(text, Unknown) else run.unknown("how many texts a tokenizer is given is not known")


def width_of(run: Runtime, options: Mapping[str, Value]) -> Size:
    """How many tokens every text has."""
    padding, truncation = options.get("padding", False), options.get("truncation")
    longest = options.get("max_length")
    if run.truth(options.get("pad_to_max_length", False)) is True:
        padding = "max_length"
        truncation = True if truncation is None else truncation
    cut = (
        truncation is not None and truncation not in (False, "do_not_truncate") and not isinstance(truncation, Unknown)
    )
    if padding == "max_length" and cut:
        if isinstance(longest, int) and not isinstance(longest, bool):
            return longest
        if isinstance(longest, Unknown):
            return longest
        return run.unknown("model_max_length of a tokenizer is in a file that is not in the project")
    return run.unknown("how many tokens a text has is not known").as_number("int")


def encode(run: Runtime, self: Instance, text: Value, single: bool, options: Mapping[str, Value]) -> Value:
    """The parts of an encoding: a list of tokens, a list of those, or a tensor (texts, tokens)."""
    words = run.truth(options.get("is_split_into_words", False)) is True
    rows, width = rows_of(run, text, single or words), width_of(run, options)
    if run.truth(options.get("return_overflowing_tokens", False)) is not False:
        rows = run.unknown("how many parts a text has is not known")
    wanted = options.get("return_tensors")
    parts: dict[Value, Value] = {name: part(run, rows, width, wanted) for name in names_of(run, self, options)}
    types = with_types(self, options)
    if isinstance(types, Unknown):
        parts["token_type_ids"] = run.unknown(types.reason)
    return Instance(ENCODING, payload=parts)


def names_of(run: Runtime, self: Instance, options: Mapping[str, Value]) -> Iterator[str]:
    """What an encoding has, in this order."""
    yield "input_ids"
    if with_types(self, options) is True:
        yield "token_type_ids"
    if run.truth(options.get("return_attention_mask", True)) is not False:
        yield "attention_mask"


def with_types(self: Instance, options: Mapping[str, Value]) -> bool | Unknown:
    """Whether an encoding has token_type_ids: where the code does not say, that depends on the tokenizer's class."""
    asked = options.get("return_token_type_ids")
    if isinstance(asked, bool):
        return asked
    name = self.attributes.get("_native_class")
    word = name if isinstance(name, str) else ""
    if word.startswith(WITHOUT_TYPES):
        return False
    if word.startswith(WITH_TYPES):
        return True
    return Unknown("whether an encoding has token_type_ids is in a file of the tokenizer's model")


def part(run: Runtime, rows: Size | None, width: Size, wanted: Value) -> Value:
    """One part of an encoding: (texts, tokens) whole numbers; one text alone has an axis of texts as a tensor only."""
    if wanted in ("pt", "np"):
        shape = (1 if rows is None else rows, width)
        return Tensor(shape, "int64") if wanted == "pt" else Tensor(shape, "int64", framework="numpy")
    if wanted is not None or not isinstance(width, int) or width > LONGEST:
        return width.loose() if isinstance(width, Unknown) else run.unknown("how many texts there are is not known")
    one: list[Value] = [token(run)] * width
    if isinstance(rows, Unknown):
        return so_many(run, one, rows)
    return one if rows is None else [list(one) for _ in range(rows)] if isinstance(rows, int) else rows


@MEMBERS.method("__call__")
def call(
    run: Runtime, self: Instance, text: Value = None, text_pair: Value = None, *args: Value, **kwargs: Value
) -> Value:
    """`tokenizer(text, ...)`: of one text, or of several."""
    return encode(run, self, text, False, kwargs)


@MEMBERS.method("encode_plus")
def encode_plus(run: Runtime, self: Instance, text: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Of one text."""
    return encode(run, self, text, True, kwargs)


@MEMBERS.method("batch_encode_plus")
def batch_encode_plus(run: Runtime, self: Instance, texts: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Of several texts."""
    return encode(run, self, texts, False, kwargs)


@MEMBERS.method("encode")
def encode_ids(run: Runtime, self: Instance, text: Value = None, *args: Value, **kwargs: Value) -> Value:
    """The tokens alone of one text."""
    return run.index(encode(run, self, text, True, kwargs), "input_ids")


@MEMBERS.method("pad")
def pad(run: Runtime, self: Instance, encoded_inputs: Value = None, *args: Value, **kwargs: Value) -> Value:
    """Texts that have their tokens already: as many as the longest has, where all have as many."""
    items = run.items(encoded_inputs)
    return encoded_inputs if isinstance(items, Unknown) else padded(run, items, kwargs)


def padded(run: Runtime, items: list[Value], options: Mapping[str, Value]) -> Value:
    """Samples as one batch of tensors: lists of numbers become (samples, numbers)."""
    first = items[0] if items else MISSING
    held = first.payload if isinstance(first, Instance) else first
    if not isinstance(held, dict):
        return first if isinstance(first, Unknown) else run.unknown("a sample of a batch is not known")
    count = len(items)
    to = options.get("max_length") if options.get("padding") == "max_length" else None
    batch: dict[Value, Value] = {}
    for name, value in held.items():
        if isinstance(value, str):
            # Texts are no part of a batch.
            continue
        if isinstance(value, Unknown) and isinstance(to, int) and name in PADDED:
            # Texts that are longer than that cannot be stacked with others.
            batch[name] = Tensor((count, to), "int64")
        else:
            batch[name] = batched(run, value, count, to)
    for old in ("label", "label_ids"):
        if old in batch:
            batch["labels"] = batch.pop(old)
    return Instance(ENCODING, payload=batch)


PADDED = ("input_ids", "attention_mask")
"""The parts of an encoding that every tokenizer gives, one number for each token."""


def batched(run: Runtime, value: Value, count: int, to: Value) -> Value:
    """One part of a batch: numbers, or lists of them, which are padded to a length where one is given."""
    if isinstance(value, Tensor) and isinstance(value.shape, tuple):
        return Tensor((count, *value.shape), value.dtype)
    if isinstance(value, list) and value:
        kinds = {each.number if isinstance(each, Unknown) else type(each).__name__ for each in value}
        width: Size = max(len(value), to) if isinstance(to, int) else len(value)
        if kinds <= {"int", "float"}:
            return Tensor((count, width), "int64" if kinds == {"int"} else "float32")
    if (isinstance(value, Unknown) and value.number) or isinstance(value, (int, float)):
        whole = value.number == "int" if isinstance(value, Unknown) else isinstance(value, int)
        return Tensor((count,), "int64" if whole else "float32")
    return value if isinstance(value, Unknown) else run.unknown("how many tokens a text has is not known")


@MEMBERS.method("__len__")
def size(run: Runtime, self: Instance) -> Value:
    """How many words the vocabulary has."""
    return run.unknown("how many tokens a tokenizer knows is in a file that is not in the project").as_number("int")


@MEMBERS.method("__getattr__")
def other(run: Runtime, self: Instance, name: Value) -> Value:
    """What the vocabulary decides."""
    if isinstance(name, str) and name.startswith("__"):
        raise run.error("AttributeError", name)
    if name in ("vocab_size", "model_max_length", "pad_token_id", "eos_token_id", "bos_token_id", "cls_token_id",
                "sep_token_id", "mask_token_id", "unk_token_id"):  # fmt: skip
        return run.unknown(f"{name} of a tokenizer is in a file that is not in the project").as_number("int")
    return run.unknown(f"{name} of a tokenizer is in a file that is not in the project")


def from_pretrained(run: Runtime, /, cls: Class, *args: Value, **kwargs: Value) -> Value:
    """A tokenizer whose vocabulary is not known."""
    named = family_of(args[0] if args else kwargs.get("pretrained_model_name_or_path"))
    own = cls.name if isinstance(cls, Class) else ""
    return Instance(TOKENIZER, {"_native_class": named if own.startswith("Auto") and named else own})


def family_of(name: Value) -> str:
    """The family of a model by the name under which it is documented; "" for others, and for folders."""
    owner, slash, word = name.rpartition("/") if isinstance(name, str) else ("", "", "")
    if slash and owner not in OWNERS:
        return ""
    for start, family in OF_NAMES:
        if word.startswith(start) and (slash or word[len(start) :].lstrip("-").partition("-")[0] in SIZES):
            return family
    return ""


def tokenizer_class(name: str) -> Class:
    """A class of tokenizers: its own code is not read."""
    made = ClassMethod(native("from_pretrained", from_pretrained))
    return Class(name, namespace={"from_pretrained": made}, module="transformers")


TOKENIZERS: dict[str, Value] = {
    name: tokenizer_class(name)
    for family in ("Auto", *WITH_TYPES, *WITHOUT_TYPES, *BY_VERSION)
    for name in (f"{family}Tokenizer", f"{family}TokenizerFast")
}

# Data collators


def collator_init(run: Runtime, self: Instance, tokenizer: Value = None, *args: Value, **kwargs: Value) -> None:
    """`DataCollatorWithPadding(tokenizer, padding=True, max_length=None, ...)`."""
    run.changed(self)
    self.attributes.update({"tokenizer": tokenizer, **kwargs})


def collate_padded(run: Runtime, self: Instance, features: Value = None, *args: Value, **kwargs: Value) -> Value:
    """A batch of samples that are padded to one length."""
    items = run.items(features)
    return items if isinstance(items, Unknown) else padded(run, items, self.attributes)


def collate_masked(run: Runtime, self: Instance, features: Value = None, *args: Value, **kwargs: Value) -> Value:
    """For language models: the tokens themselves are the labels."""
    batch = collate_padded(run, self, features)
    if isinstance(batch, Instance) and isinstance(batch.payload, dict):
        tokens = batch.payload.get("input_ids")
        batch.payload["labels"] = Tensor(tokens.shape, tokens.dtype) if isinstance(tokens, Tensor) else tokens
    return batch


COLLATORS: dict[str, Value] = {
    name: Class(
        name,
        namespace={"__init__": native("__init__", collator_init), "__call__": native("__call__", function)},
        module="transformers.data.data_collator",
    )
    for name, function in (
        ("DataCollatorWithPadding", collate_padded),
        ("DataCollatorForLanguageModeling", collate_masked),
    )
}
