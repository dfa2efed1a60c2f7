"""What `fit` compares: the targets that it is given, and what the model makes of its data.

After keras/src/losses/loss.py (`squeeze_or_expand_to_same_rank`) and keras/src/backend/tensorflow/nn.py. Where versions
of Keras differ (a size of 1 that one of them broadcasts), nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from flake8_cnnmem.dims import BATCH, Batch, Shape, Size, show
from flake8_cnnmem.frameworks.framework import Fit
from flake8_cnnmem.frameworks.keras.config_objects import LOSS
from flake8_cnnmem.frameworks.keras.fed import names_of, pairs, sized
from flake8_cnnmem.frameworks.keras.functional import Graph
from flake8_cnnmem.frameworks.keras.model_state import graph_of
from flake8_cnnmem.frameworks.keras.ops import losses
from flake8_cnnmem.frameworks.keras.ops.operands import apply
from flake8_cnnmem.frameworks.keras.session import tensors_in
from flake8_cnnmem.frameworks.keras.tracking import state_of
from flake8_cnnmem.frameworks.keras.version import version
from flake8_cnnmem.graph import Problem, Tensor
from flake8_cnnmem.ops import Loss
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.ops.loss import target_problem
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Native, Value

KINDS = {
    "binary_crossentropy": "bce",
    "binary_focal_crossentropy": "bce",
    "categorical_crossentropy": "categorical_crossentropy",
    "sparse_categorical_crossentropy": "sparse_categorical_crossentropy",
    **dict.fromkeys(
        (
            "mean_squared_error", "mse", "mean_absolute_error", "mae", "huber", "huber_loss", "kl_divergence", "kld",
            "kullback_leibler_divergence", "log_cosh", "logcosh", "poisson", "hinge", "squared_hinge",
            "categorical_focal_crossentropy",
        ),
        "mse",
    ),
}  # fmt: skip
"""The rule by which a loss takes its target, by the loss's name."""

CLASSES = ("categorical_crossentropy", "sparse_categorical_crossentropy")


def compare(run: Runtime, model: Instance, fit: Fit, given: Value) -> None:
    """Say it where the targets of a fit are of another size than the model's output."""
    graph, batch = graph_of(model), fit.batch
    target = batch[1] if given is None and isinstance(batch, tuple) and len(batch) > 1 else given
    if not isinstance(model.cls.find("compute_loss"), Native):
        return
    if graph is None:
        called = result_for(run, model, batch)
        if called is not None and isinstance(target, Tensor):
            compare_one(run, fit.loss, called, target, samples_of(fit))
        return
    outputs = [shaped(each, shape) for each, shape in zip(graph.flat_outputs, outputs_for(graph, batch), strict=True)]
    if len(outputs) == 1 and isinstance(target, Tensor):
        compare_one(run, fit.loss, outputs[0], target, samples_of(fit))
    elif len(outputs) > 1:
        compare_number(run, outputs, target)
        for at, (output, name) in enumerate(zip(outputs, names_of(run, graph.flat_outputs), strict=True)):
            own = part(target, at, name, len(outputs))
            if isinstance(own, Tensor):
                shared = fit.loss if isinstance(fit.loss, (str, Native, Instance)) else None
                compare_one(run, shared or part(fit.loss, at, name, len(outputs)), output, own, samples_of(fit))


def result_for(run: Runtime, model: Instance, batch: Value) -> Tensor | None:
    """The one tensor that a model without a graph of its own gave, when it was built for samples of a batch's sizes."""
    given = batch[0] if isinstance(batch, tuple) and batch else batch
    for node in reversed(state_of(run, model).nodes):
        own = node.inputs[0].shape if len(node.inputs) == 1 else None
        if isinstance(given, Tensor) and isinstance(given.shape, tuple) and isinstance(own, tuple):
            if own[:1] == (BATCH,) and own[1:] == given.shape[1:] and isinstance(node.result, Tensor):
                return node.result
    return None


def compare_number(run: Runtime, outputs: Sequence[Tensor], target: Value) -> None:
    """Say it where a model of several outputs is given targets of another number (`pack_sequence_as` in
    keras/src/trainers/compile_utils.py)."""
    given = list(target) if isinstance(target, (list, tuple)) else []
    if given and len(given) != len(outputs) and all(isinstance(each, Tensor) for each in given):
        what = f"takes targets for {len(outputs)} outputs, but is given {len(given)}"
        apply(run, Refused(Problem("CNM201", what, error="ValueError")), *outputs, function="fit")


