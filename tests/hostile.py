"""Inputs that would break a careless tool, and what each costs.

    python tests/hostile.py [--flake8] [NAME...]

analyses each in a process of its own, with the strict switch, and prints its time, memory and findings; `--flake8`
runs flake8 as a whole on each instead, and once more without the plugin, whose time does not count. The exit status is
1 if one crashes, prints a traceback, takes more than 2 s of processor time or 300 MiB, or carries out anything that it
says.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests import (  # noqa: E402
    benchmark,
    endless_files,
    endless_flow,
    endless_forms,
    endless_models,
    endless_text,
    endless_values,
    pace,
)

SECONDS = 2.0
MIB = 300.0
GIVEN_UP = 60
"""Seconds of processor time after which a process is killed: it hangs."""

HEAD = "import torch\nfrom torch import nn\nimport keras\n"

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        {body}
        return self.fc(x)


net = Net()
net(torch.zeros(1, 8))
"""

AFTER = NET.format(body="pass")


def before(text: str) -> bytes:
    """A program that does something odd before it builds a model."""
    return f"{HEAD}{text}\n{AFTER}".encode()


def inside(text: str) -> bytes:
    """A model whose forward pass does something odd."""
    return (HEAD + NET.format(body=text.replace("\n", "\n        "))).encode()


WRITES = "written.txt"

