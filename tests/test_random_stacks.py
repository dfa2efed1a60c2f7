"""Random stacks of layers, written as PyTorch and as Keras, against shape rules that are written here once more."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

Layer = tuple[str, int, int, int]
"""Kind, filters, kernel, stride."""

LAYERS = st.lists(
    st.tuples(
        st.sampled_from(["conv", "pool", "norm", "relu"]), st.integers(1, 9), st.integers(1, 4), st.integers(1, 3)
    ),
    min_size=1,
    max_size=6,
)


def written(layers: list[Layer], channels: int, side: int) -> tuple[str, str, int, list[int]]:
    """A stack as PyTorch and as Keras source, its parameters and the values behind each layer. What would shrink a map
    to nothing is left out."""
    torch, keras, parameters, volumes = [], [f"keras.Input(({side}, {side}, {channels}))"], 0, []
    for kind, filters, kernel, stride in layers:
        if kind in ("conv", "pool") and kernel > side:
            continue
        if kind == "conv":
            torch.append(f"nn.Conv2d({channels}, {filters}, {kernel}, stride={stride})")
            keras.append(f"layers.Conv2D({filters}, {kernel}, strides={stride})")
            parameters += kernel * kernel * channels * filters + filters
            channels, side = filters, (side - kernel) // stride + 1
        elif kind == "pool":
            torch.append(f"nn.MaxPool2d({kernel}, {stride})")
            keras.append(f"layers.MaxPooling2D({kernel}, {stride})")
            side = (side - kernel) // stride + 1
        elif kind == "norm":
            torch.append(f"nn.BatchNorm2d({channels})")
            keras.append("layers.BatchNormalization()")
            parameters += 2 * channels
        else:
            torch.append("nn.ReLU()")
            keras.append("layers.ReLU()")
        volumes.append(channels * side * side)
    values = channels * side * side
    torch += ["nn.Flatten()", f"nn.Linear({values}, 7)"]
    keras += ["layers.Flatten()", "layers.Dense(7)"]
    return ", ".join(torch), ", ".join(keras), parameters + values * 7 + 7, [*volumes, values, 7]


def volume(shape: tuple[int | None, ...] | None) -> int:
    total = 1
    for size in shape or ():
        assert size is not None
        total *= size
    return total


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(LAYERS, st.integers(1, 4), st.integers(5, 40))
def test_a_stack_has_the_parameters_and_shapes_of_its_layers(layers: list[Layer], channels: int, side: int) -> None:
    in_torch, in_keras, parameters, volumes = written(layers, channels, side)
    call = f"net(torch.zeros(1, {channels}, {side}, {side}))"
    as_torch = f"import torch\nfrom torch import nn\nnet = nn.Sequential({in_torch})\n{call}\n"
    as_keras = f"import keras\nfrom keras import layers\nnet = keras.Sequential([{in_keras}])\n"
    for text in (as_torch, as_keras):
        [model] = analyse(Source("net.py", text), Settings()).reports
        assert model.status == "exact", model.causes
        assert model.trainable == parameters
        rows = [row for row in model.rows if row.type != "InputLayer"]
        assert [volume(row.output_shape) for row in rows] == volumes
