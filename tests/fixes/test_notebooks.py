"""`cnnmem fix` on notebooks: the cell's line changes, and nothing else of the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flake8_cnnmem.cli import main
from flake8_cnnmem.fixes import Document, Edit, applied, document_with

MODEL = """\
%matplotlib inline
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 5)  # größe
        self.fc = nn.Linear(16 * 5 * 5, 10)

    def forward(self, x):
        return self.fc(nn.functional.max_pool2d(self.conv(x), 2).flatten(1))"""
RUN = "%time Net()(torch.zeros(1, 1, 28, 28))"
TRAIN = """\
from torch.utils.data import DataLoader, TensorDataset
net = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(215296, 9))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
data = TensorDataset(torch.zeros(512, 3, 62, 62), torch.zeros(512, dtype=torch.long))
for image, label in DataLoader(data, batch_size=BATCH):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(image), label).backward()
    optimizer.step()"""

Split = Callable[[str], Any]


def in_lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def in_pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def notebook(*cells: str, split: Split = in_lines) -> dict[str, Any]:
    """A notebook of these code cells, with things beside them that look like sources and are none."""
    text = {"cell_type": "markdown", "metadata": {"source": ["16 * 5 * 5"]}, "source": ["# 16 * 5 * 5"]}
    code = [
        {"cell_type": "code", "metadata": {}, "outputs": [{"text": '"source": ["16 * 5 * 5"'}], "source": split(cell)}
        for cell in cells
    ]
    kernel = {"kernelspec": {"language": "python"}}
    return {"metadata": kernel, "cells": [text, *code], "nbformat": 4, "nbformat_minor": 5}


LAYOUTS: dict[str, tuple[Split, dict[str, Any]]] = {
    "as Jupyter writes it": (in_lines, {"indent": 1, "ensure_ascii": False}),
    "on one line, letters escaped": (in_lines, {"separators": (",", ":")}),
    "a cell as one string": (str, {"indent": 4, "ensure_ascii": False}),
    "a cell in pieces of lines": (in_pieces, {"indent": 2}),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CNNMEM_STRICT", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_only_the_size_changes(folder: Path, layout: str, newline: str) -> None:
    split, form = LAYOUTS[layout]
    before = json.dumps(notebook(MODEL, RUN, split=split), **form).replace("\n", newline).encode()
    after = json.dumps(notebook(MODEL.replace("16 * 5 * 5", "16 * 12 * 12"), RUN, split=split), **form)
    if split is in_pieces:
        # The piece in which the size begins takes the new one: the pieces are no longer of one length.
        after = before.decode().replace(' * 5",', ' * 12 * 12",').replace('" * 5, 10', '", 10')
    path = folder / "net.ipynb"
    path.write_bytes(before)
    assert main(["fix", "--write"]) == 0
    written = path.read_bytes()
    document = document_with("net.ipynb", written.decode())
    assert document is not None
    assert document.text.replace("16 * 12 * 12", "16 * 5 * 5") == document_with("net.ipynb", before.decode()).text  # type: ignore[union-attr]
    if split is not in_pieces:
        assert written == after.replace("\n", newline).encode()
    assert main(["fix", "--write"]) == 0
    assert path.read_bytes() == written


def test_a_diff_of_the_file_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "net.ipynb").write_text(json.dumps(notebook(MODEL, RUN), indent=1, ensure_ascii=False))
    before = (folder / "net.ipynb").read_bytes()
    assert main(["fix"]) == 1
    changed = [line for line in capsys.readouterr().out.splitlines() if line[:2] in ("- ", "+ ")]
    assert changed == [
        '-    "        self.fc = nn.Linear(16 * 5 * 5, 10)\\n",',
        '+    "        self.fc = nn.Linear(16 * 12 * 12, 10)\\n",',
    ]
    assert (folder / "net.ipynb").read_bytes() == before


def test_a_training_of_a_notebook_is_made_to_fit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = "import torch\nfrom torch import nn\nBATCH = 256"
    (folder / "train.ipynb").write_text(json.dumps(notebook(first, TRAIN), indent=1))
    assert main(["fix", "--to-fit", "300MiB", "--write"]) == 0
    cells = json.loads((folder / "train.ipynb").read_text())["cells"]
    assert "".join(cells[2]["source"]) == TRAIN
    *imports, batch = cells[1]["source"]
    assert imports == ["import torch\n", "from torch import nn\n"]
    assert 0 < int(batch.removeprefix("BATCH = ")) < 256
    assert main(["check", "--gpu-limit", "300MiB"]) == 0


@pytest.mark.parametrize(
    ("cells", "edit"),
    [
        pytest.param(("a = 1", "b = 2"), Edit(1, 5, 2, 2, "0"), id="over two cells"),
        pytest.param(("a = 1",), Edit(2, 1, 2, 1, "b = 2"), id="behind the last line"),
        pytest.param(("!ls -l", "a = 1"), Edit(1, 1, 1, 5, "stop"), id="where a magic stands"),
        pytest.param(("a = 1\rb = 2",), Edit(2, 1, 2, 2, "c"), id="other line ends"),
    ],
)
def test_an_edit_that_no_cell_takes(cells: tuple[str, ...], edit: Edit) -> None:
    document = document_with("net.ipynb", json.dumps(notebook(*cells, split=str)))
    assert document is not None
    assert document.edited([edit]) is None


def test_a_file_that_is_no_notebook_any_more() -> None:
    assert document_with("net.ipynb", "{}") is None
    assert document_with("net.py", "{}") == Document("net.py", "{}")


WORDS = st.text(st.sampled_from('ab1é"\\{}[],:\t😀'), max_size=5)
CELLS = st.lists(WORDS.map("x = {!r}".format), min_size=1, max_size=4).map("\n".join)


@settings(deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=4), st.data())
def test_an_edit_of_the_module_is_one_of_its_cell(cells: list[str], data: st.DataObject) -> None:
    split, form = data.draw(st.sampled_from(list(LAYOUTS.values())))
    document = document_with("net.ipynb", json.dumps(notebook(*cells, split=split), **form))
    assert document is not None
    lines = document.text.split("\n")[:-1]
    line = data.draw(st.integers(1, len(lines)))
    first = data.draw(st.integers(1, len(lines[line - 1]) + 1))
    last = data.draw(st.integers(first, len(lines[line - 1]) + 1))
    edit = Edit(line, first, line, last, data.draw(st.sampled_from(["", "22", "é\n  ", '"'])))
    edited = document.edited([edit])
    expected = applied(document.text, [edit])
    if edited is None:
        # Only where the cell is no longer Python is it not the module's text with the edit.
        with pytest.raises(SyntaxError):
            compile(expected, "", "exec")
    else:
        assert edited.text == expected
        assert json.loads(edited.raw)["cells"][0] == json.loads(document.raw)["cells"][0]