PROGRAMS: dict[str, bytes] = {
    "nothing odd": before(""),
    "while True": before("while True:\n    pass"),
    "while True in forward": inside("while True:\n    x = x + 1"),
    "while True with a counter in forward": inside("n = 0\nwhile True:\n    n += 1"),
    "nested loops": before(
        "n = 0\nfor a in range(10**9):\n  for b in range(10**9):\n    for c in range(10**9):\n      n += 1"
    ),
    "nested loops in forward": inside(
        "for a in range(10**9):\n  for b in range(10**9):\n    for c in range(10**9):\n      x = x * 2"
    ),
    "layers without end": before("layers = []\nfor i in range(10**9):\n    layers.append(nn.Conv2d(3, 3, 3))\nnn.Sequential(*layers)"),
    "Keras layers without end": before(
        "m = keras.Sequential([keras.Input((8, 8, 3))])\nfor i in range(10**9):\n"
        "    m.add(keras.layers.Conv2D(3, 3, padding='same'))"
    ),
    "a layer called without end": inside("for i in range(10**9):\n    x = self.fc(x)"),
    "a power tower": before("n = 10**10**10\nm = 2**(2**(2**(2**(2**2))))\nk = 1 << 10**12"),
    "a long text": before("s = 'a' * 10**12\nt = s + s"),
    "a long list": before("s = [0] * 10**12\nt = [[0] * 10**6] * 10**6"),
    "a list doubled in a loop": before("s = [0]\nfor i in range(100):\n    s = s + s\n    s += s"),
    "a text doubled in a loop": before("s = 'a'\nfor i in range(100):\n    s = f'{s}{s}'"),
    "deep recursion": before("def f(n):\n    return f(n + 1)\nf(0)"),
    "branching recursion": before("def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nf(60)"),
    "branching recursion in forward": inside("def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nf(60)"),
    "mutual recursion": before("def f(n):\n    return g(n + 1)\ndef g(n):\n    return f(n)\nf(0)"),
    "recursion on an unknown test": before("def f(n):\n    return f(n - 1) + 1 if input() else f(n - 2)\nf(10**9)"),
    "recursion on unknown tests that is given up many times": before(
        "def f(n):\n    kept = [n]\n    if input():\n        kept.append(f(n + 1))\n    elif input():\n        kept = f(kept)\n"
        "    else:\n        kept = {}\n    return kept\n\n" + "f(0)\n" * 200
    ),
    "recursive data": before(
        "import copy\na = []\na.append(a)\nb = {}\nb['b'] = b\nc = copy.deepcopy(a)\nprint(a == [a], str(b), repr(a))\n"
        "nn.Sequential(*a)\nsum(a, [])"
    ),
    "a module inside itself": before("m = nn.Sequential()\nm.append(m)\nm(torch.zeros(1, 8))"),
    "a module that holds itself": inside("self.me = self\nx = self.me(x)"),
    "a module that makes itself": before(
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.m = M()\nM()"
    ),
    "unknown branches in a row": inside(
        "for i in range(60):\n    if input():\n        x = self.fc(x)\n    else:\n        x = x + i"
    ),
    "an unknown branch in an endless loop": inside("while True:\n    if input():\n        break\n    x = self.fc(x)"),
    "brackets within brackets": before("x = " + "[" * 5000 + "]" * 5000),
    "brackets that just parse": before("x = " + "[" * 90 + "]" * 90),
    "calls within calls": before("x = " + "str(" * 90 + ")" * 90),
    "a long chain of operators": before("x = " + " + ".join(["1"] * 20_000)),
    "a chain of operators that just parses": before("x = " + " + ".join(["1"] * 380)),
    "a long chain of attributes": before("x = net" + ".b" * 3000),
    "a long chain of elifs": before("if a: pass\n" + "elif b: pass\n" * 3000),
    "functions within functions": before(
        "".join(f"{'  ' * n}def f{n}():\n" for n in range(80)) + "  " * 80 + "return 1"
    ),
    "a class that is its own base": before("class A(A): pass\nclass B(nn.Module, B): pass\nA()\nB()"),
    "classes that are each other's base": before(
        "class A: pass\nclass B(A): pass\nA.__bases__ = (B,)\nclass C(A, B): pass\nC()"
    ),
    "metaclasses": before(
        "class Meta(type):\n    def __call__(cls, *a, **k):\n        return cls(*a, **k)\n"
        "    def __getattr__(cls, name):\n        return getattr(cls, name + '_')\n"
        "    def __prepare__(name, bases): return {}\n    def __instancecheck__(cls, x): return isinstance(x, cls)\n"
        "class A(metaclass=Meta): pass\nA()\nA.x\nisinstance(1, A)\nclass T(type(nn.Linear)): pass"
    ),
    "builtins replaced": before(
        "import builtins\nbuiltins.len = builtins.range = builtins.super = builtins.isinstance = lambda *a: 1 / 0\n"
        "print = None\nlist = 3\nlen([])\n"
    ),
    "properties that raise": before(
        "class P(nn.Module):\n    @property\n    def a(self):\n        raise ValueError(self.a)\n"
        "    def __getattr__(self, name):\n        return getattr(self, name)\n"
        "    def forward(self, x):\n        return self.a(x)\nP()\nP()(torch.zeros(1, 8))\nstr(P())\nP().b"
    ),
    "special methods that never end": before(
        "class E:\n    def __eq__(self, o): return self == o\n    def __hash__(self): return hash(self)\n"
        "    def __len__(self): return len(self)\n    def __iter__(self): return iter(self)\n"
        "    def __bool__(self): return bool(self)\n    def __add__(self, o): return self + o\n"
        "    def __getitem__(self, i): return self[i]\n    def __str__(self): return str(self)\n"
        "e = E()\n{e: 1}\nlen(e)\nlist(e)\ne + 1\ne[0]\nstr(e)\nif e: pass\ne == 1\n[*e]\nnn.Linear(e, e)\nnn.Linear(8, 8)(e)"
    ),
    "generators without end": before(
        "def g():\n    while True:\n        yield nn.Linear(8, 8)\nfor x in g(): pass\nnn.Sequential(*g())\nlist(g())\n"
        "sum(1 for _ in g())\ndef h():\n    yield from h()\nlist(h())\nit = iter(g())\nnext(it)"
    ),
    "async code": before(
        "import asyncio\nasync def a():\n    async with b as c:\n        async for d in e:\n            await f\n"
        "    return [g async for g in h()]\nasync def h():\n    yield 1\nasyncio.run(a())\nawait_ = a()\n"
        "class N(nn.Module):\n    async def forward(self, x): return x\nN()(torch.zeros(1))"
    ),
    "raising everywhere": before(
        "class X(BaseException): pass\ntry:\n    raise X from X()\nexcept* X:\n    pass\nfinally:\n    raise X\n"
        if sys.version_info >= (3, 11)
        else "raise BaseException"
    ),
    "huge numbers of units": before(
        "nn.Linear(10**30, 10**30)(torch.zeros(1, 10**30))\nkeras.Sequential([keras.Input((10**30,)), keras.layers.Dense(10**30)])"
    ),
    "a directive of 100,000 sizes": before("# cnnmem: input-shape=" + ",".join(["9"] * 100_000)),
    "a directive for a call of 100,000 sizes": before("").replace(b"net = Net()", b"net = Net()  # cnnmem: input-shape=" + b"9," * 90_000 + b"9"),
    "a directive of 100,000 spaces": before("# cnnmem: input-shape=3," + " " * 100_000 + "9 batch-size=" + " " * 100_000 + "x"),
    "a directive of 30,000 keys": before("# cnnmem: " + "input-shape=9 " * 30_000),
    "30,000 directives": before("# cnnmem: batch-size=9\nf()\n" * 15_000),
    "statements on one line": before("x=1;" * 100_000 + "x=2"),
    "calls on one line": before("f(1);" * 60_000 + "x=2"),
    "an expression over many lines": before("x = [\n" + "1,\n" * 60_000 + "]"),
    "a dict over one line": before("x = {" + "'a': 1, " * 50_000 + "}"),
    "assignments in a chain": before("x = " * 5_000 + "1"),
    "an import of many names": before("from torch import (" + "nn as a, " * 30_000 + ")"),
    "lambdas on one line": before("lambda: 1;" * 30_000),
    "definitions on few lines": before("def f(): x=1;" + "y=2;" * 60_000),
    "classes on few lines": before("class A: x=1;" + "y=2;" * 60_000),
    "decorators without end": before("@f\n" * 20_000 + "def g(): pass"),
    "arguments without end": before("def f(" + ", ".join(f"a{n}" for n in range(20_000)) + "): pass\nf(*range(20_000))"),
    "globals without end": before("def f():\n    global " + ", ".join(f"a{n}" for n in range(30_000)) + "\nf()"),
    "targets without end": before(", ".join(f"a{n}" for n in range(20_000)) + " = range(20_000)"),
    "nested Sequential (1)": before("m = nn.Linear(8, 8)\nfor i in range(20_000):\n    m = nn.Sequential(m)\nm(torch.zeros(1, 8))"),
    "nested Sequential (2)": before("m = nn.Linear(8, 8)\nfor i in range(20_000):\n    m = nn.Sequential(m)\n    list(m.parameters())"),
    "nested Sequential (3)": before("m = nn.Linear(8, 8)\nfor i in range(3_000):\n    m = nn.Sequential(m, m)\nstr(m)\nlist(m.modules())\nm.apply(print)\nm.eval()\nm.to('cuda')"),
    "a pattern in brackets": before("match [1]:\n    case " + "(" * 20 + "a" + ",)" * 20 + ":\n        pass"),
    "what is kept holds all": inside(
        "nodes = [{} for _ in range(3000)]\nfor n in nodes:\n    n['all'] = nodes\nself.web = nodes"
    ),
    "copies of copies": before(
        "import copy\nclass R:\n    def __reduce__(self):\n        return (copy.deepcopy, (R(),))\ncopy.deepcopy(R())"
    ),
    "a generator that is not closed": before(
        "def g():\n    while True:\n        try:\n            yield 1\n        except BaseException:\n            pass\n"
        "x = g()\nnext(x)\nx.close()"
    ),
    "nested ModuleList": before("m = nn.ModuleList([nn.Linear(8, 8)])\nfor i in range(20_000):\n    m = nn.ModuleList([m])\nm.state_dict()"),
    "nested Keras models": before("m = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8)])\nfor i in range(20_000):\n    m = keras.Sequential([m])"),
    "nested wrappers": before("class W(nn.Module):\n    def __init__(self, m):\n        super().__init__()\n        self.m = m\n    def forward(self, x):\n        return self.m(x)\nm = nn.Linear(8, 8)\nfor i in range(20_000):\n    m = W(m)\nm(torch.zeros(1, 8))"),
    "a grammar's other forms": before(
        "match net if 0 else [1, {'a': nn}]:\n    case [1, {'a': m, **rest}] if m is nn: y = m\n    case _: pass\n"
        "lambda *a, b=1, **k: (yield)\nx: int\n(y := 3)\nz = *[1], *[2]\ndel z\nglobal q\nprint(f'{x!r:>{y}}', end='')\n"
        "@(lambda f: f)\ndef f(a, /, b, *, c): ...\nwith open(__file__) as f, f as g: pass\nx = 1 if x else 2\nx @= 2\nassert 0, x"
    ),
    **{
        name: before(text)
        for each in (endless_text, endless_values, endless_flow, endless_models, endless_forms)
        for name, text in each.BEFORE.items()
    },
    **{name: inside(text) for each in (endless_flow, endless_models, endless_forms) for name, text in each.INSIDE.items()},
}  # fmt: skip

