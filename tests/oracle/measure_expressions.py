"""What `print(x.shape)` gives at every expression of fixtures/editor, measured with PyTorch.

Every expression of a file is wrapped in a call that notes its shape, and the file is run. Run by hand:
`python tests/oracle/measure_expressions.py` writes fixtures/truth/expressions.json.
"""

from __future__ import annotations

import ast
import contextlib
import json
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent.parent
WANTED = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.IfExp)


class Noting(ast.NodeTransformer):
    """Wraps each expression that is read: `note((line, column, end line, end column), expression)`."""

    def visit(self, node: ast.AST) -> Any:
        place = (
            (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) if isinstance(node, WANTED) else None
        )
        self.generic_visit(node)
        if place is None or isinstance(getattr(node, "ctx", ast.Load()), (ast.Store, ast.Del)):
            return node
        if isinstance(node, ast.Name) and node.id == "super":
            return node
        call = ast.Call(ast.Name("__note__", ast.Load()), [ast.Constant(place), node], [])
        return ast.copy_location(call, node)

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        return self.generic_visit(node)  # type: ignore[return-value]


def measured(path: Path) -> dict[str, list[list[int]]]:
    """By place: the shapes that the expression gives, each once, in order. Columns are letters, from 0."""
    text = path.read_text()
    lines = text.split("\n")
    found: dict[str, list[list[int]]] = {}

    def note(place: tuple[int, int, int, int], value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            line, column, end_line, end = place
            column = len(lines[line - 1].encode()[:column].decode())
            end = len(lines[end_line - 1].encode()[:end].decode())
            shapes = found.setdefault(f"{line}:{column}-{end_line}:{end}", [])
            shape = list(value.shape)
            if shape not in shapes:
                shapes.append(shape)
        return value

    tree = ast.fix_missing_locations(Noting().visit(ast.parse(text)))
    torch.Tensor.cuda = torch.nn.Module.cuda = lambda self, *args: self  # type: ignore[method-assign]
    torch.optim.Adam.step = stop  # type: ignore[method-assign]
    with contextlib.suppress(Stepped):
        exec(compile(tree, str(path), "exec"), {"__name__": "__main__", "__note__": note})
    return found


class Stepped(Exception):
    """One step has run: the others are like it."""


def stop(*args: Any) -> None:
    raise Stepped


def main() -> None:
    folder = ROOT / "fixtures" / "editor"
    files = {path.name: measured(path) for path in sorted(folder.glob("*.py")) if "keras" not in path.name}
    document = {"torch": torch.__version__, "files": files}
    (ROOT / "fixtures" / "truth" / "expressions.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
