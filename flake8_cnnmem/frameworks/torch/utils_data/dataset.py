"""torch.utils.data: data sets, samplers and what joins and splits them, without any data."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import same
from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.functions.number_ranges import drawn_by
from flake8_cnnmem.frameworks.torch.utils_data.collate import convert, default_collate
from flake8_cnnmem.frameworks.torch.utils_data.dataloader import DATA_LOADER, drawn_together, length_of
from flake8_cnnmem.graph import Problem, Tensor, lies_on_device
from flake8_cnnmem.ops.given import Refused
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, ONE_FOR_ALL, Class, ClassMethod, Instance, Native, Value, native


def plain(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A constructor that keeps nothing."""
    return None


def total(run: Runtime, counts: list[Any], what: str) -> Value:
    """The sum of lengths, or why it is not known."""
    unknown = next((each for each in counts if not isinstance(each, int)), None)
    if unknown is not None:
        return unknown if isinstance(unknown, Unknown) else run.unknown(f"the length of {what} is not known")
    return sum(counts)


CLASS_ITEM = ClassMethod(Native("__class_getitem__", lambda run, cls, item: cls, propagate_unknown=False))

DATASET = Class(
    "Dataset",
    namespace={
        "__init__": native("__init__", plain),
        "__class_getitem__": CLASS_ITEM,
    },
    module="torch.utils.data",
    facts={ONE_FOR_ALL: True},
)
ITERABLE = Class("IterableDataset", (DATASET,), {}, module="torch.utils.data")


# TensorDataset


def tensors_init(run: Runtime, self: Instance, *tensors: Value) -> Value:
    """`TensorDataset(*tensors)`: sample i is item i of each, so that all have as many."""
    self.attributes["tensors"] = tensors
    known = [each for each in tensors if isinstance(each, Tensor) and isinstance(each.shape, tuple) and each.shape]
    other = next((each for each in known[1:] if same(each.shape[0], known[0].shape[0]) is False), None)  # type: ignore[index]
    if other is not None:
        sizes = [each.shape[0] for each in (known[0], other)]  # type: ignore[index]
        what = f"takes tensors of as many samples, but is given {sizes[0]} and {sizes[1]}"
        apply(run, Refused(Problem("CNM201", what, error="AssertionError")), known[0], other, function="TensorDataset")
    return None


def tensors_length(run: Runtime, self: Instance) -> Value:
    """`len` of a TensorDataset: the size of the first axis."""
    first = next(iter(self.attributes.get("tensors", ())), None)
    if isinstance(first, Tensor) and isinstance(first.shape, tuple) and first.shape:
        return first.shape[0]
    return run.unknown("the length of a data set is not known")


def tensors_item(run: Runtime, self: Instance, index: Value) -> Value:
    """One sample; what computed the tensors is no part of it."""
    return tuple(row(run, tensor) for tensor in self.attributes.get("tensors", ()))


def row(run: Runtime, tensor: Value) -> Value:
    """A tensor without its first axis: one sample of it."""
    if isinstance(tensor, Tensor) and isinstance(tensor.shape, tuple) and tensor.shape:
        made = Tensor(tensor.shape[1:], tensor.dtype, framework=tensor.framework, moved=lies_on_device(tensor))
        made.drawn = drawn_by(tensor)
        return made
    return tensor if isinstance(tensor, Unknown) else run.unknown("a sample of a data set is not known")


TENSOR_DATASET = Class(
    "TensorDataset",
    (DATASET,),
    {
        "__init__": native("__init__", tensors_init),
        "__len__": native("__len__", tensors_length),
        "__getitem__": native("__getitem__", tensors_item),
    },
    module="torch.utils.data",
)


# Parts of data sets


def subset_init(run: Runtime, self: Instance, dataset: Value, indices: Value) -> Value:
    """`Subset(dataset, indices)`: sample i is that of number `indices[i]`."""
    self.attributes.update(dataset=dataset, indices=indices)
    return None


def subset_item(run: Runtime, self: Instance, index: Value) -> Value:
    """Which sample it is is not followed: one stands for all."""
    return run.index(self.attributes.get("dataset"), anywhere(index))


def anywhere(index: Value) -> Value:
    """The place of the sample that stands for all: the first, or one of which it is not known which it is."""
    return index if isinstance(index, Unknown) else 0


def subset_length(run: Runtime, self: Instance) -> Value:
    """`len(subset)`: how many indices there are."""
    return length_of(run, self.attributes.get("indices"))


SUBSET = Class(
    "Subset",
    (DATASET,),
    {
        "__init__": native("__init__", subset_init),
        "__getitem__": native("__getitem__", subset_item),
        "__len__": native("__len__", subset_length),
    },
    module="torch.utils.data",
)


def parts(run: Runtime, dataset: Value, lengths: Value, generator: Value = None) -> Value:
    """`random_split`: by numbers of samples, or by fractions of them."""
    items = run.items(lengths)
    if isinstance(items, Unknown):
        return items
    count = length_of(run, dataset)
    made = []
    for item in items:
        if isinstance(item, float):
            # What flooring leaves over goes to the first parts, one sample each.
            item = int(count * item) if isinstance(count, int) else count
        cause = run.unknown("which samples a random split takes is not known")
        indices = range(item) if isinstance(item, int) and item >= 0 else cause
        made.append(Instance(SUBSET, {"dataset": dataset, "indices": indices}, site=run.here()))
    return made


