"""libcst's classes, made quickly, beside those that its own import makes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

DESCRIBED = """
import dataclasses, inspect, json, pickle, sys
own = dataclasses.dataclass
if {quick}:
    from flake8_cnnmem.source.syntax import cst
else:
    import libcst as cst
assert dataclasses.dataclass is own


def described(cls):
    fields = [
        (f.name, str(f.type), f.default is dataclasses.MISSING or repr(f.default),
         f.default_factory is dataclasses.MISSING, f.init, f.repr, f.hash, f.compare, f.kw_only, dict(f.metadata))
        for f in dataclasses.fields(cls)
    ]
    params = cls.__dataclass_params__
    return [
        fields, cls.__dict__.get("__slots__"), cls.__match_args__, params.frozen, cls.__doc__ is None,
        cls.__hash__ is None, cls.__eq__ is object.__eq__, cls.__setattr__ is object.__setattr__,
    ]


def outcome(work):
    try:
        return repr(work())
    except Exception as error:
        return type(error).__name__


tree = cst.parse_module(open(sys.argv[1]).read())
name, call = cst.Name("a"), cst.Call(cst.Name("f"), [cst.Arg(cst.Name("x"))])
print(json.dumps({{
    "classes": {{
        f"{{cls.__module__}}.{{cls.__qualname__}}": described(cls)
        for module in list(sys.modules.values())
        if module.__name__.startswith("libcst.")
        for cls in vars(module).values()
        if isinstance(cls, type) and cls.__module__ == module.__name__ and hasattr(cls, "__dataclass_fields__")
    }},
    "tree": repr(tree),
    "values": [
        tree.code,
        outcome(lambda: name.with_changes(value="b")),
        outcome(lambda: dataclasses.replace(name, value="b")),
        outcome(lambda: dataclasses.asdict(name)),
        outcome(lambda: name.deep_equals(cst.Name("a"))),
        outcome(lambda: name == cst.Name("a")),
        outcome(lambda: hash(name) == hash(cst.Name("a"))),
        outcome(lambda: pickle.loads(pickle.dumps(call)).deep_equals(call)),
        outcome(lambda: call.deep_clone().deep_equals(call)),
        outcome(lambda: setattr(name, "value", "b")),
        outcome(lambda: delattr(name, "value")),
        outcome(lambda: cst.Name()),
        outcome(lambda: cst.Name("a b", [])),
        outcome(lambda: cst.Name(other="a")),
        outcome(lambda: cst.Name(value="")),
        outcome(lambda: cst.MaybeSentinel.DEFAULT),
        outcome(lambda: [cst.Name("a", [], []).lpar for _ in range(40)][-1]),
        outcome(lambda: own(frozen=True)(type("Mine", (cst.Name,), {{}}))("a")),
    ],
}}))
"""


def import_of(quick: bool) -> Any:
    code = DESCRIBED.format(quick=quick)
    done = subprocess.run([sys.executable, "-c", code, __file__], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def imports() -> tuple[Any, Any]:
    return import_of(quick=True), import_of(quick=False)


@pytest.mark.parametrize("what", ["classes", "tree", "values"])
def test_what_is_imported_is_the_same(imports: tuple[Any, Any], what: str) -> None:
    quick, plain = imports
    assert quick[what] == plain[what]
    assert len(plain["classes"]) > 150


def test_a_report_imports_it_quickly(tmp_path: Any) -> None:
    """Nothing else of the package may import libcst first."""
    (tmp_path / "net.py").write_text("import torch\nnet = torch.nn.Linear(2, 3)\n")
    code = (
        "import sys\nfrom flake8_cnnmem import cli\ncli.main(['report', 'net.py', '--no-cache'])\nimport libcst\n"
        "print(libcst.Await.__init__.__code__.co_name, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    late = sys.version_info < (3, 14)
    assert done.stderr.split()[-1] == ("first" if late else "__init__")


def test_where_libcst_is_there_it_stays() -> None:
    code = (
        "import libcst\nbefore = libcst.Await\nfrom flake8_cnnmem.source.syntax import cst\n"
        "print(cst.Await is before, before.__init__.__code__.co_name)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "__init__"]
