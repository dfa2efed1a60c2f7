"""Notebooks: their code as one module, positions by cell and line, in every command that reads files."""

from __future__ import annotations

import ast
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.text import notebook
from flake8_cnnmem.text.lines import CellLine
from tests import pace

Run = Callable[..., "CompletedProcess[str]"]

NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3)
        self.fc = nn.Linear(64 * 30 * 30, 10)

    def forward(self, x):
        return self.fc(torch.flatten(self.conv(x), 1))
"""

STEP = """\
optimizer = torch.optim.Adam(model.parameters())
for x in loader:
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
"""

CELLS = [
    ("markdown", "# A net"),
    ("code", "%matplotlib inline\n!pip install torch\nimport torch\nfrom torch import nn\n"),
    ("code", NET),
    ("code", "%%bash\nfor f in *; do :; done\n"),
    ("code", "def unfinished(:\n"),
    ("code", "%%time\nmodel = Net()\n%time model(torch.zeros(4, 3, 32, 32))\n"),
    ("code", STEP),
]


def written(cells: list[tuple[str, str]], **metadata: Any) -> str:
    document = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": metadata or {"kernelspec": {"name": "python3", "language": "python"}},
        "cells": [
            {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True), "outputs": []}
            for kind, text in cells
        ],
    }
    return json.dumps(document)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.ipynb"
    path.write_text(written(CELLS))
    return path


@pytest.mark.usefixtures("net")
def test_a_report_gives_cell_and_line(run_cnnmem: Run) -> None:
    done = run_cnnmem("report", "net.ipynb")
    assert done.stderr == "cnnmem: net.ipynb:cell 5:1: this cell is not Python, and left out\n"
    head, facts = done.stdout.splitlines()[:2]
    assert head.startswith("Net  net.ipynb:cell 6:2  torch 2.13, a lower bound")
    assert "  the code raises NameError: name 'loader' is not defined (cell 7:2)" in done.stdout.splitlines()
    assert "input 3x32x32 (net.ipynb:cell 6:3)" in facts
    assert "adam (net.ipynb:cell 7:1)" in facts
    assert ["conv", "Conv2d", "cell", "3:4"] in [line.split()[:4] for line in done.stdout.splitlines()]


@pytest.mark.usefixtures("net")
def test_json_gives_them_as_numbers(run_cnnmem: Run) -> None:
    [model] = json.loads(run_cnnmem("report", "net.ipynb", "--format=json").stdout)["models"]
    assert (model["path"], model["cell"], model["line"]) == ("net.ipynb", 6, 2)
    assert [(row["name"], row["cell"], row["line"]) for row in model["layers"]] == [("conv", 3, 4), ("fc", 3, 5)]
    assert model["training"]["sources"]["optimizer"] == "net.ipynb:cell 7:1"


@pytest.mark.usefixtures("net")
def test_a_name_of_a_notebook_is_a_target(run_cnnmem: Run) -> None:
    [model] = json.loads(run_cnnmem("report", "net.ipynb::Net", "--format=json").stdout)["models"]
    assert (model["cell"], model["line"]) == (3, 1)


def test_check_finds_and_silences_by_cell(run_cnnmem: Run, net: Path) -> None:
    done = run_cnnmem("check", "--gpu-limit=8MiB")
    assert done.stdout.startswith("net.ipynb:cell 6:2:9: CNM101 Net: training needs ")
    net.write_text(written([(kind, text.replace("model = Net()", "model = Net()  # noqa")) for kind, text in CELLS]))
    assert run_cnnmem("check", "--gpu-limit=8MiB").stdout == ""
    net.write_text(written([*CELLS, ("code", "# cnnmem: batch=3\nx = 1\n")]))
    assert "net.ipynb:cell 8:1:1: CNM901 " in run_cnnmem("check").stdout
    [finding] = json.loads(run_cnnmem("check", "--format=json").stdout)["findings"]
    assert (finding["cell"], finding["line"]) == (8, 1)
    # Readers that know of no cells are led to the file, and told the rest in words.
    assert run_cnnmem("check", "--format=github").stdout.startswith(
        "::warning file=net.ipynb,line=1,col=1,title=CNM901::cell 8:1:1: "
    )


def test_diff_reads_both_sides(run_cnnmem: Run, net: Path, tmp_path: Path) -> None:
    for command in ("init -q", "add net.ipynb", "-c user.name=a -c user.email=a@b commit -q -m one"):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    net.write_text(written([("markdown", "more text"), *CELLS]))
    assert run_cnnmem("diff", "HEAD").stdout == "no model changed between HEAD and the work tree\n"
    net.write_text(written([(kind, text.replace("64", "32")) for kind, text in CELLS]))
    [entry] = json.loads(run_cnnmem("diff", "HEAD", "--format=json").stdout)["models"]
    assert (entry["before"]["cell"], entry["after"]["line"]) == (6, 2)
    assert "net.ipynb:cell 3:4" in run_cnnmem("diff", "HEAD").stdout


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        pytest.param("x = 1", "x = 1", id="plain code"),
        pytest.param("%load_ext tb\nx = 1", "pass\nx = 1", id="a line magic"),
        pytest.param("if x:\n    !ls -l\ny = 2", "if x:\n    pass\ny = 2", id="a shell line in a block"),
        pytest.param("!pip install \\\n    a \\\n  b\nx = 1", "pass\n\n\nx = 1", id="a shell line that goes on"),
        pytest.param("if x:\n    !ls \\\n -l", "if x:\n    pass\n", id="one that goes on to the end"),
        pytest.param("pip install torch\nx = 1", "pass\nx = 1", id="a magic without its sign"),
        pytest.param("Net?\n?Net\nx = 1", "pass\npass\nx = 1", id="help"),
        pytest.param("files = !ls *.py", "files = get_ipython()", id="a shell line's output"),
        pytest.param("a, b = %magic 3", "a, b = get_ipython()", id="a magic's value"),
        pytest.param("%time x = 1", "if 1: x = 1", id="a statement that is timed"),
        pytest.param("%time for x in y: pass", "pass", id="a block that is timed"),
        pytest.param("x = (a\n  % b)", "x = (a\n  % b)", id="a remainder over two lines"),
        pytest.param('x = """\n%magic\n!ls\n"""\n%real', 'x = """\n%magic\n!ls\n"""\npass', id="magics in a string"),
        pytest.param("\n%%html\n<b>", "\n\n", id="a cell in another language"),
        pytest.param("%%time\nx = 1", "\nx = 1", id="a cell that is timed"),
        pytest.param("x = (1\n!ls", None, id="no Python, whatever is taken out"),
        pytest.param("\0", None, id="what Python cannot even read"),
    ],
)
def test_what_is_no_python_is_taken_out_of_a_cell(cell: str, code: str | None) -> None:
    found = notebook.python_of(cell, notebook.Effort())
    assert (None if found is None else "\n".join(found)) == code


def test_a_cell_of_nothing_but_magics_is_given_up_in_bounded_time() -> None:
    begun = time.process_time()
    made = notebook.joined([(1, "%m\n" * 100_000), (2, "x = 1")])
    assert not pace.beyond(time.process_time() - begun, 20)
    assert [str(line) for line in made.left_out] == ["cell 1:1"]


@given(st.lists(st.sampled_from(["x = 1", "%m", "!ls", "if x:", "    y", "    %z", '"""', "(", ")", "f?", "\\", ""])))
def test_any_cell_becomes_python_of_as_many_lines_or_nothing(lines: list[str]) -> None:
    source = "\n".join(lines)
    made = notebook.joined([(1, source), (2, "z = 1")])
    ast.parse(made.text)
    assert made.text.count("\n") == len(made.lines) == source.count("\n") + 2
    assert made.lines[-1] == len(made.lines)
    assert str(made.lines[-1]) == "cell 2:1"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("{", "not a notebook: not JSON", id="no JSON"),
        pytest.param("[]", "not a notebook: no cells (nbformat 4 is understood)", id="a list"),
        pytest.param('{"cells": 3}', "not a notebook: no cells (nbformat 4 is understood)", id="no cells"),
        pytest.param("[" * 100_000, "not a notebook: not JSON", id="deep nesting"),
        pytest.param(
            written([], kernelspec={"language": "R"}), "a notebook in r, not in Python", id="another language"
        ),
    ],
)
def test_what_is_no_notebook_is_said_in_one_line(run_cnnmem: Run, net: Path, content: str, message: str) -> None:
    net.write_text(content)
    done = run_cnnmem("report", "net.ipynb")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"cnnmem: error: net.ipynb: {message}\n")


@pytest.mark.parametrize("source", ["import torch\nx = 1", ["import torch\n", "x = 1"], None, 3, [3, "import torch"]])
def test_cells_may_be_written_in_any_form(source: object) -> None:
    content = json.dumps({"cells": [{"cell_type": "code", "source": source}, "no cell", None]}).encode()
    assert notebook.read(content).text in ("import torch\nx = 1\n", "\n", "import torch\n")


def test_a_line_counts_as_a_number_and_prints_as_a_place() -> None:
    line = CellLine(14, 3, 2)
    assert (line, f"{line}", str(line), line + 1) == (14, "cell 3:2", "cell 3:2", 15)
    assert sorted([CellLine(20, 4, 1), line]) == [line, 20]
