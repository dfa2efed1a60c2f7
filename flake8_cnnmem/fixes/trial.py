"""Whether a change of a file mends what it is meant to: the changed text is analysed, and the findings are compared."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.fixes.documents import Document
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.results import FileReport, ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, SourceError, load
from flake8_cnnmem.text.edits import Edit
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.unknown import STRICT, internal_error

SIZES = ("CNM102", "CNM201", "CNM202", "CNM901")
"""What no fix may add. That a model which runs now is over its limit is no fault of the fix."""


class Changed(Files):
    """Files of which some have other contents than they have on the disk."""

    def __init__(self, files: Files, contents: Mapping[str, str]) -> None:
        self.files = files
        self.contents = {files.real(path): text.encode("utf-8", "surrogatepass") for path, text in contents.items()}

    def own(self, path: str) -> bytes | None:
        return self.contents.get(self.files.real(path))

    def is_file(self, path: str) -> bool:
        return self.files.is_file(path)

    def is_folder(self, path: str) -> bool:
        return self.files.is_folder(path)

    def entries(self, folder: str) -> Sequence[tuple[str, bool]]:
        return self.files.entries(folder)

    def content(self, path: str, at_most: int) -> bytes:
        own = self.own(path)
        return self.files.content(path, at_most) if own is None else own[:at_most]

    def size(self, path: str) -> int:
        own = self.own(path)
        return self.files.size(path) if own is None else len(own)

    def version(self, path: str) -> Hashable:
        own = self.own(path)
        return self.files.version(path) if own is None else ("changed", hash(own), len(own))

    def real(self, path: str) -> str:
        return self.files.real(path)

    def variable(self, name: str) -> str | None:
        return self.files.variable(name)


@dataclass(frozen=True, slots=True)
class Trial:
    """A file as it is, with what is known of it, and the codes that count."""

    document: Document
    settings: Settings
    report: FileReport
    codes: frozenset[str]
    files: Files = DISK

    def findings(self, report: FileReport) -> list[Finding]:
        return [each for each in checks.run(report, self.settings, self.codes) if each.path == self.document.path]

    def mends(self, finding: Finding, edits: Collection[Edit]) -> bool:
        """Whether these edits of the file's text take the finding away, add none, and lose no model that is known."""
        edited = self.document.edited(edits)
        after = self.after(edited, placed=False) if edited is not None else None
        known = self.findings(self.report)
        if edited is None or after is None or len(self.findings(after)) >= len(known):
            return False
        if any(report.problems for report in after.reports):
            # Where those stand that are left is worked out for none that mends nothing.
            after = self.after(edited)
        if after is None:
            return False
        before, left = Counter(map(spot, known)), Counter(map(spot, self.findings(after)))
        before[spot(finding)] -= 1
        return left <= before and lost(after) <= lost(self.report)

    def after(self, document: Document, placed: bool = True) -> FileReport | None:
        """What is known of the file with another text; None where that is nothing."""
        changed = Changed(self.files, {document.path: document.raw})
        report = report_of(document.source, self.settings, changed, placed)
        return None if report.failure is not None else report


def report_of(source: Source, settings: Settings, files: Files, placed: bool = False) -> FileReport:
    """`analyse`, an error of ours becoming the report's failure."""
    try:
        return analyse(source, settings, files=files, placed=placed)
    except Exception as error:
        if os.environ.get(STRICT):
            raise
        return FileReport(source.path, failure=internal_error(error))


def spot(finding: Finding) -> tuple[str, int]:
    """By what a finding is known again in a text of as many lines."""
    return finding.code, int(finding.line)


def lost(report: FileReport) -> int:
    """How many models nobody can say anything of, though no wrong size stands in their way."""
    return sum(is_lost(each) for each in report.reports)


def is_lost(report: ModelReport) -> bool:
    return report.status == "unresolved" and not report.problems


def harmed(paths: Iterable[str], contents: Mapping[str, str], settings: Settings, files: Files = DISK) -> list[str]:
    """Those of these files, which import or read what is changed, that would have a wrong size more."""
    found = []
    changed = Changed(files, contents)
    for path in paths:
        try:
            before = report_of(load(path, files), settings, files)
            after = report_of(load(path, changed), settings, changed)
        except SourceError:
            continue
        counts = [Counter(map(spot, checks.run(each, settings, SIZES))) for each in (before, after)]
        if not counts[1] <= counts[0] or lost(after) > lost(before):
            found.append(path)
    return found
