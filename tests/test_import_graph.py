"""What files ask of others is noted once for a text, and kept between runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flake8_cnnmem.cache.store import Store
from flake8_cnnmem.cli import asked_names
from flake8_cnnmem.cli.asked_names import Asked, asked_in
from flake8_cnnmem.cli.dependents import Dependents

TEXTS = {
    "net.py": "import torch\n",
    "package/__init__.py": "from .inner import Head\n",
    "package/inner.py": "from ..net import make as other\nimport package.deep.er, os\n",
    "train.py": "from package import (\n    inner,\n    Head)\nopen('configs/small.yaml')\n'see other.yaml for more'\n",
    "configs/small.yaml": "model: package.inner.Head\nbase: other.yaml\n",
    "configs/other.yaml": "module: net\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CNNMEM_CACHE_KEY", "a key of the tests")
    return tmp_path


def read(store: Store | None) -> tuple[list[list[str]], int]:
    """What depends on each file, and how many texts were looked through for it."""
    looked: list[str] = []

    def counted(text: str, module: bool) -> Asked:
        looked.append(text)
        return asked_in(text, module)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asked_names, "asked_in", counted)
        found = Dependents(sorted(map(str, TEXTS)), store)
    return [found.of([name]).modules for name in sorted(TEXTS)], len(looked)


def test_a_second_run_looks_through_nothing(project: Path) -> None:
    plain, looked = read(None)
    assert looked == len(TEXTS)
    assert ["package/inner.py", "train.py"] in [sorted(set(each) - {"package/__init__.py"}) for each in plain]
    store = Store.open(str(project / "cache"))
    assert store is not None
    assert read(store) == (plain, len(TEXTS))
    assert read(store) == (plain, 0)
    # One text that changes is looked through, and what it asks for counts.
    (project / "train.py").write_text("import net\n")
    changed, looked = read(store)
    assert looked == 1
    assert changed == read(None)[0]
    assert changed != plain


def test_it_holds_in_another_place(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(str(project / "cache"))
    plain, _ = read(store)
    copy = project / "copy"
    copy.mkdir()
    for name in ("net.py", "train.py", "package", "configs", "cache"):
        (shutil.copytree if (project / name).is_dir() else shutil.copy)(project / name, copy / name)
    monkeypatch.chdir(copy)
    assert read(Store.open(str(copy / "cache"))) == (plain, 0)


def test_a_damaged_cache_is_none(project: Path) -> None:
    store = Store.open(str(project / "cache"))
    plain, _ = read(store)
    for path in (project / "cache").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:40])
    assert read(Store.open(str(project / "cache"))) == (plain, len(TEXTS))


def test_a_notebook_is_asked_for_by_its_file_name_and_never_imported(project: Path) -> None:
    cell = '{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": "import torch"}'
    (project / "net.ipynb").write_text(f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}')
    (project / "all.py").write_text("get_ipython().run_line_magic('run', 'net.ipynb')\n")
    found = Dependents([*sorted(TEXTS), "all.py", "net.ipynb"])
    assert found.of(["net.ipynb"]).modules == ["all.py", "net.ipynb"]
    assert "package/inner.py" in found.of(["net.py"]).modules
