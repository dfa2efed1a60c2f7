"""A text that nobody can read, by a vocabulary of it: numbers in a row, however many, and batches cut out of it."""

from __future__ import annotations

import pytest

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran

HEAD = """
import torch
text = open("gone.txt").read()
chars = sorted(list(set(text)))
stoi = {ch: i for i, ch in enumerate(chars)}
words = {"a": 1, "b": 2}
"""

ROWS = {
    "by a dict of enumerate": "[stoi[c] for c in text]",
    "with a number for what is missing": "[words.get(w, 0) for w in text.split()]",
    "by a function": "[len(w) - 1 for w in text.split()]",
    "a number and one more": "[stoi[c] + 1 for c in text if c in stoi]",
}


@pytest.mark.parametrize("way", ROWS)
def test_a_text_gives_numbers_in_a_row(way: str) -> None:
    program = f"data = torch.tensor({ROWS[way]}, dtype=torch.long)\n"
    program += "at = torch.randint(len(data) - 16, (6,))\nbatch = torch.stack([data[i : i + 16] for i in at])\n"
    ran = Ran(HEAD + program)
    data = ran["data"]
    assert isinstance(data, Tensor)
    assert isinstance(data.shape, tuple)
    assert [isinstance(size, Unknown) for size in data.shape] == [True]
    assert ran["batch"].shape == (6, 16)


OTHERS = {
    "what a function of the project makes": "[tokens(w) for w in text.split()]",
    "parts of the text": "[w for w in text.split()]",
    "what an unknown thing has under a word": "[text.table[w] for w in text.split()]",
}


@pytest.mark.parametrize("way", OTHERS)
def test_what_need_not_be_a_number_has_no_axes(way: str) -> None:
    program = f"def tokens(word):\n    return [words[c] for c in word]\ndata = torch.tensor({OTHERS[way]})\n"
    assert isinstance(Ran(HEAD + program)["data"].shape, Unknown)
