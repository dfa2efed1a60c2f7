"""keras.preprocessing.text: words to numbers (Keras 1 and 2; keras_preprocessing/text.py)."""

from __future__ import annotations

from flake8_cnnmem.dims import Size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Native, Value

TOKENIZER_ARGUMENTS = ("num_words", "filters", "lower", "split", "char_level", "oov_token")


def tokenizer_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`Tokenizer(num_words, ...)`: keeps the number of words, by its name of Keras 1 as well."""
    given = dict(zip(TOKENIZER_ARGUMENTS, args, strict=False)) | kwargs
    # Keras 1 has another word for it.
    self.attributes["num_words"] = given.get("num_words", given.get("nb_words"))


def learn(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """Which words there are changes the index alone."""


def matrix(run: Runtime, self: Instance, texts: Value = None, mode: Value = "binary") -> Value:
    """A row for each text, as wide as there are words: `num_words`, or those of the index and one more."""
    width = self.attributes.get("num_words")
    if width is None:
        width = run.unknown("how many words texts have is not known")
    rows = count_of(run, texts, "how many texts there are is not known")
    return Tensor((rows, width), "float64", framework="numpy")


def count_of(run: Runtime, data: Value, reason: str) -> Size:
    """How many rows a list or an array has; Unknown for this reason where nobody knows."""
    if isinstance(data, (list, tuple)):
        lost = run.havocked.get(id(data))
        return len(data) if lost is None else lost[1]
    if isinstance(data, Tensor) and isinstance(data.shape, tuple) and data.shape:
        return data.shape[0]
    return run.unknown(reason)


def words(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """What a tokenizer makes of texts, which is not known."""
    return run.unknown("which words texts have is not known")


def any_attribute(run: Runtime, self: Instance, name: str) -> Value:
    """Any other attribute of a tokenizer, which is not known."""
    return run.unknown("which words texts have is not known")


TOKENIZER = Class(
    "Tokenizer",
    namespace={
        "__init__": Native("__init__", tokenizer_init, propagate_unknown=False),
        "__getattr__": Native("__getattr__", any_attribute, propagate_unknown=False),
        **{
            name: Native(name, function, propagate_unknown=False)
            for names, function in (
                ("fit_on_texts fit_on_sequences", learn),
                ("texts_to_matrix sequences_to_matrix", matrix),
                ("texts_to_sequences texts_to_sequences_generator sequences_to_texts", words),
            )
            for name in names.split()
        },
    },
    module="keras.preprocessing.text",
)
