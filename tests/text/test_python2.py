"""Text of Python 2, and of Python 3 before 3.7: what it says today, line by line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, load
from flake8_cnnmem.text.python2 import modernised

WRITTEN = {
    'print "loss %f" % loss': 'print ("loss %f" % loss)',
    "print a, b,": "print (a, b,)",
    'print ("%d" % n), "of", m': 'print (("%d" % n), "of", m)',
    'print("loss", file=log)\nprint x': 'print("loss", file=log)\nprint (x)',
    "print >>sys.stderr, 'no'  # why": "print ( sys.stderr, 'no')  # why",
    "if verbose: print x; y = 1": "if verbose: print( x); y = 1",
    "for k in d:\n\tprint k\n        n += 1": "for k in d:\n        print (k)\n        n += 1",
    "print 'a', \\\n  b": "print ('a', \\\n  b)",
    "f = lambda x: x\nprint f(1)": "f = lambda x: x\nprint (f(1))",
    "try:\n    pass\nexcept (A, B), e:\n    pass": "try:\n    pass\nexcept (A, B) as e:\n    pass",
    'raise ValueError, "no"': 'raise ValueError( "no")',
    "exec code in names": "exec (code , names)",
    "a <> b": "a != b",
    "os.makedirs(path, 0755)": "os.makedirs(path, 0o755)",
    "n = 10L + 0xFFL": "n = 10 + 0xFF",
    "s = ur'\\d'": "s = r'\\d'",
    "x = x.cuda(async=True)": "x = x.cuda(non_blocking=True)",
    "def move(x, async = False):\n    return x.cuda(async=async)": (
        "def move(x, non_blocking = False):\n    return x.cuda(non_blocking=non_blocking)"
    ),
}

SAME = [
    "print('a')", "print('a', file=f)", "x = print", "except_this = 1", "raise E(1, 2)", "exec(code, names)",
    "async def f():\n    async with a as b:\n        async for c in d:\n            print(c)", "x = {'print': 1}",
    "s = 'print x'  # print x", '"""\nprint x\n"""', "x: int = 3", "0.5 + 00 + 1e10 + 0x1F + 0o17 + 7j",
    "a = b[1:2, ::3]",
]  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN)
def test_what_the_grammar_has_lost_is_written_anew(text: str) -> None:
    found = modernised(text).text
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(WRITTEN[text]))
    assert found.count("\n") == text.count("\n")


@pytest.mark.parametrize("text", SAME)
def test_the_rest_stays_as_it_is(text: str) -> None:
    assert modernised(text) == (text, False)


FLOORS = {
    "print 'x'\nn = 5 / 2": 2,
    "print 'x'\nn = 5.0 / 2": 2.5,
    "print 'x'\nn = 5\nn /= 2": 2,
    "from __future__ import division\nprint 'x'\nn = 5 / 2": 2.5,
    "n = 5 / 2": 2.5,
    "x = dict(async=True)\nn = 5 / 2": 2.5,
}


@pytest.mark.parametrize("code", FLOORS)
def test_whole_numbers_divide_to_whole_numbers_in_python_2(code: str, tmp_path: Path) -> None:
    path = tmp_path / "old.py"
    path.write_text(f"{code}\nfrom torch import nn\nnet = nn.Sequential(nn.Conv2d(3, int(2 * n), 1))\n")
    (report,) = analyse(load(str(path)), Settings()).reports
    assert report.parameters == 4 * int(2 * FLOORS[code])
    assert report.line == code.count("\n") + 3


def test_what_is_no_python_at_all_says_so_as_it_stands() -> None:
    report = analyse(Source("old.py", "import torch\nprint 'x' 'y' z\n"), Settings())
    assert report.failure is not None
    assert (report.failure.line, report.failure.reason[:16]) == (2, "not valid Python")


@pytest.mark.parametrize("text", ["print '" * 60_000, "'''" * 100_001 + '"', "print (" * 60_000, "a\t<>" * 60_000])
def test_long_nonsense_costs_little(text: str) -> None:
    modernised(text)


def test_an_imported_module_of_python_2_is_read(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text(
        "from torch import nn\nprint 'nets'\ndef net(n):\n    return nn.Linear(n / 2, 3)\n"
    )
    path = tmp_path / "train.py"
    path.write_text("from torch import nn\nfrom nets import net\nmodel = nn.Sequential(net(9))\n")
    (report,) = analyse(load(str(path)), Settings()).reports
    assert report.parameters == 4 * 3 + 3
