"""A repository in which everything that git can be told to run is told: `cnnmem diff` runs none of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from flake8_cnnmem.difference.git import GitError
from flake8_cnnmem.difference.ignored import is_ignored, rules_of
from flake8_cnnmem.difference.repository import Repository
from flake8_cnnmem.difference.revisions import Sides
from flake8_cnnmem.difference.worktree import working_files

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="what is planted are shell scripts")

Diff = Callable[..., "subprocess.CompletedProcess[str]"]

MODEL = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, {units}), nn.Linear({units}, 4))
net(torch.zeros(1, 8))
"""

CONFIGURED = (
    *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command"),
    *("diff.external", "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass"),
    *("core.gitProxy", "core.alternateRefsCommand", "credential.helper", "gpg.program", "gpg.ssh.program"),
    *("merge.evil.driver", "interactive.diffFilter", "sequence.editor", "uploadpack.packObjectsHook"),
    *("remote.origin.uploadpack", "remote.origin.receivepack", "trailer.evil.command", "trailer.evil.cmd"),
    *("pager.diff", "pager.cat-file", "pager.ls-tree", "pager.rev-parse", "alias.cat-file", "alias.ls-tree"),
    *("alias.rev-parse", "diff.tool", "difftool.evil.cmd", "man.viewer", "browser.evil.cmd", "gc.recentObjectsHook"),
    *("submodule.vendored.update", "core.hooksPath.none", "maintenance.evil.command", "web.browser"),
    *("hook.evil.command", "instaweb.httpd", "sendemail.sendmailCmd", "guitool.evil.cmd", "receive.procReceiveRefs"),
)
"""Settings whose value git, or one of its commands, runs."""

