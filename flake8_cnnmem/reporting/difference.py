"""What differs between two revisions: a table for people, JSON for programs, a comment for a review.

Names, causes and sources come from the code that was analysed: in Markdown they are data.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import flake8_cnnmem
from flake8_cnnmem import units
from flake8_cnnmem.difference.changes import Change, LayerChange, ModelChange
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.reporting import as_json, markdown
from flake8_cnnmem.reporting.columns import in_columns
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.text.lines import position
from flake8_cnnmem.unknown import Unknown

LAYERS_SHOWN = 5
LAYERS_FOLDED = 40

HEADERS = ("model", "where", "memory", "change", "largest batch", "parameters", "verdict")


@dataclass(frozen=True, slots=True)
class Difference:
    """All that differs between `base` and `head`, the work tree where that is empty; `problems` were not compared."""

    base: str
    head: str
    entries: tuple[ModelChange, ...]
    problems: tuple[Unknown, ...] = ()

    @property
    def between(self) -> str:
        return f"between {self.base} and {self.head or 'the work tree'}"


def table(difference: Difference) -> str:
    """For a terminal: one row a model, then what accounts for each."""
    if not difference.entries:
        return one_line(f"no model changed {difference.between}")
    rows = [[one_line(cell) for cell in cells(entry)] for entry in difference.entries]
    blocks = [
        one_line(summary(difference)),
        in_columns(rows, headers=HEADERS),
    ]
    for entry in difference.entries:
        lines = [f"{title(entry)}:"]
        for reason in reasons(entry):
            lines += [f"  {reason.line}", *(f"    {line}" for line in reason.layers)]
        if len(lines) > 1:
            blocks.append("\n".join(map(one_line, lines)))
    return "\n\n".join(blocks)


def as_markdown(difference: Difference) -> str:
    """A review comment as it stands: a summary line, the table, the details folded."""
    if not difference.entries:
        return markdown.escape(f"No model changed {difference.between}.")
    rows = []
    for entry in difference.entries:
        name, where, *others = cells(entry)
        rows.append([markdown.code(name), markdown.code(where), *others])
    blocks = [
        f"**{markdown.escape(summary(difference))}**",
        markdown.table(rows, [*HEADERS[:-1], ""], "llrrrrl"),
    ]
    for entry in difference.entries:
        lines = []
        for reason in reasons(entry, LAYERS_FOLDED):
            lines += [f"- {markdown.escape(reason.line)}", *(f"  - {markdown.escape(line)}" for line in reason.layers)]
        if lines:
            blocks.append(markdown.details(markdown.entities(title(entry)), "\n".join(lines)))
    blocks.append("<sub>One training step, by flake8-cnnmem. Limits and options are those of the work tree.</sub>")
    return "\n\n".join(blocks)


def as_document(difference: Difference) -> str:
    """For programs: both sides as `cnnmem report --format json` gives a model, and the changes."""
    document = {
        "cnnmem": flake8_cnnmem.__version__,
        "schema": as_json.SCHEMA,
        "base": difference.base,
        "head": difference.head or None,
        "models": [
            {
                "name": entry.report.name,
                "path": entry.report.path,
                "change": kind(entry),
                "bytes": entry.bytes,
                "before": None if entry.before is None else as_json.model(entry.before),
                "after": None if entry.after is None else as_json.model(entry.after),
                "changes": [change_document(change) for change in entry.changes],
            }
            for entry in difference.entries
        ],
        "problems": [{"reason": each.reason, "path": each.path, **position(each.line)} for each in difference.problems],
    }
    return json.dumps(document, indent=2)


FORMATS: dict[str, Callable[[Difference], str]] = {"table": table, "json": as_document, "markdown": as_markdown}


def kind(entry: ModelChange) -> str:
    return "new" if entry.before is None else "gone" if entry.after is None else "changed"


def summary(difference: Difference) -> str:
    """`2 models changed, 1 new, 1 over the limit, between main and the work tree`."""
    counts = {word: sum(kind(entry) == word for entry in difference.entries) for word in ("changed", "new", "gone")}
    over = sum(entry.after is not None and entry.after.fits is False for entry in difference.entries)
    parts = []
    if counts["changed"]:
        parts.append(f"{counts['changed']} model{'s' if counts['changed'] > 1 else ''} changed")
    for word in ("new", "gone"):
        if counts[word]:
            plural = "" if parts else " model" if counts[word] == 1 else " models"
            parts.append(f"{counts[word]}{plural} {word}" if word == "gone" else f"{counts[word]} new{plural}")
    if over:
        parts.append(f"{over} over the limit")
    return f"{', '.join(parts)}, {difference.between}"


def cells(entry: ModelChange) -> list[str]:
    report = entry.report
    return [
        report.name,
        f"{report.path}:{report.line}",
        from_to(memory_of(entry.before), memory_of(entry.after)) if entry.before and entry.after
        else memory_of(report),
        change_of(entry),
        two_sided(entry, lambda side: "" if side.largest_batch_size is None else str(side.largest_batch_size)),
        two_sided(entry, lambda side: "" if side.parameters is None else f"{side.parameters:,}"),
        verdict(entry),
    ]  # fmt: skip


def two_sided(entry: ModelChange, say: Callable[[ModelReport], str]) -> str:
    return from_to(*(say(side) for side in (entry.before, entry.after) if side is not None))


def from_to(*sides: str) -> str:
    """`4 → 5`; one of them where both are alike or only one side is there."""
    said = list(dict.fromkeys(sides))
    return " → ".join(side or "?" for side in said) if len(said) > 1 else said[0]


def memory_of(side: ModelReport | None) -> str:
    if side is None:
        return ""
    if side.estimate is None:
        return "unknown"
    return f"{'at least ' if side.status == 'lower-bound' else ''}{units.show(side.estimate.total)}"


def change_of(entry: ModelChange) -> str:
    if kind(entry) != "changed":
        return kind(entry)
    if entry.bytes is None:
        return "unknown"
    assert entry.before is not None
    assert entry.before.estimate is not None
    if not entry.bytes:
        return "0"
    total = entry.before.estimate.total
    percent = f" ({100 * entry.bytes / total:+.1f}%)" if total else ""
    return f"{signed(entry.bytes)}{percent}"


def signed(size: int) -> str:
    return f"{'+' if size > 0 else '-' if size < 0 else ''}{units.show(abs(size))}"


def verdict(entry: ModelChange) -> str:
    """What counts in the review: whether it fits now, and whether that is new."""
    after = entry.after
    if after is None:
        return "gone"
    if after.estimate is None:
        return "not estimated"
    if after.limit is None:
        return "no limit"
    needs, limit = units.show_apart(after.estimate.total, after.limit)
    if after.fits is False:
        return f"over the {limit} limit" + ("" if needs == memory_of(after) else f" ({needs})")
    if after.fits is None:
        return f"not known whether it fits {limit}"
    was_over = entry.before is not None and entry.before.fits is False
    return f"fits {limit}{', again' if was_over else ''}"


def title(entry: ModelChange) -> str:
    report, before = entry.report, entry.before
    renamed = ""
    if before is not None and (before.name, before.path) != (report.name, report.path):
        renamed = f" (was {before.name} in {before.path})"
    return f"{report.name}, {report.path}:{report.line}{renamed}"


@dataclass(frozen=True, slots=True)
class Reason:
    """One line of what accounts for a change, and the layers below it."""

    line: str
    layers: tuple[str, ...] = ()


def reasons(entry: ModelChange, most: int = LAYERS_SHOWN) -> list[Reason]:
    """What accounts for the change; for a new model what it is estimated with."""
    found: list[Reason] = []
    for change in entry.changes:
        # Those that hold and write nothing differ because others do.
        weighing = [each for each in change.layers if each.parameters or each.activations] or change.layers
        lines = [layer(each) for each in weighing[:most]]
        if len(weighing) > most:
            lines.append(f"and {len(weighing) - most} more")
        found.append(Reason(said(change), tuple(lines)))
    report = entry.report
    if kind(entry) == "new":
        training = report.training
        told = [
            f"batch size {training.batch_words} ({training.drawn.place})",
            f"{training.optimizer.value} ({training.optimizer.place})",
            f"{training.dtype.value} ({training.dtype.place})",
        ]
        found.append(Reason(", ".join(told)))
    if report.causes and not any(change.what == "what is known" for change in entry.changes):
        found.append(Reason(f"not known: {report.causes[0].at(report.path)}"))
    return found


def said(change: Change) -> str:
    share = "" if change.bytes is None else f": {signed(change.bytes) if change.bytes else 'no difference'}"
    if change.what in ("layers", "the way the step is computed"):
        return f"{change.what}{share}"
    if change.what == "limit":
        sides = [units.show(int(side)) if side.isdigit() else side for side in (change.before, change.after)]
        return f"limit {sides[0]} → {sides[1]}"
    before = f" ({change.before_source})" if change.before_source else ""
    after = f" ({change.after_source})" if change.after_source else ""
    return f"{change.what} {change.before}{before} → {change.after}{after}{share}"


def layer(each: LayerChange) -> str:
    """`layer1.0.conv1 Conv2d 64x56x56 → 128x56x56, 36,864 → 147,456 parameters (resnet.py:41)`."""
    sides = [row for row in (each.before, each.after) if row is not None]
    kinds = from_to(*(row.type for row in sides))
    shapes = from_to(*("x".join("?" if n is None else str(n) for n in row.output_shape) or "1" for row in sides))
    counts = from_to(*(f"{row.parameters:,}" for row in sides))
    parameters = f", {counts} parameters" if any(row.parameters for row in sides) else ""
    what = "new: " if each.before is None else "gone: " if each.after is None else ""
    return f"{what}{each.name} {kinds} {shapes}{parameters} ({each.place})"


def change_document(change: Change) -> dict[str, Any]:
    return {
        "what": change.what,
        "before": {"value": change.before, "source": change.before_source},
        "after": {"value": change.after, "source": change.after_source},
        "bytes": change.bytes,
        "layers": [layer_document(each) for each in change.layers],
    }


def layer_document(each: LayerChange) -> dict[str, Any]:
    def row(side: Any) -> dict[str, Any] | None:
        if side is None:
            return None
        return {
            "type": side.type, **position(side.line), "output_shape": list(side.output_shape),
            "parameters": side.parameters, "activations": side.activations,
        }  # fmt: skip

    return {"name": each.name, "place": each.place, "before": row(each.before), "after": row(each.after)}
