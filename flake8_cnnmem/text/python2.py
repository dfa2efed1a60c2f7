"""Text of Python 2, and of Python 3 before 3.7, as today's Python writes it: much code for training is that old.

Only what the grammar has lost is written anew (https://docs.python.org/3/whatsnew/3.0.html): `print x`,
`except E, e`, `raise E, "why"`, `exec x in y`, `<>`, numbers as `0777` and `10L`, strings as `ur"..."`, tabs among the
spaces that indent, and `async` as a name. Each line stays where it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

TOKENS = re.compile(
    r"""
    (?P<string>[uUbBrRfF]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}
        |"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<comment>\#[^\n]*)
    |(?P<joined>\\\n)
    |(?P<newline>\n)
    |(?P<space>[ \t\f]+)
    |(?P<number>0[xX][0-9a-fA-F]+[lL]?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[jJlL]?)
    |(?P<name>\w+)
    |(?P<op><>|>>|.)
    """,
    re.DOTALL | re.VERBOSE,
)

TAB = 8
"""Columns: up to the next multiple of it a tab indents (https://docs.python.org/2/reference/lexical_analysis.html)."""

FOR_ASYNC = ("def", "for", "with")

DIVISION = re.compile(r"^from\s+__future__\s+import\b[^\n]*\bdivision\b", re.MULTILINE)
PRINT_FUNCTION = re.compile(r"^from\s+__future__\s+import\b[^\n]*\bprint_function\b", re.MULTILINE)


class Modern(NamedTuple):
    """A text as today's Python writes it. `floors`: whether it is one of Python 2, in which dividing whole numbers
    gives a whole number."""

    text: str
    floors: bool


class Token(NamedTuple):
    kind: str
    text: str


def modernised(text: str) -> Modern:
    """The text with what the grammar has lost written anew; as it is where there is nothing of it."""
    written: list[str] = []
    of_two = False
    prints = PRINT_FUNCTION.search(text) is None
    for statement in statements(tokens_of(text)):
        made = statement_of(statement, prints)
        of_two = of_two or made != [token.text for token in statement]
        if statement and statement[0].kind == "space":
            made[0] = made[0].expandtabs(TAB)
        written += made
    return Modern(renamed("".join(written)), of_two and DIVISION.search(text) is None)


def tokens_of(text: str) -> list[Token]:
    return [Token(match.lastgroup or "op", match.group()) for match in TOKENS.finditer(text)]


def renamed(text: str) -> str:
    """PyTorch had an argument `async` until the word was made a keyword, and has called it `non_blocking` since."""
    tokens = tokens_of(text)
    found = []
    for at, token in enumerate(tokens):
        following = next((each.text for each in tokens[at + 1 : at + 3] if each.kind != "space"), "")
        name = token.kind == "name" and token.text == "async" and following not in FOR_ASYNC
        found.append("non_blocking" if name else token.text)
    return "".join(found)


def statements(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens of each simple statement, or of a compound one's head, with what stands around it."""
    found: list[list[Token]] = [[]]
    depth = 0
    lambdas = 0
    for token in tokens:
        found[-1].append(token)
        if token.kind == "name" and token.text == "lambda":
            lambdas += 1
        if token.kind == "op":
            depth += bracket(token)
            colon = token.text == ":" and depth <= 0
            if colon and lambdas:
                lambdas -= 1
            elif colon or (token.text == ";" and depth <= 0):
                found.append([])
        elif token.kind == "newline" and depth <= 0:
            depth = lambdas = 0
            found.append([])
    return found


def statement_of(tokens: Sequence[Token], prints: bool) -> list[str]:
    """One statement, written anew."""
    made = [plain(token) for token in tokens]
    first = next((at for at, token in enumerate(tokens) if token.kind not in ("space", "newline", "comment")), None)
    word = tokens[first].text if first is not None else ""
    if first is None or word not in ("print", "except", "raise", "exec"):
        return made
    depths = list(accumulate(bracket(token) for token in tokens))
    rest = [at for at in range(first + 1, len(tokens)) if tokens[at].kind not in ("space", "joined", "comment")]
    while rest and tokens[rest[-1]].text in (";", "\n"):
        rest.pop()
    if not rest:
        return made
    outside = [at for at in rest if depths[at] == 0]
    commas = [at for at in outside if tokens[at].text == ","]
    follows = tokens[rest[0]].text
    called = follows == "(" and outside and outside[0] == rest[-1]
    if word == "print" and prints and not called and follows not in ("=", ".", ",", ":", ")", "]"):
        made[rest[0]] = "" if follows == ">>" else made[rest[0]]
        enclose(made, first, rest)
    elif word == "except" and commas:
        made[commas[0]] = " as"
    elif word == "raise" and commas and commas[0] > rest[0]:
        made[commas[0]] = "("
        made[rest[-1]] += ")"
    elif word == "exec" and not called and follows not in ("=", ".", ",", ":"):
        for at in outside:
            made[at] = "," if tokens[at].text == "in" else made[at]
        enclose(made, first, rest)
    return made


def enclose(made: list[str], first: int, rest: Sequence[int]) -> None:
    """What follows a word, in parentheses."""
    made[first] += "("
    made[rest[-1]] += ")"


def bracket(token: Token) -> int:
    """How many brackets a token opens, or closes."""
    return (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}")) if token.kind == "op" else 0


def plain(token: Token) -> str:
    """A token as it is written today."""
    text = token.text
    if token.kind == "number":
        text = text.rstrip("lL")
        return "0o" + text.lstrip("0") if text.isdigit() and text.startswith("0") and text.strip("0") else text
    if token.kind == "string" and text[:2].lower() == "ur":
        return text[1:]
    return "!=" if text == "<>" else text
