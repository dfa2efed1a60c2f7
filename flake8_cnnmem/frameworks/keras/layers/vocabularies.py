"""What a lookup learns of data whose values the code writes (keras/src/layers/preprocessing/index_lookup.py and
text_vectorization.py)."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence

from flake8_cnnmem.frameworks.numpy.arrays import flat_of
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value

PUNCTUATION = re.compile(r"[!\"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']")
"""What TextVectorization strips (`lower_and_strip_punctuation`)."""

LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
STANDARDS = (None, "lower", "strip_punctuation", "lower_and_strip_punctuation")
SPLITS = (None, "whitespace", "character")


def known_leaves(run: Runtime, data: Value) -> list[str | int] | None:
    """The texts or whole numbers in nested lists or an array, where all are known."""
    items = flat_of(data) if isinstance(data, Tensor) else run.items(data) if isinstance(data, (list, tuple)) else None
    if items is None or isinstance(items, Unknown):
        return None
    found: list[str | int] = []
    run.spend(len(items))
    for item in items:
        if isinstance(item, (str, int)) and not isinstance(item, bool):
            found.append(item)
        elif isinstance(item, (list, tuple)) and (inner := known_leaves(run, item)) is not None:
            found.extend(inner)
        else:
            return None
    return found


def words_of(options: Mapping[str, Value], leaves: Sequence[str | int]) -> list[str | int] | None:
    """The tokens that data are made of: TextVectorization's words, the others' values as they are. None where it
    depends on a function of the code's own, or on how characters beyond ASCII are told apart."""
    if "standardize" not in options:
        return list(leaves)
    standard, split = options["standardize"], options.get("split")
    if standard not in STANDARDS or split not in SPLITS or options.get("ngrams") is not None:
        return None
    words: list[str | int] = []
    for leaf in leaves:
        if not isinstance(leaf, str) or not leaf.isascii():
            return None
        text = leaf.translate(LOWER) if standard is not None and "lower" in standard else leaf
        text = PUNCTUATION.sub("", text) if standard is not None and "strip" in standard else text
        words.extend([text] if split is None else text if split == "character" else text.split())
    return words


def learnt_of(words: Sequence[str | int], special: Sequence[Value], options: Mapping[str, Value]) -> list[str | int]:
    """A vocabulary without its special tokens: the words by how often they come, those that come as often from the
    last of the alphabet; no more than `max_tokens` with the special ones."""
    ignored = {*map(str, special), str(options.get("mask_token")), str(options.get("oov_token", "[UNK]"))}
    counts = Counter(word for word in words if str(word) not in ignored)
    order = sorted(counts, key=lambda word: (counts[word], word), reverse=True)
    most = options.get("max_tokens")
    return order[: max(most - len(special), 0)] if type(most) is int else order
