"""Reading, decoding and parsing, within bounds whatever the file is."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libcst
import pytest

from flake8_cnnmem import source
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import LARGEST, Source, SourceError
from flake8_cnnmem.source.parsing import parse_cst
from flake8_cnnmem.text.files import Files, Unsaved
from flake8_cnnmem.text.match_patterns import may_match


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param(b"x = 1\r\ny = 2\rz = 3\n", "x = 1\ny = 2\nz = 3\n", id="all kinds of line ends"),
        pytest.param("x = 'é'\n".encode(), "x = 'é'\n", id="UTF-8"),
        pytest.param(b"\xef\xbb\xbfx = 1\n", "x = 1\n", id="a byte-order mark"),
        pytest.param(b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n", id="an encoding cookie"),
        pytest.param(b"x = '\xe9'\n", "x = 'é'\n", id="not UTF-8 and no cookie"),
        pytest.param(b"# coding: klingon\nx = '\xe9'\n", "# coding: klingon\nx = 'é'\n", id="an unknown encoding"),
        pytest.param(b"", "", id="an empty file"),
    ],
)
def test_a_file_is_decoded(tmp_path: Path, content: bytes, text: str) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(content)
    assert source.read(str(path)) == text
    assert source.load(str(path)).cst.code == text


def deep_brackets(count: int) -> str:
    return "x = " + "[" * count + "]" * count


HOSTILE = {
    "a syntax error": "def f(:\n",
    "NUL bytes": "x = 1\0\n",
    "nested brackets beyond Python's own bound": deep_brackets(5_000),
    "a sum of 20,000": "x = " + "+".join(["a"] * 20_000),
    "a chain of 20,000 ands": "x = " + " and ".join(["a"] * 20_000),
    "a chain of 900 ands": "x = " + " and ".join(["a"] * 900),
    "5,000 dots": "x = " + ".".join(["a"] * 5_000),
    "900 dots": "x = " + ".".join(["a"] * 900),
    "900 method calls": "x = a" + ".b()" * 900,
    "an import of 20,000 dots": "import " + ".".join(["a"] * 20_000),
    "an import from 20,000 dots": "from " + ".".join(["a"] * 20_000) + " import b",
    "20,000 minus signs": "x = " + "-" * 20_000 + "a",
    "20,000 lambdas": "x = " + "lambda: " * 20_000 + "a",
    "5,000 elifs": "if a: pass\n" + "elif a: pass\n" * 5_000,
    "5,000 conditional expressions": "x = " + "a if a else " * 5_000 + "a",
    "10,000 strings in a row": "x = " + " ".join(["'a'"] * 10_000),
    "ten megabytes": "x = 1\n" * (10 * 2**20 // 6),
    "a line of a megabyte": "x = '" + "a" * 2**20 + "'",
    "too many levels of indentation": "".join(" " * level + "if a:\n" for level in range(150)) + " " * 150 + "pass",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_refused_with_a_reason(text: str) -> None:
    hostile = Source("hostile.py", text)
    for _ in range(2):
        with pytest.raises(SourceError) as refused:
            hostile.cst  # noqa: B018
        assert refused.value.reason
        assert "\n" not in refused.value.reason
        assert len(refused.value.reason) < 200


HARMLESS = {
    "100 nested calls": "x = " + "f(" * 100 + ")" * 100,
    "a sum of 300": "x = " + "+".join(["a"] * 300),
    "190 method calls": "x = a" + ".b()" * 190,
    "a list of 5,000": "x = [" + "1," * 5_000 + "]",
    "a tuple of 5,000 and a chain of assignments": "x = " * 100 + "1," * 5_000,
    "5,000 statements": "x = 1\n" * 5_000,
    "tabs, form feeds and backslashes": "if a:\n\tx = 1\n\f\ny = \\\n  2\n",
    "a bad escape in a string": "x = '\\d'\n",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_long_but_harmless_text_is_parsed(text: str) -> None:
    assert Source("harmless.py", text).cst.code == text


def test_the_line_of_a_fault_is_known() -> None:
    with pytest.raises(SourceError, match="not valid Python") as refused:
        Source("a.py", "x = 1\ny = (\n").tree  # noqa: B018
    assert refused.value.line == 2
    with pytest.raises(SourceError, match="too deeply") as refused:
        Source("a.py", "x = 1\ny = " + " or ".join(["a"] * 999)).cst  # noqa: B018
    assert refused.value.line == 2
    with pytest.raises(SourceError, match="too deeply") as refused:
        Source("a.py", f"x = 1\nmatch x:\n    case {'(' * 10}a{')' * 10}:\n        pass\n").cst  # noqa: B018
    assert refused.value.line == 2


MATCHES = {
    "a match statement": ("match x:\n    case 1:\n        pass\n", True),
    "one in a function": ("def f(x):\n\tmatch (x):\n\t\tcase [a]: return a\n", True),
    "behind a continued line": ("\\\n match x:\n  case y: pass\n", True),
    "behind a carriage return": ("x = 1\rmatch x:\r case 1: pass", True),
    "behind a form feed": ("\fmatch x:\n case 1: pass", True),
    "a method of that name": ("case = re.match(x)\nmatch_all = 1\n", False),
    "words of a sentence": ("# in this case they match\n", False),
}


@pytest.mark.parametrize(("text", "may"), MATCHES.values(), ids=MATCHES)
def test_a_text_may_hold_a_match_statement_by_what_its_lines_begin_with(text: str, may: bool) -> None:
    assert may_match(text) is may
    assert may or not any(isinstance(node, ast.Match) for node in ast.walk(ast.parse(text)))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        pytest.param(lambda path: None, "no such file", id="nothing there"),
        pytest.param(lambda path: path.mkdir(), "not a file", id="a folder"),
        pytest.param(lambda path: os.mkfifo(path), "not a file", id="a pipe, which would block"),
        pytest.param(lambda path: path.write_bytes(b"#" * (LARGEST + 1)), "too large", id="a file that is too large"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, make: Callable[[Path], object], reason: str) -> None:
    path = tmp_path / "a.py"
    make(path)
    with pytest.raises(SourceError, match=reason):
        source.read(str(path))


def test_a_path_with_a_nul_byte_is_refused() -> None:
    with pytest.raises(SourceError):
        source.load("a\0.py")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("import torch\n", True),
        ("from torch import nn\n", True),
        ("import torch.nn.functional as F\n", True),
        ("import tensorflow as tf\n", True),
        ("from tf_keras import layers\n", True),
        ("import pytorch_lightning as pl\n", True),
        ("from torchvision.models import resnet18\n", True),
        ("import timm\n", True),
        ("def f():\n    try:\n        import keras\n    except ImportError:\n        keras = None\n", True),
        ("from project import keras_models\n", True),
        ("from models import resnet\n# cnnmem: batch-size=4\nnet = resnet()\n", True),
        ("from models import resnet  # runs on torch\n", False),
        ("text = 'import torch'\n", False),
        ("import numpy\n", False),
        ("", False),
        ("import torch\ndef f(:\n", False),
    ],
)
def test_which_files_are_worth_evaluating(text: str, holds: bool) -> None:
    assert Source("a.py", text).may_hold_models() is holds


def test_a_file_is_parsed_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    first = source.load(str(path))
    assert source.load(str(path)) is first
    path.write_text("x = 1234\n")
    assert source.load(str(path)).text == "x = 1234\n"


def test_what_is_parsed_is_shared_by_files_of_the_same_text(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    first = source.load(str(path))
    again = source.shared("another.py", "x = 1\n")
    assert again.path == "another.py"
    assert again.statement(0)[0] is first.statement(0)[0]


def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = source.Shelf()
    monkeypatch.setattr(source, "SHELF", shelf)
    monkeypatch.setattr(source.shelf, "HELD", 500_000)
    for number in range(60):
        path = tmp_path / f"a{number}.py"
        path.write_text(f"x = {number}\n" * 40)
        loaded = source.load(str(path))
        assert loaded.statement(39)[0]
        assert loaded.cst.code == loaded.text
        shown = source.shared("shown.py", loaded.text + "y = 1\n")
        assert shown.tree
        source.load(str(path))
    assert 0 < shelf.weight <= 500_000
    assert shelf.weight == sum(syntax.weight for syntax in shelf.syntaxes.values())
    assert len(shelf.syntaxes) < 40
    assert len(shelf.loaded) <= len(shelf.syntaxes)


def test_libcst_is_not_imported_before_its_module_is_wanted() -> None:
    code = (
        "import sys, flake8_cnnmem.plugin, flake8_cnnmem.cli; from flake8_cnnmem.source import Source;"
        "Source('a.py', 'import torch').may_hold_models(); sys.exit('libcst' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_one_process_works_on_files_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor's server analyses each version of a file: what it keeps does not grow with them."""
    monkeypatch.setattr(source, "SHELF", shelf := source.Shelf())
    monkeypatch.setattr(source.shelf, "HELD", 400_000)
    path = tmp_path / "net.py"
    sizes = []
    for version in range(30):
        text = f"import torch\n\nmodel = torch.nn.Sequential(torch.nn.Linear({version + 1}, 2))\n" + "x = 1\n" * 300
        path.write_text(text)
        (report,) = analyse(source.shared(str(path), text), Settings()).reports
        assert report.parameters == 2 * (version + 2)
        sizes.append(len(shelf.syntaxes))
    assert max(sizes[10:]) < 10
    # What the last file took is weighed when the next one comes.
    assert shelf.weight <= 400_000 + max(syntax.weight for syntax in shelf.syntaxes.values())


