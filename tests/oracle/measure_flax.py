"""Write down what Flax itself says: the signatures of its layers, and the parameters and output shapes of models.

Run by hand with flax, jax and optax installed (CPU):

    python tests/oracle/measure_flax.py signatures
    python tests/oracle/measure_flax.py models
    python tests/oracle/measure_flax.py optimizers
    python tests/oracle/measure_flax.py steps

The first writes flake8_cnnmem/frameworks/flax/{linen,nnx}/signatures.py, the others fixtures/truth/flax.json, from the
programs in fixtures/models/flax: each says in a variable `MODELS` what is measured, by name (a model of linen, the
arguments of its `init`, the batch of which is 1) or (a model of nnx, the arguments of its call).
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import math
import runpy
import sys
import textwrap
from pathlib import Path
from typing import Any

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "fixtures" / "truth" / "flax.json"

LINEN = [
    "Dense",
    "Conv",
    "ConvTranspose",
    "DenseGeneral",
    "Embed",
    "BatchNorm",
    "LayerNorm",
    "RMSNorm",
    "InstanceNorm",
    "GroupNorm",
    "Dropout",
    "PReLU",
    "Sequential",
    "MultiHeadDotProductAttention",
    "MultiHeadAttention",
    "SelfAttention",
    "LSTMCell",
    "OptimizedLSTMCell",
    "GRUCell",
    "SimpleCell",
    "RNN",
    "Bidirectional",
]
NNX = [
    "Linear",
    "LinearGeneral",
    "Conv",
    "ConvTranspose",
    "Embed",
    "BatchNorm",
    "LayerNorm",
    "RMSNorm",
    "GroupNorm",
    "Dropout",
    "MultiHeadAttention",
    "PReLU",
]

HEAD = '''"""The signatures of {what}: those of flax {version}. Written by tests/oracle/measure_flax.py."""

from __future__ import annotations

SIGNATURES = {{
'''


def default(value: Any) -> str:
    """A default as a literal; what is a function or a dtype is None, which says nothing of sizes."""
    plain = isinstance(value, (bool, int, float, str, type(None))) or (
        isinstance(value, tuple) and all(isinstance(each, (int, str)) for each in value)
    )
    return repr(value) if plain else "None"


def of_fields(cls: type) -> str:
    """The fields of a class of linen, those that every module has left out."""
    parts = []
    for field in dataclasses.fields(cls):
        if field.init and field.name not in ("parent", "name"):
            none = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            parts.append(field.name if none else f"{field.name}={default(field.default)}")
    return ", ".join(parts)


def of_init(cls: type) -> str:
    """The parameters of `__init__` of a class of nnx."""
    parts, keyword = [], False
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not keyword:
            parts.append("*")
            keyword = True
        none = parameter.default is inspect.Parameter.empty
        parts.append(parameter.name if none else f"{parameter.name}={default(parameter.default)}")
    return ", ".join(parts)


def signatures() -> None:
    for folder, what, found in (
        ("linen", "flax.linen's layers", {name: of_fields(getattr(nn, name)) for name in LINEN}),
        ("nnx", "flax.nnx's layers", {name: of_init(getattr(nnx, name)) for name in NNX}),
    ):
        text = HEAD.format(what=what, version=flax.__version__)
        for name, signature in found.items():
            lines = textwrap.wrap(signature, 104, break_long_words=False)
            if len(lines) == 1 and len(name) + len(signature) < 106:
                text += f'    "{name}": "{signature}",\n'
            else:
                quoted = [f'"{line} "' for line in lines[:-1]] + [f'"{lines[-1]}"']
                text += f'    "{name}": (\n' + "".join(f"        {line}\n" for line in quoted) + "    ),\n"
        path = ROOT / "flake8_cnnmem" / "frameworks" / "flax" / folder / "signatures.py"
        path.write_text(text + "}\n")


def names(path: Any) -> str:
    return "/".join(str(getattr(part, "key", getattr(part, "name", getattr(part, "idx", part)))) for part in path)


def shapes_of(tree: Any) -> list[list[int]]:
    return [list(leaf.shape) for leaf in jax.tree_util.tree_leaves(tree)]


def shapes_alone(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`init` without computing what nobody looks at: the variables are zeros."""
    found = jax.eval_shape(lambda: self.init_with_output(*args, **kwargs)[1])
    return jax.tree_util.tree_map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), found)


