"""What classes of Python's library have: read off Python's own files, never off a project's of the same name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flake8_cnnmem.evaluate.stdlib.host_members import has_member, is_pythons_own, members
from flake8_cnnmem.values import Class


@pytest.mark.parametrize(
    ("module", "name", "member", "there"),
    [
        ("argparse", "ArgumentParser", "_actions", True),
        ("argparse", "ArgumentParser", "add_argumnet", False),
        ("logging", "Logger", "handlers", True),
        ("argparse", "NoSuchClass", "anything", False),
        ("project", "ArgumentParser", "_actions", False),
    ],
)
def test_members_are_those_of_python(module: str, name: str, member: str, there: bool) -> None:
    assert has_member(Class(name, module=module), member) is there


def test_a_projects_file_of_that_name_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sched.py").write_text("raise SystemExit('it ran')\n")
    monkeypatch.delitem(sys.modules, "sched", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert not is_pythons_own("sched")
    assert members("sched", "scheduler") == frozenset()
    members.cache_clear()
