"""What hints say, in words and figures."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from flake8_cnnmem import dims, frameworks, units
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.hints.collected import ExpressionFacts, is_tensors
from flake8_cnnmem.hints.model import Hint, Told
from flake8_cnnmem.reporting.phrases import status
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

MOST_SHAPES = 6
"""Different shapes at one line that a hover lists."""

MOST_ITEMS = 8
"""Items of a tuple that are shown."""

MOST_CALLS = 3
"""Calls of a layer that are named."""


def hint_at(found: ExpressionFacts, report: ModelReport, counts: Sequence[int]) -> Hint | None:
    """What stands behind an expression; None where nothing does: behind names, numbers, layers without weights.
    `counts` are the parameters of its layers."""
    if not isinstance(found.node, ast.Call):
        return None
    tensors = [value for value in found.values if is_tensors(value)]
    shape, kept = span_of_shapes(tensors), found.kept if tensors else None
    if not tensors and found.uncalled:
        shape, kept = span_of_shapes(found.uncalled), found.kept_by_layers
    parameters = in_numbers(counts)
    if not shape and not parameters:
        return None
    return worded(Hint(found.span, shape, parameters, kept, "", detail_of(shape, parameters, kept, report)))


def worded(hint: Hint) -> Hint:
    kept = f"keeps {units.show(hint.kept)}" if hint.kept else ""
    return replace(hint, text="  ".join(filter(None, (hint.shape, hint.parameters, kept))))


def detail_of(shape: str, parameters: str, kept: int | None, report: ModelReport) -> str:
    said = [f"{report.name}"]
    if shape:
        said.append(f"gives {shape}")
    if parameters:
        said.append(parameters)
    if kept:
        batch = report.training.batch_size.value
        said.append(f"keeps {units.show(kept)} for the backward pass at batch {batch}{share_of(kept, report)}")
    return ", ".join(said)


def share_of(size: int, report: ModelReport) -> str:
    """`, 12% of what the step needs`."""
    total = report.estimate.total if report.estimate is not None else 0
    percent = round(100 * size / total) if total else 0
    if not total:
        return ""
    return f", {percent}% of the {report.bound}{units.show(total)} that the step needs" if percent else ""


def span_of_shapes(values: Sequence[Value]) -> str:
    """`(N, 64, 56, 56)`; where a line runs several times with others, the first and the last of them."""
    shown = list(dict.fromkeys(in_words(value, dtype=False) for value in values))
    if len(shown) <= 2:
        return " and ".join(shown)
    return f"{shown[0]} to {shown[-1]}"


def in_words(value: Value, dtype: bool = True) -> str:
    """A value as people print it: `(N, 400) float32`, `16`, `N`, `((N, 64), (N, 32))`."""
    if isinstance(value, Tensor):
        if isinstance(value.shape, Unknown):
            return f"a tensor whose shape is not known: {value.shape.reason}"
        kind = f" {value.dtype}" if dtype and value.dtype != "float" else ""
        return dims.show(value.shape) + kind
    if isinstance(value, Unknown):
        return f"not known: {value.reason}"
    if isinstance(value, (tuple, list)):
        items = [in_words(item, dtype) for item in value[:MOST_ITEMS]] + (["..."] if len(value) > MOST_ITEMS else [])
        brackets = "()" if isinstance(value, tuple) else "[]"
        return f"{brackets[0]}{', '.join(items)}{',' if len(value) == 1 and brackets == '()' else ''}{brackets[1]}"
    if isinstance(value, Instance):
        return f"a {value.cls.name}"
    if isinstance(value, (bool, int, float, Batch)):
        return repr(value)
    return f"a {type(value).__name__}"


def in_numbers(counts: Sequence[int]) -> str:
    """`9,408 parameters`, `2,359,296 parameters in 3 layers`; empty for layers without. `counts` are those of each."""
    counts = [count for count in counts if count]
    total = sum(counts)
    if not total:
        return ""
    said = f"{total:,} parameter{'' if total == 1 else 's'}"
    return said if len(counts) == 1 else f"{said} in {len(counts)} layers"


def parameters_of(layer: Instance, report: ModelReport) -> int:
    """The values of the parameters in a layer, as far as their sizes are known."""
    if report.model is not None and layer is report.model.root and not report.parts:
        return report.parameters or 0
    framework = frameworks.of_layer(layer)
    total = 0
    for weight in framework.weights(layer) if framework is not None else ():
        if not weight.buffer and not isinstance(weight.shape, Unknown):
            size = dims.product(weight.shape)
            total += size if isinstance(size, int) else 0
    return total


def told_at(found: ExpressionFacts, report: ModelReport, counts: Sequence[int]) -> Told:
    """What is said of an expression to who asks for it. `counts` are the parameters of its layers."""
    shown = list(dict.fromkeys(in_words(value) for value in found.values))
    more = [f"and {len(shown) - MOST_SHAPES} more"] if len(shown) > MOST_SHAPES else []
    lines: list[str] = []
    if found.layers:
        lines += layer_lines(found, report, counts)
    kept = found.kept if found.values else found.kept_by_layers
    if kept:
        batch = report.training.batch_size.value
        lines.append(f"keeps {units.show(kept)} for the backward pass at batch {batch}{share_of(kept, report)}")
    if len(found.calls) > 0:
        named = ", ".join(str(span.line) for span in found.calls[:MOST_CALLS])
        lines.append(f"called in line {named}{' and elsewhere' if len(found.calls) > MOST_CALLS else ''}")
    lines.append(f"{report.name}: {status(report)}")
    target = report.target.partition("::")[2]
    return Told(found.span, "\n".join([*shown[:MOST_SHAPES], *more]), tuple(lines), target)


def layer_lines(found: ExpressionFacts, report: ModelReport, counts: Sequence[int]) -> Iterator[str]:
    """The rows of the layers that are made here."""
    names = report.model.paths if report.model is not None else {}
    for layer, count in zip(found.layers[:MOST_CALLS], counts, strict=False):
        said = [names.get(id(layer)) or report.name, layer.cls.name]
        yield ", ".join([*said, f"{count:,} parameters"] if count else said)
    if len(found.layers) > MOST_CALLS:
        whole = in_numbers(counts) or "no parameters"
        yield f"and {len(found.layers) - MOST_CALLS} more layers: {whole} in all"
    if found.uncalled and not found.values:
        yield f"gives {span_of_shapes(found.uncalled)}"


def without_repeats(hints: Iterable[Hint]) -> list[Hint]:
    """The hints of a file in the order of their ends. What an expression keeps is counted at the innermost hint; one
    that says no more than the call around it on the same line goes."""
    left: list[Hint] = []
    for hint in sorted(hints, key=lambda each: (*each.span[2:], -each.span.line, -each.span.column)):
        whole = hint
        for other in directly_inside(hint, left):
            if other.span.end_line != hint.span.end_line:
                continue
            if not other.shape and not hint.parameters and other.span[:2] == hint.span[:2]:
                # `Conv2D(64, 3)(x)`: the layer is made where it is called.
                whole = replace(whole, parameters=other.parameters)
                left.remove(other)
            elif other.shape in ("", hint.shape) and number(other) in ("", number(hint)):
                left.remove(other)
        left.append(whole)
    return [worded(exclusive(hint, left)) for hint in left]


def number(hint: Hint) -> str:
    """How many parameters it tells, without in how many layers they are."""
    return hint.parameters.partition(" ")[0]


def exclusive(hint: Hint, hints: Sequence[Hint]) -> Hint:
    """A hint that does not count again what those inside of it say."""
    if hint.kept is None:
        return hint
    inside = sum(each.kept or 0 for each in directly_inside(hint, hints))
    return replace(hint, kept=max(0, hint.kept - inside))


def directly_inside(hint: Hint, hints: Sequence[Hint]) -> list[Hint]:
    """The hints within the expression of one, those within each other left out."""
    inside = [each for each in hints if each is not hint and hint.span.holds(each.span)]
    return [each for each in inside if not any(other is not each and other.span.holds(each.span) for other in inside)]
