"""Findings without a flake8 run, but by flake8's own rules: which files, which codes, what `# noqa` silences.

The rules are flake8's own code, so that they stay the same; only its plugins are not started.
"""

from __future__ import annotations

import argparse
import glob
import operator
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from flake8 import defaults, discover_files
from flake8.processor import FileProcessor
from flake8.style_guide import Decision, DecisionEngine, StyleGuideManager
from flake8.utils import fnmatch

from flake8_cnnmem import checks
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.source import Source

if TYPE_CHECKING:
    from flake8.violation import Violation

PATTERNS = ("*.py", "*.ipynb")


@dataclass(frozen=True, slots=True)
class Selection:
    """What is to be looked for, and where, in flake8's words. None: not set."""

    select: Sequence[str] | None = None
    ignore: Sequence[str] | None = None
    extend_select: Sequence[str] = ()
    extend_ignore: Sequence[str] = ()
    exclude: Sequence[str] | None = None
    extend_exclude: Sequence[str] = ()
    per_file_ignores: str = ""
    disable_noqa: bool = False

    def options(self) -> argparse.Namespace:
        """As flake8's classes want them; the numbers have no meaning here, but a place there."""
        return argparse.Namespace(
            select=list(self.select) if self.select is not None else None,
            ignore=list(self.ignore) if self.ignore is not None else None,
            extend_select=list(self.extend_select),
            extend_ignore=list(self.extend_ignore),
            extended_default_select=["CNM"],
            extended_default_ignore=[check.code for check in checks.every() if not check.default],
            per_file_ignores=self.per_file_ignores,
            disable_noqa=self.disable_noqa,
            stdin_display_name="stdin",
            hang_closing=False,
            indent_size=defaults.INDENT_SIZE,
            max_line_length=defaults.MAX_LINE_LENGTH,
            max_doc_length=None,
            verbose=0,
        )

    def codes(self) -> frozenset[str]:
        """Those of our codes that are wanted anywhere."""
        engine = DecisionEngine(self.options())
        return frozenset(check.code for check in checks.every() if engine.decision_for(check.code) is Decision.Selected)

    @property
    def excluded(self) -> list[str]:
        """The patterns of what is left out."""
        patterns = defaults.EXCLUDE if self.exclude is None else self.exclude
        return [*patterns, *self.extend_exclude, ".ipynb_checkpoints"]

    def excludes(self, path: str) -> bool:
        """Whether one of the patterns is a path's name, or the path itself."""
        return any(fnmatch(each, self.excluded) for each in (os.path.basename(path), os.path.abspath(path)))

    def files(self, paths: Sequence[str], patterns: Sequence[str] = PATTERNS) -> list[str]:
        """The files below these paths, by name, as flake8 finds them; virtual environments and notebooks' backups are
        left out as well."""
        exclude = [*self.excluded, *environments(paths or ["."])]
        return sorted(
            discover_files.expand_paths(
                paths=list(paths), stdin_display_name="stdin", filename_patterns=patterns, exclude=exclude
            )
        )


def environments(paths: Iterable[str]) -> list[str]:
    """The virtual environments that stand in these folders, as patterns."""
    found = [
        marker
        for path in paths
        for name in ("*", ".*")
        for marker in glob.glob(os.path.join(glob.escape(path), name, "pyvenv.cfg"))
    ]
    return [glob.escape(os.path.abspath(os.path.dirname(marker))) for marker in found]


class Collector:
    """Takes what is left from flake8's style guide, in the place of a formatter."""

    def __init__(self) -> None:
        self.violations: list[Violation] = []

    def handle(self, violation: Violation) -> None:
        self.violations.append(violation)


def shown(source: Source, found: Iterable[Finding], selection: Selection) -> list[Finding]:
    """The findings of a file that neither configuration nor comments silence, in flake8's order."""
    options = selection.options()
    lines = [f"{line}\n" for line in source.text.split("\n")]
    if not selection.disable_noqa and any(defaults.NOQA_FILE.match(line) for line in lines):
        return []
    processor = FileProcessor(source.path, options, lines=lines)
    kept = Collector()
    guide = StyleGuideManager(options, kept)  # type: ignore[arg-type]
    for finding in sorted(found, key=operator.attrgetter("line", "column")):
        # flake8 takes columns from 0, and puts what is below the first there.
        column = max(finding.column, 1) - 1
        line = max(finding.line, 1)
        guide.handle_error(finding.code, source.path, line, column, finding.message, processor.noqa_line_for(line))
    return [
        Finding(source.path, each.line_number, each.column_number, each.code, each.text) for each in kept.violations
    ]
