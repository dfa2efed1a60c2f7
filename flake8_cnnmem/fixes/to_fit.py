"""`cnnmem fix --to-fit`: the cheapest change with which a training that is over its limit fits.

In this order: the batch size, where it is written; mixed precision, where the loop has its scaler already. Where
neither is to be had, checkpoints around the model's blocks, which are shown and not made. What is offered has been
analysed: the training fits with it, for certain, and no other is over its limit that was not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.fixes.autocast import wrapped
from flake8_cnnmem.fixes.checkpoints import checkpointed
from flake8_cnnmem.fixes.documents import Document, document_of
from flake8_cnnmem.fixes.trial import Changed, report_of
from flake8_cnnmem.fixes.written import BATCH, HALF, MODULES, SETTINGS, on_line, places_of
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.remedies import blocks_of, named
from flake8_cnnmem.results import FileReport, ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import LARGEST, Source, decode
from flake8_cnnmem.text.edits import Edit, Fix
from flake8_cnnmem.text.files import DISK, Files, Watched

MOST_FILES = 40
"""Files of a project that one training reads and that are searched for where a value is written."""

MOST_PLACES = 12
"""Places that are tried, each by an analysis of the script."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """One training over its limit: the fix, or why there is none."""

    report: ModelReport
    fix: Fix | None
    reason: str = ""
    patch: Fix | None = None
    """A change of the method with which it fits: to be shown, not to be made."""


class Read(Watched):
    """Files that remember what was read of them."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self.contents: dict[str, None] = {}

    def note(self, question: str, path: str) -> None:
        if question == "content":
            self.contents[path] = None


def fitted(source: Source, settings: Settings, files: Files = DISK) -> list[Fitted]:
    """For each training (or model) of the file that is over its limit, what makes it fit.

    Raises OSError where a notebook is there no longer.
    """
    read = Read(files)
    report = report_of(source, settings, read)
    document = document_of(source, files)
    texts = {source.path: source.text, **texts_of(project_files(read, source.path), files)}
    case = FileOverLimit(document, settings, files, report, texts)
    return [case.fitted(at) for at, each in enumerate(report.reports) if each.fits is False]


def project_files(read: Read, own: str) -> list[str]:
    """What an evaluation has read below the working directory, packages left out; paths as from there."""
    root = os.path.realpath(os.curdir)
    found = []
    for path in read.contents:
        inside = os.path.relpath(os.path.realpath(path), root)
        parts = inside.split(os.sep)
        if parts[0] == os.pardir or "site-packages" in parts or os.path.realpath(path) == os.path.realpath(own):
            continue
        if path.endswith((".py", *SETTINGS)):
            found.append(inside)
    return sorted(dict.fromkeys(found))[:MOST_FILES]


def texts_of(paths: Sequence[str], files: Files) -> dict[str, str]:
    found = {}
    for path in paths:
        try:
            found[path] = decode(files.content(path, LARGEST))
        except OSError:
            continue
    return found


@dataclass(frozen=True, slots=True)
class FileOverLimit:
    """A file whose trainings are over their limit, with the texts of the project's files that they read."""

    document: Document
    settings: Settings
    files: Files
    report: FileReport
    texts: Mapping[str, str]
    """By path; of a notebook the module that its cells make."""

    def fitted(self, at: int) -> Fitted:
        model = self.report.reports[at]
        reasons = []
        for title, candidates, none in (self.smaller_batch(model), self.half_precision(model)):
            works = []
            for path, edits in candidates[:MOST_PLACES]:
                if self.fits_with(at, path, edits):
                    works.append(Fix(path, model.line, model.column, "CNM101", title, edits))
            if len(works) == 1:
                return Fitted(model, works[0])
            reasons.append(none if not works else f"{title} could be written in {len(works)} places")
        return Fitted(model, None, "; ".join(reason for reason in reasons if reason), self.checkpoints(at))

    def checkpoints(self, at: int) -> Fix | None:
        """Its blocks in checkpoints, where it fits with that."""
        model = self.report.reports[at]
        how = frameworks.named(model.framework).checkpoints
        blocks = blocks_of(model.model.calls) if model.model is not None else []
        found = checkpointed(blocks, self.texts, how) if how is not None and blocks else None
        if found is None or not self.fits_with(at, *found):
            return None
        path, edits = found
        return Fix(path, model.line, model.column, "CNM101", f"checkpointing {named(blocks)}", edits)

    def fits_with(self, at: int, path: str, edits: tuple[Edit, ...]) -> bool:
        """Whether this training fits for certain with these edits of a file, and no other is worse off."""
        own = path == self.document.path
        edited = (self.document if own else Document(path, self.texts[path])).edited(edits)
        if edited is None:
            return False
        source = (edited if own else self.document).source
        after = report_of(source, self.settings, Changed(self.files, {path: edited.raw}))
        before, now = self.report.reports, after.reports
        if after.failure is not None or len(now) != len(before) or now[at].fits is not True:
            return False
        if now[at].training.optimizer.value != before[at].training.optimizer.value or now[at].problems:
            return False
        return all(was.fits is False or new.fits is not False for was, new in zip(before, now, strict=True))

    def smaller_batch(self, model: ModelReport) -> tuple[str, list[tuple[str, tuple[Edit, ...]]], str]:
        """The batch of the training, or of the evaluation where that is what needs most."""
        drawn, evaluation = model.training.drawn, model.evaluation
        batch, largest, source = drawn.value, model.largest_batch_size, drawn.source
        if evaluation is not None:
            batch, largest = evaluation.batch_size, evaluation.largest_batch_size
            source = f"{evaluation.path}:{evaluation.line}"
        if not largest:
            return "", [], "not even a batch of 1 fits"
        where, _, line = source.rpartition(":")
        if not line.isdigit() and source != "code":
            return "", [], f"its batch size is not written in the code ({source})"
        found = [
            (path, (edit,))
            for path, text in self.texts.items()
            for edit in places_of(path, text, BATCH, batch, str(largest))
        ]
        if line.isdigit():
            # A loader may be given its batch size without a name.
            path = next((each for each in self.texts if os.path.normpath(each) == os.path.normpath(where)), None)
            if path is not None:
                found += [(path, (edit,)) for edit in on_line(path, self.texts[path], int(line), batch, str(largest))]
        title = f"batch size {largest} instead of {batch}"
        return title, list(dict.fromkeys(found)), "the one place where its batch size is written was not found"

    def half_precision(self, model: ModelReport) -> tuple[str, list[tuple[str, tuple[Edit, ...]]], str]:
        title = "mixed precision, for which the loop has its scaler"
        region = frameworks.named(model.framework).half_region
        if not region or model.training.dtype.value != "float32":
            return title, [], ""
        scalers = [path for path, text in self.texts.items() if path.endswith(MODULES) and "GradScaler" in text]
        if not scalers:
            return title, [], "the loop has no scaler for mixed precision"
        found = []
        for path, text in self.texts.items():
            edits = tuple(places_of(path, text, HALF, False, "True"))
            if edits:
                # What makes the scaler and what makes the context are told alike.
                found.append((path, edits))
        found += [(path, edits) for path in scalers for edits in wrapped(self.texts[path], region)]
        return title, found, "what turns mixed precision on was not found"
