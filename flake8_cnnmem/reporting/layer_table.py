"""The layer table's columns and cells, for all forms that print it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.reporting.phrases import line_of, mib, shape
from flake8_cnnmem.results import ModelReport, Row

Cells = tuple[str, str, str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What is asked of the layer table."""

    depth: int | None = None
    """Levels of modules that are rows of their own; None: the innermost layers."""
    outputs: bool = False
    """Whether what a layer writes stands in brackets behind what it keeps."""

    def rows(self, report: ModelReport) -> tuple[Row, ...]:
        return report.rows if report.rows_at is None else report.rows_at(self.depth)


def headers(rows: Sequence[Row], wanted: TableOptions) -> Cells:
    """The last column is what waits for the backward pass, where a step was replayed, else what is written."""
    size = "written, MiB" if not is_kept(rows) else "kept (written), MiB" if wanted.outputs else "kept, MiB"
    return ("layer", "type", "line", "output", "values", "parameters", size)


def is_kept(rows: Sequence[Row]) -> bool:
    return any(row.kept is not None for row in rows)


def kept_input(report: ModelReport) -> int:
    """What of the input waits for the backward pass beside what the layers are said to keep: a batch that the program
    makes itself is kept by the layer that reads it."""
    estimate = report.estimate
    if estimate is None or estimate.saved is None:
        return 0
    return max(0, estimate.saved - sum(size for _, size in estimate.kept_by))


def body(report: ModelReport, rows: Sequence[Row], wanted: TableOptions) -> list[Cells]:
    """One row each, with the input before them and the sums behind; `values` are per sample, bytes of the batch."""
    kept = is_kept(rows)

    def sized(held: int, written: int) -> str:
        if not kept:
            return mib(written)
        return f"{mib(held)} ({mib(written)})" if wanted.outputs else mib(held)

    found: list[Cells] = []
    values, written = sum(row.activations for row in rows), sum(row.bytes for row in rows)
    held = sum(row.kept or 0 for row in rows)
    given = report.training.input_shape
    if given is not None and None not in given.value:
        inputs = math.prod(side for side in given.value if side is not None)
        taken = report.estimate.input if report.estimate is not None else 0
        waiting = kept_input(report)
        values, written, held = values + inputs, written + taken, held + waiting
        found.append(("input", "", "", shape(given.value), f"{inputs:,}", "0", sized(waiting, taken)))
    for row in rows:
        line = line_of(row.line, row.path, report)
        sizes = (shape(row.output_shape), f"{row.activations:,}", f"{row.parameters:,}")
        found.append((row.name, row.type, line, *sizes, sized(row.kept or 0, row.bytes)))
    total = "" if report.parameters is None else f"{report.parameters:,}"
    found.append(("sum", "", "", "", f"{values:,}", total, sized(held, written)))
    return found
