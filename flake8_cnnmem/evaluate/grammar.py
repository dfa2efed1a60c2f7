"""All of the syntax that is followed: importing this room fills the tables of rules."""

from flake8_cnnmem.evaluate import calls, exceptions, expressions, imports, loops, patterns
from flake8_cnnmem.evaluate.statements import compile_statement, pair

__all__ = ["calls", "compile_statement", "exceptions", "expressions", "imports", "loops", "pair", "patterns"]