def outputs_for(graph: Graph, batch: Value) -> list[Shape | Unknown]:
    """The shapes of a model's outputs for this batch: an input may leave sizes open."""
    given = batch[0] if isinstance(batch, tuple) and len(batch) > 1 else batch
    parts = list(given) if isinstance(given, (list, tuple)) else [given]
    alike = len(parts) == len(graph.flat_inputs)
    fed = pairs(graph.flat_inputs, parts) if alike else ()
    shapes = {id(own): (BATCH, *each.shape[1:]) for own, each in fed if isinstance(each.shape, tuple)}
    open_ = any(sizes_of(each) is None for each in graph.flat_outputs)
    return sized(graph.flat_outputs, shapes) if open_ else [each.shape for each in graph.flat_outputs]


def shaped(output: Tensor, shape: Shape | Unknown) -> Tensor:
    """An output, of this shape."""
    return output if shape is output.shape else replace(output, shape=shape)


def part(value: Value, at: int, name: str, count: int) -> Value:
    """What one of several outputs is told: by its name, or by its place."""
    if isinstance(value, dict):
        return value.get(name)
    return value[at] if isinstance(value, (list, tuple)) and len(value) == count else None


def samples_of(fit: Fit) -> Size:
    """How many samples the first batch of a fit has."""
    inputs = tensors_in(fit.batch)[:1]
    drawn = [each.shape[0] for each in inputs if isinstance(each.shape, tuple) and each.shape]
    stated = (fit.batch_size, fit.usual, *drawn)
    return next((size for size in stated if type(size) is int), BATCH)


def compare_one(run: Runtime, said: Value, output: Tensor, target: Tensor, samples: Size) -> None:
    """Say it where a loss does not take this target for this output, in a batch of so many samples."""
    loss = loss_name(said)
    kind = KINDS.get(loss or "")
    if kind is None or not isinstance(output.shape, tuple):
        return
    wanted, found = sizes_of(output), sizes_of(target)
    if wanted is None or found is None:
        return
    if kind not in CLASSES and not version(run) and len(wanted) != len(found):
        if ranks_differ(kind, wanted, found, samples):
            what = f"takes a target of {show((BATCH, *wanted))}, but is given {show((BATCH, *found))}"
            apply(run, Refused(Problem("CNM201", what, error="ValueError")), output, function=loss or kind)
        return
    if not may_accuse(kind, wanted, found, not version(run)):
        return
    labels = Tensor((BATCH, *found), target.dtype, framework="keras")
    # Samples joined behind samples are several times as many; a batch that the input states counts for nothing.
    lead = output.shape[0] if isinstance(output.shape[0], Batch) else BATCH
    if target_problem(kind, (lead, *wanted), (BATCH, *found)) is not None:
        apply(run, Loss(kind), output, labels, function=loss or kind)


def ranks_differ(kind: str, wanted: Shape, found: Shape, samples: Size) -> bool:
    """Whether Keras 3 refuses a target of another rank than the output's.

    A last axis of one value is taken off, or put behind samples without axes, where ranks differ by one
    (`squeeze_or_expand_to_same_rank` in keras/src/losses/loss.py). Then the binary crossentropy compares shapes, and
    the others broadcast: the batch against another axis, which fits where that happens to be as large.
    """
    longer, shorter = (wanted, found) if len(wanted) > len(found) else (found, wanted)
    if len(longer) == len(shorter) + 1 and longer[-1] == 1:
        longer = longer[:-1] if shorter else longer
        shorter = shorter if shorter else (1,)
    if kind == "bce":
        return longer != shorter
    sizes = zip(reversed((samples, *longer)), reversed((samples, *shorter)), strict=False)
    return any(isinstance(a, int) and isinstance(b, int) and a != b and 1 not in (a, b) for a, b in sizes)


def may_accuse(kind: str, wanted: Shape, found: Shape, newest: bool) -> bool:
    """Whether the version that the program is counted for refuses the two, if their shapes are refused at all. The
    binary crossentropy broadcasts before Keras 3, and compares shapes since (`binary_crossentropy` in
    keras/src/backend/tensorflow/nn.py)."""
    if kind in CLASSES or (kind == "bce" and found in ((), (1,)) and len(wanted) == 1 and wanted != (1,)):
        return True
    if kind == "bce" and newest and len(wanted) == len(found):
        return True
    return len(wanted) == len(found) and all(a == b or 1 not in (a, b) for a, b in zip(wanted, found, strict=True))


def sizes_of(tensor: Tensor) -> Shape | None:
    """The sizes of a sample, where all are known."""
    shape = tensor.shape
    if not isinstance(shape, tuple) or not shape or not all(isinstance(size, int) for size in shape[1:]):
        return None
    return shape[1:]


def loss_name(loss: Value) -> str | None:
    """A loss by the name of its function: as a text, a function or an object of Keras' own."""
    if isinstance(loss, Native):
        loss = loss.name
    elif isinstance(loss, Instance) and loss.cls.derives_from(LOSS) and loss.cls.site is None:
        loss = loss.cls.name
    if not isinstance(loss, str):
        return None
    plain = loss.replace("_", "").lower()
    return next((word for word in losses.LOSSES if word.replace("_", "") == plain), losses.ALIASES.get(plain))
