"""Patterns of `match` statements that libcst would not come to the end of."""

from __future__ import annotations

import ast
import re

COST = 4**9
"""libcst takes four times as long for every bracket around a pattern: with nine around one, half a second."""

MATCH, CASE = (re.compile(rf"(?:\A|[\n\r])[ \t\f\ufeff]*{word}\b") for word in ("match", "case"))
"""What such a statement and its cases begin with: each stands on a line of its own."""


def may_match(text: str) -> bool:
    """Whether a text may hold a `match` statement, by its lines alone. The words are in many files, the statement in
    few, and to walk a syntax tree takes as long as to parse it."""
    return "match" in text and "case" in text and bool(MATCH.search(text)) and bool(CASE.search(text))


def endless_pattern(tree: ast.Module, text: str) -> int:
    """The line of the first `match` statement by which all patterns together would take too long; 0 where none does.
    Brackets count as they are written: the syntax tree has none for `case ((((x)))):`."""
    cost, lines = 0, text.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, ast.Match):
            continue
        begin = node.subject.end_lineno or node.lineno
        for case in node.cases:
            depth = most = 0
            for letter in "\n".join(lines[begin : case.pattern.end_lineno]):
                depth += (letter in "([{") - (letter in ")]}")
                most = max(most, depth)
            cost += 4 ** min(most, 20)
            begin = case.body[-1].end_lineno or begin
        if cost > COST:
            return node.lineno
    return 0