FILES: dict[str, bytes] = {
    "10 MB": before("x = 1\n" * 1_750_000),
    "one line of 1 MB": before("x = '" + "a" * 1_000_000 + "'"),
    "a line that is just short enough": before("x = '" + "a" * 500_000 + "'"),
    "an empty file": b"",
    "NUL bytes": HEAD.encode() + b"x = '\0'\0\n" + AFTER.encode(),
    "no text at all": bytes(range(256)) * 20 + b"import torch",
    "an encoding that does not exist": b"# -*- coding: klingon -*-\n" + before(""),
    "an encoding that does not fit": b"# -*- coding: ascii -*-\n" + before("x = 'ä'"),
    "bytes that are no UTF-8": before("").replace(b"pass", b"'\xff\xfe'"),
    "UTF-16": before("").decode().encode("utf-16"),
    "a byte-order mark": b"\xef\xbb\xbf" + before(""),
    "a byte-order mark that contradicts the cookie": b"\xef\xbb\xbf# coding: latin-1\n" + before(""),
    "Windows line ends": before("").replace(b"\n", b"\r\n"),
    "old Mac line ends": before("").replace(b"\n", b"\r"),
    "form feeds": before("\f\nx = 1\f\n\f").replace(b"\nclass", b"\n\f\nclass"),
    "tabs": before("").replace(b"    ", b"\t"),
    "tabs and spaces": before("if 1:\n\tx = 1\n        y = 2"),
    "other line separators": before("x = '\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029'\ny = 1"),
    "backslashes": before("x = 1 + \\\n  2; y = 3; \\\n\nz = 4;").replace(b"net(torch", b"net \\\n  (torch"),
    "no line end": before("").rstrip(),
    "newer syntax": before("type X[T] = list[T]\ndef f[T](x: T) -> T: return x\nclass A[T = int]: pass\nprint(f'{f'{1}'}')"),
    "syntax that does not exist yet": before("perhaps x:\n    pass"),
    "Python 2": before("print 'x'\nexec 'y'"),
    "a directive that makes no sense": b"# cnnmem: batch-size=-1 input-shape=a,b dtype=\xff x\n" + before(""),
    **endless_forms.FILES,
}  # fmt: skip

