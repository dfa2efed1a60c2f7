"""The parameters of functions, as they are written."""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.evaluate.compiler import Compiler
from flake8_cnnmem.evaluate.frame import Frame
from flake8_cnnmem.evaluate.functions import Parameters
from flake8_cnnmem.source.syntax import cst
from flake8_cnnmem.values import Value

Defaults = Callable[[Frame], tuple[tuple[Value, ...], dict[str, Value]]]


def compile_parameters(compiler: Compiler, node: cst.Parameters) -> tuple[Parameters, Defaults]:
    """The parameters of a `def`, and the code of their defaults."""
    positional = [*node.posonly_params, *node.params]
    star = node.star_arg.name.value if isinstance(node.star_arg, cst.Param) else None
    double_star = node.star_kwarg.name.value if node.star_kwarg is not None else None
    names = tuple(param.name.value for param in positional)
    keywords = tuple(param.name.value for param in node.kwonly_params)
    first = len(node.posonly_params)
    parameters = Parameters(names, first, star, keywords, double_star, frozenset((*names[first:], *keywords)))
    codes = [compiler.expression(param.default) for param in positional if param.default is not None]
    keyword_codes = [
        (param.name.value, compiler.expression(param.default))
        for param in node.kwonly_params
        if param.default is not None
    ]

    def defaults(frame: Frame) -> tuple[tuple[Value, ...], dict[str, Value]]:
        return tuple(code(frame) for code in codes), {word: code(frame) for word, code in keyword_codes}

    return parameters, defaults
