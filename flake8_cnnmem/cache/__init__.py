"""The cache on disk: what an analysis answered, for as long as all that it asked of the machine is answered the same.

`remembered` is the one door: it gives what is kept for a question, or has it worked out over a `Recorder` and keeps it.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import flake8_cnnmem
from flake8_cnnmem.cache.recording import Recorder, noted
from flake8_cnnmem.cache.store import FOLDER, Store
from flake8_cnnmem.text.files import DISK, Files

__all__ = ["FOLDER", "Store", "noted", "remembered"]


def remembered(store: Store | None, question: tuple[object, ...], work: Callable[[Files], Any]) -> Any:
    """What `work` answers, which is anything that JSON can hold; from the store where the same question was answered
    before and nothing has changed that it asked of the machine.

    `question` is all that decides the answer beside the files that `work` reads through what it is given: the text of
    the file, the options in force. Exceptions of `work` pass, and are not kept.
    """
    if store is None:
        return work(DISK)
    key = key_of(question)
    kept = store.get(key)
    if kept is not None and isinstance(kept.get("asked"), dict) and store.verifier.holds(kept["asked"]):
        return kept.get("answer")
    recorder = Recorder(store.verifier)
    answer = work(recorder)
    if recorder.complete:
        store.put(key, {"asked": recorder.asked(), "answer": answer})
    return answer


def key_of(question: tuple[object, ...]) -> str:
    """The name of an entry: everything that decides an answer and is no file that the analysis reads."""
    whole = (version_of_package(), sys.version, *question)
    import hashlib

    return hashlib.sha256(json.dumps([repr(part) for part in whole]).encode()).hexdigest()


@functools.cache
def version_of_package() -> str:
    """This package's version; of a working copy the state of its files as well, which changes without a release."""
    import hashlib

    home = os.path.dirname(os.path.abspath(flake8_cnnmem.__file__))
    copied = os.path.exists(os.path.join(os.path.dirname(home), "pyproject.toml"))
    state = hashlib.sha256()
    for folder, below, names in os.walk(home):
        below[:] = sorted(name for name in below if name != "__pycache__")
        for name in sorted(names):
            status = os.stat(os.path.join(folder, name))
            state.update(f"{name} {status.st_size} {status.st_mtime_ns if copied else ''}\n".encode())
    return f"{flake8_cnnmem.__version__} {state.hexdigest()}"
