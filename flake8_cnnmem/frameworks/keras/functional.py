"""The graph between a model's inputs and outputs: recovered from nodes, ordered as Keras orders it, run anew.

After `map_graph` in keras/src/ops/function.py, without its recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from flake8_cnnmem.frameworks.keras.inputs import is_input_layer
from flake8_cnnmem.frameworks.keras.layer import call_layer
from flake8_cnnmem.frameworks.keras.session import LayerState, Node, Session, map_structure, session_of, tensors_in
from flake8_cnnmem.frameworks.keras.tracking import LAYER
from flake8_cnnmem.frameworks.keras.version import is_of_2
from flake8_cnnmem.graph import Call, Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Native, Value


@dataclass(slots=True, eq=False)
class Graph:
    """What a functional model is made of. `nodes` are in the order in which the code made them."""

    inputs: Value
    outputs: Value
    flat_inputs: list[Tensor]
    flat_outputs: list[Tensor]
    nodes: list[Node]
    layers: list[Instance]

    @property
    def other_input(self) -> Tensor | None:
        """An input layer's tensor that an output needs and that is none of the model's inputs."""
        known = {id(tensor) for tensor in self.flat_inputs}
        fed = {id(each) for node in self.nodes if not node.is_input for each in node.inputs}
        made = (node for node in self.nodes if node.is_input and is_input_layer(node.operation))
        return next((each for node in made for each in node.outputs if id(each) not in known and id(each) in fed), None)

    @property
    def is_whole(self) -> bool:
        """Whether every output is led to by an input. What is not followed breaks the way off: a model without it
        would be another one."""
        known = {id(tensor) for tensor in self.flat_inputs}
        known.update(id(tensor) for node in self.nodes for tensor in node.outputs)
        return all(id(tensor) in known for tensor in self.flat_outputs)


def trace(run: Runtime, inputs: Value, outputs: Value) -> Graph:
    """The graph behind these outputs, as far back as these inputs."""
    session = session_of(run)
    flat_inputs, flat_outputs = tensors_in(inputs), tensors_in(outputs)
    given = {id(tensor) for tensor in flat_inputs}
    finished: set[int] = set()
    ordered: list[Node] = []
    first_seen: dict[int, int] = {}
    for output in flat_outputs:
        visit(session, output, given, finished, ordered, first_seen)
    for tensor in flat_inputs:
        # an input that no output needs is a layer of the model all the same
        found = session.node_of(tensor)
        if found is not None and found[0].is_input and id(found[0]) not in finished:
            finished.add(id(found[0]))
            ordered.insert(0, found[0])
            first_seen.setdefault(id(found[0].operation), -1)
    ordered = symbolic(session, ordered, given)
    computed = {node.operation.number for node in ordered if isinstance(node.operation, Call)}
    session.older |= not computed.isdisjoint(session.tensorflows)
    layers = sorted_layers(session, ordered, first_seen, op_layer if is_of_2(run) else None)
    refuse_twice(layers)
    return Graph(inputs, outputs, flat_inputs, flat_outputs, sorted(ordered, key=place_of), layers)


def refuse_twice(layers: Sequence[Instance]) -> None:
    """ValueError for layers of one name: a model finds its layers by it. One may be there twice."""
    names = [layer.native.name for layer in {id(layer): layer for layer in layers}.values()]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ValueError(f'The name "{twice}" is used {names.count(twice)} times in the model')


def symbolic(session: Session, ordered: list[Node], given: set[int]) -> list[Node]:
    """The nodes that an input leads to. Keras makes nodes of calls on symbolic tensors alone (`Operation.__call__` in
    keras/src/ops/operation.py): what a layer gives for `tf.range(length)` is a value, and the layer none of the
    model's. `ordered` has what a node needs before it."""
    found: list[Node] = []
    led_to: set[int] = set()
    for node in ordered:
        parents = (session.node_of(tensor) for tensor in node.inputs)
        if (
            node.is_input
            or any(id(tensor) in given for tensor in node.inputs)
            or any(parent is not None and id(parent[0]) in led_to for parent in parents)
        ):
            led_to.add(id(node))
            found.append(node)
        else:
            for tensor in node.outputs:
                tensor.call = None
    return found


def place_of(node: Node) -> int:
    """When a node was made: the number of its last call."""
    return max((tensor.call.number for tensor in node.outputs if tensor.call is not None), default=-1)


