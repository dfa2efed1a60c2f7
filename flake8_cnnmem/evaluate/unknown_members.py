"""Attributes of what is not known: most are not known either; some say what is made by them, whatever it is made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.alternatives import attribute_of
from flake8_cnnmem.frameworks.numpy.dtypes import dtype_object, name_of
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter

AS_MANY = frozenset({
    "array", "copy", "iloc", "index", "items", "iterrows", "itertuples", "loc", "reset_index", "to_list", "to_numpy",
    "tolist", "values",
})  # fmt: skip
"""Attributes and methods of rows and of arrays that have as many items as those have."""


def of_unknown(run: Interpreter, value: Unknown, name: str) -> Value:
    """An attribute of it."""
    if value.known is not None and name in value.known:
        return value.known[name]
    if value.among:
        return attribute_of(run, value, name)
    if name == "astype":
        return Native("astype", lambda run, dtype=None, *args, **kwargs: as_type(value, dtype), propagate_unknown=False)
    return value.loose() if value.items is None or name not in AS_MANY else value.part(value.items)


def as_type(value: Unknown, dtype: Value) -> Unknown:
    """`mask.astype(np.int64)`: an array of which nothing is known but its dtype."""
    name = name_of(dtype)
    found = value.loose() if value.items is None else value.part(value.items)
    return found if name is None else replace(found, something=True, known={"dtype": dtype_object(name)})
