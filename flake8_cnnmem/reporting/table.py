"""The report for people: a model's layers one by one, as the CS231n notes show VGG's, then the memory by term."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flake8_cnnmem import units
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.frameworks.versions import named
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.reporting.columns import in_columns
from flake8_cnnmem.reporting.ink import PLAIN, Ink
from flake8_cnnmem.reporting.layer_table import TableOptions, body, headers
from flake8_cnnmem.reporting.phrases import (
    StatedFact,
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
    trained,
    verdict,
)
from flake8_cnnmem.results import ModelReport, Part, Remedy, Row
from flake8_cnnmem.settings.options import Settings

CAUSES_SHOWN = 5

NAME_WIDTH = 44
"""Letters of a layer's name in the table: the columns behind it stay where they are looked for."""

NARROWEST = 16
"""Letters to which names are cut where the terminal has no room for more."""

ALL = TableOptions()


def render(reports: Iterable[ModelReport], settings: Settings, wanted: TableOptions = ALL, ink: Ink = PLAIN) -> str:
    return "\n\n\n".join(model(report, settings, wanted, ink) for report in reports)


def model(report: ModelReport, settings: Settings, wanted: TableOptions = ALL, ink: Ink = PLAIN) -> str:
    """One model: heading, causes, what trains together, layers, memory, verdict, remedies."""
    first, *others = heading(report).split("\n")
    blocks = ["\n".join([ink(first, "bold"), *others])]
    if report.parts:
        blocks.append(parts(report.parts))
    if report.also_in_memory:
        blocks.append(also(report))
    if report.causes:
        blocks.append(causes(report))
    rows = wanted.rows(report)
    if rows:
        blocks.append(layers(report, rows, wanted, ink))
    if report.estimate is not None:
        said = [*growth(report), *not_counted(report)]
        blocks.append("\n".join([memory(report.estimate), *map(one_line, said)]))
    if report.evaluation is not None:
        blocks.append(one_line(evaluated(report)))
    blocks.append(ink(one_line(verdict(report, settings)), style(report)))
    if report.remedies:
        blocks.append(remedies(report.remedies))
    return "\n\n".join(blocks)


def style(report: ModelReport) -> str:
    """How the verdict is written."""
    if report.problems or report.fits is False:
        return "over"
    return "bound" if report.status in ("lower-bound", "upper-bound") else "fits" if report.fits else "plain"


def heading(report: ModelReport) -> str:
    said = ", ".join(phrase(fact) for fact in facts(report))
    where = f"{report.path}:{report.line}"
    known = f"{named(report.framework, report.version)}, {status(report)}" if report.framework else status(report)
    lines = [f"{report.name}  {where}  {known}", *filter(None, [trained(report)]), said]
    over = [f"{fact.name} {value} ({source})" for fact in facts(report) for value, source in fact.passed_over]
    if over:
        lines.append(f"passed over: {', '.join(over)}")
    return "\n".join(map(one_line, lines))


def phrase(fact: StatedFact) -> str:
    """`batch 64 (train.py:41)`, `adam (option)`: the name where the value alone does not say it."""
    value = f"{fact.name} {fact.value}" if fact.name in ("input", "batch") else fact.value
    return f"{value} ({fact.source})" if fact.source else value


def parts(together: Sequence[Part]) -> str:
    """The models that one step trains together."""
    rows = [
        (
            one_line(part.name),
            one_line(f"{part.path}:{part.line}"),
            f"{part.parameters:,} parameters",
            "" if part.input_shape is None else f"input {stated(part.input_shape)}",
        )
        for part in together
    ]
    body = in_columns(rows, "llrl")
    return f"trained together in one step\n{body}"


def also(report: ModelReport) -> str:
    """What is in memory beside the model while it trains."""
    rows = [(one_line(what), one_line(where), units.show(size)) for what, where, size in beside(report)]
    body = in_columns(rows, "llr")
    return f"also in memory\n{body}"


def remedies(changes: Sequence[Remedy]) -> str:
    """What would make it smaller, each change alone."""
    rows = [(one_line(each.change), units.show(each.total), fitting(each.fits)) for each in changes]
    body = in_columns(rows, "lrl")
    return f"what would make it smaller, each change alone\n{body}"


def causes(report: ModelReport) -> str:
    lines = [one_line(f"  {cause.at(report.path)}") for cause in report.causes[:CAUSES_SHOWN]]
    if len(report.causes) > CAUSES_SHOWN:
        lines.append(f"  and {len(report.causes) - CAUSES_SHOWN} more")
    return "\n".join(["wrong:" if report.problems else "not known:", *lines])


def layers(report: ModelReport, rows: Sequence[Row], wanted: TableOptions = ALL, ink: Ink = PLAIN) -> str:
    """The layer table: what each layer keeps for the backward pass, for the whole batch."""
    cells = body(report, rows, wanted)
    width = NAME_WIDTH
    while True:
        text = in_columns(
            [(shortened(one_line(name), width), shortened(one_line(kind), width), one_line(line), *others)
             for name, kind, line, *others in cells],
            "llrrrrr",
            headers(rows, wanted),
        )  # fmt: skip
        if ink.columns is None or width <= NARROWEST or max(map(len, text.splitlines())) <= ink.columns:
            break
        width -= 4
    head, *rest = text.split("\n")
    return "\n".join([ink(head, "bold"), *rest])


def shortened(name: str, width: int = NAME_WIDTH) -> str:
    """A long module path without its middle: which part of the model it is stands at its beginning, which layer at
    its end."""
    if len(name) <= width:
        return name
    tail = name[-(width * 2 // 3) :]
    if "." in tail[1:-1]:
        tail = tail[tail.index(".", 1) :]
    return f"{name[: width - len(tail) - 1]}…{tail}"


def memory(estimate: Estimate) -> str:
    """The sums by term."""
    body = in_columns([(one_line(name), units.show(size)) for name, size in terms(estimate)], "lr")
    return f"memory {one_line(accounting(estimate))}\n{body}"
