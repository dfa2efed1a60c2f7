"""Who answers: one thread that works on the newest text of each open file, and on nothing that is out of date.

What is asked first is answered last if a newer text comes: the work on the older one is stopped. Files that import the
changed one come after it, and make way for any change. Sources that were read and parsed stay in memory, as in a
process of flake8.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import field
from typing import TYPE_CHECKING

from flake8_cnnmem.analysis import TargetError
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.hints import FileHints, hints_of
from flake8_cnnmem.hints.carried import Carrying
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.lsp.edited import edited
from flake8_cnnmem.lsp.project import BadSettings, Project
from flake8_cnnmem.running.gc_tuning import clear_away
from flake8_cnnmem.running.stopping import Stopped, stopped_by
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import SourceError, shared
from flake8_cnnmem.text.files import Files, Unsaved, Watched
from flake8_cnnmem.unknown import internal_error

if TYPE_CHECKING:
    from flake8_cnnmem.fixes import Fix

PAUSE = 0.03
"""Seconds without a change before the work begins: people type a letter every 50 to 300 ms, paste and undo at once."""

LATER = 0.3
"""The same for files that import the changed one."""

SOON = 0.08
"""Seconds of work that nobody notices behind a keystroke. Where a file with several models takes longer, the one that
is edited comes first, and all of them when there is a pause."""

STACK = 256 * 2**20
"""Bytes for the thread's stack: interpreted recursion is our own. What is not touched takes no memory."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What there is to show of a text. `problem` is why there is less than there could be, for the editor's log."""

    version: int
    text: str
    hints: FileHints
    findings: tuple[Finding, ...] = ()
    problem: str = ""


@dataclass(slots=True, eq=False)
class Job:
    """A text that waits for an answer, or has somebody at work on it."""

    path: str
    text: str
    version: int
    due: float
    behind: bool = False
    """Whether it is only looked at again because another file has changed."""
    stale: bool = False
    question: tuple[int, Future[list[Fix]]] | None = None
    """A line that fixes are asked for, in the place of an answer."""

    def is_stale(self) -> bool:
        return self.stale


class Reading(Watched):
    """Files that remember which ones were read."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self.read: set[str] = set()

    def note(self, question: str, path: str) -> None:
        if question in ("content", "file"):
            self.read.add(path)

    def version(self, path: str) -> Hashable:
        self.read.add(path)
        return self.files.version(path)


@dataclass(slots=True)
class Opened:
    """An open file."""

    text: str
    version: int
    good: Answer | None = None
    """The last answer to a text that was sound."""
    slow: bool = False
    """Whether it took longer than anybody waits for, and each of its models can be asked for alone."""
    read: frozenset[str] = field(default_factory=frozenset)
    """What was read for it, or looked for, by absolute path."""


