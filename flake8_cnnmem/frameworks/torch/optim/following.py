"""Optimizers that the code itself defines, or a package whose source is found: their `step` is followed.

As torch does it (`Optimizer.profile_hook_step` wraps the `step` of every class), each `step` that a class below
`Optimizer` defines is wrapped when the class is made. The first call on an optimizer runs it twice: for the state that
it makes, and once more, without the program noticing, for what a step does when that is there. From then on only its
closure is run. A step inside another one (Lookahead around RAdam, SAM around SGD) is a part of it: whoever is called
from outside steps, once, with the state of all.

State that comes only at a later step (a slow copy every sixth step) is looked for on one parameter of each group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from flake8_cnnmem.frameworks.torch.autograd.grad import GRADIENTS, STEPPING, cleared
from flake8_cnnmem.frameworks.torch.optim.options import STATES, TELLING
from flake8_cnnmem.frameworks.torch.optim.state import COUNTED, StateTensors, held_by, smallest
from flake8_cnnmem.graph import Call, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Bound, Class, Instance, Native, Value, is_callable

STEADY = 4
"""Steps after which a state that still grows is given up."""

LATER = 12
"""Further steps that are tried on one parameter of each group: `k` of Lookahead is 5 or 6, SWA's and GaLore's
intervals are longer."""

MOST_CALLS = 2_000
"""Ops of a first step beyond which no second one is run: the first one's are taken for any."""


@dataclass(slots=True)
class Noted:
    """What is noted during one run of a step."""

    calls: list[Call] = field(default_factory=list)
    native: dict[int, Instance] = field(default_factory=dict)
    """The optimizers of torch's own that stepped, by id."""
    causes: dict[Unknown, None] = field(default_factory=dict)
    aside: bool = False
    """Whether the program does not know of it."""
    cleared: bool = False
    """Whether gradients were cleared so far."""
    cleared_first: bool = False
    """Whether they were before the closure ran."""

    def note_call(self, made: Value) -> None:
        """An op was applied."""
        first = made[0] if isinstance(made, tuple) and made else made
        if isinstance(first, Tensor) and first.call is not None:
            self.calls.append(first.call)


@dataclass(slots=True)
class Followed:
    """An optimizer that was followed: what it holds, and what its step does with that."""

    held: StateTensors
    native: dict[int, Instance]
    calls: tuple[Call, ...] = ()
    gradients: dict[int, Tensor] = field(default_factory=dict)
    replaced: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    causes: dict[Unknown, None] = field(default_factory=dict)
    early: frozenset[int] = frozenset()
    """The parameters, by id, whose state was there before any step: it is there whether they get a gradient or not."""
    parameters: tuple[object, ...] = ()
    """Those that trained then: with others it has to be followed again."""
    clears_first: bool = False
    """Whether the step clears gradients before it runs its closure, as SAM's does."""


def subclassed(run: Runtime, cls: Class, **options: Value) -> Value:
    """A class below Optimizer was made: its `step` is watched from now on."""
    own = cls.namespace.get("step") if isinstance(cls, Class) and cls.site is not None else None
    if own is not None and not isinstance(own, Unknown):
        cls.namespace["step"] = Native("step", watching(own), propagate_unknown=False)
    for name, value in list(cls.namespace.items()) if isinstance(cls, Class) and cls.site is not None else ():
        if is_callable(value) and not isinstance(value, Class) and not name.startswith("__") and name not in ALREADY:
            cls.namespace[name] = Native(name, beside_step(value), propagate_unknown=False)
    return None


ALREADY = ("step", "zero_grad", "add_param_group", "state_dict", "load_state_dict")
"""Methods that do not work on the parameters, or that are watched anyway."""


def beside_step(original: Value) -> Callable[..., Value]:
    """A method that the program calls beside `step` (SAM's `first_step`): what it does is a part of the step."""

    def method(run: Runtime, self: Value, *args: Value, **kwargs: Value) -> Value:
        under_way = run.data(STEPPING)
        if under_way or not isinstance(self, Instance) or not isinstance(self.native, dict):
            return run.call(original, self, *args, **kwargs)
        noted = under_way["beside"] = Noted()
        try:
            return run.call(original, self, *args, **kwargs)
        finally:
            under_way.pop("beside", None)
            self.native["beside"] = [*self.native.get("beside", ()), *noted.calls][-MOST_CALLS:]

    return method


