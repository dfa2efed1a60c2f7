"""torch.utils.data.DataLoader: one batch, made of the data set's first sample, stands for all batches."""

from __future__ import annotations

import math
from inspect import Signature, signature
from itertools import islice

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.devices import all_to_device
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.utils_data.collate import (
    LARGEST_LIST,
    batch_size_of,
    collate,
    convert,
    default_collate,
)
from flake8_cnnmem.frameworks.torch.utils_data.unlike_samples import collated, samples_of, tensors_of
from flake8_cnnmem.graph import Problem, Tensor
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown, largest
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Property, Stream, Value

MEMBERS = Members()
DATA_LOADER = Class("DataLoader", namespace=MEMBERS, module="torch.utils.data")


@MEMBERS.method("__init__")
def loader_init(
    run: Runtime, self: Instance, dataset: Value, batch_size: Value = 1, shuffle: Value = None, sampler: Value = None,
    batch_sampler: Value = None, num_workers: Value = 0, collate_fn: Value = None, pin_memory: Value = False,
    drop_last: Value = False, timeout: Value = 0, worker_init_fn: Value = None,
    multiprocessing_context: Value = None, generator: Value = None, *, prefetch_factor: Value = None,
    persistent_workers: Value = False, pin_memory_device: Value = "", in_order: Value = True,
) -> Value:  # fmt: skip
    """`DataLoader(dataset, batch_size, ...)`: keeps its arguments; the batch size of a `batch_sampler` is that of its
    own."""
    if isinstance(batch_sampler, Unknown) and batch_size != 1:
        # Where a batch size is given as well, torch takes none.
        batch_sampler = None
    if batch_sampler is not None:
        own = run.find(batch_sampler, "batch_size")
        batch_size = own if isinstance(own, int) else run.make_data(COUNTED, batch_sampler)
    batch_size = largest(batch_size)
    if isinstance(batch_size, Instance) and isinstance(batch_size.payload, int):
        batch_size = batch_size.payload
    self.attributes.update(
        dataset=dataset, batch_size=batch_size, sampler=sampler, batch_sampler=batch_sampler, num_workers=num_workers,
        collate_fn=collate_fn, pin_memory=pin_memory, drop_last=drop_last, shuffle=shuffle, generator=generator,
        worker_init_fn=worker_init_fn, timeout=timeout, multiprocessing_context=multiprocessing_context,
        prefetch_factor=prefetch_factor, persistent_workers=persistent_workers, pin_memory_device=pin_memory_device,
        in_order=in_order,
    )  # fmt: skip
    self.native = {"batch_size": batch_size, "dataset": dataset}
    if sampler is None:
        self.attributes["sampler"] = Instance(LOADER_SAMPLER, {"data_source": dataset})
        if batch_sampler is None:
            self.native["batch_size"] = no_more_than_there_are(run, dataset, batch_size, drop_last)
    return None


DATA_LOADER.facts["signature"] = lambda: Signature(list(signature(loader_init).parameters.values())[2:])


def no_more_than_there_are(run: Runtime, dataset: Value, batch_size: Value, drop_last: Value) -> Value:
    """How many samples a batch has: all of a data set that is known to have fewer than `batch_size`."""
    if type(batch_size) is not int or drop_last is not False:
        return batch_size
    count = length_of(run, dataset)
    return count if type(count) is int and 0 < count < batch_size else batch_size


def batch_sampler_of(run: Runtime, self: Instance) -> Value:
    """The one that was given, else the one that the loader makes of its sampler and its batch size."""
    given = self.attributes.get("batch_sampler")
    if given is not None or self.attributes.get("batch_size") is None:
        return given
    return Instance(
        LOADER_BATCHES, {word: self.attributes.get(word) for word in ("sampler", "batch_size", "drop_last")}
    )


def drawn_together(run: Runtime, self: Instance) -> Value:
    """The places of a batch's samples: whichever they are. All of data that are fewer than a batch."""
    size, last = self.attributes.get("batch_size"), self.attributes.get("drop_last")
    cause = run.unknown("which samples a sampler takes is not known").as_number("int")
    if not isinstance(size, int) or size > LARGEST_LIST:
        return Stream(lambda: run.unknown("how many samples a batch sampler takes is not known"))
    sampler = self.attributes.get("sampler")
    source = sampler.attributes.get("data_source") if isinstance(sampler, Instance) else None
    there = len(source) if isinstance(source, (list, tuple, range)) and id(source) not in run.havocked else size
    taken = there if 0 < there < size and last is False else size
    return Stream(lambda: [cause] * taken)


