"""What the pages of the manual say to paste works when it is pasted."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
MANUAL = ROOT / "flake8_cnnmem" / "manual"
PLACES = (ROOT / "README.md", *sorted(MANUAL.glob("*.md")))


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n((?:.*\n)*?)```$", path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which `cnnmem` is this checkout's."""
    command = tmp_path / "bin" / "cnnmem"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m flake8_cnnmem "$@"\n')
    command.chmod(0o755)
    return {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", ""))),
    }


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path.stem)
def test_nothing_to_paste_has_a_placeholder(path: Path) -> None:
    for language in ("yaml", "sh", "toml", "ini", "python"):
        for block in blocks(path, language):
            assert not re.search(r"\b(OWNER|URL|REVISION|COMMIT)\b", block)


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path.stem)
def test_yaml_is_yaml(path: Path) -> None:
    for block in blocks(path, "yaml"):
        assert yaml.safe_load(block)


def test_the_local_hook_is_handed_what_the_published_one_is() -> None:
    [published] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for path in (ROOT / "README.md", MANUAL / "hooks.md"):
        [config] = [block for block in map(yaml.safe_load, blocks(path, "yaml")) if "repos" in block]
        [hook] = config["repos"][0]["hooks"]
        for key in ("id", "name", "entry", "types_or", "require_serial"):
            assert hook[key] == published[key]


@pytest.mark.parametrize(
    ("name", "before", "after", "status"),
    [
        ("configs/default.yaml", "16", "64", 1),
        ("configs/default.yaml", "16", "8", 0),
        ("model.py", "width, 3)", "9 * width, 3), nn.Conv2d(9 * width, width, 1)", 1),
    ],
)
def test_the_plain_git_hook_stops_a_commit(
    name: str, before: str, after: str, status: int, environment: dict[str, str], tmp_path: Path
) -> None:
    project = tmp_path / "project"
    shutil.copytree(ROOT / "fixtures" / "hook", project)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", *identity, *words], cwd=project, env=environment, capture_output=True, text=True)

    git("init", "-q")
    git("add", "--all")
    assert git("commit", "-q", "-m", "one").returncode == 0
    [script] = blocks(MANUAL / "hooks.md", "sh")
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.write_text(script)
    hook.chmod(0o755)
    path = project / name
    path.write_text(path.read_text().replace(before, after))
    git("add", name)
    done = git("commit", "-m", "two")
    assert (done.returncode != 0) == bool(status)
    assert ("train.py:10:7: CNM101" in done.stdout + done.stderr) == bool(status)


def pytest_in(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_memory.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_pytest_example_passes_and_fails(environment: dict[str, str], tmp_path: Path) -> None:
    """As the README and the page have it, in a project of its own."""
    [single, _] = blocks(MANUAL / "api.md", "python")
    assert single in blocks(ROOT / "README.md", "python")
    shutil.copytree(ROOT / "fixtures" / "hook", tmp_path, dirs_exist_ok=True)
    (tmp_path / "test_memory.py").write_text(single)

    assert pytest_in(tmp_path, environment).returncode == 0
    (tmp_path / "test_memory.py").write_text(single.replace("GiB(11)", "GiB(0.01)"))
    done = pytest_in(tmp_path, environment)
    assert (done.returncode, "AssertionError" in done.stdout or "assert " in done.stdout) == (1, True)


NET = """\


class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8 * 30 * 30, 10))

    def forward(self, x):
        return self.body(x)
"""


def test_the_example_of_several_models_passes(environment: dict[str, str], tmp_path: Path) -> None:
    nets = [NET.format(name=name) for name in ("Generator", "Discriminator")]
    (tmp_path / "models.py").write_text("from torch import nn\n" + "".join(nets))
    (tmp_path / "test_memory.py").write_text(blocks(MANUAL / "api.md", "python")[1])
    done = pytest_in(tmp_path, environment)
    assert (done.returncode, "2 passed" in done.stdout) == (0, True), done.stdout
