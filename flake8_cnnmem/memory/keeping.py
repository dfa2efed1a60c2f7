"""What an op leaves on the tape: the storages that its row says it keeps, and its backward's temporaries."""

from __future__ import annotations

from collections.abc import Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.rules import Kept, New, Row
from flake8_cnnmem.graph import Call
from flake8_cnnmem.memory.estimate import Line
from flake8_cnnmem.memory.measures import quantity
from flake8_cnnmem.memory.placing import is_in_place, is_view
from flake8_cnnmem.memory.storages import Memory, Value
from flake8_cnnmem.memory.tape import Node, Operand
from flake8_cnnmem.unknown import Unknown

Keyed = tuple[int, Value]
"""A value with the key under which its gradient is asked for."""


def lines_of(memory: Memory, wanted: Sequence[New], call: Call, inputs: Sequence[Value], each: int) -> list[Line]:
    """The sizes of tensors that a row names; `each` are the bytes of a value that the row leaves open."""
    shape = call.outputs[0].shape
    output = shape if isinstance(shape, Unknown) else dims.product(shape)
    return [
        memory.line(quantity(new.of, call, inputs, output), new.bytes or each)
        for new in wanted
        for _ in range(new.times)
    ]


def node_of(
    memory: Memory,
    call: Call,
    row: Row,
    operands: Sequence[Keyed],
    weights: Sequence[Keyed],
    inputs: Sequence[Value],
    results: Sequence[Value],
    each: int,
) -> Node:
    """The op's node, holding what its row says it keeps. `inputs` are the operands as the op reads them."""
    node = Node(
        call,
        row,
        tuple(Operand(key, value) for key, value in (*operands, *weights)),
        tuple((id(tensor), value) for tensor, value in zip(call.outputs, results, strict=True)),
        kind="view" if is_view(call, row) else "op",
    )
    in_place = is_in_place(call)
    keeps = row.in_place if in_place and row.in_place is not None else row.keeps
    for kept in keeps:
        if isinstance(kept.what, New):
            if applies(kept, None, inputs, weights):
                lines = lines_of(memory, [kept.what], call, inputs, each)
                node.saved += [memory.keep_new(line) for line in lines]
        elif kept.what[0] == "y":
            at = int(kept.what[1:] or 0)
            node.saved += [memory.keep(value.storage) for value in results[at : at + 1]]
        elif kept.what == "positions":
            # The second result, where the op has one, is what is kept.
            own = lines_of(memory, [New("y", 8)], call, inputs, each)[0]
            node.saved.append(memory.keep(results[1].storage) if len(results) > 1 else memory.keep_new(own))
        else:
            for place in places(kept.what, len(inputs)):
                if not applies(kept, place, inputs, weights):
                    continue
                # The result overwrites the input: a clone of it is kept.
                overwritten = in_place and place == 0
                storage = inputs[place].storage
                node.saved.append(memory.keep_new(storage.line) if overwritten else memory.keep(storage))
    if row.weights and (row.weights != "needed" or any(value.grad for value in inputs)):
        read = weights if row.weights == "all" else weights[:1]
        node.saved += [memory.keep(value.storage) for _, value in read]
    node.temporaries = tuple(lines_of(memory, row.backward, call, inputs, each))
    return node


def places(what: str, number: int) -> list[int]:
    """The places of the inputs that "inputs", "x" or "x1" stands for."""
    wanted = list(range(number)) if what == "inputs" else [int(what[1:] or 0)]
    return [place for place in wanted if place < number]


HALVES = ("float16", "bfloat16")


def applies(kept: Kept, place: int | None, inputs: Sequence[Value], weights: Sequence[Keyed]) -> bool:
    """Whether a row's condition holds for what is at `place` of the inputs."""
    trained = any(value.grad for _, value in weights)
    if kept.when == "weight":
        return trained or any(value.grad and value.weight is not None for value in inputs)
    if kept.when == "others":
        return trained or any(value.grad for at, value in enumerate(inputs) if at != place)
    if kept.when == "half":
        return bool(inputs) and inputs[0].dtype in HALVES
    return True
