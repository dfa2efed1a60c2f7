"""Tables and the data of scikit-learn: shapes against their own (fixtures/truth/tables.json)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran

TRUTH = json.loads((Path(__file__).parents[2] / "fixtures" / "truth" / "tables.json").read_text())
CASES = list(TRUTH["shapes"])
OF_A_FILE = {"table.values", "dropped.iloc[:, :1].values"}
"""Whose columns nobody knows without the file, or without its rows."""


@pytest.fixture(scope="module")
def arrays() -> Ran:
    return Ran(TRUTH["setup"] + "".join(f"found{at} = {case}\n" for at, case in enumerate(CASES)))


@pytest.mark.parametrize("case", CASES)
def test_arrays_are_as_large_as_pandas_makes_them(arrays: Ran, case: str) -> None:
    """The rows of a file are not known; of everything else each size is."""
    found, truth = arrays[f"found{CASES.index(case)}"], TRUTH["shapes"][case]
    assert isinstance(found, Tensor)
    assert isinstance(found.shape, tuple)
    assert len(found.shape) == len(truth)
    unknown = [axis for axis, size in enumerate(found.shape) if isinstance(size, Unknown)]
    assert all(found.shape[axis] == truth[axis] for axis in range(len(truth)) if axis not in unknown)
    assert set(unknown) <= ({0, 1} if case in OF_A_FILE else {0})
    assert unknown == [] or not case.startswith(("array", "load", "train_test_split(array"))


def test_what_a_column_holds_is_not_known() -> None:
    ran = Ran(
        "import pandas as pd\ntable = pd.read_csv('a.csv')\ntable['n'] = 1\n"
        "found = table['y'].values, table.y.values, table['y'].iloc[3], table.columns, table.merge(table), len(table)\n"
    )
    assert all(isinstance(each, Unknown) for each in ran["found"])
    assert ran.failures == []


def test_what_scikit_learn_loads_in_part_is_not_known() -> None:
    ran = Ran(
        "from sklearn.datasets import load_digits, load_iris\n"
        "found = load_digits(n_class=2), load_iris(as_frame=True), load_iris().feature_names\n"
    )
    assert all(isinstance(each, Unknown) for each in ran["found"])
