"""Findings: those behind a report, for the forms that show findings instead of models, and their plain forms."""

from __future__ import annotations

import json
from collections.abc import Sequence

import flake8_cnnmem
from flake8_cnnmem import checks
from flake8_cnnmem.finding import Finding, one_line
from flake8_cnnmem.reporting.as_json import SCHEMA
from flake8_cnnmem.results import FileReport, ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.text.lines import position


def findings_of(reports: Sequence[ModelReport], settings: Settings) -> list[Finding]:
    """What the checks that are on by default say of the models, each once, by place."""
    codes = {check.code for check in checks.every() if check.default}
    files: dict[str, list[ModelReport]] = {}
    for report in reports:
        files.setdefault(report.path, []).append(report)
    found = {
        finding
        for path, models in files.items()
        for finding in checks.grouped(checks.run(FileReport(path, tuple(models)), settings, codes))
    }
    return sorted(found)


def as_text(findings: Sequence[Finding]) -> str:
    """One line each, as flake8 prints them."""
    return "\n".join(
        f"{one_line(finding.path)}:{finding.line}:{finding.column}: {finding.code} {finding.message}"
        for finding in findings
    )


def as_json(findings: Sequence[Finding]) -> str:
    """One document; a finding in a notebook has the number of its cell as well."""
    found = [
        {
            "path": finding.path,
            **position(finding.line),
            "column": finding.column,
            "code": finding.code,
            "message": finding.message,
        }
        for finding in findings
    ]
    return json.dumps({"cnnmem": flake8_cnnmem.__version__, "schema": SCHEMA, "findings": found}, indent=2)


def as_markdown(findings: Sequence[Finding]) -> str:
    """A table; names from the analysed code are data."""
    from flake8_cnnmem.reporting.markdown import code, escape, table

    if not findings:
        return "Nothing found."
    rows = [(code(f"{each.path}:{each.line}"), each.code, escape(each.message)) for each in findings]
    return table(rows, ("where", "code", "finding"), "lll")
