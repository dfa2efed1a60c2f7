"""`six`: one spelling for Python 2 and 3. Its `six.moves` is put together when it runs, so its source tells nothing."""

from __future__ import annotations

from flake8_cnnmem.evaluate.builtins import BUILTINS
from flake8_cnnmem.evaluate.stdlib import functools, itertools
from flake8_cnnmem.evaluate.stdlib.modules import identity
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Namespace, Native, Value

moves: dict[str, Value] = {
    **{word: BUILTINS[word] for word in ("range", "zip", "map", "filter", "input")},
    "xrange": BUILTINS["range"],
    "reduce": functools.names["reduce"],
    "zip_longest": itertools.names["zip_longest"],
}


def view(word: str) -> Native:
    """`six.iteritems(d)` and its like: the method of that name of today."""

    def of(run: Runtime, d: Value) -> Value:
        return run.call(run.get(d, word))

    return Native(f"iter{word}", of)


names: dict[str, Value] = {
    "PY2": False,
    "PY3": True,
    "string_types": (BUILTINS["str"],),
    "integer_types": (BUILTINS["int"],),
    "text_type": BUILTINS["str"],
    "binary_type": BUILTINS["bytes"],
    "class_types": (BUILTINS["type"],),
    **{f"iter{word}": view(word) for word in ("items", "keys", "values")},
    "python_2_unicode_compatible": identity("python_2_unicode_compatible"),
    "moves": Namespace("six.moves", lambda word: moves.get(word, MISSING)),
}

MODULES: dict[str, dict[str, Value]] = {"six": names, "six.moves": moves}