def joined_init(run: Runtime, self: Instance, datasets: Value) -> Value:
    """`ConcatDataset(datasets)`: the samples of one after those of the other."""
    several = isinstance(datasets, list) and run.sample(datasets) is not MISSING
    self.attributes["datasets"] = datasets if several else run.items(datasets)
    return None


def joined_item(run: Runtime, self: Instance, index: Value) -> Value:
    """A sample of the first data set, which stands for all; of any, where nobody knows how many there are."""
    datasets = self.attributes.get("datasets")
    each = run.sample(datasets)
    if each is not MISSING:
        return run.index(each, anywhere(index))
    if isinstance(datasets, list) and datasets:
        return run.index(datasets[0], anywhere(index))
    return datasets if isinstance(datasets, Unknown) else run.unknown("a sample of a data set is not known")


def joined_length(run: Runtime, self: Instance) -> Value:
    """`len` of a ConcatDataset: the sum of the lengths."""
    datasets = run.items(self.attributes.get("datasets"))
    if not isinstance(datasets, list):
        return datasets if isinstance(datasets, Unknown) else run.unknown("the length of a data set is not known")
    return total(run, [length_of(run, each) for each in datasets], "joined data sets")


JOINED: dict[str, Value] = {
    "__init__": native("__init__", joined_init),
    "__getitem__": native("__getitem__", joined_item),
    "__len__": native("__len__", joined_length),
}
CONCATENATED = Class("ConcatDataset", (DATASET,), JOINED, module="torch.utils.data")
DATASET.namespace["__add__"] = native("__add__", lambda run, self, other: run.construct(CONCATENATED, [self, other]))
CHAINED = Class("ChainDataset", (DATASET,), JOINED, module="torch.utils.data")


def stacked_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """`StackDataset(*datasets)`: sample i is a tuple, or a dict, of sample i of each."""
    self.attributes["datasets"] = kwargs or args
    return None


def stacked_item(run: Runtime, self: Instance, index: Value) -> Value:
    """A sample of each data set, as a tuple or a dict."""
    datasets = self.attributes.get("datasets")
    if isinstance(datasets, dict):
        return {name: run.index(each, index) for name, each in datasets.items()}
    return tuple(run.index(each, index) for each in datasets or ())


STACKED = Class(
    "StackDataset",
    (DATASET,),
    {"__init__": native("__init__", stacked_init), "__getitem__": native("__getitem__", stacked_item)},
    module="torch.utils.data",
)


# Samplers


def sampler_init(run: Runtime, self: Instance, data_source: Value = None, *args: Value, **kwargs: Value) -> Value:
    """`Sampler(data_source)`: keeps the data that its indices are of."""
    self.attributes["data_source"] = data_source
    return None


def batch_sampler_init(
    run: Runtime, self: Instance, sampler: Value = None, batch_size: Value = None, drop_last: Value = False
) -> Value:
    """`BatchSampler(sampler, batch_size, drop_last)`: lists of `batch_size` indices."""
    self.attributes.update(sampler=sampler, batch_size=batch_size, drop_last=drop_last)
    return None


def not_known(run: Runtime, self: Instance, *args: Value) -> Value:
    """What a sampler gives, which is not known."""
    return run.unknown("which samples a sampler takes is not known")


SAMPLER = Class(
    "Sampler",
    namespace={
        "__init__": native("__init__", sampler_init),
        "__iter__": native("__iter__", not_known),
        "set_epoch": native("set_epoch", plain),
        "__class_getitem__": CLASS_ITEM,
    },
    module="torch.utils.data",
)
SIZED: dict[str, Value] = {"__len__": native("__len__", not_known)}
BATCH_SAMPLER = Class(
    "BatchSampler",
    (SAMPLER,),
    {
        "__init__": native("__init__", batch_sampler_init),
        "__iter__": Native("__iter__", drawn_together, propagate_unknown=False),
        **SIZED,
    },
    module="torch.utils.data",
)


DATA: dict[str, Value] = {
    "Dataset": DATASET,
    "IterableDataset": ITERABLE,
    "TensorDataset": TENSOR_DATASET,
    "Subset": SUBSET,
    "ConcatDataset": CONCATENATED,
    "ChainDataset": CHAINED,
    "StackDataset": STACKED,
    "DataLoader": DATA_LOADER,
    "Sampler": SAMPLER,
    "BatchSampler": BATCH_SAMPLER,
    "random_split": native("random_split", parts),
    "default_collate": native("default_collate", default_collate),
    "default_convert": native("default_convert", lambda run, data: convert(run, data)),
    "get_worker_info": native("get_worker_info", lambda run: None),
    **{
        name: Class(name, (SAMPLER,), dict(SIZED), module="torch.utils.data")
        for name in (
            "RandomSampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler", "DistributedSampler",
        )
    },
}  # fmt: skip