EFFECTS: dict[str, bytes] = {
    "exec": before(f"exec(\"open('{WRITES}', 'w').write('x')\")"),
    "eval": before(f"eval(\"open('{WRITES}', 'w').write('x')\")"),
    "compile": before(f"exec(compile(\"open('{WRITES}', 'w').write('x')\", 'x', 'exec'))"),
    "open": before(f"with open('{WRITES}', 'w') as f:\n    f.write('x')\nopen('{WRITES}', 'a').close()"),
    "pathlib": before(f"import pathlib\npathlib.Path('{WRITES}').write_text('x')\npathlib.Path('{WRITES}').touch()"),
    "os.system": before(f"import os\nos.system('touch {WRITES}')\nos.popen('touch {WRITES}').read()"),
    "os.open and friends": before(f"import os\nos.close(os.open('{WRITES}', os.O_CREAT))\nos.mkdir('{WRITES}')"),
    "subprocess": before(
        f"import subprocess\nsubprocess.run(['touch', '{WRITES}'])\nsubprocess.Popen('touch {WRITES}', shell=True)"
    ),
    "__import__": before(f"__import__('os').system('touch {WRITES}')\n__import__('beside')"),
    "importlib": before("import importlib\nimportlib.import_module('beside')\nimport beside"),
    "torch.save": before(f"torch.save(nn.Linear(1, 1).state_dict(), '{WRITES}')"),
    "Keras' save": before(f"m = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])\nm.save('{WRITES}')"),
    "pickle": before(f"import pickle\npickle.dump(1, open('{WRITES}', 'wb'))\npickle.loads(b'x')"),
    "shutil": before(f"import shutil\nshutil.copy(__file__, '{WRITES}')"),
}
"""Programs that would leave a file `WRITES` behind if anything of them were carried out."""

BESIDE = f"import os\nos.system('touch {WRITES}')\nopen('{WRITES}', 'w').close()\n"
"""A module beside them that would, too."""

PROJECTS: dict[str, dict[str, str]] = {
    **endless_files.PROJECTS,
    **endless_forms.PROJECTS,
    "modules that import each other": {
        "one.py": HEAD + "from two import B\nfrom three import *\nimport one\nclass A(B): pass\n" + AFTER,
        "two.py": "from one import A\nfrom three import C\nclass B(C): pass\n",
        "three.py": "from two import *\nfrom one import *\nfrom torch import nn\nclass C(nn.Module): pass\n",
    },
}
"""Programs of several files; the first is analysed."""


@dataclass
class Cost:
    """What the analysis of one input took, and what it came to: `ended` is 0, or how the process ended."""

    seconds: float
    mib: float
    ended: int
    printed: str
    wrote: bool
    alone: tuple[float, float] = (0.0, 0.0)
    """The seconds and MiB that flake8 takes without the plugin."""

    def broken(self, seconds: float = SECONDS) -> str:
        """What is wrong with it, or ""."""
        if self.ended or "Traceback" in self.printed:
            return f"ended with {self.ended}: {self.printed[-2000:]}"
        if self.wrote:
            return "it was carried out"
        if pace.beyond(self.seconds - self.alone[0], seconds):
            return f"takes {self.seconds - self.alone[0]:.1f} s"
        return f"takes {self.mib:.0f} MiB" if self.mib > max(MIB, self.alone[1] + MIB / 2) else ""


