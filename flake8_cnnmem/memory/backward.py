"""The backward pass: the tape in reverse, gradients that come and go, parameter gradients that stay.

After torch/csrc/autograd/engine.cpp: a node runs once all its results' gradients have arrived; then what it kept
and the gradients that it read are released, and what it made is handed on, added to what is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import field

from flake8_cnnmem.frameworks.rules import Rules
from flake8_cnnmem.graph import Tensor, calls_behind
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.memory.backward_plan import plan_backward
from flake8_cnnmem.memory.backward_way import BackwardPlan, Made
from flake8_cnnmem.memory.dtypes import resolve
from flake8_cnnmem.memory.forward import Forward
from flake8_cnnmem.memory.gradient_layout import as_added, is_dense, lies_otherwise
from flake8_cnnmem.memory.in_flight import InFlight
from flake8_cnnmem.memory.storages import Memory, Storage, Value
from flake8_cnnmem.memory.tape import Entry, Keyed, Region, TapeNode, WrittenBackward, leading_from, steps_of
from flake8_cnnmem.memory.tape_uses import number_of_view, shared_views, trained_by, uses_of
from flake8_cnnmem.memory.written_over import room_of_product
from flake8_cnnmem.memory.written_views import InWhole
from flake8_cnnmem.unknown import Unknown

SPARSE = Unknown("what becomes of a sparse gradient depends on which rows are read")


@dataclass(slots=True)
class Backward:
    """The state of a backward pass. `gradients` are those on their way, `finished` those of the weights."""

    memory: Memory
    rules: Rules
    forward: Forward
    gradients: dict[int, Value] = field(default_factory=dict)
    finished: dict[int, Value] = field(default_factory=dict)
    uses: dict[int, int] = field(default_factory=dict)
    """How many nodes of the running tape still have to give a weight its gradient."""
    shared: dict[tuple[int, int], int] = field(default_factory=dict)
    """By a call's number and a weight's key, how many nodes still have to give their part to the view of the weight
    that the call has made and others read."""
    summands: dict[int, list[Value]] = field(default_factory=dict)
    """Where all gradients of a tensor are added at once: those that have arrived after the first."""
    only: set[int] | None = None
    targets: Collection[int] = ()
    arrived: dict[int, Value] = field(default_factory=dict)
    """The gradients of the targets."""
    retained: frozenset[int] = frozenset()
    """The keys of results that retain their gradients."""
    closing: dict[int, Region] = field(default_factory=dict)
    """By the last entry of its second run that has kept anything, a checkpoint: what it holds goes then."""
    unpacks: bool = False
    """Whether nodes fetch what they have kept from a checkpoint, and let go of it once they have read it: before the
    sums of gradients, which are the engine's."""
    on_weight: Callable[[int, Value], bool] | None = None
    """Asked when a weight's gradient is there; True if it has been used up (TensorFlow updates at once)."""
    in_flight: InFlight | None = None
    """What updates that are still under way hold, in a graph."""

    def run(self, tape: list[Entry], only: set[int] | None = None, targets: Collection[int] = ()) -> None:
        """Run the tape from its end. It is empty afterwards. With `only` the pass is for `targets`: gradients go no
        other way than by these keys, and none is a weight's own."""
        outside = self.only, self.targets
        self.only, self.targets = only, targets
        self._run(tape)
        for key in targets:
            if key in self.gradients:
                self._add_up(key)
                self.arrived[key] = self.gradients.pop(key)
        self.only, self.targets = outside

    def _run(self, tape: list[Entry]) -> None:
        before = self.uses, self.shared
        self.shared = shared_views(tape)
        self.uses = uses_of(tape, self.shared)
        while tape:
            entry = tape.pop()
            if isinstance(entry, TapeNode):
                if self._node(entry) and self.in_flight is not None:
                    self.in_flight.turn()
            elif isinstance(entry, Region):
                self._region(entry)
            else:
                self._written(entry)
            closed = self.closing.pop(id(entry), None) if self.closing else None
            if closed is not None:
                self.discard(closed)
        self.uses, self.shared = before

    def _region(self, region: Region) -> None:
        """A checkpointed stretch: forward once more, now with a tape, then back; what it was given is held so long."""
        if not any(key in self.gradients for key in region.results):
            self.discard(region)
            return
        forward = self.forward
        outside, forward.values = forward.values, dict(region.outer)
        tape, forward.tape = forward.tape, []
        phase, forward.records, forward.phase = forward.phase, True, "recompute"
        stops, forward.stops = forward.stops, None if region.reentrant else region.ends
        on_tape, forward.autocast.on_tape = forward.autocast.on_tape, set()
        forward.run(region.steps, set(region.results))
        forward.stops = stops
        # The region of autocast that is entered again ends with the second run. So does what one around the whole pass
        # has cached: the engine's thread counts regions by itself, and all threads have one cache.
        forward.autocast.end()
        forward.autocast.on_tape = on_tape
        held: list[Storage] = []
        if region.reentrant:
            held = [forward.values[key].storage for key in region.results if key in forward.values]
            held += [self.gradients[key].storage for key in region.results if key in self.gradients]
            for storage in held:
                self.memory.hold(storage)
        for key in region.results:
            forward.drop(key)
        inner, forward.tape = forward.tape, tape
        forward.values, forward.phase = outside, phase
        around = self.only
        if around is not None:
            self.only = leading_from(inner, around)
        outer, self.unpacks = self.unpacks, not region.reentrant
        # What hooks fetch from a checkpoint that is not reentrant, holds it.
        last = None if region.reentrant else next((entry for entry in inner if entry.saved), None)
        if last is not None:
            self.closing[id(last)] = region
        self._run(inner)
        self.unpacks = outer
        self.only = around
        if last is None or self.closing.pop(id(last), None) is not None:
            self.discard(region)
        for storage in held:
            self.memory.release(storage)

    def _written(self, entry: WrittenBackward) -> None:
        """A function's own backward pass: run as it is written, on the gradients and on what the function saved."""
        memory, forward, own = self.memory, self.forward, entry.backward
        arrived = {key: self.gradients.pop(key) for key in map(id, own.results) if key in self.gradients}
        if not arrived:
            self._not_reached(entry)
            return
        memory.timeline.mark("backward", entry.label)
        outside, forward.values = forward.values, dict(entry.values)
        for tensor, result in zip(own.given, own.results, strict=True):
            # What no gradient has reached is handed in as zeros.
            value = arrived.get(id(result))
            forward.values[id(tensor)] = value or memory.new(result.shape, forward.dtype)
        recording, phase, forward.records, forward.phase = forward.records, forward.phase, False, "backward"
        answers = {
            id(argument): gradient
            for argument, gradient in zip(own.arguments, own.gradients, strict=False)
            if isinstance(argument, Tensor) and isinstance(gradient, Tensor)
        }
        calls = [call for call in calls_behind(answers.values()) if call.number >= own.first]
        forward.run(steps_of(calls), {id(gradient) for gradient in answers.values()})
        for gradient in answers.values():
            if id(gradient) not in forward.values and gradient.call is None:
                # A kernel fills it, for whoever asks and for whoever does not.
                forward.values[id(gradient)] = memory.new(gradient.shape, resolve(gradient.dtype, forward.dtype))
        made: list[Value] = []
        for key, value in entry.operands:
            answer = answers.get(key)
            found = forward.values.get(id(answer)) if answer is not None else None
            made.append(
                memory.alias(found, value.shape, found.strides) if found else memory.new(value.shape, value.dtype)
            )
        stays = {*map(id, own.given), *entry.values}
        for key in dict.fromkeys(map(id, answers.values())):
            if key not in stays:
                forward.drop(key)
        for tensor in own.given:
            forward.drop(id(tensor))
        forward.values, forward.records, forward.phase = outside, recording, phase
        self.discard(entry)
        for (key, _), handed in zip(entry.operands, made, strict=True):
            if self._passed_over(key):
                memory.release(handed.storage)
            else:
                self.hand_on(key, handed)
        self._ended(entry)

    def _not_reached(self, entry: TapeNode | WrittenBackward) -> None:
        """No gradient has come this far: what was kept goes, and the entry's weights wait for one node less."""
        self.discard(entry)
        self._ended(entry)

    def _ended(self, entry: TapeNode | WrittenBackward) -> None:
        for key in trained_by(entry):
            self._given(entry, key, None)

    def discard(self, entry: Entry) -> None:
        """Let go of what an entry has kept."""
        for storage in entry.saved:
            self.memory.let_go(storage)

    def _node(self, node: TapeNode) -> bool:
        """Whether it makes a gradient anew, rather than in the storage of what it is given."""
        gradients, memory, plan = self.gradients, self.memory, node.plan
        given = [gradients.pop(key, None) for key, _ in node.results]
        for key, _ in node.results:
            self._add_up(key)
        if self.targets or self.retained:
            self._note(node, given)
        arrived = [gradient for gradient in given if gradient is not None]
        if not arrived:
            self._not_reached(node)
            return False
        memory.timeline.mark("backward", node.label)
        gradient = arrived[0]
        whole = InWhole(memory, node, gradient) if node.whole is not None else None
        if whole is not None:
            gradient = whole.part
        way = plan.ways.get(gradient.form) if whole is None else None
        if way is None:
            way = plan_backward(memory, node, gradient.form, given)
            # What an op of several results makes may depend on which of them have a gradient.
            if len(given) == 1 and whole is None:
                plan.ways[gradient.form] = way
        if way.instead is not None:
            if way.sums_when == "first":
                self._sum(way)
            gradient = Value(memory.room(way.instead), memory.form(gradient.shape, gradient.dtype))
            self._done(node, arrived, True)
            arrived = [gradient]
        behind = len(way.scratch) - way.full if way.full_behind else len(way.scratch)
        scratch = [memory.room(lot) for lot in way.scratch[:behind]]
        passing = {place: memory.room(lot) for place, lot in way.passing}
        handed: list[Value | None] = [None] * len(way.made)
        if way.sums_when == "first" and way.instead is None:
            self._sum(way)
        fetched = [memory.allocate(line) for line in node.fetched]
        early = 0 if way.full_behind else way.full
        full = scratch[len(scratch) - early :]
        meanwhile, scratch = scratch[: way.meanwhile], scratch[way.meanwhile : len(scratch) - early]
        order = way.order or range(len(way.made))
        summed: list[int] = []
        apart = plan.row.kernel_first and not self.rules.eager and 0 in plan.wanted
        for place in sorted(order, key=lambda place: plan.wanted[place] == 0) if apart else order:
            made, operand = way.made[place], node.operands[plan.wanted[place]]
            if place == 0:
                full += [memory.room(lot) for lot in way.scratch[behind:]]
            if apart and plan.wanted[place] == 0:
                self.discard(node)
            while place in way.validated and meanwhile:
                # What the gradients were made of is gone.
                memory.release(meanwhile.pop(0))
            if made is not None and made[0] != "late" and not self._passed_over(operand[0]):
                over = room_of_product(memory, node, way, place, gradient) if plan.row.crossed else None
                if over is not None and made[0] == "crossed":
                    handed[place] = Value(over, made[1])
                else:
                    handed[place] = self._make(made, operand, gradient, place in way.views, node.saved)
                    scratch += [over] if over is not None else []
                if way.turned is not None and place == 0:
                    memory.release(memory.room(way.turned))
                if place in passing:
                    memory.release(passing.pop(place))
            if full and place in way.validated and not self._passed_over(operand[0]):
                # Each is summed, and gone, before the next one is.
                summed.append(list(way.validated).index(place))
                self._sum(way, full, summed[-1])
        scratch += [memory.room(lot) for lot in way.last]
        for lots in plan.groups:
            for storage in [memory.room(lot) for lot in lots][::-1]:
                memory.release(storage)
        scratch = [*meanwhile, *scratch, *passing.values()]
        if plan.row.begins:
            # The kernel of the gates is done: what it has kept goes, and what it has made stays.
            if plan.row.gates_summed:
                self._sum(way)
            for each in arrived:
                memory.release(each.storage)
            for (what, place), storage in zip(plan.keeps, node.saved, strict=False):
                if what != "input" or place > 1:
                    memory.let_go(storage)
            self._products(node, way, gradient, handed, scratch)
            scratch = []
        elif way.late:
            self._done(node, arrived)
            for place, made in enumerate(way.made):
                key = node.operands[plan.wanted[place]][0]
                if made is not None and made[0] == "late" and not self._passed_over(key):
                    operand = node.operands[plan.wanted[place]]
                    handed[place] = self._make(made, operand, gradient, place in way.views, node.saved)
        if self.unpacks and not way.late:
            self.discard(node)
        if not way.sums_when:
            # The engine sums up what the node has given it, which has let go of what it had from the host.
            for storage in fetched:
                memory.release(storage)
            fetched = []
            if not summed:
                self._sum(way, full)
                full = []
        scratch += [storage for at, storage in enumerate(full) if at not in summed]
        held = scratch if plan.row.beside_update else []
        for storage in (*scratch[::-1], *fetched) if not held else fetched:
            memory.release(storage)
        if way.sums_when == "last":
            self._sum(way)
        if whole is not None:
            whole.put_back(handed)
        if not way.late:
            self._done(node, arrived, self.unpacks or apart)
        for at, new in zip(plan.wanted, handed, strict=True):
            key, value = node.operands[at]
            if value.weight is not None:
                self._given(node, key, new)
            elif new is not None:
                self.hand_on(key, new)
        for storage in held:
            memory.release(storage)
        return any(made is not None and made[0] not in ("alias", "reuse") for made in way.made)

    def _sum(self, way: BackwardPlan, full: Sequence[Storage] = (), only: int | None = None) -> None:
        """The buffers of the sums, or of one of them, one after the other; `full` is what each is a sum of."""
        for at, lots in enumerate(way.sums) if only is None else [(only, way.sums[only])]:
            for storage in [self.memory.room(lot) for lot in lots][::-1]:
                self.memory.release(storage)
            if full:
                self.memory.release(full[at])

    def _products(
        self, node: TapeNode, way: BackwardPlan, gradient: Value, handed: list[Value | None], left: list[Storage]
    ) -> None:
        """Back through the two matrix products that a step of a recurrent layer begins with, the later one first: what
        each has read goes, and the gradient of its matrix is handed on at once. Of what the gates' kernel has made,
        which is `left`, the first is there until the last of them is done."""
        first, made = len(node.label.inputs), dict(zip(node.plan.wanted, enumerate(way.made), strict=True))
        row, stages = node.plan.row, (0, 1) if node.plan.row.state_first else (1, 0)
        for at in stages:
            found: dict[int, Value] = {}
            # Without a state that is given there are zeros, of which nobody asks for a gradient. A product with no bias
            # comes to its matrix first.
            order = (first + at, at) if row.gates_summed else (at, first + at, first + 2 + at)
            for operand in order if at < first else order[:1] if row.gates_summed else order[1:]:
                place, how = made.get(operand, (0, None))
                if how is not None and how[0] == "late" and not self._passed_over(node.operands[operand][0]):
                    found[operand] = self._make(how, node.operands[operand], gradient, place in way.views)
                    handed[place] = found[operand]
                    if operand >= first + 2:
                        self._sum(way)
            for (what, place), storage in zip(node.plan.keeps, node.saved, strict=False):
                if (what, place) == ("input", at):
                    self.memory.let_go(storage)
            while left[1:] or (left and at == stages[-1]):
                self.memory.release(left.pop(-1))
            if first + at in found:
                handed[made[first + at][0]] = None
                self.hand_on(node.operands[first + at][0], found[first + at])

    def _passed_over(self, key: int) -> bool:
        """Whether no target lies this way."""
        return self.only is not None and key not in self.only

    def _note(self, node: TapeNode, given: Sequence[Value | None]) -> None:
        """Targets that are results of the node, and those that retain their gradients, which have a copy."""
        for (key, _), gradient in zip(node.results, given, strict=True):
            if gradient is not None and key in self.targets:
                self.memory.hold(gradient.storage)
                self.arrived[key] = gradient
            elif gradient is not None and key in self.retained and key in self.forward.values:
                self.arrived[key] = self.memory.new(gradient.shape, gradient.dtype)

    def _make(self, made: Made, operand: Keyed, gradient: Value, viewed: bool, kept: Sequence[Storage] = ()) -> Value:
        """The gradient of an operand; `viewed` says whether the node makes a view of it, `kept` what it has kept."""
        memory = self.memory
        how, form, otherwise = made
        if how == "reuse" and otherwise is not None and gradient.storage.holds > 1:
            how, form = "kept" if self.rules.step == "graph" else "fresh", otherwise
        if how == "kept":
            line = memory.own_line(form)
            last = next((each for each in kept if each.holds == 1 and each.line == line), None)
            if last is not None:
                return Value(memory.hold(last), form, viewed=viewed)
        if how in ("alias", "reuse"):
            return Value(memory.hold(gradient.storage), form, viewed=viewed or gradient.viewed)
        key, value = operand
        own = how != "new" and value.weight is not None and key not in self.finished and self.only is None
        return Value(memory.place(form, "gradients" if own else "temporaries"), form, viewed=viewed)

    def _done(self, node: TapeNode, arrived: Sequence[Value], discarded: bool = False) -> None:
        """Let go of what a node has read."""
        for gradient in arrived:
            self.memory.release(gradient.storage)
        if not discarded:
            self.discard(node)

    # Handing gradients on.

    def hand_on(self, key: int, gradient: Value) -> None:
        """Add a gradient to what has arrived at the operand before: in place, unless that is a view of something, which
        shares its storage (can_accumulate_inplace of torch/csrc/autograd/input_buffer.cpp)."""
        memory = self.memory
        before = self.gradients.get(key)
        if before is None:
            self.gradients[key] = gradient
            return
        if self.rules.sums_at_once:
            self.summands.setdefault(key, []).append(gradient)
            return
        in_place = self.rules.accumulates_in_place and not before.viewed
        if in_place and before.storage.holds == 1 and is_dense(before):
            memory.release(gradient.storage)
            return
        total = memory.new(before.shape, before.dtype, as_added(before, gradient), before.storage.use)
        memory.release(before.storage)
        memory.release(gradient.storage)
        self.gradients[key] = total

    def _add_up(self, key: int) -> None:
        """Add what has arrived at a tensor or weight: the sum is written into the first."""
        for gradient in self.summands.pop(key, ()):
            self.memory.release(gradient.storage)

    def _given(self, entry: TapeNode | WrittenBackward, key: int, gradient: Value | None) -> None:
        """What a node has for a weight: added up with what others give to the same view of it, then handed on."""
        view = number_of_view(entry)
        if (view, key) in self.shared:
            if gradient is not None:
                self.hand_on(-view, gradient)
            self.shared[view, key] -= 1
            if self.shared[view, key]:
                return
            gradient = self.gradients.pop(-view, None)
            if gradient is not None:
                gradient.viewed = True
        if gradient is not None:
            self.hand_on(key, gradient)
        self._one_less(key)

    def _one_less(self, key: int) -> None:
        """One node less that has to give a weight its gradient; after the last one it is the parameter's."""
        self.uses[key] -= 1
        if self.uses[key] <= 0 and self.only is None:
            gradient = self.gradients.pop(key, None)
            self._add_up(key)
            if gradient is not None:
                self._finish(key, gradient)

    def _finish(self, key: int, gradient: Value) -> None:
        """The gradient of a weight is complete: it is kept, or added to the one that is there (AccumulateGrad)."""
        memory = self.memory
        if key in self.finished:
            memory.release(gradient.storage)
            return
        weight = self.forward.weights.get(key)
        if weight is not None and weight.shape != gradient.shape:
            # A sparse gradient's values are taken as they are; in a graph they are used up at once.
            if self.rules.step != "graph":
                memory.left_out.setdefault(SPARSE)
        elif gradient.storage.use != "gradients" or gradient.storage.holds > 1 or lies_otherwise(gradient, weight):
            # What others hold, too, is not taken but copied, and what lies otherwise than the parameter.
            own = memory.new(gradient.shape, gradient.dtype, use="gradients")
            memory.release(gradient.storage)
            gradient = own
        if self.on_weight is not None and self.on_weight(key, gradient):
            return
        self.finished[key] = gradient
