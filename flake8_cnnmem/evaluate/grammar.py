"""All of the syntax that is followed: importing this room fills the tables of rules."""

from flake8_cnnmem.evaluate import (
    calls,
    comprehensions,
    exceptions,
    expressions,
    imports,
    literals,
    loops,
    patterns,
    statements,
)
from flake8_cnnmem.evaluate.blocks import compile_statement

__all__ = [
    "calls",
    "compile_statement",
    "comprehensions",
    "exceptions",
    "expressions",
    "imports",
    "literals",
    "loops",
    "patterns",
    "statements",
]
