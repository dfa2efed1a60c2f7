"""Several processes for many files: what each prints and finds comes in the order of the files, as of one process."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Generic, TypeVar

from flake8_cnnmem.lazy_dataclass import dataclass

T = TypeVar("T")
P = TypeVar("P")
"""What is worked on: a file's path, or something that can be pickled."""

WORTHWHILE = 4
"""Files from which on further processes are started: one takes as long to begin as a small file does."""


@dataclass(frozen=True, slots=True)
class Done(Generic[T]):
    """What came of one file, and what was said about it on standard error. No result: its process has died."""

    result: T | None
    told: str = ""


def cores() -> int:
    """The processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def in_order(work: Callable[[P], T], paths: Sequence[P], jobs: int) -> Iterator[Done[T]]:
    """The work done on each file by up to so many processes, in the order of the files. `work` and what it gives can be
    pickled. A file whose process dies costs that file alone."""
    if jobs < 2 or len(paths) < WORTHWHILE:
        for path in paths:
            yield Done(work(path))
        return
    pool = started(min(jobs, len(paths)))
    try:
        waiting: list[Future[Done[T]]] = [pool.submit(quietly, work, path) for path in paths]
        for path, future in zip(paths, waiting, strict=True):
            try:
                yield future.result()
            except BrokenProcessPool:
                # Whose fault it was is not known: what is left of this pool is done one by one.
                yield alone(work, path)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def started(jobs: int) -> ProcessPoolExecutor:
    # Ctrl-C ends the one that waits for them, and it ends them.
    return ProcessPoolExecutor(jobs, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))


def alone(work: Callable[[P], T], path: P) -> Done[T]:
    """The work in a process of its own."""
    with started(1) as pool:
        try:
            return pool.submit(quietly, work, path).result()
        except BrokenProcessPool:
            return Done(None)


def quietly(work: Callable[[P], T], path: P) -> Done[T]:
    """The work, with what it says on standard error kept for the one who prints it."""
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        result = work(path)
    return Done(result, told.getvalue())


def tell(done: Done[T]) -> None:
    """Print what was said about a file."""
    sys.stderr.write(done.told)
