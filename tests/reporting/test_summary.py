"""The summary of many models."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from flake8_cnnmem.graph import Problem
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.reporting import summary
from flake8_cnnmem.reporting.ink import Ink
from flake8_cnnmem.results import EvaluationReport, LayerProblem, ModelReport
from flake8_cnnmem.text.lines import CellLine
from flake8_cnnmem.training import Fact
from flake8_cnnmem.units import GIB, MIB
from flake8_cnnmem.unknown import Unknown

Make = Callable[..., ModelReport]


@pytest.fixture
def make_line(make_report: Make, make_estimate: Callable[..., Estimate]) -> Callable[..., summary.SummaryRow]:
    """A row; `needs` is what the model takes."""

    def make(needs: int | None = 12 * GIB + 37 * MIB, **changes: Any) -> summary.SummaryRow:
        estimate = None if needs is None else make_estimate(total=needs)
        return summary.line_of(make_report(estimate=estimate, **changes))

    return make


def test_the_one_over_its_limit_comes_first_then_the_largest(make_line: Callable[..., summary.SummaryRow]) -> None:
    cause = Unknown("its width is not known", "open.py", 3)
    lines = [
        make_line(2 * GIB, name="small", path="a.py", fits=True, largest_batch_size=900),
        make_line(None, name="open", path="open.py", status="unresolved", causes=(cause,), fits=None),
        make_line(9 * GIB, name="large", path="b.py", fits=True, largest_batch_size=80),
        make_line(13 * GIB, name="over", path="c.py", fits=False, largest_batch_size=40),
        make_line(3 * GIB, name="some", path="d.py", fits=None, status="lower-bound", causes=(cause,)),
    ]
    printed = summary.render(lines)
    head, _, *rows = printed.split("\n\n")[0].splitlines()
    assert head.split("  ")[0] == "name"
    assert [row.split()[0] for row in rows] == ["over", "large", "some", "small", "open"]
    assert rows[0].split("  ")[-1].strip() == "3x224x224 (directive)"
    assert [part.strip() for part in rows[0].split("  ") if part][1:6] == [
        "c.py:12", "13.0 GiB", "12.0 GiB", "40", "over its limit",
    ]  # fmt: skip
    assert "at least 3.0 GiB" in rows[2]
    assert "  open  open.py:12: its width is not known (line 3)" in printed
    assert printed.splitlines()[-1] == "5 models in 5 files: 1 over the limit, 1 not exact, 1 not estimated"
    assert summary.render(lines[::-1]) == printed


def test_what_cannot_run_with_its_sizes_is_told_first(make_line: Callable[..., summary.SummaryRow]) -> None:
    problem = LayerProblem(Problem("CNM201", "takes 4 features, but is given 5"), "fc", None, "")  # type: ignore[arg-type]
    wrong = make_line(None, name="wrong", status="unresolved", problems=(problem,), fits=None)
    shown = summary.with_parts([make_line(13 * GIB), wrong])
    assert [line.name for line in shown] == ["VGG16", "wrong"]
    assert summary.state(shown[1]) == "sizes do not fit together"
    assert shown[1].over


@pytest.mark.parametrize(
    ("changes", "cell"),
    [
        ({"largest_batch_size": 53}, "53"),
        ({"largest_batch_size": 0}, "none"),
        ({"largest_batch_size": 4_000_000}, ""),
        ({"largest_batch_size": None}, ""),
        ({"largest_batch_size": 53, "status": "lower-bound"}, "at most 53"),
        ({"largest_batch_size": 53, "status": "lower-bound", "fits": None}, ""),
        ({"evaluation": EvaluationReport(512, GIB, "a.py", 1, 100, MIB)}, "100"),
    ],
)
def test_the_largest_batch(make_line: Callable[..., summary.SummaryRow], changes: dict[str, Any], cell: str) -> None:
    assert summary.largest(make_line(**changes)) == cell


def test_an_input_that_nobody_states_is_not_stated(make_report: Make) -> None:
    partly: Fact[tuple[int | None, ...]] = Fact((3, None, None), "")
    for given in (None, partly):
        training = replace(make_report().training, input_shape=given)
        assert summary.line_of(make_report(training=training)).input == ("not stated", "")


def used(name: str, path: str, line: int) -> dict[str, Any]:
    return {"name": name, "path": path, "line": line, "defined_at": (os.path.abspath(path), line, line)}


def test_what_a_training_uses_is_a_part_of_it(make_line: Callable[..., summary.SummaryRow]) -> None:
    net, block = used("Net", "model.py", 12), used("Block", "model.py", 4)
    made = frozenset((os.path.abspath("model.py"), line) for line in (12, 4))
    training = make_line(name="Net", path="train.py", line=46, kind="training", made_of=made)
    holder = make_line(20 * GIB, name="Big", path="big.py", made_of=made)
    unknown = make_line(None, **block, status="unresolved")
    shown = summary.with_parts([make_line(**net), unknown, holder, training])
    assert [(line.name, line.part_of) for line in shown] == [
        ("Big", ""), ("Net", ""), ("Net", "Net, train.py:46"), ("Block", "Net, train.py:46"),
    ]  # fmt: skip
    # A model that is known by itself is not left out for another model's sake.
    assert [line.part_of for line in summary.with_parts([make_line(**net), unknown, holder])] == [
        "",
        "",
        "Big, big.py:12",
    ]
    printed = summary.render([make_line(**net), unknown, holder, training])
    assert "  Block  model.py:4: part of Net, train.py:46" in printed
    assert printed.splitlines()[-1].startswith("1 training and 1 model in 2 files")


def test_a_factory_that_a_training_calls_is_a_part_of_it(make_line: Callable[..., summary.SummaryRow]) -> None:
    made = frozenset({(os.path.abspath("net.py"), 8)})
    factory = make_line(name="build", path="net.py", line=5, defined_at=(os.path.abspath("net.py"), 5, 9))
    training = make_line(name="Net", path="train.py", line=3, kind="training", made_of=made)
    assert summary.with_parts([factory, training])[1].part_of == "Net, train.py:3"
    elsewhere = replace(training, made_of=frozenset({(os.path.abspath("net.py"), 10)}))
    assert not any(line.part_of for line in summary.with_parts([factory, elsewhere]))


def test_rows_go_from_process_to_process(make_line: Callable[..., summary.SummaryRow]) -> None:
    line = make_line(path="net.ipynb", line=CellLine(40, 3, 12), made_of=frozenset({("/a", CellLine(4, 1, 4))}))
    assert pickle.loads(pickle.dumps(line)) == line
    assert pickle.loads(pickle.dumps(line)).where == "net.ipynb:cell 3:12"


@pytest.mark.parametrize("columns", [70, 80, 100, 160])
def test_a_terminal_is_not_too_narrow(make_line: Callable[..., summary.SummaryRow], columns: int) -> None:
    lines = [make_line(name="net_" * 12, path=f"{'folder/' * 9}train.py"), make_line()]
    printed = summary.table(summary.with_parts(lines), Ink(False, columns))
    assert max(map(len, printed.splitlines())) <= columns
    assert "train.py:12" in printed
    assert "over its limit" in printed


def test_colours_change_no_letter(make_line: Callable[..., summary.SummaryRow]) -> None:
    import re

    lines = [make_line(), make_line(GIB, name="small", fits=True)]
    plain, coloured = summary.render(lines), summary.render(lines, Ink(True))
    assert plain != coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert "\x1b[1;31mVGG16" in coloured


def test_names_are_printed_on_their_line(make_line: Callable[..., summary.SummaryRow]) -> None:
    [_, _, row] = summary.table([make_line(name="a\nb\x1b[31m")]).splitlines()
    assert row.startswith("a\\nb\\x1b[31m")
