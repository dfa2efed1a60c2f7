"""`cnnmem sources`: from pip's answer to what an analysis reads. pip is a program of the test's own here."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from pathlib import Path

import pytest

from flake8_cnnmem import package_sources
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.cli import main
from flake8_cnnmem.package_sources import index
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

PIP = """
import json, os, shutil, sys
with open({log!r}, "a") as log:
    log.write(json.dumps([os.getcwd(), *sys.argv[1:]]) + "\\n")
asked = sys.argv[-1].partition("==")
found = [name for name in sorted(os.listdir({shelf!r})) if name.startswith(f"{{asked[0]}}-{{asked[2]}}")]
if not found:
    sys.exit({error!r})
shutil.copy(os.path.join({shelf!r}, found[-1]), sys.argv[sys.argv.index("--dest") + 1])
"""


class Index:
    """A shelf of wheels, and a `pip` that takes from it and notes what it is asked."""

    def __init__(self, folder: Path, error: str = "ERROR: No matching distribution found for x") -> None:
        self.shelf = folder / "shelf"
        self.log = folder / "log"
        self.pip = folder / "pip_of_a_test.py"
        self.shelf.mkdir()
        self.pip.write_text(PIP.format(log=str(self.log), shelf=str(self.shelf), error=error), encoding="utf-8")

    def add(self, name: str, version: str, width: int) -> str:
        """Put a wheel on the shelf; gives its SHA-256 sum."""
        path = self.shelf / f"{name}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{name}/__init__.py", f"WIDTH = {width}\n")
        return hashlib.sha256(path.read_bytes()).hexdigest()

    def asked(self) -> list[list[str]]:
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    made = Index(tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(index, "pip", lambda: (sys.executable, str(made.pip)))
    return made


NET = "from torch import nn\nfrom netsizes import WIDTH\nmodel = nn.Sequential(nn.Linear(1, WIDTH))\n"


def parameters() -> int | None:
    """Those of a layer as wide as the package says: none are known without it."""
    Path("net.py").write_text(NET, encoding="utf-8")
    (model,) = analyse(load("net.py"), Settings()).reports
    return model.parameters


def test_added_sources_are_read_and_removed_ones_are_not(shelf: Index, capsys: pytest.CaptureFixture[str]) -> None:
    shelf.add("netsizes", "1.0", 3)
    assert parameters() == 0
    assert main(["sources", "add", "netsizes"]) == 0
    assert "netsizes 1.0: 1 files" in capsys.readouterr().out
    assert parameters() == 6
    assert main(["sources", "list"]) == 0
    assert "netsizes 1.0  1 files, <0.01 MiB, no hash in a lock file" in capsys.readouterr().out
    assert main(["sources", "remove", "NetSizes"]) == 0
    assert parameters() == 0
    assert main(["sources", "remove", "netsizes"]) == 2


def test_pip_downloads_wheels_and_no_more(shelf: Index) -> None:
    shelf.add("netsizes", "1.0", 3)
    assert main(["sources", "add", "--python-version", "3.9", "netsizes==1.0"]) == 0
    ((folder, *asked),) = shelf.asked()
    assert asked[:5] == ["download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    assert asked[-4:] == ["--python-version", "3.9", "--", "netsizes==1.0"]
    # A file `pip.py` of the project would be found in the working directory.
    assert Path(folder) != Path.cwd()
    assert asked[asked.index("--dest") + 1] == folder


def test_a_newer_version_takes_the_place_of_the_older(shelf: Index) -> None:
    shelf.add("netsizes", "1.0", 3)
    shelf.add("netsizes", "2.0", 5)
    assert main(["sources", "add", "netsizes==1.0"]) == 0
    assert main(["sources", "add", "netsizes==2.0"]) == 0
    assert parameters() == 10
    assert [each.version for each in package_sources.records(package_sources.project_folder(None))] == ["2.0"]


def test_what_the_project_has_comes_before(shelf: Index) -> None:
    shelf.add("netsizes", "1.0", 3)
    assert main(["sources", "add", "netsizes"]) == 0
    Path("netsizes.py").write_text("WIDTH = 7\n", encoding="utf-8")
    assert parameters() == 14


def test_the_users_own_folder(shelf: Index, tmp_path: Path) -> None:
    shelf.add("netsizes", "1.0", 3)
    assert main(["sources", "add", "--user", "netsizes"]) == 0
    assert not Path(".cnnmem_cache").exists()
    assert (tmp_path / "home" / "cnnmem" / "sources" / "netsizes" / "code" / "netsizes" / "__init__.py").is_file()
    assert parameters() == 6


def test_the_pinned_version_is_added(shelf: Index) -> None:
    shelf.add("netsizes", "1.0", 3)
    shelf.add("netsizes", "2.0", 5)
    Path("requirements.txt").write_text("netsizes==1.0\n", encoding="utf-8")
    assert main(["sources", "add", "netsizes"]) == 0
    assert parameters() == 6


def test_sync_takes_what_is_asked_for_and_not_modelled(shelf: Index, capsys: pytest.CaptureFixture[str]) -> None:
    shelf.add("netsizes", "1.0", 3)
    Path("requirements.txt").write_text("torch==2.1\nnumpy\nnetsizes==1.0\n", encoding="utf-8")
    assert main(["sources", "sync"]) == 0
    assert [asked[-1] for asked in shelf.asked()] == ["netsizes==1.0"]
    assert main(["sources", "sync"]) == 0
    assert "netsizes 1.0 is there" in capsys.readouterr().out
    assert len(shelf.asked()) == 1


def test_sync_without_a_file_that_asks(shelf: Index, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sources", "sync"]) == 2
    assert "no file of the working directory says" in capsys.readouterr().err


def locked(digest: str) -> None:
    text = f'[[package]]\nname = "netsizes"\nversion = "1.0"\nwheels = [{{url = "u", hash = "sha256:{digest}"}}]\n'
    Path("uv.lock").write_text(text, encoding="utf-8")


def test_a_hash_of_the_lock_file_is_held(shelf: Index, capsys: pytest.CaptureFixture[str]) -> None:
    locked(shelf.add("netsizes", "1.0", 3))
    assert main(["sources", "add", "netsizes"]) == 0
    assert "hash as in uv.lock" in capsys.readouterr().out
    assert parameters() == 6


def test_another_hash_than_the_lock_files_is_refused(shelf: Index, capsys: pytest.CaptureFixture[str]) -> None:
    shelf.add("netsizes", "1.0", 3)
    locked("0" * 64)
    assert main(["sources", "add", "netsizes"]) == 2
    assert "has not a hash of uv.lock" in capsys.readouterr().err
    assert parameters() == 0


@pytest.mark.parametrize("asked", ["./net.whl", "https://example.org/net.whl", "git+https://a/b", "--pre", "-r", "a b"])
def test_what_is_no_package_of_an_index(asked: str, shelf: Index, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sources", "add", "--", asked]) == 2
    assert "no package of an index" in capsys.readouterr().err
    assert not shelf.log.exists()


ERRORS = {
    "ERROR: No matching distribution found for gone": "the index has no wheel of it for this Python",
    "WARNING: Retrying after NewConnectionError('x')\nERROR: No matching distribution found": "there is no network",
    "WARNING: Temporary failure in name resolution": "there is no network",
    "ERROR: disk full": "pip says: disk full",
}


@pytest.mark.parametrize(("told", "message"), ERRORS.items(), ids=ERRORS.values())
def test_what_pip_tells(
    told: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = Index(tmp_path, told)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(index, "pip", lambda: (sys.executable, str(made.pip)))
    assert main(["sources", "add", "gone"]) == 2
    assert message in capsys.readouterr().err


def test_without_pip(shelf: Index, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(index, "pip", lambda: None)
    assert main(["sources", "add", "netsizes"]) == 2
    assert "pip is not installed" in capsys.readouterr().err


def test_a_folder_that_is_not_ours_is_left_alone(shelf: Index, capsys: pytest.CaptureFixture[str]) -> None:
    shelf.add("netsizes", "1.0", 3)
    mine = Path(".cnnmem_cache/sources/netsizes")
    mine.mkdir(parents=True)
    (mine / "work.txt").write_text("mine", encoding="utf-8")
    assert main(["sources", "add", "netsizes"]) == 2
    assert main(["sources", "remove", "netsizes"]) == 2
    assert "no folder of cnnmem's" in capsys.readouterr().err
    assert (mine / "work.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("at", [".cnnmem_cache", ".cnnmem_cache/sources", ".cnnmem_cache/sources/netsizes"])
def test_a_link_is_not_followed(at: str, shelf: Index, tmp_path: Path) -> None:
    shelf.add("netsizes", "1.0", 3)
    shelf.add("other", "1.0", 3)
    if at.endswith("netsizes"):
        assert main(["sources", "add", "other"]) == 0
    elif at.endswith("sources"):
        Path(".cnnmem_cache").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").write_text("kept", encoding="utf-8")
    Path(at).symlink_to(elsewhere)
    assert main(["sources", "add", "netsizes"]) == 2
    assert main(["sources", "remove", "netsizes"]) == 2
    assert [each.name for each in elsewhere.iterdir()] == ["kept.txt"]