def test_what_one_file_does_to_a_shared_module_is_not_seen_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "widths.py").write_text("WIDTH = 8\nALL = [8]\n")
    change = "import widths, torch\nwidths.WIDTH = 5\nwidths.ALL.append(5)\n"
    texts = [
        f"{change}model = torch.nn.Sequential(torch.nn.Linear(widths.WIDTH, 2))\n",
        f"{change}model = torch.nn.Sequential(torch.nn.Linear(len(widths.ALL), 2))\n",
        "import widths, torch\nmodel = torch.nn.Sequential(torch.nn.Linear(widths.WIDTH, len(widths.ALL)))\n",
    ]
    found = []
    for number, text in enumerate(texts):
        path = tmp_path / f"net{number}.py"
        path.write_text(text)
        (report,) = analyse(source.load(str(path)), Settings()).reports
        found.append(report.parameters)
    assert found == [5 * 2 + 2, 2 * 2 + 2, 8 * 1 + 1]


def test_the_texts_of_an_editor_lie_over_the_disk(tmp_path: Path) -> None:
    saved, new = tmp_path / "saved.py", tmp_path / "new.py"
    saved.write_text("a = 1\n")
    files = Unsaved({str(saved): "a = 2\n", str(new): "# coding: latin-1\nb = 'ü'\n"})
    assert files.content(str(saved), 100) == b"a = 2\n"
    assert files.content(os.path.join(str(tmp_path), ".", "saved.py"), 3) == b"a ="
    assert source.read(str(new), files) == "# coding: latin-1\nb = 'ü'\n"
    assert files.is_file(str(new))
    assert not files.is_folder(str(new))
    assert files.entries(str(tmp_path)) == [("new.py", False), ("saved.py", False)]
    assert files.size(str(saved)) == 6
    assert files.version(str(saved)) != Files().version(str(saved))
    assert not files.exists(str(tmp_path / "neither.py"))


