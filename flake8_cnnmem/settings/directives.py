"""`# cnnmem:` comments: facts about training that the code does not state, and what is to be left alone.

    # cnnmem: batch-size=64 input-shape=1,28,28 optimizer=adam dtype=float16 gpu-limit=8GiB
    # cnnmem: skip

A directive stands on the line of a class, function or call, or alone on the line above it; alone at the top of a
file it is for the whole file.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, fields, replace
from typing import Any

from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.settings import options
from flake8_cnnmem.settings.options import BadValue, Limit
from flake8_cnnmem.text.deferred_bodies import first_line
from flake8_cnnmem.training import Optimizer

KEYS: Mapping[str, Callable[[str], Any]] = {
    "batch-size": options.parse_batch_size,
    "input-shape": options.parse_input_shape,
    "optimizer": options.parse_optimizer,
    "dtype": options.parse_dtype,
    "gpu-limit": options.parse_limit,
}

FORM = "# cnnmem: batch-size=64 input-shape=3,224,224 optimizer=adam dtype=float32 gpu-limit=8GiB, or # cnnmem: skip"

_DIRECTIVE = re.compile(r"#\s*cnnmem\s*:([^#]*)", re.IGNORECASE)
_NEARLY = re.compile(r"#\s*cnnmem\s+(skip\s*$|[\w-]+\s*=)", re.IGNORECASE)
_KEY = re.compile(r"(?:^|(?<=[\s,;]))([A-Za-z_-]+)\s*=")


@dataclass(frozen=True, slots=True)
class DirectiveFacts:
    """What directives say of one place. None: nothing."""

    skip: bool = False
    batch_size: int | None = None
    input_shape: tuple[int | None, ...] | None = None
    optimizer: Optimizer | None = None
    dtype: str | None = None
    gpu_limit: Limit | None = None

    def over(self, other: DirectiveFacts) -> DirectiveFacts:
        """These facts, and the other's where these say nothing."""
        said = {f.name: value for f in fields(self) if (value := getattr(self, f.name)) not in (None, False)}
        return replace(other, **said)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment in source code: `line` and `column` 1-based, `alone` where no code stands on its line."""

    line: int
    column: int
    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class DirectiveProblem:
    """What is wrong with a directive (CNM901)."""

    line: int
    column: int
    message: str


@dataclass(frozen=True, slots=True)
class Directives:
    """All directives of a file. False where there is none."""

    for_file: DirectiveFacts = DirectiveFacts()
    by_line: Mapping[int, DirectiveFacts] = field(default_factory=dict)
    """By the line of the `class` or `def`, or the first line of the call, that each is meant for."""
    problems: tuple[DirectiveProblem, ...] = ()

    def __bool__(self) -> bool:
        return self.for_file != DirectiveFacts() or bool(self.by_line) or bool(self.problems)

    def for_lines(self, *lines: int) -> DirectiveFacts:
        """What is said of the calls and definitions on these lines, the first one's before the next one's, and the
        file's own directive behind them all. Lines are 1-based: that of a `class` or `def`, the first of a call."""
        facts = DirectiveFacts()
        for line in lines:
            facts = facts.over(self.by_line.get(line, DirectiveFacts()))
        return facts.over(self.for_file)

    @classmethod
    def read(cls, text: str, tree: ast.Module) -> Directives:
        """The directives of a file, `tree` being its syntax tree."""
        if "cnnmem" not in text.lower():
            # Most files have none, and need not be taken apart into tokens.
            return cls()
        found = [
            comment for comment in comments(text) if _DIRECTIVE.search(comment.text) or _NEARLY.search(comment.text)
        ]
        if not found:
            return cls()
        return _Reader(text, tree).read(found)