def batches_drawn(run: Runtime, self: Instance) -> Value:
    """`len(loader.batch_sampler)`: of as many samples as the sampler gives."""
    sampler, size = self.attributes.get("sampler"), self.attributes.get("batch_size")
    count = run.attempt(run.get(sampler, "__len__"))
    if not isinstance(count, int) or not isinstance(size, int) or size < 1:
        return run.unknown("how many batches a sampler gives is not known")
    return count // size if run.truth(self.attributes.get("drop_last")) is True else math.ceil(count / size)


LOADER_BATCHES = Class(
    "BatchSampler",
    namespace={
        "__iter__": Native("__iter__", drawn_together, propagate_unknown=False),
        "__len__": Native("__len__", batches_drawn, propagate_unknown=False),
    },
    module="torch.utils.data",
)
"""The batch sampler that a loader makes for itself."""


LOADER_SAMPLER = Class(
    "RandomSampler",
    namespace={
        "set_epoch": Native("set_epoch", lambda run, self, epoch: None, propagate_unknown=False),
        "__len__": Native("__len__", lambda run, self: length_of(run, self.attributes.get("data_source"))),
    },
    module="torch.utils.data",
)
"""The sampler that a loader makes for itself."""


def sample_of(run: Runtime, dataset: Value) -> Value:
    """The first sample of a data set, which stands for all."""
    if isinstance(dataset, Unknown):
        return dataset
    if isinstance(dataset, Instance) and dataset.cls.find("__getitem__") is MISSING:
        if dataset.cls.find("__iter__") is not MISSING:
            return run.make_data(FIRST, dataset)
        cause = dataset.cls.any_unknown_base()
        return run.unknown("a data set gives no samples") if cause is None else cause
    found = run.make_data(ITEM, dataset)
    if not is_of_unknown_length(found):
        return found
    # Part of a long text: from its beginning nobody knows whether it is as long as that, from anywhere within it is.
    within = run.make_data(WITHIN, dataset)
    return found if is_of_unknown_length(within) else within


def is_of_unknown_length(sample: Value) -> bool:
    """Whether a sample is, or has among its items, a row of an unknown number of values, or something not known."""
    if isinstance(sample, (tuple, list, dict)):
        return any(map(is_of_unknown_length, sample.values() if isinstance(sample, dict) else sample))
    if isinstance(sample, Tensor):
        shape = sample.shape
        if isinstance(shape, Unknown) or (len(shape) == 1 and isinstance(shape[0], Unknown)):
            return True
        # A window of some rows.
        return any(isinstance(size, Unknown) and size.span is not None for size in shape)
    return isinstance(sample, Unknown)


def first(run: Runtime, dataset: Value) -> Value:
    """The first sample of a data set."""
    items = run.iterate(dataset)
    if isinstance(items, Unknown):
        return items
    return next((item for item in items), run.unknown("a data set gives no samples"))


FIRST = Native("first sample", first, propagate_unknown=False)
ITEM = Native("sample", lambda run, dataset: run.index(dataset, 0), propagate_unknown=False)
WITHIN = Native(
    "sample",
    lambda run, dataset: run.index(dataset, run.unknown("which sample is drawn is not known").as_number("int")),
    propagate_unknown=False,
)


MOVES = "_native_moves"
"""The attribute of a loader that somebody has prepared to move its batches to the device."""


def batch_of(run: Runtime, self: Instance, samples: int | None = None) -> Value:
    """One batch, of so many samples where that is not the usual number, on the device where the loader moves it."""
    batch = collated_batch(run, self, samples)
    return all_to_device(run, batch) if self.attributes.get(MOVES) is True else batch


def collated_batch(run: Runtime, self: Instance, samples: int | None) -> Value:
    """One batch of a loader, by its `collate_fn` and a sample."""
    sample = sample_of(run, self.attributes.get("dataset"))
    size = self.attributes.get("batch_size")
    if type(size) is int and type(self.native.get("batch_size")) is int:
        size = samples or min(size, self.native["batch_size"])
    function = self.attributes.get("collate_fn")
    if size is None:
        return convert(run, sample) if function is None else run.make_data(function, sample)
    following = unlike(run, self, sample) if size != 1 else None
    if function is None:
        if following is not None:
            shapes = [dims.show(each.shape) for each in following if isinstance(each.shape, tuple)]
            what = f"stacks samples of {shapes[0]} and {shapes[1]}"
            apply(run, Refused(Problem("CNM201", what)), *following, function="default_collate")
        return collate(run, sample, batch_size_of(size))
    if following is not None:
        # What it makes of samples of several sizes is looked at for what it refuses alone.
        run.make_data(function, [sample, self.native[FOLLOWING]])
    if type(size) is int and 1 < size <= LARGEST_LIST and samples is None and self.attributes["batch_sampler"] is None:
        several = several_of(run, self, following is not None)
        if several:
            whole = len(several) == length_of(run, self.attributes["dataset"])
            in_order = is_own(self.attributes["sampler"]) and run.truth(self.attributes["shuffle"]) is False
            return collated(run, function, several, size, in_order and whole)
    return collated_by(run, function, sample, batch_size_of(size))


