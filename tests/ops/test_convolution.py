"""Convolutions. The figures marked torch and keras are those of PyTorch 2.13 and Keras 3.15 on TensorFlow 2.21."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.graph import Mismatch, Op
from flake8_cnnmem.ops import Convolution, DepthwiseConvolution
from flake8_cnnmem.unknown import Unknown

N = Batch(1)
U = Unknown("a size that nobody knows", "net.py", 7)

Find = Callable[..., Mismatch]


def conv(filters: Any, kernel: Any, **fields: Any) -> Convolution:
    return Convolution(filters, kernel if isinstance(kernel, tuple) else (kernel, kernel), **fields)


def last(filters: Any, kernel: Any, **fields: Any) -> Convolution:
    return conv(filters, kernel, channels_last=True, **fields)


def keras_transposed(kernel: int, stride: int, padding: str, extra: int | None = None) -> Convolution:
    return last(8, kernel, stride=stride, padding=padding, transposed=True, output_padding=extra)


@pytest.mark.parametrize(
    ("op", "given", "expected"),
    [
        pytest.param(conv(64, 7, stride=2, padding=3), (N, 3, 224, 224), (N, 64, 112, 112), id="the stem of a ResNet"),
        pytest.param(conv(64, 11, stride=4, padding=2), (N, 3, 224, 224), (N, 64, 55, 55), id="the stem of AlexNet"),
        pytest.param(conv(8, 3, dilation=2), (N, 3, 10, 11), (N, 8, 6, 7), id="dilation widens the window"),
        pytest.param(
            conv(8, 4, padding="same"), (N, 3, 10, 11), (N, 8, 10, 11), id="same keeps sides, even kernels too"
        ),
        pytest.param(conv(8, 3, padding="valid"), (N, 3, 10, 11), (N, 8, 8, 9), id="valid pads nothing"),
        pytest.param(Convolution(8, (5,), stride=2), (N, 4, 21), (N, 8, 9), id="one spatial axis"),
        pytest.param(
            Convolution(8, (3, 5, 5), stride=(1, 2, 2), padding=(1, 2, 2)),
            (N, 3, 16, 112, 112),
            (N, 8, 16, 56, 56),
            id="three spatial axes",
        ),
        pytest.param(conv(8, (1, 7), padding=(0, 3)), (N, 3, 17, 17), (N, 8, 17, 17), id="an oblong kernel"),
        pytest.param(conv(8, 3, padding=((0, 1), (0, 1)), stride=2), (N, 3, 8, 8), (N, 8, 4, 4), id="uneven padding"),
        pytest.param(conv(8, 3), (3, 10, 11), (8, 8, 9), id="torch takes an unbatched input"),
        pytest.param(
            last(8, 3, padding="same", stride=2), (N, 225, 224, 3), (N, 113, 112, 8), id="keras same rounds up"
        ),
        pytest.param(
            last(8, 3, padding="valid", stride=2), (N, 225, 224, 3), (N, 112, 111, 8), id="keras valid rounds down"
        ),
        pytest.param(last(8, 3, padding="SAME"), (N, 5, 5, 3), (N, 5, 5, 8), id="padding in capitals"),
        pytest.param(
            Convolution(8, (3,), padding="causal", dilation=4, channels_last=True),
            (N, 50, 3),
            (N, 50, 8),
            id="causal keeps the length",
        ),
        pytest.param(conv(12, 3, groups=3, channels=6), (N, 6, 5, 5), (N, 12, 3, 3), id="groups change no shape"),
        pytest.param(conv(U, 3), (N, 3, 5, 5), (N, U, 3, 3), id="unknown filters"),
        pytest.param(conv(8, 3), (N, U, U, 5), (N, 8, U, 3), id="unknown channels and side"),
        pytest.param(conv(8, (U, 3)), (N, 3, 5, 5), (N, 8, U, 3), id="an unknown kernel side"),
        pytest.param(conv(8, 3, stride=U), (N, 3, 5, 5), (N, 8, U, U), id="an unknown stride"),
        pytest.param(conv(8, 3, padding=U), (N, 3, 5, 5), (N, 8, U, U), id="an unknown padding"),
        pytest.param(
            conv(8, 3, padding="same", stride=U), (N, 3, 5, 5), (N, 8, U, U), id="same with an unknown stride"
        ),
        pytest.param(
            conv(8, 3, channels_last=U), (N, 3, 5, 5), (N, U, U, U), id="which axis has the channels is unknown"
        ),
        pytest.param(conv(8, 3, transposed=U), (N, 3, 5, 5), (N, U, U, U), id="whether it is transposed is unknown"),
        pytest.param(
            Convolution(8, (3,), padding=1), (4, 3, N), (4, 8, N), id="a window along the batch that keeps it"
        ),
    ],
)
def test_shape(op: Op, given: Shape, expected: Shape) -> None:
    assert op.outputs(given) == (expected,)


@pytest.mark.parametrize(
    ("op", "given", "expected"),
    [
        pytest.param(conv(512, 4, transposed=True), (N, 100, 1, 1), (N, 512, 4, 4), id="torch: the first of a DCGAN"),
        pytest.param(
            conv(256, 4, stride=2, padding=1, transposed=True), (N, 512, 4, 4), (N, 256, 8, 8), id="torch: doubling"
        ),
        pytest.param(
            conv(16, 3, stride=2, padding=1, transposed=True, output_padding=1),
            (N, 16, 5, 6),
            (N, 16, 10, 12),
            id="torch: output padding completes a doubling",
        ),
        pytest.param(
            conv(4, 3, stride=2, dilation=3, transposed=True, output_padding=2),
            (N, 3, 5, 5),
            (N, 4, 17, 17),
            id="torch: output padding may reach the dilation",
        ),
        pytest.param(keras_transposed(3, 2, "same"), (N, 7, 8, 3), (N, 14, 16, 8), id="keras: same multiplies"),
        pytest.param(
            keras_transposed(2, 3, "valid"), (N, 7, 8, 3), (N, 21, 24, 8), id="keras: valid, stride over kernel"
        ),
        pytest.param(
            keras_transposed(5, 2, "valid"), (N, 7, 8, 3), (N, 17, 19, 8), id="keras: valid, kernel over stride"
        ),
        pytest.param(
            keras_transposed(3, 2, "same", 1), (N, 7, 8, 3), (N, 14, 16, 8), id="keras: same, output padding 1"
        ),
        pytest.param(
            keras_transposed(4, 2, "same", 0), (N, 7, 8, 3), (N, 12, 14, 8), id="keras: same, output padding 0"
        ),
        pytest.param(
            keras_transposed(3, 2, "valid", 1), (N, 7, 8, 3), (N, 16, 18, 8), id="keras: valid, output padding"
        ),
        pytest.param(conv(8, 3, transposed=True, stride=U), (N, 3, 5, 5), (N, 8, U, U), id="an unknown stride"),
        pytest.param(keras_transposed(3, 2, "same"), (N, U, 8, 3), (N, U, 16, 8), id="keras: an unknown side"),
    ],
)
def test_transposed_shape(op: Op, given: Shape, expected: Shape) -> None:
    assert op.outputs(given) == (expected,)


@pytest.mark.parametrize(
    ("op", "given", "expected"),
    [
        pytest.param(
            DepthwiseConvolution((3, 3), padding=1), (N, 32, 56, 56), (N, 32, 56, 56), id="one filter a channel"
        ),
        pytest.param(
            DepthwiseConvolution((3, 3), 2, stride=2, padding="same", channels_last=True),
            (N, 7, 8, 5),
            (N, 4, 4, 10),
            id="two filters a channel",
        ),
        pytest.param(DepthwiseConvolution((3,), padding="valid"), (N, 4, 9), (N, 4, 7), id="one spatial axis"),
        pytest.param(DepthwiseConvolution((3, 3), U), (N, 4, 9, 9), (N, U, 7, 7), id="an unknown multiplier"),
        pytest.param(DepthwiseConvolution((3, 3)), (N, U, 9, 9), (N, U, 7, 7), id="unknown channels"),
    ],
)
def test_depthwise_shape(op: Op, given: Shape, expected: Shape) -> None:
    assert op.outputs(given) == (expected,)


@pytest.mark.parametrize(
    ("op", "given", "expected"),
    [
        pytest.param(conv(64, 3, channels=3), (), {"weight": (64, 3, 3, 3), "bias": (64,)}, id="declared channels"),
        pytest.param(conv(8, 3, bias=False), ((N, 5, 9, 9),), {"weight": (8, 5, 3, 3)}, id="the input's channels"),
        pytest.param(conv(12, 1, channels=6, groups=3, bias=False), (), {"weight": (12, 2, 1, 1)}, id="grouped"),
        pytest.param(
            conv(12, 4, channels=6, groups=3, transposed=True),
            (),
            {"weight": (6, 4, 4, 4), "bias": (12,)},
            id="transposed and grouped",
        ),
        pytest.param(
            DepthwiseConvolution((3, 3), 2, channels_last=True),
            ((N, 8, 8, 5),),
            {"weight": (10, 1, 3, 3), "bias": (10,)},
            id="keras: depthwise, 100 parameters",
        ),
        pytest.param(conv(U, 3, channels=3, bias=False), (), {"weight": (U, 3, 3, 3)}, id="unknown filters"),
        pytest.param(conv(8, 3, channels=3, bias=U), (), {"weight": (8, 3, 3, 3), "bias": (U,)}, id="an unknown bias"),
        pytest.param(conv(64.0, 3, channels=3, bias=False), (), {"weight": (64, 3, 3, 3)}, id="a number with a point"),
    ],
)
def test_weights(op: Op, given: tuple[Shape, ...], expected: dict[str, Shape]) -> None:
    assert {name: spec.shape for name, spec in op.weights(*given).items()} == expected


def test_weights_before_the_first_call_are_not_known() -> None:
    assert isinstance(conv(8, 3).weights()["weight"].shape[1], Unknown)


@pytest.mark.parametrize(
    ("op", "given", "what", "advice", "expected"),
    [
        pytest.param(
            conv(8, 3, channels=3),
            (N, 1, 28, 28),
            "takes 3 channels, but is given 1",
            "1 channels would fit",
            (N, 8, 26, 26),
            id="other channels than declared",
        ),
        pytest.param(
            conv(8, 3, channels=3),
            (N, 28, 28, 3),
            "takes 3 channels, but is given 28",
            "28 channels would fit, or the axes in another order: axis 3 has 3",
            (N, 8, 26, 1),
            id="channels last where they are to come first",
        ),
        pytest.param(
            conv(8, 3, channels=4, groups=3),
            (N, 4, 5, 5),
            "has 3 groups, which do not divide its 4 channels",
            "2 or 4 groups would fit",
            (N, 8, 3, 3),
            id="groups that do not divide the declared channels",
        ),
        pytest.param(
            conv(8, 3, groups=2, channels_last=True),
            (N, 5, 5, 3),
            "has 2 groups, which do not divide its 3 channels",
            "1 or 3 groups would fit",
            (N, 3, 3, 8),
            id="groups that do not divide the input's channels",
        ),
        pytest.param(
            conv(8.0, 3),
            (N, 3, 5, 5),
            "takes a whole number as its number of filters, but is given 8.0",
            "'//' divides to a whole number",
            (N, 8, 3, 3),
            id="filters from a division",
        ),
        pytest.param(
            conv(0, 3),
            (N, 3, 5, 5),
            "takes a number of filters of at least 1, but is given 0",
            "",
            (N, 0, 3, 3),
            id="no filters",
        ),
        pytest.param(
            DepthwiseConvolution((3, 3), channels=8),
            (N, 4, 5, 5),
            "takes 8 channels, but is given 4",
            "4 channels would fit",
            (N, 8, 3, 3),
            id="depthwise, other channels than declared",
        ),
    ],
)
def test_wrong_sizes(mismatch: Find, op: Op, given: Shape, what: str, advice: str, expected: Shape) -> None:
    found = mismatch(op, given)
    assert (found.problem.code, found.problem.what, found.problem.advice) == ("CNM201", what, advice)
    assert found.recovered == (expected,)


def test_wrong_channels_give_both_numbers(mismatch: Find) -> None:
    problem = mismatch(conv(8, 3, channels=64), (N, 32, 7, 7)).problem
    assert (problem.given, problem.declared) == (32, 64)


@pytest.mark.parametrize(
    ("op", "given", "what"),
    [
        pytest.param(
            conv(8, 3, stride=0), (N, 3, 5, 5), "takes a stride of at least 1, but is given 0", id="no stride"
        ),
        pytest.param(
            conv(8, -3), (N, 3, 5, 5), "takes a kernel size of at least 1, but is given -3", id="negative kernel"
        ),
        pytest.param(
            conv(8, 3, padding=-1), (N, 3, 5, 5), "takes a padding of at least 0, but is given -1", id="padding"
        ),
        pytest.param(
            conv(8, 3, padding="full"), (N, 3, 5, 5), "knows no padding 'full'", id="an unknown padding's name"
        ),
        pytest.param(
            conv(8, 3, stride=(1, 2, 3)), (N, 3, 5, 5), "takes 2 values for its stride, but is given 3", id="strides"
        ),
        pytest.param(
            conv(8, 3), (N, 400), "takes an input of 4 axes (N, C, H, W), but is given (N, 400)", id="a flat input"
        ),
        pytest.param(
            last(8, 3),
            (N, 400),
            "takes an input of 4 axes (N, H, W, C), but is given (N, 400)",
            id="channels last, flat",
        ),
        pytest.param(
            conv(8, 3, stride=2, transposed=True, output_padding=2),
            (N, 3, 5, 5),
            "takes an output padding smaller than its stride of 2, but is given 2",
            id="too much output padding",
        ),
        pytest.param(
            keras_transposed(3, 1, "same", 1),
            (N, 3, 5, 5),
            "takes an output padding smaller than its stride of 1, but is given 1",
            id="keras: too much output padding",
        ),
    ],
)
def test_arguments_that_make_no_sense(mismatch: Find, op: Op, given: Shape, what: str) -> None:
    problem = mismatch(op, given).problem
    assert (problem.code, problem.what) == ("CNM201", what)


@pytest.mark.parametrize(
    ("op", "given", "what", "numbers"),
    [
        pytest.param(
            conv(8, 5),
            (N, 3, 4, 9),
            "leaves nothing of its 4x9 map: its 5x5 window needs a side of at least 5",
            (4, 5),
            id="a window larger than its map",
        ),
        pytest.param(
            conv(8, 3, dilation=4, padding=1),
            (N, 3, 9, 6),
            "leaves nothing of its 9x6 map: its 3x3 window needs a side of at least 7",
            (6, 7),
            id="a dilated window, padding counted",
        ),
        pytest.param(
            conv(8, 1, padding=1, transposed=True),
            (N, 3, 2, 5),
            "leaves nothing of its 2x5 map",
            (None, None),
            id="a transposed convolution that pads all away",
        ),
    ],
)
def test_a_map_that_shrinks_to_nothing(mismatch: Find, op: Op, given: Shape, what: str, numbers: Any) -> None:
    found = mismatch(op, given)
    assert (found.problem.code, found.problem.what) == ("CNM202", what)
    assert (found.problem.given, found.problem.declared) == numbers
    assert found.recovered is not None
    assert any(isinstance(size, Unknown) for size in found.recovered[0])
    assert found.recovered[0][:2] == (N, 8)


@pytest.mark.parametrize(
    ("op", "given"),
    [
        pytest.param(conv(8, 3, channels=3), (N, U, 5, 5), id="unknown channels"),
        pytest.param(conv(8, 3, channels=U), (N, 4, 5, 5), id="unknown declared channels"),
        pytest.param(conv(8, 3, channels=3), (4, N, 5, 5), id="the batch on the channels' axis"),
        pytest.param(conv(8, 3, channels=N), (N, 4, 5, 5), id="the batch as declared channels"),
        pytest.param(conv(8, 3, channels=4, groups=U), (N, 4, 5, 5), id="unknown groups"),
        pytest.param(conv(8, 5, padding=U), (N, 4, 1, 1), id="a padding that may suffice"),
        pytest.param(conv(10**30, 3), (N, 4, 5, 5), id="more filters than any memory holds"),
    ],
)
def test_what_is_not_certain_is_no_problem(op: Op, given: Shape) -> None:
    op.outputs(given)


@pytest.mark.parametrize(
    ("op", "given", "expected"),
    [
        pytest.param(conv(8, 3, stride=2, padding=1), (N, 3, 224, 224), (), id="halving an even side with padding"),
        pytest.param(conv(8, 1, stride=2), (N, 3, 224, 224), (), id="a 1x1 stride of 2 skips everywhere alike"),
        pytest.param(conv(8, 2, stride=2), (N, 3, 25, 24), ((2, 1),), id="an odd side, halved"),
        pytest.param(last(8, 2, stride=3, padding="valid"), (N, 9, 9, 3), (), id="gaps that the stride leaves anyway"),
        pytest.param(last(8, 4, stride=4, padding="valid"), (N, 30, 33, 3), ((1, 2), (2, 1)), id="two axes"),
        pytest.param(last(8, 2, stride=2, padding="same"), (N, 25, 25, 3), (), id="same drops nothing"),
        pytest.param(conv(8, 2, stride=2, transposed=True), (N, 3, 25, 25), (), id="transposed drops nothing"),
        pytest.param(conv(8, 2, stride=2), (N, 3, U, N), (), id="sizes that are not known"),
        pytest.param(conv(8, 2, stride=0), (N, 3, 5, 5), (), id="a stride that makes no sense"),
        pytest.param(conv(8, 2, stride=2), (N, 3), (), id="another rank"),
        pytest.param(DepthwiseConvolution((2, 2), stride=2), (N, 3, 5, 5), ((2, 1), (3, 1)), id="depthwise"),
    ],
)
def test_rows_that_a_stride_drops(
    op: Convolution | DepthwiseConvolution, given: Shape, expected: tuple[tuple[int, int], ...]
) -> None:
    assert op.dropped(given) == expected


def test_fields_are_in_full_form() -> None:
    op = Convolution(8, (3, 3), stride=2, padding=1, output_padding=1, dilation=(2,))
    assert (op.stride, op.padding, op.dilation, op.output_padding) == ((2, 2), ((1, 1), (1, 1)), (2, 2), (1, 1))
    assert Convolution(8, (3,), output_padding=None).output_padding is None
