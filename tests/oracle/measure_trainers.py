"""Measures fixtures/truth/trainers.json: `python tests/oracle/measure_trainers.py fixtures/programs/trainers/ddp.py ...`

One program a process, on a CUDA device: what its allocator was asked for at most. Several devices are one of them, with
groups of processes that send nothing: buckets, shards and gathered units are there all the same.
"""

import json
import os
import subprocess
import sys

import torch
import torch.distributed as dist

WORKSPACES = 2 * 8_519_680
DEVICES = 4


class Done(dist._Work):
    """Something that was sent, and has come back as it was."""

    def __init__(self, result):
        super().__init__()
        self.future = torch.futures.Future(devices=[torch.device("cuda", 0)])
        self.future.set_result(result)

    def wait(self, timeout=None):
        return True

    def get_future(self):
        return self.future


class Alone(dist.ProcessGroup):
    """A group in which nobody else answers."""

    def getBackendName(self):
        return "alone"

    def allreduce(self, tensors, opts=None):
        return Done(tensors)

    def broadcast(self, tensors, opts=None):
        return Done(tensors)

    def barrier(self, opts=None):
        return Done([])


class Reducer:
    """DDP's own, without the exchange of the order of buckets."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def _rebuild_buckets(self):
        return False


def stand_in(sharded):
    from torch.testing._internal.distributed.fake_pg import FakeStore

    real = dist.init_process_group
    if not sharded:
        dist.Backend.register_backend("alone", lambda store, rank, size, timeout: Alone(rank, size), devices=["cuda"])

    def init(*args, **kwargs):
        real(backend="fake" if sharded else "alone", rank=0, world_size=DEVICES, store=FakeStore())

    dist.init_process_group = init
    Parallel = torch.nn.parallel.DistributedDataParallel
    made = Parallel.__init__

    def make(self, *args, **kwargs):
        made(self, *args, init_sync=False, **kwargs)
        self.reducer = Reducer(self.reducer)

    Parallel.__init__ = make


def measure(path):
    with open(path) as file:
        text = file.read()
    if "init_process_group" in text:
        stand_in("fully_shard" in text)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    torch.cuda.init()
    torch.cuda.reset_peak_memory_stats()
    exec(compile(text, path, "exec"), {"__name__": "__main__"})
    return torch.cuda.memory_stats()["requested_bytes.all.peak"] - WORKSPACES


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(json.dumps({os.path.basename(sys.argv[1]): measure(sys.argv[1])}))
    else:
        for each in sys.argv[1:]:
            subprocess.run([sys.executable, __file__, each], check=False)
