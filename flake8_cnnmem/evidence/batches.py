"""Batch sizes: of loaders, pipelines and generators, of what `fit` is given, of the tensors that a loop trains on."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from typing import TypeGuard

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.budget import Exhausted
from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.top_level import deep_recursion
from flake8_cnnmem.evaluate.trace import RootCall
from flake8_cnnmem.evidence.graphs import is_graph
from flake8_cnnmem.evidence.statement import Statement
from flake8_cnnmem.frameworks.framework import Fit
from flake8_cnnmem.graph import Site, Tensor, calls_behind
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Raised, Value

FOR_TRAINING = re.compile(r"(?<![a-z])(train|trn|fit)", re.IGNORECASE)
NOT_FOR_TRAINING = re.compile(
    r"(?<![a-z])(test|val|valid|validation|eval|dev|predict|inference)(set|data|loader|iter|gen|ds|dl)?(?![a-z])",
    re.IGNORECASE,
)


TRAINED_ON = "trained on"
"""Scratch of the run: by id the loaders that a training draws from. They say nothing of other models."""


def is_loader(value: Value) -> TypeGuard[Instance]:
    """Whether a native remembers a batch size of it."""
    return isinstance(value, Instance) and isinstance(value.native, dict) and "batch_size" in value.native


def of_loader(loader: Instance) -> Statement[int] | None:
    """What a loader takes at a time, and where it is made."""
    size = loader.native.get("batch_size")
    site = loader.native.get("site") or loader.site
    return Statement(size, site) if is_count(size) else None


def is_count(size: Value) -> TypeGuard[int]:
    """Whether a value is a whole number above 0."""
    return isinstance(size, int) and not isinstance(size, bool) and size > 0


def of_call(call: RootCall) -> Statement[int] | None:
    """The first axis of what a training loop calls its model on; of views that are joined or taken apart before, that
    of what they come from. Images that are given one by one are counted."""
    images = given_one_by_one(call)
    if images is not None:
        return Statement(images, call.site)
    if is_graph(tensors_of(call)):
        return Statement(1, call.site)
    for value in tensors_of(call):
        if isinstance(value.shape, tuple) and value.shape:
            size = value.shape[0]
            return Statement(unit_of(value, size), call.site) if isinstance(size, int) and size > 0 else None
    return None


def given_one_by_one(call: RootCall) -> int | None:
    """How many images a detector is given as a list, each with the dict of what is to be found in it; None for a call
    that is given batches."""
    lists = [value for value in (*call.args, *call.kwargs.values()) if isinstance(value, (list, tuple)) and value]
    if len(lists) < 2 or len(lists[0]) != len(lists[1]):
        return None
    images, targets = lists[:2]
    single = all(
        isinstance(each, Tensor) and (isinstance(each.shape, Unknown) or len(each.shape) == 3) for each in images
    )
    return len(images) if single and all(isinstance(each, dict) for each in targets) else None


def is_time_first(call: RootCall, batch: int | None) -> bool:
    """Whether a call is given sequences whose second axis is the batch."""
    shape = next((value.shape for value in tensors_of(call)), None)
    return isinstance(shape, tuple) and len(shape) in (2, 3) and shape[1] == batch != shape[0]


def is_joined(call: RootCall, batch: int) -> bool:
    """Whether a call is given the tokens of all samples one after the other, along with something of each sample."""
    shapes = [value.shape for value in tensors_of(call) if isinstance(value.shape, tuple)]
    return bool(shapes) and len(shapes[0]) == 1 and shapes[0] != (batch,) and (batch,) in shapes[1:]


def tensors_of(call: RootCall) -> Iterator[Tensor]:
    """The tensors that a call is given, also those of a batch that is handed on as it is; none behind what is not
    known, which may be the first of them."""
    waiting: list[Value] = [*call.args, *call.kwargs.values()]
    looked = 0
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            waiting[:0] = value[:16]
        elif isinstance(value, dict):
            waiting[:0] = list(value.values())[:16]
        elif isinstance(value, Instance) and frameworks.of_layer(value) is None and looked < DEEPEST:
            looked += 1
            waiting[:0] = list(value.attributes.values())[:16]
        elif isinstance(value, Unknown):
            return


DEEPEST = 16
"""Objects that are looked into for tensors."""


def unit_of(tensor: Tensor, size: int) -> int:
    """The number of samples behind a tensor of so many rows: two views of each, joined, are twice as many rows."""
    behind = calls_behind([tensor])
    if any(call.weights for call in behind):
        return size
    axes = len(tensor.shape) if isinstance(tensor.shape, tuple) else 0
    # What has fewer axes is a single sample, or no sample at all.
    leaves = {read.shape[0] for call in behind for read in call.inputs
              if read.call is None and isinstance(read.shape, tuple) and len(read.shape) >= max(axes, 2)}  # fmt: skip
    samples = leaves.pop() if len(leaves) == 1 else None
    return samples if isinstance(samples, int) and 0 < samples < size and size % samples == 0 else size


def values_of(call: RootCall) -> int:
    """How many values a call's tensors hold, as far as they are known."""
    found = 0
    for value in tensors_of(call):
        if isinstance(value.shape, tuple):
            sizes = [size for size in value.shape if isinstance(size, int)]
            found += math.prod(sizes)
    return found