def of_linen(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    key = jax.random.PRNGKey(0)
    rngs = {"params": key, "dropout": key}
    result, variables = jax.eval_shape(lambda: model.init_with_output(rngs, *args, **kwargs))
    found: dict[str, dict[str, list[int]]] = {}
    for collection, tree in variables.items():
        leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
        found[collection] = {names(path): list(leaf.shape) for path, leaf in leaves}
    return {"parameters": found.get("params", {}), "statistics": found.get("batch_stats", {}),
            "outputs": shapes_of(result)}  # fmt: skip


def of_nnx(model: Any, args: tuple[Any, ...]) -> dict[str, Any]:
    def leaves(kind: Any) -> dict[str, list[int]]:
        found = jax.tree_util.tree_flatten_with_path(nnx.to_pure_dict(nnx.state(model, kind)))[0]
        return {names(path): list(leaf.shape) for path, leaf in found}

    result = model(*args)
    return {"parameters": leaves(nnx.Param), "statistics": leaves(nnx.BatchStat), "outputs": shapes_of(result)}


def models() -> dict[str, Any]:
    found = {}
    nn.Module.init = shapes_alone
    for path in sorted((ROOT / "fixtures" / "models" / "flax").glob("*.py")):
        for name, (model, args, *rest) in runpy.run_path(str(path), run_name="measured")["MODELS"].items():
            is_linen = isinstance(model, nn.Module)
            found[f"{path.name}::{name}"] = of_linen(model, args, *(rest or [{}])) if is_linen else of_nnx(model, args)
    return found


TRANSFORMS = {
    "sgd": ({}, {"momentum": 0.9}), "adam": ({},), "adamw": ({},), "adagrad": ({},), "adadelta": ({},),
    "adamax": ({},), "adamaxw": ({},), "amsgrad": ({},), "nadam": ({},), "nadamw": ({},), "radam": ({},),
    "rmsprop": ({}, {"centered": True}, {"momentum": 0.9}), "lamb": ({},), "lars": ({},), "lion": ({},),
    "yogi": ({},), "adabelief": ({},), "novograd": ({},), "noisy_sgd": ({},), "fromage": ({},), "rprop": ({},),
    "adan": ({},), "optimistic_gradient_descent": ({},), "sign_sgd": ({},),
}  # fmt: skip


def optimizers() -> list[dict[str, Any]]:
    """How many values each keeps for a parameter of 64 x 32 values, a few scalars aside."""
    found = []
    parameters = {"kernel": jnp.ones((64, 32)), "bias": jnp.ones((32,))}
    count = sum(leaf.size for leaf in jax.tree_util.tree_leaves(parameters))
    for name, each in TRANSFORMS.items():
        for options in each:
            made = getattr(optax, name)(learning_rate=1e-3, **options)
            values = sum(
                leaf.size for leaf in jax.tree_util.tree_leaves(made.init(parameters)) if hasattr(leaf, "size")
            )
            found.append(
                {"name": name, "options": options, "slots": values / count, "whole": math.floor(values / count)}
            )
    return found


STEPS = (
    ("mnist_cnn.py", "DigitsCNN", 64, {}), ("densenet.py", "DenseNet", 64, {"train": True}),
    ("resnet_cifar.py", "ResNet20", 128, {"train": True}), ("unet.py", "UNet", 8, {"train": True}),
    ("text_transformer.py", "SentimentEncoder", 16, {"train": True}), ("mlp_mixer.py", "Mixer", 64, {}),
    ("gpt.py", "GPT", 16, {}), ("autoencoder.py", "Autoencoder", 64, {}), ("convnext.py", "ConvNeXt", 16, {}),
)  # fmt: skip


def steps() -> list[dict[str, Any]]:
    """The bytes that XLA plans for one step of Adam (CPU): what goes in and comes out, and its temporaries."""
    nn.Module.init = shapes_alone
    return [step_of(*each) for each in STEPS]


def step_of(file: str, name: str, batch: int, told: dict[str, Any]) -> dict[str, Any]:
    model, args, *_ = runpy.run_path(str(ROOT / "fixtures" / "models" / "flax" / file))["MODELS"][name]
    inputs = jax.ShapeDtypeStruct((batch, *args[0].shape[1:]), args[0].dtype)
    key, tx = jax.random.PRNGKey(0), optax.adam(1e-3)
    rngs = {"params": key, "dropout": key}
    variables = jax.eval_shape(lambda x: model.init_with_output(rngs, x, **told)[1], inputs)
    params = variables["params"]
    others = {collection: tree for collection, tree in variables.items() if collection != "params"}

    def step(params: Any, others: Any, state: Any, x: Any) -> Any:
        def loss(params: Any) -> Any:
            held = {"params": params, **others}
            found = model.apply(held, x, rngs={"dropout": key}, mutable=list(others) or False, **told)
            result, changed = found if others else (found, {})
            return jnp.mean(jax.nn.logsumexp(result.reshape(batch, -1), -1)), changed

        (value, changed), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), changed, state, value

    compiled = jax.jit(step, donate_argnums=(0, 1, 2)).lower(params, others, jax.eval_shape(tx.init, params), inputs)
    planned = compiled.compile().memory_analysis()
    total = planned.argument_size_in_bytes + planned.temp_size_in_bytes + planned.output_size_in_bytes
    return {"file": file, "name": name, "batch": batch, "bytes": total - planned.alias_size_in_bytes}


def written(truth: dict[str, Any]) -> str:
    """The truth as JSON, each model and measurement on a line of its own."""
    parts = []
    for key, value in sorted(truth.items()):
        rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        lines = [
            (f"{json.dumps(name)}: " if isinstance(value, dict) else "") + json.dumps(row, sort_keys=True)
            for name, row in rows
        ]
        inner = ",\n  ".join(lines)
        whole = f"{{\n  {inner}\n }}" if isinstance(value, dict) else f"[\n  {inner}\n ]"
        parts.append(f" {json.dumps(key)}: {whole if lines else json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    if sys.argv[1] == "signatures":
        signatures()
        return
    truth = json.loads(TRUTH.read_text()) if TRUTH.exists() else {}
    truth["about"] = "Written by tests/oracle/measure_flax.py."
    truth["versions"] = {name: importlib.import_module(name).__version__ for name in ("flax", "jax", "optax")}
    truth[sys.argv[1]] = {"models": models, "optimizers": optimizers, "steps": steps}[sys.argv[1]]()
    TRUTH.write_text(written(truth))


if __name__ == "__main__":
    main()
