"""Findings as workflow commands, which GitHub shows as annotations at their lines.

    ::error file=model.py,line=12,col=1,title=CNM101::VGG16: training needs 13.9 GiB at batch 64, ...

The escapes are those that GitHub's runner undoes: `%`, carriage return and line feed everywhere, in properties also
`:` and `,`.
"""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem import checks
from flake8_cnnmem.finding import Finding, one_line
from flake8_cnnmem.reporting.findings import findings_of
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.text.lines import without_cell

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(reports: Sequence[ModelReport], settings: Settings) -> str:
    return render_findings(findings_of(reports, settings))


def render_findings(findings: Sequence[Finding]) -> str:
    levels = {check.code: COMMANDS[check.level] for check in checks.every()}
    return "\n".join(annotation(finding, levels[finding.code]) for finding in findings)


def annotation(finding: Finding, command: str) -> str:
    """One finding as one command; GitHub takes paths with forward slashes."""
    line, column, message = without_cell(finding.line, finding.column, finding.message)
    where = {
        "file": one_line(finding.path.replace("\\", "/").removeprefix("./")),
        "line": str(max(line, 1)),
        "col": str(max(column, 1)),
        "title": finding.code,
    }
    properties = ",".join(f"{name}={in_property(value)}" for name, value in where.items())
    return f"::{command} {properties}::{in_message(one_line(message))}"


def in_message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def in_property(text: str) -> str:
    return in_message(text).replace(":", "%3A").replace(",", "%2C")
