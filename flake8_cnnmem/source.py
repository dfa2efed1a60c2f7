"""The one place that reads and parses files: text, syntax tree, libcst module, each when it is first asked for.

Nothing here runs, imports or compiles what it reads. libcst is imported only when its module is wanted: it
costs more than all of flake8's start.
"""

from __future__ import annotations

import ast
import io
import os
import tokenize
import warnings
from collections import OrderedDict
from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING

from flake8_cnnmem.directives import Directives
from flake8_cnnmem.files import DISK, Files

if TYPE_CHECKING:
    import libcst

MARKERS = ("torch", "keras", "tensorflow", "timm", "lightning")
"""Each name of a supported framework, and of the libraries on top of them, has one of these in it."""

DIRECTIVE = "cnnmem"

LARGEST = 512 * 1024
"""Bytes. libcst parses about 0.5 MB a second and takes 300 B of memory a byte; the longest hand-written module of
PyTorch, Keras or timm has 280 kB."""

DEEPEST = 400
"""Levels of a syntax tree. libcst's time grows with the square of a chain's length (1.6 s for 1,600 attributes)
and its parser overruns the C stack at some 5,000; hand-written code stays below 50."""

_CACHED = 768 * 1024
"""Bytes of text whose Sources are kept for the next import: with trees some 250 MB at the very most."""


class SourceError(Exception):
    """A file that cannot be read or parsed. `reason` is one plain sentence without a full stop; `line` 0 if unknown."""

    def __init__(self, reason: str, path: str = "", line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path
        self.line = line

    def again(self) -> SourceError:
        """The same to be raised anew: an exception raised twice drags its first traceback along."""
        return SourceError(self.reason, self.path, self.line)


class Source:
    """One file: `path` as findings name it, `text`, and what is parsed from it on demand.

    `tree` may be handed in by who has it already (flake8).
    """

    def __init__(self, path: str, text: str, tree: ast.Module | None = None) -> None:
        self.path = path
        self.text = text
        self._tree: ast.Module | SourceError | None = tree
        self._cst: libcst.Module | SourceError | None = None
        self._parts: dict[int, list[libcst.BaseStatement]] = {}
        self._split: list[str] | None = None

    @property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises SourceError for what is no Python, too large or too deeply nested."""
        if self._tree is None:
            try:
                self._tree = parse(self.text, self.path)
            except SourceError as error:
                self._tree = error
        if isinstance(self._tree, SourceError):
            raise self._tree.again()
        return self._tree

    @property
    def cst(self) -> libcst.Module:
        """The libcst module. Raises SourceError as `tree` does, and for what libcst cannot take."""
        if self._cst is None:
            try:
                self._cst = parse_cst(self.text, self.tree, self.path)
            except SourceError as error:
                self._cst = error
        if isinstance(self._cst, SourceError):
            raise self._cst.again()
        return self._cst

    def statement(self, at: int) -> tuple[list[libcst.BaseStatement], list[ast.stmt]]:
        """libcst's form of the lines of one top-level statement, and the `ast` statements on them.

        Of an imported module only what is needed is parsed: libcst takes ten times as long as `ast`.
        Raises SourceError as `cst` does.
        """
        body = self.tree.body
        first, last = at, at
        while first > 0 and (body[first - 1].end_lineno or 0) >= first_line(body[first]):
            first -= 1
        while last + 1 < len(body) and first_line(body[last + 1]) <= (body[last].end_lineno or 0):
            last += 1
        twins = body[first : last + 1]
        if first not in self._parts:
            lines = self._lines()[first_line(twins[0]) - 1 : twins[-1].end_lineno]
            part = parse_cst("\n".join(lines) + "\n", ast.Module(body=twins, type_ignores=[]), self.path)
            self._parts[first] = list(part.body)
        return self._parts[first], twins

    def _lines(self) -> list[str]:
        if self._split is None:
            self._split = self.text.split("\n")
        return self._split

    @cached_property
    def directives(self) -> Directives:
        """The `# cnnmem:` comments. Raises SourceError as `tree` does, but only if there may be one."""
        return Directives.read(self.text, self.tree) if DIRECTIVE in self.text.lower() else Directives()

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


def first_line(node: ast.stmt) -> int:
    """The line a statement begins on, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


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
    try:
        with warnings.catch_warnings():
            # A bad escape in somebody's string is theirs to hear of when it runs, not ours to print.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        raise SourceError(f"not valid Python: {error.msg}", path, error.lineno or 0) from None
    except ValueError as error:
        raise SourceError(f"not valid Python: {error}", path) from None
    except (RecursionError, MemoryError):
        raise SourceError("an expression or block is nested too deeply to be parsed", path) from None


def check_size(size: int, path: str = "", largest: int = LARGEST) -> None:
    if size > largest:
        raise SourceError(f"the file is too large to be followed ({size // 1024} KiB, at most {largest // 1024})", path)


def too_deep(tree: ast.Module) -> int | None:
    """The line of a place that is nested deeper than libcst's recursive parser can take, or None.

    `a and b and c`, `import a.b.c` are flat in the syntax tree, but not in libcst's.
    """
    waiting: list[tuple[ast.AST, int, int]] = [(tree, 0, 1)]
    while waiting:
        node, depth, line = waiting.pop()
        line = getattr(node, "lineno", line)
        if depth + _chain(node) > DEEPEST:
            return line
        waiting.extend((child, depth + 1, line) for child in ast.iter_child_nodes(node))
    return None


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


def read(path: str, files: Files = DISK) -> str:
    """A file's text, decoded as Python does (byte-order mark, encoding cookie), else as Latin-1 like flake8.

    Raises SourceError for what is not there, no plain file, not readable or too large.
    """
    return decode(read_bytes(path, LARGEST, files))


def read_bytes(path: str, largest: int, files: Files = DISK) -> bytes:
    """A file's content. Raises SourceError as `read` does."""
    try:
        if not files.is_file(path):
            raise SourceError("not a file" if files.is_folder(path) or os.path.exists(path) else "no such file", path)
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
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        text = content.decode(encoding)
    except (SyntaxError, UnicodeError, LookupError):
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


_cache: OrderedDict[tuple[str, Hashable], Source] = OrderedDict()


def load(path: str, files: Files = DISK) -> Source:
    """The Source of a file. One that has not changed is parsed once a process; the least used are forgotten."""
    try:
        key = (os.path.abspath(path), files.version(path))
    except (OSError, ValueError):
        return Source(path, read(path, files))
    source = _cache.get(key)
    if source is None or source.path != path:
        source = _cache[key] = Source(path, read(path, files))
        held = sum(len(kept.text) for kept in _cache.values())
        while held > _CACHED and len(_cache) > 1:
            held -= len(_cache.popitem(last=False)[1].text)
    _cache.move_to_end(key)
    return source
