"""Layers that turn words and categories into numbers (keras/src/layers/preprocessing)."""

from __future__ import annotations

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_nothing
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.frameworks.keras.tracking import native
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Runtime, Value


def nothing(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`adapt` reads data and changes no shape."""


def integers(run: Runtime, self: Instance, x: Value, length: Value = None, depth: Value = None) -> Value:
    """Indices of the input's shape, or of (N, length), or one-hot and multi-hot rows of `depth`."""
    mode = self.attributes.get("output_mode", "int")
    shape = x.shape if isinstance(x, Tensor) else x
    if isinstance(shape, Unknown) or not isinstance(shape, tuple):
        return run.apply(Elementwise("lookup"), x, function=self.cls.name, dtypes=["int64"], framework="keras")
    if mode == "int":
        return Tensor(shape if length is None else (shape[0], length), "int64", framework="keras")
    width: Size = depth if isinstance(depth, int) else run.unknown("the size of a vocabulary is not known")
    if mode == "one_hot":
        rest = shape[1:-1] if len(shape) > 1 and shape[-1] == 1 else shape[1:]
        return Tensor((shape[0], *rest, width), framework="keras")
    return Tensor((*shape[:-1], width) if len(shape) > 1 else (shape[0], width), framework="keras")


def vocabulary_size(self: Instance) -> Value:
    tokens = self.attributes.get("max_tokens")
    if tokens is not None:
        return tokens
    vocabulary = self.attributes.get("vocabulary")
    if isinstance(vocabulary, (list, tuple)):
        outside = self.attributes.get("num_oov_indices", 1)
        masked = 1 if self.attributes.get("mask_token") is not None else 0
        return len(vocabulary) + (outside if isinstance(outside, int) else 1) + masked
    return None


def call_text(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    length = self.attributes.get("output_sequence_length")
    if self.attributes.get("output_mode", "int") == "int" and length is None:
        length = run.unknown("the length of a vectorized text is not stated")
    return integers(run, self, inputs, length, vocabulary_size(self))


def get_vocabulary_size(run: Runtime, self: Instance) -> Value:
    found = vocabulary_size(self)
    return run.unknown("the size of a vocabulary is not known") if found is None else found


def get_vocabulary(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("a vocabulary is not known")


VOCABULARY = {
    "adapt": native(nothing),
    "vocabulary_size": native(get_vocabulary_size),
    "vocab_size": native(get_vocabulary_size),
    "get_vocabulary": native(get_vocabulary),
    "set_vocabulary": native(nothing),
}


@layer(call=call_text, build=build_nothing, extra=VOCABULARY)
def TextVectorization(
    max_tokens: Value = None, standardize: Value = "lower_and_strip_punctuation", split: Value = "whitespace",
    ngrams: Value = None, output_mode: Value = "int", output_sequence_length: Value = None,
    pad_to_max_tokens: Value = False, vocabulary: Value = None, idf_weights: Value = None, sparse: Value = False,
    ragged: Value = False, encoding: Value = "utf-8", name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    return ()


def call_lookup(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    return integers(run, self, inputs, None, vocabulary_size(self))


@layer(call=call_lookup, build=build_nothing, extra=VOCABULARY)
def StringLookup(
    max_tokens: Value = None, num_oov_indices: Value = 1, mask_token: Value = None, oov_token: Value = "[UNK]",
    vocabulary: Value = None, idf_weights: Value = None, invert: Value = False, output_mode: Value = "int",
    pad_to_max_tokens: Value = False, sparse: Value = False, encoding: Value = "utf-8", name: Value = None,
    salt: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    return ()


@layer(call=call_lookup, build=build_nothing, extra=VOCABULARY)
def IntegerLookup(
    max_tokens: Value = None, num_oov_indices: Value = 1, mask_token: Value = None, oov_token: Value = -1,
    vocabulary: Value = None, vocabulary_dtype: Value = "int64", idf_weights: Value = None, invert: Value = False,
    output_mode: Value = "int", sparse: Value = False, pad_to_max_tokens: Value = False,
    oov_method: Value = "floormod", salt: Value = None, name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    return ()


def call_category(run: Runtime, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
    return integers(run, self, inputs, None, self.attributes.get("num_tokens", self.attributes.get("num_bins")))


@layer(call=call_category, build=build_nothing)
def CategoryEncoding(
    num_tokens: Value = None, output_mode: Value = "multi_hot", sparse: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    return ()


@layer(call=call_category, build=build_nothing, extra={"adapt": native(nothing)})
def Discretization(
    bin_boundaries: Value = None, num_bins: Value = None, epsilon: Value = 0.01, output_mode: Value = "int",
    sparse: Value = False, dtype: Value = None, name: Value = None,
) -> Ops:  # fmt: skip
    return ()


@layer(call=call_category, build=build_nothing)
def Hashing(
    num_bins: Value, mask_value: Value = None, salt: Value = None, output_mode: Value = "int", sparse: Value = False,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    return ()


@layer(call=call_category, build=build_nothing)
def HashedCrossing(
    num_bins: Value, output_mode: Value = "int", sparse: Value = False, name: Value = None, dtype: Value = None,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    return ()
