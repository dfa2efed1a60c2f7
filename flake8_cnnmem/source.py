"""The one place that reads and parses files: text, syntax tree, libcst module, each when it is first asked for.

Nothing here runs, imports or compiles what it reads. libcst is imported only when its module is wanted: it
costs more than all of flake8's start.
"""

from __future__ import annotations

import ast
import io
import itertools
import os
import sys
import tokenize
import warnings
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from flake8_cnnmem.settings.directives import Directives
from flake8_cnnmem.supported import MARKERS
from flake8_cnnmem.text import notebook
from flake8_cnnmem.text.deferred_bodies import LONG, DeferredBody, defer_bodies, first_line
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.text.match_patterns import endless_pattern
from flake8_cnnmem.text.notebook import Notebook
from flake8_cnnmem.text.python2 import modernised

if TYPE_CHECKING:
    import libcst

    Part = tuple[libcst.BaseStatement | libcst.BaseSmallStatement, ast.stmt]

DIRECTIVE = "cnnmem"

LARGEST = 512 * 1024
"""Bytes. libcst parses about 0.5 MB a second and takes 300 B of memory a byte; the longest hand-written module of
PyTorch, Keras or timm has 280 kB."""

MOST_NODES = 90_000
"""Nodes of the syntax tree and lines of what is parsed at once. libcst takes some 20 us and 2.5 kB for each, and text
can hold one for every second letter; hand-written code has one for eight, a module of 280 kB some 35,000."""

DENSE = "the file is too dense to be followed (too many expressions and statements)"

DEEPEST = 400
"""Levels of a syntax tree. libcst's time grows with the square of a chain's length (1.6 s for 1,600 attributes)
and its parser overruns the C stack at some 5,000; hand-written code stays below 50."""

HELD = 96 * 2**20
"""Bytes of memory for what has been parsed and may be asked for again, by the next file or the next import."""

ENTRY, TREE, PARSED = 2000, 30, 80
"""Bytes of memory for a file, for each character of it in a syntax tree, and for each that libcst has parsed, with what
is compiled from it. Measured over torchvision's models."""


Key = tuple[str, Hashable]
"""A file: its path as it was asked for (with the folder it starts from), and its version."""


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


class Span(NamedTuple):
    """A top-level statement: its first and last line, and where the text of these lines begins and ends."""

    first: int
    last: int
    start: int
    end: int


class Syntax:
    """What one text is parsed to, on demand. Shared by all files with that text, and by all evaluations."""

    __slots__ = (
        "floors", "kept", "keys", "mentioned", "outline", "parts", "python", "sound", "spans", "text", "tree", "weight",
        "whole",
    )  # fmt: skip

    def __init__(self, text: str, tree: ast.Module | None) -> None:
        self.text = text
        self.python = text
        """The text as today's Python writes it."""
        self.floors = False
        """Whether dividing whole numbers gives a whole number, as in Python 2."""
        self.tree: ast.Module | SourceError | None = tree
        self.whole: libcst.Module | SourceError | None = None
        self.sound = False
        """Whether the text has been parsed and is Python."""
        self.spans: list[Span] | None = None
        self.parts: dict[int, Part] = {}
        """libcst's form of each top-level statement and its twin, by its place: those that have been parsed."""
        self.outline: Any = None
        """What the evaluator has noted of the statements: which names each concerns."""
        self.mentioned: dict[object, list[int]] | None = None
        """By a name or a string: the statements that mention it, once a registry was looked through for it."""
        self.keys: list[tuple[str, Hashable]] = []
        """The files on the shelf that have this text."""
        self.kept = False
        """Whether it stands on the shelf."""
        self.weight = ENTRY + sys.getsizeof(text) + (0 if tree is None else TREE * len(text))
        """Bytes of memory that it takes, by and large."""

    def grow(self, size: int) -> None:
        self.weight += size
        if self.kept:
            SHELF.weight += size


