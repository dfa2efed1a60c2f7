"""One training step as the framework really spends it: the replay of a graph, for any batch size.

zero_grad to None, forward in train mode, loss, backward, optimizer step, in the steady state (the optimizer's
state is there already). The step's order and what each op holds are the framework's `Rules`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.rules import Rules
from flake8_cnnmem.graph import Model, Tensor, Weight
from flake8_cnnmem.memory import optimizers
from flake8_cnnmem.memory.attribution import keeping
from flake8_cnnmem.memory.autocast import Autocast
from flake8_cnnmem.memory.backward import Backward
from flake8_cnnmem.memory.chips import ASSUMED, Chip
from flake8_cnnmem.memory.common_subexpressions import merged
from flake8_cnnmem.memory.dtypes import is_floating, resolve
from flake8_cnnmem.memory.engine_order import as_ready
from flake8_cnnmem.memory.estimate import Estimate, Line
from flake8_cnnmem.memory.forward import Forward
from flake8_cnnmem.memory.in_flight import InFlight
from flake8_cnnmem.memory.losses import add_losses
from flake8_cnnmem.memory.optimizer_step import GraphUpdates, Stepping, state
from flake8_cnnmem.memory.replay_result import Replayed
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.memory.tape import Entry, steps_of
from flake8_cnnmem.memory.timeline import Timeline
from flake8_cnnmem.ops import strides as layout
from flake8_cnnmem.training import Training
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance


def rules_of(framework: str) -> Rules:
    """The rules of a framework's own default backend. Only those that are asked for are loaded."""
    return frameworks.named(framework).rules()


def estimate(
    model: Model, training: Training, overhead: int, rules: Rules | None = None, chip: Chip = ASSUMED
) -> Estimate:
    """Replay one step of the model. What has no known size is not counted, and listed in `left_out`.

    `total` and `tensor_peak` are exact at the training's batch size, every tensor rounded up to the
    allocator's block; the largest batch is found with the same exact figures. `rules` are those of a build that figures
    were measured on, in the place of the backend's.
    """
    lowered = frameworks.named(model.framework).lower(model)
    model, rules = lowered.model, rules or lowered.rules
    if rules.merges_equal:
        calls, results = merged(model.calls, model.outputs)
        model = replace(model, calls=tuple(calls), outputs=results)
    found = replay(model, training, rules, chip).estimate(training, overhead)
    causes = [cause for cause in (lowered.cause, of_order(model, training, rules, chip, found)) if cause is not None]
    return replace(found, left_out=(*found.left_out, *causes)) if causes else found


def of_order(model: Model, training: Training, rules: Rules, chip: Chip, found: Estimate) -> Unknown | None:
    """Why a peak is the lower or the higher of two, where the order of independent ops decides it."""
    other = rules.other_order
    if other is None:
        return None
    rows = MappingProxyType({**rules.rows, **other.rows})
    rules = replace(rules, rows=rows, optimizers=other.optimizers, op_by_op=True)
    peak = replay(model, training, rules, chip).timeline.peak(training.batch_size.value)
    more = peak - (found.tensor_peak or 0)
    if abs(more) <= max(other.margin * peak, other.blocks * rules.alignment):
        return None
    return Unknown(f"{other.cause}: counted is one that needs {'less' if more > 0 else 'more'}", upper=more < 0)


