"""Whatever a layer or function is given: an answer, an exception of the program or an Unknown, no error of ours."""

from __future__ import annotations

import random

import pytest

from flake8_cnnmem.frameworks.keras.ops import operations
from flake8_cnnmem.frameworks.keras.ops.functions import Functions
from flake8_cnnmem.frameworks.keras.stubs import LAYERS
from tests.frameworks.keras.code import Ran

VALUES = (
    "0", "-1", "3", "2.5", "10**30", "None", "'same'", "'nonsense'", "[]", "(2, 3)", "[1, 2, 3, 4]", "{}", "unheard.x",
    "(unheard.x, 3)", "True", "lambda *a: 1", "x", "keras", "((1, 1), (2, 2))", "b'x'", "float('nan')", "1j", "int",
)  # fmt: skip
INPUTS = (
    "keras.Input((8, 8, 3))", "keras.Input((5, 4))", "keras.Input((7,))", "keras.Input(())", "unheard.y",
    "keras.Input((None, None, None))", "[keras.Input((4,)), keras.Input((4,))]", "[]", "3", "None", "{}", "'text'",
)  # fmt: skip


def programs(names: list[str], call: str, seed: int) -> str:
    """Each name called in several odd ways, every one in a `try` of its own."""
    rng = random.Random(seed)
    lines = ["import keras", "import tensorflow as tf", "from keras import backend as K", "import unheard"]
    for name in names:
        for _ in range(4):
            x = rng.choice(INPUTS)
            args = ", ".join(rng.choice(VALUES) for _ in range(rng.randint(0, 4)))
            lines += [
                "try:",
                f"    x = {x}",
                f"    r = {call.format(name=name, args=args)}",
                "except Exception:",
                "    pass",
            ]
    return "\n".join(lines) + "\n"


def chunks(names: list[str], size: int = 40) -> list[list[str]]:
    return [names[at : at + size] for at in range(0, len(names), size)]


@pytest.mark.parametrize(("seed", "names"), list(enumerate(chunks(sorted(LAYERS)))))
def test_layers_survive_nonsense(seed: int, names: list[str]) -> None:
    Ran(programs(names, "keras.layers.{name}({args})(x)", seed))


def functions(table: Functions, prefix: str) -> list[str]:
    return [f"{prefix}.{name}" for name in sorted(table.entries)]


FUNCTIONS = [
    *functions(operations.OPS, "keras.ops"),
    *functions(operations.IMAGE, "keras.ops.image"),
    *functions(operations.BACKEND, "K"),
    *[
        name
        for part, table in operations.TENSORFLOW.items()
        for name in functions(table, f"tf.{part}" if part else "tf")
    ],
]


@pytest.mark.parametrize(("seed", "names"), list(enumerate(chunks(FUNCTIONS, 60))))
def test_functions_survive_nonsense(seed: int, names: list[str]) -> None:
    Ran(programs(names, "{name}(x, {args})", seed))


MODELS = [
    "keras.Model()", "keras.Model(1, 2)", "keras.Model(keras.Input((3,)), None)", "keras.Model(unheard.x, unheard.y)",
    "keras.Sequential(3)", "keras.Sequential([1, 2])", "keras.Sequential(unheard.x).add(3)",
    "keras.Sequential().pop()", "keras.Sequential().output", "keras.Input(3).shape", "keras.Input(unheard.x)",
    "keras.Input(shape=('a', 2.5))", "keras.Model(keras.Input((3,)), keras.Input((3,))).get_layer('x')",
    "keras.layers.Dense(3).output", "keras.Sequential([keras.layers.Dense(3)]).build('x')", "keras.Sequential().fit()",
    "keras.models.clone_model(3)", "keras.layers.Layer()(3)",
    "keras.layers.Layer().add_weight(shape='x')", "keras.layers.Layer().add_weight(shape=keras.Input((3,)))",
    "keras.layers.Lambda(3)(keras.Input((3,)))", "keras.layers.TimeDistributed(3)(keras.Input((3, 4)))",
    "keras.layers.Bidirectional(unheard.x)(keras.Input((3, 4)))",
    "keras.layers.RNN(keras.layers.Dense(3))(keras.Input((3, 4)))", "keras.layers.Wrapper(None)(keras.Input((3,)))",
    "keras.Input((3,))[10]", "keras.Input((3,))['x']", "keras.Input((3,)) + 'x'", "keras.Input((3,)) @ 3",
    "len(keras.Input(()))", "list(keras.Input((3,)))", "keras.Input((3,)).nonsense", "-keras.Input((3,)) ** None",
    "keras.layers.concatenate(unheard.x)", "keras.layers.add([])", "tf.TensorShape(3)", "tf.keras.utils.get_file(3)",
    "keras.optimizers.Adam(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)", "keras.losses.get(3)",
    "keras.layers.MultiHeadAttention(2, 3)()", "keras.layers.Dense(3)(keras.Input((3,)), unheard.x)",
    "keras.layers.Dense(3).build((None, None))", "keras.layers.Conv2D(3, 3).build(unheard.x)",
    "keras.layers.Dense(3).compute_output_shape((None, 4))", "keras.layers.Dense(3).from_config({'units': unheard.x})",
    "keras.layers.Dense.from_config(unheard.x)", "keras.optimizers.Adam.from_config(unheard.x)",
    "keras.layers.Dense(3).build(keras.Input((3,)))", "keras.layers.Dense(3).build(tf.shape(keras.Input((3,)))[0])",
]  # fmt: skip


@pytest.mark.parametrize("code", MODELS)
def test_models_survive_nonsense(code: str) -> None:
    Ran(f"import keras\nimport tensorflow as tf\nimport unheard\nr = {code}\n")
