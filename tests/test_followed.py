"""Whole programs that train, in the ways people write them: the data followed to the tensor, and what stops a program
(arguments that nobody gives, packages and files that are not there) does not stop us.

Each file of fixtures/followed says in comments what it trains: a line for each training, `?` for what nobody can know.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

PROGRAMS = Path(__file__).resolve().parent.parent / "fixtures" / "followed"
EXPECTED = re.compile(r"^# trains: batch (\S+), (\S+), input (\[.*?\]|\?), (\S+), (\S+)$", re.MULTILINE)


def facts(report: ModelReport) -> tuple[str, ...]:
    training = report.training
    shape = list(training.input_shape.value) if training.input_shape is not None else None
    values = (training.batch_size.value, training.optimizer.value.name, shape, training.dtype.value, report.status)
    return tuple(map(str, values))


def meets(found: tuple[str, ...], expected: tuple[str, ...]) -> bool:
    return all(want in ("?", got) for got, want in zip(found, expected, strict=True))


@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_each_training_of_a_program_has_the_facts_that_its_code_gives_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    expected = EXPECTED.findall(path.read_text())
    assert expected
    found = [facts(report) for report in analyse(load(path.name), Settings(search_path=(".",))).reports]
    assert len(found) == len(expected), found
    for each in expected:
        assert any(meets(one, each) for one in found), found


def test_a_copy_that_is_evaluated_on_more_than_the_training_draws_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROGRAMS)
    (report,) = analyse(load("copy_is_evaluated.py"), Settings()).reports
    assert report.evaluation is not None
    assert report.evaluation.batch_size == 500


def test_a_replay_memory_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROGRAMS)
    (report,) = analyse(load("replay_on_the_device.py"), Settings()).reports
    (row,) = (each for each in report.also_in_memory if each.what.startswith("memory"))
    assert row.what.startswith("memory.items: ")
    assert row.what.endswith(" tensors")
    assert row.bytes > 4 * 512
