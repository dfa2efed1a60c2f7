"""The source with its hints as comments at the line ends, for terminals and for pasting."""

from __future__ import annotations

from flake8_cnnmem.finding import one_line
from flake8_cnnmem.hints.model import FileHints

GUTTER = 2
"""Blanks before a comment, as style guides want it."""

COLUMN = 88
"""Comments stand below each other from the longest line on, unless that is longer."""


def annotated(text: str, hints: FileHints) -> str:
    """The text, which stays valid Python: nothing is put behind a line that goes on within a string or behind a
    backslash. What stands above a line comes as a comment above it."""
    lines = text.rstrip("\n").split("\n")
    comments: dict[int, list[str]] = {}
    for hint in hints.hints:
        comments.setdefault(hint.span.end_line, []).append(hint.text)
    above: dict[int, list[str]] = {}
    for lens in {lens.text: lens for lens in sorted(hints.lenses, key=lambda each: -each.line)}.values():
        # Each once, at the first of its lines.
        above.setdefault(lens.line, []).append(lens.text)
    open_lines = unfinished(text) if comments or above else frozenset()
    written = [len(lines[at - 1]) for at in comments if at <= len(lines) and len(lines[at - 1]) <= COLUMN]
    column = max(written, default=0) + GUTTER
    shown: list[str] = []
    for number, line in enumerate(lines, 1):
        if number - 1 not in open_lines:
            indent = line[: len(line) - len(line.lstrip())]
            shown += [f"{indent}# {one_line(said)}" for said in above.get(number, ())]
        said = one_line(" | ".join(comments.get(number, ())))
        if said and number not in open_lines:
            shown.append(f"{line.rstrip():<{column - GUTTER}}{' ' * GUTTER}# {said}")
        else:
            shown.append(line)
    return "\n".join(shown)


def unfinished(text: str) -> frozenset[int]:
    """The lines behind whose end no comment can stand: those within a string, and those that end in a backslash."""
    import io
    import tokenize

    found = {number for number, line in enumerate(text.split("\n"), 1) if line.endswith("\\")}
    starts: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = tokenize.tok_name[token.type]
            if kind == "STRING":
                found.update(range(token.start[0], token.end[0]))
            elif kind.endswith("STRING_START"):
                starts.append(token.start[0])
            elif kind.endswith("STRING_END") and starts:
                found.update(range(starts.pop(), token.end[0]))
    except (tokenize.TokenError, SyntaxError):
        return frozenset(range(1, text.count("\n") + 2))
    return frozenset(found)