HOOKS = (
    *("applypatch-msg", "commit-msg", "fsmonitor-watchman", "p4-changelist", "post-applypatch", "post-checkout"),
    *("post-commit", "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update"),
    *("pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "pre-push"),
    *("pre-rebase", "pre-receive", "proc-receive", "push-to-checkout", "query-watchman", "reference-transaction"),
    *("sendemail-validate", "update"),
)


def git(folder: Path, *arguments: str) -> str:
    options = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", *options, *arguments], cwd=folder, check=True, capture_output=True, text=True, timeout=60
    ).stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    folder = tmp_path / "project"
    (folder / "nets").mkdir(parents=True)
    (folder / "net.py").write_text(MODEL.format(units=16))
    (folder / "nets" / "other.py").write_text(MODEL.format(units=5))
    (folder / ".gitattributes").write_text("* filter=evil diff=evil merge=evil text eol=crlf\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "tag", "one")
    (folder / "net.py").write_text(MODEL.format(units=32))
    git(folder, "commit", "-q", "-a", "-m", "two")
    (folder / "net.py").write_text(MODEL.format(units=64))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def diff(project: Path, run_cnnmem: Diff, monkeypatch: pytest.MonkeyPatch) -> Diff:
    """`cnnmem diff`, in a folder of the project."""

    def run(*arguments: str, folder: str = ".") -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(project / folder)
        return run_cnnmem("diff", *arguments)

    return run


def plant(repository: Path, mark: Path) -> None:
    """In a repository's own folder (`.git`), all that runs something: each leaves the file `mark`."""
    script = mark.parent / "script.sh"
    script.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
    script.chmod(0o755)
    for setting in CONFIGURED:
        value = f"!{script}" if setting.startswith(("alias.", "submodule.")) else str(script)
        git(repository, "config", "--file", str(repository / "config"), "--add", setting, value)
    hooks = repository / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in HOOKS:
        (hooks / hook).write_text(script.read_text())
        (hooks / hook).chmod(0o755)
    # More of the same by a file that the configuration includes, and a clone that fetches what it lacks from a command.
    (repository / "more").write_text(
        f'[filter "evil"]\n\tclean = {script}\n\trequired = true\n[extensions]\n\tpartialClone = origin\n'
        f'[remote "origin"]\n\turl = ext::{script} %S\n\tpromisor = true\n\tpartialclonefilter = blob:none\n'
        '\tvcs = evil\n[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n'
    )
    config = (repository / "config").read_text()
    (repository / "config").write_text(
        config.replace("repositoryformatversion = 0", "repositoryformatversion = 1")
        + '[include]\n\tpath = more\n[includeIf "gitdir:/"]\n\tpath = more\n[extensions]\n\tpartialClone = origin\n'
    )


@pytest.mark.parametrize("revisions", [("one",), ("one", "HEAD")])
def test_nothing_that_git_can_be_told_to_run_is_run(
    project: Path,
    tmp_path: Path,
    diff: Diff,
    revisions: tuple[str, ...],
) -> None:
    mark = tmp_path / "ran"
    plant(project / ".git", mark)
    done = diff(*revisions)
    assert not mark.exists()
    assert (done.returncode, "net" in done.stdout) == (0, True), done.stderr
    # What is planted does run where git is asked otherwise.
    subprocess.run(["git", "status"], cwd=project, capture_output=True, check=False, timeout=60)
    assert mark.exists()


def test_a_clone_that_lacks_objects_fetches_none(project: Path, tmp_path: Path, diff: Diff) -> None:
    mark = tmp_path / "ran"
    name = git(project, "rev-parse", "one:net.py").strip()
    (project / ".git" / "objects" / name[:2] / name[2:]).unlink()
    plant(project / ".git", mark)
    done = diff("one")
    assert not mark.exists()
    assert "Traceback" not in done.stderr
    assert (
        "net.py: not compared: cannot be read: git does not have the content that this file has in that revision"
        in done.stderr
    )
    assert done.returncode == 0
    # git itself would.
    subprocess.run(["git", "cat-file", "-e", name], cwd=project, capture_output=True, check=False, timeout=60)
    assert mark.exists()


@pytest.mark.parametrize("what", ["one", "one^{tree}", "one:nets"])
def test_a_missing_object_is_one_line(project: Path, diff: Diff, what: str) -> None:
    name = git(project, "rev-parse", what).strip()
    (project / ".git" / "objects" / name[:2] / name[2:]).unlink()
    done = diff("one")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr


def test_a_folder_laid_out_as_a_repository_is_none(project: Path, tmp_path: Path, diff: Diff) -> None:
    mark = tmp_path / "ran"
    bare = project / "nets"
    git(bare, "init", "-q", "--bare", ".")
    plant(bare, mark)
    done = diff("one", folder="nets")
    assert not mark.exists()
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is not in a git repository" in done.stderr
    assert diff("one").returncode == 0
    assert not mark.exists()


def test_a_work_tree_elsewhere_is_not_read(project: Path, tmp_path: Path) -> None:
    git(project, "config", "core.worktree", str(tmp_path))
    with pytest.raises(GitError, match="names another folder as work tree"):
        Repository(".")


@pytest.mark.parametrize(
    ("patterns", "ignored"),
    [
        ("built/\n*.tmp.py\n", {"built/a.py", "x/built/b.py", "c.tmp.py"}),
        ("/built\n", {"built/a.py"}),
        ("built\n!built/a.py\n", {"built/a.py", "x/built/b.py"}),
        ("*.py\n!/k?ep.py\n", {"built/a.py", "x/built/b.py", "c.tmp.py", "x/y/z/d.py"}),
        ("x/**/d.py\n", {"x/y/z/d.py"}),
        ("**/z\n", {"x/y/z/d.py"}),
        ("x/**\n", {"x/built/b.py", "x/y/z/d.py"}),
        ("[a-c].py\n[!k]eep.py\n# keep.py\n\\#\n", {"built/a.py", "x/built/b.py"}),
        ("y\n", {"x/y/z/d.py"}),
        ("x/y/\n", {"x/y/z/d.py"}),
        ("built/*\n!built/a.py\n", set()),
    ],
)
def test_what_git_ignores_is_ignored(project: Path, patterns: str, ignored: set[str]) -> None:
    every = {"built/a.py", "x/built/b.py", "c.tmp.py", "keep.py", "x/y/z/d.py"}
    for path in every:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("")
    (project / ".gitignore").write_text(patterns)
    repository = Repository(".")
    found = set(working_files(repository.root, repository.blobs("HEAD")))
    assert every - found == ignored
    told = git(project, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    assert found == set(told)


@pytest.mark.parametrize("pattern", ["*" * 3000 + "b", "**/" * 3000 + "b", "*a" * 3000 + "b", "**/*a*" * 3000])
def test_a_pattern_takes_no_longer_than_it_is(pattern: str) -> None:
    assert not is_ignored(rules_of(pattern, ""), "/".join(["a" * 100] * 20), False)


@pytest.mark.parametrize("endings", ["\n", "\r\n"])
def test_a_file_moved_and_edited_is_renamed_where_git_says_so(project: Path, endings: str) -> None:
    lines = [f"x{number} = {number}" for number in range(40)]
    text = MODEL.format(units=5) + "\n".join(lines)
    (project / "nets" / "other.py").write_text(text)
    (project / "near.py").write_text(text.replace("= 1", "= -1") * 1)
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "three")
    (project / "nets" / "other.py").unlink()
    (project / "near.py").unlink()
    (project / "moved.py").write_bytes(text.replace("x39", "last").replace("\n", endings).encode())
    (project / "unlike.py").write_text(text[: len(text) // 5])
    sides = Sides.of(Repository("."), "HEAD", None)
    sides.close()
    pairs = {pair.before: pair.after for pair in sides.pairs if pair.before != pair.after}
    assert pairs == {"nets/other.py": "moved.py", "near.py": None, None: "unlike.py"}
