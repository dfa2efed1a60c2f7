"""What `fit` is given for the inputs that a model declares.

After keras/src/models/functional.py (`_adjust_input_rank`, `input_spec`): as many axes, or one of a single value more
or less, and the sizes that the input states. A Sequential leaves sizes to its layers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.dims import BATCH, Batch, Shape, same, show
from flake8_cnnmem.frameworks.keras.batches import is_source
from flake8_cnnmem.frameworks.keras.model_state import graph_of
from flake8_cnnmem.frameworks.keras.ops.operands import apply
from flake8_cnnmem.frameworks.keras.session import LayerState, Session, session_of, tensors_in
from flake8_cnnmem.frameworks.keras.version import version
from flake8_cnnmem.graph import Mismatch, Op, Problem, Tensor, calls_behind
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.frameworks.keras.functional import Graph


@dataclass(frozen=True, slots=True)
class Fed(Weightless):
    """A batch, and the input that it is given for: the batch itself, if it fits."""

    kind = "identity"
    hands_on = True
    declares = False

    def outputs(self, *inputs: Shape) -> tuple[Shape]:
        """The input's shape. Mismatch for samples of other sizes."""
        if refused(inputs[1][1:], inputs[0][1:]):
            what = f"takes samples of {show(inputs[1][1:])}, but is given samples of {show(inputs[0][1:])}"
            raise Mismatch(Problem("CNM201", what, error="ValueError"), inputs[1:2])
        return (inputs[0],)


def refused(wanted: Shape, given: Shape) -> bool:
    """Whether an input surely does not take samples of these sizes."""
    given = adjusted(given, wanted)
    if len(given) != len(wanted):
        return True
    return any(same(own, size) is False for own, size in zip(wanted, given, strict=True))


def adjusted(given: Shape, wanted: Shape) -> Shape:
    """The sizes of samples with the last axis of a single value more or less that the input has."""
    if len(given) == len(wanted) + 1 and same(given[-1], 1) is not False:
        return given[:-1]
    return (*given, 1) if len(given) == len(wanted) - 1 and same(wanted[-1], 1) is not False else given


def refused_inside(outputs: Sequence[Tensor], declared: Tensor, given: Shape) -> bool:
    """Whether a layer on the way refuses what comes of a batch of this shape: an op does, or its weights would be of
    other sizes than those that it has."""
    shapes: dict[int, Shape] = {id(declared): given}
    for call in calls_behind(outputs):
        before = [tensor.shape for tensor in call.inputs]
        now = [shapes.get(id(tensor), tensor.shape) for tensor in call.inputs]
        if now == before:
            continue
        known = [shape for shape in (*before, *now) if not isinstance(shape, Unknown)]
        if len(known) < 2 * len(before):
            return False
        old, new = known[: len(before)], known[len(before) :]
        try:
            results = call.op.outputs(*new)
            if sizes_of_weights(call.op, new) != sizes_of_weights(call.op, old):
                return True
        except Mismatch:
            return True
        for tensor, shape in zip(call.outputs, results, strict=False):
            if isinstance(shape, Unknown):
                return False
            shapes[id(tensor)] = shape
    return False


def sized(outputs: Sequence[Tensor], shapes: dict[int, Shape]) -> list[Shape | Unknown]:
    """The shapes that outputs have where tensors before them (by id) have these ones, as far as the ops between say."""
    found: dict[int, Shape | Unknown] = dict(shapes)
    for call in calls_behind(outputs):
        known = [shape for each in call.inputs if isinstance(shape := found.get(id(each), each.shape), tuple)]
        if len(known) < len(call.inputs) or not any(id(each) in found for each in call.inputs):
            continue
        try:
            found.update({id(each): new for each, new in zip(call.outputs, call.op.outputs(*known), strict=False)})
        except Mismatch:
            continue
    return [found.get(id(each), each.shape) for each in outputs]


def compare_called(run: Runtime, graph: Graph, given: Sequence[Value]) -> None:
    """Say it where a functional model is called on tensors of other sizes than its inputs state.

    It is held to them (`assert_input_compatibility` in keras/src/layers/input_spec.py, with
    `allow_last_axis_squeeze`), whatever the layers behind it would take. Earlier versions than Keras 3 only warn."""
    own, session = graph.flat_inputs, session_of(run)
    if len(own) != len(given) or version(run):
        return
    if not all(isinstance(each, Tensor) and session.node_of(each) is not None for each in given):
        return
    for declared, tensor in pairs(own, given):
        assert isinstance(tensor.shape, tuple)
        assert isinstance(declared.shape, tuple)
        wanted, sizes = (squeezed(shape[1:]) for shape in (declared.shape, tensor.shape))
        if not any(same(size, other) is False for size, other in zip(wanted, sizes, strict=False)):
            continue
        if not refused_inside(graph.flat_outputs, declared, tensor.shape):
            apply(run, Fed(), tensor, declared, function="call")


def compare_stack(run: Runtime, graph: Graph, given: Sequence[Value]) -> None:
    """Say it where a Sequential is called on another model's symbolic tensors, of other sizes than its input states: it
    asks the functional model that it is made of what comes out (`Sequential.compute_output_spec`). Called on values,
    it runs its layers and compares nothing."""
    session = session_of(run)
    if session.depth == 1 and all(isinstance(each, Tensor) and is_symbolic(session, each) for each in given):
        compare_number_called(run, graph, given)
        compare_called(run, graph, given)


