"""The cache on disk: it answers as the analysis would, knows what an answer depended on, and trusts nobody else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flake8_cnnmem import analysis, cli, findings
from flake8_cnnmem.cache import FOLDER, store
from flake8_cnnmem.cache.store import Store
from flake8_cnnmem.cli import targets
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.settings.options import Settings, parse_limit
from flake8_cnnmem.source import load
from flake8_cnnmem.unknown import STRICT

SCRIPT = """\
import torch
from torch import nn
from parts import Head

net = nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), Head())
optimizer = torch.optim.Adam(net.parameters())
for step in range(10):
    loss = net(torch.randn(64, 3, 224, 224).cuda()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HEAD = """\
from torch import nn

class Head(nn.Linear):
    def __init__(self):
        super().__init__(64, 10)
"""
SMALL = Settings(gpu_limit=parse_limit("64MiB"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a script and what it imports, in which the cache is on."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    (folder / "parts.py").write_text(HEAD)
    (folder / "other.py").write_text("x = 1\n")
    monkeypatch.delenv(STRICT, raising=False)
    monkeypatch.setenv("CNNMEM_CACHE_KEY", "a key of the tests")
    begin(folder, monkeypatch)
    return folder


def begin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a new process in this folder would."""
    monkeypatch.chdir(folder)
    findings.opened.cache_clear()


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are evaluated."""
    found: list[str] = []
    original: Callable[..., analysis.FileReport] = analysis.analyse

    def counted(source: object, *args: object, **kwargs: object) -> analysis.FileReport:
        found.append(source.path)  # type: ignore[attr-defined]
        return original(source, *args, **kwargs)

    monkeypatch.setattr(analysis, "analyse", counted)
    return found


def check(settings: Settings = SMALL) -> tuple[Finding, ...]:
    return findings.findings_of(load("train.py"), settings, ["CNM101", "CNM201"]).findings


def again(monkeypatch: pytest.MonkeyPatch) -> tuple[Finding, ...]:
    begin(Path.cwd(), monkeypatch)
    return check()


def test_what_has_not_changed_is_not_evaluated_again(
    project: Path, monkeypatch: pytest.MonkeyPatch, evaluated: list[str]
) -> None:
    first = check()
    (project / "other.py").write_text("x = 2\n")
    os.utime(project / "parts.py", (1, 1))
    assert again(monkeypatch) == first
    assert [each.code for each in first] == ["CNM101"]
    assert evaluated == ["train.py"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda folder: (folder / "train.py").write_text(SCRIPT.replace("224", "32")), id="text"),
        pytest.param(lambda folder: (folder / "parts.py").write_text(HEAD.replace("64, 10", "65, 10")), id="an import"),
        pytest.param(lambda folder: (folder / "parts.py").unlink(), id="an import that goes"),
        pytest.param(
            lambda folder: ((folder / "parts").mkdir(), (folder / "parts" / "__init__.py").write_text(HEAD)),
            id="a package that takes an import's place",
        ),
    ],
)  # fmt: skip
def test_what_has_changed_is_evaluated_again(
    project: Path, monkeypatch: pytest.MonkeyPatch, evaluated: list[str], change: Callable[[Path], object]
) -> None:
    check()
    change(project)
    found = again(monkeypatch)
    assert evaluated == ["train.py"] * 2
    monkeypatch.setenv(STRICT, "1")
    assert found == check()


def test_options_are_part_of_the_question(project: Path, evaluated: list[str]) -> None:
    assert check()
    assert not check(Settings(gpu_limit=parse_limit("64GiB")))
    assert len(evaluated) == 2


def test_a_copy_of_a_project_has_its_answers(
    project: Path, monkeypatch: pytest.MonkeyPatch, evaluated: list[str], tmp_path: Path
) -> None:
    first = check()
    shutil.copytree(project, tmp_path / "copy")
    begin(tmp_path / "copy", monkeypatch)
    assert check() == first
    assert len(evaluated) == 1


def only_entry(project: Path) -> Path:
    [entry] = (project / FOLDER).glob("*.json")
    return entry


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda entry: entry.write_bytes(entry.read_bytes()[:-40]), id="cut off"),
        pytest.param(lambda entry: entry.write_bytes(b""), id="empty"),
        pytest.param(lambda entry: entry.write_bytes(b"[" * 100_000), id="no JSON"),
        pytest.param(lambda entry: entry.write_bytes(entry.read_bytes().replace(b"CNM101", b"CNM999")), id="changed"),
        pytest.param(lambda entry: (entry.unlink(), entry.mkdir()), id="a folder in its place"),
    ],
)
def test_a_damaged_entry_is_none(
    project: Path, monkeypatch: pytest.MonkeyPatch, evaluated: list[str], damage: Callable[[Path], object]
) -> None:
    first = check()
    damage(only_entry(project))
    assert again(monkeypatch) == first
    assert len(evaluated) == 2


def test_what_somebody_else_has_signed_is_not_believed(
    project: Path, monkeypatch: pytest.MonkeyPatch, evaluated: list[str]
) -> None:
    first = check()
    entry = only_entry(project)
    forged = Store(str(project / FOLDER), b"another key")
    forged.put(entry.stem, {"asked": {}, "answer": {"findings": [], "failure": None, "models": []}})
    assert again(monkeypatch) == first
    assert len(evaluated) == 2