def collated_by(run: Runtime, function: Value, sample: Value, size: Size) -> Value:
    """What a collate function of the user's makes of a batch. Of a batch of unknown size it is given a few samples, and
    the axes of that length are the batch's."""
    if isinstance(size, int) and size <= LARGEST_LIST:
        return run.make_data(function, [sample] * size)
    return as_batches(run.make_data(function, [sample] * STAND_IN), size)


def several_of(run: Runtime, self: Instance, unlike: bool) -> list[Value]:
    """The samples of a list, or of a data set whose first two are `unlike`, where they are of several sizes. They are
    asked for once."""
    if SEVERAL not in self.native:
        dataset = self.attributes.get("dataset")
        listed = isinstance(dataset, (list, tuple)) and id(dataset) not in run.havocked
        self.native[SEVERAL] = samples_of(run, dataset, length_of(run, dataset)) if listed or unlike else []
    return list(self.native[SEVERAL])


def is_own(sampler: Value) -> bool:
    """Whether a sampler is the one that the loader makes for itself."""
    return isinstance(sampler, Instance) and sampler.cls is LOADER_SAMPLER


SEVERAL = "samples of several sizes"
"""What a loader keeps of its data set."""

FOLLOWING = "sample after the first"
"""What a loader keeps of its data set."""


def unlike(run: Runtime, self: Instance, sample: Value) -> tuple[Tensor, Tensor] | None:
    """Two tensors of one place in the first two samples of a data set of the code's own which surely have other sizes;
    None where there are none, or where the code says itself which samples make a batch. The second one is asked for
    once."""
    dataset = self.attributes.get("dataset")
    if self.attributes.get("batch_sampler") is not None:
        return None
    if not isinstance(dataset, Instance) or dataset.cls.site is None or dataset.cls.find("__getitem__") is MISSING:
        return None
    if FOLLOWING not in self.native:
        count = length_of(run, dataset)
        known = isinstance(count, int) and count > 1 and any(each.shape != () for each in tensors_of(sample))
        self.native[FOLLOWING] = run.make_data(SECOND, dataset) if known else None
    others = list(tensors_of(self.native[FOLLOWING]))
    pairs = zip(tensors_of(sample), others, strict=False) if len(others) == len(list(tensors_of(sample))) else ()
    return next((pair for pair in pairs if surely_unlike(*pair)), None)


