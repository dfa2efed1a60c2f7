"""Findings as SARIF 2.1.0, the form that code scanning reads.

One run, every check a rule with its manual page as help, every finding a result. Paths are relative to the folder in
which the command runs, as code scanning wants them for a repository's root.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import flake8_cnnmem
from flake8_cnnmem import checks
from flake8_cnnmem.checks import Check
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.reporting import pages
from flake8_cnnmem.reporting.findings import findings_of
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.text.lines import without_cell

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(reports: Sequence[ModelReport], settings: Settings) -> str:
    return render_findings(findings_of(reports, settings))


def render_findings(findings: Sequence[Finding]) -> str:
    return json.dumps(log(findings), indent=2)


def log(findings: Sequence[Finding]) -> dict[str, Any]:
    known = checks.every()
    numbers = {check.code: number for number, check in enumerate(known)}
    driver = {
        "name": "flake8-cnnmem",
        "version": flake8_cnnmem.__version__,
        "rules": [rule(check) for check in known],
    }
    results = [result(finding, known[numbers[finding.code]], numbers[finding.code]) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def rule(check: Check) -> dict[str, Any]:
    """`help.text` is for those that show no Markdown; both are the check's page."""
    return {
        "id": check.code,
        "shortDescription": {"text": said(pages.title(check))},
        "fullDescription": {"text": said(" ".join(pages.parts(check)["What it means"].split()))},
        "help": {"text": said(pages.body(check)), "markdown": pages.body(check)},
        "defaultConfiguration": {"enabled": check.default, "level": check.level},
        "properties": {"tags": ["gpu-memory" if check.code.startswith("CNM1") else "neural-network"]},
    }


def result(finding: Finding, check: Check, number: int) -> dict[str, Any]:
    line, column, message = without_cell(finding.line, finding.column, finding.message)
    region = {"startLine": max(line, 1), "startColumn": max(column, 1)}
    place = {"artifactLocation": {"uri": uri(finding.path)}, "region": region}
    return {
        "ruleId": check.code,
        "ruleIndex": number,
        "level": check.level,
        "message": {"text": said(message)},
        "locations": [{"physicalLocation": place}],
    }


def said(text: str) -> str:
    """Plain text of a message: SARIF (3.11.5, 3.11.6) reads `{0}` as a place to fill and `[a](b)` as a link."""
    text = text.replace("{", "{{").replace("}", "}}")
    return re.sub(r"\](?=\()", "] ", text)


def uri(path: str) -> str:
    """A relative path as a relative reference, one that leads out of the folder as a `file:` address."""
    normal = os.path.normpath(path)
    if os.path.isabs(normal) or normal.split(os.sep)[0] == os.pardir:
        try:
            inside = os.path.relpath(normal)
        except ValueError:
            # On another drive than this folder.
            inside = os.pardir
        if inside.split(os.sep)[0] == os.pardir:
            return pathlib.Path(os.path.abspath(normal)).as_uri()
        normal = inside
    return quote(os.fsencode(normal.replace(os.sep, "/")), safe="/")
