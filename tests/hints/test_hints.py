"""What stands beside the source, against what the frameworks print there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.evaluate.noting import Notes
from flake8_cnnmem.hints import FileHints, hints_of
from flake8_cnnmem.hints.annotated import annotated
from flake8_cnnmem.hints.carried import Carrying
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import shared

ROOT = Path(__file__).resolve().parent.parent.parent
EDITOR = ROOT / "fixtures" / "editor"
TRUTH = json.loads((ROOT / "fixtures" / "truth" / "expressions.json").read_text())["files"]

OUTSIDE = {"unet.py": range(63, 71), "expressions.py": (32, 50)}
"""Lines whose expressions no model's forward pass or step runs: they make the data, and a parameter."""


def hints_for(path: Path) -> tuple[FileReport, FileHints]:
    return hints_of(shared(str(path), path.read_text()), Settings())


def lines_of(hints: FileHints) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for hint in hints.hints:
        found.setdefault(hint.span.end_line, []).append(hint.text)
    return found


def shapes_in(words: str, batch: int) -> list[list[int]]:
    """The shapes in what a hover says: `(N, 64)` for each line."""
    found = []
    for line in words.split("\n"):
        inner = re.fullmatch(r"\(([^()]*)\)( \w+)?", line)
        assert inner is not None, line
        sizes = [size.strip() for size in inner[1].split(",") if size.strip()]
        found.append([batch if size == "N" else int(size) for size in sizes])
    return found


@pytest.mark.parametrize(("name", "batch"), [("unet.py", 8), ("expressions.py", 5)])
def test_every_expression_has_the_shape_that_torch_prints(name: str, batch: int) -> None:
    """`print(x.shape)` at each expression of the file, by PyTorch."""
    _, hints = hints_for(EDITOR / name)
    told = {"{}:{}-{}:{}".format(*each.span): each.value for each in hints.told}
    checked = 0
    for place, shapes in TRUTH[name].items():
        if int(place.partition(":")[0]) in OUTSIDE[name]:
            continue
        words = told[place]
        if "\nand " in words:
            words, _, more = words.rpartition("\nand ")
            shapes = shapes[: -int(more.split()[0])]
        assert shapes_in(words, batch) == shapes, place
        checked += 1
    assert checked == {"unet.py": 31, "expressions.py": 56}[name]


@pytest.mark.parametrize("name", ["unet.py", "expressions.py", "unet_keras.py"])
def test_what_is_kept_adds_up(name: str) -> None:
    """The hints of a model's forward pass count everything that its step keeps once."""
    report, hints = hints_for(EDITOR / name)
    heaviest = max(report.reports, key=lambda each: each.estimate.total if each.estimate else 0)
    assert heaviest.estimate is not None
    whole = sum(size for _, size in heaviest.estimate.kept_by_call)
    first, last = {"unet.py": (47, 53), "expressions.py": (38, 46), "unet_keras.py": (7, 14)}[name]
    shown = sum(each.kept or 0 for each in hints.hints if first <= each.span.line <= last)
    # The loss stands elsewhere, and `max` gives no tensor but a pair with names.
    others = sum(size for call, size in heaviest.estimate.kept_by_call if call.function in ("cross_entropy", "max"))
    assert shown == whole - others


def test_keras_layers_show_parameters_shape_and_bytes() -> None:
    _, hints = hints_for(EDITOR / "unet_keras.py")
    lines = lines_of(hints)
    assert lines[9] == ["(N, 128, 128, 32)  896 parameters  keeps 64 MiB"]
    assert lines[10] == ["(N, 64, 64, 32)  keeps 16 MiB"]
    assert lines[12] == ["(N, 128, 128, 64)"]
    assert lines[21] == ["(N, 26, 26, 32)  320 parameters  keeps 2.6 MiB"]
    assert lines[23] == ["(N, 5408)"]
    assert lines[26] == ["(N, 10)  54,090 parameters"]


def test_layers_of_a_sequential_show_what_nothing_in_the_file_calls() -> None:
    lines = lines_of(hints_for(EDITOR / "unet.py")[1])
    assert lines[12][0].startswith("(N, 32, 100, 100) to (N, 256, 12, 12)  775,008 parameters in 7 layers  keeps ")
    assert lines[21][0].startswith("(N, 32, 100, 100) to (N, 256, 12, 12)")


def test_a_model_with_a_wrong_size_has_hints_up_to_there(tmp_path: Path) -> None:
    text = (EDITOR / "expressions.py").read_text().replace("nn.Linear(64, 10)", "nn.Linear(63, 10)")
    report, hints = hints_of(shared("net.py", text), Settings())
    assert report.reports[0].problems
    assert lines_of(hints)[38][-1] == "(N, 64, 64)"
    assert lines_of(hints)[45] == ["(4, N, 64)"]


def test_nothing_is_noted_unless_somebody_asks() -> None:
    path = EDITOR / "unet.py"
    source = shared(str(path), path.read_text())
    plain = analyse(source, Settings())
    other = Notes("another.py")
    analyse(shared(str(path), path.read_text()), Settings(), notes=other)
    assert other.found == []
    noted, _ = hints_for(path)
    assert [each.estimate for each in noted.reports] != []
    assert [each.estimate.total for each in noted.reports if each.estimate] == [
        each.estimate.total for each in plain.reports if each.estimate
    ]


@pytest.mark.parametrize("name", sorted(path.name for path in EDITOR.glob("*.py")))
def test_annotated_source_is_the_same_program(name: str) -> None:
    import ast

    text = (EDITOR / name).read_text()
    shown = annotated(text, hints_for(EDITOR / name)[1])
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(text))
    assert "keeps" in shown


def test_no_comment_is_put_into_a_string_or_behind_a_backslash() -> None:
    text = (
        "import torch\nfrom torch import nn\n\n\nnet = nn.Sequential(nn.Linear(4, 4)); note = '''\n'''\n"
        "x = nn.Sequential(nn.Linear(4, 4)) \\\n    (torch.randn(2, 4))\n"
    )
    _, hints = hints_of(shared("net.py", text), Settings())
    assert any(hint.span.end_line == 5 for hint in hints.hints)
    shown = annotated(text, hints).split("\n")
    assert "net = nn.Sequential(nn.Linear(4, 4)); note = '''" in shown
    assert "x = nn.Sequential(nn.Linear(4, 4)) \\" in shown


def test_the_command_annotates(capsys: pytest.CaptureFixture[str]) -> None:
    from flake8_cnnmem.cli import main

    assert main(["report", str(EDITOR / "unet.py"), "--format", "annotate", "--gpu-limit", "1MiB"]) == 1
    shown = capsys.readouterr().out
    assert "        return self.last(x)" in shown
    assert "(N, 2, 100, 100)" in shown
    assert "# UNet: needs " in shown
    assert main(["report", f"{EDITOR / 'unet.py'}::UNet", "--format", "annotate"]) == 2


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\nc", "a\nb\nc", {1: 1, 2: 2, 3: 3}),
        ("a\nb\nc", "a\nx\nc", {1: 1, 2: None, 3: 3}),
        ("a\nb\nc", "a\nx\ny\nb\nc", {1: 1, 2: 4, 3: 5}),
        ("a\nb\nc", "b\nc", {1: None, 2: 1, 3: 2}),
        ("a\na\na", "a\na", {1: 1, 2: 2, 3: None}),
        ("a", "", {1: None}),
    ],
)
def test_lines_are_carried_over_an_edit(before: str, after: str, lines: dict[int, int | None]) -> None:
    carrying = Carrying(before, after)
    assert {line: carrying.line(line) for line in lines} == lines
