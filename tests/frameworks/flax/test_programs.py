"""Programs with Flax: what states the input, what trains, what is wrong, and what is not followed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flake8_cnnmem import checks, frameworks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings, parse_limit
from flake8_cnnmem.source import Source

HEAD = """\
import functools
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax import nnx
from flax.training import train_state

"""

NET = """\
class Net(nn.Module):
    width: int = 16

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Conv(self.width, (3, 3))(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.Dropout(0.5, deterministic=not train)(nn.relu(x))
        return nn.Dense(10)(x.reshape((x.shape[0], -1)))

"""

TRAINING = """\
class State(train_state.TrainState):
    batch_stats: dict

@jax.jit
def step(state, batch, key):
    def loss_fn(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        logits, changed = state.apply_fn(
            variables, batch["image"], train=True, mutable=["batch_stats"], rngs={"dropout": key}
        )
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, batch["label"]).mean()
        return loss, changed

    (loss, changed), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads)
    return state.replace(batch_stats=changed["batch_stats"]), loss

net = Net()
key = jax.random.key(0)
variables = net.init(key, jnp.ones((1, 32, 32, 3)), train=False)
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
state = State.create(apply_fn=net.apply, params=variables["params"], tx=tx, batch_stats=variables["batch_stats"])
images, labels = np.zeros((50000, 32, 32, 3), np.float32), np.zeros((50000,), np.int32)
for epoch in range(10):
    order = jax.random.permutation(key, len(images))[: 390 * 128].reshape((390, 128))
    for rows in order:
        state, loss = step(state, {"image": images[rows], "label": labels[rows]}, key)
"""


ON = {"CNM101", "CNM201", "CNM202"}


def reports(code: str, settings: Settings | None = None) -> tuple[ModelReport, ...]:
    return analyse(Source("program.py", HEAD + code), settings or Settings()).reports


def only(code: str) -> ModelReport:
    (report,) = reports(code)
    return report


def found(code: str, settings: Settings | None = None) -> Iterator[str]:
    how = settings or Settings()
    for finding in checks.run(analyse(Source("program.py", HEAD + code), how), how, ON):
        yield f"{finding.code} {finding.message}"


def test_the_training_says_batch_optimizer_and_input() -> None:
    report = only(NET + TRAINING)
    assert report.kind == "training"
    assert report.training.batch_size.value == 128
    assert str(report.training.optimizer.value) == "adam"
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (32, 32, 3)
    assert report.parameters == 3 * 3 * 3 * 16 + 16 + 32 + 32 * 32 * 16 * 10 + 10
    assert not report.also_in_memory


def test_init_states_the_input_and_not_the_batch() -> None:
    report = only(NET + "variables = Net().init(jax.random.PRNGKey(0), jnp.ones((1, 8, 8, 3)), train=False)\n")
    assert report.training.batch_size.source == "default"
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (8, 8, 3)
    assert report.model is not None
    kinds = {call.function: call.op for call in report.model.calls}
    # It is counted as it trains, whatever `init` is told.
    assert kinds["BatchNorm"].training is True  # type: ignore[attr-defined]
    assert "Dropout" in kinds


def test_a_directive_states_the_input_where_nothing_else_does() -> None:
    report = only("# cnnmem: input-shape=16,16,3 batch-size=4\n" + NET)
    assert report.parameters == 3 * 3 * 3 * 16 + 16 + 32 + 16 * 16 * 16 * 10 + 10


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "a = nn.Conv(4, (3, 3))(x)\n        return jnp.concatenate([a, nn.max_pool(a, (2, 2), (2, 2))], axis=-1)",
            "concatenate joins (N, 28, 28, 4) and (N, 14, 14, 4)",
        ),
        ("return nn.Conv(4, (3, 3), padding='VALID')(x).reshape((-1, 4 * 28 * 28))", "each sample has 2704 values"),
        ("return x[..., 0] @ jnp.ones((12, 5))", "28 columns meet 12 rows"),
        ("d = nn.Dense(7)\n        return d(d(x))", "takes 1 features, but is given 7"),
        ("return nn.SelfAttention(num_heads=3, qkv_features=16)(x)", "16 features, which its 3 heads do not divide"),
        ("return nn.avg_pool(x, (30, 30))", "CNM202 avg_pool leaves nothing of its 28x28 map"),
        ("return nn.GroupNorm(num_groups=8)(nn.Dense(12)(x))", "8 groups"),
        ("return jnp.einsum('nhwc,cd->nhwd', nn.Dense(3)(x), jnp.ones((2, 5)))", "c is 3 and 2"),
    ],
)
def test_sizes_that_cannot_be_right(body: str, said: str) -> None:
    code = f"""\
class Bad(nn.Module):
    @nn.compact
    def __call__(self, x):
        {body}