def test_an_entry_is_not_taken_for_another(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(Settings(gpu_limit=parse_limit("64GiB")))
    silent = only_entry(project)
    begin(project, monkeypatch)
    assert check()
    [loud] = {*(project / FOLDER).glob("*.json")} - {silent}
    shutil.copy(silent, loud)
    assert again(monkeypatch)


def test_the_users_key_is_made_once_and_is_the_users_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CNNMEM_CACHE_KEY")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    key = store.own_key()
    assert key is not None
    assert key == store.own_key()
    assert (tmp_path / "home" / "cnnmem" / "key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda folder, other: folder.symlink_to(other), id="a link to elsewhere"),
        pytest.param(lambda folder, other: folder.mkdir(), id="a folder of somebody else's"),
        pytest.param(lambda folder, other: folder.write_text("text"), id="a file"),
    ],
)
def test_a_folder_that_is_not_ours_is_left_alone(
    project: Path, tmp_path: Path, spoil: Callable[[Path, Path], object]
) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / store.TAG).write_text(store.TAG_TEXT)
    spoil(project / FOLDER, other)
    assert check()
    assert os.listdir(other) == [store.TAG]
    assert not (project / FOLDER).is_dir() or not list((project / FOLDER).glob("*.json"))


def test_nothing_is_kept_where_nobody_wants_it(project: Path) -> None:
    assert check(Settings(gpu_limit=SMALL.gpu_limit, cache_dir=""))
    assert not (project / FOLDER).exists()


def test_git_passes_the_folder_over(project: Path) -> None:
    check()
    assert (project / FOLDER / ".gitignore").read_text() == "*\n"


def test_the_oldest_entries_go_first(tmp_path: Path) -> None:
    kept = Store(str(tmp_path / "cache"), b"key")
    for at in range(10):
        kept.put(f"{at:08x}", {"answer": "x" * 1000})
        os.utime(kept.path(f"{at:08x}"), (at, at))
    kept.shrink(5000)
    assert [at for at in range(10) if kept.get(f"{at:08x}") is not None] == [6, 7, 8, 9]


WATCH = """\
import os, sys
from pathlib import Path
from flake8_cnnmem.cache.recording import Recorder, Verifier
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.reporting import FORMATS
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

root, looked = os.getcwd(), set()

def hook(event, args):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(args[0], str):
        path = os.path.abspath(args[0])
        if path.startswith(root + os.sep) and "__pycache__" not in path:
            looked.add(path)

sources = [load(str(path)) for path in sorted(Path(".").rglob("*.py"))]
sys.addaudithook(hook)
for source in sources:
    recorder = Recorder(Verifier())
    looked.clear()
    FORMATS["json"](analyse(source, Settings(), files=recorder).reports, Settings())
    missed = looked - {os.path.abspath(path) for _, path in recorder.notes} - {os.path.abspath(source.path)}
    assert not missed, (source.path, missed)
print(len(sources), "files")
"""


def test_whatever_an_evaluation_reads_is_asked_of_its_files(tmp_path: Path) -> None:
    fixtures = Path(__file__).resolve().parent.parent / "fixtures"
    shutil.copytree(fixtures / "scripts", tmp_path / "scripts")
    done = subprocess.run([sys.executable, "-c", WATCH], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) == len(list((fixtures / "scripts").rglob("*.py")))


REPORTS = {
    "a table": ["train.py"],
    "JSON": ["train.py", "--format", "json"],
    "a table of modules": ["train.py", "--depth", "1"],
    "an expression": ["parts.py::Head()", "--format", "markdown"],
    "a folder": ["."],
    "what is told beside it": ["missing.py", "--format", "json"],
}


@pytest.mark.parametrize("arguments", REPORTS.values(), ids=REPORTS)
def test_a_report_is_kept_to_the_letter(
    arguments: list[str], project: Path, evaluated: list[str], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (project / "missing.py").write_text(f"{SCRIPT}from lightning_something import Trainer\n# cnnmem: batch=3\n")
    # Whoever has imported the function calls it by its name there.
    monkeypatch.setattr(targets, "analyse", lambda *given: analysis.analyse(*given))

    def printed(*more: str) -> tuple[int, str, str]:
        status = cli.main(["report", *arguments, "--gpu-limit", "64MiB", *more])
        return status, *capsys.readouterr()

    without = printed("--no-cache", "-j", "1")
    assert not (project / FOLDER).exists()
    assert printed("-j", "1") == without
    assert evaluated
    evaluated.clear()
    begin(project, monkeypatch)
    assert printed("-j", "1") == without
    assert evaluated == []
    assert printed("-j", "4") == without

    (project / "parts.py").write_text(HEAD.replace("64, 10", "64, 11"))
    begin(project, monkeypatch)
    evaluated.clear()
    changed = printed("-j", "1")
    assert evaluated
    assert changed == printed("--no-cache", "-j", "1")


def test_forms_and_limits_are_kept_apart(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = set()
    for more in ([], ["--format", "json"], ["--gpu-limit", "T4"], ["--outputs"], ["--depth", "1"], ["--batch-size=3"]):
        cli.main(["report", "train.py", *more])
        cold = capsys.readouterr().out
        cli.main(["report", "train.py", *more])
        assert capsys.readouterr().out == cold
        texts.add(cold)
    # The code states the batch.
    assert len(texts) == 5


def test_the_command_tells_what_is_kept_and_clears_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "train.py", "--gpu-limit", "64MiB"]) == 1
    capsys.readouterr()
    assert cli.main(["cache", "info"]) == 0
    # The findings, and what three files ask of others.
    assert "4 entries" in capsys.readouterr().out
    assert cli.main(["cache", "clear"]) == 0
    assert "0 entries, 0 MiB" in capsys.readouterr().out


def test_a_check_may_do_without(project: Path) -> None:
    assert cli.main(["check", "train.py", "--gpu-limit", "64MiB", "--no-cache"]) == 1
    assert not (project / FOLDER).exists()
