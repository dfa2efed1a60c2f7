"""What a change cannot reach, and what it may."""

from __future__ import annotations

import pytest

from flake8_cnnmem.difference.reach import may_matter, names_in, stands_alone
from flake8_cnnmem.source import Source

NAMES = names_in(["nets/parts/block.py", "train.py", "__init__.py", "configs/small.yaml"])


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        pytest.param("import torch\nfrom torch import nn\n", True, id="a framework alone"),
        pytest.param("import torch, train\n", False, id="a module of the project"),
        pytest.param("from nets.parts.block import Block\n", False, id="a package of the project"),
        pytest.param("def f():\n    import block\n", False, id="a module that is imported late"),
        pytest.param("from . import sibling\n", False, id="a relative import"),
        pytest.param("from .. import *\n", False, id="all of a package"),
        pytest.param("import importlib\nm = importlib.import_module('a' + 'b')\n", False, id="a name that is computed"),
        pytest.param("import yaml\nc = yaml.safe_load(open('small.yaml'))\n", False, id="data of the project"),
        pytest.param("def f(:\n", False, id="no Python"),
    ],
)
def test_a_file_stands_alone_only_where_that_is_certain(text: str, alone: bool) -> None:
    assert stands_alone(Source("a.py", text), NAMES) is alone


@pytest.mark.parametrize(
    ("paths", "matters"),
    [
        (["README.md", "docs/picture.PNG"], False),
        ([], False),
        (["README.md", "net.py"], True),
        (["configs/small.yaml"], True),
        (["a-link-to-a-folder"], True),
        (["notes.ipynb"], True),
    ],
)
def test_texts_and_pictures_change_no_model(paths: list[str], matters: bool) -> None:
    assert may_matter(paths) is matters
