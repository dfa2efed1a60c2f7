"""Text to a syntax tree, and on to libcst's: within bounds of size, density and depth.

libcst is imported only when something is parsed by it: it costs more than all of flake8's start.
"""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from flake8_cnnmem.text.deferred_bodies import DeferredBody
from flake8_cnnmem.text.match_patterns import endless_pattern, may_match

if TYPE_CHECKING:
    import libcst

    Part = tuple[libcst.BaseStatement | libcst.BaseSmallStatement, ast.stmt]
    """A statement as libcst has it, and its twin in Python's own tree."""

LARGEST = 512 * 1024
"""Bytes. libcst parses about 0.5 MB a second and takes 300 B of memory a byte; the longest hand-written module of
PyTorch, Keras or timm has 280 kB."""

MOST_NODES = 90_000
"""Nodes of the syntax tree and lines of what is parsed at once. libcst takes some 20 us and 2.5 kB for each, and text
can hold one for every second letter; hand-written code has one for eight, a module of 280 kB some 35,000."""

MOST_PARTS = 10_000
"""Opening braces of a line: before Python 3.12 `ast` takes the square of an f-string's parts, 0.2 s for as many."""

DENSE = "the file is too dense to be followed (too many expressions and statements)"

DEEPEST = 400
"""Levels of a syntax tree. libcst's time grows with the square of a chain's length (1.6 s for 1,600 attributes)
and its parser overruns the C stack at some 5,000; hand-written code stays below 50."""

NESTED = "an expression or block is nested too deeply to be parsed"


class SourceError(Exception):
    """A file that cannot be read or parsed. `reason` is one plain sentence without a full stop; `line` 0 if unknown."""

    def __init__(self, reason: str, path: str = "", line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.line = line

    def again(self, path: str) -> SourceError:
        """The same to be raised anew: an exception raised twice drags its first traceback along."""
        return SourceError(self.reason, path, self.line)


def parse(text: str, path: str = "") -> ast.Module:
    """`ast.parse` within bounds. Raises SourceError, whatever the text is."""
    check_size(len(text), path)
    if text.count(";") > MOST_NODES // 2:
        # `ast` takes as much memory for a statement as for a line of text.
        raise SourceError(DENSE, path)
    if text.count("{") > MOST_PARTS and any(line.count("{") > MOST_PARTS for line in text.split("\n")):
        raise SourceError(DENSE, path)
    try:
        with warnings.catch_warnings():
            # A bad escape in somebody's string is theirs to hear of when it runs, not ours to print.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        raise SourceError(f"not valid Python: {error.msg}", path, error.lineno or 0) from None
    except ValueError as error:
        raise SourceError(f"not valid Python: {error}", path) from None
    except (RecursionError, MemoryError):
        raise SourceError(NESTED, path) from None
    check_patterns(tree, text, path)
    return tree


def parse_cst(text: str, tree: ast.Module, path: str = "") -> libcst.Module:
    """`libcst.parse_module` within bounds. Raises SourceError, whatever the text is."""
    check_size(len(text), path)
    if len(text) > MOST_NODES and is_dense(tree, text.count("\n")):
        raise SourceError(DENSE, path)
    # A tree that flake8 has made has not come through `parse`.
    check_patterns(tree, text, path)
    line = too_deep(tree)
    if line is not None:
        raise SourceError("an expression or block is nested too deeply to be followed", path, line)
    from flake8_cnnmem.source.syntax import cst

    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise SourceError("libcst cannot parse this file", path, error.raw_line) from None
    except (RecursionError, MemoryError):
        raise SourceError("an expression or block is nested too deeply to be followed", path) from None


def parse_body(body: DeferredBody, path: str) -> tuple[libcst.BaseSuite, list[ast.stmt]]:
    """The body of a function that was put off, as libcst has it and as `ast` has it. Raises SourceError as `parse_cst`
    does."""
    text = f"if 1:\n{body.text}"
    tree = parse("\n" * (body.lineno - 2) + text, path)
    [whole], [twin] = parse_cst(text, tree, path).body, tree.body
    return whole.body, twin.body  # type: ignore[return-value,attr-defined]


def pairs(nodes: Iterable[libcst.BaseStatement], twins: Sequence[ast.stmt]) -> Iterator[Part]:
    """Statements as libcst has them, those on one line each by itself, with what `ast` makes of each."""
    flat: list[Any] = []
    for node in nodes:
        flat.extend(getattr(node, "body", ()) if type(node).__name__ == "SimpleStatementLine" else [node])
    return zip(flat, twins, strict=True)


def check_patterns(tree: ast.Module, text: str, path: str) -> None:
    """Raises SourceError for patterns of which parsers try too many ways."""
    line = endless_pattern(tree, text) if may_match(text) else 0
    if line:
        raise SourceError(NESTED, path, line)


def check_size(size: int, path: str = "", largest: int = LARGEST) -> None:
    if size > largest:
        raise SourceError(f"the file is too large to be followed ({size // 1024} KiB, at most {largest // 1024})", path)


def is_dense(tree: ast.Module, lines: int) -> bool:
    counted = (node for node in ast.walk(tree) if not isinstance(node, ast.expr_context))
    return any(itertools.islice(counted, max(MOST_NODES - lines, 0), None))


def too_deep(tree: ast.Module) -> int | None:
    """The line of a place that is nested deeper than libcst's recursive parser can take, or None.

    `a and b and c`, `import a.b.c` are flat in the syntax tree, but not in libcst's.
    """
    waiting: list[tuple[ast.AST, int, int]] = [(tree, 0, 1)]
    while waiting:
        node, depth, line = waiting.pop()
        line = getattr(node, "lineno", line)
        if is_short(node, depth):
            continue
        if depth + _chain(node) > DEEPEST:
            return line
        waiting.extend((child, depth + 1, line) for child in ast.iter_child_nodes(node))
    return None


def is_short(node: ast.AST, depth: int) -> bool:
    """Whether a simple statement or an expression has too few characters to be nested that deeply: each level takes
    one at least."""
    if not isinstance(node, (ast.expr, ast.stmt)) or node.lineno != node.end_lineno:
        return False
    return depth + (node.end_col_offset or 0) - node.col_offset < DEEPEST


def _chain(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values)
    if isinstance(node, ast.Import):
        return max(alias.name.count(".") for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").count(".")
    return 0
