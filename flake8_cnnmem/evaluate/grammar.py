"""All of the syntax that is followed: importing this room fills the tables of rules."""

from flake8_cnnmem.evaluate import calls, comprehensions, exceptions, expressions, imports, literals, loops, patterns
from flake8_cnnmem.evaluate.statements import compile_statement, pair

__all__ = [
    "calls",
    "compile_statement",
    "comprehensions",
    "exceptions",
    "expressions",
    "imports",
    "literals",
    "loops",
    "pair",
    "patterns",
]
