"""The textbook count, held against the figures that the course notes and others worked out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem import dims, ops
from flake8_cnnmem.dims import BATCH
from flake8_cnnmem.graph import Invocation, Model, Op, Tensor, Weight
from flake8_cnnmem.memory import cs231n
from flake8_cnnmem.memory.volumes import volumes
from flake8_cnnmem.unknown import Unknown
from tests.memory.sketch import Sketch, resnet50, small_cnn, training, vgg16

MIB = 1024**2


def finished(net: Sketch) -> Model:
    return net.model(net.calls[-1].outputs[0])


def weights_of(model: Model, biases: bool) -> int:
    sizes = [dims.product(w.shape) for w in model.weights if biases or w.name == "weight"]  # type: ignore[arg-type]
    return sum(size for size in sizes if isinstance(size, int))


VGG16_ROWS = [
    (3_211_264, 1_728),
    (3_211_264, 36_864),
    (802_816, 0),
    (1_605_632, 73_728),
    (1_605_632, 147_456),
    (401_408, 0),
    (802_816, 294_912),
    (802_816, 589_824),
    (802_816, 589_824),
    (200_704, 0),
    (401_408, 1_179_648),
    (401_408, 2_359_296),
    (401_408, 2_359_296),
    (100_352, 0),
    (100_352, 2_359_296),
    (100_352, 2_359_296),
    (100_352, 2_359_296),
    (25_088, 0),
    (4_096, 102_760_448),
    (4_096, 16_777_216),
    (1_000, 4_096_000),
]


def test_vgg16_has_the_rows_of_the_course_notes() -> None:
    rows = [
        (
            dims.per_sample(volume.values),
            sum(dims.product(w.shape) for w in volume.call.weights if w.name == "weight"),  # type: ignore[misc,arg-type,attr-defined]
        )
        for volume in volumes(finished(vgg16()))
    ]
    assert rows == VGG16_ROWS


def test_vgg16_adds_up() -> None:
    model = finished(vgg16())
    assert weights_of(model, biases=False) == 138_344_128
    assert weights_of(model, biases=True) == 138_357_544
    assert cs231n.activations(model) + 3 * 224 * 224 == 15_237_608


def test_the_small_cnn_adds_up() -> None:
    model = finished(small_cnn())
    assert [dims.per_sample(v.values) for v in volumes(model)] == [80_000, 20_000, 40_000, 9_216, 500, 10]
    assert cs231n.activations(model) + 7_500 == 157_226
    assert 64 * 157_226 == 10_062_464
    assert weights_of(model, biases=True) == 4_632_902
    assert cs231n.estimate(model, training(64), 0).total == 134_174_536


def test_resnet50_has_its_published_sixteen_million_values() -> None:
    model = finished(resnet50())
    assert weights_of(model, biases=True) == 25_636_712
    assert cs231n.activations(model) == 16_310_248
    assert cs231n.inference(model) == 4 * (25_636_712 + 16_310_248)
    assert 32 * 4 * cs231n.activations(model) > 2e9


def test_the_formula_alone_gives_the_published_answer() -> None:
    parts = cs231n.training_bytes(532_752, 19_072_984, 9_000, batch=128, slots=1)
    assert [round(part / MIB, 1) for part in parts] == [520.3, 218.3, 4.4]
    assert round(sum(parts) / MIB, 1) == 742.9


@pytest.mark.parametrize(
    ("optimizer", "options", "slots"),
    [
        pytest.param("sgd", {}, 0, id="plain SGD keeps nothing"),
        pytest.param("momentum", {}, 1, id="momentum keeps a velocity"),
        pytest.param("sgd", {"momentum": 0.9}, 1, id="SGD with a momentum is momentum"),
        pytest.param("sgd", {"momentum": 0.0}, 0, id="SGD with momentum zero is plain"),
        pytest.param("rmsprop", {}, 1, id="RMSprop keeps a cache"),
        pytest.param("rmsprop", {"centered": True}, 2, id="centred RMSprop keeps the mean too"),
        pytest.param("adagrad", {}, 1, id="Adagrad keeps a cache"),
        pytest.param("adam", {}, 2, id="Adam keeps two moments"),
        pytest.param("AdamW", {}, 2, id="AdamW keeps two moments"),
        pytest.param("nadam", {}, 2, id="Nadam keeps two moments"),
        pytest.param("adam", {"amsgrad": True}, 3, id="AMSGrad keeps the maximum too"),
        pytest.param("adam", {"amsgrad": Unknown("?")}, 2, id="an option that is not known is not taken as set"),
    ],
)
def test_slots_of_the_optimizer(optimizer: str, options: dict[str, Any], slots: int) -> None:
    estimate = cs231n.estimate(finished(small_cnn()), training(1, optimizer, **options), 0)
    assert estimate.optimizer == slots * 4 * 4_632_902


@pytest.mark.parametrize(
    ("dtype", "value", "weight"),
    [("float32", 4, 4), ("float64", 8, 8), ("float16", 2, 2), ("bfloat16", 2, 2), ("mixed_float16", 2, 4)],
)
def test_bytes_follow_the_dtype(dtype: str, value: int, weight: int) -> None:
    estimate = cs231n.estimate(finished(small_cnn()), training(8, dtype=dtype), 0)
    assert estimate.input == value * 8 * 7_500
    assert estimate.activations == 2 * value * 8 * 149_726
    assert estimate.parameters == weight * 4_632_902


def test_frozen_weights_have_neither_gradient_nor_cache() -> None:
    model = finished(small_cnn())
    model.weights[0].trainable = False
    estimate = cs231n.estimate(model, training(1, "adam"), 0)
    assert estimate.parameters - estimate.gradients == 4 * 32 * 3 * 9
    assert estimate.optimizer == 2 * estimate.gradients


def test_buffers_are_no_parameters() -> None:
    net = small_cnn()
    before = cs231n.estimate(finished(net), training(), 0).total
    net.weights.append(Weight((1000,), name="running_mean", buffer=True))
    assert cs231n.estimate(finished(net), training(), 0).total == before


@pytest.mark.parametrize(
    ("op", "writes"),
    [
        (ops.Convolution(8, (3, 3)), True),
        (ops.DepthwiseConvolution((3, 3)), True),
        (ops.Linear(6), True),
        (ops.Embedding(10, 6), True),
        (ops.Pool("max", (2, 2)), True),
        (ops.GlobalPool("average", 2), True),
        (ops.AdaptivePool("average", (6, 6)), True),
        (ops.Recurrent("lstm", 8), True),
        (ops.ScaledDotProduct(), True),
        (ops.Resize((6, 6)), True),
        (ops.BatchNorm(), False),
        (ops.Elementwise("relu"), False),
        (ops.Elementwise("softmax"), False),
        (ops.Dropout(), False),
        (ops.Flatten(), False),
        (ops.Pad(((0, 0),) * 4), False),
        (ops.Elementwise("scale"), False),
        (ops.Broadcast("add"), False),
    ],
    ids=lambda value: value.kind if hasattr(value, "kind") else "",
)
def test_which_ops_of_one_input_write_a_volume(op: Op, writes: bool) -> None:
    net = Sketch(8, 6, 6)
    net.call(op, [net.input], net.input.shape)
    assert cs231n.activations(finished(net)) == (288 if writes else 0)


MERGES: list[Op] = [ops.Concatenate(), ops.Stack(), ops.Average()]
MERGES += [ops.Broadcast(kind) for kind in ("add", "multiply", "subtract", "divide", "maximum", "minimum", "where")]


@pytest.mark.parametrize("op", MERGES, ids=lambda op: op.kind)
def test_a_merge_of_two_maps_writes_a_volume(op: Op) -> None:
    net = Sketch(8, 6, 6)
    net.call(op, [net.input, net.input], net.input.shape)
    assert cs231n.activations(finished(net)) == 288


@pytest.mark.parametrize(
    "other", [Weight((8, 1, 1), name="gamma"), Tensor((), data=0.5)], ids=["a parameter", "a number"]
)
def test_scaling_by_something_that_is_no_map_writes_none(other: Tensor) -> None:
    net = Sketch(8, 6, 6)
    net.call(ops.Broadcast("multiply"), [net.input, other], net.input.shape)
    assert cs231n.activations(finished(net)) == 0


def native(name: str, parent: Invocation | None = None) -> Invocation:
    return Invocation(SimpleNamespace(cls=SimpleNamespace(name=name, site=None)), parent, 0)


def user(name: str, parent: Invocation | None = None) -> Invocation:
    return Invocation(SimpleNamespace(cls=SimpleNamespace(name=name, site=object())), parent, 0)


def test_a_native_layer_of_several_ops_writes_once() -> None:
    net = Sketch(8, 6, 6)
    net.within = native("SeparableConv2D", user("Net"))
    x = net.conv(net.conv(net.input, 8), 16)
    net.within = None
    net.conv(x, 4)
    assert cs231n.activations(finished(net)) == (16 + 4) * 36


def test_attention_made_of_layers_writes_once() -> None:
    net = Sketch(8, 6)
    attention = native("MultiheadAttention", user("Net"))
    net.within = native("EinsumDense", attention)
    q = net.linear(net.input, 6)
    net.within = attention
    y = net.call(ops.ScaledDotProduct(), [q, q, q], q.shape)
    net.within = native("EinsumDense", attention)
    net.linear(y, 10)
    assert cs231n.activations(finished(net)) == 80


def test_a_users_own_module_writes_with_each_op() -> None:
    net = Sketch(8, 6, 6)
    net.within = user("Block", native("Sequential"))
    net.conv(net.conv(net.input, 8), 8)
    assert cs231n.activations(finished(net)) == 2 * 8 * 36


def test_a_layer_called_twice_writes_twice() -> None:
    net = Sketch(8, 6, 6)
    x = net.input
    for _ in range(2):
        net.within = native("Conv2d")
        x = net.conv(x, 8)
    assert cs231n.activations(finished(net)) == 2 * 8 * 36


def test_what_has_no_known_size_is_left_out_and_said() -> None:
    net = small_cnn()
    exact = cs231n.estimate(finished(net), training(), 0)
    cause, other = Unknown("num_classes is not known", "net.py", 3), Unknown("?")
    net.call(ops.Linear(10), [net.calls[-1].outputs[0]], (BATCH, cause), {"weight": (cause, 10)})  # type: ignore[dict-item]
    net.call(ops.Linear(10), [net.calls[-1].outputs[0]], other)
    estimate = cs231n.estimate(finished(net), training(), 0)
    assert exact.left_out == ()
    assert estimate.left_out == (cause, other)
    assert estimate.total == exact.total


@given(batch=st.integers(1, 10_000), more=st.integers(1, 1000))
def test_memory_grows_with_the_batch(batch: int, more: int) -> None:
    model = finished(small_cnn())
    small, large = (cs231n.estimate(model, training(n), 0).total for n in (batch, batch + more))
    assert small < large


@given(limit=st.integers(1, 2**36), overhead=st.integers(0, 2**30))
def test_the_largest_batch_fits_and_the_next_does_not(limit: int, overhead: int) -> None:
    model = finished(small_cnn())
    largest = cs231n.estimate(model, training(), overhead).largest_batch(limit)
    if largest:
        assert cs231n.estimate(model, training(largest), overhead).total <= limit
    assert cs231n.estimate(model, training(largest + 1), overhead).total > limit
