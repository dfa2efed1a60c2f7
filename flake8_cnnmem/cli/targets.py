"""What a TARGET names: files, folders, classes, factories and expressions, and their models."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from flake8_cnnmem.analysis import TargetError, analyse
from flake8_cnnmem.cli import stdin
from flake8_cnnmem.cli.ending import Unusable, failure_of, place, warn
from flake8_cnnmem.cli.usage import near_path
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.results import FileReport, ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, SourceError, load
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.unknown import STRICT, internal_error


@dataclass(frozen=True, slots=True)
class FileTarget:
    """One file, and what is asked of it; `what` is empty for every model of it.

    A file that was found in a folder (`found`) is told and passed over where it cannot be read; one that is the only
    target (`alone`) is evaluated whatever it imports, and others only if they can hold a model.
    """

    path: str
    what: str = ""
    found: bool = False
    alone: bool = False
    stdin: bool = False
    """Whether its text comes from standard input; `path` is what it is called."""

    def load(self) -> Source:
        return stdin.source(self.path) if self.stdin else load(self.path)

    def __str__(self) -> str:
        return f"{self.path}::{self.what}" if self.what else self.path


def targets_of(texts: Sequence[str], stdin_name: str = stdin.NAME) -> list[FileTarget]:
    """The files that TARGETs name, those of folders in order. Raises Unusable for what names nothing readable."""
    found: list[FileTarget] = []
    for text in texts:
        path, colons, what = text.partition("::")
        if colons and not path.strip():
            raise Unusable(f"{text}: nothing stands before '::'; a file is expected")
        if colons and not what.strip():
            raise Unusable(f"{text}: nothing stands after '::'; a class, a factory or an expression is expected")
        if path == stdin.DASH:
            if len(texts) > 1:
                raise Unusable("- is code on standard input, and stands alone")
            found.append(FileTarget(stdin_name, what, alone=True, stdin=True))
        elif not os.path.isdir(path):
            found.append(FileTarget(os.path.normpath(path) if path else path, what, alone=len(texts) == 1))
        elif what:
            raise Unusable(f"{text}: {path} is a folder; a name is looked up in a file")
        else:
            found += [FileTarget(os.path.normpath(name), found=True) for name in python_files(path)]
    return found


def reports_of(target: FileTarget, settings: Settings, files: Files = DISK) -> Iterator[ModelReport]:
    """The models of one target; what it imports is read from `files`. Raises Unusable for one that names nothing
    readable."""
    path, what = target.path, target.what
    try:
        source = target.load()
        source.tree  # noqa: B018  what does not parse is refused here
    except SourceError as error:
        if not target.found:
            meant = "" if os.path.lexists(path) or target.stdin else near_path(path)
            raise Unusable(place(path, error.line, f"{error.reason}{meant}")) from None
        warn(place(path, error.line, error.reason))
        return
    if not (target.alone or what or source.may_hold_models()):
        return
    tell_cells(source)
    try:
        answer = analysed(source, settings, what or None, files)
    except TargetError as error:
        raise Unusable(f"{source.path}::{what}: {error}") from None
    if answer.failure is not None:
        if not target.found:
            raise Unusable(failure_of(source.path, answer.failure))
        warn(failure_of(path, answer.failure))
    for each in answer.missing:
        warn(failure_of(source.path, each))
    for problem in answer.directives.problems:
        warn(place(source.path, problem.line, problem.message))
    yield from answer.reports


def tell_cells(source: Source) -> None:
    """Tell which cells of a notebook are left out; magics and other languages go without saying."""
    for line in source.notebook.left_out if source.notebook is not None else ():
        warn(place(source.path, line, "this cell is not Python, and left out"))


def analysed(source: Source, settings: Settings, what: str | None = None, files: Files = DISK) -> FileReport:
    """`analyse`, an error of ours becoming the report's failure. Raises TargetError as it does."""
    try:
        return analyse(source, settings, what, files)
    except TargetError:
        raise
    except Exception as error:
        if os.environ.get(STRICT):
            raise
        return FileReport(source.path, failure=internal_error(error))


def python_files(folder: str) -> Iterator[str]:
    """Every Python file and notebook below a folder, by name; hidden folders and virtual environments left out."""
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith((".", "__pycache__")) and not os.path.exists(os.path.join(here, name, "pyvenv.cfg"))
        )
        yield from (os.path.join(here, name) for name in sorted(files) if name.endswith((".py", ".ipynb")))
