"""What an analysis asks of the machine, noted with the answers; and whether all of them are the same today.

An answer is noted as a short text: whether there is such a file, a hash of what is in it, a hash of a folder's listing.
Paths inside the working directory are noted relative to it, so that the notes hold for a copy of the project elsewhere.
Times of files are no part of it: a file's content is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from flake8_cnnmem.text.files import DISK, Files, Watched

MOST_ASKED = 50_000
"""Questions of one analysis; what asks for more is not kept."""

LARGEST = 64 * 2**20
"""Bytes of a file that are hashed: more than anything that is read."""


def answered(question: Callable[[], str]) -> str:
    """The answer, or the kind of error that stands for one."""
    try:
        return question()
    except (OSError, ValueError) as error:
        return f"!{type(error).__name__}"


def short(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()[:32]


def is_file(files: Files, path: str) -> str:
    return "1" if files.is_file(path) else "0"


def is_folder(files: Files, path: str) -> str:
    return "1" if files.is_folder(path) else "0"


def entries(files: Files, folder: str) -> str:
    return short(repr(list(files.entries(folder))).encode("utf-8", "surrogatepass"))


def subfolders(files: Files, folder: str) -> str:
    return short(repr(list(files.subfolders(folder))).encode("utf-8", "surrogatepass"))


def content(files: Files, path: str) -> str:
    return short(files.content(path, LARGEST))


def real(files: Files, path: str) -> str:
    return noted(files.real(path))


def variable(files: Files, name: str) -> str:
    value = files.variable(name)
    return "" if value is None else short(value.encode("utf-8", "surrogatepass"))


QUESTIONS: dict[str, Callable[[Files, str], str]] = {
    "file": is_file, "folder": is_folder, "entries": entries, "subfolders": subfolders, "content": content,
    "real": real, "variable": variable,
}  # fmt: skip


def noted(path: str) -> str:
    """A path as it is noted: below the working directory relative to it, with `./` in front."""
    root = os.path.join(os.getcwd(), "")
    return os.path.join(".", path[len(root) :]) if path.startswith(root) else path


class Recorder(Watched):
    """Files whose every answer is noted."""

    def __init__(self, verifier: Verifier) -> None:
        super().__init__(verifier.files)
        self.verifier = verifier
        self.notes: dict[tuple[str, str], str] = {}

    @property
    def complete(self) -> bool:
        return len(self.notes) < MOST_ASKED

    def note(self, question: str, path: str) -> None:
        key = question, path
        if key not in self.notes and self.complete:
            self.notes[key] = self.verifier.answer(question, path)

    def asked(self) -> dict[str, dict[str, str]]:
        """By question and path: the answer."""
        found: dict[str, dict[str, str]] = {}
        for (question, path), answer in self.notes.items():
            found.setdefault(question, {})[noted(path)] = answer
        return found


class Verifier:
    """Asks again, each question once: files are taken to stay as they are while a command runs."""

    def __init__(self, files: Files = DISK) -> None:
        self.files = files
        self.answers: dict[tuple[str, str], str] = {}

    def holds(self, asked: Mapping[str, Mapping[str, str]]) -> bool:
        """Whether every question has the answer that was noted."""
        return all(
            question in QUESTIONS and self.answer(question, path) == answer
            for question, answers in asked.items()
            for path, answer in answers.items()
        )

    def answer(self, question: str, path: str) -> str:
        known = self.answers.get((question, path))
        if known is None:
            known = answered(lambda: QUESTIONS[question](self.files, path))
            self.answers[question, path] = known
        return known
