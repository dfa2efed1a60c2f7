"""Shapes of arrays that pandas and scikit-learn give, into fixtures/truth/tables.json.

usage: measure_tables.py > fixtures/truth/tables.json, with pandas (3.1) and scikit-learn (1.9) installed

Each case is an expression over the tables of `SETUP`, whose file has seven rows; it gives an array, or several.
"""

import json
import tempfile
from pathlib import Path

SETUP = """
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

table = pd.read_csv("table.csv")
picked = table[["a", "b", "c"]]
more = picked.copy()
more["d"] = table["d"] / 2
more["a"] = more["a"] - 1
less = pd.read_csv("table.csv", usecols=["a", "b", "y"])
label = less.pop("y")
renamed = picked.copy()
renamed.columns = ["x", "y", "z"]
dropped = more.copy()
dropped.drop(columns=["a", "d"], inplace=True)
if len(table) > 5:
    dropped["e"] = 1
array = pd.DataFrame(np.zeros((6, 4)))
"""

CASES = [
    "picked.values", "picked.to_numpy(np.float32)", "more.values", "less.values", "renamed[['x', 'y']].values",
    "picked.drop('a', axis=1).values", "picked.drop(index=[0]).values", "more.drop(columns=['a', 'b']).values",
    "picked.iloc[:, :2].values", "picked.iloc[2:].values", "more.iloc[:, 1:].values", "picked.iloc[:, -1:].values",
    "table.loc[:, ['a', 'b']].values", "picked[picked['a'] > 2].values", "picked[2:5].values",
    "((picked - picked.mean()) / picked.std()).values", "pd.concat([picked, more], axis=1).values",
    "pd.concat([picked, picked]).values", "picked.astype(np.float32).values", "picked.reset_index(drop=True).values",
    "picked.set_index('a').values", "picked.rename(columns={'a': 'z'}).values", "picked.fillna(0).values",
    "picked.dropna().sample(frac=1).values", "np.array(picked)", "np.asarray(picked, dtype=np.float32)",
    "picked['a'].astype(np.int64).values", "array.values", "array.iloc[:, 1:].values", "array.mean().to_numpy()",
    "train_test_split(array, test_size=0.5)[0].values", "train_test_split(picked)[1].values",
    "StandardScaler().fit_transform(picked)", "load_iris()['data']", "load_digits().images",
    "picked.loc[0:3].values", "dropped.iloc[:, :1].values", "picked.mean(axis=1).to_numpy()", "table.values",
]  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text("a,b,c,d,y\n" + "1,2,3,4,0\n" * 7)
        names: dict[str, object] = {}
        exec(SETUP.replace("table.csv", str(path)), names)
        shapes = {case: list(eval(case, names).shape) for case in CASES}
    about = "Shapes of arrays, by pandas and scikit-learn: tests/oracle/measure_tables.py."
    print(json.dumps({"about": about, "setup": SETUP, "shapes": shapes}, indent=1))


if __name__ == "__main__":
    main()