def test_what_an_analysis_has_loaded_is_found_again_by_its_next_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "SHELF", shelf := source.Shelf())
    monkeypatch.setattr(source.shelf, "HELD", 1)
    paths = [str(tmp_path / f"{number}.py") for number in range(3)]
    for path in paths:
        Path(path).write_text(f"x = {path!r}\n")
    with shelf.kept_in_use():
        first = [source.load(path) for path in paths]
        assert [source.load(path) for path in paths] == first
        (tmp_path / "0.py").write_text("x = 'another'\n")
        assert source.load(paths[0]).text == "x = 'another'\n"
    assert source.load(paths[1]) is not first[1]


def test_what_is_merely_searched_displaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = source.Shelf()
    monkeypatch.setattr(source, "SHELF", shelf)
    monkeypatch.setattr(source.shelf, "HELD", 60_000)
    for number in range(10):
        (tmp_path / f"{number}.py").write_text(f"x = {number}\n{'#' * 10_000}\n")
    needed = source.load(str(tmp_path / "0.py"))
    needed.check()
    weight = shelf.weight
    for number in range(1, 10):
        assert source.load(str(tmp_path / f"{number}.py"), searched=True).text.startswith(f"x = {number}")
    assert source.load(str(tmp_path / "0.py")) is needed
    assert shelf.weight <= max(weight, 60_000)
    assert len(shelf.loaded) == len(shelf.syntaxes)
    # What is needed after all goes where what is needed stands.
    source.load(str(tmp_path / "9.py"))
    assert list(shelf.syntaxes)[-1].startswith("x = 9")