def replay(model: Model, training: Training, rules: Rules, chip: Chip = ASSUMED) -> Replayed:
    """One step of the model, by these rules, on this chip."""
    batch, dtype = training.batch_size.value, training.dtype.value
    memory = Memory(Timeline(rules.alignment, dict(model.paths)), max(1, batch), chip if rules.by_chip else None)
    weights = weights_in_memory(model, memory, dtype)
    stepping = Stepping(training.optimizer.value, rules.optimizers)
    row, options = optimizers.lookup(stepping.optimizer, stepping.table)
    if any(kind.startswith("embedding/") for kind in rules.rows) and learns_rows(model, weights):
        rules = with_rows(rules, model, row, options)
        if dtype.startswith("mixed"):
            memory.left_out.setdefault(ROWS)
        elif not row.rows and stepping.optimizer.known:
            memory.left_out.setdefault(
                Unknown(f"what {stepping.optimizer.name} makes of the rows of an Embedding's gradient is not counted")
            )
    forward = Forward(memory, rules, dtype, weights, Autocast(memory, rules), longer=model.held)
    losses = (
        []
        if model.goes_back
        else add_losses(model, training.loss.value, training.loss.source != "default", training.losses)
    )
    given = [*model.inputs, *(target for _, target in losses)]
    for tensor in given:
        use = "input" if tensor in model.inputs else "kept"
        value = memory.new(tensor.shape, resolve(tensor.dtype, dtype), use=use)
        value.grad = tensor.requires_grad
        forward.values[id(tensor)] = value
    own = {id(value.storage) for value in weights.values()}
    given_in = {id(forward.values[id(tensor)].storage) for tensor in model.inputs}

    backward = Backward(memory, rules, forward)
    for key, value in resident(model, memory, weights, rules.optimizers).items():
        # The step clears those of its own weights before its backward pass.
        if key in weights and weights[key].grad:
            memory.release(value.storage)
        else:
            backward.finished[key] = value
    if rules.step == "graph" and dtype == "mixed_float16":
        # Keras puts a LossScaleOptimizer around the optimizer of a model that is compiled under this policy.
        options["loss_scale"] = True
    graph = GraphUpdates(memory, row, options, InFlight(memory)) if rules.step == "graph" else None
    if graph is not None:
        backward.in_flight = graph.in_flight
        graph.begin(weights)
        backward.on_weight = graph.update

    trained = [value for value in weights.values() if value.grad and rules.trainer]
    before = [memory.allocate(value.storage.line, "gradients") for value in trained]
    # In their order: what is let go of first decides which place the allocator fills next.
    outputs = dict.fromkeys(map(id, model.outputs))
    forward.run(steps_of(model.calls), outputs)
    for storage in before:
        memory.release(storage)
    kept = keeping(forward.tape, own | given_in)
    saved = sum(line.at(batch) for _, line in keeping(forward.tape, own))
    if rules.trainer or not rules.eager:
        # A trainer, or who feeds a graph, holds the batch whatever the ops keep.
        saved = sum(line.at(batch) for _, line in kept)
        saved += sum(forward.values[id(tensor)].storage.line.at(batch) for tensor in model.inputs)

    chosen = outputs if model.goes_back else dict.fromkeys(id(call.inputs[0]) for call, _ in losses)
    for key in outputs:
        if key not in chosen:
            forward.drop(key)
    if chosen:
        _prune(forward, backward, chosen)
        results = outputs if model.goes_back else dict.fromkeys(id(call.outputs[0]) for call, _ in losses)
        forward.run([call for call, _ in losses], results)
        for key in chosen if losses and not rules.trainer else ():
            if key in outputs:
                forward.drop(key)
        forward.autocast.end()
        for key in results:
            result = forward.values[key]
            if result.grad:
                backward.gradients[key] = memory.new((), result.dtype)
        backward.run(as_ready(forward.tape) if graph is not None else forward.tape)

    if graph is not None:
        graph.end(backward.finished)
        # The optimizer is built for every variable that trains, whether a gradient reaches it or not.
        state(memory, row, options, [value for value in weights.values() if value.grad])
        memory.left_out.update(dict.fromkeys(optimizers.not_known(stepping.optimizer, stepping.table)))
    else:
        held = weights if model.updated is None else model.updated
        updated = {key: backward.finished[key] for key in weights if key in backward.finished and key in held}
        stepping.step(memory, rules, dtype, weights, updated)
        stepping.state(memory, dtype, updated)

    def again(batch: int) -> Replayed:
        return replay(model, training.at_batch(batch), rules, chip)

    return Replayed(memory.timeline, batch, saved, kept, tuple(memory.left_out), again, curved=memory.curved)


ROWS = Unknown(
    "under a mixed policy the gradient of an Embedding is cast to float32, a row for each that was read: that is not"
    " counted"
)
"""Measured: 30 % of a step of two embeddings, where each waits for the others to be checked (mixed_float16)."""


def with_rows(rules: Rules, model: Model, row: optimizers.OptimizerState, options: Mapping[str, object]) -> Rules:
    """The rules with what an optimizer makes of the gradient of a table that rows are read from."""
    reads = Counter(id(weight) for call in model.calls for weight in call.weights)
    once = all(reads[id(call.weights[0])] == 1 for call in model.calls if call.op.looks_up and call.weights)
    # A momentum is kept for every row, and so changes all of them.
    scattered = row.rows == "scattered" and once and not optimizers.ahead(row, options)
    kind = f"embedding/{row.rows}"
    if kind not in rules.rows or (row.rows == "scattered" and not scattered):
        return rules
    return replace(rules, rows=MappingProxyType({**rules.rows, "embedding": rules.rows[kind]}))


