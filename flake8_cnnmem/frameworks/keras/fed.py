"""What `fit` is given for the inputs that a model declares.

After keras/src/models/functional.py (`_adjust_input_rank`) and keras/src/layers/input_spec.py: as many axes, or one of
a single value more or less, and the sizes that the input states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem.dims import BATCH, Shape, same, show
from flake8_cnnmem.frameworks.framework import Fit
from flake8_cnnmem.frameworks.keras.model_state import graph_of
from flake8_cnnmem.frameworks.keras.ops.operands import apply
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.graph import Mismatch, Problem, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.values import Instance, Runtime, Value


@dataclass(frozen=True, slots=True)
class Fed(Weightless):
    """A batch, and the input that it is given for: the batch itself, if it fits."""

    kind = "identity"
    declares = False

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape. Mismatch for samples of other sizes."""
        if refused(inputs[1][1:], inputs[0][1:]):
            what = f"takes samples of {show(inputs[1][1:])}, but is given samples of {show(inputs[0][1:])}"
            raise Mismatch(Problem("CNM201", what, error="ValueError"), inputs[1:2])
        return (inputs[0],)


def refused(wanted: Shape, given: Shape) -> bool:
    """Whether an input surely does not take samples of these sizes."""
    if len(given) == len(wanted):
        return any(same(own, size) is False for own, size in zip(wanted, given, strict=True))
    if len(given) == len(wanted) + 1:
        return same(given[-1], 1) is False
    if len(given) == len(wanted) - 1:
        return same(wanted[-1], 1) is False
    return True


def compare_inputs(run: Runtime, model: Instance, fit: Fit) -> None:
    """Say it where the data of a fit are samples of other sizes than the model's inputs declare."""
    graph = graph_of(model)
    if graph is None:
        return
    data = fit.batch[0] if isinstance(fit.batch, tuple) and fit.batch else fit.batch
    own = list(graph.flat_inputs)
    given = list(data) if isinstance(data, (list, tuple)) else [data]
    if len(own) != len(given):
        return
    for declared, tensor in pairs(own, given):
        samples = tensor.shape[1:] if isinstance(tensor.shape, tuple) else ()
        wanted = declared.shape[1:] if isinstance(declared.shape, tuple) else ()
        if not all(isinstance(size, int) for size in samples) or not refused(wanted, samples):
            continue
        found = session_of(run).node_of(declared)
        layer = found[0].operation if found is not None else None
        with run.enter(model):
            fed = Tensor((BATCH, *samples), tensor.dtype, framework="keras")
            asked = Tensor((BATCH, *wanted), declared.dtype, framework="keras")
            asked.site = layer.site if isinstance(layer, Instance) else None
            apply(run, Fed(), fed, asked, function="fit")


def pairs(own: Sequence[Tensor], given: Sequence[Value]) -> Iterator[tuple[Tensor, Tensor]]:
    """The inputs with what they are given, where the shapes of both are known."""
    for declared, tensor in zip(own, given, strict=True):
        if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and tensor.shape and declared.shape:
            yield declared, tensor