class Source:
    """One file: `path` as findings name it, `text`, and what is parsed from it on demand.

    `tree` may be handed in by who has it already (flake8).
    """

    def __init__(self, path: str, text: str, tree: ast.Module | None = None, notebook: Notebook | None = None) -> None:
        self.path = path
        self.text = text
        self.notebook = notebook
        self.compiled: dict[int, Any] = {}
        """By place: what the evaluator makes of a top-level statement. Nothing in it belongs to one evaluation."""
        self.syntax = Syntax(text, tree)
        self.own_tree: ast.Module | None = None
        """The syntax tree of a file that is run from top to bottom: nobody makes it let go of it."""

    def check(self) -> None:
        """Raises SourceError for what is no Python, too large or too deeply nested."""
        if not self.syntax.sound:
            self.tree  # noqa: B018  parsing it is the check

    @property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises SourceError as `check` does."""
        if self.own_tree is not None:
            return self.own_tree
        syntax = self.syntax
        if syntax.tree is None:
            try:
                syntax.tree = self.parse_any()
                if self.notebook is not None:
                    self.notebook.place(syntax.tree)
                syntax.grow(TREE * len(self.text))
            except SourceError as error:
                syntax.tree = error
        if isinstance(syntax.tree, SourceError):
            raise syntax.tree.again(self.path)
        syntax.sound = True
        return syntax.tree

    def parse_any(self) -> ast.Module:
        """The syntax tree of a text of any Python. Raises SourceError as `parse` does for the text as it is."""
        syntax = self.syntax
        try:
            return parse(self.text, self.path)
        except SourceError:
            if len(self.text) > LARGEST or self.notebook is not None:
                raise
            written = modernised(self.text)
            if written.text == self.text:
                raise
            try:
                tree = parse(written.text, self.path)
            except SourceError:
                tree = None
            if tree is None:
                raise
        syntax.python, syntax.floors = written
        return tree

    @property
    def python(self) -> str:
        """The text as today's Python writes it, once it has been parsed."""
        return self.syntax.python

    @property
    def floors(self) -> bool:
        """Whether dividing whole numbers gives a whole number in it."""
        return self.syntax.floors

    def release(self) -> None:
        """Let go of the syntax tree of an imported module. It takes most of the memory of an evaluation, and few of its
        statements are needed: those are parsed anew, each by itself."""
        syntax = self.syntax
        if isinstance(syntax.tree, ast.Module) and self.notebook is None:
            self.spans()
            syntax.tree = None
            syntax.grow(-TREE * len(self.text))

    def spans(self) -> list[Span]:
        """Where each top-level statement stands, decorators included. Raises SourceError as `check` does."""
        syntax = self.syntax
        if syntax.spans is None:
            starts = [0, *itertools.accumulate(len(line) + 1 for line in syntax.python.split("\n"))]
            lines = ((first_line(node), node.end_lineno or node.lineno) for node in self.tree.body)
            syntax.spans = [Span(first, last, starts[first - 1], starts[last] - 1) for first, last in lines]
        return syntax.spans

    @property
    def cst(self) -> libcst.Module:
        """The libcst module. Raises SourceError as `tree` does, and for what libcst cannot take."""
        syntax = self.syntax
        if syntax.whole is None:
            try:
                syntax.whole = parse_cst(syntax.python, self.tree, self.path)
                syntax.grow(PARSED * len(self.text))
            except SourceError as error:
                syntax.whole = error
        if isinstance(syntax.whole, SourceError):
            raise syntax.whole.again(self.path)
        return syntax.whole

    def parse_whole(self) -> None:
        """Parse all statements at once, for a file that is run from top to bottom. Raises SourceError as `cst` does."""
        self.own_tree = self.tree
        parts = self.syntax.parts
        if parts:
            # An import has asked for some of them before: the rest is parsed when its turn comes.
            return
        parts.update(enumerate(pairs(self.cst.body, self.own_tree.body)))

    def statement(self, at: int) -> Part:
        """A top-level statement, as libcst has it and as `ast` has it.

        Of an imported module only what is needed is parsed: libcst takes ten times as long as `ast`.
        Raises SourceError as `cst` does.
        """
        parts = self.syntax.parts
        if at not in parts:
            # What stands on one line is one statement to libcst.
            spans = self.spans()
            first, last = at, at
            while first > 0 and spans[first - 1].last >= spans[first].first:
                first -= 1
            while last + 1 < len(spans) and spans[last + 1].first <= spans[last].last:
                last += 1
            parts.update(enumerate(self.parse_part(first, last), first))
        return parts[at]

    def parse_part(self, first: int, last: int) -> Iterator[Part]:
        """The top-level statements from one place to another."""
        spans = self.spans()
        text = self.syntax.python[spans[first].start : max(span.end for span in spans[first : last + 1])] + "\n"
        if self.notebook is not None:
            twins = self.tree.body[first : last + 1]
        else:
            # Empty lines before it give the statements the positions that they have in the file.
            twins = parse("\n" * (spans[first].first - 1) + text, self.path).body
            if len(text) > LONG:
                text = defer_bodies(text, spans[first].first, twins)
        nodes = parse_cst(text, ast.Module(body=twins, type_ignores=[]), self.path).body
        self.syntax.grow((PARSED + TREE) * len(text))
        return pairs(nodes, twins)

    @cached_property
    def directives(self) -> Directives:
        """The `# cnnmem:` comments. Raises SourceError as `tree` does, but only if there may be one."""
        if DIRECTIVE not in self.text.lower():
            return Directives()
        found = Directives.read(self.text, self.tree)
        if self.notebook is None:
            return found
        line = self.notebook.line
        return replace(found, problems=tuple(replace(each, line=line(each.line)) for each in found.problems))

    def may_hold_models(self) -> bool:
        """Whether a file is worth evaluating: it imports something of a framework, or carries a directive.

        False for a file that cannot be parsed: flake8 has said so already.
        """
        if not mentions_framework(self.text):
            return False
        try:
            return imports_framework(self.tree) or bool(self.directives)
        except SourceError:
            return False


