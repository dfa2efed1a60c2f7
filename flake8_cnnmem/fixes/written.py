"""Where a value of a training is written: in the script, in a module it imports, in a configuration that it reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from flake8_cnnmem.source import SourceError, parse
from flake8_cnnmem.text.edits import Edit, instead_of

MODULES = (".py", ".ipynb")
"""What holds Python. The text of a notebook is that of the module which its cells make."""
SETTINGS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg", ".conf")

BATCH = re.compile(r"batch|(^|_)bs($|_)", re.IGNORECASE)
HALF = re.compile(r"(^|[_-])(use_?)?(amp|fp16|half|mixed|autocast)|mixed_?precision|enabled", re.IGNORECASE)

_PAIR = re.compile(r"""^(\s*(?:-\s+)?["']?([\w.-]+)["']?\s*[:=]\s*)(\w+)""")


def places_of(path: str, text: str, names: re.Pattern[str], value: int | bool, new: str) -> Iterator[Edit]:
    """Each place of a file where `value` stands under a name of this kind, with `new` in its stead."""
    if path.endswith(MODULES):
        yield from in_python(text, names, value, new)
    elif path.endswith(SETTINGS):
        yield from in_settings(text, names, value, new)


def in_settings(text: str, names: re.Pattern[str], value: int | bool, new: str) -> Iterator[Edit]:
    """`batch_size: 64`, `"batch_size": 64`, `batch-size = 64`: one pair a line, as YAML, JSON and TOML are written."""
    spelled = str(value).lower()
    for number, line in enumerate(text.split("\n"), 1):
        found = _PAIR.match(line)
        if found is not None and names.search(found[2]) and found[3].lower() == spelled:
            written = new if found[3][0].isupper() else new.lower()
            yield Edit(number, found.end(1) + 1, number, found.end(3) + 1, written)


def in_python(text: str, names: re.Pattern[str], value: int | bool, new: str) -> Iterator[Edit]:
    try:
        tree = parse(text)
    except SourceError:
        return
    lines = text.split("\n")
    found: dict[int, ast.expr] = {}
    for name, each in named_values(tree):
        if (
            names.search(name)
            and isinstance(each, ast.Constant)
            and each.value == value
            and type(each.value) is type(value)
        ):
            found[id(each)] = each
    for each in found.values():
        yield instead_of(each, lines, new)


def named_values(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Each expression that stands under a name: an assignment's, an argument's, a default's, an entry's of a table."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from pairs(target, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from pairs(node.target, node.value)
        elif isinstance(node, ast.Call):
            yield from ((word.arg, word.value) for word in node.keywords if word.arg is not None)
            yield from option(node)
        elif isinstance(node, ast.arguments):
            plain = [*node.posonlyargs, *node.args]
            yield from zip((each.arg for each in plain[len(plain) - len(node.defaults) :]), node.defaults, strict=True)
            for each, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
                if default is not None:
                    yield each.arg, default
        elif isinstance(node, ast.Dict):
            for key, entry in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield key.value, entry


def pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """`a, b = 1, 2`: each name with its own."""
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        if len(target.elts) == len(value.elts):
            for one, its in zip(target.elts, value.elts, strict=True):
                yield from pairs(one, its)
    elif isinstance(target, (ast.Name, ast.Attribute)):
        yield (target.id if isinstance(target, ast.Name) else target.attr), value


def option(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """`add_argument("--batch-size", default=64)`: the default under the option's name."""
    spelled = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    for word in call.keywords:
        if word.arg == "default" and spelled:
            yield " ".join(spelled), word.value


def on_line(path: str, text: str, line: int, value: int, new: str) -> Sequence[Edit]:
    """The numbers of that value on one line of a module: what a loader is given without a name."""
    if not path.endswith(MODULES):
        return []
    try:
        tree = parse(text)
    except SourceError:
        return []
    lines = text.split("\n")
    return [
        instead_of(node, lines, new)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.lineno == line and type(node.value) is int and node.value == value
    ]
