"""PyTorch-Ignite: engines that run a step for the program, and the makers of such engines.

By ignite/engine/__init__.py (0.5.5): gradients are cleared before the forward pass, every `gradient_accumulation_steps`
batches, and the optimizer steps after as many.
"""

from __future__ import annotations

from functools import cache

from flake8_cnnmem.frameworks.torch.autograd.backward import backward_of
from flake8_cnnmem.frameworks.torch.autograd.regions import NO_GRAD
from flake8_cnnmem.frameworks.torch.devices import all_to_device
from flake8_cnnmem.frameworks.torch.distributed.noting import tell_world_size
from flake8_cnnmem.frameworks.torch.dtypes import GPU
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.scripting import GRAD_SCALER
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Namespace, Value, is_callable, native


def nothing(run: Runtime, /, *args: Value, **kwargs: Value) -> Value:
    return None


def filtered(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """The event, but for those times of it that the arguments leave out."""
    return Instance(EVENT, {**self.attributes, **kwargs})


def is_now(event: Instance, epoch: int) -> bool:
    """Whether an event of an epoch is one of those that are asked for."""
    once, every = event.attributes.get("once"), event.attributes.get("every")
    if isinstance(once, int):
        return once == epoch
    return not isinstance(every, int) or every < 1 or epoch % every == 0


EVENT = Class(
    "EventEnum",
    namespace={
        "__call__": native("__call__", filtered),
        "__or__": native("__or__", lambda run, self, other: self),
    },
    module="ignite.engine",
)


@cache
def event(word: str) -> Value:
    """The event of this name: the same object wherever it is asked for."""
    return Instance(EVENT, {"name": word, "value": word}) if word.isupper() else MISSING


EVENTS = Namespace("Events", event)

MEMBERS = Members()
ENGINE = Class("Engine", namespace=MEMBERS, module="ignite.engine.engine")
STATE = Class("State", module="ignite.engine.events")


@MEMBERS.method("__init__")
def init(run: Runtime, self: Instance, process_function: Value) -> Value:
    state = Instance(
        STATE, {"iteration": 0, "epoch": 0, "output": None, "batch": None, "metrics": {}, "max_epochs": None}
    )
    run.changed(self)
    self.attributes.update(process=process_function, state=state, handlers=[], gathers=1)
    return None


@MEMBERS.method("add_event_handler")
def add_handler(
    run: Runtime, self: Instance, event_name: Value, handler: Value = None, *args: Value, **kwargs: Value
) -> Value:
    run.changed(self.attributes["handlers"])
    self.attributes["handlers"].append((event_name, handler, args, kwargs))
    return None


@MEMBERS.method("on")
def on(run: Runtime, self: Instance, event_name: Value, *args: Value, **kwargs: Value) -> Value:
    def decorate(run: Runtime, /, handler: Value) -> Value:
        add_handler(run, self, event_name, handler, *args, **kwargs)
        return handler

    return native("decorator", decorate)


def handle(run: Runtime, self: Instance, name: str) -> None:
    for event, handler, args, kwargs in list(self.attributes["handlers"]):
        epoch = self.attributes["state"].attributes["epoch"]
        if (
            isinstance(event, Instance)
            and event.attributes.get("name") == name
            and is_now(event, epoch)
            and type(handler).__name__ == "Function"
        ):
            given = (self, *args) if len(handler.parameters.positional) > len(args) else args
            run.attempt(handler, *given, **kwargs)


@MEMBERS.method("run")
def run_engine(
    run: Runtime,
    self: Instance,
    data: Value = None,
    max_epochs: Value = None,
    epoch_length: Value = None,
    **kwargs: Value,
) -> Value:
    """One step on one batch; where gradients are gathered, one more."""
    own = self.attributes
    state = own["state"]
    state.attributes.update(max_epochs=max_epochs, epoch=0, epoch_length=epoch_length)
    handle(run, self, "STARTED")
    epochs = run.repeated()
    most = max_epochs if isinstance(max_epochs, int) else None
    for epoch in epochs.numbers(1, most, [each for each in once_in(self) if most is None or each <= most]):
        state.attributes["epoch"] = epoch
        with epochs:
            handle(run, self, "EPOCH_STARTED")
            run_epoch(run, self, state, data)
            handle(run, self, "EPOCH_COMPLETED")
    handle(run, self, "COMPLETED")
    return state


def run_epoch(run: Runtime, self: Instance, state: Instance, data: Value) -> None:
    own, turns = self.attributes, run.repeated()
    for iteration in turns.numbers(1, None, range(2, own["gathers"] + 1)):
        with turns:
            items = run.iterate(data) if data is not None else run.unknown("what an engine is given is not known")
            batch = items if isinstance(items, Unknown) else next((item for item in items), None)
            state.attributes.update(iteration=iteration, batch=batch)
            state.attributes["output"] = run.attempt(own["process"], self, batch)
            run.let_go(batch, state.attributes["output"])


def once_in(self: Instance) -> list[int]:
    """The epochs that handlers wait for (`Events.EPOCH_STARTED(once=3)`, or the first of `every=3`)."""
    events = [event for event, *_ in self.attributes["handlers"] if isinstance(event, Instance)]
    asked = [event.attributes.get(word) for event in events for word in ("once", "every")]
    return [each for each in asked if isinstance(each, int) and each > 1]


for _name in ("terminate", "terminate_epoch", "fire_event", "register_events", "has_event_handler", "debug"):
    MEMBERS[_name] = native(_name, nothing)


def prepared(run: Runtime, batch: Value, function: Value, device: Value) -> Value:
    if function is not None:
        return run.call(function, batch, device=device, non_blocking=False)
    batch = batch if device is None else all_to_device(run, batch)
    items = run.items(batch) if isinstance(batch, (list, tuple)) else batch
    return tuple(items) if isinstance(items, list) else batch


def supervised_step(
    run: Runtime, /, model: Value, optimizer: Value, loss_fn: Value, device: Value = None, non_blocking: Value = False,
    prepare_batch: Value = None, model_transform: Value = None, output_transform: Value = None,
    gradient_accumulation_steps: Value = 1, model_fn: Value = None, *, half: bool = False,
) -> Value:  # fmt: skip
    """The function of one step. `half`: in autocast, as `amp_mode` asks for it."""
    count = SHOWN if isinstance(gradient_accumulation_steps, int) and gradient_accumulation_steps > 1 else 1

    def step(run: Runtime, /, engine: Instance, batch: Value) -> Value:
        iteration = engine.attributes["state"].attributes["iteration"]
        if (iteration - 1) % count == 0:
            run.call(run.get(optimizer, "zero_grad"))
        run.call(run.get(model, "train"))
        pair = prepared(run, batch, prepare_batch, device)
        x, y = pair if isinstance(pair, tuple) and len(pair) == 2 else (pair, pair)
        outer, run.autocast = run.autocast, "float16" if half else run.autocast
        try:
            output = run.call(model, x) if model_fn is None else run.call(model_fn, model, x)
            predicted = output if model_transform is None else run.call(model_transform, output)
            loss = run.call(loss_fn, predicted, y)
        finally:
            run.autocast = outer
        backward_of(run, loss)
        if iteration % count == 0:
            run.call(run.get(optimizer, "step"))
        if output_transform is not None and is_callable(output_transform):
            return run.attempt(output_transform, x, y, predicted, loss)
        return run.unknown("the loss as a number is not known")

    return native("update", step)


SHOWN = 2


def is_half(amp_mode: Value, scaler: Value) -> bool:
    return amp_mode in ("amp", "apex") or scaler is True or (isinstance(scaler, Instance) and scaler.cls is GRAD_SCALER)


def supervised_trainer(
    run: Runtime, /, model: Value, optimizer: Value, loss_fn: Value, device: Value = None, non_blocking: Value = False,
    prepare_batch: Value = None, output_transform: Value = None, deterministic: Value = False, amp_mode: Value = None,
    scaler: Value = False, gradient_accumulation_steps: Value = 1, model_transform: Value = None,
    model_fn: Value = None, **kwargs: Value,
) -> Value:  # fmt: skip
    step = supervised_step(
        run, model, optimizer, loss_fn, device, non_blocking, prepare_batch, model_transform, output_transform,
        gradient_accumulation_steps, model_fn, half=is_half(amp_mode, scaler),
    )  # fmt: skip
    engine = run.construct(ENGINE, step)
    several = isinstance(gradient_accumulation_steps, int) and gradient_accumulation_steps > 1
    if several and isinstance(engine, Instance):
        engine.attributes["gathers"] = SHOWN
    return engine


def supervised_evaluator(
    run: Runtime, /, model: Value, metrics: Value = None, device: Value = None, non_blocking: Value = False,
    prepare_batch: Value = None, output_transform: Value = None, amp_mode: Value = None, model_transform: Value = None,
    model_fn: Value = None, **kwargs: Value,
) -> Value:  # fmt: skip
    def step(run: Runtime, /, engine: Value, batch: Value) -> Value:
        run.call(run.get(model, "eval"))
        pair = prepared(run, batch, prepare_batch, device)
        x = pair[0] if isinstance(pair, tuple) and pair else pair
        region = run.construct(NO_GRAD)
        run.call(run.get(region, "__enter__"))
        try:
            return run.call(model, x) if model_fn is None else run.call(model_fn, model, x)
        finally:
            run.call(run.get(region, "__exit__"), None, None, None)

    return run.construct(ENGINE, native("evaluate", step))


# ignite.distributed


def given_back(run: Runtime, /, value: Value = None, *args: Value, **kwargs: Value) -> Value:
    return value


def auto_loader(run: Runtime, /, dataset: Value, **kwargs: Value) -> Value:
    """The batch is that of all processes together; one stands for them."""
    from flake8_cnnmem.frameworks.torch.utils_data.dataloader import DATA_LOADER

    return run.construct(DATA_LOADER, dataset, **kwargs)


PARALLEL_MEMBERS = Members()
PARALLEL = Class("Parallel", namespace=PARALLEL_MEMBERS, module="ignite.distributed")


@PARALLEL_MEMBERS.method("__init__")
def parallel_init(
    run: Runtime,
    self: Instance,
    backend: Value = None,
    nproc_per_node: Value = None,
    nnodes: Value = None,
    **kwargs: Value,
) -> Value:
    if isinstance(nproc_per_node, int):
        tell_world_size(run, nproc_per_node * (nnodes if isinstance(nnodes, int) else 1))
    return None


@PARALLEL_MEMBERS.method("run")
def parallel_run(run: Runtime, self: Instance, func: Value, *args: Value, **kwargs: Value) -> Value:
    return run.call(func, 0, *args, **kwargs)


PARALLEL_MEMBERS["__enter__"] = native("__enter__", lambda run, self: self)
PARALLEL_MEMBERS["__exit__"] = native("__exit__", lambda run, self, *exception: False)

ENGINES: dict[str, Value] = {
    "Engine": ENGINE,
    "Events": EVENTS,
    "State": STATE,
    "create_supervised_trainer": native("create_supervised_trainer", supervised_trainer),
    "create_supervised_evaluator": native("create_supervised_evaluator", supervised_evaluator),
    "supervised_training_step": native("supervised_training_step", supervised_step),
}
DISTRIBUTED: dict[str, Value] = {
    "auto_model": native("auto_model", given_back),
    "auto_optim": native("auto_optim", given_back),
    "auto_dataloader": native("auto_dataloader", auto_loader),
    "Parallel": PARALLEL,
    "device": native("device", lambda run: GPU),
    "get_rank": native("get_rank", lambda run: 0),
    "get_local_rank": native("get_local_rank", lambda run: 0),
    "get_world_size": native("get_world_size", lambda run: 1),
    "barrier": native("barrier", nothing),
}
MODULES: dict[str, dict[str, Value]] = {
    "ignite": {},
    "ignite.engine": ENGINES,
    "ignite.engine.engine": ENGINES,
    "ignite.engine.events": ENGINES,
    "ignite.distributed": DISTRIBUTED,
}
