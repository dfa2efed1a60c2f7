"""torch.utils.data: what data sets and loaders say about the batch, without any data."""

from __future__ import annotations

from flake8_cnnmem.dims import Batch
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Run, Value


def plain(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return None


DATASET = Class("Dataset", namespace={"__init__": Native("__init__", plain, absorb=False)}, module="torch.utils.data")
ITERABLE = Class("IterableDataset", (DATASET,), {}, module="torch.utils.data")
SAMPLER = Class("Sampler", namespace={"__init__": Native("__init__", plain, absorb=False)}, module="torch.utils.data")


def tensors_init(run: Run, self: Instance, *tensors: Value) -> Value:
    self.attributes["tensors"] = tensors
    return None


def tensors_length(run: Run, self: Instance) -> Value:
    first = next(iter(self.attributes.get("tensors", ())), None)
    if isinstance(first, Tensor) and isinstance(first.shape, tuple) and first.shape:
        return first.shape[0]
    return run.unknown("the length of a data set is not known")


def tensors_item(run: Run, self: Instance, index: Value) -> Value:
    return tuple(run.index(tensor, index) for tensor in self.attributes.get("tensors", ()))


TENSOR_DATASET = Class(
    "TensorDataset",
    (DATASET,),
    {
        "__init__": Native("__init__", tensors_init, absorb=False),
        "__len__": Native("__len__", tensors_length, absorb=False),
        "__getitem__": Native("__getitem__", tensors_item, absorb=False),
    },
    module="torch.utils.data",
)

LOADER_MEMBERS = Members()
DATA_LOADER = Class("DataLoader", namespace=LOADER_MEMBERS, module="torch.utils.data")


@LOADER_MEMBERS.method("__init__")
def loader_init(
    run: Run, self: Instance, dataset: Value, batch_size: Value = 1, shuffle: Value = None, sampler: Value = None,
    batch_sampler: Value = None, num_workers: Value = 0, collate_fn: Value = None, pin_memory: Value = False,
    drop_last: Value = False, timeout: Value = 0, worker_init_fn: Value = None,
    multiprocessing_context: Value = None, generator: Value = None, *, prefetch_factor: Value = None,
    persistent_workers: Value = False, pin_memory_device: Value = "", in_order: Value = True,
) -> Value:  # fmt: skip
    self.attributes.update(
        dataset=dataset, batch_size=batch_size, sampler=sampler, batch_sampler=batch_sampler, num_workers=num_workers,
        collate_fn=collate_fn, pin_memory=pin_memory, drop_last=drop_last,
    )  # fmt: skip
    self.native = {"batch_size": batch_size, "dataset": dataset, "shuffle": shuffle, "sampler": sampler}
    return None


def batches(run: Run, self: Instance) -> Value:
    """One batch: tensors of a TensorDataset with the batch in front, else what is not known."""
    dataset = self.attributes.get("dataset")
    tensors = dataset.attributes.get("tensors") if isinstance(dataset, Instance) else None
    if not tensors or not all(isinstance(t, Tensor) and isinstance(t.shape, tuple) and t.shape for t in tensors):
        return dataset if isinstance(dataset, Unknown) else run.unknown("what a data loader gives is not known")
    return [tuple(Tensor((Batch(1), *tensor.shape[1:]), tensor.dtype) for tensor in tensors)]


LOADER_MEMBERS["__iter__"] = Native("__iter__", batches, absorb=False)
LOADER_MEMBERS["__len__"] = Native(
    "__len__", lambda run, self: run.unknown("how many batches a data loader gives is not known"), absorb=False
)


def parts(run: Run, dataset: Value, lengths: Value, generator: Value = None) -> Value:
    items = run.items(lengths)
    if isinstance(items, Unknown):
        return items
    return [Instance(SUBSET, {"dataset": dataset, "indices": run.unknown("a random split")}) for _ in items]


def subset_init(run: Run, self: Instance, dataset: Value, indices: Value) -> Value:
    self.attributes.update(dataset=dataset, indices=indices)
    return None


SUBSET = Class(
    "Subset", (DATASET,), {"__init__": Native("__init__", subset_init, absorb=False)}, module="torch.utils.data"
)

DATA: dict[str, Value] = {
    "Dataset": DATASET,
    "IterableDataset": ITERABLE,
    "TensorDataset": TENSOR_DATASET,
    "Subset": SUBSET,
    "DataLoader": DATA_LOADER,
    "Sampler": SAMPLER,
    "random_split": Native("random_split", parts, absorb=False),
    **{
        name: Class(name, (SAMPLER,), {}, module="torch.utils.data")
        for name in (
            "RandomSampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler",
            "DistributedSampler", "BatchSampler",
        )
    },
    **{name: Class(name, (DATASET,), {}, module="torch.utils.data") for name in ("ConcatDataset", "StackDataset")},
}  # fmt: skip
