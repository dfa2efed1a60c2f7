"""Layer graphs drawn by hand: just enough to hold an accounting against figures that were worked out elsewhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flake8_cnnmem.dims import BATCH, Batch, Shape
from flake8_cnnmem.graph import Call, Invocation, Model, Op, Tensor, Weight
from flake8_cnnmem.ops import (
    BatchNorm,
    Broadcast,
    Convolution,
    Dropout,
    Elementwise,
    Flatten,
    GlobalPool,
    Linear,
    Pool,
)
from flake8_cnnmem.training import Fact, Optimizer, Training


def sizes(x: Tensor) -> Any:
    """A sketched tensor's shape, whose sizes are all known."""
    return x.shape


class Sketch:
    """A model under construction. Every method runs one op and gives its output tensor."""

    def __init__(self, *input_shape: int, framework: str = "torch") -> None:
        self.framework = framework
        self.input = Tensor((BATCH, *input_shape), framework=framework)
        self.calls: list[Call] = []
        self.weights: list[Weight] = []
        self.within: Invocation | None = None

    def call(
        self,
        op: Op,
        inputs: Sequence[Tensor],
        shape: Shape | Any,
        weights: Mapping[str, tuple[int, ...]] | None = None,
    ) -> Tensor:
        own = tuple(Weight(size, name=name, framework=self.framework) for name, size in (weights or {}).items())
        self.weights.extend(own)
        made = Call(op, tuple(inputs), own, len(self.calls), within=self.within)
        output = Tensor(shape, call=made, framework=self.framework)
        made.outputs = (output,)
        self.calls.append(made)
        return output

    def conv(self, x: Tensor, filters: int, kernel: int = 3, stride: int = 1, bias: bool = True) -> Tensor:
        """Channels first, "same" padding."""
        n, channels, height, width = sizes(x)
        weights = {"weight": (filters, channels, kernel, kernel), **({"bias": (filters,)} if bias else {})}
        op = Convolution(filters, (kernel, kernel), stride=stride, padding="same")
        return self.call(op, [x], (n, filters, -(-height // stride), -(-width // stride)), weights)

    def pool(self, x: Tensor, size: int = 2, stride: int = 2, same: bool = False) -> Tensor:
        n, channels, height, width = sizes(x)
        sides = [-(-side // stride) if same else (side - size) // stride + 1 for side in (height, width)]
        return self.call(Pool("max", (size, size), stride), [x], (n, channels, *sides))

    def global_pool(self, x: Tensor) -> Tensor:
        return self.call(GlobalPool("average", 2), [x], sizes(x)[:2])

    def unary(self, kind: str, x: Tensor, in_place: bool = False) -> Tensor:
        return self.call(Elementwise(kind, in_place), [x], sizes(x))

    def dropout(self, x: Tensor) -> Tensor:
        return self.call(Dropout(), [x], sizes(x))

    def flatten(self, x: Tensor) -> Tensor:
        return self.call(Flatten(1), [x], (sizes(x)[0], math.prod(sizes(x)[1:])))

    def linear(self, x: Tensor, features: int, bias: bool = True) -> Tensor:
        weights = {"weight": (features, sizes(x)[-1]), **({"bias": (features,)} if bias else {})}
        return self.call(Linear(features), [x], (*sizes(x)[:-1], features), weights)

    def norm(self, x: Tensor) -> Tensor:
        c = sizes(x)[1]
        return self.call(BatchNorm(), [x], sizes(x), {"weight": (c,), "bias": (c,)})

    def add(self, left: Tensor, right: Tensor) -> Tensor:
        return self.call(Broadcast("add"), [left, right], sizes(left))

    def model(self, *outputs: Tensor) -> Model:
        inputs = (self.input,)
        return Model("sketch", self.framework, None, inputs, outputs, tuple(self.calls), tuple(self.weights))


def training(batch: int = 32, optimizer: str = "momentum", dtype: str = "float32", **options: Any) -> Training:
    chosen = Optimizer(optimizer, tuple(options.items()))
    return Training(Fact(batch, "test"), Fact(dtype, "test"), Fact(chosen, "test"))


def vgg16() -> Sketch:
    net = Sketch(3, 224, 224)
    x = net.input
    for width, depth in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]:
        for _ in range(depth):
            x = net.unary("relu", net.conv(x, width), in_place=True)
        x = net.pool(x)
    x = net.flatten(x)
    for features in (4096, 4096):
        x = net.dropout(net.unary("relu", net.linear(x, features), in_place=True))
    net.linear(x, 1000)
    return net


def small_cnn() -> Sketch:
    """Input 50x50x3, conv 32, pool, conv 64, pool (25 -> 12), dense 500, softmax 10."""
    net = Sketch(3, 50, 50)
    x = net.pool(net.unary("relu", net.conv(net.input, 32)))
    x = net.pool(net.unary("relu", net.conv(x, 64)))
    x = net.unary("relu", net.linear(net.flatten(x), 500))
    net.unary("softmax", net.linear(x, 10))
    return net


def resnet50(bias: bool = True) -> Sketch:
    """As Keras builds it: biased convolutions, stride in the first 1x1 convolution, moving statistics as weights."""
    net = Sketch(3, 224, 224)

    def norm(x: Tensor) -> Tensor:
        y = net.norm(x)
        net.weights += [Weight((sizes(x)[1],), name=n, trainable=False) for n in ("moving_mean", "moving_variance")]
        return y

    x = net.pool(net.unary("relu", norm(net.conv(net.input, 64, 7, 2, bias))), 1, 2)
    for width, blocks, first in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for block in range(blocks):
            stride = first if block == 0 else 1
            shortcut = norm(net.conv(x, 4 * width, 1, stride, bias)) if block == 0 else x
            y = net.unary("relu", norm(net.conv(x, width, 1, stride, bias)))
            y = net.unary("relu", norm(net.conv(y, width, 3, 1, bias)))
            x = net.unary("relu", net.add(shortcut, norm(net.conv(y, 4 * width, 1, 1, bias))))
    net.unary("softmax", net.linear(net.global_pool(x), 1000))
    return net


__all__ = ["Batch", "Sketch", "resnet50", "small_cnn", "training", "vgg16"]
