"""Which tokenizer `AutoTokenizer` gives, by the name under which the library documents a model."""

from __future__ import annotations

import pytest

from flake8_cnnmem.packages.transformers.tokenizers import (
    TOKENIZER,
    WITH_TYPES,
    WITHOUT_TYPES,
    family_of,
    with_types,
)
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance

NAMES = {
    "bert-base-uncased": "Bert",
    "google-bert/bert-base-cased": "Bert",
    "microsoft/deberta-v3-base": "Deberta",
    "FacebookAI/roberta-base": "Roberta",
    "distilbert-base-uncased-finetuned-sst-2-english": "DistilBert",
    "google/flan-t5-small": "T5",
    "gpt2-medium": "GPT2",
    "somebody/bert-base-uncased": "",
    "./bert-base-uncased": "",
    "checkpoints/roberta-base": "",
    "my-model": "",
    "bert-finetuned": "",
    "gpt2-mine": "",
    "google/electra-small-discriminator": "Electra",
    None: "",
}


@pytest.mark.parametrize(("name", "family"), NAMES.items())
def test_a_documented_name_tells_the_family(name: str | None, family: str) -> None:
    assert family_of(name) == family
    assert not family or family in (*WITH_TYPES, *WITHOUT_TYPES)


@pytest.mark.parametrize(("name", "types"), [("BertTokenizer", True), ("GPT2TokenizerFast", False)])
def test_the_class_tells_whether_there_are_types(name: str, types: bool) -> None:
    assert with_types(Instance(TOKENIZER, {"_native_class": name}), {}) is types


@pytest.mark.parametrize("name", ["AlbertTokenizer", "XLNetTokenizer", "FunnelTokenizerFast", "AutoTokenizer"])
def test_what_depends_on_the_version_is_not_known(name: str) -> None:
    # `model_input_names` of the first three has no token_type_ids in transformers 5.23, as it had in 4.
    assert isinstance(with_types(Instance(TOKENIZER, {"_native_class": name}), {}), Unknown)
