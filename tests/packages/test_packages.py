"""Third-party packages: one file each, found by the name that code imports."""

from __future__ import annotations

import pkgutil
from pathlib import Path

import pytest

from flake8_cnnmem import packages
from flake8_cnnmem.evaluate.stdlib import NOT_FOLLOWED, ROOMS
from flake8_cnnmem.frameworks import PACKAGES, find_module
from flake8_cnnmem.values import MISSING
from tests.frameworks.torch.code import Ran

NAMES = [each.name for each in pkgutil.iter_modules(packages.__path__) if not each.name.startswith("_")]
TABLES = ("MODULES", "STAND_INS", "PLACED")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_answers_for_the_package_of_its_name(name: str) -> None:
    found = packages.package(name)
    tables = [getattr(found, table, {}) for table in TABLES]
    assert any(name == dotted.partition(".")[0] for table in tables for dotted in table)


def test_nothing_else_answers_for_them() -> None:
    """A framework's package may have names that are no part of the framework (`tensorflow.app.run`): those alone."""
    assert not set(NAMES) & {*ROOMS, *NOT_FOLLOWED}
    for name in set(NAMES) & set(PACKAGES):
        for table in TABLES:
            for dotted, members in getattr(packages.package(name), table, {}).items():
                other = find_module(dotted)
                assert other is None or not [word for word in members if other.lookup(word) is not MISSING]


WAVELETS = '''
"""A package that tests have added."""

MODULES = {"wavelets": {"LEVELS": 5}, "wavelets.filters.db": {"LENGTH": 8}}
STAND_INS = {"wavelets.data": {"SAMPLES": 100}}
'''


@pytest.fixture
def wavelets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wavelets.py").write_text(WAVELETS)
    monkeypatch.setattr(packages, "__path__", [*packages.__path__, str(tmp_path)])
    packages.package.cache_clear()


def test_to_add_a_package_is_to_add_a_file(wavelets: None) -> None:
    ran = Ran(
        "import wavelets\nfrom wavelets.filters import db\nfrom wavelets.data import SAMPLES\n"
        "found = wavelets.LEVELS, db.LENGTH, wavelets.filters.db.LENGTH, SAMPLES\n"
    )
    assert ran["found"] == (5, 8, 8, 100)


def test_what_only_stands_in_is_not_asked_before_the_source(wavelets: None) -> None:
    assert packages.find_module("wavelets.data") is None
    found = packages.stand_in("wavelets.data")
    assert found is not None
    assert found.stands_in
    assert found.lookup("MISSING") is MISSING


@pytest.mark.parametrize("name", ["", "_config_objects", "no_such_package", "not an identifier"])
def test_other_names_are_no_packages(name: str) -> None:
    assert packages.package(name) is None
