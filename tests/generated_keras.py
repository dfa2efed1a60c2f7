"""Keras models made by chance, which are compiled and fitted: what is in them, and what trains.

    python tests/generated_keras.py measure COUNT SEED >TRUTH     with TensorFlow
    python tests/generated_keras.py compare TRUTH

The first asks Keras what each program does, the second prints those of which we say something else; its exit status is
1 if there are any. What CI asks is in test_generated_keras.py.
"""

from __future__ import annotations

import json
import os
import random
import sys
import zlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

HEAD = """\
import keras
import numpy as np
from keras import layers, ops

"""
OPTIMIZERS = (
    "'sgd'", "'adam'", "'rmsprop'", "keras.optimizers.SGD(0.1, momentum=0.9)", "keras.optimizers.Adam(amsgrad=True)",
    "keras.optimizers.AdamW(1e-3)", "keras.optimizers.RMSprop(centered=True)", "keras.optimizers.Adagrad()",
    "keras.optimizers.Adadelta()", "keras.optimizers.Nadam()", "keras.optimizers.Adamax()",
    "keras.optimizers.Adam(use_ema=True)",
)  # fmt: skip
FEATURES = 16
SLIPS = 0.08
"""How often a size is not the right one."""


class Chain:
    """Lines that build a model, step by step, with the sizes of a sample that the last one gives."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sizes: tuple[int, ...] = (FEATURES,)
        self.lines: list[str] = []
        self.made = 0

    def size(self, right: int) -> int:
        return right + 1 if self.rng.random() < SLIPS else right

    def step(self) -> None:
        rng, sizes = self.rng, self.sizes
        self.made += 1
        name = f"layer{self.made}"
        width = rng.choice([4, 6, 8, 12])
        last = sizes[-1]
        choices = [
            (f"layers.Dense({width}, activation='relu')", (*sizes[:-1], width)),
            (f"layers.Dense({width}, use_bias=False)", (*sizes[:-1], width)),
            ("layers.BatchNormalization()", sizes),
            ("layers.LayerNormalization()", sizes),
            ("layers.Dropout(0.3)", sizes),
            ("layers.Activation('tanh')", sizes),
            ("layers.PReLU()", sizes),
            ("layers.Dense(3, trainable=False)", (*sizes[:-1], 3)),
        ]
        if len(sizes) == 1 and last % 2 == 0:
            choices.append((f"layers.Reshape(({self.size(last // 2)}, 2))", (last // 2, 2)))
        if len(sizes) == 2:
            choices += [
                ("layers.Flatten()", (sizes[0] * last,)),
                ("layers.GlobalAveragePooling1D()", (last,)),
                (f"layers.Conv1D({width}, 3, padding='same')", (sizes[0], width)),
                (f"layers.LSTM({width})", (width,)),
                (f"layers.GRU({width}, return_sequences=True)", (sizes[0], width)),
                (f"layers.Bidirectional(layers.SimpleRNN({width}))", (2 * width,)),
                (f"layers.TimeDistributed(layers.Dense({width}))", (sizes[0], width)),
                ("layers.Permute((2, 1))", (last, sizes[0])),
            ]
        text, self.sizes = rng.choice(choices)
        self.lines += [f"{name} = {text}", f"x = {name}(x)"]

    def join(self) -> None:
        """A branch around a step or two, which comes together with what it left."""
        rng, before = self.rng, self.sizes
        self.made += 1
        kept, name = f"kept{self.made}", f"joined{self.made}"
        self.lines.append(f"{kept} = x")
        kind = rng.choice(["add", "multiply", "concatenate", "shared", "slices"])
        if kind == "slices":
            self.lines.append("x = x[..., ::2] * 2 + ops.mean(x, axis=-1, keepdims=True)")
            self.sizes = (*before[:-1], -(-before[-1] // 2))
        elif kind == "shared":
            self.lines += [f"{name} = layers.Dense({before[-1]})", f"x = {name}({name}(x)) - {kept}"]
        elif kind == "concatenate":
            width = rng.choice([3, 5])
            self.lines.append(f"x = layers.concatenate([layers.Dense({width})(x), {kept}])")
            self.sizes = (*before[:-1], width + before[-1])
        else:
            self.lines.append(f"x = layers.{kind}([layers.Dense({self.size(before[-1])})(x), {kept}])")


def body(rng: random.Random) -> Chain:
    chain = Chain(rng)
    for _ in range(rng.randint(2, 6)):
        chain.join() if rng.random() < 0.3 else chain.step()
    if len(chain.sizes) == 2:
        chain.lines.append(rng.choice(["x = layers.Flatten()(x)", "x = layers.GlobalMaxPooling1D()(x)"]))
    return chain


def subclassed(rng: random.Random) -> list[str]:
    """A model whose layers stand in attributes, lists and dicts, some of which are changed."""
    count = rng.randint(2, 4)
    change = rng.choice([
        "", "", "self.parts.pop(0)", "self.parts.append(layers.Dense(5))", "self.parts[0] = layers.Dense(7)",
        "self.extra = self.parts[-1]", "self.parts.insert(1, layers.Dropout(0.2))", "self.parts += [layers.Dense(6)]",
        "self.head = layers.Dense(10, use_bias=False)", "del self.parts[1]", "self.unused = layers.Dense(9)",
    ])  # fmt: skip
    widths = ", ".join(f"layers.Dense({rng.choice([4, 6, 8])}, activation='relu')" for _ in range(count))
    training = rng.choice(["", "        if training:\n            x = self.dropout(x)\n"])
    lines = [
        "class Net(keras.Model):", "    def __init__(self):", "        super().__init__()",
        f"        self.parts = [{widths}]", "        self.dropout = layers.Dropout(0.4)",
        "        self.head = layers.Dense(10)", f"        {change}" if change else "", "",
        "    def call(self, x, training=False):", f"{training}        for part in self.parts:",
        "            x = part(x)", "        return self.head(x)",
    ]  # fmt: skip
    return [*(line for line in lines if line), "", "", "model = Net()", f"model(np.zeros((2, {FEATURES})))"]


FROZEN = (
    "", "", "", "model.layers[1].trainable = False", "model.trainable = False",
    "for layer in model.layers[:-1]:\n    layer.trainable = False",
    "for layer in model.layers:\n    layer.trainable = isinstance(layer, layers.Dense)",
    "model.trainable = False\nmodel.layers[-1].trainable = True", "model.layers[-1].kernel.trainable = False",
    "for layer in model.layers:\n    if isinstance(layer, layers.BatchNormalization):\n        layer.trainable = False",
)  # fmt: skip


def built(rng: random.Random) -> list[str]:
    kind = rng.choice(["functional", "functional", "sequential", "subclassed", "nested"])
    if kind == "subclassed":
        return subclassed(rng)
    if kind == "sequential":
        chain = Chain(rng)
        for _ in range(rng.randint(2, 5)):
            chain.step()
        made = [line.partition(" = ")[2] for line in chain.lines if line.startswith("layer")]
        rows = [
            f"    {each}," for each in [f"keras.Input(({FEATURES},))", *made, "layers.Flatten()", "layers.Dense(10)"]
        ]
        change = rng.choice(["", "", "model.pop()\nmodel.add(layers.Dense(10, use_bias=False))",
                             "model.extra = layers.Dense(4)"])  # fmt: skip
        return ["model = keras.Sequential([", *rows, "])", *([change] if change else [])]
    lines = [f"inputs = x = keras.Input(({FEATURES},))", *body(rng).lines]
    if kind == "nested":
        inner = ["body = keras.Model(inputs, x)", f"again = keras.Input(({FEATURES},))"]
        copy = rng.choice(["body", "body", "keras.models.clone_model(body)"])
        called = rng.choice(["body(again)", f"layers.add([body(again), {copy}(again)])"])
        lines += [*inner, f"inputs, x = again, {called}"]
        if rng.random() < 0.4:
            lines.append("body.trainable = False")
    return [*lines, "outputs = layers.Dense(10)(x)", "model = keras.Model(inputs, outputs)"]


def trained(rng: random.Random, slips: bool) -> list[str]:
    """Compiling and fitting. With `slips` the targets may be of another size."""
    batch = rng.choice([4, 6])
    size = rng.choice([10, 10, 10, 10, 7 if slips else 10])
    loss, target = rng.choice([
        ("'mse'", f"np.zeros(({batch * 2}, {size}))"),
        ("keras.losses.CategoricalCrossentropy(from_logits=True)", f"np.ones(({batch * 2}, {size}))"),
        ("'sparse_categorical_crossentropy'", f"np.zeros(({batch * 2},), dtype='int32')"),
        ("keras.losses.SparseCategoricalCrossentropy(from_logits=True)", f"np.zeros(({batch * 2}, 1), dtype='int32')"),
    ])  # fmt: skip
    return [
        f"model.compile({rng.choice(OPTIMIZERS)}, {loss}, run_eagerly=True)",
        f"model.fit(np.ones(({batch * 2}, {FEATURES})), {target}, batch_size={batch}, verbose=0)",
    ]


def written(seed: int) -> str:
    rng = random.Random(seed)
    lines = built(rng)
    frozen = rng.choice(FROZEN)
    return (
        HEAD
        + "\n".join([*lines, *([frozen] if frozen else []), *trained(rng, "class Net(keras.Model):" not in lines)])
        + "\n"
    )


def asked(text: str) -> dict[str, Any]:
    """What Keras says of a program: its figures, or what it raises."""
    import importlib

    keras, numpy = importlib.import_module("keras"), importlib.import_module("numpy")
    keras.utils.clear_session()
    scope: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(text, "generated_keras.py", "exec"), scope)
    except Exception as error:
        return {"raises": type(error).__name__}
    model = scope["model"]
    return {
        "parameters": model.count_params(),
        "trainable": sum(int(numpy.prod(weight.shape)) for weight in model.trainable_variables),
    }


def said(text: str) -> dict[str, Any]:
    """What we say of it: the same figures where they are called exact."""
    from flake8_cnnmem import checks
    from flake8_cnnmem.analysis import analyse
    from flake8_cnnmem.settings.options import Settings
    from flake8_cnnmem.source import Source

    answer = analyse(Source("generated_keras.py", text), Settings())
    found = list(checks.run(answer, Settings(), ["CNM201", "CNM202"]))
    reports = answer.reports
    told: dict[str, Any] = {
        "found": [each.message for each in found],
        "status": reports[0].status if len(reports) == 1 else f"{len(reports)} models",
        "causes": [cause.reason for report in reports for cause in report.causes],
    }
    if told["status"] == "exact":
        [report] = reports
        told |= {"parameters": report.parameters, "trainable": report.trainable}
    return told


def differs(truth: dict[str, Any], told: dict[str, Any]) -> str:
    """What is wrong with what we say, or ""."""
    if "raises" in truth:
        return f"exact, but it raises {truth['raises']}" if told["status"] == "exact" and not told["found"] else ""
    if told["found"]:
        return f"it runs, but is accused: {told['found']}"
    words = ("parameters", "trainable") if told["status"] == "exact" else ()
    return "; ".join(f"{word} {told[word]}, not {truth[word]}" for word in words if told[word] != truth[word])


def measure(count: int, first: int) -> None:
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    for seed in range(first, first + count):
        text = written(seed)
        print(json.dumps({"seed": seed, "text": zlib.crc32(text.encode()), **asked(text)}), flush=True)


def compare(path: str) -> int:
    programs = [json.loads(line) for line in Path(path).read_text().splitlines() if line.startswith("{")]
    wrong = exact = found = raising = 0
    for truth in programs:
        text = written(truth["seed"])
        if zlib.crc32(text.encode()) != truth["text"]:
            sys.exit("the programs are others than those that were measured")
        told = said(text)
        exact += told["status"] == "exact"
        raising += "raises" in truth
        found += "raises" in truth and bool(told["found"])
        message = differs(truth, told)
        if message:
            wrong += 1
            print(f"seed {truth['seed']}: {message}", flush=True)
    print(f"{len(programs)} programs, {exact} exact, {raising} raise, {found} of them found, {wrong} wrong")
    return 1 if wrong else 0


def main(command: str, *arguments: str) -> int:
    if command == "compare":
        return compare(*arguments)
    measure(*map(int, arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