def mentions_framework(text: str) -> bool:
    """Whether the text has the name of a supported framework, or of ours, anywhere. Costs next to nothing."""
    return any(marker in text for marker in MARKERS) or DIRECTIVE in text


def imports_framework(tree: ast.Module) -> bool:
    """Whether anything is imported, at any depth, whose name leads to a framework."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(alias.name for alias in node.names)]
        else:
            continue
        if any(marker in name for name in names for marker in MARKERS):
            return True
    return False


def parse(text: str, path: str = "") -> ast.Module:
    """`ast.parse` within bounds. Raises SourceError, whatever the text is."""
    check_size(len(text), path)
    if text.count(";") > MOST_NODES // 2:
        # `ast` takes as much memory for a statement as for a line of text.
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
    line = endless_pattern(tree, text) if "match" in text and "case" in text else 0
    if line:
        raise SourceError(NESTED, path, line)
    return tree


NESTED = "an expression or block is nested too deeply to be parsed"


def check_size(size: int, path: str = "", largest: int = LARGEST) -> None:
    if size > largest:
        raise SourceError(f"the file is too large to be followed ({size // 1024} KiB, at most {largest // 1024})", path)


def is_dense(tree: ast.Module, lines: int) -> bool:
    counted = (node for node in ast.walk(tree) if not isinstance(node, ast.expr_context))
    return any(itertools.islice(counted, max(MOST_NODES - lines, 0), None))


def pairs(nodes: Iterable[libcst.BaseStatement], twins: Sequence[ast.stmt]) -> Iterator[Part]:
    """Statements as libcst has them, those on one line each by itself, with what `ast` makes of each."""
    flat: list[Any] = []
    for node in nodes:
        flat.extend(getattr(node, "body", ()) if type(node).__name__ == "SimpleStatementLine" else [node])
    return zip(flat, twins, strict=True)


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


def parse_cst(text: str, tree: ast.Module, path: str = "") -> libcst.Module:
    """`libcst.parse_module` within bounds. Raises SourceError, whatever the text is."""
    check_size(len(text), path)
    if len(text) > MOST_NODES and is_dense(tree, text.count("\n")):
        raise SourceError(DENSE, path)
    line = too_deep(tree)
    if line is not None:
        raise SourceError("an expression or block is nested too deeply to be followed", path, line)
    import libcst

    try:
        return libcst.parse_module(text)
    except libcst.ParserSyntaxError as error:
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


def read(path: str, files: Files = DISK) -> str:
    """A file's text, decoded as Python does (byte-order mark, encoding cookie), else as Latin-1 like flake8.

    Raises SourceError for what is not there, no plain file, not readable or too large.
    """
    return decode(read_bytes(path, LARGEST, files))


def read_source(path: str, files: Files = DISK, searched: bool = False) -> Source:
    """The Source of a module or a notebook, read anew. Raises SourceError as `read` does."""
    if not path.endswith(notebook.ENDING):
        return shared(path, read(path, files), searched=searched)
    try:
        cells = notebook.read(read_bytes(path, notebook.LARGEST, files))
    except notebook.NotNotebook as error:
        raise SourceError(str(error), path) from None
    # Its syntax tree knows the cells: no other file has the same.
    return Source(path, cells.text, notebook=cells)


def read_bytes(path: str, largest: int, files: Files = DISK) -> bytes:
    """A file's content. Raises SourceError as `read` does."""
    try:
        if not files.is_file(path):
            raise SourceError("not a file" if files.exists(path) else "no such file", path)
        content = files.content(path, largest + 1)
        if len(content) > largest:
            check_size(max(files.size(path), len(content)), path, largest)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}", path) from None
    except ValueError as error:
        raise SourceError(f"cannot be read: {error}", path) from None
    return content


