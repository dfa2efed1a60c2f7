"""The newcomer's page is true: its paths and names are there, and its recipes work in a copy of the package."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```python\n# (\S+?)(?:, after `([^`]+)`)?\n(.*?)```", re.S)
PROSE = re.sub(r"```.*?```", "", PAGE, flags=re.S)
PLACES = ("flake8_cnnmem/", "tests/", "fixtures/", ".ci/run", "pyproject.toml", "README.md", "CHANGELOG.md")
PATHS = sorted({word for word in re.findall(r"`([^`\s]+)`", PROSE) if word.startswith(PLACES)})
NAMED = re.findall(r"`(flake8_cnnmem/[\w/]+\.py)` \(`(\w+)`\)", PROSE)
NAMED += [(path, name) for name, path in re.findall(r"`(\w+)`,? (?:in|of)\s+`(flake8_cnnmem/[\w/]+\.py)`", PROSE)]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_name_is_in_its_file(path: str, name: str) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    targets = [node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)] for node in tree.body]
    defined |= {target.id for each in targets for target in each if isinstance(target, ast.Name)}
    assert name in defined


def test_the_page_names_what_it_leads_through() -> None:
    assert len(PATHS) > 40
    assert len(NAMED) > 8


CHECKED = """
import json
from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.frameworks.keras import saved_tensors

PROGRAM = '''
import torch
import wavelets
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mixed, self.head = nn.Hadamard(wavelets.LENGTH), nn.Linear(wavelets.LENGTH, 2)

    def forward(self, x):
        return self.head(torch.special.entr(self.mixed(x)))


net = Net()
y = net(torch.rand(4, 8))
'''
(report,) = analyse(Source("net.py", PROGRAM), Settings()).reports
print(json.dumps({
    "status": report.status,
    "causes": [cause.reason for cause in report.causes],
    "parameters": report.parameters,
    "kinds": [call.op.kind for call in report.model.calls],
    "codes": [check.code for check in checks.every()],
    "keras": saved_tensors.RULES.knows("hadamard"),
}))
"""


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What a program gets of a package to which every recipe has been applied."""
    copy = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "flake8_cnnmem", copy / "flake8_cnnmem", ignore=shutil.ignore_patterns("__pycache__"))
    for path, after, code in BLOCK.findall(PAGE):
        apply(copy / path, after, code)
    names = copy / "flake8_cnnmem" / "frameworks" / "torch" / "names.py"
    names.write_text(names.read_text().replace(" Hardshrink ", " Hardshrink Hadamard ", 1))
    run = subprocess.run(
        [sys.executable, "-c", CHECKED],
        env={**os.environ, "PYTHONPATH": str(copy), "CNNMEM_STRICT": "1"},
        capture_output=True,
        text=True,
        check=False,
        cwd=copy,
    )
    assert not run.stderr
    found: dict[str, object] = json.loads(run.stdout)
    return found


def apply(file: Path, after: str, code: str) -> None:
    """A block of the page: into a line, at the end of a file, or as a new one."""
    if not file.exists():
        assert not after
        file.write_text(code)
        return
    text = file.read_text()
    if after:
        assert text.count(f"\n{after}\n") == 1
        file.write_text(text.replace(f"\n{after}\n", f"\n{after}\n{code}"))
    else:
        file.write_text(f"{text}\n\n{code}")


def test_every_recipe_has_its_blocks() -> None:
    assert len(BLOCK.findall(PAGE)) == PAGE.count("```python\n") == 8


@pytest.mark.parametrize(
    ("heading", "files"),
    [("A layer with a new op", 3), ("A function", 2), ("A memory rule", 1), ("A check", 1)],
)
def test_a_recipe_takes_as_many_files_as_the_table_says(heading: str, files: int) -> None:
    recipe = PAGE.partition(f"\n### {heading}\n")[2].partition("\n### ")[0]
    assert len({path for path, _, _ in BLOCK.findall(recipe)}) == files
    named = re.findall(rf"^\| {heading.lower()} \| (\d) file", PAGE, re.M)
    assert named == [str(files + 5 if heading == "A check" else files)]


@pytest.mark.parametrize(
    ("recipe", "what", "expected"),
    [
        ("a layer", "parameters", 8 + 16 + 2),
        ("a layer and a function", "kinds", ["hadamard", "entr", "linear"]),
        ("rows of both", "status", "exact"),
        ("rows of both", "causes", []),
        ("a memory rule", "keras", True),
    ],
)
def test_a_recipe_works(tried: dict[str, object], recipe: str, what: str, expected: object) -> None:
    assert tried[what] == expected


def test_a_check_is_found(tried: dict[str, object]) -> None:
    codes = tried["codes"]
    assert isinstance(codes, list)
    assert "CNM204" in codes