def surely_unlike(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors cannot be stacked."""
    if not isinstance(one.shape, tuple) or not isinstance(other.shape, tuple):
        return False
    sizes = zip(one.shape, other.shape, strict=False)
    return len(one.shape) != len(other.shape) or any(dims.same(size, its) is False for size, its in sizes)


SECOND = Native("sample", lambda run, dataset: run.index(dataset, 1), propagate_unknown=False)

STAND_IN = 37
"""The samples that are collated in place of a batch of unknown size: no size that images or models have."""


def as_batches(value: Value, size: Size, depth: int = 8) -> Value:
    """A value with its tensors led by a batch axis of this size."""
    if isinstance(value, Tensor) and isinstance(value.shape, tuple) and value.shape[:1] == (STAND_IN,):
        return Tensor((size, *value.shape[1:]), value.dtype, framework=value.framework)
    if depth and isinstance(value, dict):
        return {key: as_batches(item, size, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (tuple, list)):
        return type(value)(as_batches(item, size, depth - 1) for item in value)
    return value


def batches(run: Runtime, self: Instance) -> Value:
    """An iterator over a loader's batches: one stands for all, but for the last of them where no model was called
    before it, which may have fewer samples."""
    count = loader_length(run, self)
    again = run.drawn_again(count if type(count) is int else None)
    again.shorter = last_of(run, self) is not None

    def draw() -> Value:
        if again.ends:
            return batch_of(run, self, last_of(run, self))
        # `next()` has counted this one already, a loop has not.
        before = again.drawn + stream.taken - (stream.taken > 0 and not stream.drawn)
        passing = before > 0 and again.passes_on()
        if stream.taken and isinstance(count, int) and before >= count and (passing or stream.drawn):
            raise StopIteration
        return batch_of(run, self, last_of(run, self) if passing and before + 1 == count else None)

    def rest(drawn: int) -> list[Value]:
        left = count - drawn if type(count) is int and count <= LARGEST_LIST else 0
        return [draw()] * (left - 1) + [batch_of(run, self, last_of(run, self))] if left > 0 else []

    stream = Stream(draw, again)
    stream.rest = rest
    stream.left = lambda: int(again.asks_at_last())
    return stream


def last_of(run: Runtime, self: Instance) -> int | None:
    """How many samples the last batch of a loader of known length has, where these are fewer than in the others."""
    size, samples = self.native.get("batch_size"), length_of(run, self.attributes.get("dataset"))
    full = type(size) is not int or type(samples) is not int or run.truth(self.attributes.get("drop_last")) is True
    return None if full else samples % size or None


def length_of(run: Runtime, dataset: Value) -> Value:
    """`len(dataset)`, Unknown where nobody knows."""
    if isinstance(dataset, (list, tuple, dict, range)):
        lost = run.havocked.get(id(dataset))
        return len(dataset) if lost is None else lost[1]
    if isinstance(dataset, Tensor):
        return dataset.shape[0] if isinstance(dataset.shape, tuple) and dataset.shape else dataset.shape
    method = run.find(dataset, "__len__") if isinstance(dataset, Instance) else MISSING
    if method is MISSING:
        return run.unknown("the length of a data set is not known")
    return run.attempt(method)


def loader_length(run: Runtime, self: Instance) -> Value:
    """How many batches an epoch has."""
    count, size = length_of(run, self.attributes.get("dataset")), self.attributes.get("batch_size")
    sampler = self.attributes.get("sampler")
    if not isinstance(count, int) or self.attributes.get("batch_sampler") is not None:
        return run.unknown("how many batches a data loader gives is not known")
    if not (isinstance(sampler, Instance) and sampler.cls is LOADER_SAMPLER):
        return run.unknown("how many samples a sampler takes is not known")
    if size is None:
        return count
    if not isinstance(size, int) or size < 1:
        return run.unknown("how many batches a data loader gives is not known")
    return count // size if run.truth(self.attributes.get("drop_last")) is True else math.ceil(count / size)


def replaced(run: Runtime, self: Instance, name: str, value: Value) -> None:
    """Set an attribute of a loader."""
    run.changed(self)
    self.attributes[name] = value


def collating(run: Runtime, self: Instance) -> Value:
    """`loader.collate_fn`: the one given, else that which stacks samples."""
    given = self.attributes.get("collate_fn")
    return COLLATE if given is None else given


def counted(run: Runtime, batch_sampler: Value) -> Value:
    """How many samples the largest of the first batches has that a sampler of the user's gives."""
    cause = run.unknown("how many samples a batch sampler takes is not known")
    batches = run.iterate(batch_sampler)
    largest = 0
    for drawn in () if isinstance(batches, Unknown) else islice(batches, MOST_DRAWN):
        run.spend(1)
        places = run.items(drawn) if not isinstance(drawn, Unknown) else drawn
        if isinstance(places, Unknown):
            return cause
        largest = max(largest, len(places))
    return largest or cause


MOST_DRAWN = 64
"""Batches that a sampler of the user's is asked for, to see how many samples they have."""


COUNTED = Native("batch", counted, propagate_unknown=False)
MEMBERS["batch_sampler"] = Property(
    Native("batch_sampler", batch_sampler_of, propagate_unknown=False),
    Native(
        "batch_sampler", lambda run, self, value: replaced(run, self, "batch_sampler", value), propagate_unknown=False
    ),
)
MEMBERS["collate_fn"] = Property(
    Native("collate_fn", collating, propagate_unknown=False),
    Native("collate_fn", lambda run, self, value: replaced(run, self, "collate_fn", value), propagate_unknown=False),
)
COLLATE = Native("default_collate", default_collate, propagate_unknown=False)
MEMBERS["__iter__"] = Native("__iter__", batches, propagate_unknown=False)
MEMBERS["__len__"] = Native("__len__", loader_length, propagate_unknown=False)