def visit(
    session: Session,
    output: Tensor,
    given: set[int],
    finished: set[int],
    ordered: list[Node],
    first_seen: dict[int, int],
) -> None:
    """Depth first from one output; a node is entered in `ordered` after all that it needs."""
    path: list[tuple[Node, Iterator[Tensor]]] = []

    def enter(tensor: Tensor) -> None:
        found = session.node_of(tensor)
        if found is None or id(found[0]) in finished:
            return
        node = found[0]
        if not node.is_input and id(tensor) in given:
            finished.add(id(node))
            return
        first_seen.setdefault(id(node.operation), len(first_seen))
        finished.add(id(node))
        path.append((node, iter(node.inputs)))

    enter(output)
    while path:
        node, waiting = path[-1]
        following = next(waiting, None)
        if following is None:
            path.pop()
            ordered.append(node)
        else:
            enter(following)


def op_layer(session: Session, node: Node) -> Instance | None:
    """The layer that Keras 2 makes of an operator or a function outside of any layer, on a model's tensors (TFOpLambda
    of tf_keras/src/layers/core/tf_op_layer.py); None for a part of a function."""
    call = node.operation
    if isinstance(call, Instance) or call.number in session.parts_of_functions:
        return None
    if call.number in session.op_layers:
        return session.op_layers[call.number]
    layer = session.op_layers[call.number] = Instance(OP_LAYER)
    layer.native = LayerState(session.unique_name(f"tf.{call.function or call.op.kind}"), built=True, nodes=[node])
    return layer


OP_LAYER = Class("TFOpLambda", (LAYER,), module="keras.layers")


def sorted_layers(
    session: Session,
    ordered: list[Node],
    first_seen: dict[int, int],
    of_op: Callable[[Session, Node], Instance | None] | None,
) -> list[Instance]:
    """Layers by decreasing depth (the longest way to an output), then in the order in which they were first met.
    `of_op` makes a layer of what is computed outside of any, in a version that counts it as one."""
    inside = {id(node) for node in ordered}
    node_depths: dict[int, int] = {}
    depths: dict[int, int] = {}
    operations: dict[int, Instance] = {}
    for node in reversed(ordered):
        depth = max(node_depths.setdefault(id(node), 0), depths.get(id(node.operation), 0))
        depths[id(node.operation)] = node_depths[id(node)] = depth
        if isinstance(node.operation, Instance):
            operations[id(node.operation)] = node.operation
        elif of_op is not None and (made := of_op(session, node)) is not None:
            operations[id(node.operation)] = made
        for tensor in node.inputs:
            found = session.node_of(tensor)
            if found is not None and id(found[0]) in inside:
                parent = id(found[0])
                node_depths[parent] = max(depth + 1, node_depths.get(parent, 0))
    order = sorted(operations, key=lambda key: (-depths[key], first_seen.get(key, -1)))
    return [operations[key] for key in order]


AGAIN_STEPS = 20
"""What a layer inside a model that is called costs beside what it computes: models may stand inside one another."""


def replay(
    run: Runtime, graph: Graph, inputs: Sequence[Value], renew: Callable[[Instance], Value] | None = None
) -> Value:
    """Run the graph on other inputs: every layer and operator is called again.

    `renew` gives the layer to call in place of another (cloning).
    """
    known: dict[int, Value] = {id(old): new for old, new in zip(graph.flat_inputs, inputs, strict=False)}

    def renewed(leaf: Value) -> Value:
        return known.get(id(leaf), leaf) if isinstance(leaf, Tensor) else leaf

    for node in graph.nodes:
        if node.is_input or all(id(tensor) in known for tensor in node.outputs):
            continue
        operation = node.operation
        run.spend(AGAIN_STEPS)
        if isinstance(operation, Call):
            result = run.apply(
                operation.op,
                *(renewed(tensor) for tensor in operation.inputs),
                weights=operation.weights,
                function=operation.function,
                dtypes=[tensor.dtype for tensor in operation.outputs],
                framework="keras",
            )
        else:
            args = map_structure(renewed, node.arguments)
            options = map_structure(renewed, node.options)
            result = invoke(run, operation if renew is None else renew(operation), args, options)
        new = tensors_in(result)
        if len(new) == len(node.outputs):
            known.update({id(old): tensor for old, tensor in zip(node.outputs, new, strict=True)})
        else:
            known.update({id(old): result for old in node.outputs})
    return map_structure(renewed, graph.outputs)


def invoke(run: Runtime, layer: Value, args: tuple[Value, ...], options: dict[str, Value]) -> Value:
    """A call of a layer on other inputs."""
    if isinstance(layer, Instance) and isinstance(layer.cls.find("__call__"), Native):
        return call_layer(run, layer, *args, **options)
    return run.call(layer, *args, **options)
