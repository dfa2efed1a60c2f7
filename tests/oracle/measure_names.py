"""Write down the public names of the namespaces that code takes functions and layers from.

Run by hand, once with each of PyTorch, Keras (any backend of it) and Flax installed:

    python tests/oracle/measure_names.py torch
    python tests/oracle/measure_names.py keras
    python tests/oracle/measure_names.py flax

writes fixtures/truth/names.json, against which tests/frameworks/test_names.py holds what is followed, and the names of
the package (flake8_cnnmem/frameworks/*/names.py). `older` are names that earlier versions had: the classes in
keras/layers of Keras 1.2.2, 2.2.4, 2.3.1, 2.15.0 and tf_keras 2.16.0, the others from release notes.
"""

from __future__ import annotations

import importlib
import json
import sys
import textwrap
import warnings
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "fixtures" / "truth" / "names.json"

NAMESPACES = {
    "torch": (
        "torch",
        "torch.nn",
        "torch.nn.modules.activation",
        "torch.nn.functional",
        "torch.special",
        "torch.linalg",
        "torch.fft",
        "torch.optim",
        "torch.Tensor",
    ),
    "keras": ("keras.ops", "keras.layers"),
    "flax": (
        "flax.linen",
        "flax.nnx",
        "jax",
        "jax.numpy",
        "jax.nn",
        "jax.lax",
        "jax.random",
        "jax.nn.initializers",
        "jax.Array",
        "optax",
    ),
}


def names(dotted: str) -> list[str]:
    """What `dir` has of a module or class, without private names; of a file of layers without what it imports whole."""
    package, _, last = dotted.rpartition(".")
    try:
        holder = importlib.import_module(dotted)
    except ModuleNotFoundError:
        holder = getattr(importlib.import_module(package), last)
    found = {name: getattr(holder, name, None) for name in dir(holder) if not name.startswith("_")}
    whole = ModuleType if dotted.startswith("torch.nn.modules.") else ()
    return sorted(name for name, value in found.items() if not isinstance(value, whole))


HEAD = '''"""The names that {framework} has, by namespace: those of {version}, and those that earlier versions had.

Written by tests/oracle/measure_names.py. What is here and not followed is a cause, what is not here an AttributeError.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.existing_names import ExistingNames

NAMES = ExistingNames(
    {{
'''
TAIL = """    }
)
"""
OLDER = """
OLDER = ExistingNames(
    {
"""


def module(framework: str, truth: dict[str, dict[str, list[str]]]) -> str:
    """The source of the package's file for a framework."""
    text = HEAD.format(framework=framework, version=truth["versions"][framework])
    for dotted in NAMESPACES[framework]:
        words = sorted({*truth["names"][dotted], *truth["older"].get(dotted, ())})
        lines = textwrap.wrap(" ".join(words), 104, break_long_words=False, break_on_hyphens=False)
        text += f'        "{dotted}": """\n' + textwrap.indent("\n".join(lines), " " * 12) + '\n        """,\n'
    text += TAIL
    older = {dotted: {*words} - {*truth["names"][dotted]} for dotted, words in truth["older"].items()}
    for dotted in NAMESPACES[framework]:
        lines = textwrap.wrap(" ".join(sorted(older.get(dotted, ()))), 104, break_long_words=False)
        if lines:
            text += OLDER + f'        "{dotted}": """\n' + textwrap.indent("\n".join(lines), " " * 12)
            text += '\n        """,\n' + TAIL
    return text


def main() -> None:
    framework = sys.argv[1]
    truth = json.loads(TRUTH.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {dotted: names(dotted) for dotted in NAMESPACES[framework]}
    version = importlib.import_module(framework).__version__.partition("+")[0]
    truth["about"] = "Public names by namespace; written by tests/oracle/measure_names.py."
    truth["versions"][framework] = version
    truth["names"].update(found)
    TRUTH.write_text(json.dumps(truth, indent=1, sort_keys=True) + "\n")
    (ROOT / "flake8_cnnmem" / "frameworks" / framework / "names.py").write_text(module(framework, truth))


if __name__ == "__main__":
    main()
