"""The hook `cnnmem-check` in a real run of pre-commit: a change is checked where it counts, whichever file has it.

What pre-commit does is pre-commit's own: which of the staged files it hands over, by `.pre-commit-hooks.yaml`. Only the
environment is this one, so that nothing is installed: `language: system`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pre_commit", reason="pre-commit is not installed: it is one of the extra `test`")

ROOT = Path(__file__).resolve().parent.parent
DEEPER = "nn.Conv2d(3, width, 3), nn.ReLU(), nn.Conv2d(width, 4 * width, 3), nn.Conv2d(4 * width, width, 3)"

CONFIG = """\
repos:
  - repo: {hooks}
    rev: {revision}
    hooks:
      - id: cnnmem-check
        language: system
        entry: {python} -m flake8_cnnmem check
"""


class Project:
    """A repository whose training fits, with the hook."""

    def __init__(self, folder: Path) -> None:
        self.environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PRE_COMMIT_HOME": str(folder / "home"),
            "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
        }
        hooks = folder / "hooks"
        hooks.mkdir()
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
        self.commit(hooks)
        revision = self.run("git", "rev-parse", "HEAD", folder=hooks).stdout.strip()
        self.folder = folder / "project"
        shutil.copytree(ROOT / "fixtures" / "hook", self.folder)
        (self.folder / ".pre-commit-config.yaml").write_text(
            CONFIG.format(hooks=hooks, revision=revision, python=sys.executable)
        )
        self.commit(self.folder)

    def run(self, *command: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        where = folder or self.folder
        return subprocess.run(command, cwd=where, env=self.environment, capture_output=True, text=True, check=False)

    def commit(self, folder: Path) -> None:
        for words in ("init -q -b main", "add --all", "-c user.name=a -c user.email=a@b commit -q -m one"):
            assert self.run("git", *words.split(), folder=folder).returncode == 0

    def staged(self, name: str, before: str, after: str) -> tuple[int, str]:
        """The hook's exit status and output with one change staged, and nothing else."""
        path = self.folder / name
        path.write_text(path.read_text().replace(before, after))
        self.run("git", "add", name)
        done = self.run(sys.executable, "-m", "pre_commit", "run", "--color=never")
        return done.returncode, done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("name", "before", "after", "batch"),
    [
        pytest.param("model.py", "nn.Conv2d(3, width, 3)", DEEPER, 16, id="only the model"),
        pytest.param("configs/default.yaml", "16", "64", 64, id="only the configuration"),
        pytest.param("train.py", 'CONFIG["batch_size"]', "64", 64, id="the training itself"),
    ],
)
def test_what_makes_the_training_too_large_is_caught(
    project: Project, name: str, before: str, after: str, batch: int
) -> None:
    status, out = project.staged(name, before, after)
    assert status == 1
    [finding] = [line for line in out.splitlines() if "CNM101" in line]
    assert finding.startswith("train.py:10:7: CNM101 Net: training needs ")
    assert f"at batch {batch} (train.py:13), over the 100 MiB limit" in finding


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [("model.py", "width, 3)", "width, 5)"), ("configs/default.yaml", "16", "8"), ("train.py", "lr=0.1", "lr=0.2")],
)
def test_what_fits_passes(project: Project, name: str, before: str, after: str) -> None:
    status, out = project.staged(name, before, after)
    assert (status, "cnnmem check" in out, "Passed" in out) == (0, True, True)


def test_what_is_neither_code_nor_settings_is_not_looked_at(project: Project) -> None:
    (project.folder / "NOTES.md").write_text("words\n")
    status, out = project.staged("NOTES.md", "words", "more")
    assert (status, "Skipped" in out) == (0, True)