class Analyst:
    """Answers are handed to `deliver`, with the path they are for, in the analyst's own thread."""

    def __init__(self, project: Project, deliver: Callable[[str, Answer, bool], None]) -> None:
        self.project = project
        self.deliver = deliver
        self.opened: dict[str, Opened] = {}
        self.others: dict[str, str] = {}
        """Texts of open files that are no Python (configurations that a script reads), by path."""
        self.waiting: list[Job] = []
        self.current: Job | None = None
        self.settings = Settings()
        self.ended = False
        self.changed = threading.Condition()
        before = threading.stack_size(STACK)
        try:
            self.thread = threading.Thread(target=self.work, name="analyst", daemon=True)
            self.thread.start()
        finally:
            threading.stack_size(before)

    # Asked by the server, in its own thread

    def change(self, path: str, text: str, version: int, analysed: bool = True) -> None:
        """An open file has this text now. Paths are absolute, or names of what has no file."""
        with self.changed:
            if analysed:
                known = self.opened.setdefault(path, Opened(text, version))
                known.text, known.version = text, version
                self.put(Job(path, text, version, time.monotonic() + PAUSE))
            else:
                self.others[path] = text
            self.put_dependents(path)
            self.changed.notify()

    def close(self, path: str) -> None:
        """A file is as it is on the disk from now on."""
        with self.changed:
            self.opened.pop(path, None)
            self.others.pop(path, None)
            self.drop(path)
            self.put_dependents(path)
            self.changed.notify()

    def again(self) -> None:
        """Files on the disk, or settings, are others: look at all open files anew."""
        with self.changed:
            for path in self.opened:
                self.put_behind(path)
            self.changed.notify()

    def fixes(self, path: str, line: int) -> Future[list[Fix]]:
        """What mends the findings of a line."""
        answer: Future[list[Fix]] = Future()
        with self.changed:
            opened = self.opened.get(path)
            if opened is None:
                answer.set_result([])
            else:
                job = Job(path, opened.text, opened.version, time.monotonic(), question=(line, answer))
                self.waiting.append(job)
                self.changed.notify()
        return answer

    def end(self) -> None:
        with self.changed:
            self.ended = True
            if self.current is not None:
                self.current.stale = True
            self.changed.notify()
        self.thread.join()

    # With the lock held

    def put(self, job: Job) -> None:
        """A new text: what waits for an older one is dropped, who works on it stops, or on what can wait."""
        self.drop(job.path)
        self.waiting.append(job)
        if self.current is not None and self.current.behind and not self.current.stale:
            self.current.stale = True
            self.put_behind(self.current.path)

    def drop(self, path: str) -> None:
        for job in self.waiting:
            if job.path == path and job.question is not None:
                job.question[1].cancel()
        self.waiting = [job for job in self.waiting if job.path != path]
        if self.current is not None and self.current.path == path:
            self.current.stale = True

    def put_dependents(self, path: str) -> None:
        for other, opened in self.opened.items():
            if other != path and path in opened.read:
                self.put_behind(other)

    def put_behind(self, path: str) -> None:
        opened = self.opened[path]
        if all(job.path != path or job.question is not None for job in self.waiting):
            self.waiting.append(Job(path, opened.text, opened.version, time.monotonic() + LATER, behind=True))

    def next_job(self) -> Job | None:
        """The job to do now, waited for; None at the end."""
        while not self.ended:
            job = min(self.waiting, key=lambda each: (each.behind, each.due), default=None)
            rest = None if job is None else job.due - time.monotonic()
            if job is not None and rest is not None and rest <= 0:
                self.waiting.remove(job)
                return job
            self.changed.wait(rest)
        return None

    # In the analyst's thread

    def work(self) -> None:
        while True:
            with self.changed:
                job = self.current = self.next_job()
                texts = {**self.others, **{path: each.text for path, each in self.opened.items()}}
            if job is None:
                return
            files = Reading(Unsaved(texts))
            try:
                with stopped_by(job.is_stale):
                    if job.question is not None:
                        self.mend(job, files)
                    else:
                        self.answer(job, files)
                        clear_away()
            except Stopped:
                if job.question is not None:
                    job.question[1].cancel()

    def answer(self, job: Job, files: Reading) -> None:
        first = None if job.behind else self.first_answer(job, files)
        answer = first or self.answer_to(job, files)
        with self.changed:
            opened = self.opened.get(job.path)
            if job.stale or opened is None:
                return
            if first is not None:
                self.put_behind(job.path)
            elif not answer.problem:
                opened.good = answer
            opened.read |= frozenset(os.path.abspath(path) for path in files.read)
        self.deliver(job.path, answer, job.behind)

    def first_answer(self, job: Job, files: Files) -> Answer | None:
        """What can be said at once of a text, where the last sound one is known. After an edit of layout and comments
        that is all; in a file that takes long, all that the edit does not reach, by name, and of the models that it
        reaches the one whose lines are nearest to it. The rest is as it was. None where that is not to be had."""
        opened = self.opened.get(job.path)
        if opened is None or opened.good is None or not opened.good.hints.told:
            return None
        shown, good = shown_path(job.path), opened.good
        source = shared(shown, job.text)
        carrying = Carrying(good.text, job.text)
        try:
            source.check()
            edit = edited(shared(shown, good.text), source)
            if edit is None:
                return as_it_was(good, job.text, job.version)
            if not opened.slow:
                return None
            targets = list(dict.fromkeys(told.target for told in good.hints.told))
            reached = frozenset(edit.reaches(targets))
            if not reached:
                return as_it_was(good, job.text, job.version)
            if len(targets) == 1:
                return None
            theirs = [told for told in good.hints.told if told.target in reached]
            nearest = min(theirs, key=lambda told: abs(told.span.line - carrying.edited))
            report, hints = hints_of(source, self.settings, files, nearest.target)
        except (SourceError, TargetError):
            return None
        if report.failure is not None or not hints.told:
            return None
        hints = hints.over(carrying.hints(good.hints))
        return Answer(job.version, job.text, hints, carrying.findings(good.findings))

    def known(self, path: str) -> Answer | None:
        """What the last sound text of an open file has said of the lines that are still the same; None where that is
        nothing. Asked by the server, in its own thread."""
        with self.changed:
            opened = self.opened.get(path)
            if opened is None or opened.good is None:
                return None
            good, text, version = opened.good, opened.text, opened.version
        answer = as_it_was(good, text, version)
        return answer if answer.hints.told or answer.hints.lenses else None

    def answer_to(self, job: Job, files: Files) -> Answer:
        shown, begun = shown_path(job.path), time.monotonic()
        source, opened = shared(shown, job.text), self.opened.get(job.path)
        if opened is not None and opened.good is not None:
            source.before = shared(shown, opened.good.text)
        try:
            source.check()
        except SourceError as error:
            return self.carried(job, f"{shown}:{error.line}: {error.reason}")
        if not source.may_hold_models(files):
            return Answer(job.version, job.text, FileHints(shown))
        problem = ""
        try:
            self.settings = self.project.settings()
        except BadSettings as error:
            problem = str(error)
        try:
            report, hints = hints_of(source, self.settings, files)
            if report.failure is not None:
                return self.carried(job, report.failure.at(""))
            findings = tuple(self.project.findings(source, report, self.settings))
            if opened is not None:
                # What a training does is known only when all of its program has been followed.
                alone = all(each.kind == "model" for each in report.reports)
                opened.slow = alone and time.monotonic() - begun > SOON
        except BadSettings as error:
            return self.carried(job, str(error))
        except Exception as error:
            return self.carried(job, internal_error(error).reason)
        return Answer(job.version, job.text, hints, findings, problem)

    def carried(self, job: Job, problem: str) -> Answer:
        """What the last sound text has said, where the text is still the same."""
        opened = self.opened.get(job.path)
        good = opened.good if opened is not None else None
        if good is None:
            return Answer(job.version, job.text, FileHints(shown_path(job.path)), problem=problem)
        return as_it_was(good, job.text, job.version, problem)

    def mend(self, job: Job, files: Files) -> None:
        from flake8_cnnmem.fixes import fixes_of

        assert job.question is not None
        line, answer = job.question
        try:
            found: Sequence[Fix] = fixes_of(
                shared(shown_path(job.path), job.text),
                self.settings,
                files=files,
                wanted=lambda finding: finding.line == line,
            )
        except Exception as error:
            answer.set_exception(RuntimeError(internal_error(error).reason))
            return
        answer.set_result(list(found))


def as_it_was(good: Answer, text: str, version: int, problem: str = "") -> Answer:
    """What an answer says of the lines that a later text has as well."""
    carrying = Carrying(good.text, text)
    return Answer(version, text, carrying.hints(good.hints), carrying.findings(good.findings), problem)


def shown_path(path: str) -> str:
    """A path as `check` would name it: below the working directory relative to it."""
    inside = os.path.relpath(path) if os.path.isabs(path) else path
    return path if inside.startswith(os.pardir) else inside
