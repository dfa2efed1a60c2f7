"""What `cnnmem report` prints of a file, from the cache on disk where nothing has changed that it depends on.

Reports are more than JSON can hold: what is kept is the text that is printed, or a row of the summary.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.cache import noted, remembered
from flake8_cnnmem.cli.targets import FileTarget
from flake8_cnnmem.findings import plain, store_of
from flake8_cnnmem.reporting.progress import clear
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import SourceError
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.text.notebook import ENDING as NOTEBOOK


def kept(target: FileTarget, settings: Settings, wanted: tuple[object, ...], work: Callable[[Files], Any]) -> Any:
    """What `work` answers about a target, which is anything that JSON can hold; what it says on standard error is said
    again. `wanted` is what decides the answer beside the file and the settings. Exceptions pass, and are not kept."""
    store = store_of(settings)
    # Lines of a notebook know their cells, and standard input is read once.
    if store is None or target.stdin or target.path.endswith(NOTEBOOK):
        return work(DISK)
    try:
        text = target.load().text
    except SourceError:
        return work(DISK)

    def heard(files: Files) -> dict[str, Any]:
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            answer = work(files)
        return {"told": told.getvalue(), "answer": answer}

    import hashlib

    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    searched = [noted(each) for each in sys.path]
    question = ("report", target, digest, plain(settings), *wanted, searched)
    found = remembered(store, question, heard)
    if found["told"]:
        clear()
        sys.stderr.write(found["told"])
    return found["answer"]
