"""`dataclass` of this package beside Python's own: nobody who uses a class sees which of the two made it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import astuple, field, fields, replace
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem import lazy_dataclass

PACKAGE = Path(lazy_dataclass.__file__).parent


def classes(dataclass: Callable[..., Any]) -> dict[str, type]:
    """The same classes, made by one decorator."""

    @dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2
        names: list[str] = field(default_factory=list)
        note: str = field(default="", compare=False, repr=False)

    @dataclass(frozen=True, slots=True)
    class Named(Point):
        """A point with a name."""

        name: str = "origin"

        def __repr__(self) -> str:
            return f"<{self.name}>"

    @dataclass(slots=True)
    class Counter:
        left: int
        right: int = 0
        total: int = field(init=False)
        seen: list[int] = field(default_factory=list, init=False)

        def __post_init__(self) -> None:
            self.total = self.left + self.right

    @dataclass(frozen=True, slots=True, order=True)
    class Place:
        line: int
        column: int = 1

    @dataclass(frozen=True, slots=True)
    class Own:
        value: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and self.value % 10 == other.value % 10

        def __hash__(self) -> int:
            return self.value % 10

    @dataclass(slots=True, eq=False)
    class Identity:
        value: int

    @dataclass(frozen=True, slots=True)
    class Table:
        name: str
        rows: list[int] = field(default_factory=list, hash=False)

    @dataclass
    class Empty:
        pass

    return {each.__name__: each for each in (Point, Named, Counter, Place, Own, Identity, Table, Empty)}


PLAIN, LAZY = classes(dataclasses.dataclass), classes(lazy_dataclass.dataclass)


def outcome(work: Callable[[dict[str, type]], Any], made: dict[str, type]) -> object:
    try:
        return work(made)
    except (TypeError, AttributeError) as error:
        return type(error)


def assign(value: Any, name: str) -> None:
    setattr(value, name, 1)


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda c: repr(c["Point"](1)), id="a repr, without a field that is left out"),
        pytest.param(lambda c: repr(c["Point"](1, names=["a"])), id="arguments by name"),
        pytest.param(lambda c: repr(c["Named"](1, name="a")), id="a repr of its own"),
        pytest.param(lambda c: c["Named"].__doc__, id="a docstring"),
        pytest.param(lambda c: c["Point"](), id="an argument too few"),
        pytest.param(lambda c: c["Point"](1, 2, [], "", 5), id="an argument too many"),
        pytest.param(lambda c: c["Point"](1, z=5), id="an argument of another name"),
        pytest.param(lambda c: c["Point"](1) == c["Point"](1, note="other"), id="equal but for what is not compared"),
        pytest.param(lambda c: c["Point"](1) != c["Point"](2), id="unequal"),
        pytest.param(lambda c: c["Point"](1) == c["Named"](1), id="another class is unequal"),
        pytest.param(lambda c: c["Point"](1) == 1, id="something else is unequal"),
        pytest.param(lambda c: c["Point"](1).names is c["Point"](1).names, id="a default for each"),
        pytest.param(lambda c: len({c["Place"](1, 2), c["Place"](1, 2), c["Place"](2, 1)}), id="hashes"),
        pytest.param(lambda c: hash(c["Place"](3, 4)), id="a hash"),
        pytest.param(lambda c: hash(c["Counter"](1)), id="no hash of what changes"),
        pytest.param(lambda c: hash(c["Table"]("a", [1])) == hash(("a",)), id="a field that is not hashed"),
        pytest.param(lambda c: c["Table"]("a", [1]) == c["Table"]("a", [2]), id="but compared"),
        pytest.param(lambda c: fields(c["Table"])[1].hash, id="what a field says of itself"),
        pytest.param(lambda c: c["Counter"].__hash__, id="nor one that could be called"),
        pytest.param(lambda c: (c["Counter"](1, 2).total, c["Counter"](1).seen), id="fields that nobody gives"),
        pytest.param(lambda c: c["Counter"](1, total=3), id="a field that nobody may give"),
        pytest.param(lambda c: assign(c["Point"](1), "x"), id="a frozen field"),
        pytest.param(lambda c: assign(c["Named"](1), "x"), id="a frozen field of a base"),
        pytest.param(lambda c: delattr(c["Point"](1), "x"), id="deleting a frozen field"),
        pytest.param(lambda c: assign(c["Counter"](1), "left"), id="a field that is not frozen"),
        pytest.param(lambda c: assign(c["Counter"](1), "other"), id="slots"),
        pytest.param(lambda c: sorted([c["Place"](2), c["Place"](1, 5), c["Place"](1)])[1].column, id="an order"),
        pytest.param(lambda c: c["Place"](1) <= c["Place"](1) < c["Place"](1, 2), id="less, and less or equal"),
        pytest.param(lambda c: c["Place"](1) > 1, id="no order with something else"),
        pytest.param(lambda c: c["Point"](1) < c["Point"](2), id="no order that is not asked for"),
        pytest.param(lambda c: c["Own"](1) == c["Own"](11), id="an equality of its own"),
        pytest.param(lambda c: hash(c["Own"](12)), id="a hash of its own"),
        pytest.param(lambda c: c["Identity"](1) == c["Identity"](1), id="identity"),
        pytest.param(lambda c: c["Empty"]() == c["Empty"](), id="no fields"),
        pytest.param(lambda c: repr(replace(c["Named"](1), y=7).y), id="replace"),
        pytest.param(lambda c: astuple(c["Point"](1)), id="astuple"),
        pytest.param(lambda c: [each.name for each in fields(c["Named"])], id="fields"),
        pytest.param(lambda c: c["Named"].__match_args__, id="patterns"),
        pytest.param(lambda c: c["Named"].__slots__, id="its own slots alone"),
        pytest.param(lambda c: astuple(copy.deepcopy(c["Named"](1, names=["a"]))), id="a deep copy"),
    ],
)
def test_a_class_is_what_pythons_own_decorator_makes(work: Callable[[dict[str, type]], Any]) -> None:
    assert outcome(work, LAZY) == outcome(work, PLAIN)
    # Once more, with the methods written.
    assert outcome(work, LAZY) == outcome(work, PLAIN)


@lazy_dataclass.dataclass(frozen=True, slots=True)
class Sent:
    number: int
    words: tuple[str, ...] = ()


def test_an_instance_goes_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(Sent(3, ("a",)))) == Sent(3, ("a",))


def test_what_holds_itself_can_be_shown() -> None:
    held: list[Any] = []
    held.append(Sent(1, held))  # type: ignore[arg-type]
    assert repr(held) == "[Sent(number=1, words=[...])]"


def test_methods_are_written_when_they_are_called() -> None:
    made = classes(lazy_dataclass.dataclass)["Place"]
    written = [name for name in ("__init__", "__eq__", "__hash__") if "first" in made.__dict__[name].__code__.co_name]
    assert written == ["__init__", "__eq__", "__hash__"]
    assert made(1) == made(1)
    assert made.__dict__["__hash__"].__code__.co_name == "first"
    assert made.__dict__["__eq__"].__code__.co_name == "__eq__"


@pytest.mark.parametrize("times", [1, 2 * lazy_dataclass.FEW])
def test_an_initialiser_is_written_where_many_are_made(times: int) -> None:
    made = classes(lazy_dataclass.dataclass)["Counter"]
    for number in range(times):
        assert made(number, right=2).total == number + 2
    written = made.__dict__["__init__"].__code__.co_name == "__init__"
    assert written is (times > lazy_dataclass.FEW)


def test_the_package_has_no_others() -> None:
    """One that Python's decorator makes of one of these is an error at import; one beside them only costs."""
    found = [
        str(path)
        for path in PACKAGE.rglob("*.py")
        if path.name != "lazy_dataclass.py" and "from dataclasses import dataclass" in path.read_text(encoding="utf-8")
    ]
    assert found == []


def test_few_methods_are_written_for_a_report(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\nnet = torch.nn.Linear(2, 3)\n")
    code = (
        "import sys\nfrom flake8_cnnmem import cli, lazy_dataclass\nseen = []\nown = lazy_dataclass.compiled\n"
        "lazy_dataclass.compiled = lambda *given: seen.append(1) or own(*given)\n"
        "cli.main(['report', 'net.py', '--format', 'json'])\n"
        "print(len(seen), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert 0 < int(done.stderr.split()[-1]) < 150