Bad().init(jax.random.PRNGKey(0), jnp.ones((1, 28, 28, 1)))
"""
    (finding,) = found(code)
    assert said in finding


def test_a_limit_is_exceeded_where_the_lower_bound_is() -> None:
    def said(limit: str) -> list[str]:
        return list(found(NET + TRAINING, Settings(gpu_limit=parse_limit(limit))))

    (finding,) = said("1 MiB")
    assert finding.startswith("CNM101 Net")
    assert "at least" in finding
    assert said("8 GiB") == []


@pytest.mark.parametrize(
    ("layer", "cause"),
    [
        ("nn.ConvLocal(4, (3, 3))(x)", "flax.linen.ConvLocal is not followed"),
        ("nn.scan(nn.Dense, variable_axes={'params': 0})(4)(x)", "flax.linen.scan is not followed"),
        ("jax.scipy.signal.convolve(x, x)", "jax.scipy.signal.convolve is not followed"),
        ("jax.lax.scan(lambda c, y: (c, y), x, x)[1]", "jax.lax.scan is not followed"),
        ("nn.Conv(4, (3, 3), input_dilation=2)(x)", "a convolution of a spread input"),
    ],
)
def test_what_is_not_followed_is_a_cause(layer: str, cause: str) -> None:
    code = f"""\
class Half(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = {layer}
        return nn.Dense(3)(nn.Dense(5)(x)) + y

Half().init(jax.random.PRNGKey(0), jnp.ones((1, 28, 28, 1)))
"""
    # Another framework that the process has met before has no answer.
    frameworks.named("torch")
    report = only(code)
    assert report.status == "lower-bound"
    assert any(cause in each.reason for each in report.causes)
    assert report.parameters >= 1 * 5 + 5 + 5 * 3 + 3  # type: ignore[operator]


def test_a_name_that_flax_does_not_have_is_an_attribute_error() -> None:
    code = """\
class Wrong(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Convolution(3)(x)

Wrong().init(jax.random.PRNGKey(0), jnp.ones((1, 8)))
"""
    assert any("no attribute 'Convolution'" in cause.reason for cause in only(code).causes)


def test_what_is_computed_again_keeps_less() -> None:
    code = """\
class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(4):
            x = nn.relu(nn.Dense(512)(x))
        return x

class Deep(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(6):
            x = BLOCK()(x)
        return nn.Dense(2)(x)

Deep().init(jax.random.PRNGKey(0), jnp.ones((1, 4096, 512)))
"""
    plain, again = (only(code.replace("BLOCK", block)) for block in ("Block", "nn.remat(Block)"))
    assert plain.estimate is not None
    assert again.estimate is not None
    assert plain.parameters == again.parameters
    assert again.estimate.total < 0.6 * plain.estimate.total


DEVICES = """\
@functools.partial(jax.pmap, axis_name="devices")
def step(state, images, labels):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy(logits, jax.nn.one_hot(labels, 10)).mean()

    grads = jax.lax.pmean(jax.grad(loss_fn)(state.params), "devices")
    return state.apply_gradients(grads=grads)

class Flat(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(x.reshape((x.shape[0], -1)))

net = Flat()
params = net.init(jax.random.PRNGKey(0), jnp.ones((1, 8, 8, 1)))["params"]
state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))
state = jax_utils.replicate(state)
for _ in range(100):
    images, labels = np.zeros((64, 8, 8, 1), np.float32), np.zeros((64,), np.int32)
    images, labels = SPREAD
    state = step(state, images, labels)
"""


@pytest.mark.parametrize(
    "spread",
    [
        "(x.reshape((jax.local_device_count(), -1) + x.shape[1:]) for x in (images, labels))",
        "common_utils.shard((images, labels))",
    ],
)
def test_an_axis_for_the_devices_is_none_of_the_models(spread: str) -> None:
    code = "from flax import jax_utils\nfrom flax.training import common_utils\n" + DEVICES.replace("SPREAD", spread)
    assert list(found(code)) == []
    report = only(code)
    assert report.training.batch_size.value == 64
    assert report.parameters == 8 * 8 * 10 + 10


def test_nnx_trains_with_an_optimizer_of_its_own() -> None:
    code = """\
class Small(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.first = nnx.Linear(20, 64, rngs=rngs)
        self.second = nnx.Linear(64, 5, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.relu(self.first(x)))

model = Small(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.lion(1e-4), wrt=nnx.Param)

@nnx.jit
def step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss

for _ in range(100):
    step(model, optimizer, jnp.ones((48, 20)), jnp.ones((48, 5)))
"""
    report = only(code)
    assert report.kind == "training"
    assert report.training.batch_size.value == 48
    assert str(report.training.optimizer.value) == "lion"
    assert report.parameters == 20 * 64 + 64 + 64 * 5 + 5


def test_declared_features_of_nnx_are_held_against_what_comes() -> None:
    code = """\
class Small(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.conv = nnx.Conv(3, 8, kernel_size=(3, 3), rngs=rngs)
        self.head = nnx.Linear(8 * 16 * 16, 5, rngs=rngs)

    def __call__(self, x):
        x = nnx.max_pool(self.conv(x), (2, 2), strides=(2, 2))
        return self.head(x.reshape(x.shape[0], -1))

model = Small(nnx.Rngs(0))
logits = model(jnp.ones((4, 28, 28, 3)))
"""
    (finding,) = found(code)
    assert finding.startswith("CNM201 head takes 2048 features, but is given 1568 by reshape")


def test_half_precision_of_parameters_is_the_models() -> None:
    code = """\
class Half(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(64, dtype=jnp.bfloat16, param_dtype=jnp.bfloat16)(x)

Half().init(jax.random.PRNGKey(0), jnp.ones((1, 32)))
"""
    assert only(code).training.dtype.value == "bfloat16"