class _Reader:
    """Reads the directives of one file and works out what each is meant for."""

    def __init__(self, text: str, tree: ast.Module) -> None:
        self.lines = text.split("\n")
        self.targets = target_lines(tree)
        self.definitions = {target for line, target in self.targets.items() if target != line} | {
            node.lineno for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        }
        self.first_code = first_code_line(tree)
        self.problems: list[DirectiveProblem] = []
        self.parsed: dict[str, tuple[DirectiveFacts | None, list[str]]] = {}
        """By the text of a directive what it says, and what is wrong with it: many are alike."""

    def read(self, found: Iterable[Comment]) -> Directives:
        for_file = DirectiveFacts()
        by_line: dict[int, DirectiveFacts] = {}
        for comment in found:
            facts, wrong = self.parse(comment.text)
            for message in wrong:
                self.complain(comment, message)
            if facts is None:
                continue
            target = self.targets.get(self.line_below(comment.line) if comment.alone else comment.line)
            if comment.alone and comment.line < self.first_code and target not in self.definitions:
                for_file = facts.over(for_file)
            elif target is not None:
                by_line[target] = facts.over(by_line.get(target, DirectiveFacts()))
            else:
                self.complain(
                    comment,
                    "this directive stands at no class, function or call, and has no effect: put it on the line of "
                    "one, alone on the line above it, or alone at the top of the file",
                )
        return Directives(for_file, by_line, tuple(self.problems))

    def line_below(self, line: int) -> int:
        """The first line below that is not just a comment."""
        for below in range(line + 1, len(self.lines) + 1):
            if not self.lines[below - 1].lstrip().startswith("#"):
                return below
        return 0

    def complain(self, comment: Comment, message: str) -> None:
        self.problems.append(DirectiveProblem(comment.line, comment.column, message))

    def parse(self, text: str) -> tuple[DirectiveFacts | None, list[str]]:
        """What a directive says, None where nothing of it can be used, and what is wrong with it."""
        if text not in self.parsed:
            self.parsed[text] = parse(text)
        return self.parsed[text]


def parse(text: str) -> tuple[DirectiveFacts | None, list[str]]:
    """What the text of a directive says, None where nothing of it can be used, and what is wrong with it."""
    match = _DIRECTIVE.search(text)
    if match is None:
        return None, [f"a directive begins with '# cnnmem:', with a colon: {FORM}"]
    body = match[1].strip()
    if body.lower() == "skip":
        return DirectiveFacts(skip=True), []
    keys = list(_KEY.finditer(body))
    stray = body[: keys[0].start()].strip() if keys else body
    wrong: list[str] = []
    if stray or not keys:
        wrong.append(f"{options.quote(stray) if stray else 'an empty directive'} is not understood: write {FORM}")
    values: dict[str, Any] = {}
    ends = [key.start() for key in keys[1:]] + [len(body)]
    for key, end in zip(keys, ends, strict=False):
        name = key[1].lower().replace("_", "-")
        value = body[key.end() : end].strip().rstrip(",;").strip()
        if name not in KEYS:
            known = ", ".join(KEYS)
            wrong.append(f"{key[1]!r} is nothing that a directive can set: use {known}, or skip")
        elif name in values:
            wrong.append(f"{name} is given twice: the first one is used")
        elif not value or value.lower() == "none":
            wrong.append(f"{name} has no value: write {FORM}")
        else:
            try:
                values[name] = KEYS[name](value)
            except BadValue as error:
                wrong.append(f"{name}: {error}")
    facts = DirectiveFacts(**{name.replace("-", "_"): value for name, value in values.items()}) if values else None
    return facts, wrong


def comments(text: str) -> Iterator[Comment]:
    """The comments of a file that parses; what looks like one in a string is none."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                before = token.line[: token.start[1]]
                yield Comment(token.start[0], token.start[1] + 1, token.string, not before.strip())
    except (tokenize.TokenError, SyntaxError):
        # The parser takes some text that the tokenizer does not; what came before counts.
        return


def target_lines(tree: ast.Module) -> dict[int, int]:
    """Every line at which a directive is meant for something, to the line under which it is looked up: for all lines
    of a definition's header that of its `class` or `def`, for those of a call the first one of the innermost."""
    headers: dict[int, int] = {}
    calls: list[ast.Call] = []
    statements: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            last = max(node.lineno, node.body[0].lineno - 1)
            headers |= dict.fromkeys(range(first_line(node), last + 1), node.lineno)
        elif isinstance(node, ast.Call):
            calls.append(node)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.Return)) and isinstance(node.value, ast.Call):
            # The line that a statement begins on is as good as the call's own, further down.
            statements[node.lineno] = node.value.lineno
    found = dict(statements)
    for call in sorted(calls, key=lambda call: call.lineno):
        found |= dict.fromkeys(range(call.lineno, (call.end_lineno or call.lineno) + 1), call.lineno)
    return found | headers


def first_code_line(tree: ast.Module) -> int:
    """The line of the first statement that is not the module's docstring; beyond all lines for an empty module."""
    body = tree.body[1:] if ast.get_docstring(tree, clean=False) is not None else tree.body
    return body[0].lineno if body else 2**31
