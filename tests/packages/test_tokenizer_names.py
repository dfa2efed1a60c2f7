"""Which tokenizer `AutoTokenizer` gives, by the name under which the library documents a model."""

from __future__ import annotations

import pytest

from flake8_cnnmem.packages.transformers.tokenizers import WITH_TYPES, WITHOUT_TYPES, family_of

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
    None: "",
}


@pytest.mark.parametrize(("name", "family"), NAMES.items())
def test_a_documented_name_tells_the_family(name: str | None, family: str) -> None:
    assert family_of(name) == family
    assert not family or family in (*WITH_TYPES, *WITHOUT_TYPES)