def test_files_that_were_analysed_make_room_for_the_next_unless_an_import_wants_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "SHELF", shelf := source.Shelf())
    monkeypatch.setattr(source.shelf, "SHELF", shelf)
    monkeypatch.setattr(source.shelf, "HELD_WHOLE", 60_000)
    texts = [
        f"import torch\n\nmodel = torch.nn.Sequential(torch.nn.Linear({at + 1}, 2))\n" + "x = 1\n" * 30
        for at in range(20)
    ]
    for number, text in enumerate(texts):
        path = tmp_path / f"net{number}.py"
        path.write_text(text)
        (report,) = analyse(source.shared(str(path), text), Settings()).reports
        assert report.parameters == 2 * (number + 2)
        if number == 0:
            wanted = source.load(str(path))
            wanted.statement(0)
    assert source.load(str(tmp_path / "net0.py")) is wanted
    assert texts[-1] in shelf.syntaxes
    assert texts[1] not in shelf.syntaxes
    assert sum(each.weight for each in shelf.whole.values()) <= 60_000
    assert shelf.weight == sum(each.weight for each in shelf.syntaxes.values())


BEFORE = (
    "import torch\n\n\ndef a():\n    return 1\n\n\n@torch.no_grad()\ndef b():\n    return 2\n\n\nx = a()\nx = a()\n"
)


@pytest.mark.parametrize(
    ("after", "parsed"),
    [
        pytest.param(BEFORE, 1, id="nothing: one of two statements that are alike"),
        pytest.param(f"# more\n\n{BEFORE}", 1, id="lines before all"),
        pytest.param(BEFORE.replace("return 1", "y = 1\n    return y"), 2, id="a function"),
        pytest.param(BEFORE.replace("def a", "n = 3\n\n\ndef a"), 2, id="a statement more"),
        pytest.param(BEFORE.replace("import torch\n", ""), 1, id="a statement less"),
        pytest.param(BEFORE.replace("x = a()\nx", "x = a(); x"), None, id="two on a line"),
        pytest.param(f"{BEFORE}try:\n    a()\nexcept ValueError:\n    pass\n", 2, id="a statement at the end"),
    ],
)
def test_what_an_earlier_text_has_as_well_is_not_parsed_again(
    after: str, parsed: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statements are those of a text that is parsed whole; where `parsed` is None, it is."""
    monkeypatch.setattr(source, "SHELF", source.Shelf())
    earlier, whole, edited = Source("a.py", BEFORE), Source("a.py", after), Source("a.py", after)
    earlier.parse_whole()
    whole.parse_whole()
    asked: list[str] = []
    parse_cst = source.parsing.parse_cst

    def counted(text: str, tree: ast.Module, path: str = "") -> object:
        asked.append(text)
        return parse_cst(text, tree, path)

    monkeypatch.setattr(source, "parse_cst", counted)
    edited.before = earlier
    edited.parse_whole()
    assert asked == [after] if parsed is None else len(asked) == parsed
    parts, expected = edited.syntax.parts, whole.syntax.parts
    assert len({id(node) for node, _ in parts.values()}) == len(parts) == len(expected)
    for at, (node, twin) in parts.items():
        # Where libcst parses a statement by itself, the comments and empty lines before it are not its own.
        assert code_of(node) == code_of(expected[at][0])
        assert ast.dump(twin, include_attributes=True) == ast.dump(expected[at][1], include_attributes=True)


def code_of(node: Any) -> str:
    text: str = libcst.Module([]).code_for_node(node)
    return text.strip().removeprefix("# more").strip()


def test_a_tree_that_flake8_has_made_is_held_to_the_same_patterns() -> None:
    text = "match x:\n    case " + "(" * 20 + "a" + ",)" * 20 + ":\n        pass\n"
    with pytest.raises(SourceError, match="nested too deeply"):
        parse_cst(text, ast.parse(text))
