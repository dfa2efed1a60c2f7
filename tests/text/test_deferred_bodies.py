"""Bodies of methods that are put off are, when they are asked for, what they would have been at once."""

from __future__ import annotations

import ast

import pytest

from flake8_cnnmem import source
from flake8_cnnmem.source import Source, parse_body
from flake8_cnnmem.text.deferred_bodies import DeferredBody, docstring, yields

METHODS = {
    "a body on lines of its own": "def f(self, x):\n    return x",
    "a body of several statements": "def f(self):\n    x = 1\n\n    # why\n    if x:\n        return x\n    return 2",
    "a docstring": 'def f(self):\n    """What it\n  is for."""\n    return 1',
    "a text of several lines": 'def f(self):\n    x = """\nnot indented\n    """\n    return x',
    "a header of several lines": "def f(\n    self,\n    x=(1,\n       2),\n) -> int:\n    return x",
    "a comment after the header": "def f(self):  # why\n    # and how\n    return 1",
    "a decorated function inside": "def f(self):\n    @wraps(f)\n    def g():\n        return 1\n    return g",
    "a generator": "def f(self):\n    for x in range(3):\n        yield x",
    "a coroutine": "async def f(self):\n    async with self as x:\n        return [await y async for y in x]",
    "names of an outer scope": "def f(self):\n    global a\n    nonlocal b\n    a = b = super().f()",
    "letters beyond ASCII": "def f(self, é='ü'):\n    ö = 'ä' + é\n    return ö",
    "a statement after a semicolon": "def f(self):\n    x = 1; return x",
    "a backslash before the body": "def f(self): \\\n    return 1",
    "tabs": "def f(self):\n\tif self:\n\t\treturn 1",
}

CLASS = "import a\n\n\n@decorator\nclass A(B):\n    x = 1\n\n    @property\n{}\n\n    y = 2\n"


def class_of(method: str) -> str:
    return CLASS.format("\n".join(f"    {line}" if line else "" for line in method.split("\n")))


@pytest.fixture(autouse=True)
def everything_is_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONG", 0)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_method_comes_back(method: str) -> None:
    text = class_of(method)
    expected = ast.parse(text).body[1]
    assert isinstance(expected, ast.ClassDef)
    own = expected.body[1]
    assert isinstance(own, (ast.FunctionDef, ast.AsyncFunctionDef))
    _, twin = Source("a.py", text).statement(1)
    assert isinstance(twin, ast.ClassDef)
    put_off = twin.body[1]
    assert isinstance(put_off, (ast.FunctionDef, ast.AsyncFunctionDef))
    instead = put_off.body[0]
    assert isinstance(instead, DeferredBody)
    assert (docstring(put_off.body), yields(put_off.body)) == (docstring(own.body), yields(own.body))
    block, put_off.body = parse_body(instead, "a.py")
    assert ast.dump(twin, include_attributes=True) == ast.dump(expected, include_attributes=True)
    [whole] = ast.parse(source_of(block)).body
    assert isinstance(whole, ast.If)
    assert [ast.dump(each) for each in whole.body] == [ast.dump(each) for each in own.body]


def source_of(block: object) -> str:
    """The text of a libcst block."""
    import libcst as cst

    assert isinstance(block, cst.BaseSuite)
    return cst.Module([cst.If(cst.Integer("1"), block)]).code


def test_a_body_on_the_line_of_the_header_stays() -> None:
    _, twin = Source("a.py", class_of("def f(self): return 1")).statement(1)
    assert isinstance(twin, ast.ClassDef)
    assert isinstance(twin.body[1], ast.FunctionDef)
    assert isinstance(twin.body[1].body[0], ast.Return)
