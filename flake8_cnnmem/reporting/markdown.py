"""The report as people paste it into an issue or a review: GitHub's Markdown.

Names and causes come from the code that was analysed. They are data: nothing in them is read as Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flake8_cnnmem import units
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.frameworks.versions import named
from flake8_cnnmem.reporting.columns import in_markdown
from flake8_cnnmem.reporting.layer_table import TableOptions, body, headers
from flake8_cnnmem.reporting.phrases import (
    accounting,
    beside,
    evaluated,
    facts,
    fitting,
    growth,
    not_counted,
    stated,
    status,
    terms,
    total,
    trained,
    verdict,
)
from flake8_cnnmem.results import ModelReport, Part
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.text.lines import in_words


def render(reports: Sequence[ModelReport], settings: Settings) -> str:
    """One model in full; several behind a table of all, each folded."""
    if not reports:
        return "No model found."
    if len(reports) == 1:
        return f"### {heading(reports[0])}\n\n{model(reports[0], settings)}"
    folded = [details(heading(report, html=True), model(report, settings)) for report in reports]
    return "\n\n".join([overview(reports), *folded])


def overview(reports: Sequence[ModelReport]) -> str:
    """All models, one row each."""
    rows: list[tuple[str, ...]] = [
        (
            code(report.name),
            code(f"{report.path}:{report.line}"),
            trains(report),
            report.training.batch_words,
            total(report),
            "" if report.limit is None else units.show(report.limit),
            fitting(report.fits) or status(report),
            "" if report.largest_batch_size is None else str(report.largest_batch_size),
        )
        for report in reports
    ]
    headers = ("model", "where", "parameters", "batch", "memory", "limit", "", "largest batch")
    if any(report.place is not None and report.place[1] > 1 for report in reports):
        # Trainings of one model stand at one line: which of them it is.
        rows = [(*row[:2], trained_in_short(report), *row[2:]) for row, report in zip(rows, reports, strict=True)]
        return table(rows, (*headers[:2], "training", *headers[2:]), "lllrrrrlr")
    return table(rows, headers, "llrrrrlr")


def trains(report: ModelReport) -> str:
    """`44,170`; of a training that updates not all of them `970 of 44,170`."""
    if report.parameters is None:
        return ""
    partly = report.place is not None and report.trainable is not None and report.trainable < report.parameters
    return f"{report.trainable:,} of {report.parameters:,}" if partly else f"{report.parameters:,}"


def trained_in_short(report: ModelReport) -> str:
    """`2 of 3, line 88`."""
    if report.place is None:
        return ""
    at = report.trained_at
    where = "" if at is None else f", {in_words(at.line)}" if at.path == report.path else f", {at.path}:{at.line}"
    return escape(f"{report.place[0]} of {report.place[1]}{where}")


def heading(report: ModelReport, html: bool = False) -> str:
    """`VGG16`: 13.9 GiB at batch 64, does not fit."""
    name = entities(report.name) if html else code(report.name)
    told = f"{name}: {total(report)}"
    if report.estimate is not None:
        told += f" at batch {report.estimate.batch_size}"
        told += " of its evaluation" if report.evaluation is not None else ""
    answer = fitting(report.fits)
    return f"{told}, {answer}" if answer else told


def model(report: ModelReport, settings: Settings) -> str:
    """Everything about one model below its heading."""
    where = code(f"{report.path}:{report.line}")
    known = f"{named(report.framework, report.version)}, {status(report)}" if report.framework else status(report)
    training = trained(report)
    blocks = [f"{where}, {f'{escape(training)}, ' if training else ''}{known}; {escape(verdict(report, settings))}"]
    if report.causes:
        lines = [f"- {escape(cause.at(report.path))}" for cause in report.causes]
        blocks.append("\n".join(["Not known:", "", *lines]))
    if report.parts:
        blocks.append(parts(report.parts))
    if report.also_in_memory:
        rows = [(escape(what), code(where) if where else "", units.show(size)) for what, where, size in beside(report)]
        blocks.append(table(rows, ("also in memory", "where", "memory"), "llr"))
    blocks.append(evidence(report))
    if report.estimate is not None:
        sizes = [(escape(name), units.show(size)) for name, size in terms(report.estimate)]
        title = f"Memory {escape(accounting(report.estimate))}:"
        blocks += [title, table(sizes, ("term", "memory"), "lr")]
    said = [*growth(report), *not_counted(report), *filter(None, [evaluated(report)])]
    if said:
        blocks.append("\n".join(f"- {escape(line)}" for line in said))
    if report.remedies:
        changes = [(escape(each.change), units.show(each.total), fitting(each.fits)) for each in report.remedies]
        blocks += ["What would make it smaller:", table(changes, ("change", "memory", ""), "lrl")]
    if report.rows:
        blocks.append(details(f"{len(report.rows)} layers", layers(report)))
    return "\n\n".join(blocks)


def evidence(report: ModelReport) -> str:
    """What was taken from where."""
    rows = []
    for fact in facts(report):
        others = "; ".join(f"{value} ({source})" for value, source in fact.passed_over)
        rows.append((fact.name, escape(fact.value), escape(fact.source), escape(others)))
    if any(row[3] for row in rows):
        return table(rows, ("taken", "value", "from", "passed over"), "llll")
    return table([row[:3] for row in rows], ("taken", "value", "from"), "lll")


def parts(together: Sequence[Part]) -> str:
    """The models that one step trains together."""
    rows = [
        (
            code(part.name),
            code(f"{part.path}:{part.line}"),
            f"{part.parameters:,}",
            "" if part.input_shape is None else stated(part.input_shape),
        )
        for part in together
    ]
    return table(rows, ("trained together", "where", "parameters", "input"), "llrr")


def layers(report: ModelReport) -> str:
    """The layer table; values are per sample, MiB for the whole batch."""
    wanted = TableOptions()
    head = headers(report.rows, wanted)
    rows = [
        (code(name), code(type_), *others) if type_ else (name, type_, *others)
        for name, type_, *others in body(report, report.rows, wanted)
    ]
    return table(rows, head, "llrrrrr")


def details(summary: str, text: str) -> str:
    """A folded block. `summary` is HTML, `text` Markdown."""
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def table(rows: Sequence[Sequence[str]], headers: Sequence[str], align: str) -> str:
    """A table of cells that are Markdown already; `align` has an `l` or `r` for each column."""
    return in_markdown(rows, align, headers)


def code(text: str) -> str:
    """A name as code. What would end the code or the cell is written so that it does not."""
    text = one_line(text)
    if text and text == text.strip() and not re.search(r"[`|\\<>&]", text):
        return f"`{text}`"
    return f"<code>{entities(text)}</code>"


def entities(text: str) -> str:
    """Text that neither Markdown nor HTML reads anything into."""
    return "".join(
        letter if letter.isalnum() or letter in " ._-/" or ord(letter) > 127 else f"&#{ord(letter)};"
        for letter in one_line(text)
    ).replace("_", "&#95;")


def escape(text: str) -> str:
    """A phrase that may have somebody's names in it: marks that mean something are written so that they do not."""
    text = re.sub(r"[&<>|\\`*\[\]~@#$]", lambda mark: f"&#{ord(mark[0])};", one_line(text))
    text = re.sub(r"(?<![^\W_])_|_(?![^\W_])", "&#95;", text)
    # What makes a list or a line only at the beginning, and addresses that would become links.
    text = re.sub(r"^(\d*)([-+=.)])", lambda mark: f"{mark[1]}&#{ord(mark[2])};", text)
    return text.replace("://", "&#58;//").replace("www.", "www&#46;")
