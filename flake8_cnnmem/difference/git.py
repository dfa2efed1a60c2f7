"""git, asked for objects alone, so that nothing which a repository configures is run.

A repository's own files can name commands for git to run: filters, hooks, file system monitors, external diffs, pagers,
aliases, helpers of transports. Only `rev-parse`, `ls-tree` and `cat-file` are asked here, which need none of them, and
what they could still reach (a partial clone fetches what it lacks) is switched off.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

OPTIONS = {
    # A folder of the work tree that is laid out as a bare repository is none.
    "safe.bareRepository": "explicit",
    "core.attributesFile": os.devnull,
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.alternateRefsCommand": "",
    "core.sshCommand": "false",
    "core.askPass": "",
    "credential.helper": "",
}
"""What a repository's configuration cannot say otherwise: these are said on the command line."""

ENVIRONMENT = {
    # No transport at all, whatever protocols are allowed elsewhere: no objects for a partial clone.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}

ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE",
             "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY")  # fmt: skip
"""What a hook that git runs is told of its repository. The folder says which one is meant."""


class GitError(Exception):
    """What git cannot do, in one plain sentence."""


def command(*arguments: str) -> list[str]:
    said = (word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}"))
    return ["git", "--no-pager", *said, *arguments]


def environment() -> Mapping[str, str]:
    return {**{name: value for name, value in os.environ.items() if name not in ELSEWHERE}, **ENVIRONMENT}


def ask(folder: str, *arguments: str) -> bytes:
    """What a git command prints. Raises GitError with the first line of what it complains."""
    try:
        done = subprocess.run(
            command(*arguments), cwd=folder, env=environment(), capture_output=True, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror}") from None
    if done.returncode:
        told = os.fsdecode(done.stderr).strip().splitlines()
        raise GitError(told[0].removeprefix("fatal: ") if told else f"git {arguments[0]} failed")
    return done.stdout


def start(folder: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A git command that answers line by line. Raises OSError where there is no git."""
    return subprocess.Popen(
        command(*arguments), cwd=folder, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
