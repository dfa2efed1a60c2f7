"""The findings behind a report, for the forms that show findings instead of models."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem import checks
from flake8_cnnmem.answers import FileReport, ModelReport
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.settings import Settings


def findings_of(reports: Sequence[ModelReport], settings: Settings) -> list[Finding]:
    """What the checks that are on by default say of the models, each once, by place."""
    codes = {check.code for check in checks.every() if check.default}
    files: dict[str, list[ModelReport]] = {}
    for report in reports:
        files.setdefault(report.path, []).append(report)
    found = {
        finding
        for path, models in files.items()
        for finding in checks.run(FileReport(path, tuple(models)), settings, codes)
    }
    return sorted(found)
