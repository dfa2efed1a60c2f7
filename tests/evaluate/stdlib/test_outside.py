"""Modules that look outside the program: `result` must be what Python itself leaves in it."""

from __future__ import annotations

import pytest

from tests.evaluate.programs import interpreted, real

PROGRAMS = {
    "os": """
import os, os.path as osp
from os.path import join
result = (
    os.path.join("a", "b.py"), osp.basename("/x/y.z"), osp.splitext("a.tar.gz"), osp.dirname("/x/y"), os.sep,
    join("a", "/b"), os.environ.get("CNNMEM_NOT_SET", "d"), os.getenv("CNNMEM_NOT_SET", "e"),
    "CNNMEM_NOT_SET" in os.environ, osp.isabs("/a"), osp.normpath("a/../b"), os.environ.get("CNNMEM_NOT_SET"),
    os.path.split("a/b")
)
""",
    "environment": """
import os
os.environ["CNNMEM_X"] = "1"; os.environ.setdefault("CNNMEM_Y", "2")
result = (
    os.environ["CNNMEM_X"], os.environ.get("CNNMEM_Y"), "CNNMEM_X" in os.environ
)
""",
    "sys": """
import sys
result = (
    sys.version_info >= (3, 6), sys.version_info[0], sys.version_info.major, sys.maxsize,
    sys.version_info[:1], sys.version_info < (3, 0), sys.platform
)
""",
    "argparse": """
import argparse
def parse(argv=None):
    p = argparse.ArgumentParser(description="d")
    p.add_argument("--batch-size", "-b", type=int, default=64, help="h")
    p.add_argument("--lr", default="0.1", type=float)
    p.add_argument("--cuda", action="store_true")
    p.add_argument("--no-aug", dest="aug", action="store_false")
    p.add_argument("--arch", choices=["a", "b"], default="a")
    p.add_argument("--name")
    p.add_argument("--layers", nargs="+", type=int, default=[1, 2])
    g = p.add_argument_group("g"); g.add_argument("--x", default=3)
    e = p.add_mutually_exclusive_group(); e.add_argument("-v", action="count", default=0)
    p.add_argument("data", nargs="?", default="dir")
    p.set_defaults(extra=9)
    return p.parse_args(argv)
a = parse([]); b = parse(["--batch-size", "8", "--cuda", "-b=9", "pos", "--layers", "4", "5"])
result = (
    a.batch_size, a.lr, a.cuda, a.aug, a.arch, a.name, a.layers, a.x, a.v, a.data, a.extra, vars(a)["x"],
    b.cuda, b.data, b.layers, "x" in a, argparse.Namespace(q=1).q, getattr(a, "nope", 7)
)
""",
    "frames": """
import sys, inspect
class Params:
    def save(self, ignore=()):
        frame = inspect.currentframe().f_back
        _, _, _, local_vars = inspect.getargvalues(frame)
        self.hp = {k: v for k, v in local_vars.items() if k not in set(ignore) | {"self"} and not k.startswith("_")}
        for k, v in self.hp.items():
            setattr(self, k, v)
class A(Params):
    def __init__(self, width, depth=3, *rest, flag=True, **more):
        self.save()
def caller():
    return sys._getframe(1).f_code.co_name, inspect.stack()[1].function
def outer():
    return caller()
def names(f):
    code = f.__code__
    return code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
def stored(*words):
    return {word: sys._getframe(1).f_locals[word] for word in words}
def f(a, b=2, *, c=3):
    return [stored("a", "c") for _ in range(1)]
a = A(7, 8, 9, z=1)
result = (a.width, a.depth, a.rest, a.flag, a.more, outer(), names(f), names(A.__init__))
""",
    "pathlib": """
from pathlib import Path, PurePosixPath
p = Path("a") / "b.txt"
result = (
    str(p), p.name, p.stem, p.suffix, str(p.parent), p.parts, str(Path("x", "y")), p.with_suffix(".py").name,
    f"{p}", p.as_posix(), str("r" / p), str(p.parents[0])
)
""",
    "logging and warnings": """
import logging, warnings, time, random, gc, traceback
log = logging.getLogger(__name__); log.setLevel(logging.INFO); log.info("x %s", 1)
log.addHandler(logging.StreamHandler()); logging.basicConfig(level=logging.INFO, format="%(message)s")
warnings.warn("w", DeprecationWarning); warnings.filterwarnings("ignore"); random.seed(1); gc.collect()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
result = log is logging.getLogger(__name__), logging.INFO
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_ends_as_in_python(program: str) -> None:
    assert repr(interpreted(program)) == repr(real(program))