def watching(original: Value) -> Callable[..., Value]:
    """A `step` of an optimizer of the program's own whose calls and tensors are noted."""

    def step(run: Runtime, self: Value, *args: Value, **kwargs: Value) -> Value:
        if run.data(STEPPING).get("now") is not None or not isinstance(self, Instance):
            return run.call(original, self, *args, **kwargs)
        known = followed_before(self)
        if known is not None:
            closure = kwargs.get("closure", args[0] if args else None)
            if known.clears_first:
                cleared(run, weights_of(self))
                run.note("zero_grad", self)
            loss = None if closure is None else run.call(closure)
        else:
            loss = follow(run, self, original, args, kwargs)
        owner = owner_of(run, self)
        take_over(run, owner)
        run.note("step", owner)
        return loss

    return step


def followed_before(self: Instance) -> Followed | None:
    """What was noted of an optimizer's step, if it has the same parameters still."""
    known = self.native.get("followed") if isinstance(self.native, dict) else None
    return known if isinstance(known, Followed) and known.parameters == parameters(self) else None


def parameters(self: Instance) -> tuple[object, ...]:
    """The parameters of an optimizer, and which of them train."""
    return tuple((id(weight), weight.trainable) for weight in weights_of(self))


def weights_of(self: Instance) -> list[Weight]:
    """The parameters of an optimizer's groups."""
    groups = self.attributes.get("param_groups")
    return [
        weight
        for group in (groups if isinstance(groups, list) else ())
        for weight in (group.get("params") if isinstance(group, dict) else None) or ()
        if isinstance(weight, Weight)
    ]


