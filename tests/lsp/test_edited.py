"""What an edit reaches."""

from __future__ import annotations

import pytest

from flake8_cnnmem.lsp.edited import edited
from flake8_cnnmem.source import Source, SourceError

TEXT = """\
from torch import nn
from sizes import WIDTH

DEPTH = 3


def block(width):
    return nn.Linear(width, width)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = block(8)


class Large(Small):
    # cnnmem: batch-size=8
    def __init__(self, depth=DEPTH):
        super().__init__()
        self.more = nn.Linear(WIDTH, depth)


def unused():
    return "text"
"""

SAME = [
    ("def block(width):\n", "def block(width):  # of one layer\n"),
    ("block(8)", "block( 8 )"),
    ("DEPTH = 3", "DEPTH  =  3"),
    ("(width, width)", "(width,   width,)"),
]
"""Edits of layout and comments."""

OTHER = [
    ("batch-size=8", "batch-size=9", ["Large"]),
    ("DEPTH = 3", "# cnnmem: optimizer=adam\nDEPTH = 3", ["Small", "Large"]),
    ("class Small", "\n\nclass Small", ["Small", "Large"]),
    ("block(8)", "block(9)", ["Small", "Large"]),
    ("nn.Linear(width, width)", "nn.Linear(width, width + 1)", ["Small", "Large"]),
    ("DEPTH = 3", "DEPTH = 4", ["Large"]),
    ("WIDTH, depth", "WIDTH, depth + 1", ["Large"]),
    ('"text"', '"words"', []),
    ("from sizes import WIDTH", "from sizes import HEIGHT as WIDTH", ["Small", "Large"]),
    ("DEPTH = 3", "DEPTH = 3\nnn.Linear.bias = None", ["Small", "Large"]),
    ("DEPTH = 3", "DEPTH = 3\nOTHER = 4", []),
]
"""Edits, and the models that they reach. A remark to us between statements may be meant for any of them."""


def changed(old: str, new: str) -> str:
    assert TEXT.count(old) == 1
    return TEXT.replace(old, new)


@pytest.mark.parametrize(("old", "new"), SAME)
def test_layout_and_comments_change_nothing(old: str, new: str) -> None:
    assert edited(Source("net.py", TEXT), Source("net.py", changed(old, new))) is None


@pytest.mark.parametrize(("old", "new", "reached"), OTHER)
def test_an_edit_reaches_who_mentions_what_it_changes(old: str, new: str, reached: list[str]) -> None:
    found = edited(Source("net.py", TEXT), Source("net.py", changed(old, new)))
    assert found is not None
    assert found.reaches(["Small", "Large"]) == reached


def test_what_is_not_sound_is_told() -> None:
    with pytest.raises(SourceError):
        edited(Source("net.py", TEXT), Source("net.py", TEXT + ")"))