def inputs() -> dict[str, bytes]:
    """The text of each input's first file."""
    return {
        **PROGRAMS,
        **FILES,
        **EFFECTS,
        **{name: next(iter(files.values())).encode() for name, files in PROJECTS.items()},
    }


def write(folder: Path, name: str) -> Path:
    """The files of one input; gives the one to analyse."""
    if name in PROJECTS:
        for file, text in PROJECTS[name].items():
            (folder / file).write_text(text, encoding="utf-8")
        return folder / next(iter(PROJECTS[name]))
    if name in EFFECTS:
        (folder / "beside.py").write_text(BESIDE, encoding="utf-8")
    path = folder / "net.py"
    path.write_bytes(inputs()[name])
    return path


def analysed(name: str) -> Cost:
    """Analyse one input in a fork of this process, in an empty folder, and say what that cost.

    The processor time is the fork's own: what the import of the analysis costs is the same for every file.
    """
    preload()
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), name)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            status = 1
            try:
                status = in_child(path, writer)
            finally:
                os._exit(status)
        os.close(writer)
        with open(reader, encoding="utf-8") as pipe:
            printed = pipe.read()
        _, ended, used = os.wait4(child, 0)
        wrote = (Path(folder) / WRITES).exists()
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, ended, printed, wrote)


@cache
def preload() -> None:
    """Import everything that the first analysis would import, once."""
    from tests import sweep

    os.environ["CNNMEM_STRICT"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        sweep.analyse_file(str(write(Path(folder), "nothing odd")))


def in_child(path: Path, writer: int) -> int:
    from tests import sweep

    os.dup2(writer, 1)
    os.dup2(writer, 2)
    os.chdir(path.parent)
    resource.setrlimit(resource.RLIMIT_CPU, (GIVEN_UP, GIVEN_UP))
    try:
        outcome = sweep.analyse_file(path.name)
        print(outcome.detail or f"{dict(outcome.status)} {outcome.causes[:1]}", flush=True)
    except BaseException:
        traceback.print_exc()
        return 1
    return 1 if outcome.kind else 0


def linted(name: str) -> Cost:
    """Run flake8 as a whole on one input, with every code of ours, and without the plugin."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder), name)
        alone = flake8(path, ["flake8-cnnmem"])
        if alone.ended:
            # flake8 takes the square of a line's length: what the plugin takes is asked of the plugin.
            ours = analysed(name)
            ours.printed = f"flake8 itself is given up; the analysis: {ours.printed}"
            return ours
        whole = flake8(path, (), "--cnnmem-gpu-limit=T4")
        wrote = (Path(folder) / WRITES).exists()
    # What flake8 cannot read without the plugin either is none of the plugin's.
    printed = whole.printed if "Traceback" not in alone.printed else "flake8 itself fails"
    return Cost(whole.seconds, whole.mib, whole.ended, printed, wrote, (alone.seconds, alone.mib))


def flake8(path: Path, without: Sequence[str], *options: str) -> Cost:
    command = benchmark.flake8(sys.executable, without, "--select=CNM,E9", *options, path.name)
    environment = {**os.environ, "CNNMEM_STRICT": "1", "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, cwd=path.parent, env=environment, stdout=out, stderr=subprocess.STDOUT, preexec_fn=give_up_in_time
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        printed = out.read().decode("utf-8", "replace")
    ended = 0 if process.returncode in (0, 1) else process.returncode
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, ended, printed, False)


def give_up_in_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (GIVEN_UP, GIVEN_UP))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="What inputs cost that would break a careless tool.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of an input's name")
    parser.add_argument("--flake8", action="store_true", help="run flake8 as a whole on each")
    options = parser.parse_args(arguments)
    names = [name for name in inputs() if not options.names or any(part in name for part in options.names)]
    broken = 0
    for name in names:
        cost = linted(name) if options.flake8 else analysed(name)
        wrong = cost.broken()
        broken += bool(wrong)
        alone = f" (without the plugin {cost.alone[0]:6.2f} s {cost.alone[1]:5.0f} MiB)" if options.flake8 else ""
        said = wrong or cost.printed.strip()[:110]
        print(f"{name:48s} {cost.seconds:6.2f} s {cost.mib:5.0f} MiB{alone}  {said}", flush=True)
    print(f"{len(names)} inputs, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
