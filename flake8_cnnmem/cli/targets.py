"""What a TARGET names: files, folders, classes, factories and expressions, and their models."""

from __future__ import annotations

import os
from collections.abc import Iterator

from flake8_cnnmem.analysis import TargetError, analyse
from flake8_cnnmem.answers import FileReport, ModelReport
from flake8_cnnmem.cli.ending import Unusable, failure_of, place, warn
from flake8_cnnmem.files import DISK, Files
from flake8_cnnmem.report.progress import progress
from flake8_cnnmem.settings import Settings
from flake8_cnnmem.source import Source, SourceError, load
from flake8_cnnmem.unknown import STRICT, internal_error


def reports_of(text: str, settings: Settings, alone: bool = True) -> Iterator[ModelReport]:
    """The models that one TARGET names. Raises Unusable for one that names nothing readable.

    A file that is the only target is evaluated whatever it imports; among others (those that pre-commit hands over)
    only if it can hold a model.
    """
    path, colons, what = text.partition("::")
    if colons and not what.strip():
        raise Unusable(f"{text}: nothing stands after '::'; a class, a factory or an expression is expected")
    if os.path.isdir(path):
        if what:
            raise Unusable(f"{text}: {path} is a folder; a name is looked up in a file")
        yield from _folder(path, settings)
        return
    source = load_target(path)
    if alone or what or source.may_hold_models():
        yield from _file(source, settings, what or None)


def load_target(path: str) -> Source:
    """The file that a target names. Raises Unusable for one that cannot be read or does not parse."""
    try:
        source = load(path)
        source.tree  # noqa: B018  what does not parse is refused here
    except SourceError as error:
        raise Unusable(place(path, error.line, error.reason)) from None
    return source


def tell_cells(source: Source) -> None:
    """Tell which cells of a notebook are left out; magics and other languages go without saying."""
    for line in source.notebook.left_out if source.notebook is not None else ():
        warn(place(source.path, line, "this cell is not Python, and left out"))


def _file(source: Source, settings: Settings, what: str | None) -> Iterator[ModelReport]:
    tell_cells(source)
    try:
        answer = analysed(source, settings, what)
    except TargetError as error:
        raise Unusable(f"{source.path}::{what}: {error}") from None
    if answer.failure is not None:
        raise Unusable(failure_of(source.path, answer.failure))
    for each in answer.missing:
        warn(failure_of(source.path, each))
    for problem in answer.directives.problems:
        warn(place(source.path, problem.line, problem.message))
    yield from answer.reports


def _folder(path: str, settings: Settings) -> Iterator[ModelReport]:
    """The models of all Python files below. What cannot be read there is told, and passed over."""
    for name in progress(list(python_files(path)), str):
        try:
            source = load(name)
            source.tree  # noqa: B018  what does not parse is told
        except SourceError as error:
            warn(place(name, error.line, error.reason))
            continue
        if not source.may_hold_models():
            continue
        tell_cells(source)
        answer = analysed(source, settings)
        if answer.failure is not None:
            warn(failure_of(name, answer.failure))
        for each in answer.missing:
            warn(failure_of(name, each))
        for problem in answer.directives.problems:
            warn(place(name, problem.line, problem.message))
        yield from answer.reports


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
