"""The tree of a commit in the place of the work tree: what is there, what is the disk's, links, submodules, sizes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from flake8_cnnmem.difference.git import GitError
from flake8_cnnmem.difference.repository import CHUNK, Repository, Tree
from flake8_cnnmem.difference.revisions import Pair, Sides
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.source import Source, load
from flake8_cnnmem.text.files import DISK, Files


def git(folder: Path, *arguments: str) -> None:
    settings = ("user.name=a", "user.email=a@b", "protocol.file.allow=always")
    options = [word for setting in settings for word in ("-c", setting)]
    subprocess.run(["git", *options, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "project"
    (folder / "nets" / "parts").mkdir(parents=True)
    (folder / "nets" / "net.py").write_text("import torch\n")
    (folder / "nets" / "parts" / "block.py").write_text("x = 1\n")
    (folder / "linked").symlink_to("nets/parts")
    (folder / "nets" / "alias.py").symlink_to("../nets/net.py")
    (folder / "round").symlink_to("round")
    (folder / "out").symlink_to("../elsewhere")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", "one")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tree(project: Path) -> Iterator[Tree]:
    repository = Repository(".")
    made = repository.tree(repository.commit("HEAD"))
    yield made
    made.close()


def test_files_folders_and_links_are_those_of_the_commit(project: Path, tree: Tree) -> None:
    for name in ("nets/net.py", "nets/alias.py", "linked/block.py"):
        assert tree.is_file(name)
        assert tree.is_file(str(project / name))
    assert not any(map(tree.is_file, ("nets", "nets/other.py", "round/x.py", "out/x.py", "linked")))
    assert all(map(tree.is_folder, ("", "nets", "linked", ".")))
    assert not any(map(tree.is_folder, ("nets/net.py", "round", "nothing")))
    assert tree.entries("nets") == [("alias.py", False), ("net.py", False), ("parts", True)]
    assert tree.content("nets/alias.py", 100) == b"import torch\n"
    assert tree.content("linked/block.py", 3) == b"x ="
    assert tree.real("linked/block.py") == str(project / "nets" / "parts" / "block.py")
    tree.close()


def test_the_work_tree_may_be_another(project: Path, tree: Tree) -> None:
    (project / "nets" / "net.py").write_text("changed = 1\n")
    (project / "nets" / "new.py").write_text("")
    (project / "nets" / "parts" / "block.py").unlink()
    assert tree.content("nets/net.py", 100) == b"import torch\n"
    assert not tree.is_file("nets/new.py")
    assert load("nets/parts/block.py", tree).text == "x = 1\n"
    assert load("nets/net.py").text == "changed = 1\n"
    assert load("nets/net.py", tree).text == "import torch\n"
    with pytest.raises(FileNotFoundError):
        tree.version("nets/new.py")
    tree.close()


@pytest.mark.parametrize("folder", [".venv", "envs/gpu"])
def test_packages_of_a_virtual_environment_are_the_disks(project: Path, tree: Tree, folder: str) -> None:
    package = project / folder / "lib" / "python3.12" / "site-packages" / "package.py"
    package.parent.mkdir(parents=True)
    package.write_text("y = 2\n")
    (project / folder.split("/")[0] / "pyvenv.cfg").write_text("")
    assert tree.is_file(str(package))
    assert load(str(package), tree).text == "y = 2\n"
    assert ("package.py", False) in tree.entries(str(package.parent))


def test_what_is_outside_is_the_disks(tmp_path: Path, tree: Tree) -> None:
    (tmp_path / "outside.py").write_text("z = 3\n")
    assert tree.is_file("../outside.py")
    assert tree.version("../outside.py") == DISK.version("../outside.py")


def test_the_rest_of_a_large_file_is_left(project: Path) -> None:
    (project / "large.py").write_bytes(b"#" * (2 * CHUNK + 5))
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "two")
    repository = Repository(str(project))
    tree = repository.tree(repository.commit("HEAD"))
    assert tree.content("large.py", 7) == b"#" * 7
    assert tree.size("large.py") == 2 * CHUNK + 5
    assert tree.content("nets/net.py", 100) == b"import torch\n"
    tree.close()


def test_submodules_are_read_at_their_own_commit(tmp_path: Path, project: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q")
    (library / "part.py").write_text("old = 1\n")
    git(library, "add", "--all")
    git(library, "commit", "-q", "-m", "one")
    git(project, "submodule", "add", "-q", str(library), "vendored")
    git(project, "commit", "-q", "-m", "two")
    (project / "vendored" / "part.py").write_text("new = 1\n")
    repository = Repository(".")
    tree = repository.tree(repository.commit("HEAD"))
    assert tree.content("vendored/part.py", 100) == b"old = 1\n"
    before = repository.tree(repository.commit("HEAD~1"))
    assert not before.is_file("vendored/part.py")
    tree.close()
    before.close()


def test_from_a_folder_below_paths_are_meant_from_there(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(project, "mv", "nets/net.py", "nets/renamed.py")
    monkeypatch.chdir(project / "nets")
    sides = Sides.of(Repository("."), "HEAD", None)
    assert Pair("net.py", "renamed.py") in sides.pairs
    assert sides.base.is_file("net.py")
    assert sides.base.is_file("../linked/block.py")
    sides.close()


def test_a_shallow_clone_is_told_what_it_lacks(tmp_path: Path, project: Path) -> None:
    git(project, "commit", "-q", "--allow-empty", "-m", "two")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{project}", "shallow")
    with pytest.raises(GitError, match=r"is no revision of this repository; this clone is shallow, fetch the whole"):
        Repository(str(tmp_path / "shallow")).commit("HEAD~1")


def test_only_what_a_change_can_reach_is_evaluated_twice(project: Path) -> None:
    (project / "alone.py").write_text("import torch\n")
    (project / "user.py").write_text("import torch, nets.parts.block\n")
    (project / "relative.py").write_text("import torch\nfrom .nets import net\n")
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "two")
    (project / "nets" / "parts" / "block.py").write_text("x = 2\n")
    evaluated: list[tuple[str, str]] = []

    def evaluate(source: Source, files: Files) -> FileReport:
        evaluated.append((source.path, "work tree" if files is DISK else "HEAD"))
        if source.path == "user.py":
            load(str(project / "nets" / "parts" / "block.py"), files)
        return FileReport(source.path)

    sides = Sides.of(Repository("."), "HEAD", None)
    for pair in sides.pairs:
        sides.compare(pair, evaluate)
    sides.close()
    both = {path for path, side in evaluated if side == "work tree"}
    assert both == {"user.py"}
    # The others import nothing of the project: they are not even looked at.
    assert {path for path, side in evaluated if side == "HEAD"} == {"user.py", "relative.py"}


def test_a_change_of_texts_alone_is_none_of_models(project: Path) -> None:
    (project / "README.md").write_text("words\n")
    sides = Sides.of(Repository("."), "HEAD", None)
    assert sides.pairs == ()
    sides.close()