def decode(content: bytes) -> str:
    """Text with universal newlines, as `tokenize.open` gives it; Latin-1 where the encoding is unknown or wrong."""
    text, _ = text_and_encoding(content)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_and_encoding(content: bytes) -> tuple[str, str]:
    """The text with its own newlines, and the encoding that makes the same bytes of it."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding), encoding
    except (SyntaxError, UnicodeError, LookupError):
        return content.decode("latin-1"), "latin-1"


class Shelf:
    """What has been read and parsed in this process, for the next file or import that asks for it: the least used
    goes first when it takes more memory than HELD. An evaluation that is running keeps what it needs itself."""

    def __init__(self) -> None:
        self.loaded: dict[Key, Source] = {}
        self.syntaxes: OrderedDict[str, Syntax] = OrderedDict()
        """By text."""
        self.weight = 0

    def keep(self, syntax: Syntax, searched: bool = False) -> Syntax:
        """What is known of a text from now on. One that is merely searched goes first."""
        known = self.syntaxes.get(syntax.text)
        if known is None:
            self.syntaxes[syntax.text] = known = syntax
            syntax.kept = True
            self.weight += syntax.weight
        elif known.tree is None and syntax.tree is not None:
            known.tree = syntax.tree
            known.grow(TREE * len(known.text))
        self.use(known, last=not searched or known is not syntax)
        return known

    def use(self, syntax: Syntax, last: bool = True) -> None:
        if syntax.kept:
            self.syntaxes.move_to_end(syntax.text, last)
        while self.weight > HELD and len(self.syntaxes) > 1:
            _, least = self.syntaxes.popitem(last=False)
            self.weight -= least.weight
            least.kept = False
            for key in least.keys:
                self.loaded.pop(key, None)


SHELF = Shelf()


def load(path: str, files: Files = DISK, searched: bool = False) -> Source:
    """The Source of a file. A module that has not changed is read and parsed once a process. One that is merely
    `searched` takes no other's place on the shelf: a package has thousands of files, of which few are parsed."""
    if path.endswith(notebook.ENDING):
        return read_source(path, files)
    try:
        version = files.version(path)
    except (OSError, ValueError):
        return read_source(path, files)
    place = path if os.path.isabs(path) else f"{os.getcwd()}//{path}"
    key = (place, version)
    source = SHELF.loaded.get(key)
    if source is None:
        source = SHELF.loaded[key] = read_source(path, files, searched)
        source.syntax.keys.append(key)
        if not source.syntax.kept:
            # There was no place for it.
            del SHELF.loaded[key]
    elif not searched:
        SHELF.use(source.syntax)
    return source


def shared(path: str, text: str, tree: ast.Module | None = None, searched: bool = False) -> Source:
    """A Source that knows what has been parsed of the same text before, and lets others know what it parses."""
    source = Source(path, text, tree)
    source.syntax = SHELF.keep(source.syntax, searched)
    return source
