"""Where the input's size, the optimizer and the dtype of a training are written, which the code uses somewhere else.

Each starts from where the fact is used, as it was found by evaluation, and is followed through the text as `written`
does it. Asked for when a report shows it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evidence.written import (
    BY_SIZES,
    Place,
    Search,
    Spellings,
    SyntaxIndex,
    arguments,
    indices_of,
    name_of,
    text_of,
    written_at,
    written_for,
)
from flake8_cnnmem.graph import Site
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.values import Instance, Value

MOST_OBJECTS = 60
"""Objects within a data set (transforms and what they hold) whose construction is looked at."""

HALVES: dict[str, Spellings] = {
    "float16": frozenset(("float16", "fp16", "half", "16", "16-mixed", "16-true", "mixed_float16")),
    "bfloat16": frozenset(("bfloat16", "bf16", "bf16-mixed", "bf16-true", "mixed_bfloat16")),
}
"""How settings spell the dtypes of mixed precision."""

PRECISIONS = ("precision", "mixed_precision", "fp16", "bf16", "amp", "use_amp", "half")
"""Arguments by which trainers are told."""


def input_written_at(
    stated_by: Site | None, shape: Sequence[int | None], loaders: Sequence[Instance], run: Interpreter
) -> Place | None:
    """Where the longest side of an input is written: by what states it, else by the data set that gives it, in the
    calls that make it and its transforms."""
    side = max((size for size in shape if size is not None), default=0)
    if side < 2:
        return None
    place = written_at(stated_by, side, run)
    if place is not None:
        return place
    makers = list(makers_of_samples(loaders))
    found = {place for site in makers if (place := written_for(site, side, run)) is not None}
    if not found:
        # A data set of known images: the line that chooses it.
        own = indices_of(run)
        sets = [each.attributes.get("dataset") for each in loaders]
        found = {(each.site.path, each.site.line) for each in sets if isinstance(each, Instance) and each.site}
        found = {place for place in found if place[0] in own}
    return found.pop() if len(found) == 1 else None


def batch_written_at(site: Site | None, size: int, run: Interpreter) -> Place | None:
    """Where the batch size is written that a call uses, by itself or by a tensor that it is given: the first of the
    sizes that the tensor is made by (`torch.randn(batch, 3, 64, 64)`), whatever number the others are."""
    place = written_at(site, size, run)
    node = site.node if isinstance(site, StatementSite) else None
    if place is not None or site is None or not isinstance(node, ast.Call) or site.path not in indices_of(run):
        return place
    found = {
        place
        for first in first_sizes(node, indices_of(run)[site.path])
        if (place := Search(size, run).place(first, site.path, first.lineno)) is not None
    }
    place = found.pop() if len(found) == 1 else None
    return None if place == (site.path, site.line) else place


def first_sizes(node: ast.Call, file: SyntaxIndex) -> Iterator[ast.expr]:
    """The first size of each tensor that a call is given, where it is made by its sizes."""
    for given in (node, *node.args):
        values = [given]
        if isinstance(given, ast.Name):
            scopes = (*file.around(node.lineno), None)
            values = next((found for scope in scopes if (found := file.values_of(given.id, scope))), [])
        for value in values:
            for each in ast.walk(value):
                if isinstance(each, ast.Call) and name_of(each.func) in BY_SIZES and each.args:
                    first = each.args[0]
                    yield first.elts[0] if isinstance(first, (ast.Tuple, ast.List)) and first.elts else first


def makers_of_samples(loaders: Sequence[Instance]) -> Iterator[Site]:
    """Where the data sets of loaders are made, and the objects that they hold."""
    waiting: list[Value] = [loader.attributes.get("dataset") for loader in loaders]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_OBJECTS:
        value = waiting.pop(0)
        if id(value) in seen:
            continue
        if isinstance(value, Instance):
            seen.add(id(value))
            if value.site is not None:
                yield value.site
            waiting += value.attributes.values()
            waiting += value.native.values() if isinstance(value.native, dict) else [value.native]
        elif isinstance(value, (list, tuple)):
            waiting += value[:MOST_OBJECTS]


def optimizer_written_at(site: Site | None, optimizer: Optimizer, run: Interpreter) -> Place | None:
    """Where the word is written by which an optimizer is chosen: from a table, by `getattr`, by the test of an `if`."""
    words = frozenset((optimizer.name, "sgd") if optimizer.name == "momentum" else (optimizer.name,))
    place = written_at(site, words, run)
    if place is not None or not isinstance(site, StatementSite):
        return place
    file = indices_of(run).get(site.path)
    for test in file.tests if file is not None else ():
        if test.body[0].lineno <= site.line <= (test.body[-1].end_lineno or 0):
            compared = chosen_by(test.test, words)
            if compared is not None:
                return Search(words, run).place(compared, site.path, test.lineno)
    return None


def chosen_by(test: ast.expr, words: Spellings) -> ast.expr | None:
    """`args.optimizer` of `args.optimizer == "adam"`, `args.optimizer.lower() == "adam"`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return None
    for word, other in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        if text_of(word).lower() in words:
            if isinstance(other, ast.Call) and isinstance(other.func, ast.Attribute) and not other.args:
                return other.func.value
            return other
    return None


def dtype_written_at(site: Site | None, dtype: str, run: Interpreter) -> Place | None:
    """Where mixed precision is turned on that a call runs in: by a setting that its region reads, at the region, or by
    what a trainer is told."""
    words = HALVES.get(dtype.removeprefix("mixed_"))
    if words is None or not isinstance(site, StatementSite):
        return None
    files = indices_of(run)
    file = files.get(site.path)
    if file is not None:
        around = [each for each in file.regions if each.lineno <= site.line <= (each.end_lineno or 0)]
        entered = [(each.lineno, item.context_expr) for each in around[::-1] for item in each.items]
        for line, node in entered:
            for call in autocasts(node, line, file):
                return told(call, words, site.path, run) or (site.path, call.lineno)
    found = {
        place
        for path, each in files.items()
        for call in each.calls
        for word in call.keywords
        if word.arg in PRECISIONS
        for sought in (words, True, 16)
        if (place := Search(sought, run).place(word.value, path, call.lineno)) is not None
    }
    return found.pop() if len(found) == 1 else None


def autocasts(node: ast.expr, line: int, file: SyntaxIndex) -> Iterator[ast.Call]:
    """The calls of `autocast` in what a region is entered by, or in what its variable is set to."""
    entered = [node]
    if isinstance(node, ast.Name):
        entered = [value for scope in (*file.around(line), None) for value in file.values_of(node.id, scope)]
    for value in entered:
        for each in ast.walk(value):
            if isinstance(each, ast.Call) and name_of(each.func) == "autocast":
                yield each


def told(call: ast.Call, words: Spellings, path: str, run: Interpreter) -> Place | None:
    """By its flag, or by the name of its dtype."""
    for name, sought in (("enabled", True), ("dtype", words)):
        for word in call.keywords:
            if word.arg == name:
                for node in arguments(word.value):
                    place = Search(sought, run).place(node, path, call.lineno)
                    if place is not None:
                        return place
    return None
