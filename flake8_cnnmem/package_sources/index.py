"""Wheels from the package index that pip is configured for, fetched by pip itself.

`pip download --no-deps --only-binary :all:` neither builds nor runs anything of a package: source distributions, whose
metadata must be built, are refused by it. pip runs in an empty folder of its own, so that no `pip.py` of a project
takes its place; its configuration is the user's and the system's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence

from flake8_cnnmem.package_sources.wheels import BadWheel, Wheel
from flake8_cnnmem.settings.pins import requirement

SECONDS = 600
"""How long one package may take."""

UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|MaxRetryError|"
    r"Failed to establish a new connection|Temporary failure in name resolution|Network is unreachable|"
    r"Connection (refused|reset|aborted|to \S+ timed out)"
)


class NotFetched(Exception):
    """pip gives no wheel; the message is one plain sentence. `network` where the index could not be reached."""

    def __init__(self, message: str, network: bool = False) -> None:
        super().__init__(message)
        self.network = network


def checked(asked: str) -> str:
    """A requirement by name and version. Raises NotFetched for anything else that pip would take: a path, an address,
    an option."""
    found = requirement(asked)
    if found is None or found[2]:
        raise NotFetched(f"{asked!r} is no package of an index: give a name, and a version like timm==1.0.11")
    return f"{found[0]}{found[1]}"


def pip() -> Sequence[str] | None:
    """The command for pip: of the running interpreter, else the one on the path; None without."""
    import importlib.util

    if importlib.util.find_spec("pip") is not None:
        return (sys.executable, "-m", "pip")
    found = shutil.which("pip") or shutil.which("pip3")
    return (os.path.abspath(found),) if found is not None else None


def fetch(asked: str, folder: str, python: str | None = None) -> Wheel:
    """Download one package's wheel into an empty folder. `python` is the version that it is for (`3.10`), the running
    one unless given. Raises NotFetched and BadWheel."""
    command = pip()
    if command is None:
        raise NotFetched("pip is not installed, neither beside cnnmem nor on the path")
    arguments = [
        *command, "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check",
        "--progress-bar", "off", "--retries", "1", "--timeout", "20", "--dest", folder,
        *(("--python-version", python) if python is not None else ()),
        "--", checked(asked),
    ]  # fmt: skip
    try:
        done = subprocess.run(
            arguments, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NotFetched(f"{asked}: pip has taken more than {SECONDS} seconds") from None
    except OSError as error:
        raise NotFetched(f"pip cannot be started: {error.strerror or error}") from None
    names = [entry.name for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False)]
    if done.returncode == 0 and len(names) == 1:
        return Wheel.of(os.path.join(folder, names[0]))
    if done.returncode == 0:
        raise BadWheel(f"{asked}: pip has given {len(names)} files in the place of one wheel")
    raise failure(asked, done.stderr or done.stdout)


def failure(asked: str, told: str) -> NotFetched:
    """What pip's messages come to."""
    if UNREACHABLE.search(told):
        return NotFetched(f"{asked}: there is no network, or the package index cannot be reached", network=True)
    errors = [line.partition("ERROR:")[2].strip() for line in told.splitlines() if line.startswith("ERROR:")]
    if any("No matching distribution" in line for line in errors):
        return NotFetched(f"{asked}: the index has no wheel of it for this Python (sources to build are refused)")
    return NotFetched(f"{asked}: pip says: {errors[-1] if errors else 'nothing'}")
