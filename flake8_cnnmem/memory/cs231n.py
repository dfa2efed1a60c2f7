"""The textbook heuristic: activations and parameters, each times a small factor.

From the CS231n course notes, on the memory bottleneck of convolutional networks: every volume that a layer
writes, twice (its gradient is as large); weights, gradients and the optimizer's step cache; the input batch.
"""

from __future__ import annotations

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.updates import Update
from flake8_cnnmem.graph import Call, Model
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory import optimizers
from flake8_cnnmem.memory.dtypes import half_of, size_of
from flake8_cnnmem.memory.estimate import Estimate, Line, Moment, within
from flake8_cnnmem.memory.followed_optimizers import line_of, state_lines
from flake8_cnnmem.memory.storages import Memory
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.memory.volumes import activations, unknowns, volumes
from flake8_cnnmem.training import Optimizer, Training
from flake8_cnnmem.unknown import Unknown

__all__ = ["activations", "estimate", "inference", "training_bytes"]


@dataclass(frozen=True, slots=True)
class Sum:
    """Values as an affine function of the batch size, and the causes of what is missing in it."""

    line: Line
    left_out: tuple[Unknown, ...] = ()


@dataclass(frozen=True, slots=True)
class Formula:
    """The bytes of a step by the textbook, which knows of no moments."""

    total: Line

    def largest_batch(self, limit: int) -> int:
        return within([self.total], limit)

    def moments(self, batch: int) -> tuple[Moment, ...]:
        return ()

    def kept_by(self) -> tuple[tuple[str, int], ...]:
        return ()

    def kept_by_call(self) -> tuple[tuple[Call, int], ...]:
        return ()


def _sum(sizes: list[dims.Size]) -> Sum:
    fixed = sum(size for size in sizes if isinstance(size, int))
    each = sum(size.multiple for size in sizes if isinstance(size, dims.Batch))
    return Sum(Line(fixed, each), unknowns(sizes))


def _written(model: Model) -> Sum:
    return _sum([volume.values for volume in volumes(model)])


def _input(model: Model) -> Sum:
    return _sum([x.shape if isinstance(x.shape, Unknown) else dims.product(x.shape) for x in model.inputs])


def _weights(model: Model, trainable: bool) -> Sum:
    return _sum(
        [
            weight.shape if isinstance(weight.shape, Unknown) else dims.product(weight.shape)
            for weight in (model.asking(model.weights) if trainable else model.weights)
            if not weight.buffer
        ]
    )


def training_bytes(
    activations: int, parameters: int, input: int, batch: int, slots: int, each: int = 4
) -> tuple[int, int, int]:
    """Bytes of activations, of parameters, and of the input batch, for numbers of values (`each` bytes a value).

    `activations` and `input` are per sample. The sum of the three is what one training step needs.
    """
    return each * 2 * batch * activations, each * (2 + slots) * parameters, each * batch * input


def inference(model: Model, dtype: str = "float32") -> int:
    """Bytes of the forward pass of one image without gradients: activations and parameters."""
    return size_of(dtype) * (_written(model).line.at(1) + _weights(model, trainable=False).line.at(1))


def kept_by_own(model: Model, optimizer: Optimizer, dtype: str) -> int:
    """Bytes that an optimizer keeps whose own code was followed."""
    if not isinstance(optimizer.own, Update):
        return 0
    trained = [id(weight) for weight in model.asking(model.weights)]
    memory = Memory(Timeline(1), 1)
    lines = state_lines(memory, optimizer.own, trained, (half_of(dtype) and "float32") or dtype)
    weights = {id(weight): weight for weight in model.weights}
    for part in optimizer.own.parts:
        row, options = optimizers.lookup(part.optimizer, optimizers.TEXTBOOK)
        held = [weights[key] for key in trained if part.weights is None or key in part.weights]
        lines += [line_of(memory, weight, dtype) for weight in held] * optimizers.slots(row, options)
    return sum(line.fixed for line in lines)


def estimate(model: Model, training: Training, overhead: int) -> Estimate:
    """One training step by the textbook. What has no known size is not counted, and listed in `left_out`."""
    batch, dtype = training.batch_size.value, training.dtype.value
    row, options = optimizers.lookup(training.optimizer.value, optimizers.TEXTBOOK)
    written, given = _written(model), _input(model)
    all_weights, trained = _weights(model, trainable=False), _weights(model, trainable=True)

    value, master = size_of(half_of(dtype) or dtype), size_of(dtype)
    parameters, gradients = master * all_weights.line.fixed, master * trained.line.fixed
    cache = gradients * optimizers.slots(row, options) + kept_by_own(model, training.optimizer.value, dtype)
    total = Line(
        parameters + gradients + cache + value * (2 * written.line.fixed + given.line.fixed),
        value * (2 * written.line.each + given.line.each),
    )
    return Estimate(
        accounting="cs231n",
        batch_size=batch,
        parameters=parameters,
        gradients=gradients,
        optimizer=cache,
        activations=2 * value * written.line.at(batch),
        input=value * given.line.at(batch),
        overhead=overhead,
        total=total.at(batch) + overhead,
        left_out=tuple(
            dict.fromkeys(
                written.left_out
                + given.left_out
                + all_weights.left_out
                + optimizers.not_known(training.optimizer.value, optimizers.TEXTBOOK)
            )
        ),
        peaks=Formula(total),
    )
