"""Fields that are worked out when they are first read."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, replace

import pytest

from flake8_cnnmem.running.lazy_fields import LazyField


@dataclass(frozen=True)
class Answer:
    name: str
    rows: LazyField[tuple[int, ...]] = LazyField(())
    number: LazyField[int | None] = LazyField(None)


def test_a_function_is_asked_once_and_only_when_the_field_is_read() -> None:
    asked = []

    def work() -> tuple[int, ...]:
        asked.append(1)
        return (1, 2)

    answer = Answer("a", work)
    assert not asked
    assert (answer.rows, answer.rows, answer.number) == ((1, 2), (1, 2), None)
    assert asked == [1]


def test_a_value_is_the_field_as_it_is() -> None:
    assert Answer("a", (3,), 4) == Answer("a", lambda: (3,), lambda: 4)
    assert replace(Answer("a", (3,), lambda: 4), name="b") == Answer("b", (3,), 4)


def test_the_field_has_its_default_and_is_frozen_like_any_other() -> None:
    answer = Answer("a")
    assert (answer.rows, answer.number) == ((), None)
    with pytest.raises(FrozenInstanceError):
        answer.rows = (4,)  # type: ignore[misc]