def follow(run: Runtime, self: Instance, original: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Run a step for what the optimizer keeps and does: the program's own, then a second one aside."""
    if not isinstance(self.native, dict):
        # Its class does not call Optimizer's own `__init__`.
        self.native = {"name": self.cls.name, "options": {}, "groups": None}
        run.data("optimizers")[id(self)] = self
    early = frozenset(held_by(run, self).state)
    words = {word: with_gradients(value) for word, value in kwargs.items()}
    given = [with_gradients(value) for value in args]
    done, loss, noted = once(run, lambda: run.call(original, self, *given, **words))
    before = held_by(run, self)
    followed = Followed(before, noted.native, causes=noted.causes, early=early, clears_first=noted.cleared_first)
    self.native["followed"] = followed
    followed.parameters = parameters(self)
    if not done:
        followed.causes.setdefault(why(run, self, loss))
        return loss
    if len(noted.calls) > MOST_CALLS:
        followed.calls = tuple(noted.calls)
    else:
        quiet = without_closure(args, kwargs)
        settle(run, self, original, followed, quiet)
        later = "" if followed.causes else differs_later(run, self, original, quiet)
        if later:
            if len(followed.calls) * LATER > MOST_CALLS:
                followed.causes.setdefault(run.unknown(f"what {self.cls.name} {later} a later step"))
            else:
                settle(run, self, original, followed, quiet, LATER)
    followed.gradients = gradients_of(run, self)
    return loss


def gradients_of(run: Runtime, self: Instance) -> dict[int, Tensor]:
    """The gradients that were asked for, by the parameter's id."""
    known = run.data(GRADIENTS)
    return {id(weight): known[id(weight)][1] for weight in weights_of(self) if id(weight) in known}


def settle(
    run: Runtime,
    self: Instance,
    original: Value,
    followed: Followed,
    given: tuple[tuple[Value, ...], dict[str, Value]],
    least: int = 1,
) -> None:
    """Step aside, at `least` so often, until a step finds all of its state there."""
    args, kwargs = given
    most: tuple[Call, ...] = ()
    for number in range(1, least + STEADY):
        before = held_by(run, self)
        done, result, noted = once(run, lambda: run.call(original, self, *args, **kwargs), aside=True)
        followed.causes.update(noted.causes)
        if not done:
            followed.causes.setdefault(why(run, self, result))
            return
        after = held_by(run, self)
        followed.native.update(noted.native)
        most = max(most, tuple(noted.calls), key=len) if number > 1 else ()
        if number >= least and before.form() == after.form():
            break
    else:
        followed.causes.setdefault(run.unknown(f"what {self.cls.name} keeps grows from step to step"))
    was, now = {id(t) for t in before.tensors()}, {id(t) for t in after.tensors()}
    # What is done every so many steps needs most.
    followed.held, followed.calls = before, most if least > 1 and before.form() == after.form() else tuple(noted.calls)
    followed.replaced, followed.kept = frozenset(was - now), frozenset(now - was)
    followed.causes.update(before.causes)


def differs_later(
    run: Runtime, self: Instance, original: Value, given: tuple[tuple[Value, ...], dict[str, Value]]
) -> str:
    """Whether one of the next steps keeps more, or computes more than others of them, tried on the smallest matrix and
    the smallest vector of each group: as a cause says it, "" where none does."""
    args, kwargs = given
    groups = self.attributes.get("param_groups")
    whole = [
        (group, group["params"])
        for group in (groups if isinstance(groups, list) else ())
        if isinstance(group, dict) and isinstance(group.get("params"), list)
    ]
    for group, held in whole:
        group["params"] = smallest(held)
    few = {id(weight) for weight in weights_of(self)}
    computed: list[int] = []
    try:
        before = [each for each in held_by(run, self).form() if each[0] in few]
        for _ in range(LATER):
            done, _, noted = once(run, lambda: run.call(original, self, *args, **kwargs), aside=True)
            if not done:
                return ""
            computed.append(len(noted.calls))
        after = [each for each in held_by(run, self).form() if each[0] in few]
    finally:
        for group, held in whole:
            group["params"] = held
    return "keeps grows at" if before != after else "computes is more at" if len(set(computed[1:])) > 1 else ""


def once(run: Runtime, step: Callable[[], Value], aside: bool = False) -> tuple[bool, Value, Noted]:
    """Run a step: whether it came to its end, what it gave (or why it did not), and what was noted."""
    ended: list[Value] = []

    def body(run: Runtime) -> Value:
        if not aside:
            # Nothing that a step reads asks for a gradient, with `torch.no_grad()` or without.
            outer, run.grad_enabled = run.grad_enabled, False
            ended.append(step())
            run.grad_enabled = outer
            return None
        with run.enter(None):
            ended.append(step())
        return None

    noted = Noted(aside=aside)
    run.data(STEPPING)["now"] = noted
    try:
        native = Native("step", body, propagate_unknown=False)
        result = run.aside(native)[1] if aside else run.attempt(native)
    finally:
        run.data(STEPPING).pop("now", None)
    return (True, ended[0], noted) if ended else (False, result, noted)


def is_function(value: Value) -> bool:
    """Whether a value can be called."""
    return is_callable(value) or isinstance(value, Bound)


def with_gradients(value: Value) -> Value:
    """A closure as the program calls it: what it runs is the training's."""
    if not is_function(value):
        return value

    def closure(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        now = run.data(STEPPING).get("now")
        if isinstance(now, Noted):
            now.cleared_first = now.cleared
        outer, run.grad_enabled = run.grad_enabled, True
        result = run.call(value, *args, **kwargs)
        run.grad_enabled = outer
        return result

    return Native("closure", closure, propagate_unknown=False)


def without_closure(args: tuple[Value, ...], kwargs: dict[str, Value]) -> tuple[tuple[Value, ...], dict[str, Value]]:
    """The arguments of a step with a closure that does nothing in the place of the program's."""
    loss = Native("closure", lambda run: Tensor(()), propagate_unknown=False)

    def quiet(value: Value) -> Value:
        return loss if is_function(value) else value

    return tuple(quiet(value) for value in args), {word: quiet(value) for word, value in kwargs.items()}


def why(run: Runtime, self: Instance, result: Value) -> Unknown:
    """The cause of a step that did not come to its end."""
    if isinstance(result, Unknown):
        return Unknown(f"the step of {self.cls.name} is not followed: {result.reason}", result.path, result.line)
    return run.unknown(f"the step of {self.cls.name} is not followed")


def stepped_inside(run: Runtime, self: Instance) -> bool:
    """Note that one of torch's own steps inside of a step that is followed; False where there is none."""
    now = run.data(STEPPING).get("now")
    if isinstance(now, Noted):
        now.native[id(self)] = self
        fill_state(run, self)
    return now is not None


def fill_state(run: Runtime, self: Instance) -> None:
    """Make what wrappers read of the state of one of torch's own (`optimizer.state[p]["exp_avg"]`). The table of
    optimizers counts it."""
    name = next((cls.name for cls in self.cls.mro if cls.name in STATES and cls.site is None), "")
    state = self.attributes.get("state")
    groups = self.attributes.get("param_groups")
    held = state.payload if isinstance(state, Instance) else None
    if not name or not isinstance(held, dict) or not isinstance(groups, list):
        return
    run.changed(held)
    for group in groups:
        for weight in group.get("params", ()) if isinstance(group, dict) else ():
            if not isinstance(weight, Weight) or weight in held or not weight.trainable:
                continue
            made = {
                word: Tensor(weight.shape, weight.dtype)
                for word, option in STATES[name]
                if not option or group.get(option) not in (None, 0, False)
            }
            run.data(COUNTED).update((id(tensor), tensor) for tensor in made.values())
            held[weight] = {"step": 1, **made}


def clears(run: Runtime) -> None:
    """Gradients are cleared: perhaps by a step that is followed."""
    now = run.data(STEPPING).get("now")
    if isinstance(now, Noted):
        now.cleared = True


def watched(run: Runtime) -> bool:
    """Whether the program itself is running, and not a step aside."""
    now = run.data(STEPPING).get("now")
    return now is None or not now.aside


def note_step(run: Runtime, self: Instance) -> None:
    """One of torch's own optimizers makes a step; where it is inside of another optimizer (SAM, which has its own
    methods for the two halves of its step), that one does."""
    keep_options(self)
    self.native["stepped"] = True
    owner = owner_of(run, self)
    if owner is not self:
        known = owner.native.get("followed")
        native = known.native if isinstance(known, Followed) else {}
        held = held_by(run, owner)
        calls = [call for call in owner.native.pop("beside", ()) if not call.grad]
        followed = Followed(held, {**native, id(self): self}, tuple(calls), causes=held.causes)
        made = {id(tensor) for call in calls for tensor in call.outputs}
        followed.kept = frozenset(id(tensor) for tensor in held.tensors() if id(tensor) in made)
        followed.gradients = gradients_of(run, owner)
        if followed.kept:
            cause = run.unknown(f"what {owner.cls.name} keeps between its methods is counted for the whole of a step")
            followed.causes[replace(cause, upper=True)] = None
        owner.native["followed"] = followed
        take_over(run, owner)
    run.note("step", owner)


def keep_options(self: Instance) -> None:
    """At an optimizer's first step: its options are those that its groups have by then, whatever it was made with."""
    groups = self.attributes.get("param_groups")
    if self.native.get("stepped") or not isinstance(groups, list):
        return
    self.native["stepped"] = True
    for word in TELLING:
        found = [group[word] for group in groups if isinstance(group, dict) and word in group]
        if found and all(isinstance(each, (bool, int, float)) for each in found):
            self.native["options"][word] = max(found)


def take_over(run: Runtime, owner: Instance) -> None:
    """What an optimizer wraps is a part of it, and no optimizer of the training by itself."""
    made = run.data("optimizers")
    for key in [key for key, other in made.items() if other is not owner and holds(owner, other)]:
        del made[key]


def owner_of(run: Runtime, self: Instance) -> Instance:
    """The outermost optimizer that holds this one."""
    owner = self
    for _ in range(4):
        above = next(
            (
                other
                for other in run.data("optimizers").values()
                if other is not owner and isinstance(other.native, dict) and holds(other, owner)
            ),
            None,
        )
        if above is None or above is self:
            return owner
        owner = above
    return owner


def holds(other: Instance, inner: Instance) -> bool:
    """Whether an optimizer has another one among its attributes."""
    for value in other.attributes.values():
        if value is inner or (isinstance(value, (list, tuple)) and any(item is inner for item in value)):
            return True
    return False


def steps_natively(optimizer: Instance) -> bool:
    """Whether its `step` is torch's own."""
    maker = next((cls for cls in optimizer.cls.mro if "step" in cls.namespace), None)
    return maker is None or maker.site is None
