"""Which fixes there are for a file, one by one and all together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from flake8_cnnmem import checks
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.fixes import cnm201, cnm203
from flake8_cnnmem.fixes.documents import Document, document_of
from flake8_cnnmem.fixes.trial import SIZES, Changed, Trial, report_of
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.edits import Edit, Fix
from flake8_cnnmem.text.files import DISK, Files

Candidate = tuple[Finding, str, tuple[Edit, ...]]
"""What may mend a finding: a title and the edits. Whether it does is for a trial to say."""

CODES: dict[str, Callable[[Source, FileReport], Iterator[Candidate]]] = {
    "CNM201": cnm201.candidates,
    "CNM203": cnm203.candidates,
}
"""What can be mended, each by its module. The first is what is mended unless somebody asks for another."""

DEFAULT = ("CNM201",)

MOST = 100
"""Fixes of one file: each is a few analyses of it."""

MOST_OFFERS = 40
"""What is tried for one finding, each by an analysis of the file. Where more is possible, nothing is certain."""


@dataclass(frozen=True, slots=True)
class Mended:
    """A file after all fixes, in the order in which they were made, and the findings of the selected codes that are
    left."""

    document: Document
    fixes: tuple[Fix, ...]
    left: tuple[Finding, ...]

    @property
    def text(self) -> str:
        """The module's text."""
        return self.document.text


def fixes_of(
    source: Source,
    settings: Settings,
    codes: Collection[str] = DEFAULT,
    files: Files = DISK,
    report: FileReport | None = None,
    wanted: Callable[[Finding], bool] = lambda finding: True,
) -> list[Fix]:
    """What is certain to mend a finding of the file, by place, at most one for each finding.

    Each fix is for the text as it is: it takes its finding away and adds none of a wrong size. `report` is the analysis
    of the file where there is one already; `wanted` chooses among the findings. A notebook's edits are of the module
    that its cells make. Raises nothing: of what cannot be read or followed nothing is mended.
    """
    try:
        document = document_of(source, files)
    except OSError:
        return []
    if report is None:
        report = report_of(source, settings, Changed(files, {source.path: document.raw}))
    if report.failure is not None:
        return []
    trial = Trial(document, settings, report, frozenset((*SIZES, *codes)), files)
    offered: dict[Finding, dict[tuple[Edit, ...], str]] = {}
    for code in codes:
        for finding, title, edits in CODES[code](source, report):
            if wanted(finding) and (finding in offered or len(offered) < MOST):
                offered.setdefault(finding, {}).setdefault(edits, title)
    certain = []
    for finding, offers in offered.items():
        if len(offers) > MOST_OFFERS:
            continue
        works = []
        for edits, title in offers.items():
            if trial.mends(finding, edits):
                works.append(Fix(source.path, finding.line, finding.column, finding.code, title, edits))
            if len(works) > 1:
                break
        # Where two things would help, which one is meant is not certain.
        certain += works if len(works) == 1 else []
    return sorted(certain, key=lambda fix: (fix.line, fix.column))


def mended(
    source: Source,
    settings: Settings,
    codes: Collection[str] = DEFAULT,
    files: Files = DISK,
    wanted: Callable[[Finding], bool] = lambda finding: True,
) -> Mended:
    """The file with all that can be mended, one fix after the other, each found in the text that the last one left.

    Raises OSError where a notebook is there no longer.
    """
    made: list[Fix] = []
    now = document_of(source, files)
    while True:
        changed = Changed(files, {now.path: now.raw})
        analysed = source if not made else now.source
        report = report_of(analysed, settings, changed)
        found = fixes_of(analysed, settings, codes, changed, report, wanted)[:1]
        edited = now.edited(found[0].edits) if found else None
        if edited is None or len(made) == MOST:
            left = [] if report.failure is not None else checks.run(report, settings, set(codes))
            return Mended(now, tuple(made), tuple(each for each in left if each.path == now.path and wanted(each)))
        made += found
        now = edited
