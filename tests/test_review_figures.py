"""What README and manual show of `diff`, `check`, `init` and folders is what they print, for fixtures/review."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Run = Callable[..., "CompletedProcess[str]"]

ROOT = Path(__file__).resolve().parent.parent
REVIEW = ROOT / "fixtures" / "review"
SHOWN = dict(
    re.findall(
        r"^```console\n\$ cnnmem ((?:diff main|check|init|report \.)(?: .*)?)\n((?:.*\n)*?)```$",
        "\n".join(
            path.read_text(encoding="utf-8")
            for path in (ROOT / "README.md", *(ROOT / "flake8_cnnmem" / "manual").glob("*.md"))
        ),
        re.MULTILINE,
    )
)


def test_all_are_shown() -> None:
    assert {command.split()[0] for command in SHOWN} == {"diff", "check"}


@pytest.mark.parametrize("command", SHOWN)
def test_the_readme_shows_what_is_printed(
    run_cnnmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    shutil.copytree(REVIEW / "main", tmp_path, dirs_exist_ok=True)
    for words in ("init -q -b main", "add --all", "-c user.name=a -c user.email=a@b commit -q -m one"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    shutil.copytree(REVIEW / "wider", tmp_path, dirs_exist_ok=True)
    if "ipynb" in command:
        shutil.copy(REVIEW / "net.ipynb", tmp_path)
    assert run_cnnmem(*command.split()).stdout == SHOWN[command]
