"""What is worked on, and in which order."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from flake8_cnnmem.lsp import analyst
from flake8_cnnmem.lsp.analyst import Analyst, Answer
from flake8_cnnmem.lsp.project import BadSettings, Project
from flake8_cnnmem.settings.options import Settings

SEVERAL = """\
from torch import nn


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(x)


class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 200)

    def forward(self, x):
        return self.fc(x)
"""

Answers = queue.Queue[tuple[str, Answer, bool]]


@pytest.fixture
def answers() -> Answers:
    return queue.Queue()


@pytest.fixture
def worker(answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Analyst]:
    monkeypatch.chdir(tmp_path)
    project = Project(lambda options: None, Settings, lambda source, report, settings: ())
    working = Analyst(project, lambda path, answer, behind: answers.put((path, answer, behind)))
    yield working
    working.end()


def texts(answer: Answer) -> dict[int, str]:
    return {hint.span.line: hint.text for hint in answer.hints.hints}


def test_in_a_slow_file_the_model_at_the_cursor_comes_first(
    worker: Analyst, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyst, "SOON", 0.0)
    path = str(tmp_path / "net.py")
    worker.change(path, SEVERAL, 1)
    _, whole, behind = answers.get(timeout=60)
    assert not behind
    assert texts(whole) == {
        7: "18 parameters", 10: "(N, 2)", 16: "1,800 parameters", 19: "(N, 200)"
    }  # fmt: skip
    edited = SEVERAL.replace("8, 2)", "8, 3)")
    worker.change(path, edited, 2)
    _, first, behind = answers.get(timeout=60)
    assert (first.version, behind) == (2, False)
    assert {hint.span.line: hint.detail.partition(",")[0] for hint in first.hints.hints}[7] == "Small"
    assert texts(first) == {7: "27 parameters", 10: "(N, 3)", 16: "1,800 parameters", 19: "(N, 200)"}
    _, rest, behind = answers.get(timeout=60)
    assert (rest.version, behind) == (2, True)
    assert texts(rest) == texts(first)


def test_what_changes_elsewhere_follows(
    worker: Analyst, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A size that both models take is edited at the first: the second keeps its hints until all are worked out."""
    monkeypatch.setattr(analyst, "SOON", 0.0)
    path, text = str(tmp_path / "net.py"), SEVERAL.replace("class Small", "WIDTH = 8\n\n\nclass Small", 1)
    text = text.replace("nn.Linear(8,", "nn.Linear(WIDTH,")
    worker.change(path, text, 1)
    assert texts(answers.get(timeout=60)[1])[19] == "1,800 parameters"
    worker.change(path, text.replace("WIDTH = 8", "WIDTH = 9"), 2)
    first, rest = texts(answers.get(timeout=60)[1]), texts(answers.get(timeout=60)[1])
    assert (first[10], first[19]) == ("20 parameters", "1,800 parameters")
    assert (rest[10], rest[19]) == ("20 parameters", "2,000 parameters")


def test_comments_and_layout_are_answered_without_an_analysis(
    worker: Analyst, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "net.py")
    worker.change(path, SEVERAL, 1)
    answers.get(timeout=60)

    def broken(*arguments: object) -> None:
        raise AssertionError("nothing is to be analysed")

    with monkeypatch.context() as patched:
        patched.setattr(analyst, "hints_of", broken)
        patched.setattr(analyst, "LATER", 600.0)
        worker.change(path, SEVERAL.replace("class Large", "# of many\nclass Large"), 2)
        _, first, behind = answers.get(timeout=60)
    assert (first.version, first.problem, behind) == (2, "", False)
    assert texts(first) == {7: "18 parameters", 10: "(N, 2)", 17: "1,800 parameters", 20: "(N, 200)"}


def test_in_a_slow_file_what_no_model_mentions_is_answered_without_an_analysis(
    worker: Analyst, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analyst, "SOON", 0.0)
    path, text = str(tmp_path / "net.py"), SEVERAL + "\n\ndef shown(image):\n    return image\n"
    worker.change(path, text, 1)
    whole = texts(answers.get(timeout=60)[1])
    worker.change(path, text.replace("return image", "return 2 * image"), 2)
    _, first, behind = answers.get(timeout=60)
    assert (first.version, behind, texts(first)) == (2, False, whole)
    _, rest, behind = answers.get(timeout=60)
    assert (rest.version, behind, texts(rest)) == (2, True, whole)


def test_an_error_of_ours_leaves_the_server_alive(
    worker: Analyst, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "net.py")
    worker.change(path, SEVERAL, 1)
    known = texts(answers.get(timeout=60)[1])

    def broken(*arguments: object) -> None:
        raise ZeroDivisionError("of ours")

    with monkeypatch.context() as patched:
        patched.setattr(analyst, "hints_of", broken)
        worker.change(path, SEVERAL + "OTHER = 1\n", 2)
        answer = answers.get(timeout=60)[1]
    assert "internal error" in answer.problem
    assert texts(answer) == known
    worker.change(path, SEVERAL, 3)
    assert answers.get(timeout=60)[1].problem == ""


def test_a_configuration_that_cannot_be_used_is_told(answers: Answers, tmp_path: Path) -> None:
    def settings() -> Settings:
        raise BadSettings("batch-size: 'many' is no number")

    project = Project(lambda options: None, settings, lambda source, report, settings: ())
    working = Analyst(project, lambda path, answer, behind: answers.put((path, answer, behind)))
    try:
        working.change(str(tmp_path / "net.py"), SEVERAL, 1)
        answer = answers.get(timeout=60)[1]
        assert answer.problem == "batch-size: 'many' is no number"
        assert texts(answer)[7] == "18 parameters"
    finally:
        working.end()
