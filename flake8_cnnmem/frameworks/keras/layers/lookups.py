"""Layers that turn words and categories into numbers (keras/src/layers/preprocessing)."""

from __future__ import annotations

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.keras.layers.vocabularies import known_leaves, learnt_of, words_of
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_nothing
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.frameworks.keras.tracking import native
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Instance, Value


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`adapt` reads data and changes no shape."""


def adapt(run: Runtime, self: Instance, data: Value = None, *args: Value, **kwargs: Value) -> None:
    """`layer.adapt(data)`: a vocabulary is learnt, which is known where the data's values are."""
    leaves = known_leaves(run, data)
    words = None if leaves is None else words_of(self.attributes, leaves)
    if words is None or self.attributes.get("vocabulary") is not None:
        return
    run.changed(self)
    self.attributes["vocabulary"] = learnt_of(words, special_tokens(self), self.attributes)


UNKNOWN_SIZE = "how many tokens a vocabulary has is not known: it is learnt from data"


def integers(run: Runtime, self: Instance, x: Value, length: Size | None = None, depth: Value = None) -> Value:
    """Indices of the input's shape, or of (N, length), or one-hot and multi-hot rows of `depth`."""
    mode = self.attributes.get("output_mode", "int")
    shape = x.shape if isinstance(x, Tensor) else None
    if not isinstance(shape, tuple):
        return run.apply(Elementwise("lookup"), x, function=self.cls.name, dtypes=["int64"], framework="keras")
    if mode == "int":
        return Tensor(shape if length is None else (shape[0], length), "int64", framework="keras")
    width: Size = depth if isinstance(depth, int) else run.unknown(UNKNOWN_SIZE)
    if mode == "one_hot":
        rest = shape[1:-1] if len(shape) > 1 and shape[-1] == 1 else shape[1:]
        return Tensor((shape[0], *rest, width), framework="keras")
    return Tensor((*shape[:-1], width) if len(shape) > 1 else (shape[0], width), framework="keras")


def vocabulary_size(self: Instance) -> int | None:
    """How many tokens a lookup knows; None where it learns them. `max_tokens` is a limit, and no size: data of fewer
    words make a smaller vocabulary."""
    known = tokens_of(self)
    return None if known is None else len(special_tokens(self)) + len(known)


def width_of(self: Instance) -> Value:
    """The width of one-hot and multi-hot rows: `max_tokens` where the layer pads to it, else the vocabulary's size."""
    own = self.attributes
    return own.get("max_tokens") if own.get("pad_to_max_tokens") is True else vocabulary_size(self)


def special_tokens(self: Instance) -> list[Value]:
    """The tokens before those of the vocabulary: the mask's, where numbers are given, and those of unknown words
    (keras/src/layers/preprocessing/index_lookup.py). TextVectorization looks up with an empty text for its mask."""
    own = self.attributes
    mask, outside = own.get("mask_token", ""), own.get("num_oov_indices", 1)
    masks = [mask] if mask is not None and own.get("output_mode", "int") == "int" else []
    return [*masks, *[own.get("oov_token", "[UNK]")] * (outside if isinstance(outside, int) else 1)]


def tokens_of(self: Instance) -> list[Value] | None:
    """The vocabulary that a lookup was given, without special tokens at its beginning; None where it learns it."""
    vocabulary = self.attributes.get("vocabulary")
    if not isinstance(vocabulary, (list, tuple)):
        return None
    special = special_tokens(self)
    return list(vocabulary[len(special) if list(vocabulary[: len(special)]) == special else 0 :])