def learns_rows(model: Model, weights: Mapping[int, Value]) -> bool:
    """Whether a table that rows are read from is trained."""
    tables = (call.weights[0] for call in model.calls if call.op.looks_up and call.weights)
    return any(id(table) in weights and weights[id(table)].grad for table in tables)


def weights_in_memory(model: Model, memory: Memory, dtype: str) -> dict[int, Value]:
    """Parameters and buffers, in memory throughout: the model's own, those that it is called on, and others beside."""
    found: dict[int, Value] = {}
    called = {id(w): w for call in model.calls for w in call.weights if isinstance(w, Weight) and w.call is None}
    beside = {id(w): w for each in model.beside for w in each.weights}
    wanted = {**{id(w): w for w in model.weights}, **called, **beside}
    moved = frameworks.named(model.framework).moved
    asking = {id(weight) for weight in model.asking(wanted.values())}
    first = moved(model.root) if moved is not None and isinstance(model.root, Instance) else []
    for key in dict.fromkeys([*(id(weight) for weight in first if id(weight) in wanted), *wanted]):
        weight = wanted[key]
        sizes = memory.sizes(weight.shape) if weight.channels_last else None
        strides = None if sizes is None else layout.channels_last(sizes)
        value = memory.new(weight.shape, resolve(weight.dtype, dtype), strides, use="parameters")
        value.weight = weight
        value.grad = key in asking and is_floating(value.dtype)
        found[key] = value
    return {key: found[key] for key in wanted}


def resident(
    model: Model, memory: Memory, weights: Mapping[int, Value], table: Mapping[str, optimizers.OptimizerState]
) -> dict[int, Value]:
    """Put what else is in memory while the model trains, beside other models' weights: gradients that earlier phases
    have left, and the state of optimizers that are still held. Gives the gradients."""
    left: dict[int, Value] = {}
    for each in model.beside:
        for tensor in each.tensors:
            memory.new(shape_of_storage(model, tensor), resolve(tensor.dtype, "float32"))
        for weight in each.gradients:
            if id(weight) not in left:
                value = weights.get(id(weight))
                dtype = value.dtype if value is not None else resolve(weight.dtype, "float32")
                left[id(weight)] = memory.new(weight.shape, dtype, use="gradients")
        if each.optimizer is not None:
            held = {
                id(w): weights.get(id(w)) or Value(Storage(*sized(memory, w)), memory.form(w.shape, "float32"))
                for w in each.updated
            }
            Stepping(each.optimizer, table).lie_beside(memory, held)
    return left


def shape_of_storage(model: Model, tensor: Tensor) -> Shape | Unknown:
    """The shape of the storage of a tensor that lies beside a step: a loss may lie in one as large as what it is the
    mean of."""
    call = tensor.call
    if tensor.shape == () and call is not None and call.inputs and rules_of(model.framework).row(call.op.kind).roomy:
        shape = call.inputs[0].shape
        if not isinstance(shape, Unknown) and dims.known(shape):
            return shape
    return tensor.shape


def bytes_beside(model: Model, dtype: str) -> list[int]:
    """The bytes of each of the model's residents, each block rounded up."""
    rules, found = rules_of(model.framework), []
    for each in model.beside:
        memory = Memory(Timeline(rules.alignment), 1)
        for weight in each.weights:
            memory.new(weight.shape, resolve(weight.dtype, dtype), use="parameters")
        resident(replace(model, beside=(each,)), memory, {}, rules.optimizers)
        found.append(memory.timeline.peak(1))
    return found


def sized(memory: Memory, weight: Weight) -> tuple[Line, str, int]:
    """The room of a weight that does not lie in memory itself any more."""
    return memory.own_line(memory.form(weight.shape, "float32")), "temporaries", 0


def _prune(forward: Forward, backward: Backward, outputs: Collection[int]) -> None:
    """Let go of what was kept for other outputs than those that a loss is taken of."""
    wanted = set(outputs)
    kept: list[Entry] = []
    for entry in reversed(forward.tape):
        if wanted.isdisjoint(entry.gives):
            backward.discard(entry)
        else:
            wanted.update(entry.asks)
            kept.append(entry)
    forward.tape[:] = kept[::-1]
