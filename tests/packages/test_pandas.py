"""Tables and the data of scikit-learn: shapes against their own (fixtures/truth/tables.json)."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
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


STARTS = ("range", "torch.arange", "np.arange")
TRAINED = {
    "starts counted up to an end that is not known": (
        """
        import numpy as np
        import torch
        from torch import nn
        rows = torch.tensor(np.loadtxt("a.csv", delimiter=",")[:, 0:8], dtype=torch.float32)
        model = nn.Linear(8, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for start in {}(0, len(rows), 10):
            model(rows[start:start + 10]).sum().backward()
            optimizer.step()
        """,
        10,
        (8,),
    ),
    "a table as it stands": (
        """
        import keras
        import pandas as pd
        table = pd.read_csv("a.csv", names=["a", "b", "c", "y"])
        y = table.pop("y")
        model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(table, y, batch_size=16)
        """,
        16,
        (3,),
    ),
    "data in single precision stay so": (
        """
        import torch
        from sklearn.datasets import load_wine
        from sklearn.preprocessing import StandardScaler
        rows = torch.from_numpy(StandardScaler().fit_transform(load_wine().data.astype("float32")))
        model = torch.nn.Linear(13, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for (batch,) in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(rows), 89):
            model(batch).sum().backward()
            optimizer.step()
        """,
        89,
        (13,),
    ),
}


WAYS = [(case, way) for case, (code, _, _) in TRAINED.items() for way in STARTS if way == "range" or "{}" in code]


@pytest.mark.parametrize(("case", "way"), WAYS)
def test_rows_of_tables_are_trained_on(case: str, way: str) -> None:
    code, batch, shape = TRAINED[case]
    (report,) = analyse(Source("train.py", textwrap.dedent(code).replace("{}", way)), Settings.of({})).reports
    assert report.training.input_shape is not None
    assert (report.training.batch_size.value, report.training.input_shape.value) == (batch, shape)
    assert report.status == "exact"