def of_fit(fit: Fit) -> Statement[int] | None:
    """What `fit` is told, else what its data is, else what it takes by itself."""
    if is_count(fit.batch_size):
        return Statement(fit.batch_size, fit.site)
    if is_loader(fit.data):
        return of_loader(fit.data)
    data = fit.data
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, Tensor) for item in data):
        data = data[0]
    if isinstance(data, dict) and data:
        data = next(iter(data.values()))
    if isinstance(data, Tensor):
        if fit.usual is not None:
            return Statement(fit.usual, fit.site)
        size = data.shape[0] if isinstance(data.shape, tuple) and data.shape else None
        return Statement(size, fit.site) if isinstance(size, int) and size > 0 else None
    size = leading(fit.batch)
    if size is None and isinstance(data, Unknown) and fit.with_targets and fit.usual is not None:
        # Only of arrays are the targets given by themselves.
        return Statement(fit.usual, fit.site)
    if size is None and isinstance(data, Instance) and is_count(data.attributes.get("batch_size")):
        size = data.attributes["batch_size"]
    return (
        Statement(size, data.site if isinstance(data, Instance) and data.site is not None else fit.site)
        if size
        else None
    )


def leading(batch: Value) -> int | None:
    """The first axis of the first input of a batch; where that is not known that of another part, which has as many."""
    parts = list(batch.values()) if isinstance(batch, dict) else list(batch) if isinstance(batch, (tuple, list)) else []
    for part in (batch, *parts):
        first = first_input(part)
        size = first.shape[0] if first is not None and isinstance(first.shape, tuple) and first.shape else None
        if isinstance(size, int) and size > 0:
            return size
    return None


def first_input(batch: Value) -> Tensor | None:
    """The first tensor of (inputs, targets), where inputs may be several, or go by their names."""
    while isinstance(batch, (tuple, list, dict)) and batch:
        batch = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    return batch if isinstance(batch, Tensor) else None


def sample_shape(run: Interpreter, data: Value) -> tuple[int, ...] | None:
    """The shape of one input in what a loader, a pipeline or an array gives, without the batch; None if not known."""
    facts = data.native if isinstance(data, Instance) and isinstance(data.native, dict) else {}
    shape: Value = facts.get("batch_shape")
    if shape is None:
        first = data
        with deep_recursion():
            try:
                if is_loader(data):
                    items = run.iterate(data)
                    first = None if isinstance(items, Unknown) else next(items, None)
            except (Raised, Exhausted, RecursionError):
                return None
        tensor = first_input(first)
        shape = tensor.shape if tensor is not None else None
    if not isinstance(shape, tuple) or len(shape) < 2:
        return None
    rest = tuple(shape[1:])
    return rest if all(isinstance(size, int) and size > 0 for size in rest) else None


def shapes_drawn(run: Interpreter, loader: Instance) -> list[tuple[object, ...]]:
    """The shapes of the tensors in one batch of a loader, without the batch."""
    found: Iterator[Value] | Unknown | None = None
    with deep_recursion():
        try:
            found = run.iterate(loader)
            item = None if isinstance(found, Unknown) else next(found, None)
        except (Raised, Exhausted, RecursionError):
            return []
    waiting: list[Value] = [item]
    shapes: list[tuple[object, ...]] = []
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, Tensor) and isinstance(value.shape, tuple):
            shapes.append(tuple(value.shape[1:]))
        elif isinstance(value, (tuple, list)):
            waiting += list(value[:16])
        elif isinstance(value, dict):
            waiting += list(value.values())[:16]
    return shapes


def training_loaders(loaders: Sequence[Instance]) -> list[Instance]:
    """Loaders that nobody was seen to train on, the most likely first: shuffled ones, then those named so.

    Those that go by a name for tests are left out.
    """
    ranked = []
    for at, loader in enumerate(loaders):
        site = loader.native.get("site") or loader.site
        name, words = assigned_to(site), words_of(site)
        if NOT_FOR_TRAINING.search(name.replace("_", " ")) and not FOR_TRAINING.search(name):
            continue
        shuffled = loader.attributes.get("shuffle") is True or is_own_sampler(loader)
        ranked.append((not shuffled, not FOR_TRAINING.search(name), not FOR_TRAINING.search(words), at, loader))
    return [loader for *_, loader in sorted(ranked, key=lambda each: each[:4])]


def is_own_sampler(loader: Instance) -> bool:
    """Whether the code gives it a sampler that draws at random."""
    sampler = loader.attributes.get("sampler")
    return isinstance(sampler, Instance) and sampler.site is not None and "Random" in sampler.cls.name


def assigned_to(site: Site | None) -> str:
    """The names that a statement gives its result."""
    statement = site.statement if isinstance(site, StatementSite) else None
    if isinstance(statement, ast.Assign):
        return " ".join(ast.unparse(target) for target in statement.targets)
    return ""


def words_of(site: Site | None) -> str:
    """The statement that makes something: its names tell what it is for."""
    if not isinstance(site, StatementSite):
        return ""
    try:
        return ast.unparse(site.statement)
    except RecursionError:
        return ""