def compare_number_called(run: Runtime, graph: Graph, given: Value, method: str = "call") -> None:
    """Say it where a model is called on another number of tensors than it has inputs. What a dict has beside them is
    passed over, and so is a call of a model of the code's own on one input that nobody has stated."""
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    if method == "call" and len(found) == 1 and is_stand_in(session_of(run), found[0]):
        return
    count = len(graph.flat_inputs)
    if len(found) != count and all(isinstance(each, Tensor) for each in found):
        what = f"takes {count} input{'' if count == 1 else 's'}, but is given {len(found)}"
        apply(run, Refused(Problem("CNM201", what, error="ValueError")), *found, function=method)


def is_stand_in(session: Session, value: Value) -> bool:
    """Whether a value stands for what a model may be called on: no op has made it, it has no batch of its own, and no
    Input of the code's own that it is called on directly."""
    if not isinstance(value, Tensor) or value.call is not None:
        return False
    if is_symbolic(session, value):
        return session.depth > 1
    return isinstance(value.shape, Unknown) or isinstance((*value.shape, 0)[0], Batch)


def is_symbolic(session: Session, tensor: Tensor) -> bool:
    """Whether an Input leads to a tensor: then it has no values yet."""
    waiting, seen = [tensor], set[int]()
    while waiting:
        found = session.node_of(waiting.pop())
        if found is None or id(found[0]) in seen:
            continue
        if found[0].is_input:
            return True
        seen.add(id(found[0]))
        waiting.extend(found[0].inputs)
    return False


def squeezed(sizes: Shape) -> Shape:
    """Without a last axis of one value."""
    return sizes[:-1] if sizes[-1:] == (1,) else sizes


def sizes_of_weights(op: Op, shapes: Sequence[Shape]) -> list[Shape]:
    """The shapes of the weights that an op has for inputs of these shapes."""
    return [spec.shape for spec in op.weights(*shapes).values()]


def compare_inputs(run: Runtime, model: Instance, data: Value, method: str = "fit") -> None:
    """Say it where what a model's method is given are samples of other sizes than its inputs declare."""
    from flake8_cnnmem.frameworks.keras.sequential import SEQUENTIAL

    graph = graph_of(model)
    if graph is None:
        return
    own = list(graph.flat_inputs)
    given = list(data) if isinstance(data, (list, tuple)) else [data]
    if isinstance(data, dict):
        given = [data.get(name) for name in names_of(run, own)]
    if len(own) != len(given):
        if not model.cls.derives_from(SEQUENTIAL):
            # A Sequential warns, and takes the first ones.
            with run.enter(model):
                compare_number_called(run, graph, given, method)
        return
    for declared, tensor in pairs(own, given):
        samples = tensor.shape[1:] if isinstance(tensor.shape, tuple) else ()
        wanted = declared.shape[1:] if isinstance(declared.shape, tuple) else ()
        samples = adjusted(samples, wanted)
        if not all(isinstance(size, int) for size in samples) or not refused(wanted, samples):
            continue
        if len(samples) == len(wanted) and model.cls.derives_from(SEQUENTIAL):
            if not refused_inside(graph.flat_outputs, declared, (BATCH, *samples)):
                continue
        found = session_of(run).node_of(declared)
        layer = found[0].operation if found is not None else None
        with run.enter(model):
            fed = Tensor((BATCH, *samples), tensor.dtype, framework="keras")
            asked = Tensor((BATCH, *wanted), declared.dtype, framework="keras")
            asked.site = layer.site if isinstance(layer, Instance) else None
            apply(run, Fed(), fed, asked, function=method)


def names_of(run: Runtime, tensors: Sequence[Tensor]) -> list[str]:
    """The names of the layers that give a model's inputs or outputs, "" where one is not known."""
    nodes = [session_of(run).node_of(each) for each in tensors]
    layers = [node[0].operation if node is not None else None for node in nodes]
    states = [each.native if isinstance(each, Instance) else None for each in layers]
    return [each.name if isinstance(each, LayerState) else "" for each in states]


def compare_counts(run: Runtime, model: Instance, data: Value, targets: Value, method: str = "fit") -> None:
    """Say it where the arrays of a fit have other numbers of samples than its targets."""
    known = [
        each
        for each in (*tensors_in(data), *tensors_in(targets))
        if isinstance(each.shape, tuple) and each.shape and isinstance(each.shape[0], int)
    ]
    other = next((each for each in known if each.shape[0] != known[0].shape[0]), None)  # type: ignore[index]
    if other is None or is_source(data) or targets is None:
        return
    sizes = [each.shape[0] for each in (known[0], other)]  # type: ignore[index]
    what = f"takes arrays of as many samples, but is given {sizes[0]} and {sizes[1]}"
    with run.enter(model):
        apply(run, Refused(Problem("CNM201", what, error="ValueError")), known[0], other, function=method)


def pairs(own: Sequence[Tensor], given: Sequence[Value]) -> Iterator[tuple[Tensor, Tensor]]:
    """The inputs with what they are given, where the shapes of both are known."""
    for declared, tensor in zip(own, given, strict=True):
        if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and tensor.shape and declared.shape:
            yield declared, tensor