def call_text(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """A call of TextVectorization: texts (N,) to (N, length), or to one vector each."""
    length = self.attributes.get("output_sequence_length")
    if self.attributes.get("output_mode", "int") == "int" and length is None:
        length = run.unknown("the length of a vectorized text is not stated")
    return integers(run, self, inputs, length, width_of(self))


def get_vocabulary_size(run: Runtime, self: Instance) -> Value:
    """`layer.vocabulary_size()`: the number of words; an unknown where the vocabulary is not known."""
    found = vocabulary_size(self)
    return run.unknown(UNKNOWN_SIZE) if found is None else found


def get_vocabulary(run: Runtime, self: Instance, include_special_tokens: Value = True) -> Value:
    """`layer.get_vocabulary()`: the tokens by their numbers; an unknown where they are learnt from data."""
    known = tokens_of(self)
    if known is None or not isinstance(include_special_tokens, bool):
        return run.unknown("a vocabulary is not known")
    return [*special_tokens(self), *known] if include_special_tokens else known


def set_vocabulary(run: Runtime, self: Instance, vocabulary: Value = None, *args: Value, **kwargs: Value) -> None:
    """`layer.set_vocabulary(tokens)`."""
    run.changed(self)
    self.attributes["vocabulary"] = vocabulary


VOCABULARY = {
    "adapt": native(adapt),
    "vocabulary_size": native(get_vocabulary_size),
    "vocab_size": native(get_vocabulary_size),
    "get_vocabulary": native(get_vocabulary),
    "set_vocabulary": native(set_vocabulary),
}


@layer(call=call_text, build=build_nothing, extra=VOCABULARY)
def TextVectorization(
    max_tokens: Value = None, standardize: Value = "lower_and_strip_punctuation", split: Value = "whitespace",
    ngrams: Value = None, output_mode: Value = "int", output_sequence_length: Value = None,
    pad_to_max_tokens: Value = False, vocabulary: Value = None, idf_weights: Value = None, sparse: Value = False,
    ragged: Value = False, encoding: Value = "utf-8", name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Texts as numbers of their tokens."""
    return ()


def call_lookup(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """A call of StringLookup or IntegerLookup: the input's shape, or one vector each."""
    return integers(run, self, inputs, None, width_of(self))


@layer(call=call_lookup, build=build_nothing, extra=VOCABULARY)
def StringLookup(
    max_tokens: Value = None, num_oov_indices: Value = 1, mask_token: Value = None, oov_token: Value = "[UNK]",
    vocabulary: Value = None, idf_weights: Value = None, invert: Value = False, output_mode: Value = "int",
    pad_to_max_tokens: Value = False, sparse: Value = False, encoding: Value = "utf-8", name: Value = None,
    salt: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Texts as their numbers in a vocabulary."""
    return ()


@layer(call=call_lookup, build=build_nothing, extra=VOCABULARY)
def IntegerLookup(
    max_tokens: Value = None, num_oov_indices: Value = 1, mask_token: Value = None, oov_token: Value = -1,
    vocabulary: Value = None, vocabulary_dtype: Value = "int64", idf_weights: Value = None, invert: Value = False,
    output_mode: Value = "int", sparse: Value = False, pad_to_max_tokens: Value = False,
    oov_method: Value = "floormod", salt: Value = None, name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Whole numbers as their numbers in a vocabulary."""
    return ()


def call_category(run: Runtime, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
    """CategoryEncoding and Discretization: whole numbers, or one value for each category."""
    own = self.attributes
    depth, boundaries = own.get("num_tokens", own.get("num_bins")), own.get("bin_boundaries")
    if depth is None and isinstance(boundaries, (list, tuple)):
        depth = len(boundaries) + 1
    return integers(run, self, inputs, None, depth)


def call_crossing(run: Runtime, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
    """One category for each sample, from the first category of each input."""
    return call_category(run, self, inputs[0] if isinstance(inputs, (list, tuple)) and inputs else inputs)


@layer(call=call_category, build=build_nothing)
def CategoryEncoding(
    num_tokens: Value = None, output_mode: Value = "multi_hot", sparse: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Whole numbers as vectors of counts or bits."""
    return ()


@layer(call=call_category, build=build_nothing, extra={"adapt": native(nothing)})
def Discretization(
    bin_boundaries: Value = None, num_bins: Value = None, epsilon: Value = 0.01, output_mode: Value = "int",
    sparse: Value = False, dtype: Value = None, name: Value = None,
) -> Ops:  # fmt: skip
    """Numbers as the number of their bin."""
    return ()


@layer(call=call_category, build=build_nothing)
def Hashing(
    num_bins: Value, mask_value: Value = None, salt: Value = None, output_mode: Value = "int", sparse: Value = False,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """Values as one of `num_bins` numbers."""
    return ()


@layer(call=call_crossing, build=build_nothing)
def HashedCrossing(
    num_bins: Value, output_mode: Value = "int", sparse: Value = False, name: Value = None, dtype: Value = None,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """Two features as one of `num_bins` numbers."""
    return ()
