"""`cnnmem fix [PATH...]`: what is certain to mend a finding, as a diff, or written with `--write`."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.check import codes, patterns, selection_of
from flake8_cnnmem.cli.ending import EXCEEDS, FITS, Unusable, place, warn
from flake8_cnnmem.cli.options import add_settings, settings_of
from flake8_cnnmem.cli.usage import near_path
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.settings.options import OPTIONS, BadValue
from flake8_cnnmem.text.files import DISK, Files

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.cli.linting import Selection
    from flake8_cnnmem.finding import Finding
    from flake8_cnnmem.fixes import Document, Edit
    from flake8_cnnmem.settings.options import Limit, Settings
    from flake8_cnnmem.source import Source

MEANWHILE = "is no longer the notebook that was analysed"


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "fix",
        help="mend what is certain, as a diff or in the files",
        description="What is certain to mend a finding: for CNM201 the size that it names or the one remedy that fits "
        "(axes, an argument of the layer); on request ceil_mode or padding for CNM203. Each change is analysed before "
        "it is offered. A diff is printed, and nothing is changed without --write.",
        epilog="Exit status: 0 nothing to mend and nothing left, 1 a diff was printed or findings are left, 2 usage.",
    )
    command.set_defaults(command=run, ignore=None, extend_select=None, extend_ignore=None, disable_noqa=False)
    command.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; the working directory if none")
    command.add_argument("--diff", action="store_true", help="print the changes (the default), also with --write")
    command.add_argument("--write", action="store_true", help="write the changes into the files")
    command.add_argument("--select", type=codes, metavar="CODES", help="what to mend: CNM201 (the default), CNM203")
    command.add_argument(
        "--to-fit",
        nargs="?",
        const="",
        metavar="LIMIT",
        help="make what is over its limit fit, by the cheapest change: the batch size where it is written, or mixed "
        "precision where the loop has its scaler; else checkpoints are shown as a patch",
    )
    for name in ("exclude", "extend-exclude"):
        command.add_argument(f"--{name}", type=patterns, metavar="PATTERNS", help="as flake8's")
    add_settings(command)


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem.fixes import DEFAULT
    from flake8_cnnmem.source import SourceError, load

    if options.to_fit:
        options.gpu_limit = limit_of(options.to_fit)
    settings = settings_of(options)
    selected = mendable(options.select) if options.select is not None else DEFAULT
    options.select = None
    selection = replace(selection_of(options), select=None, ignore=(), extend_select=list(selected))
    work = Work(settings, selection, selected, options.to_fit is not None)
    for path in options.paths:
        if not os.path.exists(path):
            raise Unusable(f"{path}: no such file or folder{near_path(path)}")
    for path in selection.files(options.paths or ["."]):
        try:
            source = load(path)
            source.tree  # noqa: B018  what does not parse is told
        except SourceError as error:
            warn(place(path, error.line, error.reason))
            continue
        if source.may_hold_models():
            work.look_at(source)
    work.hold_back()
    if options.diff or not options.write:
        sys.stdout.write(work.diff())
    sys.stdout.write(work.suggested())
    if options.write:
        work.write()
    print(one_line(work.closing(options.write)), file=sys.stderr)
    return EXCEEDS if work.left or (work.made and not options.write) else FITS


def limit_of(text: str) -> Limit | None:
    """A limit as `--gpu-limit` takes it. Raises Unusable."""
    [option] = [each for each in OPTIONS if each.field == "gpu_limit"]
    try:
        limit: Limit | None = option.parse(text)
    except BadValue as error:
        raise Unusable(f"argument --to-fit: {error}") from None
    return limit


def mendable(words: Sequence[str]) -> tuple[str, ...]:
    """The codes that are meant, each of which can be mended. Raises Unusable."""
    from flake8_cnnmem.fixes import CODES

    for word in words:
        if not any(code.startswith(word) for code in CODES):
            raise Unusable(f"{word} is nothing that can be mended: use {' or '.join(CODES)}, or --to-fit for CNM101")
    return tuple(code for code in CODES if any(code.startswith(word) for word in words))


def on_disk(path: str) -> Document:
    """A file as it is. Raises Unusable."""
    from flake8_cnnmem.source import decode
    from flake8_cnnmem.text.notebook import LARGEST

    try:
        return document_in(path, decode(DISK.content(path, LARGEST)))
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror or error}") from None


def document_in(path: str, text: str) -> Document:
    """The document of a file that was analysed before. Raises Unusable where it is another one by now."""
    from flake8_cnnmem.fixes import document_with

    document = document_with(path, text)
    if document is None:
        raise Unusable(f"{path}: {MEANWHILE}")
    return document


def edited(document: Document, edits: Sequence[Edit]) -> Document:
    """The document after edits that were tried before. Raises Unusable where it is another one by now."""
    made = document.edited(edits)
    if made is None:
        raise Unusable(f"{document.path}: {MEANWHILE}")
    return made


def unified(path: str, before: str, now: str) -> str:
    """The lines that differ, as `patch` and `git apply` read them."""
    from flake8_cnnmem.text.edits import LINE

    def lines(text: str) -> list[str]:
        return [line for line in LINE.findall(text) if line]

    found = difflib.unified_diff(lines(before), lines(now), path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found)


@dataclass
class Work:
    """What is mended so far. Nothing is written before all is known."""

    settings: Settings
    selection: Selection
    selected: Sequence[str]
    to_fit: bool
    before: dict[str, Document] = field(default_factory=dict)
    """The files that are changed, as they are."""
    now: dict[str, Document] = field(default_factory=dict)
    edits: dict[str, list[tuple[Edit, ...]]] = field(default_factory=dict)
    """In the order in which they are made: each set is of the text that the last one left."""
    left: int = 0
    patches: list[tuple[Document, tuple[Edit, ...]]] = field(default_factory=list)
    """What is shown and never written: a file and its edits."""

    @property
    def made(self) -> int:
        return sum(map(len, self.edits.values()))

    @property
    def files(self) -> Files:
        from flake8_cnnmem.fixes.trial import Changed

        return Changed(DISK, {path: document.raw for path, document in self.now.items()}) if self.now else DISK

    def look_at(self, source: Source) -> None:
        if source.path in self.now:
            source = self.now[source.path].source
        if self.to_fit:
            self.make_fit(source)
        else:
            self.mend(source)

    def mend(self, source: Source) -> None:
        from flake8_cnnmem.cli.linting import shown
        from flake8_cnnmem.fixes import mended

        def wanted(finding: Finding) -> bool:
            return bool(shown(source, [finding], self.selection))

        result = mended(source, self.settings, self.selected, self.files, wanted)
        for fix in result.fixes:
            self.make(fix.path, fix.edits)
        for finding in result.left:
            warn(f"left: {finding.path}:{finding.line}:{finding.column}: {finding.code} {finding.message}")
        self.left += len(result.left)

    def make_fit(self, source: Source) -> None:
        """One training after the other: what makes the first one fit may be all that the second needs."""
        from flake8_cnnmem.fixes import fitted

        while True:
            over = fitted(source, self.settings, self.files)
            found = next((each.fix for each in over if each.fix is not None), None)
            if found is None:
                break
            self.make(found.path, found.edits)
            if source.path in self.now:
                source = self.now[source.path].source
        for each in over:
            reason = each.reason
            if each.patch is not None:
                reason = f"{reason}; it would fit with {each.patch.title}, by the patch that is printed"
                self.patches.append((self.now.get(each.patch.path) or on_disk(each.patch.path), each.patch.edits))
            warn(f"left: {place(source.path, each.report.line, f'{each.report.name} does not fit')}: {reason}")
        self.left += len(over)

    def make(self, path: str, edits: tuple[Edit, ...]) -> None:
        document = self.now.get(path) or self.before.setdefault(path, on_disk(path))
        self.now[path] = edited(document, edits)
        self.edits.setdefault(path, []).append(edits)

    def hold_back(self) -> None:
        """Changes after which another file of the project would have a wrong size are not offered."""
        from flake8_cnnmem.cli.project import dependents_of
        from flake8_cnnmem.findings import store_of
        from flake8_cnnmem.fixes import harmed

        if not self.now or self.to_fit:
            return
        project = dependents_of(list(self.now), self.selection, store_of(self.settings))
        for path in list(self.now):
            others = [each for each in project.of([path]).modules if os.path.normpath(each) != os.path.normpath(path)]
            contents = {changed: document.raw for changed, document in self.now.items()}
            for other in harmed(sorted(others), contents, self.settings)[:1]:
                warn(f"left: {path}: what mends it gives {other} a wrong size")
                self.left += len(self.edits.pop(path))
                del self.now[path]

    def diff(self) -> str:
        return "".join(unified(path, self.before[path].raw, self.now[path].raw) for path in sorted(self.now))

    def suggested(self) -> str:
        """The patches of what is only shown."""
        return "".join(
            unified(document.path, document.raw, edited(document, edits).raw) for document, edits in self.patches
        )

    def write(self) -> None:
        """The edits, in the files as they are on the disk: their encoding and line ends stay. Raises Unusable."""
        from flake8_cnnmem.source import text_and_encoding

        for path, made in self.edits.items():
            try:
                with open(path, "rb") as file:
                    text, encoding = text_and_encoding(file.read())
                document = document_in(path, text)
                for edits in made:
                    document = edited(document, edits)
                with open(path, "wb") as file:
                    file.write(document.raw.encode(encoding))
            except (OSError, UnicodeError) as error:
                raise Unusable(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None

    def closing(self, written: bool) -> str:
        """`2 findings mended in 1 file, 1 left`."""
        files = f"{len(self.now)} file{'' if len(self.now) == 1 else 's'}"
        if not self.made:
            return f"nothing is mended; {self.left} left" if self.left else "nothing to mend"
        what = f"{self.made} finding{'' if self.made == 1 else 's'}"
        if written:
            return f"{what} mended in {files}, {self.left} left"
        return f"{what} can be mended in {files}, {self.left} left; --write mends"
